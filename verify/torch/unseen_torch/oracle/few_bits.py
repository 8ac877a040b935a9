"""Numbers of so few significant bits that fp32 computes with them exactly."""

from __future__ import annotations

import torch

SHORT, GRID, BELOW = 2.0**12, 2.0**10, 2.0**12


def is_short(v: torch.Tensor) -> torch.Tensor:
    """True for numbers of at most 12 significant bits. fp32 represents the product of any two of them."""
    mantissa = torch.frexp(v.double())[0] * SHORT
    return mantissa == mantissa.round()


def is_gridded(v: torch.Tensor) -> torch.Tensor:
    """True for multiples of 2^-10 below 2^12. fp32 represents their sums below 2^12, in any order."""
    scaled = v.double() * GRID
    return (scaled == scaled.round()) & (v.abs() < BELOW)


def is_power(v: torch.Tensor) -> torch.Tensor:
    """True for powers of two. Multiplication or division by one is exact."""
    return torch.frexp(v.double())[0].abs() == 0.5
