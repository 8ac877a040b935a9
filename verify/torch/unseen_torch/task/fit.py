"""Fits an integer expression of sizes to an extent that was observed in many runs.

Along one axis an extent of a network is floor((p x + q) / r). Windows, strides and paddings compose to that
form again, since floor((floor(n/a) + b) / c) = floor((n + ab) / (ac)). It may also be the square of one, plus
a constant.

Several axes enter as a product (a flattened image) or a sum (concatenated channels) of such forms. One axis
may divide the others (extent_division.py), or the lesser of two counts. An extent may also be the square of
any of these plus a constant (patches of an image, and one more token)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypedDict

from . import expression
from .expression import Sizes
from .extent_division import Runs, Samples, quotient, strided

ENOUGH = 5  # samples that tell a quadratic expression
MOST_DIVISOR = 256  # the largest group of quantized weights


class Base(TypedDict):
    """The first run: its sizes, and its extent less what other terms explain."""

    sizes: Sizes
    value: int


def _linear(samples: Samples) -> tuple[int, int, int] | None:
    """Returns (p, q, r) with y == floor((p x + q) / r) for all (x, y) of `samples`, or None."""
    (x0, y0), (x1, y1) = min(samples), max(samples)
    common = math.gcd(x1 - x0, y1 - y0)
    p, r = (y1 - y0) // common, (x1 - x0) // common
    if p and r <= MOST_DIVISOR and len({r * y - p * x for x, y in samples}) == 1:
        return p, r * y0 - p * x0, r  # exact at every sample, so that nothing is rounded: 128*(x/128)
    for r in range(1, MOST_DIVISOR + 1):
        p = round((y1 - y0) * r / (x1 - x0))
        for slope in (p, p - 1, p + 1):
            if slope == 0:
                continue
            low = max(r * y - slope * x for x, y in samples)
            high = min(r * y + r - 1 - slope * x for x, y in samples)
            if low <= high:
                return slope, min(max(low, 0), high), r
    return None


def _linear_text(axis: str, form: tuple[int, int, int]) -> str:
    p, q, r = form
    text = axis if p == 1 else f"{p}*{axis}"
    if q:
        text = f"{text} + {q}" if q > 0 else f"{text} - {-q}"
        text = f"({text})"
    return text if r == 1 else f"{text}/{r}"


def along(axis: str, samples: Samples) -> str | None:
    """Returns an expression of `axis` alone for (x, y) pairs with varying y, or None if no form fits."""
    form = _linear(samples)
    if form:
        return _linear_text(axis, form)
    for added in (0, 1, 2):
        rest = [(x, y - added) for x, y in samples]
        if any(y < 0 for _, y in rest):
            continue
        common = math.gcd(*(y for _, y in rest))
        for factor in sorted({common, 1} - {0}, reverse=True):
            roots = [(x, math.isqrt(y // factor)) for x, y in rest]
            if any(factor * root * root != y for (_, root), (_, y) in zip(roots, rest)):
                continue
            form = _linear(roots)
            if form:
                text = f"({_linear_text(axis, form)})^2"
                text = text if factor == 1 else f"{factor}*{text}"
                return f"({text} + {added})" if added else text
    return _quadratic(axis, samples)


def _quadratic(axis: str, samples: Samples) -> str | None:
    """Returns (p x^2 + q x + r) / 2 with whole p > 0, q and r, as for all pairs of x, or None."""
    if len(samples) < ENOUGH:
        return None
    (a, y0), (b, y1), (c, y2) = min(samples), sorted(samples)[len(samples) // 2], max(samples)
    first, last = Fraction(2 * (y1 - y0), b - a), Fraction(2 * (y2 - y1), c - b)
    p = (last - first) / (c - a)
    q = first - p * (a + b)
    r = 2 * y0 - p * a * a - q * a
    if p <= 0 or any(n.denominator > 1 for n in (p, q, r)):
        return None
    if any(p * x * x + q * x + r != 2 * y for x, y in samples):
        return None
    whole = 2 if all(n % 2 == 0 for n in (p, q, r)) else 1
    terms = [(p / whole, f"{axis}^2"), (q / whole, axis), (r / whole, "")]
    text = " + ".join(f"{n}*{of}" if of else f"{n}" for n, of in terms if n)
    text = re.sub(r"(?<![\d.])1\*", "", text).replace("+ -", "- ")
    return f"({text})" if whole == 2 else f"(({text})/2)"


def _strip(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") and _closes(text) else text


def _closes(text: str) -> bool:
    """Tells whether the first parenthesis closes with the last."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


def _times(terms: list[str]) -> str:
    return "*".join(
        f"({t})" if "/" in t or (" " in t and not (t.startswith("(") and _closes(t))) else t for t in terms
    )


def _product(base: Base, lines: dict[str, Samples]) -> str | None:
    """Fits a product with one form for each axis. `lines` has (x, y) pairs by axis, with the other axes at
    the base."""
    terms: list[str] = []
    rest: int | None = None
    for axis, samples in lines.items():
        common = math.gcd(*(y for _, y in samples))
        if common == 0:
            return None
        text = along(axis, [(x, y // common) for x, y in samples])
        if text is None:
            return None
        at_base = next(y for x, y in samples if x == base["sizes"][axis]) // common
        rest = base["value"] if rest is None else rest
        if at_base == 0 or rest % at_base:
            return None
        rest //= at_base
        terms.append(text)
    if rest != 1:
        terms.insert(0, str(rest))
    return _times(terms)


def _sum(base: Base, lines: dict[str, Samples]) -> str | None:
    """Fits a sum with one form for each axis. Whole multiples share one constant."""
    terms, constant = [], base["value"]
    for axis, samples in lines.items():
        form = _linear(samples)
        text = _linear_text(axis, (form[0], 0, 1)) if form and form[2] == 1 else along(axis, samples)
        if text is None:
            return None
        terms.append(f"({text})" if "/" in text else text)
        constant -= expression.evaluate(text, base["sizes"])
    text = " + ".join(terms)
    if constant:
        text += f" + {constant}" if constant > 0 else f" - {-constant}"
    return text.replace("+ -", "- ")


def _mixed(base: Base, lines: dict[str, Samples], additive: Callable[[str, str], bool | None]) -> str | None:
    """Fits a product of the axes that interact, plus the other axes and a small constant."""
    coupled = [a for a in lines if any(additive(a, b) is False for b in lines if b != a)]
    apart = {a: lines[a] for a in lines if a not in coupled}
    plain = _sum({"sizes": base["sizes"], "value": 0}, apart) if coupled and apart else None
    if plain is None:
        return None
    for constant in range(-2, 3):
        slopes = {a: _linear(samples) for a, samples in apart.items()}
        rest = constant + sum(
            form[0] * base["sizes"][a] for a, form in slopes.items() if form and form[2] == 1
        )
        moved = {a: [(x, y - rest) for x, y in lines[a]] for a in coupled}
        if any(y <= 0 for samples in moved.values() for _, y in samples):
            continue
        product = _product({"sizes": base["sizes"], "value": base["value"] - rest}, moved)
        added = _sum({"sizes": base["sizes"], "value": rest}, apart)
        if product is not None and added is not None:
            return f"{product} + {added}"
    return None


def _groups(lines: dict[str, Samples], additive: Callable[[str, str], bool | None]) -> list[list[str]]:
    """Groups the axes whose effects add up."""
    groups: list[list[str]] = []
    for axis in lines:
        found = next((g for g in groups if any(additive(axis, other) for other in g)), None)
        if found is None:
            groups.append([axis])
        else:
            found.append(axis)
    return groups


def _factored(
    base: Base, lines: dict[str, Samples], additive: Callable[[str, str], bool | None]
) -> str | None:
    """Fits a product of sums, such as (heads + 2*kv_heads)*width of concatenated projections."""
    groups = _groups(lines, additive)
    terms: list[str] = []
    rest = Fraction(base["value"])
    for group in groups:
        common = math.gcd(*(y for axis in group for _, y in lines[axis]))
        if len(groups) < 2 or len(groups) == len(lines) or common == 0:
            return None
        shares = {axis: [(x, y // common) for x, y in lines[axis]] for axis in group}
        value = base["value"] // common
        text = _sum({"sizes": base["sizes"], "value": value}, shares)
        if text is None or value == 0:
            return None
        rest /= value
        terms.append(text)
    if rest.denominator != 1:
        return None
    return _times([str(rest.numerator)] * (rest != 1) + terms)


def _share(base: Base, lines: dict[str, Samples], runs: Runs) -> str | None:
    """Fits a product with a quotient of two axes, such as kv_heads*(width/heads) for heads that share a
    width."""
    for by, falling in lines.items():
        for axis in lines if falling[0][1] > falling[-1][1] else ():
            parts = (
                [(sizes[axis] // sizes[by], y) for sizes, y in runs if sizes[by] > 0] if axis != by else []
            )
            share = base["sizes"][axis] // max(1, base["sizes"][by])
            if len(parts) < len(runs) or not share or any(y % part if part else y for part, y in parts):
                continue
            others = {
                a: [(x, y // share) for x, y in line] for a, line in lines.items() if a not in (axis, by)
            }
            rest = (
                _product({"sizes": base["sizes"], "value": base["value"] // share}, others)
                if others
                else str(base["value"] // share)
            )
            if rest is not None:
                return f"{rest}*({axis}/{by})"
    return None


def _floored_product(lines: dict[str, Samples], runs: Runs) -> str | None:
    """Fits floor((c*a*b + q) / r), the number of whole blocks in a product of axes and a constant."""
    points = sorted((math.prod(sizes[axis] for axis in lines), y) for sizes, y in runs)
    (x0, y0), (x1, y1) = points[0], points[-1]
    if len(lines) < 2 or x1 == x0:
        return None
    for r in range(1, MOST_DIVISOR + 1):
        slope = round((y1 - y0) * r / (x1 - x0))
        for c in (n for n in (slope, slope - 1, slope + 1) if n > 0):
            low = max(r * y - c * x for x, y in points)
            high = min(r * y + r - 1 - c * x for x, y in points)
            if low <= high:
                product = _times([str(c)] * (c > 1) + list(lines))
                text = f"{product} + {min(max(low, 0), high)}".replace("+ -", "- ")
                return f"({text})/{r}" if r > 1 else text
    return None


def _without_roundtrip(text: str) -> str:
    """Replaces 8*(dim/8) by dim. It is right if dim is a multiple of 8, which the caller checks."""
    return re.sub(r"\b(\d+)\*\((\w+)/\1\)", r"\2", text)


def _strides(lines: dict[str, Samples]) -> set[int]:
    """Returns the divisors in the forms of single axes."""
    forms = (_linear(samples) for samples in lines.values())
    return {form[2] for form in forms if form and form[2] > 1}


def _square(base_sizes: Sizes, runs: Runs) -> str | None:
    """Fits the square of an expression of several axes, plus a constant."""
    for added in (0, 1, 2):
        roots = [(sizes, math.isqrt(max(0, y - added))) for sizes, y in runs]
        if roots[0][1] > 1 and all(root * root == y - added for (_, root), (_, y) in zip(roots, runs)):
            text = extent(base_sizes, roots)
            if text is not None:
                return f"({text})^2" + (f" + {added}" if added else "")
    return None


def _lesser(base_sizes: Sizes, runs: Runs) -> str | None:
    """Fits the lesser of two axes, such as a number of singular values. 1/(1 + a/b) is 1 where a is less."""
    for a, b in itertools.combinations(base_sizes, 2):
        if all(y == min(sizes[a], sizes[b]) for sizes, y in runs) and min(s[b] for s, _ in runs) > 0:
            less = f"1/(1 + {a}/{b})"
            return f"{a}*({less}) + {b}*(1 - {less})"
    return None


def extent(base_sizes: Sizes, runs: Runs) -> str | int | None:
    """Returns an expression (or an int) for `runs`, [(sizes, value)], or None if none fits them all.
    `base_sizes` are the first run's."""
    value = runs[0][1]
    base: Base = {"sizes": base_sizes, "value": value}
    lines: dict[str, Samples] = {}
    for axis in base_sizes:
        line = {
            sizes[axis]: y
            for sizes, y in runs
            if all(sizes[other] == base_sizes[other] for other in base_sizes if other != axis)
        }
        if len(set(line.values())) > 1:
            lines[axis] = sorted(line.items())
    if not lines:
        return value if all(y == value for _, y in runs) else None

    def additive(a: str, b: str) -> bool | None:
        """Tells whether the effects of two axes add up. None means that no run tells."""
        for sizes, y in runs:
            changed = {axis for axis in base_sizes if sizes[axis] != base_sizes[axis]}
            if changed == {a, b}:
                ya, yb = dict(lines[a]).get(sizes[a]), dict(lines[b]).get(sizes[b])
                if ya is not None and yb is not None:
                    return ya + yb - value == y
        return None

    forms: tuple[Callable[[], str | None], ...] = (
        lambda: _product(base, lines),
        lambda: _sum(base, lines),
        lambda: _mixed(base, lines, additive),
        lambda: _factored(base, lines, additive),
        lambda: quotient(base_sizes, lines, runs),
        lambda: _share(base, lines, runs),
        lambda: _floored_product(lines, runs),
        lambda: strided(base_sizes, lines, runs, _strides(lines)),
        lambda: _square(base_sizes, runs),
        lambda: _lesser(base_sizes, runs),
    )
    for text in (form() for form in forms):
        for form in (_without_roundtrip(text), text) if text is not None else ():
            if all(expression.evaluate(form, sizes) == y for sizes, y in runs):
                return _strip(form)
    return None
