"""Rules of pooling: averages and maxima of windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .bounds import Bound, Function
from .elementwise import rule
from .gradients import may_be_greatest, wide
from .number import Context, Number, Unsupported, carried, moved

F = torch.nn.functional


@rule(
    "aten._adaptive_avg_pool2d.default",
    "aten._adaptive_avg_pool3d.default",
    "aten.adaptive_avg_pool1d.default",
)
def adaptive(cx: Context, x: Number, size: Sequence[int]) -> Number:
    return averaged(
        cx,
        {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}[len(size)],
        x,
        (size,),
        max(1, math.prod(-(-s // o) + 1 for s, o in zip(x.v.shape[-len(size) :], size))),
    )


@rule("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def average_pool(cx: Context, x: Number, kernel: Any, *rest: Any, **named: Any) -> Number:
    d = int(cx.name[len("aten.avg_pool")])
    function = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[d]
    if rest and list(rest[0]) == []:
        rest = (kernel, *rest[1:])
    return averaged(
        cx,
        lambda t, *more: function(t, *more, **named),
        x,
        (kernel, *rest),
        math.prod(kernel) if len(kernel) == d else kernel[0] ** d,
    )


def averaged(cx: Context, function: Function, x: Number, how: Sequence[Any], n: int) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return function(t, *how)

    # A divisor given by the task may be negative.
    v, magnitude = f(x.v), f(x.v.abs()).abs()

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else f(e).abs()

    return cx.out(
        v,
        propagated,
        lambda u: (n + 3) * u * magnitude,
        moved(f, x),
        lambda u: math.sqrt(n + 3) * u * magnitude,
    )


@rule(
    "aten.max_pool1d.default",
    "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d_with_indices.default",
    "aten.max_pool2d.default",
    "aten.max_pool3d.default",
)
def max_pool(
    cx: Context,
    x: Number,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    d = 1 if "pool1d" in cx.name else 3 if "pool3d" in cx.name else 2
    pool = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[d]

    def f(t: torch.Tensor) -> torch.Tensor:
        return pool(t, kernel, stride if len(list(stride)) else None, padding, dilation, ceil_mode)

    y = cx.out(f(x.v), carried(f, x), lambda u: 0, moved(f, x))
    if "with_indices" not in cx.name:
        return y
    return y, _index_of_window(
        cx, x, d, kernel, stride, padding, dilation, ceil_mode
    ) if 1 in cx.wanted else None


def _index_of_window(
    cx: Context, x: Number, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Number:
    """The place within the plane. If equal or close elements share a window, any of them may be named."""
    pool = F.max_pool2d if rank == 2 else F.max_pool3d
    index = pool(x.v, kernel, stride if len(list(stride)) else None, padding, dilation, ceil_mode, True)[1]
    if ceil_mode:
        return Number(index, open=torch.ones_like(index, dtype=torch.bool) if x.b is not None else None)
    of = [wide(t, rank) for t in (kernel, stride if len(list(stride)) else kernel, padding, dilation)]
    return Number(index, open=may_be_greatest(x, rank, *of)[1].any(-1))


@rule("aten.adaptive_max_pool2d.default", "aten.adaptive_max_pool3d.default")
def adaptive_max_pool(cx: Context, x: Number, size: Any) -> tuple[Number, None]:
    pool = F.adaptive_max_pool2d if "2d" in cx.name else F.adaptive_max_pool3d

    def f(t: torch.Tensor) -> torch.Tensor:
        return pool(t, size)

    if 1 in cx.wanted:
        raise Unsupported(f"no rule for the indices of {cx.name}")
    return cx.out(f(x.v), carried(f, x), lambda u: 0, moved(f, x)), None
