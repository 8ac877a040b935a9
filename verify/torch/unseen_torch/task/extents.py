"""Fits expressions of axes to the extents of all tensors, and power laws to the work."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from . import clipped, computed, fit, input_domain, scalar, size_constraints, written_extents
from .description import Extent, ImportError_, InputEntry, PowerLaw
from .expression import Sizes
from .observed import Input, Observed, Point, Shaped
from .probe import Axis, Probe

SATURATED = 3  # values of an axis with equal extents that show a saturation
FEW_ROWS, MOST_ROWS = 8, 64  # values of an axis for which a table is made first, or at all


@dataclass
class Shapes:
    """The fitted extents of all tensors, and what else of an input follows axes."""

    inputs: list[list[Extent]]
    weights: list[list[Extent]]
    outputs: list[list[Extent]]
    bounds: list[Extent | None]
    lows: list[Extent]
    numbers: list[InputEntry | None]  # extra keys of an input that is no tensor


class _Extents:
    """Fits expressions to all extents. Equal series of values are fitted once."""

    def __init__(self, runs: Probe, points: list[Point], axes: Sequence[Axis]) -> None:
        self.runs, self.points, self.base, self.axes = runs, points, points[0].sizes, axes
        self.memory: dict[tuple[int, ...], Extent | None] = {}
        # the extent without an expression, and the axes that it follows
        self.unknown: tuple[str, list[Axis]] | None = None
        self.unfitted: list[Callable[[Observed], int]] = []

    def of(self, pick: Callable[[Observed], int], what: str) -> Extent:
        values = tuple(pick(observed) for _, observed in self.points)
        if values not in self.memory:
            samples = [(s, y) for (s, _), y in zip(self.points, values)]
            found = fit.extent(self.base, samples)
            self.memory[values] = self._written(samples) if found is None else found
        found = self.memory[values]
        if found is None:
            self.unknown = (what, self._moving(values))
            self.unfitted.append(pick)
            return values[0]
        return found

    def _written(self, samples: list[tuple[Sizes, int]]) -> str | None:
        source, names = self.runs.source, {n: a.name for a in self.axes for n in a.sizes if a.low < a.high}
        return written_extents.fitting(source.expressions, names, source.published(), samples)

    def limit_saturated(self) -> bool:
        """Lowers the highest value of an axis beyond which the first unknown extent stays. Tells whether
        there is such an axis."""
        for axis in self.unknown[1] if self.unknown and self.unfitted else ():
            line = sorted(
                (s[axis.name], self.unfitted[0](o))
                for s, o in self.points
                if all(s[other] == self.base[other] for other in s if other != axis.name)
            )
            ends = [x for x, y in line if y == line[-1][1]]
            if len(ends) > SATURATED and axis.low < ends[0] < axis.high and axis.value <= ends[0]:
                axis.high, axis.why = ends[0], "a greater one changes no extent"
                return True
        return False

    def clip(self) -> str | None:
        """Returns a limit with which the first unknown extent has an expression, or None."""
        if not self.unfitted:
            return None
        pick = self.unfitted[0]

        def more(sizes: Sizes) -> int | None:
            observed = self.runs.run(size_constraints.spread(list(self.axes), sizes))
            return pick(observed) if observed else None

        return clipped.limit(self.axes, [(s, pick(o)) for s, o in self.points], more)

    def _moving(self, values: Sequence[Any]) -> list[Axis]:
        """Returns the axes along which `values` change while the other axes stay at the base."""

        def is_beside(s: Sizes, axis: Axis) -> bool:
            return all(s[o] == self.base[o] for o in s if o != axis.name)

        rows = [(s, y) for (s, _), y in zip(self.points, values)]
        return [a for a in self.axes if len({repr(y) for s, y in rows if is_beside(s, a)}) > 1]

    def _table(self, i: int, values: list[Any], most: int) -> InputEntry | None:
        """Returns the keys `table`, `of` and `first` of an input that follows one axis of at most `most`
        values."""
        moving = self._moving(values)
        if len(moving) != 1 or moving[0].high - moving[0].low >= most:
            return None
        axis, rows = moving[0], dict[int, Any]()
        for (sizes, _), value in zip(self.points, values):
            if repr(rows.setdefault(sizes[axis.name], value)) != repr(value):
                return None
        for at in range(axis.low, axis.high + 1):
            if at not in rows:
                sizes = size_constraints.spread(list(self.axes), {**self.base, axis.name: at})
                observed = self.runs.run(sizes)
                if observed is None:
                    return None
                rows[at] = observed.inputs[i].value
        table = [rows[at] for at in range(axis.low, axis.high + 1)]
        return {"of": axis.name, "first": axis.low, "table": table}

    def _number(self, i: int, values: list[Any]) -> InputEntry | None:
        """Returns extra keys for an input that is no tensor and follows axes."""
        samples = [(sizes, value) for (sizes, _), value in zip(self.points, values)]
        law = self._table(i, values, FEW_ROWS)  # of few values an expression says too much
        if law is not None:
            return law
        if all(type(v) is int for v in values):
            text = fit.extent(self.base, samples)
            law = None if text is None else {"expression": computed.negative_first(text)}
        else:
            law = scalar.law(samples)
        law = law or self._table(i, values, MOST_ROWS)
        self.unknown = self.unknown if law else (f"input {i}, no tensor", self._moving(values))
        return law

    def numbers(self, base: list[Input], by_chance: set[int]) -> list[InputEntry | None]:
        """Returns extra keys for each input that is a number and follows axes. They are an expression of a
        whole number, or scalar.py's form of another one. None keeps the value in `base`.

        If no form fits, the axis has to be fixed.
        """
        found: list[InputEntry | None] = []
        for i, published in enumerate(base):
            values = [o.inputs[i].value for _, o in self.points]
            stays = published.kind == "tensor" or i in by_chance or all(v == published.value for v in values)
            found.append(None if stays else self._number(i, values))
        return found

    def shapes(self, tensors: Callable[[Observed], Sequence[Shaped]], what: str) -> list[list[Extent]]:
        return [
            [
                self.of(
                    lambda o: tensors(o)[t].shape[d],
                    f"the extents of {what} {t}, dimension {d}",
                )
                for d in range(len(one.shape))
            ]
            for t, one in enumerate(tensors(self.points[0].observed))
        ]

    def bounds(self) -> list[Extent | None]:
        return [
            self.of(lambda o: cast(int, o.laws[i].bound), f"the bound of input {i}") if law.bound else None
            for i, law in enumerate(self.points[0].observed.laws)
        ]

    def lows(self) -> list[Extent]:
        return [
            computed.negative_first(
                self.of(lambda o: cast(int, o.laws[i].low), f"the least value of input {i}")
            )
            if law.bound and input_domain.is_drawn_whole(law.calls)
            else law.low
            for i, law in enumerate(self.points[0].observed.laws)
        ]

    def all(self, base: list[Input], by_chance: set[int]) -> Shapes:
        return Shapes(
            self.shapes(lambda o: o.inputs, "input"),
            self.shapes(lambda o: o.weights, "weight"),
            self.shapes(lambda o: o.outputs, "output"),
            self.bounds(),
            self.lows(),
            self.numbers(base, by_chance),
        )


def fitted(runs: Probe, axes: list[Axis], chance: random.Random) -> tuple[list[str], list[Point], Shapes]:
    """Returns `(limits, points, shapes)`. Axes whose extents have no expression are fixed, until all extents
    have one."""
    clips: list[str] = []
    while True:
        found = size_constraints.limits(runs, axes, chance)
        found += [text for text in clips if text not in found]
        moving = [a for a in axes if a.low < a.high]
        points = size_constraints.sample_points(runs, axes, found, chance)
        if any(a.low == a.high for a in moving):
            continue  # the limits must not contain axes that are fixed by now
        extents = _Extents(runs, points, axes)
        shapes = extents.all(runs.base.inputs, runs.by_chance)
        if extents.unknown is None:
            return found, points, shapes
        what, moving = extents.unknown
        clip = extents.clip()
        if clip and clip not in found:
            clips.append(clip)
            continue
        if extents.limit_saturated():
            continue
        moving = [a for a in moving if a.low < a.high] or [a for a in axes if a.low < a.high]
        if not moving:
            raise ImportError_(f"no expression of the sizes gives {what}\n---> simplify the task")
        worst = max(moving, key=lambda a: a.ring)
        worst.fix(f"no expression of it gives {what}")


def _power(low: tuple[int, int], high: tuple[int, int]) -> float:
    """Returns the exponent of a power law through two (x, y)."""
    (x0, y0), (x1, y1) = low, high
    power = math.log(y1 / y0) / math.log(x1 / x0) if x1 > x0 > 0 and y0 > 0 and y1 > 0 else 0
    return 0 if abs(power) <= 0.02 else round(power, 2) if abs(power - round(power)) > 0.1 else round(power)


def powers(points: list[Point], axes: Sequence[Axis], pick: Callable[[Observed], int]) -> PowerLaw:
    """Fits c * a^p * b^q to `pick` about the published sizes.

    Each axis has an exponent from the widest step up. Sizes below `base` have another exponent, `below`, from
    the widest step down. Work that does not depend on the axis does not shrink with it."""
    base_sizes, base = points[0]
    powers: dict[str, float] = {}
    below: dict[str, float] = {}
    for axis in axes:
        line = [
            (s[axis.name], pick(o))
            for s, o in points
            if s[axis.name]
            and all(s[other] == base_sizes[other] for other in base_sizes if other != axis.name)
        ] or [(base_sizes[axis.name], pick(base))]
        here = (base_sizes[axis.name], pick(base))
        up, down = (_power(here, max(line)), _power(min(line), here))
        up = up if max(line)[0] > here[0] else down
        powers.update({axis.name: up} if up else {})
        if min(line)[0] < here[0] and down != up:
            below[axis.name] = down
    scale: float = pick(base)
    for name, power in powers.items():
        scale /= base_sizes[name] ** power
    return {
        "coefficient": scale,
        "powers": powers,
        "below": below,
        "base": {name: base_sizes[name] for name in below},
    }
