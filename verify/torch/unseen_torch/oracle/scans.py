"""Rules of scans along a row and of pairs of rows: running extremes, medians, running sums of exponentials, distances,
bags."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .bounds import Bound, Error, Function
from .elementwise import div, mul, or_zero, rule, sqrt
from .number import ANY, U64, Context, Number, Unsupported, carried, moved, same
from .scatter_sort import _added
from .shape import plain_index
from .sums import terms_factor

MOST_PAIRS = 1 << 22  # differences that are computed at a time


def _picked(
    cx: Context,
    x: Number,
    dim: int,
    f: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
    greatest: Function,
) -> tuple[Number, Number]:
    """Returns (values, indices) of f, which picks elements by their order. A value is off by at most the greatest error
    of the elements considered."""
    v, at = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else greatest(e)

    values = cx.out(v, propagated, lambda u: 0, moved(lambda t: f(t)[0], x))
    return values, Number(
        at, names=(x, dim, ANY), open=None if x.b is None else torch.ones_like(at, dtype=torch.bool)
    )


@rule("aten.cummax.default", "aten.cummin.default")
def running_extreme(cx: Context, x: Number, dim: int) -> tuple[Number, Number]:
    function = torch.cummax if "cummax" in cx.name else torch.cummin
    return _picked(cx, x, dim, lambda t: function(t, dim), lambda e: torch.cummax(e, dim)[0])


@rule("aten.median.dim", "aten.nanmedian.dim", "aten.kthvalue.default")
def middle(cx: Context, x: Number, *args: Any, **named: Any) -> tuple[Number, Number]:
    if bool(x.v.isnan().any()):
        raise Unsupported(f"{cx.name} of what holds NaN")
    at = args[1:] if "kthvalue" in cx.name else args
    dim, keep = (
        (at[0] if at else named.get("dim", -1)),
        (at[1] if len(at) > 1 else named.get("keepdim", False)),
    )
    f = (
        (lambda t: torch.kthvalue(t, args[0], dim, keep))
        if "kthvalue" in cx.name
        else lambda t: torch.median(t, dim, keep)
    )
    return _picked(cx, x, dim, f, lambda e: e.amax(dim, keep))


@rule("aten.median.default", "aten.nanmedian.default")
def middle_of_all(cx: Context, x: Number) -> Number:
    flat = same(lambda t: t.reshape(-1), x)
    return middle(cx, flat, 0)[0]


@rule("aten.logcumsumexp.default")
def running_logsumexp(cx: Context, x: Number, dim: int) -> Number:
    """A running log-sum-exp. An operand's error counts at most once. Each step errs by an exponential, a logarithm and
    a sum. Later steps do not amplify that error."""

    def f(t: torch.Tensor) -> torch.Tensor:
        return torch.logcumsumexp(t, dim)

    v = f(x.v)
    shape = [1] * x.v.dim()
    shape[dim] = -1
    n = torch.arange(1, x.v.shape[dim] + 1, dtype=torch.float64, device=x.v.device).reshape(shape)
    size = torch.cummax(torch.where(v.isfinite(), v.abs(), 0.0), dim)[0] + 16
    return cx.out(
        v,
        carried(lambda e: torch.cummax(e, dim)[0], x),
        lambda u: n * u * size,
        moved(f, x),
        lambda u: n.sqrt() * u * size,
    )


# --- distances ---


def _summed(f: Function, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The sum over the last dimension of f(a[.., i, None, k], b[.., None, j, k]), in chunks of k."""
    a, b = a.double(), b.double()
    rows = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = a.new_zeros((*rows, a.shape[-2], b.shape[-2]))
    some = max(1, MOST_PAIRS // max(total.numel(), 1))
    for k in range(0, a.shape[-1], some):
        total += f(a[..., :, None, k : k + some], b[..., None, :, k : k + some]).sum(-1)
    return total


def _squares(cx: Context, a: Number, b: Number, by_product: bool) -> Number:
    """Sums of squared differences, one by one or as |a|^2 + |b|^2 - 2 a b."""
    n = a.v.shape[-1]

    def f(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return _summed(lambda p, q: (p - q) ** 2, s, t)

    v = f(a.v, b.v)
    sizes = (a.v.double() ** 2).sum(-1)[..., :, None] + (b.v.double() ** 2).sum(-1)[..., None, :]

    def propagated(level: int) -> Bound:
        if a.error(level) is None and b.error(level) is None:
            return None
        ea, eb = or_zero(a.error(level), a.v.double()), or_zero(b.error(level), b.v.double())
        square = _summed(lambda p, q: (p + q) ** 2, ea, eb)
        return 2 * (v * square).sqrt() + square  # by Cauchy and Schwarz

    def local(u: float) -> Error:
        apart = (n + 4) * u * v
        return apart if u == U64 or not by_product else apart + 2 * terms_factor(u, n) * sizes

    def typical(u: float) -> Error:
        walk = math.sqrt(n + 4) * u * v
        return walk if not by_product else walk + (math.sqrt(n + 4) * u + 2.0**-22) * sizes

    made = cx.out(v, propagated, local, moved(f, a, b), typical)
    if made.runs is not None:
        made.runs = [t.clamp(min=0) for t in made.runs]
    return made


def _distance(cx: Context, a: Number, b: Number, p: float, by_product: bool) -> Number:
    if p == 2:
        return sqrt(cx, _squares(cx, a, b, by_product))
    if p not in (1, math.inf):
        raise Unsupported(f"distances of the order {p:g}")
    n = a.v.shape[-1]
    if p == 1:

        def f(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            return _summed(lambda x, y: (x - y).abs(), s, t)

        def off(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            return _summed(lambda x, y: x + y, s, t)
    else:

        def f(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            return torch.cdist(s.double(), t.double(), p=math.inf)

        def off(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            return s.amax(-1)[..., :, None] + t.amax(-1)[..., None, :]

        n = 1
    v = f(a.v, b.v)

    def propagated(level: int) -> Bound:
        if a.error(level) is None and b.error(level) is None:
            return None
        return off(or_zero(a.error(level), a.v.double()), or_zero(b.error(level), b.v.double()))

    return cx.out(
        v, propagated, lambda u: (n + 2) * u * v, moved(f, a, b), lambda u: math.sqrt(n + 2) * u * v
    )


@rule("aten._cdist_forward.default")
def distances(cx: Context, a: Number, b: Number, p: float, mode: int | None = None) -> Number:
    return _distance(cx, a, b, p, by_product=mode != 2)  # mode 2 forbids a product


@rule("aten._euclidean_dist.default")
def euclidean(cx: Context, a: Number, b: Number) -> Number:
    return _distance(cx, a, b, 2, by_product=True)


@rule("aten._pdist_forward.default")
def own_distances(cx: Context, x: Number, p: float = 2.0) -> Number:
    rows, columns = torch.triu_indices(x.v.shape[0], x.v.shape[0], 1, device=x.v.device)
    return same(lambda t: t[rows, columns], _distance(cx, x, x, p, by_product=False))


# --- bags ---


@rule("aten._embedding_bag_forward_only.default", "aten._embedding_bag.default")
def bags(
    cx: Context,
    table: Number,
    indices: Number,
    offsets: Number,
    scale_grad: bool = False,
    mode: int = 0,
    sparse: bool = False,
    weights: Number | None = None,
    with_last: bool = False,
    padding: int = -1,
) -> tuple[Number, None, None, None]:
    """Sums, averages or maxima of the rows of a table that indices name. A bag extends from its offset to the next
    one."""
    plain_index(indices, offsets)
    starts = offsets.v[:-1] if with_last else offsets.v
    place = torch.arange(indices.v.numel(), device=starts.device)
    bag = torch.searchsorted(starts.contiguous(), place, right=True) - 1
    kept = (indices.v != padding) & (bag >= 0) if padding >= 0 else bag >= 0
    index, bag = indices.v[kept], bag[kept]
    rows = same(lambda t: t[index], table)
    if weights is not None:
        rows = mul(cx, rows, same(lambda t: t[kept][:, None], weights))
    empty = torch.zeros(starts.numel(), table.v.shape[1], dtype=torch.float64, device=table.v.device)
    count = torch.zeros(starts.numel(), dtype=torch.float64, device=empty.device).index_add(
        0, bag, torch.ones_like(bag).double()
    )
    if mode == 2:

        def f(t: torch.Tensor) -> torch.Tensor:
            return torch.where(
                count[:, None] > 0, empty.index_reduce(0, bag, t.double(), "amax", include_self=False), 0.0
            )

        made = cx.out(
            f(rows.v),
            carried(f, rows),
            lambda u: 0,
            moved(f, rows),
        )
    else:
        made = _added(cx, Number(empty), rows, lambda t, s: t.index_add(0, bag, s))
        made = made if mode == 0 else div(cx, made, Number(count.clamp(min=1)[:, None].expand(empty.shape)))
    return made, None, None, None


# --- memory ---


@rule("aten.as_strided.default", "aten.as_strided_.default", "aten.as_strided_copy.default")
def strided(
    cx: Context, x: Number, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> Number:
    """Elements by their place in the operand's memory. Its layout is that of the task's own tensor."""
    laid = cx.laid
    if laid is None:
        raise Unsupported("as_strided of a tensor whose layout is not known")
    reach = [
        1 + o + sum((s - 1) * t for s, t in zip(shape, strides)) if all(shape) else 1
        for shape, strides, o in (
            (laid.shape, laid.stride(), laid.storage_offset()),
            (size, stride, laid.storage_offset() if offset is None else offset),
        )
    ]
    memory = torch.full((max(reach),), -1, dtype=torch.int64)
    memory.as_strided(laid.shape, laid.stride(), laid.storage_offset()).copy_(
        torch.arange(x.v.numel()).reshape(laid.shape)
    )
    at = memory.as_strided(size, stride, laid.storage_offset() if offset is None else offset).to(x.v.device)
    if bool((at < 0).any()):
        raise Unsupported("as_strided reaches memory beside its operand")
    return same(lambda t: t.reshape(-1)[at], x)
