"""The class `huge`: inputs beyond the range of fp16 in bf16, or in fp32 where an output is coarser.

A candidate that computes in fp16 is not noticed in coarse outputs until its numbers pass 65504. `wide` ends
at 64. Outputs in fp32 show the precision of fp16 at any magnitude, so their tasks need no such class.

Honest candidates differ from some tasks in other ways at such magnitudes. These have no class either:

- Exponents: a scale that is multiplied into both operands of `exp(a - b)` may round them differently.
- Sines reduce their operands with more or less care.
- Casts to integers beyond their range may give any number.
- Python reads a number, which may be the length of a loop.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import effects, exponents, input_domain, overflow_inputs
from .description import Fill

HUGE = 17  # exponent of the deviation: about 40 % of the elements are still below 65504
MARGIN = 3  # the answer is finite for numbers 2^MARGIN times as large
MOST = 4096.0  # of exponents
WIDE = (torch.bfloat16, torch.float32)
ELSEWHERE = {"sin", "cos", "tan", "sinc", "_local_scalar_dense", "polar"}


class _Unsafe(TorchDispatchMode):
    """Detects operations in which honest candidates differ."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, dtype = str(function).split(".")[1].rstrip("_"), (kwargs or {}).get("dtype")
        self.found |= name in ELSEWHERE
        out = function(*args, **(kwargs or {}))
        made = dtype if name == "_to_copy" else args[0].dtype if name == "copy" else None
        of = args[1] if name == "copy" else args[0] if args else None
        is_whole = isinstance(made, torch.dtype) and not made.is_floating_point and made != torch.bool
        if made and is_whole and isinstance(of, torch.Tensor) and of.is_floating_point() and of.numel():
            self.found |= float(of.double().abs().max()) > torch.iinfo(made).max
        return out


def _at(inputs: Sequence[Any], domains: Sequence[str], exponent: int) -> list[Any]:
    return [
        (torch.randn(v.shape) * 2.0**exponent).to(v.dtype) if d == "real" and v.dtype in WIDE else v
        for v, d in zip(inputs, domains)
    ]


def _is_hidden(inputs: Sequence[Any], domains: Sequence[str], published: Sequence[torch.Tensor]) -> bool:
    """Tells whether arithmetic in fp16 is not seen in the outputs for usual numbers."""
    drawn = {v.dtype for v, d in zip(inputs, domains) if d == "real"}
    coarse = any(o.dtype.is_floating_point and o.dtype.itemsize < 4 for o in published)
    return torch.bfloat16 in drawn or (torch.float32 in drawn and coarse)


def _takes(model: torch.nn.Module, inputs: Sequence[Any], domains: Sequence[str]) -> bool:
    published = input_domain.outputs_at(model, list(inputs))
    if published is None or not _is_hidden(inputs, domains, published):
        return False
    beyond = input_domain.outputs_at(model, _at(inputs, domains, HUGE + MARGIN))
    if beyond is None or not input_domain.is_told(beyond, published):
        return False
    given = _at(inputs, domains, HUGE)
    if any(call.reach > MOST for call in exponents.calls(model, given)):
        return False
    with torch.no_grad(), _Unsafe() as unsafe:
        outputs = effects.tensors(copy.deepcopy(model), [input_domain.copied(v) for v in given])
    return not unsafe.found and overflow_inputs.told_at(
        copy.deepcopy(model).double(), given, outputs, published
    )


def fills(model: torch.nn.Module, inputs: Sequence[Any], domains: Sequence[str]) -> list[Fill] | None:
    """Returns the fills of the real inputs in order, or None if the task has no such class."""
    torch.manual_seed(25)
    try:
        if "real" not in domains or not _takes(model, inputs, domains):
            return None
    except Exception:  # raised by the task's own code; the other classes still judge it
        return None
    return [
        {"kind": "normal", "a": 0, "b": 2.0**HUGE if v.dtype in WIDE else 1}
        for v, d in zip(inputs, domains)
        if d == "real"
    ]
