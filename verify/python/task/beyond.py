"""Values for which exponentials overflow, of tasks whose answer they leave bounded: a softmax, and what is made of one.

`exp(x) / sum exp(x)` without the greatest element subtracted is right as long as no x exceeds 88, which no other class does. All
values about a number far from 0 leave a softmax's answer what it is about 0: its operand is shifted. The same holds far below 0, where
a running greatest value that starts from 0 is right no longer, of a softmax's or of any other maximum."""
import copy
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import effects, fake, law

EXPONENTS = ("_softmax", "_safe_softmax", "_log_softmax", "logsumexp")  # of PyTorch, where attention comes apart
CURVES = ("sigmoid", "silu", "softplus", "log_sigmoid_forward", "mish")  # x exp(x) / (1 + exp(x)), log(1 + exp(x))
REACH = 128.0  # beyond the exponents of fp32 from 2^-149 to 2^128, by natural logarithms, and some more
LOST = 104.0  # whose exponential is 0 in fp32
GREATEST = ("amax", "max", "argmax", "topk", "cummax", "max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d",
            "adaptive_max_pool3d")
FOUND = GREATEST + ("maximum", "fmax", "scatter_reduce", "scatter_reduce_", "index_reduce", "index_reduce_")  # and written out step by step
CARRIED = fake.VIEWS + ("index", "index_select", "gather", "where", "masked_fill", "clone", "_to_copy", "cat", "stack", "copy", "copy_", "clamp",
                        "nan_to_num", "mul", "div")
FEW = 8  # deviations, so that nothing normal reaches 0
MIDDLES = (8, 32, 128, 512, 2048, 4096)
UNTOLD = 2.0 ** -10  # a quarter of what the oracle drops a configuration for: other sizes err by more


class _Exponents(TorchDispatchMode):
    """The greatest magnitude of the operands that are exponents, the greatest of them, whether a greatest element is looked for, and the
    greatest operand of a curve that has an exponential in it.

    Where a task writes its softmax out, exponents are what a greatest one is subtracted from before they go into exp."""

    def __init__(self):
        super().__init__()
        self.reach, self.most, self.picks, self.curve = 0.0, -math.inf, False, 0.0
        self.greatest, self.shifted, self.kept = set(), {}, []  # by tensors' ids: what was found, and what it was subtracted from

    def _note(self, x, size=torch.abs):
        x = x.double()
        x = x[x.isfinite()]  # what is masked is no exponent
        self.reach = max(self.reach, float(size(x).max()) if x.numel() else 0.0)
        self.most = max(self.most, float(x.max()) if x.numel() else -math.inf)

    def _follow(self, name, args, out):
        of = [id(a) for a in tree_leaves(args) if isinstance(a, torch.Tensor)]
        made = [o for o in tree_leaves(out) if isinstance(o, torch.Tensor)]
        if name in FOUND or name in CARRIED and self.greatest.intersection(of):
            self.greatest.update(map(id, made))
        from_which = [self.shifted[i] for i in of if i in self.shifted] if name in CARRIED else []
        if name in ("sub", "sub_") and len(of) == 2 and of[1] in self.greatest:
            from_which = [args[0]]
        if from_which:
            self.shifted.update((id(o), from_which[0]) for o in made)
        self.kept += made  # so that no other tensor gets these ids

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function).split(".")
        if name[1] in EXPONENTS:
            self._note(args[0])
        elif name[1] in ("exp", "exp_", "exp2") and id(args[0]) in self.shifted:
            self._note(self.shifted[id(args[0])], torch.Tensor.relu)  # others, which decay from step to step, are far below 0 by themselves
        elif name[1] in CURVES and args[0].numel():
            self.curve = max(self.curve, float(args[0].abs().max()))
        self.picks |= name[1] in GREATEST and name[2:] != ["other"]
        out = function(*args, **(kwargs or {}))
        self._follow(name[1], args, out)
        return out


def _run(model, inputs):
    """(outputs, _Exponents)."""
    given = [law.copied(v) for v in inputs]
    torch.manual_seed(1)
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), _Exponents() as exponents:
            return effects.outputs(copy.deepcopy(model), given), exponents
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _told(outputs, wide, published):
    """Is the answer in the task's own arithmetic that of double precision, and finite where that of the published inputs is?"""
    if not law.is_told([o for o in wide if o.dtype.is_floating_point], published and [o for o in published if o.dtype.is_floating_point]):
        return False
    for near, right in zip(outputs, wide):
        if not near.dtype.is_floating_point:
            continue
        if not law.is_infinite_alike([near], [right]):
            return False
        kept = right.isfinite()
        near, wide, step = near.double()[kept], right.double()[kept], max(UNTOLD, torch.finfo(near.dtype).eps)
        if wide.numel() and not (near - wide).square().mean().sqrt() <= step * wide.square().mean().sqrt():
            return False
    return True


def _moved(inputs, normal, domains, about, signs):
    """The real inputs about `about`, each with its sign."""
    sign = iter(signs)
    return [(next(sign) * about + n).to(v.dtype) if d == "real" else v for v, n, d in zip(inputs, normal, domains)]


def told_at(double, moved, outputs, published):
    """Are these outputs at inputs `moved` what the model in double precision answers there? `published`: the outputs of get_inputs's."""
    wide = [v.double() if isinstance(v, torch.Tensor) and v.dtype.is_floating_point else v for v in moved]
    return _told(outputs, _run(double, wide)[0], published)


def _search(model, inputs, domains, below):
    reals = domains.count("real")
    published, exponents = _run(model, inputs)
    normal = [torch.randn(v.shape) if d == "real" else v for v, d in zip(inputs, domains)]
    if not exponents.reach and (below or not exponents.curve):
        moved = _moved(inputs, normal, domains, FEW, [-1] * reals)
        return (FEW, [-1] * reals) if below and exponents.picks and told_at(copy.deepcopy(model).double(), moved, _run(model, moved)[0], published) else None
    # what lies below 0 may be a product of two of them
    for signs in ([-1] * reals, [-1] + [1] * (reals - 1))[:reals] if below else ([1] * reals,):
        for about in MIDDLES:
            moved = _moved(inputs, normal, domains, about, signs)
            outputs, exponents = _run(model, moved)
            if exponents.most < -LOST if below else max(exponents.reach, exponents.curve) >= REACH:
                if told_at(copy.deepcopy(model).double(), moved, outputs, published):
                    return about, signs
                break
    return None


def about(model, inputs, domains, below):
    """(number, a sign for each real input): about what they are drawn, the least that reaches beyond or, all of it, below; None: the
    task has no exponents and, for `below`, looks for no greatest element, these do not follow its inputs (a norm comes before), or its
    answer cannot be told there."""
    if "real" not in domains:
        return None
    torch.manual_seed(9)
    try:
        return _search(model, inputs, domains, below)
    except Exception:  # whatever a task's own code raises; without this class it is judged by the others
        return None
