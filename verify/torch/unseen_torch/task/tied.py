"""Finds literals of get_inputs that are one size, by runs with real numbers.

FakeTensors have no values, so they do not show that an index is out of range. A literal may fail alone and run
together with another literal of the same value. Then both are one size. A bound with which any larger value runs
(levels of a quantization) is no size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .expression import Sizes
from .probe import Axis, Probe
from .ranges import find_range

Spread = Callable[[Sequence[Axis], Sizes], Sizes]  # from values of axes to values of the source's sizes

SMALL_VALUES = (8, 5, 16, 3, 24, 32, 2)  # axes of a small run, in the order of trial
EQUAL = 8  # value of equal literals while one of them is raised
BEYOND = 3  # factor by which a size is raised


def small_base(probe: Probe, axes: list[Axis], spread: Spread) -> Sizes | None:
    """Returns values of axes, by name, at which the task runs with real numbers, or None. Ratios of published sizes
    are tried first, since a size of 1 often has to stay 1."""
    capped = ({a.name: a.near(min(a.value, most)) for a in axes} for most in SMALL_VALUES)
    alike = ({a.name: a.near(most) for a in axes} for most in SMALL_VALUES)
    for sizes in [*capped, *alike, {a.name: a.value for a in axes}]:
        if probe.late():
            return None
        if probe.really(spread(axes, sizes)):
            return sizes
    return None


class _Literals:
    """The axes of one task about a small base."""

    def __init__(self, probe: Probe, axes: list[Axis], spread: Spread) -> None:
        self.probe, self.axes, self.spread = probe, axes, spread
        self.base = small_base(probe, axes, spread)

    def _runs(self, sizes: Sizes) -> bool | None:
        """Tells whether the task runs with these sizes by axis. Returns None if the run is too large."""
        sizes = self.spread(self.axes, sizes)
        return self.probe.really(sizes) if self.probe.run(sizes) else False

    def ground(self, base: Sizes, alike: Sequence[Axis]) -> Sizes:
        """Returns the base with all axes of `alike` at EQUAL, whatever their ranges are. Returns the base itself if
        that does not run."""
        ground = {**base, **{a.name: EQUAL for a in alike}}
        return ground if self._runs(ground) else base

    def raised(self, ground: Sizes, group: Sequence[Axis]) -> bool | None:
        """Tells whether the task runs with these axes raised together. Returns None if the run is too large."""
        most = max(ground[a.name] for a in group)
        return self._runs({**ground, **{a.name: BEYOND * most for a in group}})

    def partners(self, ground: Sizes, axis: Axis, alike: list[Axis]) -> list[Axis]:
        """Returns the fewest axes of `alike` that have to be raised with an axis. Returns [] if raising all of them
        does not help."""
        group = [axis, *alike]
        if not alike or not self.raised(ground, group):
            return []
        for other in alike:
            fewer = [a for a in group if a is not other]
            if len(fewer) > 1 and self.raised(ground, fewer):
                group = fewer
        return group[1:]

    def tied_with(self, base: Sizes, axis: Axis, literal: list[Axis]) -> list[Axis]:
        """Returns other literals of the same value that have to be raised with an axis. The list is empty if the axis
        runs alone."""
        alike = [
            a
            for a in literal
            if a is not axis and a in self.axes and a.value == axis.value and a.step == axis.step == 1
        ]
        ground = self.ground(base, [axis, *alike])
        return self.partners(ground, axis, alike) if self.raised(ground, [axis]) is False else []


def _merge(probe: Probe, axis: Axis, others: list[Axis]) -> None:
    """Merges axes into the first, in place. Their sizes then vary together."""
    for other in others:
        axis.sizes = axis.sizes + other.sizes
        axis.ring = max(axis.ring, other.ring)
    axis.low = axis.high = axis.value
    if not probe.late():
        find_range(probe, axis)


def _rename(axis: Axis, order: list[str]) -> None:
    """Names a merged axis after its sizes, in the order of the source."""
    axis.sizes = [name for name in order if name in axis.sizes]
    axis.name = "_".join(axis.sizes) if len(axis.sizes) < 3 else axis.sizes[0]
    axis.why = f"moves only together with {', '.join(axis.sizes[1:])}"


def literals(probe: Probe, axes: list[Axis], spread: Spread) -> list[Axis]:
    """Returns the axes after merging. Bounds with which all values run are fixed."""
    found = probe.source.sizes
    bounds = {s.name for s in found if s.is_bound}
    unnamed = {s.name for s in found if s.is_unnamed}
    literal = [a for a in axes if set(a.sizes) <= unnamed and a.low < a.high]
    if not literal or not probe.points():
        return axes
    runs, grown = _Literals(probe, axes, spread), []
    for axis in sorted(literal, key=lambda a: not bounds & set(a.sizes)):  # bounds of indices come first
        if axis not in runs.axes or runs.base is None:
            continue
        others = runs.tied_with(runs.base, axis, literal)
        if others:
            _merge(probe, axis, others)
            grown.append(axis)
            runs.axes = [a for a in runs.axes if a not in others]
    for axis in (a for a in literal if a in runs.axes and set(a.sizes) <= bounds):
        if runs.base is None or runs.raised(runs.base, [axis]) is not False:
            axis.fix("a bound of values that no run refuses indexes nothing")
            continue
        for table in runs.partners(
            runs.base, axis, [a for a in literal if a in runs.axes and not bounds & set(a.sizes)]
        ):
            table.is_indexed = True
    for axis in grown:
        _rename(axis, [s.name for s in found])
    return runs.axes
