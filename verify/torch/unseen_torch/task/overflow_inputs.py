"""Finds inputs for which exponentials overflow although the right answer is bounded, as with softmax and attention.

Without subtracting the maximum, `exp(x) / sum exp(x)` is right as long as no x exceeds 88. No other class of inputs
exceeds that.

A search for a least or a greatest one is tried on numbers of one sign: a running extreme that starts from 0 is wrong
there, and so is a range with or without 0 where the task has the other.

A softmax does not change if all its operands are shifted by the same number. So inputs about a number far above 0
have the same answer as inputs about 0. The same holds far below 0. There a running maximum that starts from 0 is
wrong, in a softmax and in any other search for a maximum.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import effects, fake, input_domain, weight
from .description import WeightEntry
from .observed import Centre

# names in PyTorch, into which attention is decomposed
EXPONENTS = ("_softmax", "_safe_softmax", "_log_softmax", "logsumexp")
# x exp(x) / (1 + exp(x)), log(1 + exp(x))
CURVES = ("sigmoid", "silu", "softplus", "log_sigmoid_forward", "mish")
REACH = 128.0  # by natural logarithms, more than fp32's exponent range from 2^-149 to 2^128
LOST = 104.0  # exp(-LOST) is 0 in fp32
GREATEST = tuple(
    """amax aminmax max argmax topk cummax max_pool2d_with_indices max_pool3d_with_indices
adaptive_max_pool2d adaptive_max_pool3d""".split()
)
LEAST = ("amin", "min", "argmin", "cummin", "aminmax")
# also element by element
FOUND = (*GREATEST, "maximum", "fmax", "scatter_reduce", "scatter_reduce_", "index_reduce", "index_reduce_")
CARRIED = (
    *fake.VIEWS,
    *"""index index_select gather where masked_fill clone _to_copy cat stack copy copy_ clamp nan_to_num
mul div""".split(),
)
FEW = 8  # standard deviations, so that no normal number reaches 0
HEATS = (8, 16, 32, 64, 128, 256)
MIDDLES = (8, 32, 128, 512, 2048, 4096)
# a quarter of the error at which the oracle drops a configuration: other sizes have larger errors
UNTOLD = 2.0**-10
NARROWER = (torch.float32, torch.float16, torch.bfloat16)


class Exponents(TorchDispatchMode):
    """Records the operands of exponentials in a run.

    - `reach`: the greatest magnitude of an exponent.
    - `most`: the greatest exponent.
    - `tops`, `bottoms`: the greatest number of each tensor that it looks for a maximum in, the least one for a minimum.
    - `curve`: the greatest magnitude of an operand of a function that contains an exponential.

    A task may write its softmax out. Then the exponents are the numbers from which a maximum is subtracted before
    exp.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.reach, self.most, self.curve = 0.0, -math.inf, 0.0
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        # by tensor id: maxima, and the tensors from which a maximum was subtracted
        self.greatest: set[int] = set()
        self.shifted: dict[int, torch.Tensor] = {}
        self.kept: list[torch.Tensor] = []

    def _note(self, x: torch.Tensor, size: Callable[[torch.Tensor], torch.Tensor] = torch.abs) -> None:
        x = x.double()
        x = x[x.isfinite()]  # masked elements are no exponents
        self.reach = max(self.reach, float(size(x).max()) if x.numel() else 0.0)
        self.most = max(self.most, float(x.max()) if x.numel() else -math.inf)

    def _follow(self, name: str, args: tuple[Any, ...], out: Any) -> None:
        of = [id(a) for a in tree_leaves(args) if isinstance(a, torch.Tensor)]
        made = [o for o in tree_leaves(out) if isinstance(o, torch.Tensor)]
        if name in FOUND or (name in CARRIED and self.greatest.intersection(of)):
            self.greatest.update(map(id, made))
        from_which = [self.shifted[i] for i in of if i in self.shifted] if name in CARRIED else []
        if name in ("sub", "sub_") and len(of) == 2 and of[1] in self.greatest:
            from_which = [args[0]]
        if from_which:
            self.shifted.update((id(o), from_which[0]) for o in made)
        self.kept += made  # keeps the ids in use

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(function).split(".")
        if name[1] in EXPONENTS:
            self._note(args[0])
        elif name[1] in ("exp", "exp_", "exp2") and id(args[0]) in self.shifted:
            # `reach` counts positive numbers alone here: exponents of a decay are far below 0 anyway.
            self._note(self.shifted[id(args[0])], torch.Tensor.relu)
        elif name[1] in CURVES and args[0].numel():
            self.curve = max(self.curve, float(args[0].abs().max()))
        of_one = name[2:] != ["other"]
        for names, ends, end in ((GREATEST, self.tops, torch.amax), (LEAST, self.bottoms, torch.amin)):
            if name[1] in names and of_one and args[0].dtype.is_floating_point and args[0].numel():
                ends.append(float(end(args[0].double())))
        out = function(*args, **(kwargs or {}))
        self._follow(name[1], args, out)
        return out


class _Wide(TorchDispatchMode):
    """Computes in double precision where the task asks for a narrower type. Otherwise `x.float()` would meet
    weights in double precision."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if given.get("dtype") in NARROWER:
            given["dtype"] = torch.float64
        return function(*args, **given)


@contextlib.contextmanager
def unfused() -> Iterator[None]:
    """Decomposes attention, so that a dispatch mode sees its exponentials."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _run(model: torch.nn.Module, inputs: list[Any]) -> tuple[list[torch.Tensor], Exponents]:
    """Returns `(outputs, Exponents)`."""
    given = [input_domain.copied(v) for v in inputs]
    torch.manual_seed(1)
    with unfused(), Exponents() as exponents:
        return effects.tensors(copy.deepcopy(model), given), exponents


def _told(
    outputs: list[torch.Tensor], wide: list[torch.Tensor], published: list[torch.Tensor] | None
) -> bool:
    """Tells whether the task's own arithmetic agrees with double precision. Outputs must be finite where those of the
    published inputs are."""
    if not input_domain.is_told(
        [o for o in wide if o.dtype.is_floating_point],
        published and [o for o in published if o.dtype.is_floating_point],
    ):
        return False
    for made, right in zip(outputs, wide):
        if not made.dtype.is_floating_point:
            continue
        if not input_domain.is_infinite_alike([made], [right]):
            return False
        kept = right.isfinite()
        near, exact, step = (
            made.double()[kept],
            right.double()[kept],
            max(UNTOLD, torch.finfo(made.dtype).eps),
        )
        if exact.numel() and not (near - exact).square().mean().sqrt() <= step * exact.square().mean().sqrt():
            return False
    return True


def _moved(
    inputs: list[Any], normal: list[Any], domains: list[str], about: int, signs: list[int]
) -> list[Any]:
    """Returns the inputs, with each real one centred on `about` times its sign."""
    sign = iter(signs)
    return [
        (next(sign) * about + n).to(v.dtype) if d == "real" else v for v, n, d in zip(inputs, normal, domains)
    ]


def told_at(
    double: torch.nn.Module,
    moved: list[Any],
    outputs: list[torch.Tensor],
    published: list[torch.Tensor] | None,
) -> bool:
    """Tells whether `outputs` at the inputs `moved` agree with the model in double precision. `published` are the
    outputs for get_inputs's own inputs."""
    wide = [v.double() if isinstance(v, torch.Tensor) and v.dtype.is_floating_point else v for v in moved]
    with _Wide():  # type: ignore[no-untyped-call]
        right = _run(double, wide)[0]
    return _told(outputs, right, published)


def _of_one_sign(
    model: torch.nn.Module,
    inputs: list[Any],
    normal: list[Any],
    domains: list[str],
    below: bool,
    published: list[torch.Tensor] | None,
) -> Centre | None:
    """Returns (FEW, signs of the inputs) with which all numbers of a search for a greatest one are below 0, or those of
    a search for a least one above 0. Returns None if the task has no such search."""
    reals, tried = domains.count("real"), []
    for first in (-1, 1) if below else (1, -1):
        for signs in ([first] * reals, [first] + [-first] * (reals - 1))[:reals]:
            moved = _moved(inputs, normal, domains, FEW, signs)
            outputs, found = _run(model, moved)
            ends = [top < 0 for top in found.tops] if below else [bottom > 0 for bottom in found.bottoms]
            if ends and told_at(copy.deepcopy(model).double(), moved, outputs, published):
                tried.append((FEW, signs))
                if any(ends):
                    return tried[-1]
    return tried[0] if below and tried else None


def _search(model: torch.nn.Module, inputs: list[Any], domains: list[str], below: bool) -> Centre | None:
    reals = domains.count("real")
    published, exponents = _run(model, inputs)
    normal = [torch.randn(v.shape) if d == "real" else v for v, d in zip(inputs, domains)]
    if not exponents.reach and (below or not exponents.curve):
        return _of_one_sign(model, inputs, normal, domains, True, published) if below else None
    # The exponents may be products of two inputs, so one of the two gets the negative sign.
    for signs in ([-1] * reals, [-1] + [1] * (reals - 1))[:reals] if below else ([1] * reals,):
        for about in MIDDLES:
            moved = _moved(inputs, normal, domains, about, signs)
            outputs, exponents = _run(model, moved)
            if exponents.most < -LOST if below else max(exponents.reach, exponents.curve) >= REACH:
                if told_at(copy.deepcopy(model).double(), moved, outputs, published):
                    return about, signs
                break
    return None


def about(model: torch.nn.Module, inputs: list[Any], domains: list[str], below: bool) -> Centre | None:
    """Returns `(centre, a sign for each real input)`, with the least centre that makes exponents overflow, or
    underflow if `below`.

    Returns None in any of these cases:

    - The task has no exponents (and with `below`, looks for no maximum).
    - The exponents do not follow the inputs, as behind a norm.
    - The right answer is not known there.
    """
    if "real" not in domains:
        return None
    torch.manual_seed(9)
    try:
        return _search(model, inputs, domains, below)
    except Exception:  # raised by the task's own code; the other classes still judge it
        return None


def heated(model: torch.nn.Module, inputs: list[Any], entries: list[WeightEntry]) -> int | None:
    """Returns the least deviation of the packed weights that makes exponents overflow. Behind a norm the
    inputs alone do not. Returns None if the task has no exponents, or if the right answer is not known there."""
    if not any(map(weight.is_drawn, entries)):
        return None
    torch.manual_seed(23)
    try:
        published, exponents = _run(model, inputs)
        if not exponents.reach:
            return None
        state = model.state_dict()
        drawn: list[WeightEntry] = [
            {**e, "shape": list(state[e["name"]].shape)} for e in entries if weight.is_drawn(e)
        ]
        packed = torch.randn(sum(state[e["name"]].numel() for e in drawn))
        for deviation in HEATS:
            hot = weight.load(copy.deepcopy(model), {**state, **weight.unpack(drawn, packed * deviation, {})})
            outputs, exponents = _run(hot, inputs)
            if exponents.reach >= REACH:
                told = told_at(copy.deepcopy(hot).double(), inputs, outputs, published)
                return deviation if told else None
    except Exception:  # raised by the task's own code; the other classes still judge it
        pass
    return None


def above(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> Centre | None:
    """Returns `(centre, a sign for each real input)` at which all numbers of a search for a least one are above 0, or
    None."""
    if "real" not in domains:
        return None
    torch.manual_seed(9)
    try:
        normal = [torch.randn(v.shape) if d == "real" else v for v, d in zip(inputs, domains)]
        return _of_one_sign(model, inputs, normal, domains, False, _run(model, inputs)[0])
    except Exception:  # raised by the task's own code; the other classes still judge it
        return None
