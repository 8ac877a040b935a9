"""Rules of matrix products with scales, by groups, and of 8-bit numbers."""

from __future__ import annotations

import math
from typing import Any

import torch

from .elementwise import mul, rule
from .number import Context, Number, Unsupported, add_bounds, same
from .shape import joined
from .sums import bilinear, plus, product

# The fp8 unit before Blackwell: the terms of a step, and the error of a step (doc/error-model.md).
STEP, LOSS = 32, 34 * 2.0**-13


def by_unit(cx: Context, a: Number, b: Number) -> Number:
    """A product that a matrix unit for fp8 may compute."""
    n = a.v.shape[-1]
    made = bilinear(cx, torch.matmul, a, b, n)
    steps = -(-n // STEP)
    size = a.v.abs() @ b.v.abs()
    norm = ((a.v**2) @ (b.v**2)).sqrt()
    walk = 2 * math.sqrt(steps * (min(n, STEP) + 2) / 3) * 2.0**-13 * torch.maximum(made.v.abs(), norm)
    return Number(
        made.v,
        made.r,
        add_bounds(made.b, steps * LOSS * size),
        [made.run(i) + cx.noise(walk) * walk for i in range(cx.count)] or None,
    )


def scale_of(scale: Number, rows: int, columns: int) -> Number:
    """Accepts one scale for all, or one for each row or column. Blocks of 1 x 128 have a scale each and are refused."""
    if scale.v.numel() == 1:
        return same(lambda t: t.reshape(()), scale)
    if scale.v.dim() == 2 and all(s in (1, n) for s, n in zip(scale.v.shape, (rows, columns))):
        return scale
    raise Unsupported("a product with scales by blocks")


@rule("aten._scaled_mm.default")
def scaled(
    cx: Context,
    a: Number,
    b: Number,
    scale_a: Number,
    scale_b: Number,
    bias: Number | None = None,
    scale_result: Any = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> Number:
    """(a scale_a) (b scale_b) + bias, rounded to the output's format once."""
    stored, cx.dtype = cx.dtype, torch.float32
    m, n = a.v.shape[0], b.v.shape[1]
    made = by_unit(cx, a, b)
    for scale in (scale_of(scale_a, m, 1), scale_of(scale_b, 1, n)):
        made = mul(cx, made, scale)
    made = made if bias is None else plus(cx, made, bias)
    cx.dtype = stored
    return cx.out(made.v, made.error, lambda u: 0, made.run)


@rule("aten._grouped_mm.default")
def grouped(
    cx: Context,
    a: Number,
    b: Number,
    offsets: Number | None = None,
    bias: Number | None = None,
    out_dtype: Any = None,
) -> Number:
    """A grouped product. Groups end at `offsets`. They split rows of a, columns of b, or the terms of the sums: the one
    without a dimension for groups."""
    if bias is not None:
        raise Unsupported("a product by groups with a bias")
    if offsets is None:
        return product(cx, a, b)
    ends = offsets.v.tolist()
    spans = list(zip([0, *ends], ends))

    def part(x: Number, dim: int, span: tuple[int, int]) -> Number:
        return same(lambda t: t.narrow(dim, span[0], span[1] - span[0]), x)

    def one(x: Number, g: int) -> Number:
        return same(lambda t: t[g], x)

    if a.v.dim() == 2 and b.v.dim() == 3:
        made = [product(cx, part(a, 0, span), one(b, g)) for g, span in enumerate(spans)]
        whole: Number = joined(cx, made, lambda ts: torch.cat(ts, 0))
    elif a.v.dim() == 3 and b.v.dim() == 2:
        made = [product(cx, one(a, g), part(b, 1, span)) for g, span in enumerate(spans)]
        whole = joined(cx, made, lambda ts: torch.cat(ts, 1))
    else:
        made = [product(cx, part(a, 1, span), part(b, 0, span)) for span in spans]
        whole = joined(cx, made, torch.stack)
    extent = {(2, 3): a.v.shape[0], (3, 2): b.v.shape[1]}.get((a.v.dim(), b.v.dim()))
    if extent is not None and ends[-1] != extent:
        raise Unsupported("a product by groups that leaves rows unwritten")
    return whole
