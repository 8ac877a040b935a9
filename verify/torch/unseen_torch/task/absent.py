"""Finds sizes that count something which may be absent: padding of which none is published, drafts of
which each request has at least one.

- A published 0 may be greater if the constructor is not told and inputs follow it: an extent, a number,
  or the values of whole numbers (markers of padding).
- A published count may be 0 if every tensor still has elements, and the answer is a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import input_domain, tied
from .expression import Sizes
from .observed import Observed
from .probe import WHOLE, Axis, Probe, Ring
from .size_constraints import spread

SEEDS = (1, 2, 3)
TRIED = (1, 2)


def _inputs(probe: Probe, sizes: Sizes, seed: int) -> list[Any]:
    torch.manual_seed(seed)
    return probe.source.instance(sizes).inputs()


def _differ(first: list[Any], second: list[Any], whole: bool) -> bool:
    """Tells whether a tensor (of whole numbers only with `whole`) has other values."""
    return any(
        isinstance(a, torch.Tensor)
        and (not whole or str(a.dtype).removeprefix("torch.") in WHOLE)
        and (a.shape != b.shape or not torch.equal(a.double(), b.double()))
        for a, b in zip(first, second)
    )


def _change_values(probe: Probe, sizes: Sizes, name: str) -> bool:
    """Tells whether whole numbers follow this size. get_inputs must not seed the generator: a seed follows
    nothing."""
    first = _inputs(probe, sizes, 1)
    return _differ(first, _inputs(probe, sizes, 2), False) and _differ(
        first, _inputs(probe, {**sizes, name: 1}, 1), True
    )


def _is_right(probe: Probe, sizes: Sizes) -> bool:
    """Tells whether the task runs with real numbers and its answers are numbers."""
    if not probe.really(sizes):
        return False
    instance = probe.source.instance(sizes)
    for seed in SEEDS:
        torch.manual_seed(seed)
        outputs = input_domain.outputs_at(instance.model(), instance.inputs())
        if outputs is None or any(bool(o.double().isnan().any()) for o in outputs):
            return False
    return True


def _follows(probe: Probe, base: Sizes, name: str) -> bool:
    """Tells whether a size that is published as 0 counts something in the inputs."""
    ground, runs = probe.ground, [probe.beside({name: value}) for value in TRIED]

    def told(o: Observed) -> Any:
        return o.init, o.attributes, o.weights

    if any(o is None or told(o) != told(ground) for o in runs):
        return False
    if not probe.is_told({name: TRIED[0]}, runs[0] or ground):
        return False
    shaped = any(o and o.inputs != ground.inputs for o in runs)
    if not shaped and not _change_values(probe, base, name):
        return False
    return all(_is_right(probe, {**base, name: value}) for value in TRIED)


def _base(probe: Probe, axes: Sequence[Axis]) -> Sizes | None:
    base = tied.small_base(probe, list(axes), spread)
    return None if base is None else spread(axes, base)


def published_zeros(probe: Probe, axes: list[Axis], words: dict[str, Ring]) -> list[Axis]:
    """Returns axes of the sizes that are published as 0 and may be greater, and sets their rings in `words`."""
    zeros = [s.name for s in probe.source.sizes if s.value == 0 and s.where == "module"]
    base = _base(probe, axes) if zeros and not probe.late() else None
    found = []
    for name in zeros if base is not None else ():
        try:
            follows = _follows(probe, base or {}, name)
        except Exception:  # raised by the task's own code
            continue
        if follows:
            words[name] = (1, "counts something in inputs, of which none is published")
            found.append(Axis(name, [name], 0, 1))
    return found


def _leaves_elements(probe: Probe, axis: Axis) -> bool:
    """Tells whether inputs are smaller with 0, and all of them still have elements."""
    observed = probe.beside(dict.fromkeys(axis.sizes, 0))
    shapes = [[t.shape for t in o.inputs] for o in (observed, probe.ground) if o]
    return len(shapes) == 2 and shapes[0] != shapes[1] and not any(0 in shape for shape in shapes[0])


def allow_zero(probe: Probe, axes: list[Axis]) -> None:
    """Sets the least value of axes to 0 where that is legal, in place."""
    base: Sizes | None = None
    for axis in axes:
        if axis.ring != 1 or axis.low != 1 or axis.step != 1 or axis.high == 1 or probe.late():
            continue
        try:
            if not _leaves_elements(probe, axis):
                continue
            base = base or _base(probe, axes)
            if base is not None and _is_right(probe, {**base, **dict.fromkeys(axis.sizes, 0)}):
                axis.low = 0
        except Exception:  # raised by the task's own code
            continue
