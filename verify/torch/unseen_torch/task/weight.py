"""A task's weights: one packed float32 tensor of standard normal values, cut into the tensors of the state dict.

Weight i is scale * w, then + shift. Both processes that need it use these two float32 operations, so that they have
the same bits.

`scale` is a number, or "fan": 1/sqrt(3 fan), the deviation of torch's own draw, with fan = elements / first extent.
Variances come from absolute values. Buffers that a constructor computes (masks, counters) are not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from . import expression
from .description import WeightEntry
from .expression import Sizes


class WeightError(Exception):
    """The weights do not fit the model. The text says why and what to do."""


def shape_of(entry: WeightEntry, sizes: Sizes) -> list[int]:
    """Returns a weight's extents for these sizes."""
    return [expression.evaluate(extent, sizes) for extent in entry["shape"]]


def scale_of(entry: WeightEntry, shape: list[int]) -> float:
    scale = entry["scale"]
    if not isinstance(scale, str):
        return scale
    fan = max(1, math.prod(shape) // max(1, shape[0]))
    return 1.0 / math.sqrt(3.0 * fan)


def is_drawn(entry: WeightEntry) -> bool:
    return bool(entry["kind"] != "constructed")


def unpack(entries: list[WeightEntry], packed: torch.Tensor, sizes: Sizes) -> dict[str, torch.Tensor]:
    """Returns tensors by name from `packed`, a float32 vector on any device, in the order of `entries`."""
    result: dict[str, torch.Tensor] = {}
    start = 0
    for entry in entries:
        if not is_drawn(entry):
            continue
        shape = shape_of(entry, sizes)
        count = math.prod(shape)
        value = packed[start : start + count].reshape(shape)
        if entry["kind"] == "variance":
            value = value.abs()
        scale = torch.tensor(scale_of(entry, shape), dtype=torch.float32, device=packed.device)
        value = value * scale
        if entry["shift"]:
            value = value + torch.tensor(entry["shift"], dtype=torch.float32, device=packed.device)
        result[entry["name"]] = value.to(getattr(torch, entry["dtype"]))
        start += count
    if start > packed.numel():
        raise WeightError(
            f"found {packed.numel()} packed weights; {start} were expected\n---> import the task again"
        )
    return result


def _shapes(tensors: Iterable[torch.Tensor]) -> list[tuple[int, ...]]:
    return [tuple(t.shape) for t in tensors]


def by_name(model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> bool:
    """Tells whether the model's state has each weight under its name and with its shape."""
    state = model.state_dict(keep_vars=True)
    return all(
        isinstance(state.get(n), torch.Tensor) and state[n].shape == w.shape for n, w in weights.items()
    )


def match(
    model: torch.nn.Module, weights: dict[str, torch.Tensor]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pairs each weight with a tensor of the model's state: by name, else in order if all shapes agree."""
    state = {n: t for n, t in model.state_dict(keep_vars=True).items() if isinstance(t, torch.Tensor)}
    if by_name(model, weights):
        return [(state[n], w) for n, w in weights.items()]
    for own in (list(model.parameters()), [t for t in state.values() if t.is_floating_point()]):
        if _shapes(own) == _shapes(weights.values()):
            return list(zip(own, weights.values()))
    named = [n for n, t in model.named_parameters()]
    missing = next(n for n, w in weights.items() if n not in state or state[n].shape != w.shape)
    raise WeightError(
        f"{type(model).__name__} has no place for the weight '{missing}' of shape {list(weights[missing].shape)}; it has "
        f"{', '.join(f'{n} {list(t.shape)}' for n, t in model.named_parameters()) or 'no parameters'}, {len(named)} in "
        f"all, and {len(weights)} were expected, with the names or in the order of the task's own\n---> declare the "
        "parameters as the task's Model does, in its order (ones and zeros of norms, too); the constructor may make of them what it likes"
    )


def load(model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Copies `weights` into the model's parameters and buffers, in place."""
    with torch.no_grad():
        for target, value in match(model, weights):
            target.copy_(value)
    return model
