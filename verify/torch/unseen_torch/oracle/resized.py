"""Bicubic resizing: a product with a matrix of weights along either dimension.

A place may lie at a pixel, where the cubic's pieces meet. The kernel and its slope are continuous there, so no
implementation jumps (R. Keys, Cubic convolution interpolation for digital image processing, IEEE Trans. ASSP 29,
1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .elementwise import rule
from .number import Context, Number, Unsupported, carried, moved

CUBIC = -0.75  # PyTorch's parameter of the kernel
PLACE = 4  # roundings of a place: a scale, a product, an addition and a subtraction of a half
# Errors of a weight in Horner's form, in units: within a pixel, and beyond it, where terms cancel.
WITHIN, BEYOND = 10, 40
BENDING = 6  # half of the greatest second derivative
MORE_TERMS = 24  # 16 products, and some for a scale or a bias


def kernel(d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (the weight of a pixel at the distance d, the magnitude of its slope)."""
    a, d = CUBIC, d.abs()
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    slope_near = (3 * (a + 2) * d - 2 * (a + 3)) * d
    slope_far = (3 * a * d - 10 * a) * d + 8 * a

    def of(within: torch.Tensor, beyond: torch.Tensor) -> torch.Tensor:
        return torch.where(d <= 1, within, torch.where(d < 2, beyond, 0.0))

    return of(near, far), of(slope_near, slope_far).abs()


class Weights:
    """The weights along one dimension of `extent` pixels for `made` places: weights, slopes and errors in units, each
    [made, extent]."""

    def __init__(self, extent: int, made: int, align: bool, scale: float | None, device: Any) -> None:
        at = torch.arange(made, dtype=torch.float64, device=device)
        if align:
            place = at * ((extent - 1) / (made - 1) if made > 1 else 0.0)
        else:
            place = (at + 0.5) * (extent / made if scale is None else 1.0 / scale) - 0.5
        first = place.floor().long()
        pixels = torch.arange(-2, 4, device=device) + first[:, None]
        distance = place[:, None] - pixels
        weight, slope = kernel(distance)
        own = WITHIN * (distance.abs() <= 1).double() + BEYOND * ((distance.abs() > 1) & (distance.abs() < 2))
        self.off = (PLACE * (place.abs() + 1))[:, None]  # error of a place, in units
        empty = torch.zeros(made, extent, dtype=torch.float64, device=device)

        def put(t: torch.Tensor) -> torch.Tensor:
            return empty.scatter_add(1, pixels.clamp(0, extent - 1), t)

        self.value, self.size, self.slope, self.own = put(weight), put(weight.abs()), put(slope), put(own)
        self.near = put((distance.abs() < 2.5).double())

    def error(self, u: float) -> torch.Tensor:
        """The error of the weights at unit u. It includes the effect of the places' errors."""
        off = u * self.off
        return self.slope * off + self.near * BENDING * off * off + u * self.own


def weights_of(
    x: Sequence[int], size: Sequence[int], scales: Sequence[float | None], align: bool, device: Any
) -> tuple[Weights, Weights]:
    height, width = x[-2:]
    scales = [s if s and s > 0 else None for s in ([*list(scales), None, None])[:2]]
    return (
        Weights(height, size[0], align, scales[0], device),
        Weights(width, size[1], align, scales[1], device),
    )


def resized(rows: torch.Tensor, x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    return rows @ x @ columns.t()


@rule("aten.upsample_bicubic2d.default", "aten.upsample_bicubic2d.vec")
def bicubic(cx: Context, x: Number, size: Any, align: bool, *scales: Any) -> Number:
    rows, columns = weights_of(x.v.shape, *arguments(x.v.shape, size, scales), align, x.v.device)

    def f(t: torch.Tensor) -> torch.Tensor:
        return resized(rows.value, t, columns.value)

    def along(t: torch.Tensor) -> torch.Tensor:
        return resized(rows.size, t, columns.size)

    v, size_ = f(x.v), along(x.v.abs())

    def local(u: float) -> torch.Tensor:
        first, second = rows.error(u), columns.error(u)
        moved_ = resized(first, x.v.abs(), columns.size + second) + resized(rows.size, x.v.abs(), second)
        return moved_ + MORE_TERMS * u * size_

    return cx.out(
        v,
        carried(along, x),
        local,
        moved(f, x),
        lambda u: local(u) / 3,
    )


def arguments(
    shape: Sequence[int], size: Sequence[int] | None, scales: Any
) -> tuple[list[int], list[float | None]]:
    """Returns the size and the scales of either overload."""
    given = scales[0] if scales and isinstance(scales[0], (list, tuple)) else scales
    if size is None:
        if not given:
            raise Unsupported("an interpolation with neither a size nor scales")
        size = [int(n * s) for n, s in zip(shape[-2:], given)]
    return list(size), list(given or [])
