"""Values for which exponentials overflow, of tasks whose answer they leave bounded: a softmax, and what is made of one.

`exp(x) / sum exp(x)` without the greatest element subtracted is right as long as no x exceeds 88, which no other class does. All
values about a number far from 0 leave a softmax's answer what it is about 0: its operand is shifted."""
import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import fake

EXPONENTS = ("_softmax", "_safe_softmax", "_log_softmax", "logsumexp")  # of PyTorch, where attention comes apart
REACH = 128.0  # beyond the exponents of fp32 from 2^-149 to 2^128, by natural logarithms, and some more
MIDDLES = (8, 32, 128, 512, 2048, 4096)
UNTOLD = 2.0 ** -10  # a quarter of what the oracle drops a configuration for: other sizes err by more


class _Greatest(TorchDispatchMode):
    """The greatest magnitude of the operands that are exponents."""

    def __init__(self):
        super().__init__()
        self.reach = 0.0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if str(function).split(".")[1] in EXPONENTS:
            size = args[0].double().abs()
            size = size[size.isfinite()]  # what is masked is no exponent
            self.reach = max(self.reach, float(size.max()) if size.numel() else 0.0)
        return function(*args, **(kwargs or {}))


def _run(model, inputs):
    """(outputs, how far exponents reach)."""
    given = [v.clone() if isinstance(v, torch.Tensor) else v for v in inputs]
    torch.manual_seed(1)
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), _Greatest() as greatest:
            return fake.flatten(copy.deepcopy(model)(*given)), greatest.reach
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _told(outputs, wide):
    """Is the answer in the task's own arithmetic that of double precision?"""
    for near, right in zip(outputs, wide):
        if not near.dtype.is_floating_point:
            continue
        right, error = right.double(), (near.double() - right.double()).square().mean().sqrt()
        if not bool(right.isfinite().all()) or not error <= max(UNTOLD, torch.finfo(near.dtype).eps) * right.square().mean().sqrt():
            return False
    return True


def middle(model, inputs, domains):
    """The number about which the real inputs are drawn, the least that reaches beyond; None: the task has no exponents, they do
    not follow its inputs (a norm comes before), or its answer cannot be told there."""
    if "real" not in domains:
        return None
    torch.manual_seed(9)
    try:
        if not _run(model, inputs)[1]:
            return None
        normal = [torch.randn(v.shape) if d == "real" else v for v, d in zip(inputs, domains)]
        for about in MIDDLES:
            moved = [(about + n).to(v.dtype) if d == "real" else v for v, n, d in zip(inputs, normal, domains)]
            outputs, reach = _run(model, moved)
            if reach >= REACH:
                wide = [v.double() if isinstance(v, torch.Tensor) and v.dtype.is_floating_point else v for v in moved]
                return about if _told(outputs, _run(copy.deepcopy(model).double(), wide)[0]) else None
    except Exception:  # whatever a task's own code raises; without this class it is judged by the others
        return None
    return None
