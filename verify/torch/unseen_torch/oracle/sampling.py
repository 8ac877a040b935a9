"""Rules of interpolation: values of an image between its pixels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from .bounds import Bound, Error, Function
from .choices import choose
from .elementwise import or_zero, rule
from .number import Context, Number, Unsupported, add_bounds, moved, same, unit_of
from .shape import operator

BILINEAR, NEAREST, BORDER = 0, 1, 1  # as ATen counts modes and paddings
# Roundings of a place (g + 1) n / 2 - 1/2: a sum, two products and a difference. Each is at most |g| + 1 times the
# extent.
PLACE = 4
# roundings of a weight, which is a product of differences, and of the sum over four or eight corners
WEIGHED = 8


def _moving(g: torch.Tensor, e: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The effect of the grid's errors `e` on the sample. Along each dimension, neighbouring pixels differ by at most
    twice the greatest one near. The shape of g and e is [.., axes], with the last dimension of x first. A unit of the
    grid is half an extent of pixels."""
    axes = g.shape[-1]
    pool = torch.nn.functional.max_pool2d if axes == 2 else torch.nn.functional.max_pool3d
    near = torch.ops.aten.grid_sampler_2d if axes == 2 else torch.ops.aten.grid_sampler_3d
    size = near(pool(x.abs(), 5, stride=1, padding=2), g, NEAREST, BORDER, False)
    pixels: Any = sum(e[..., k] * x.shape[-1 - k] / 2 for k in range(axes))
    moved_: torch.Tensor = 2 * size * pixels.unsqueeze(1)
    return moved_


@rule("aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def grid_sampler(cx: Context, x: Number, grid: Number, mode: int, padding: int, align: bool) -> Number:
    """A grid sample. The bilinear mode is continuous in the grid. The nearest mode jumps at a pixel's edge."""
    sample: Function = operator(cx.name)
    if mode == NEAREST:
        return nearest_of_grid(cx, lambda t, g: sample(t, g, NEAREST, padding, align), x, grid)
    if mode != BILINEAR:
        raise Unsupported(f"no rule for {cx.name} with the mode {mode}")

    def f(t: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return sample(t, g, BILINEAR, padding, align)

    def propagated(level: int) -> Bound:
        ex, eg = x.error(level), grid.error(level)
        return add_bounds(
            None if ex is None else f(ex, grid.v), None if eg is None else _moving(grid.v, eg, x.v)
        )

    place = (grid.v.abs() + 1) * PLACE

    def local(u: float) -> Error:
        return _moving(grid.v, u * place, x.v) + u * WEIGHED * f(x.v.abs(), grid.v)

    return cx.out(f(x.v, grid.v), propagated, local, moved(f, x, grid))


def nearest_of_grid(cx: Context, f: Function, x: Number, grid: Number) -> Number:
    """The nearest mode: if a place may name one of several pixels, each of them is right."""
    unit = unit_of(cx.dtype)
    v, axes = f(x.v, grid.v), grid.v.shape[-1]
    reach = or_zero(grid.b, grid.v) + unit * PLACE * (grid.v.abs() + 1)
    sides = [
        f(x.v, grid.v + reach * reach.new_tensor(signs))
        for signs in itertools.product((-1.0, 1.0), repeat=axes)
    ]
    off = torch.stack([(side - v).abs() for side in sides]).amax(0)

    def carry(level: int) -> Bound:
        return None if x.error(level) is None else f(x.error(level), grid.v)

    made = cx.out(v, lambda level: add_bounds(carry(level), off), lambda u: 0)
    runs = [
        f(x.run(i), grid.v) if i % 4 in (0, 2) else f(x.run(i), grid.v + reach * (1 if i % 4 == 1 else -1))
        for i in range(cx.count)
    ]
    return Number(v, made.r, made.b, runs or None)


NEAREST_NAMES = [
    f"{name}{axes}d" for name in ("upsample_nearest", "_upsample_nearest_exact") for axes in (1, 2, 3)
]


def nearest_places(
    extent: int, made: int, scale: float | None, exact: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (least, greatest): the range of pixels that an honest implementation takes for each of `made` places
    along a dimension of `extent` pixels.

    A pixel is the integer part of (g + offset) / scale, where offset is 1/2 if `exact`. `scale` None means made /
    extent. Implementations compute it in whole numbers, fp32 or fp64, by a ratio or by a division. At a pixel's edge
    their results may differ.
    """
    at = torch.arange(made, dtype=torch.float64) + (0.5 if exact else 0.0)
    ways = []
    for dtype in (torch.float64, torch.float32):
        g = at.to(dtype)
        by = torch.tensor(extent / made if scale is None else 1.0 / scale, dtype=torch.float64).to(dtype)
        ways += [g * by, g * extent / made if scale is None else g / torch.tensor(scale, dtype=dtype)]
    found = [w.floor().long() for w in ways]
    if scale is None:
        found.append((2 * at).long() * extent // (2 * made))
    every = torch.stack(found).clamp(0, extent - 1)
    return every.amin(0), every.amax(0)


def nearest_dimensions(
    name: str, shape: Sequence[int], size: Sequence[int], scales: Sequence[float | None]
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Yields (dimension, least places, greatest places) of each resized dimension."""
    first, exact = len(shape) - len(size), "exact" in name
    scales = list(scales) + [None] * (len(size) - len(scales))
    for d, (made, scale) in enumerate(zip(size, scales)):
        yield (
            first + d,
            *nearest_places(shape[first + d], made, scale if scale and scale > 0 else None, exact),
        )


@rule(*[f"aten.{name}.default" for name in NEAREST_NAMES])
def nearest(cx: Context, x: Number, size: Sequence[int], *scales: Any) -> Number:
    """Moves elements along one dimension after the other. If two pixels are possible, all values between them are
    accepted."""
    for dim, least, greatest in nearest_dimensions(cx.name, list(x.v.shape), size, scales):
        low, high = (same(lambda t, p=p: t.index_select(dim, p.to(t.device)), x) for p in (least, greatest))
        shape = [-1 if d == dim else 1 for d in range(x.v.dim())]
        open_ = (least != greatest).reshape(shape).to(x.v.device)
        x = choose(cx, Number(torch.ones_like(open_), open=open_), low, high) if bool(open_.any()) else low
    return x


def taps(op: Function, extent: int, made: int, align: bool, rows: bool) -> torch.Tensor:
    """The weights of one dimension, [made, extent]: the result of resizing an identity matrix."""
    identity = torch.eye(extent, dtype=torch.float64)[None, None]
    if rows:
        return op(identity, [made, extent], align)[0, 0]
    return op(identity, [extent, made], align)[0, 0].t()


def unsure(weights: torch.Tensor, made: int) -> torch.Tensor:
    """The error of computed weights, in units. A place is off by PLACE roundings of the image's extent. The weights
    near it share that error."""
    near = torch.nn.functional.max_pool1d((weights != 0).double(), 3, 1, 1)
    return PLACE * (made + 1) * near / near.sum(1, keepdim=True).clamp(min=1)


@rule("aten._upsample_bilinear2d_aa.default", "aten._upsample_bicubic2d_aa.default")
def antialiased(cx: Context, x: Number, size: Sequence[int], align: bool, *scales: Any) -> Number:
    """Antialiased resizing, one dimension after the other. The weights extend over a pixel of the result."""
    if any(s is not None for s in scales) and list(size) != [
        math.floor(n * s) for n, s in zip(x.v.shape[-2:], scales)
    ]:
        raise Unsupported(f"{cx.name} with scales of its own")
    op: Function = operator(cx.name)

    def f(t: torch.Tensor) -> torch.Tensor:
        return op(t.cpu(), size, align, *scales).to(t.device)

    across = [
        taps(op, n, m, align, d == 0).to(x.v.device) for d, (n, m) in enumerate(zip(x.v.shape[-2:], size))
    ]
    sides = [w.abs() for w in across]
    off = [unsure(w, m) for w, m in zip(across, size)]

    def both(t: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        return rows @ t @ columns.t()

    v, magnitude = f(x.v), both(x.v.abs(), *sides)
    own = both(x.v.abs(), off[0], sides[1]) + both(x.v.abs(), sides[0], off[1])
    n = sum(int((w != 0).sum(1).max()) for w in across)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else both(e, *sides)

    return cx.out(
        v,
        propagated,
        lambda u: u * ((n + 4) * magnitude + own),
        moved(f, x),
        lambda u: u * (math.sqrt(n + 4) * magnitude + own),
    )
