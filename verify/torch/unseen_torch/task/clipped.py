"""Finds a limit behind an extent that is a size at most: `randperm(blocks * block_size)[:tokens]` has fewer
elements than tokens where there are fewer slots.

Python clips a slice silently. Candidates need not accept inputs of unlike lengths, so the limit excludes
them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from .expression import Sizes
from .probe import Axis

Run = tuple[Sizes, int]  # the sizes of a run by axis, and the extent

MOST_FACTORS = 3
ENOUGH = 3  # clipped runs that tell a product


def _product_of(cut: list[Run], names: Sequence[str]) -> int | None:
    """Returns the factor by which the product of these axes is each clipped extent, or None."""
    factor: int | None = None
    for sizes, extent in cut:
        product = math.prod(sizes[n] for n in names)
        if product < 1 or extent % product or factor not in (None, extent // product):
            return None
        factor = extent // product
    return factor


def _about(axes: Sequence[Axis], cut: Sizes) -> list[Sizes]:
    """Returns sizes beside those of a clipped run, which tell the axes of the product."""
    moving = [a for a in axes if a.low < a.high]
    return [
        {**cut, a.name: a.near(value)}
        for a in moving
        for value in (cut[a.name] - a.step, cut[a.name] + a.step, 2 * cut[a.name])
    ]


def limit(axes: Sequence[Axis], runs: list[Run], more: Callable[[Sizes], int | None]) -> str | None:
    """Returns `axis <= product of others` if an extent is that axis, or the product where that is less.

    `runs` has the sizes of runs and the extent, the base first. `more` runs other sizes.
    """
    moving = [a.name for a in axes if a.low < a.high]
    for axis in moving:
        first = next((s for s, y in runs if y < s[axis]), None)
        if first is None or runs[0][1] != runs[0][0][axis]:
            continue
        beside = ((s, more(s)) for s in _about(axes, first))
        runs = runs + [(s, y) for s, y in beside if y is not None]
        cut = [(s, y) for s, y in runs if y != s[axis]]
        whole = [s for s, y in runs if y == s[axis]]
        if len(cut) < ENOUGH or any(y > s[axis] for s, y in cut):
            continue
        others = [name for name in moving if name != axis]
        for count in range(1, MOST_FACTORS + 1):
            for names in itertools.combinations(others, count):
                factor = _product_of(cut, names)
                if factor and all(s[axis] <= factor * math.prod(s[n] for n in names) for s in whole):
                    return f"{axis} <= {'*'.join([str(factor)] * (factor > 1) + list(names))}"
    return None
