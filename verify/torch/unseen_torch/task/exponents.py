"""Records the exponentials of a run."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from . import effects, input_domain, overflow_inputs

RAW = ("exp", "exp_", "exp2", "expm1")
READING = (*RAW, *overflow_inputs.EXPONENTS, "logcumsumexp", "logaddexp")

OVERFLOWS = 88.0  # about the greatest exponent of fp32


class Call(NamedTuple):
    """An exponential: is it outside of a softmax, the greatest magnitude of its finite exponents, and does
    it overflow."""

    is_raw: bool
    reach: float
    overflows: bool


class _Calls(overflow_inputs.Exponents):
    """Records each call of an exponential. Its exponents are those before a maximum is subtracted."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Call] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(function).split(".")
        power = name[1] == "pow" and name[2:] == ["Scalar"]
        if name[1] in READING or power:
            own, is_raw = args[1] if power else args[0], power or name[1] in RAW
            finite, given = (x.double()[x.isfinite()] for x in (self.shifted.get(id(own), own), own))
            reach = float(finite.abs().max()) if finite.numel() else 0.0
            overflows = is_raw and bool((given > OVERFLOWS).any())
            self.made.append(Call(is_raw, reach, overflows))
        return super().__torch_dispatch__(function, types, args, kwargs)


def calls(model: torch.nn.Module, inputs: Sequence[Any]) -> list[Call]:
    """Returns the exponentials of a run in order."""
    with overflow_inputs.unfused(), _Calls() as found:
        effects.tensors(copy.deepcopy(model), [input_domain.copied(v) for v in inputs])
    return list(found.made)
