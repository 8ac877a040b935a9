"""Fits extents that are divided by an axis: floor((p a + .. + d) / b) + c.

Examples are a count of groups, ceil(a / b) = floor((a - 1) / b) + 1, and a window's floor((a - k) / stride) + 1. The
quotient may also be multiplied by b, as for padding to whole groups. The divisor may be a number, such as a fixed
stride.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from .expression import Sizes

Samples = list[tuple[int, int]]  # extents by the value of one axis
Runs = list[tuple[Sizes, int]]  # extents by the values of all axes
ADDED = (0, 1, 2, -1)
LARGEST = 4096  # the largest group or stride
# factors that are tried for an axis: a line of runs determines a factor up to b / (the change of the axis)
MOST = 12
TRIED = 2000  # combinations of factors for several axes


def _slopes(samples: Samples, b: int, c: int, most: int) -> list[int]:
    """Returns the factors p, the simplest first. For each one some d gives floor((p x + d) / b) + c == y for all (x,
    y) of one axis."""
    (x0, y0), (x1, y1) = min(samples), max(samples)
    rise, width = (y1 - y0) * b, x1 - x0
    found = []
    for p in range(-((b - 1 - rise) // width), (rise + b - 1) // width + 1):
        low = max(b * (y - c) - p * x for x, y in samples)
        high = min(b * (y - c) + b - 1 - p * x for x, y in samples)
        if p and low <= high:
            found.append(p)
    return sorted(found, key=lambda p: (abs(p), -p))[:most]


def _text(slopes: Sizes, d: int, by: int | str, c: int) -> str:
    terms = [axis if p == 1 else f"-{axis}" if p == -1 else f"{p}*{axis}" for axis, p in slopes.items()]
    terms.sort(key=lambda term: term.startswith("-"))
    text = " + ".join(terms).replace("+ -", "- ")
    if d:
        text += f" + {d}" if d > 0 else f" - {-d}"
    text = f"{text}/{by}" if text.isidentifier() else f"({text})/{by}"
    return text if c == 0 else f"{text} + {c}" if c > 0 else f"{text} - {-c}"


def _divisor(by: int | str, sizes: Sizes) -> int:
    return by if isinstance(by, int) else sizes[by]


def _constant(by: int | str, c: int, slopes: Sizes, runs: Runs) -> int | None:
    """Returns the d nearest to 0 that fits all runs with these factors, or None."""
    low: int | None = None
    high = 0
    for sizes, y in runs:
        b = _divisor(by, sizes)
        rest = b * (y - c) - sum(p * sizes[axis] for axis, p in slopes.items())
        low, high = (rest, rest + b - 1) if low is None else (max(low, rest), min(high, rest + b - 1))
        if low > high:
            return None
    assert low is not None
    return min(max(low, 0), high)


def _divided(by: int | str, base_sizes: Sizes, lines: dict[str, Samples], runs: Runs) -> str | None:
    others = [axis for axis in lines if axis != by]
    most = min(MOST, max(2, int(TRIED ** (1 / len(others)))))
    for c in ADDED:
        for factors in itertools.product(
            *(_slopes(lines[axis], _divisor(by, base_sizes), c, most) for axis in others)
        ):
            slopes = dict(zip(others, factors))
            d = _constant(by, c, slopes, runs)
            if d is not None:
                return _text(slopes, d, by, c)
    return None


def strided(base_sizes: Sizes, lines: dict[str, Samples], runs: Runs, strides: Iterable[int]) -> str | None:
    """Fits a quotient of two or more axes by one of the numbers in `strides`."""
    for by in sorted(strides) if len(lines) > 1 else ():
        text = _divided(by, base_sizes, lines, runs)
        if text:
            return text
    return None


def quotient(base_sizes: Sizes, lines: dict[str, Samples], runs: Runs) -> str | None:
    """Returns an expression for `runs`, [(sizes, value)], or None if none fits. `lines` has (x, y) pairs by axis,
    with the other axes at the base."""
    for by in lines:
        falls = lines[by][0][1] >= lines[by][-1][1]
        if len(lines) < 2 or base_sizes[by] > LARGEST or any(sizes[by] < 1 for sizes, _ in runs):
            continue
        if falls:
            text = _divided(by, base_sizes, lines, runs)
            if text:
                return text
        if all(y % sizes[by] == 0 for sizes, y in runs):
            whole = [(sizes, y // sizes[by]) for sizes, y in runs]
            shorter = {
                axis: [(x, y // (x if axis == by else base_sizes[by])) for x, y in line]
                for axis, line in lines.items()
            }
            text = _divided(by, base_sizes, shorter, whole)
            if text:
                return f"({text})*{by}"
    return None
