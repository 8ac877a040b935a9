"""Numbers that get_inputs computes from sizes, such as `1 / math.sqrt(head_dim)` among forward's arguments.

Such a number is `factor * form(of)`: a constant times a function of an integer expression of sizes. Both
processes that need the number compute it from this entry, so that they have the same bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from . import expression, fit
from .description import InputEntry
from .expression import Sizes

Samples = list[tuple[Sizes, float]]  # the number by the values of all axes
FORMS: dict[
    str, tuple[Callable[[int], float], Callable[[float], float]]
] = {  # name: (function of an integer, its inverse)
    "linear": (float, lambda v: v),
    "reciprocal": (lambda n: 1.0 / n, lambda v: 1.0 / v),
    "rsqrt": (lambda n: 1.0 / math.sqrt(n), lambda v: 1.0 / (v * v)),
    "sqrt": (math.sqrt, lambda v: v * v),
    "log2": (math.log2, lambda v: 2.0**v),
    "log": (math.log, math.exp),
}
SCALED = ("linear", "reciprocal", "rsqrt", "sqrt")  # functions from which a constant can be factored out
MOST_SCALE = 16  # the greatest whole constant that is tried
NEAR = 1e-9  # relative difference between two ways to compute one number


def _formed(entry: InputEntry, sizes: Sizes) -> float:
    return entry["factor"] * FORMS[entry["form"]][0](expression.evaluate(entry["of"], sizes))


def value(entry: InputEntry, sizes: Sizes) -> Any:
    """Returns forward's argument for these sizes. Its entry has a constant, an expression, a form or a
    table."""
    if "table" in entry:
        return entry["table"][sizes[str(entry["of"])] - entry["first"]]
    if "expression" in entry:
        return expression.evaluate(entry["expression"], sizes)
    if "form" in entry:
        return _formed(entry, sizes)
    return entry["value"]


def _wholes(samples: Samples, scale: float) -> list[tuple[Sizes, int]] | None:
    """Multiplies the numbers of (sizes, number) pairs by `scale` and rounds them. Returns None if a product
    is not whole."""
    found = [(sizes, x * scale, round(x * scale)) for sizes, x in samples]
    return (
        None
        if any(abs(x - n) > NEAR * max(1.0, abs(x)) or n <= 0 for _, x, n in found)
        else [(sizes, n) for sizes, _, n in found]
    )


def _scales(base: Sizes, first: float, moving: list[str], is_scaled: bool) -> Iterator[float]:
    """Yields constants, 1 first, that may turn the inverse of the first number into a product of sizes."""
    yield 1.0
    if is_scaled:
        yield from range(2, MOST_SCALE + 1)
        for names in [[m] for m in moving] + [moving] * (len(moving) > 1):
            yield math.prod(base[m] for m in names) / first


def law(samples: Samples) -> InputEntry | None:
    """Returns the keys `of`, `form` and `factor` for [(sizes by axis, number)], the base first. Returns None
    if no form fits."""
    base, first = samples[0]
    numbers = [v for _, v in samples]
    if (
        not all(isinstance(v, float) and math.isfinite(v) and v != 0 for v in numbers)
        or len({v > 0 for v in numbers}) > 1
    ):
        return None
    sign = 1.0 if first > 0 else -1.0
    moving = [
        name
        for name in base
        if any(s[name] != base[name] and abs(v - first) > NEAR * abs(first) for s, v in samples)
    ]
    for form, (function, inverse) in FORMS.items():
        try:
            inverted = [(sizes, inverse(sign * v)) for sizes, v in samples]
        except (OverflowError, ValueError):
            continue
        for scale in _scales(base, inverted[0][1], moving, form in SCALED):
            whole = _wholes(inverted, scale)
            text = fit.extent(base, whole) if whole else None
            if whole is None or text is None:
                continue
            factor = first / function(whole[0][1])
            factor = round(factor) if abs(factor - round(factor)) < NEAR else factor
            found: InputEntry = {"of": text, "form": form, "factor": float(factor)}
            if all(abs(_formed(found, sizes) - v) <= NEAR * abs(v) for sizes, v in samples):
                return found
    return None
