"""Recognizes inputs that get_inputs computes: tables of positions, masks, permutations, sorted numbers.

It runs get_inputs at several small sizes and fits expressions of the sizes. The results are fills of NAME.task:

- `affine`: a start, and for each dimension a step times the index.
- `band`: a value where low <= column - row <= high, else 0.
- `permutation` and `ascending`: by rows.
- `index`.
"""

import random
import re

import torch

from . import expression, fit, input_domain, size_constraints

TELLING = 3  # from this extent on a step or a diagonal can be recognized
MOST = 1 << 20  # elements of the inputs of such a run
TOGETHER = 16  # runs in which all axes move
EXACT = 1 << 24  # a float holds all whole numbers up to here
INFINITE = 1e39  # JSON has no infinity; this number becomes one in fp32


def _base(axes, limits):
    """Returns sizes large enough to recognize every step of a table."""
    for value in (6, 8, 12, 16, 5, 4, 24, 32):
        # different extents show which axis is which
        sizes = {a.name: a.near(value + i % 2) for i, a in enumerate(axes)}
        if all(expression.evaluate(t, sizes) for t in limits):
            return sizes
    return {a.name: a.value for a in axes}


def _sizes(axes, limits, chance):
    """Returns sizes at which to run get_inputs: a base, lines along each axis, and points around the base."""
    base = _base(axes, limits)
    found = [base]
    moving = [a for a in axes if a.low < a.high]
    for _ in range(TOGETHER):
        found.append(
            {**base, **{a.name: a.near(base[a.name] + chance.randrange(-2, 6) * a.step) for a in moving}}
        )
    for axis in moving:
        found += [{**base, axis.name: axis.near(base[axis.name] + k * axis.step)} for k in (1, 2, 3, 5, -1)]
    kept = []
    for sizes in found:
        if (
            sizes not in kept
            and all(a.fits(sizes[a.name]) for a in moving)
            and all(expression.evaluate(t, sizes) for t in limits)
        ):
            kept.append(sizes)
    return kept


def drawn(source, axes, limits):
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
            found.append((sizes, first, instance.inputs()))
        except Exception:
            if not found:
                return []
    return found


def is_fixed(runs, i):
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


def _affine(x):
    """Returns `[start, step of each dimension]` of a table of whole numbers, or None. A step along an extent of 1 is
    None."""
    x = x.double()
    start = x[(0,) * x.dim()].item()
    steps, table = [], torch.full_like(x, start)
    for d, extent in enumerate(x.shape):
        if extent == 1:
            steps.append(None)
            continue
        at = [0] * x.dim()
        at[d] = 1
        steps.append(x[tuple(at)].item() - start)
        shape = [1] * x.dim()
        shape[d] = -1
        table = table + steps[-1] * torch.arange(extent, dtype=torch.float64).reshape(shape)
    whole = all(s is None or (abs(s) < EXACT and s == int(s)) for s in [start, *steps])
    return (
        [int(start), *(None if s is None else int(s) for s in steps)]
        if whole and torch.equal(table, x)
        else None
    )


def _band(x):
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
    return values[0], None if low == 1 - rows else low, None if high == columns - 1 else high


# --- all runs ---


def _expression(samples):
    """Fits an integer or an expression to (sizes, integer) pairs, the base first. Returns None if nothing fits."""
    return fit.extent(samples[0][0], samples) if samples else None


def negative_first(text):
    """Rewrites a negative number as `0 - number`, since the grammar of limits has no sign."""
    return (
        text
        if isinstance(text, int)
        else re.sub(r"^-|(?<=\()-", "0 - ", re.sub(r"(?<=\*)-(\d+)", r"(0 - \1)", text))
    )


def _table(runs, i):
    found = [(sizes, _affine(first[i])) for sizes, first, _ in runs if first[i].numel()]
    if not found or any(one is None for _, one in found):
        return None
    terms = []
    for d in range(len(found[0][1])):
        samples = [(sizes, one[d]) for sizes, one in found if one[d] is not None]
        terms.append(_expression(samples) if samples else 0)
        if terms[-1] is None:
            return None
    return {
        "kind": "affine",
        "start": negative_first(terms[0]),
        "steps": [negative_first(t) for t in terms[1:]],
    }


def _diagonals(runs, i):
    found = [(sizes, _band(first[i])) for sizes, first, _ in runs]
    found = [(sizes, one) for sizes, one in found if one]
    if len(found) < 2 or len({one[0] for _, one in found}) != 1:
        return None
    law = {"kind": "band", "value": min(max(found[0][1][0], -INFINITE), INFINITE)}
    for place, name in ((1, "low"), (2, "high")):
        samples = [(sizes, one[place]) for sizes, one in found if one[place] is not None]
        if 2 * len(samples) < len(found):
            continue  # that bound is the edge of the matrix
        text = _expression(samples)
        if text is None:
            return None
        law[name] = negative_first(text)
    return law if len(law) > 2 else None


def fixed_law(runs, i):
    """Returns the fill of an input that does not depend on the draw, or None."""
    return _table(runs, i) or _diagonals(runs, i)


def _rows(runs, i, holds):
    rows = [
        x.reshape(-1, x.shape[-1])
        for _, *draws in runs
        for x in (d[i] for d in draws)
        if x.dim() and x.numel()
    ]
    return bool(rows) and any(r.shape[-1] >= TELLING for r in rows) and all(holds(r) for r in rows)


def whole_law(runs, i, law, bound):
    """Returns the fill of an input of drawn whole numbers below `bound`, or None if no fill is known. `bound` is an
    integer or an expression; None means that it is not known."""

    def place(r):
        return torch.arange(r.shape[-1], dtype=torch.int64).expand_as(r)

    if "randperm" in law["calls"] and _rows(runs, i, lambda r: torch.equal(r.long().sort(-1)[0], place(r))):
        return {"kind": "permutation"}
    values = [(sizes, x.long()) for sizes, *draws in runs for x in (d[i] for d in draws) if x.numel()]
    if all(bool(((x == 0) | (x == 1)).all()) for _, x in values) and bound is None:
        return {"kind": "flag"}
    if not input_domain.is_drawn_whole(law):
        return None
    if bound is None or any(
        int(x.min()) < expression.evaluate(law.get("low", 0), sizes)
        or int(x.max()) >= expression.evaluate(bound, sizes)
        for sizes, x in values
    ):
        return None
    ordered = "sort" in law["calls"] and _rows(runs, i, lambda r: bool((r.long().diff(dim=-1) >= 0).all()))
    return {"kind": "ascending" if ordered else "index"}
