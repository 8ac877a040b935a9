"""Raises least sizes whose answer is NaN: the deviation of one element, the covariance of one row.

No configuration with such an answer can be judged, so a small part of the range would be lost to every set of sizes.
"""

from __future__ import annotations

import torch

from . import expression, input_domain, size_constraints
from .description import Note
from .expression import Sizes
from .probe import SMALL, Axis, Probe

SEEDS = (1, 2, 3)
MOST = 4  # values of a size that are tried
GROUND = (5, 8, 16, 3)  # sizes along the other axes


def _is_nan(probe: Probe, sizes: Sizes) -> bool | None:
    """Tells whether each of a few draws has a NaN in its answer. None: it does not run, or is too large."""
    observed = probe.run(sizes)
    if not observed or observed.elements > SMALL:
        return None
    try:
        instance = probe.source.instance(sizes)
        model = instance.model()
        for seed in SEEDS:
            torch.manual_seed(seed)
            outputs = input_domain.outputs_at(model, instance.inputs())
            if outputs is None:
                return None
            if not any(bool(o.isnan().any()) for o in outputs):
                return False
        return True
    except Exception:  # raised by the task's own code
        return None


def _ground(probe: Probe, axes: list[Axis], limits: list[str]) -> Sizes | None:
    """Returns small sizes by axis at which the answer is not NaN."""
    for value in GROUND:
        sizes = {a.name: a.near(value) for a in axes}
        fits = all(expression.evaluate(t, sizes) for t in limits)
        if fits and _is_nan(probe, size_constraints.spread(axes, sizes)) is False:
            return sizes
    return None


def _least(probe: Probe, axes: list[Axis], limits: list[str], ground: Sizes, axis: Axis) -> int:
    """Returns the axis's least value whose answer is not NaN, or the present one if that is not known."""
    for value in range(axis.low, min(ground[axis.name], axis.low + MOST * axis.step) + 1, axis.step):
        sizes = {**ground, axis.name: value}
        if probe.late() or not all(expression.evaluate(t, sizes) for t in limits):
            break
        is_nan = _is_nan(probe, size_constraints.spread(axes, sizes))
        if is_nan is None:
            break
        if not is_nan:
            return value
    return axis.low


def raise_least(probe: Probe, axes: list[Axis], limits: list[str]) -> list[Note]:
    """Raises the axes' least values in place, and returns a note of each that rose."""
    ground = _ground(probe, axes, limits)
    notes: list[Note] = []
    for axis in (a for a in axes if ground and a.low < min(a.high, a.value)):
        assert ground
        least = min(_least(probe, axes, limits, ground, axis), axis.value)
        if least > axis.low:
            text = f"`{axis.name}` begins at {least}, since the answer is NaN with {axis.low}"
            notes.append({"kind": "least", "text": text})
            axis.low = least
    return notes
