"""Finds which numbers in calls of a function are one size.

A place is an extent of a tensor, or a whole number among the other arguments. Places with equal numbers
in all calls may be one size. Runs with a greater number tell which of them have to move together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

BEYOND = Fraction(3)  # factor by which a place is raised
HALF = Fraction(1, 2)  # the same for large even numbers
LARGE = 256
MOST_ELEMENTS = 1 << 22  # of all tensors of a run


@dataclasses.dataclass(frozen=True)
class Place:
    """A number of all calls. `at` is the dimension, or the index in a list; None: the argument itself."""

    key: str
    at: int | None
    series: tuple[int, ...]
    is_extent: bool

    @property
    def name(self) -> str:
        return self.key if self.at is None else f"{self.key}_{self.at}"


Raised = dict[tuple[str, "int | None"], Fraction]  # factors by key and `at`


class Sizes:
    """The sizes of places. `runs` tells whether all calls run while some places are multiplied."""

    def __init__(self, places: Sequence[Place], runs: Callable[[Raised], bool]) -> None:
        self.runs = runs
        self.of: dict[tuple[str, int | None], str] = {}
        self.series: dict[str, tuple[int, ...]] = {}
        can_run = runs({})
        for series in dict.fromkeys(p.series for p in places if p.is_extent):
            if set(series) <= {0, 1}:
                continue
            alike = [p for p in places if p.series == series]
            while any(p.is_extent for p in alike):
                first = next(p for p in alike if p.is_extent)
                group = self._partners(first, alike) if can_run else [p for p in alike if p.is_extent]
                self.series[first.name] = series
                for place in group:
                    self.of[place.key, place.at] = first.name
                alike = [p for p in alike if p not in group]

    def _run(self, places: Sequence[Place]) -> bool:
        is_large = all(n >= LARGE and n % 2 == 0 for p in places for n in p.series)
        return self.runs({(p.key, p.at): HALF if is_large else BEYOND for p in places})

    def _partners(self, first: Place, alike: list[Place]) -> list[Place]:
        """Returns the fewest places that have to be raised with the first one, and itself."""
        others = [p for p in alike if p is not first]
        for few in ([first], *([first, other] for other in others)):
            if self._run(few):
                return few
        group = [first, *others]
        if not self._run(group):
            return [p for p in group if p.is_extent]
        for other in group[:0:-1]:
            fewer = [p for p in group if p is not other]
            if self._run(fewer):
                group = fewer
        return group


def elements(shapes: Iterable[Sequence[int]]) -> int:
    """Returns the number of elements of tensors with these shapes."""
    return sum(math.prod(shape) for shape in shapes)
