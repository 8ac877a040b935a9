"""Finds how far an axis may vary, and whether a small number without a name has to stay.

Runs are on FakeTensors, with the other axes on the ground (probe.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import effects
from .expression import Sizes
from .observed import Observed
from .probe import MOST_STEPS, SMALL, Axis, Probe

SLOW_SECONDS = 6.0
POSITIONS = 8192  # fp16 holds whole numbers up to 2048, bf16 up to 256
MOST_DOUBLED = 8
ODD = (2, 4, 8)  # steps of sizes that leave a remainder
STRUCTURE = 4  # homogeneous coordinates; colours with opacity; corners of a box


def _sizes(axis: Axis, value: int) -> Sizes:
    return dict.fromkeys(axis.sizes, value)


def _find_step(probe: Probe, axis: Axis) -> None:
    v = axis.value
    near = next((probe.few[name] for name in axis.sizes if name in probe.few), v)
    if probe.beside(_sizes(axis, near + 1)) or (near > 1 and probe.beside(_sizes(axis, near - 1))):
        return
    for d in [d for d in range(2, v + 1) if v % d == 0]:
        if probe.beside(_sizes(axis, v + d)) and probe.beside(_sizes(axis, v + 2 * d)):
            axis.step = d
            return
    for d in ODD:  # int((n - 1) / 2) of cosines and sines has to be all of them
        if d < v and probe.beside(_sizes(axis, v + d)) and probe.beside(_sizes(axis, v + 2 * d)):
            axis.step, axis.rest = d, v % d
            return
    axis.step = 0  # no other multiple runs: the size is fixed or divides another


def _halves(probe: Probe, axis: Axis) -> tuple[int, int]:
    """Returns (least, greatest) from halving and doubling the value while it runs. It serves sizes that must divide
    another one, such as a group of weights."""
    low = high = axis.value
    while low % 2 == 0 and probe.beside(_sizes(axis, low // 2)):
        low //= 2
    while high < axis.value * MOST_DOUBLED and probe.beside(_sizes(axis, 2 * high)):
        high *= 2
    return low, high


def _search(probe: Probe, axis: Axis, good: int, bad: int) -> int:
    """Returns the last legal value from `good` towards `bad`, which does not run."""
    while abs(bad - good) > axis.step:
        middle = (good + bad) // 2
        middle -= (middle - axis.rest) % axis.step
        if middle in (good, bad):
            break
        if probe.beside(_sizes(axis, middle)):
            good = middle
        else:
            bad = middle
    return good


def _target(axis: Axis) -> int:
    """Returns the greatest value to try."""
    v = axis.value
    wanted = 64 if v < 16 else 4 * v if v < 4096 else 2 * v
    wanted = 1 << (wanted - 1).bit_length()
    return wanted - (wanted - axis.rest) % axis.step


def find_range(probe: Probe, axis: Axis) -> None:
    """Sets step, least and greatest value of an axis, with the others on the ground."""
    _find_step(probe, axis)
    if axis.step == 0:
        axis.step = 1
        # size_constraints.py finds the size that it divides, or fixes it
        axis.low, axis.high = _halves(probe, axis)
        axis.why = "" if axis.low < axis.high else "fixed: no row of multiples runs"
        return
    least = axis.rest or axis.step
    if least < axis.value and not probe.beside(_sizes(axis, least)):
        axis.low = _search(probe, axis, axis.value, least - axis.step)
    else:
        axis.low = min(least, axis.value)
    high = _target(axis)
    if any(name in probe.few for name in axis.sizes):
        high = min(high, max(axis.value, axis.value * MOST_STEPS // probe.base.steps))
        high -= (high - axis.rest) % axis.step
    while high > axis.value:
        if probe.beside(_sizes(axis, high)):
            axis.high = high
            break
        if probe.late():
            break
        axis.high = _search(probe, axis, axis.value, high)
        break
    if probe.slow > SLOW_SECONDS:
        axis.high = max(axis.value, axis.low)


def _work(o: Observed) -> Any:
    return o.inputs, o.weights, o.outputs, o.init, o.attributes, o.steps, o.elements


def lengthen_bound(probe: Probe, axis: Axis) -> None:
    """Extends an axis that bounds indices and nothing else, such as positions, to POSITIONS. It needs no
    memory, and narrow types do not hold large whole numbers."""
    high = POSITIONS - (POSITIONS - axis.rest) % axis.step
    if axis.ring != 1 or not axis.value or axis.high <= axis.value or axis.high >= high:
        return

    def is_free(value: int) -> bool:
        """Tells whether a run with that value has the work of the ground."""
        longer = probe.beside(_sizes(axis, value))
        return longer is not None and _work(longer) == _work(probe.ground)

    # The present end comes first: a loop over as many steps as POSITIONS takes minutes.
    if is_free(axis.high) and is_free(high):
        axis.high = high


def _beyond_changed(value: torch.Tensor, kept: Sequence[int]) -> torch.Tensor:
    """Changes the numbers outside of the shape `kept`."""
    inside = torch.zeros(value.shape, dtype=torch.bool)
    inside[tuple(slice(extent) for extent in kept)] = True
    return torch.where(
        inside, value, ~value if value.dtype == torch.bool else (value * 0.5 + 1).to(value.dtype)
    )


def _is_idle(probe: Probe, axis: Axis, axes: list[Axis]) -> bool:
    """Tells whether numbers added by one more step leave the results unchanged. It runs really, with few elements
    along the other axes."""
    for few in (5, 8, 16, 3):
        sizes = {name: a.near(few) for a in axes for name in a.sizes}
        here, there = ({**sizes, **_sizes(axis, v)} for v in (axis.value, axis.value + axis.step))
        before, after = probe.run(here), probe.run(there)
        if not before or not after or after.elements > SMALL:
            continue
        try:
            instance = probe.source.instance(there)
            torch.manual_seed(9)
            model, inputs = instance.model(), instance.inputs()
            changed = [
                _beyond_changed(v, was.shape) if isinstance(v, torch.Tensor) else v
                for v, was in zip(inputs, before.inputs)
            ]
            with torch.no_grad():
                one, two = effects.tensors(model, inputs), effects.tensors(model, changed)
            return all(
                torch.equal(torch.nan_to_num(p.double()), torch.nan_to_num(q.double()))
                for p, q in zip(one, two)
            )
        except Exception:  # raised by the task's own code: the answer is unknown
            continue
    return False


def _is_nameless(probe: Probe, axis: Axis) -> bool:
    return all(s.is_unnamed for s in probe.source.sizes if s.name in axis.sizes)


def is_structure(probe: Probe, axis: Axis) -> bool:
    """Tells whether a literal is structure: x, y and z, colours, corners of a box. It is small, unnamed and behind
    other extents. Kernels name such elements one by one. A true number of elements has a name or comes first."""
    return (
        _is_nameless(probe, axis)
        and axis.value <= STRUCTURE
        and not any(name.endswith("_0") for name in axis.sizes)
    )


def is_unread(probe: Probe, axis: Axis, axes: list[Axis]) -> bool:
    """Tells whether the results ignore the elements that a greater value adds to an input. An example are boxes with
    more than four numbers, of which a model reads columns 0 to 3.

    The published value must be the least one or unnamed. A kernel may rely on it like the model.
    """
    if axis.is_indexed:
        return False
    most = min(axis.high, 2 * axis.value + axis.step)
    larger = (
        probe.beside(_sizes(axis, most - (most - axis.rest) % axis.step))
        if axis.ring == 1 and axis.high > axis.value
        else None
    )

    def told(o: Observed) -> Any:
        return (o.outputs, o.weights, o.operations)

    may_be = (
        larger is not None
        and (_is_nameless(probe, axis) or axis.low == axis.value)
        and told(larger) == told(probe.ground)
    )
    return may_be and _is_idle(probe, axis, axes)


def cover(probe: Probe, axis: Axis, value: int) -> None:
    """Extends an axis to a published value if that value runs."""
    if (
        not axis.low <= value <= axis.high
        and value % axis.step == axis.rest
        and probe.beside(_sizes(axis, value))
    ):
        axis.low, axis.high = min(axis.low, value), max(axis.high, value)
