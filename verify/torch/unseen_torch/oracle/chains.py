"""Short chains of sums and products, which have many algebraically equal forms (doc/error-model.md)."""

from __future__ import annotations

import math

import torch

from .bounds import Error
from .few_bits import is_power, is_short
from .number import Number

MOST_COUNTED = 4  # most terms that are counted of a sum; the error of longer sums grows as a random walk
# Most products with sums within one another that are expanded. A recurrence is not expanded: its other
# forms combine the paths by which an element enters.
MOST_NESTED = 4


def expandable(made: Number, *operands: Number) -> Number:
    """A product or quotient. It has no terms if too many products with sums lie within one another."""
    deepest = max(x.nested for x in operands)
    made.nested = deepest + 1 if deepest else 0
    if made.nested > MOST_NESTED:
        made.terms, made.nested = None, 0
    return made


def counted(x: Number) -> int:
    """The number of terms in x. A number of the code counts as two: it may be a sum such as 1 - b, or 1 - rate *
    decay."""
    return 2 if x.v.numel() == 1 and not is_power_of_two(x) else x.count


def is_power_of_two(x: Number) -> bool:
    """True if x is a single power of two. Multiplication by it is exact."""
    return (x.v.numel() == 1 and x.is_float and math.frexp(float(x.v))[0] in (0.5, -0.5)) or (
        x.v.numel() == 1 and not x.is_float and int(x.v) in (1, -1, 2, 4, 8)
    )


def unscaled(a: Number, b: Number) -> Error:
    """1 where a product rounds. It is exact for a power of two, and for two exact numbers with few bits."""
    if a.b is not None and b.b is not None:
        return 1.0
    exact = torch.zeros((), dtype=torch.bool, device=a.v.device)
    # A kernel may multiply a constant by a whole sum instead of by its terms.
    for x, other in ((a, b), (b, a)):
        exact = exact | is_power(x.v) if x.b is None and (other.b is None or other.v.numel() > 1) else exact
    if a.b is None and b.b is None:
        exact = exact | is_short(a.v) & is_short(b.v)
    return torch.where(exact, 0.0, 1.0)
