"""Recognizes inputs that get_inputs computes: tables of positions, masks, permutations, sorted numbers.

It runs get_inputs at several small sizes and fits expressions of the sizes. The results are fills of NAME.task:

- `affine`: a start, and for each dimension a step times the index.
- `band`: a value where low <= column - row <= high, else 0.
- `permutation` and `ascending`: by rows.
- `index`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import torch

from . import expression, fit, input_domain, size_constraints
from .description import Extent, Fill
from .expression import Sizes
from .probe import Axis
from .source import Source


class Run(NamedTuple):
    """Two draws of get_inputs with the same sizes, which are values of axes."""

    sizes: Sizes
    first: list[Any]
    again: list[Any]


class Band(NamedTuple):
    """One value where low <= column - row <= high. A bound at the matrix's own edge is None."""

    value: float
    low: int | None
    high: int | None


Runs = list[Run]
Bounds = list[tuple[Sizes, Optional[int]]]  # a number by sizes, where there is one

TELLING = 3  # from this extent on a step or a diagonal can be recognized
MOST = 1 << 20  # elements of the inputs of such a run
TOGETHER = 16  # runs in which all axes move
EXACT = 1 << 24  # a float holds all whole numbers up to here
INFINITE = 1e39  # JSON has no infinity; this number becomes one in fp32


def _base(axes: list[Axis], limits: list[str]) -> Sizes:
    """Returns sizes large enough to recognize every step of a table."""
    for value in (6, 8, 12, 16, 5, 4, 24, 32):
        # different extents show which axis is which
        sizes = {a.name: a.few(value + i % 2) for i, a in enumerate(axes)}
        if all(expression.evaluate(t, sizes) for t in limits):
            return sizes
    return {a.name: a.value for a in axes}


def _sizes(axes: list[Axis], limits: list[str], chance: random.Random) -> list[Sizes]:
    """Returns sizes at which to run get_inputs: a base, lines along each axis, points around the base, and
    the published sizes. Small sizes alone may leave a draw no choice."""
    base = _base(axes, limits)
    found = [base]
    moving = [a for a in axes if a.low < a.high]
    for _ in range(TOGETHER):
        found.append(
            {**base, **{a.name: a.near(base[a.name] + chance.randrange(-2, 6) * a.step) for a in moving}}
        )
    for axis in moving:
        found += [{**base, axis.name: axis.near(base[axis.name] + k * axis.step)} for k in (1, 2, 3, 5, -1)]
    found.append({a.name: a.value for a in axes})
    kept = []
    for sizes in found:
        if (
            sizes not in kept
            and all(a.fits(sizes[a.name]) for a in moving)
            and all(expression.evaluate(t, sizes) for t in limits)
        ):
            kept.append(sizes)
    return kept


def drawn(source: Source, axes: list[Axis], limits: list[str]) -> Runs:
    """Runs get_inputs at small sizes. Returns `[(sizes by axis, inputs, inputs of another draw)]`, the base first.
    The list is empty if the base does not run."""
    found = []
    for sizes in _sizes(axes, limits, random.Random(source.sha256)):
        try:
            instance = source.instance(size_constraints.spread(axes, sizes))
            torch.manual_seed(7)
            first = instance.inputs()
            if sum(x.numel() for x in first if isinstance(x, torch.Tensor)) > MOST:
                continue
            torch.manual_seed(8)
            found.append(Run(sizes, first, instance.inputs()))
        except Exception:
            if not found:
                return []
    return found


def is_fixed(runs: Runs, i: int) -> bool:
    """Tells whether input i does not depend on the draw at any size, and has more than one element at some size."""
    pairs = [(a[i], b[i]) for _, a, b in runs]
    return (
        bool(pairs)
        and any(a.numel() > 1 for a, _ in pairs)
        and all(
            a.shape == b.shape and torch.equal(torch.nan_to_num(a.double()), torch.nan_to_num(b.double()))
            for a, b in pairs
        )
    )


# --- one run ---


def _affine(x: torch.Tensor) -> list[int | None] | None:
    """Returns `[start, step of each dimension]` of a table of whole numbers, or None. A step along an extent of 1 is
    None."""
    x = x.double()
    start = x[(0,) * x.dim()].item()
    steps: list[float | None] = []
    table = torch.full_like(x, start)
    for d, extent in enumerate(x.shape):
        if extent == 1:
            steps.append(None)
            continue
        at = [0] * x.dim()
        at[d] = 1
        step = x[tuple(at)].item() - start
        steps.append(step)
        shape = [1] * x.dim()
        shape[d] = -1
        table = table + step * torch.arange(extent, dtype=torch.float64).reshape(shape)
    whole = all(s is None or (abs(s) < EXACT and s == int(s)) for s in [start, *steps])
    return (
        [int(start), *(None if s is None else int(s) for s in steps)]
        if whole and torch.equal(table, x)
        else None
    )


def _band(x: torch.Tensor) -> Band | None:
    """Returns `(value, low, high)` of a matrix with one value on a band of diagonals and 0 elsewhere. A bound at the
    matrix's own edge is None."""
    x = x.double()
    values = [v for v in x.unique().tolist() if v != 0]
    if x.dim() < 2 or len(values) != 1 or min(x.shape[-2:]) < TELLING:
        return None
    matrix = x.reshape(-1, *x.shape[-2:])
    rows, columns = matrix.shape[-2:]
    place = torch.arange(columns)[None] - torch.arange(rows)[:, None]
    held = place[matrix[0] != 0]
    low, high = int(held.min()), int(held.max())
    inside = torch.where((place >= low) & (place <= high), values[0], 0.0).double()
    if not all(torch.equal(inside, m) for m in matrix):
        return None
    return Band(values[0], None if low == 1 - rows else low, None if high == columns - 1 else high)


# --- all runs ---


def _fitted(pairs: Bounds) -> Extent | None:
    """Fits an integer or an expression to (sizes, integer) pairs, the base first. Pairs without an integer are
    left out; without any other pair it is 0. Returns None if nothing fits."""
    samples = [(sizes, n) for sizes, n in pairs if n is not None]
    return fit.extent(samples[0][0], samples) if samples else 0


def negative_first(text: Extent) -> Extent:
    """Rewrites a negative number as `0 - number`, since the grammar of limits has no sign."""
    return (
        text
        if isinstance(text, int)
        else re.sub(r"^-|(?<=\()-", "0 - ", re.sub(r"(?<=\*)-(\d+)", r"(0 - \1)", text))
    )


def _table(runs: Runs, i: int) -> Fill | None:
    found: list[tuple[Sizes, list[int | None]]] = []
    for sizes, first, _ in runs:
        one = _affine(first[i]) if first[i].numel() else None
        if one is not None:
            found.append((sizes, one))
        elif first[i].numel():
            return None
    if not found:
        return None
    terms: list[Extent] = []
    for d in range(len(found[0][1])):
        text = _fitted([(sizes, one[d]) for sizes, one in found])
        if text is None:
            return None
        terms.append(negative_first(text))
    return {"kind": "affine", "start": terms[0], "steps": terms[1:]}


def _is_edge(bounds: Bounds) -> bool:
    """Tells whether that bound is mostly the edge of the matrix."""
    return 2 * sum(n is not None for _, n in bounds) < len(bounds)


def _diagonals(runs: Runs, i: int) -> Fill | None:
    banded = [(sizes, _band(first[i])) for sizes, first, _ in runs]
    found = [(sizes, one) for sizes, one in banded if one]
    if len(found) < 2 or len({one.value for _, one in found}) != 1:
        return None
    law: Fill = {"kind": "band", "value": min(max(found[0][1].value, -INFINITE), INFINITE)}
    lows: Bounds = [(sizes, one.low) for sizes, one in found]
    highs: Bounds = [(sizes, one.high) for sizes, one in found]
    if not _is_edge(lows):
        low = _fitted(lows)
        if low is None:
            return None
        law["low"] = negative_first(low)
    if not _is_edge(highs):
        high = _fitted(highs)
        if high is None:
            return None
        law["high"] = negative_first(high)
    return law if len(law) > 2 else None


def fixed_law(runs: Runs, i: int) -> Fill | None:
    """Returns the fill of an input that does not depend on the draw, or None."""
    return _table(runs, i) or _diagonals(runs, i)


def _rows(runs: Runs, i: int, holds: Callable[[torch.Tensor], bool]) -> bool:
    rows = [
        x.reshape(-1, x.shape[-1])
        for _, *draws in runs
        for x in (d[i] for d in draws)
        if x.dim() and x.numel()
    ]
    return bool(rows) and any(r.shape[-1] >= TELLING for r in rows) and all(holds(r) for r in rows)


def whole_law(runs: Runs, i: int, calls: list[str], low: Extent, bound: Extent | None) -> Fill | None:
    """Returns the fill of an input of whole numbers that `calls` draw, or None if no fill is known. `low` and
    `bound` are integers or expressions; None means that the bound is not known."""

    def place(r: torch.Tensor) -> torch.Tensor:
        return torch.arange(r.shape[-1], dtype=torch.int64).expand_as(r)

    if "randperm" in calls and _rows(runs, i, lambda r: torch.equal(r.long().sort(-1)[0], place(r))):
        return {"kind": "permutation"}
    values = [(sizes, x.long()) for sizes, *draws in runs for x in (d[i] for d in draws) if x.numel()]
    if all(bool(((x == 0) | (x == 1)).all()) for _, x in values) and bound is None:
        return {"kind": "flag"}
    if not input_domain.is_drawn_whole(calls):
        return None
    if bound is None or any(
        int(x.min()) < expression.evaluate(low, sizes)
        or int(x.max()) >= expression.evaluate(bound, sizes)
        or max(-int(x.min()), int(x.max())) > EXACT  # a fill draws in fp32; get_inputs draws packed words
        for sizes, x in values
    ):
        return None
    ordered = "sort" in calls and _rows(runs, i, lambda r: bool((r.long().diff(dim=-1) >= 0).all()))
    return {"kind": "ascending" if ordered else "index"}
