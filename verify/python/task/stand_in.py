"""Configurations that stand in for published ones which are too much for a CPU.

A verdict on the seen set speaks of the shapes that the candidate's author was given. Shapes that stand in for them therefore keep the
arithmetic that kernels branch on: which powers of two divide a size, on which side of a tile it lies, which sizes are equal. Sizes shrink
from the largest on, by the coarsest tile first, until the work is affordable."""

AFFORDABLE = 1e10  # of all published ones, as write.cost counts: ten million elements, about 20 s of one core
SMALLER = 2.5e9    # what a configuration that stands in may cost: where it is another one anyway, it need not be dear
TILES = (256, 128, 64, 32, 16, 8, 4, 2, 1)  # a size keeps its remainder by one of these, and is no smaller than it
# (tile, do sizes that divide others have to do so still?): tiles that kernels have go before that, others behind it.
ORDER = [(t, True) for t in TILES if t >= 16] + [(t, False) for t in TILES if t >= 16] + [(t, s) for s in (True, False) for t in TILES if t < 16]


def written(task, sizes):
    """The configuration as a line."""
    words = [f"{a['name']}={sizes[a['name']]}" for a in task["axes"]]
    return " ".join(words + ["input=published"])


def _groups(task, sizes):
    """Axes that are equal shrink together; each group with the least of its sizes."""
    groups = {}
    for axis in task["axes"]:
        groups.setdefault(sizes[axis["name"]], []).append(axis)
    return [([a["name"] for a in axes], max(a["low"] for a in axes)) for axes in groups.values()]


def _keeps_order(published, sizes):
    """Do sizes that divide another one, or are less than it, still do and are they still?"""
    names = list(published)
    for a in names:
        for b in names:
            if published[a] > published[b] and not sizes[a] > sizes[b]:
                return False
            if published[b] > 1 and published[a] % published[b] == 0 and sizes[a] % sizes[b]:
                return False
    return True


def _smaller(value, low, tile):
    """About half of it, with the same remainder by `tile`, not below `tile` or `low`; None: there is none."""
    half = value // 2
    found = half - (half - value) % tile
    while found < max(low, tile):
        found += tile
    return found if found < value else None


def _step(task, published, sizes, tile, legal, strict):
    """Sizes with one group smaller, the group with the most to lose first; None: no group can be."""
    groups = sorted(_groups(task, sizes), key=lambda g: -sizes[g[0][0]] / max(g[1], 1))
    for names, low in groups:
        value = _smaller(sizes[names[0]], low, tile)
        made = None if value is None else {**sizes, **{n: value for n in names}}
        if made and legal(task, made) and (not strict or _keeps_order(published, made)):
            return made
    return None


def line(task, published, legal, cost, count=1):
    """(a configuration's line, whether it stands in for the published one, of which there are `count`)."""
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
