"""Inputs that get_inputs computes: tables of positions, masks, permutations, sorted numbers. What they are is told from real
runs of it at several small sizes, with expressions of the sizes for what changes with them.

The laws are those of NAME.task's fills: `affine` (start + a step for each dimension times the place in it), `band` (a value where
low <= last place - place before it <= high, 0 elsewhere), `permutation` and `ascending` (rows of their own), `index`.
"""
import random
import re

import torch

from . import expression, fit, law as laws, together

TELLING = 3         # an extent from which on a step or a diagonal shows
MOST = 1 << 20      # elements of the inputs of such a run
TOGETHER = 16       # runs in which all axes move
EXACT = 1 << 24     # a float holds all whole numbers up to here
INFINITE = 1e39     # JSON has no infinity; this is one in fp32


def _base(axes, limits):
    """Sizes at which every place of a table shows."""
    for value in (6, 8, 12, 16, 5, 4, 24, 32):
        sizes = {a.name: a.near(value + i % 2) for i, a in enumerate(axes)}  # not all alike: an extent tells whose it is
        if all(expression.evaluate(t, sizes) for t in limits):
            return sizes
    return {a.name: a.value for a in axes}


def _sizes(axes, limits, chance):
    """Sizes to run get_inputs with: a base, lines along each axis, others about it."""
    base = _base(axes, limits)
    found = [base]
    moving = [a for a in axes if a.low < a.high]
    for _ in range(TOGETHER):
        found.append({**base, **{a.name: a.near(base[a.name] + chance.randrange(-2, 6) * a.step) for a in moving}})
    for axis in moving:
        found += [{**base, axis.name: axis.near(base[axis.name] + k * axis.step)} for k in (1, 2, 3, 5, -1)]
    kept = []
    for sizes in found:
        if sizes not in kept and all(a.fits(sizes[a.name]) for a in moving) and all(
                expression.evaluate(t, sizes) for t in limits):
            kept.append(sizes)
    return kept


def drawn(source, axes, limits):
    """[(sizes by axis, inputs, inputs of another draw)] of small runs of get_inputs; the base first, which must run."""
    found = []
    for sizes in _sizes(axes, limits, random.Random(source.sha256)):
        try:
            instance = source.instance(together.spread(axes, sizes))
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
    """Is input i the same whatever is drawn, at every size, and not of one element alone?"""
    pairs = [(a[i], b[i]) for _, a, b in runs]
    return bool(pairs) and any(a.numel() > 1 for a, _ in pairs) and all(
        a.shape == b.shape and torch.equal(torch.nan_to_num(a.double()), torch.nan_to_num(b.double())) for a, b in pairs)


# --- one run ---

def _affine(x):
    """[start, step of each dimension] of whole numbers; None where they are no such table. A step along one place is None."""
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
    whole = all(s is None or abs(s) < EXACT and s == int(s) for s in [start, *steps])
    return [int(start), *(None if s is None else int(s) for s in steps)] if whole and torch.equal(table, x) else None


def _band(x):
    """(value, low, high) of a matrix that is one value on some diagonals and 0 elsewhere; a bound that does not show is None."""
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
    """An integer or an expression for (sizes, integer) pairs, the first the base's; None where there is none."""
    return fit.extent(samples[0][0], samples) if samples else None


def negative_first(text):
    """As a limit's grammar has it, which knows no sign."""
    return text if isinstance(text, int) else re.sub(r"^-|(?<=\()-", "0 - ", re.sub(r"(?<=\*)-(\d+)", r"(0 - \1)", text))


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
    return {"kind": "affine", "start": negative_first(terms[0]), "steps": [negative_first(t) for t in terms[1:]]}


def _diagonals(runs, i):
    found = [(sizes, _band(first[i])) for sizes, first, _ in runs]
    found = [(sizes, one) for sizes, one in found if one]
    if len(found) < 2 or len({one[0] for _, one in found}) != 1:
        return None
    law = {"kind": "band", "value": min(max(found[0][1][0], -INFINITE), INFINITE)}
    for place, name in ((1, "low"), (2, "high")):
        samples = [(sizes, one[place]) for sizes, one in found if one[place] is not None]
        if 2 * len(samples) < len(found):
            continue  # that bound is the matrix' own edge
        text = _expression(samples)
        if text is None:
            return None
        law[name] = negative_first(text)
    return law if len(law) > 2 else None


def fixed_law(runs, i):
    """The fill of an input that is always the same, or None."""
    return _table(runs, i) or _diagonals(runs, i)


def _rows(runs, i, holds):
    rows = [x.reshape(-1, x.shape[-1]) for _, *draws in runs for x in (d[i] for d in draws) if x.dim() and x.numel()]
    return bool(rows) and any(r.shape[-1] >= TELLING for r in rows) and all(holds(r) for r in rows)


def whole_law(runs, i, law, bound):
    """The fill of an input of whole numbers that are drawn, below `bound` (an integer or an expression; None: nothing says);
    None where it is none that is known."""
    place = lambda r: torch.arange(r.shape[-1], dtype=torch.int64).expand_as(r)
    if "randperm" in law["calls"] and _rows(runs, i, lambda r: torch.equal(r.long().sort(-1)[0], place(r))):
        return {"kind": "permutation"}
    values = [(sizes, x.long()) for sizes, *draws in runs for x in (d[i] for d in draws) if x.numel()]
    if all(bool(((x == 0) | (x == 1)).all()) for _, x in values) and bound is None:
        return {"kind": "flag"}
    if not laws.is_drawn_whole(law):
        return None
    if bound is None or any(int(x.min()) < expression.evaluate(law.get("low", 0), sizes) or int(x.max()) >= expression.evaluate(bound, sizes)
                            for sizes, x in values):
        return None
    ordered = "sort" in law["calls"] and _rows(runs, i, lambda r: bool((r.long().diff(dim=-1) >= 0).all()))
    return {"kind": "ascending" if ordered else "index"}
