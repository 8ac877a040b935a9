"""Smaller configurations that replace published ones too large for a CPU.

A verdict on the seen set is about shapes that the candidate's author knew. Smaller shapes therefore preserve the
arithmetic on which kernels branch: powers of two that divide a size, its side of a tile, and equal sizes.

The largest sizes shrink first, by the coarsest tile first, until the work is affordable.
"""

from __future__ import annotations

from collections.abc import Callable

from .description import AxisEntry, Description
from .expression import Sizes

Legal = Callable[[Description, Sizes], bool]
Cost = Callable[[Description, Sizes], float]

# work of all published configurations, as in write.cost: ten million elements, about 20 s of one core
AFFORDABLE = 1e10
# work of all replacements: below AFFORDABLE, since they differ from the published ones anyway
SMALLER = 2.5e9
# a size keeps its remainder by one of these and stays at least as large
TILES = (256, 128, 64, 32, 16, 8, 4, 2, 1)
# Steps in order: (tile, must sizes that divide others still do so?). Tiles of 16 and more matter more than
# divisibility; smaller tiles matter less.
ORDER = (
    [(t, True) for t in TILES if t >= 16]
    + [(t, False) for t in TILES if t >= 16]
    + [(t, s) for s in (True, False) for t in TILES if t < 16]
)


def written(task: Description, sizes: Sizes) -> str:
    """Returns the line of a configuration."""
    words = [f"{a['name']}={sizes[a['name']]}" for a in task["axes"]]
    return " ".join([*words, "input=published"])


def _groups(task: Description, sizes: Sizes) -> list[tuple[list[str], int]]:
    """Groups equal axes, which shrink together. Each group has the largest lower bound of its axes."""
    groups: dict[int, list[AxisEntry]] = {}
    for axis in task["axes"]:
        groups.setdefault(sizes[axis["name"]], []).append(axis)
    return [([a["name"] for a in axes], max(a["low"] for a in axes)) for axes in groups.values()]


def _keeps_order(published: Sizes, sizes: Sizes) -> bool:
    """Tells whether all pairs of sizes keep their order and their divisibility."""
    names = list(published)
    for a in names:
        for b in names:
            if published[a] > published[b] and not sizes[a] > sizes[b]:
                return False
            if published[b] > 1 and published[a] % published[b] == 0 and sizes[a] % sizes[b]:
                return False
    return True


def _smaller(value: int, low: int, tile: int) -> int | None:
    """Returns about half of the value with the same remainder by `tile`, at least `tile` and `low`. Returns None if
    there is no such value."""
    half = value // 2
    found = half - (half - value) % tile
    while found < max(low, tile):
        found += tile
    return found if found < value else None


def _step(
    task: Description, published: Sizes, sizes: Sizes, tile: int, legal: Legal, strict: bool
) -> Sizes | None:
    """Shrinks one group, trying the one farthest above its lower bound first. Returns None if no group can shrink."""
    groups = sorted(_groups(task, sizes), key=lambda g: -sizes[g[0][0]] / max(g[1], 1))
    for names, low in groups:
        value = _smaller(sizes[names[0]], low, tile)
        made = None if value is None else {**sizes, **dict.fromkeys(names, value)}
        if made and legal(task, made) and (not strict or _keeps_order(published, made)):
            return made
    return None


def line(task: Description, published: Sizes, legal: Legal, cost: Cost, count: int = 1) -> tuple[str, bool]:
    """Returns `(line, is it smaller than the published configuration?)` for one of `count` published configurations."""
    sizes, most = published, SMALLER / count
    if cost(task, sizes) <= AFFORDABLE / count:
        return written(task, sizes), False
    for tile, strict in ORDER:
        while cost(task, sizes) > most:
            made = _step(task, published, sizes, tile, legal, strict)
            if made is None:
                break
            sizes = made
    return written(task, sizes), sizes != published
