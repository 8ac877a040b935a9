"""Comparisons of sizes that tell failing runs from passing ones."""

from __future__ import annotations

import itertools
import math

from . import expression
from .expression import Sizes
from .probe import Axis


def hypotheses(axes: list[Axis], fixed: list[int]) -> list[str]:
    """Returns possible comparisons of two axes, and of an axis with a size in `fixed`, the values of fixed sizes."""
    texts = [f"{value} % {a.name} == 0" for a in axes for value in fixed]
    for a in axes:
        for b in axes:
            if a is not b:
                texts += [f"{a.name} % {b.name} == 0", f"{a.name} <= {b.name}", f"{a.name} < {b.name}"]
    # Padding by reflection needs half of a window, a paged cache a slot for each token. They come last: among
    # equally good comparisons the first wins.
    texts += [f"{a.name} < 2*{b.name}" for a in axes for b in axes if a is not b]
    pairs = list(itertools.combinations(axes, 2))
    return texts + [f"{a.name} <= {b.name}*{c.name}" for a in axes for b, c in pairs if a not in (b, c)]


def explained(
    texts: list[str], passing: list[Sizes], failing: list[Sizes], lost: float = math.inf
) -> tuple[list[str], list[Sizes]]:
    """Returns (the fewest comparisons that exclude `failing`, the failures that they leave). A comparison excludes
    at least `lost` failing runs for each passing one that it excludes, so that the default admits none."""
    found, left, kept = [], list(failing), list(passing)

    def gain(text: str) -> float:
        wrong = sum(not expression.evaluate(text, s) for s in kept)
        return sum(not expression.evaluate(text, s) for s in left) - (lost * wrong if wrong else 0)

    while left:
        best = max(texts, key=gain, default=None)
        if best is None or gain(best) <= 0:
            break
        found.append(best)
        left, kept = ([s for s in of if expression.evaluate(best, s)] for of in (left, kept))
    return found, left
