"""Literals of get_inputs that belong together, as runs with real numbers show.

FakeTensors have no values: they do not show that an index lies beyond its table. A literal that is refused alone, and runs where another
literal of the same value moves with it, is one size with that one. A bound of values that nothing refuses (levels of a quantization) is no size.
"""
from .probe import find_range

SMALL_VALUES = (8, 5, 16, 3, 24, 32, 2)  # of the axes of a small run, in the order of trial
EQUAL = 8   # what literals of one value are where one of them is raised
BEYOND = 3  # so many times as large is a size that is raised


def small_base(probe, axes, spread):
    """Values of axes, by name, for a small run with real numbers; None where no such run is found. Ratios of published sizes are tried first,
    since a size of 1 often has to stay 1."""
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

    def __init__(self, probe, axes, spread):
        self.probe, self.axes, self.spread = probe, axes, spread
        self.base = small_base(probe, axes, spread)

    def _runs(self, sizes):
        """Does the task run with these sizes by axis? None: the run is too large."""
        sizes = self.spread(self.axes, sizes)
        return self.probe.really(sizes) if self.probe.run(sizes) else False

    def ground(self, alike):
        """The base with all of `alike` as small as the others, whatever ranges they have alone; the base itself where that does not run."""
        ground = {**self.base, **{a.name: EQUAL for a in alike}}
        return ground if self._runs(ground) else self.base

    def raised(self, ground, group):
        """Does the task run with these axes raised together? None: no such values are legal, or the run is too large."""
        most = max(ground[a.name] for a in group)
        return self._runs({**ground, **{a.name: BEYOND * most for a in group}})

    def partners(self, ground, axis, alike):
        """The fewest of `alike` that have to be raised with an axis, which is refused alone; [] where not even all of them help."""
        group = [axis, *alike]
        if not alike or not self.raised(ground, group):
            return []
        for other in alike:
            fewer = [a for a in group if a is not other]
            if len(fewer) > 1 and self.raised(ground, fewer):
                group = fewer
        return group[1:]

    def tied_with(self, axis, literal):
        """Other literals of the same value without which an axis cannot be raised."""
        alike = [a for a in literal if a is not axis and a in self.axes and a.value == axis.value and a.step == axis.step == 1]
        ground = self.ground([axis, *alike])
        return self.partners(ground, axis, alike) if self.raised(ground, [axis]) is False else []


def _merge(probe, axis, others):
    """Makes one axis of several, in place; the sizes of all of them move with it."""
    for other in others:
        axis.sizes = axis.sizes + other.sizes
        axis.ring = max(axis.ring, other.ring)
    axis.low = axis.high = axis.value
    if not probe.late():
        find_range(probe, axis)


def _rename(axis, order):
    """Names it after its sizes, in the order in which the source has them."""
    axis.sizes = [name for name in order if name in axis.sizes]
    axis.name = "_".join(axis.sizes) if len(axis.sizes) < 3 else axis.sizes[0]
    axis.why = f"moves only together with {', '.join(axis.sizes[1:])}"


def _fixed(axis, why):
    axis.low = axis.high = axis.value
    axis.why = f"fixed: {why}"


def literals(probe, axes, spread):
    """The axes, of which some have become one. Those of bounds that nothing refuses are fixed."""
    found = probe.source.sizes
    bounds = {s.name for s in found if s.is_bound}
    unnamed = {s.name for s in found if s.is_unnamed}
    literal = [a for a in axes if set(a.sizes) <= unnamed and a.low < a.high]
    if not literal or not probe.points():
        return axes
    runs, grown = _Literals(probe, axes, spread), []
    for axis in sorted(literal, key=lambda a: not bounds & set(a.sizes)):  # what bounds indices is tied first
        if axis not in runs.axes or runs.base is None:
            continue
        others = runs.tied_with(axis, literal)
        if others:
            _merge(probe, axis, others)
            grown.append(axis)
            runs.axes = [a for a in runs.axes if a not in others]
    for axis in (a for a in literal if a in runs.axes and set(a.sizes) <= bounds):
        if runs.base is None or runs.raised(runs.base, [axis]) is not False:
            _fixed(axis, "a bound of values that no run refuses indexes nothing")
            continue
        for table in runs.partners(runs.base, axis, [a for a in literal if a in runs.axes and not bounds & set(a.sizes)]):
            table.is_indexed = True
    for axis in grown:
        _rename(axis, [s.name for s in found])
    return runs.axes
