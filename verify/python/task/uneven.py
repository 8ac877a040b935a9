"""Parts of unlike size, some of them all 0: of tasks that divide by what they compute, or take a root or a logarithm of it.

A row of zeros is what padding looks like, and of a sample a hundredth as large as the others an `eps` is a good part. Where a task guards
what it divides by, a candidate that does not, or guards it otherwise, is right for all numbers that are drawn alike."""
import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import beyond, effects, law

# No smaller: what epsilons of 1e-8 mean for a product of two norms, and for each of them, is not the same below that.
LOW, HIGH = -13, 6
HALF = -6  # of fp16, whose smallest normal number is 2^-14
NEAR = 2.0 ** -4
SHARE = 0.875  # of the parts that are not 0
NARROW = ("div", "reciprocal", "rsqrt", "sqrt", "log", "log2", "log10", "atan2", "hypot", "std", "std_mean")


class _Narrow(TorchDispatchMode):
    """Whether something is computed that is steep, or nothing, at 0, of what is nearly that."""

    def __init__(self):
        super().__init__()
        self.found = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function).split(".")[1].rstrip("_")
        of = args[1] if name == "div" else args[0] if args else None
        root = name == "pow" and len(args) > 1 and not isinstance(args[1], torch.Tensor) and args[1] < 1
        if (name in NARROW or root) and isinstance(of, torch.Tensor) and of.is_floating_point() and of.numel():
            self.found |= float(of.double().abs().min()) < NEAR
        self.found |= "norm" in name and "normal" not in name
        return function(*args, **(kwargs or {}))


def _ways(rank):
    """(first dimension, last dimension) that parts are counted along; one that is not there for what has none."""
    return [(first, at) for at in range(max(rank, 1)) for first in dict.fromkeys((0, at))]


def _made(value, way, with_zeros):
    """Of that shape, as the class would draw it; the first part 0."""
    ways = _ways(value.dim())
    first, at = ways[way % len(ways)]
    extents = [n if first <= d <= at else 1 for d, n in enumerate(value.shape)]
    size = torch.exp2(torch.randint(_low(value.dtype), HIGH + 1, extents).float())
    if with_zeros and size.numel():
        size.view(-1)[0] = 0
    return (size * torch.randn(value.shape)).to(value.dtype)


def _low(dtype):
    return HALF if dtype == torch.float16 else LOW


def _told(model, inputs, domains, with_zeros):
    wide, published = copy.deepcopy(model).double(), law.outputs_at(model, inputs)
    for way in range(max(len(_ways(v.dim())) for v, d in zip(inputs, domains) if d == "real")):
        changed = [_made(v, way, with_zeros) if d == "real" else v for v, d in zip(inputs, domains)]
        if not beyond.told_at(wide, changed, effects.outputs(copy.deepcopy(model), [law.copied(v) for v in changed]), published):
            return False
    return True


def fills(model, inputs, domains):
    """The fills of the real inputs, in their order; None: the task does nothing of the kind, or its answer cannot be told there."""
    if "real" not in domains:
        return None
    torch.manual_seed(13)
    try:
        with torch.no_grad(), _Narrow() as narrow:
            copy.deepcopy(model)(*[(torch.randn(v.shape) * 2.0 ** LOW).to(v.dtype) if d == "real" else law.copied(v)
                                   for v, d in zip(inputs, domains)])
        if not narrow.found:
            return None
        for with_zeros in (True, False):
            if _told(model, inputs, domains, with_zeros):
                return [{"kind": "uneven", "a": _low(v.dtype), "b": HIGH, "density": SHARE if with_zeros else 1}
                        for v, d in zip(inputs, domains) if d == "real"]
    except Exception:  # whatever a task's own code raises; without this class it is judged by the others
        pass
    return None
