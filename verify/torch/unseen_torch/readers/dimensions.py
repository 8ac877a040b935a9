"""Names the extents of listed shapes, so that equal series of extents are one size.

Each published configuration has a shape for every tensor. A dimension's series has its extents in all
configurations. A series may be a multiple, a quotient, a sum or a product of series before it; then its
expression stands for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Series = tuple[int, ...]
TELLING = 3  # different values of a series from which a relation counts
MOST_FACTOR = 16


def _relations(series: Series, known: dict[Series, str]) -> Iterator[str]:
    """Yields expressions of known series that give this one, the simplest first."""
    names = list(known.items())
    for other, name in names:
        if (
            all(x and y % x == 0 for x, y in zip(other, series))
            and len({y // x for x, y in zip(other, series)}) == 1
        ):
            factor = series[0] // other[0]
            if 1 < factor <= MOST_FACTOR:
                yield f"{name} * {factor}"
        if (
            all(y and x % y == 0 for x, y in zip(other, series))
            and len({x // y for x, y in zip(other, series)}) == 1
        ):
            factor = other[0] // series[0]
            if 1 < factor <= MOST_FACTOR:
                yield f"{name} // {factor}"
        difference = {y - x for x, y in zip(other, series)}
        if len(difference) == 1 and abs(next(iter(difference))) <= 2:
            yield f"{name} + {next(iter(difference))}"
    for i, (a, of_a) in enumerate(names):
        for b, of_b in names[i + 1 :]:
            if all(x * y == z for x, y, z in zip(a, b, series)):
                yield f"{of_a} * {of_b}"
            if all(x + y == z for x, y, z in zip(a, b, series)):
                yield f"{of_a} + {of_b}"


class Dimensions:
    """The sizes of listed shapes. `sizes` has a series by the name of each."""

    def __init__(self) -> None:
        self.sizes: dict[str, Series] = {}
        self.known: dict[Series, str] = {}

    def of(self, series: Sequence[int], name: str) -> str:
        """Returns the expression of a dimension: a size, an expression of sizes, or the constant 1 or 0."""
        values = tuple(series)
        if set(values) <= {0} or set(values) == {1}:
            return str(values[0])
        if values in self.known:
            return self.known[values]
        related = next(_relations(values, self.known), None) if len(set(values)) >= TELLING else None
        if related:
            self.known[values] = f"({related})"
            return f"({related})"
        self.sizes[name] = values
        self.known[values] = name
        return name
