"""The class `scales`: one-sided inputs far below the published range, and probabilities at 1.

A scale of a group of weights may be subnormal, and the bound of a sampler may be 1. `get_inputs` draws
neither: it adds a small number to a uniform one, or narrows a uniform one to usual values. Inputs whose least value
is near their greatest keep their range, since their author needs it (the diagonal of a dominant matrix).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from . import effects, input_domain, overflow_inputs
from .description import Fill, InputEntry

FLOOR = 4  # least ratio of the greatest to the least number
# factors of the least number; 2^-7 makes scales of a quarter subnormal in e4m3
LOWER = (0.25, 2.0**-5, 2.0**-7)
USUAL = 0.125  # from this greatest number on, 1 is a natural end
FROM_LEVELS, DRAWS = -2, 3  # the step of a fill by levels alone; draws of all levels together


def _levels(value: torch.Tensor, fill: Fill) -> list[float]:
    low, high = fill["a"], fill["b"]
    if not 0 <= low * FLOOR <= high:
        return []
    made = [low * by for by in LOWER] + [low, high] + ([1.0] if USUAL <= high < 1 else [])
    held = torch.tensor(made).to(value.dtype).double().tolist()
    return list(dict.fromkeys(v for v in held if v > 0))


def _fill(levels: list[float]) -> Fill:
    return {"kind": "decision", "at": levels, "a": 0, "b": 1, "density": 1, "step": FROM_LEVELS}


def _drawn(value: torch.Tensor, levels: list[float]) -> torch.Tensor:
    return torch.tensor(levels)[torch.randint(len(levels), value.shape)].to(value.dtype)


def _is_told(model: torch.nn.Module, inputs: list[Any], levels: dict[int, list[float]]) -> bool:
    given = [_drawn(v, levels[i]) if i in levels else input_domain.copied(v) for i, v in enumerate(inputs)]
    try:
        outputs = effects.tensors(copy.deepcopy(model), [input_domain.copied(v) for v in given])
        return overflow_inputs.told_at(
            copy.deepcopy(model).double(), given, outputs, input_domain.outputs_at(model, inputs)
        )
    except Exception:  # raised by the task's own code; the other classes still judge it
        return False


def fills(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    published: Sequence[Fill | None],
) -> dict[int, Fill]:
    """Returns `{input: fill}` with the levels at which the answer is known. It is empty if they are not known
    together."""
    torch.manual_seed(20)
    levels: dict[int, list[float]] = {}
    for i, (entry, fill) in enumerate(zip(entries, published)):
        if fill and fill["kind"] == "uniform" and entry["domain"] == "positive":
            kept = [v for v in _levels(inputs[i], fill) if _is_told(model, inputs, {i: [v]})]
            if len(kept) > 2:  # others than the ends of the published range
                levels[i] = kept
    is_told = all(_is_told(model, inputs, levels) for _ in range(DRAWS))
    return {i: _fill(v) for i, v in levels.items()} if is_told else {}
