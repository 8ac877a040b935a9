"""NaN that every honest implementation computes: a difference of equal infinities, and what follows from it.

A bound of 0 says so, as for every exact value. A reference asks `isnan` to repair rows of which everything is
masked, so the answer must be known.
"""

from __future__ import annotations

from typing import Any

import torch

from .number import Number, is_exact

# Element-wise arithmetic. The result is NaN if an operand is.
ARITHMETIC = frozenset(
    "add sub rsub mul div neg abs exp exp2 expm1 log log2 log1p sqrt rsqrt reciprocal sigmoid tanh".split()
)


def keep(kind: str, result: Any, args: Any) -> None:
    """Sets the bound to 0 where the result is NaN in any arithmetic: where all operands are exact, or where one is
    such a NaN."""
    if kind not in ARITHMETIC or not isinstance(result, Number) or result.b is None:
        return
    undefined = result.v.isnan()
    if not bool(undefined.any()):
        return
    operands = [x for x in args if isinstance(x, Number)]
    exact, follows = torch.ones_like(undefined), torch.zeros_like(undefined)
    for x in operands:
        exact &= is_exact(x)
        follows |= is_exact(x) & x.v.isnan()
    result.b = torch.where(undefined & (exact | follows), 0.0, result.b)
