"""Rules of sorting, and of values in a sort order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import ties
from .bounds import Bound
from .elementwise import or_zero, rule
from .number import APART, STABLE, Context, Number, Unsupported, distance, moved, same
from .shape import operator


def _order(
    cx: Context,
    x: Number,
    f: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
    dim: int,
    how: int = APART,
) -> tuple[Number, Number]:
    """Returns (values, indices) of f, which sorts along dim and may keep a part. A sorted element is off by at most the
    row's greatest error. It may change places with a neighbour that is within both bounds."""
    if not x.v.dim():
        raise Unsupported(f"{cx.name} of a single number")
    v, at = f(x.v)

    def spread(e: Bound) -> Bound:
        return None if e is None else e.amax(dim, True).expand(v.shape)

    values = cx.out(v, lambda level: spread(x.error(level)), lambda u: 0, moved(lambda t: f(t)[0], x))
    index = Number(at, names=(x, dim, how), open=exchanged(x, dim, how).gather(dim, at))
    index.ways = ties.ways(cx, x, lambda t: f(t)[1], index.open)
    return values, index


def _steps(ordered: torch.Tensor, dim: int) -> torch.Tensor:
    """The distance of each element along dim from its predecessor."""
    n = ordered.shape[dim] - 1
    return distance(ordered.narrow(dim, 1, n), ordered.narrow(dim, 0, n))


def exchanged(x: Number, dim: int, how: int) -> torch.Tensor:
    """Mask of the elements of x that may change places with a neighbour in order."""
    full, order = torch.sort(x.v, dim, descending=True)
    bound = or_zero(x.b, x.v).gather(dim, order)
    reach = bound.narrow(dim, 1, bound.shape[dim] - 1) + bound.narrow(dim, 0, bound.shape[dim] - 1)
    near = _steps(full, dim) <= reach
    if how == STABLE:
        near &= reach > 0  # equal values without error keep their order
    edge = (
        torch.zeros_like(near.narrow(dim, 0, 1))
        if near.shape[dim]
        else torch.zeros_like(full, dtype=torch.bool)
    )
    both = torch.cat([edge, near], dim) | torch.cat([near, edge], dim) if near.shape[dim] else edge
    return torch.zeros_like(both).scatter(dim, order, both)


@rule("aten.topk.default")
def topk(
    cx: Context, x: Number, k: int, dim: int = -1, largest: bool = True, *_: Any, **__: Any
) -> tuple[Number, Number]:
    return _order(cx, x, lambda t: torch.topk(t, k, dim, largest), dim)


@rule("aten.sort.default", "aten.sort.stable")
def sort(
    cx: Context, x: Number, dim: int = -1, descending: bool = False, stable: bool | None = None, **named: Any
) -> tuple[Number, Number]:
    dim, descending = named.get("dim", dim), named.get("descending", descending)
    return _order(
        cx,
        x,
        lambda t: torch.sort(t, dim=dim, descending=descending, stable=True),
        dim,
        STABLE if named.get("stable", stable) else APART,
    )


def is_whole_sort(x: Number, dim: int, index: Number) -> bool:
    """True if the index is the complete sort order of a tensor of that shape, along that dimension."""
    if (
        index.names is None
        or index.names[1] is None
        or not index.v.shape == x.v.shape == index.names[0].v.shape
    ):
        return False
    return dim % x.v.dim() == index.names[1] % x.v.dim()


def as_sorted(cx: Context, dim: int, index: Number, source: Number) -> Number:
    """`source` in a sort order whose neighbours may have changed places. Within a group of such neighbours, each
    element may be any of the group's. A mask that is equal throughout a group stays exact."""
    assert index.names is not None
    n, x = index.v.shape[dim], index.names[0]
    bound = or_zero(x.b, x.v).gather(dim, index.v)
    starts = _steps(x.v.gather(dim, index.v), dim) > bound.narrow(dim, 1, n - 1) + bound.narrow(dim, 0, n - 1)
    # each element's group of neighbours
    row = torch.cat([torch.zeros_like(index.v.narrow(dim, 0, 1)), starts.cumsum(dim)], dim)

    def of_row(t: torch.Tensor, how: str) -> torch.Tensor:
        return torch.zeros_like(t).scatter_reduce(dim, row, t, how, include_self=False).gather(dim, row)

    values = source.v.double()
    spread = of_row(values, "amax") - of_row(values, "amin")
    if source.is_float:

        def reach(level: int) -> torch.Tensor:
            return spread + of_row(or_zero(source.error(level), values), "amax")

        return Number(
            source.v, reach(0), reach(1), [source.run(i) + cx.noise(spread) * spread for i in range(cx.count)]
        )
    if source.v.dtype == torch.bool:
        own = torch.zeros_like(values) if source.open is None else source.open.double()
        return Number(source.v, open=spread + of_row(own, "amax") > 0)
    raise Unsupported(
        f"{cx.name} of whole numbers by an order that an honest implementation may decide either way"
    )


def _certain(x: Number, in_order: bool) -> bool:
    """Are equal elements of x exact, and all others apart by more than their errors? `in_order`: only
    neighbours are compared."""
    v, off = x.v.reshape(-1).double(), or_zero(x.b, x.v).reshape(-1)
    if not in_order:
        v, order = torch.sort(v)
        off = off[order]
    equal = (v[1:] == v[:-1]) & (off[1:] == 0) & (off[:-1] == 0)
    if in_order:
        return bool((equal | (distance(v[1:], v[:-1]) > off[1:] + off[:-1])).all())
    return bool((equal | ((v - off)[1:] > torch.cummax(v + off, 0).values[:-1])).all())


@rule("aten._unique2.default", "aten.unique_dim.default", "aten.unique_consecutive.default")
def distinct(cx: Context, x: Number, *how: Any, **named: Any) -> tuple[Number, Number, Number]:
    """Distinct values. Computed numbers must be certain to differ."""
    if x.b is None and not x.is_undecided:
        values, inverse, counts = operator(cx.name)(x.v, *how, **named)
        return Number(values), Number(inverse), Number(counts)
    by_slices = "unique_dim" in cx.name or (
        "consecutive" in cx.name and (len(how) > 2 or named.get("dim") is not None)
    )
    if x.is_undecided or by_slices or not _certain(x, "consecutive" in cx.name):
        raise Unsupported(f"{cx.name} of computed numbers that rounding may make equal")
    f = torch.unique_consecutive if "consecutive" in cx.name else torch.unique
    values, inverse, counts = f(x.v, return_inverse=True, return_counts=True)
    at = inverse.reshape(-1)

    def first(t: torch.Tensor) -> torch.Tensor:
        """One element of each group: they are equal."""
        return t.new_zeros(values.shape).scatter(0, at, t.expand(x.v.shape).reshape(-1))

    return same(first, x), Number(inverse), Number(counts)
