"""Operations that place elements by index: scattering, adding, writing into places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .bounds import Bound
from .elementwise import div, mul, or_zero, rule
from .number import (
    Context,
    Number,
    Operand,
    Unsupported,
    distance,
    lost,
    moved,
    same,
    sides_of,
)
from .shape import joined, open_of, plain_index
from .sorting import as_sorted, exchanged, is_whole_sort
from .wholes import added_beside, either_way

REPEATED = 4  # terms for each different number from which sums have equal terms
SYSTEMATIC = 1 / 16  # error of a sum of equal terms in unit roundoffs, for each term

Put = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # from a target and source elements


def _reached(x: Number, dim: int, index: Number) -> torch.Tensor:
    """Mask of the elements of x that an honest implementation may write differently from this evaluation. In a row with
    an ambiguous element, these are all elements. If the index comes from a sort or a top-k of a tensor of the same
    shape, they are only those whose selection is ambiguous."""
    assert index.open is not None
    rows = torch.zeros_like(x.v, dtype=torch.bool)
    rows[tuple(slice(None if d == dim % x.v.dim() else n) for d, n in enumerate(index.v.shape))] = (
        index.open.any(dim, True)
    )
    if index.names is None:
        return rows
    values, along, ties = index.names
    if along is None or values.v.shape != x.v.shape or along % x.v.dim() != dim % x.v.dim():
        return rows
    bound, picked = or_zero(values.b, values.v), values.v.gather(dim, index.v)
    reach = bound + bound.amax(dim, True)
    inside = (values.v >= picked.amin(dim, True) - reach) & (values.v <= picked.amax(dim, True) + reach)
    return rows & inside & exchanged(values, along, ties)


def _repeats(terms: torch.Tensor) -> bool:
    """Tells whether few different numbers are added many times. A sum of equal terms rounds each step in the
    same direction until its exponent grows: the error is up to n/6 unit roundoffs, and no random walk."""
    return bool(REPEATED * terms.unique().numel() <= terms.numel())


def _added(cx: Context, x: Number, source: Number, put: Put) -> Number:
    """put(target, source) adds source elements to target elements. Each target element gets n of them."""

    def f(t: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return put(t.double(), s.double())

    if source.v.dtype == torch.bool:  # a sum of truth values is whether one of them holds
        plain_index(x, source)
        return Number(f(x.v, source.v) > 0)
    n = put(torch.zeros_like(x.v.double()), torch.ones_like(source.v.double()))
    v = f(x.v, source.v)
    size = f(x.v.abs(), source.v.abs())
    walk = n.sqrt() * torch.maximum(v.abs(), f(x.v.double() ** 2, source.v.double() ** 2).sqrt())
    # a shorter sum of equal terms errs less than a random walk
    if n.numel() and float(n.amax()) > SYSTEMATIC**-2 and _repeats(source.v):
        walk = torch.maximum(walk, SYSTEMATIC * n * v.abs())

    def propagated(level: int) -> Bound:
        ex, es = x.error(level), source.error(level)
        if ex is None and es is None:
            return None
        return f(or_zero(ex, x.v.double()), or_zero(es, source.v.double()))

    return cx.out(v, propagated, lambda u: n * u * size, moved(f, x, source), lambda u: u * walk)


@rule("aten.scatter_add.default", "aten.scatter_add_.default")
def scatter_add(cx: Context, x: Number, dim: int, index: Number, source: Number) -> Number:
    plain_index(*(t for t in (x, source) if not t.is_float))
    made = _added(cx, x, source, lambda t, s: t.scatter_add(dim, index.v, s))
    if not index.is_undecided:
        return made
    source = same(lambda t: t[tuple(slice(n) for n in index.v.shape)], source)
    beside = added_beside(
        index, source, lambda at, s: torch.zeros_like(made.v).scatter_add(dim, at, s), x.v.shape[dim], made.v
    )
    return lost(cx, made, _reached(x, dim, index)) if beside is None else either_way(cx, made, beside)


def met_by(x: Number, source: Number, dim: int, index: Number, by_row: bool) -> torch.Tensor:
    """The number of source elements for each place."""
    none, ones = torch.zeros_like(x.v.double()), torch.ones_like(source.v.double())
    return (
        none.index_add(dim, index.v, ones)
        if by_row
        else none.scatter_add(
            dim, index.v, torch.ones(index.v.shape, dtype=torch.float64, device=none.device)
        )
    )


def _multiplied(cx: Context, x: Number, source: Number, n: torch.Tensor, put: Put) -> Number:
    """put(target, source) multiplies target elements by source elements. Each product has n factors."""

    def f(t: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return put(t.double(), s.double())

    v = f(x.v, source.v)
    if source.v.dtype == torch.bool:  # a product of truth values is whether all of them hold
        plain_index(x, source)
        return Number(v != 0)

    def propagated(level: int) -> Bound:
        ex, es = x.error(level), source.error(level)
        if ex is None and es is None:
            return None
        return (
            f(x.v.abs() + or_zero(ex, x.v.double()), source.v.abs() + or_zero(es, source.v.double()))
            - v.abs()
            + 2.0**-50 * n * v.abs()
        )

    return cx.out(v, propagated, lambda u: n * u * v.abs(), moved(f, x, source))


@rule("aten.scatter_reduce.two", "aten.index_reduce.default")
def scatter_reduce(
    cx: Context, x: Number, dim: int, index: Number, source: Number, reduce: str, include_self: bool = True
) -> Number:
    """Sums and means follow `_added`. A maximum or minimum is off by at most the greatest error of the elements that it
    is chosen from."""
    plain_index(index)
    by_row = "index_reduce" in cx.name

    def put(t: torch.Tensor, s: torch.Tensor, how: str, own: bool = True) -> torch.Tensor:
        return (
            t.index_reduce(dim, index.v, s, how, include_self=own)
            if by_row
            else t.scatter_reduce(dim, index.v, s, how, include_self=own)
        )

    if reduce in ("amax", "amin"):

        def f(t: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
            return put(t.double(), s.double(), reduce, include_self)

        def propagated(level: int) -> Bound:
            ex, es = x.error(level), source.error(level)
            if ex is None and es is None:
                return None
            return put(or_zero(ex, x.v.double()), or_zero(es, source.v.double()), "amax", include_self)

        return cx.out(f(x.v, source.v), propagated, lambda u: 0, moved(f, x, source))
    if reduce == "prod":
        n = met_by(x, source, dim, index, by_row) + 1
        return _multiplied(cx, x, source, n, lambda t, s: put(t, s, "prod", include_self))
    if reduce not in ("sum", "mean"):
        raise Unsupported(f"{cx.name} with {reduce}")
    adds: Put = (
        (lambda t, s: t.index_add(dim, index.v, s))
        if by_row
        else (lambda t, s: t.scatter_add(dim, index.v, s))
    )
    met = adds(torch.zeros_like(x.v.double()), torch.ones_like(source.v.double()))
    kept = x if include_self else same(lambda t: torch.where(met > 0, 0.0, t.double()), x)
    total = _added(cx, kept, source, adds)
    return total if reduce == "sum" else div(cx, total, Number((met + float(include_self)).clamp(min=1)))


@rule("aten.scatter.reduce", "aten.scatter.value_reduce")
def scatter_with(cx: Context, x: Number, dim: int, at: Number, source: Operand, *, reduce: str) -> Number:
    """The older form of scatter_reduce. A number takes the tensor's type first."""
    if not isinstance(source, Number):
        source = _constant(cx, x, at.v.shape, source)
    source = same(lambda t: t[tuple(slice(n) for n in at.v.shape)], source)
    return scatter_reduce(cx, x, dim, at, source, {"add": "sum", "multiply": "prod"}[reduce])


@rule("aten.index_add.default", "aten.index_add_.default")
def index_add(cx: Context, x: Number, dim: int, index: Number, source: Number, alpha: float = 1) -> Number:
    plain_index(
        *([] if index.there or index.sides is not None else [index]),
        *(t for t in (x, source) if not t.is_float),
    )
    source = source if alpha == 1 else mul(cx, source, alpha)
    made = _added(cx, x, source, lambda t, s: t.index_add(dim, index.v, s))
    if not index.is_undecided:
        return made
    if index.sides is not None and index.open is not None:

        def along(at: torch.Tensor) -> torch.Tensor:
            return at.reshape([-1 if d == dim % x.v.dim() else 1 for d in range(x.v.dim())]).expand(
                source.v.shape
            )

        wide = Number(along(index.v), open=along(index.open))
        wide.sides = sides_of(along, index)
        beside = added_beside(
            wide,
            source,
            lambda at, s: torch.zeros_like(made.v).scatter_add(dim, at, s),
            x.v.shape[dim],
            made.v,
        )
        return (
            lost(cx, made, torch.ones_like(made.v, dtype=torch.bool))
            if beside is None
            else either_way(cx, made, beside)
        )
    there = torch.zeros(x.v.shape[dim], dtype=torch.bool, device=x.v.device).index_fill(
        0, index.v[index.open], True
    )
    return lost(cx, made, there.reshape([-1 if d == dim % x.v.dim() else 1 for d in range(x.v.dim())]))


def _settled(cx: Context, made: Number, source: Number, places: torch.Tensor) -> Number:
    """`made`, after elements of `source` were written to flat `places` of the same shape. Several writes to one place
    have no defined order. If they all write the same exact value, the place has that value. Otherwise it may be
    anything, such as a slot for dropped elements."""
    places = places.reshape(-1)

    def flat(t: torch.Tensor) -> torch.Tensor:
        return t.expand(source.v.shape).reshape(-1)

    blank = torch.zeros(made.v.numel(), dtype=torch.float64, device=made.v.device)
    several = blank.index_add(0, places, torch.ones_like(places, dtype=torch.float64)) > 1
    if not bool(several.any()):
        return made
    values = flat(source.v).double()
    most, least = (
        blank.scatter_reduce(0, places, values, how, include_self=False) for how in ("amax", "amin")
    )
    error = (
        blank
        if source.b is None
        else blank.scatter_reduce(0, places, flat(source.b), "amax", include_self=False)
    )
    anything = (several & ((most != least) | (error > 0) | most.isnan())).reshape(made.v.shape)
    if not bool(anything.any()):
        return made
    if not made.is_float:
        raise Unsupported("several values are written to one place, in an order that nothing says")
    return lost(cx, made, anything)


@rule("aten.index_put.default", "aten.index_put_.default", "aten._unsafe_index_put.default")
def index_put(
    cx: Context,
    x: Number,
    indices: Sequence[Number | None],
    values: Operand,
    accumulate: bool = False,
    **_: Any,
) -> Number:
    plain_index(*(i for i in indices if i is not None and not i.there))
    where = tuple(slice(None) if i is None else i.v for i in indices)
    values = cx.number(values)
    if any(i is not None and i.is_undecided for i in indices):
        plain_index(*(t for t in (x, values) if not t.is_float))
        met = torch.zeros(x.v.shape, dtype=torch.int32, device=x.v.device)
        found = open_of(indices, met[where].dim())
        assert found is not None
        found = found.int().expand(met[where].shape)
        met = torch.ops.aten.index_put(met, [None if i is None else i.v for i in indices], found, True)
        decided = [None if i is None else Number(i.v) for i in indices]
        return lost(cx, index_put(cx, x, decided, values, accumulate), met > 0)
    if accumulate:
        lay = [None if i is None else i.v for i in indices]
        return _added(cx, x, values, lambda t, s: torch.ops.aten.index_put(t, lay, s, True))

    def put(t: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        t = t.clone()
        t[where] = s.to(t.dtype)
        return t

    def lift(level: int) -> Bound:
        return (
            None
            if x.error(level) is None and values.error(level) is None
            else put(or_zero(x.error(level), x.v.double()), or_zero(values.error(level), values.v.double()))
        )

    runs = moved(put, x, values)
    made = Number(put(x.v, values.v), lift(0), lift(1))
    made.runs = None if runs is None else [runs(i) for i in range(cx.count)]
    places = torch.arange(x.v.numel(), device=x.v.device).reshape(x.v.shape)[where]
    return _settled(cx, made, same(lambda t: t.expand(places.shape), values), places)


def _placed(cx: Context, x: Number, source: Number, put: Put) -> Number:
    """put(target, source) replaces some of the target's elements by source elements."""
    return joined(cx, [x, source], lambda ts: put(ts[0], ts[1].to(ts[0].dtype))) if source.v.numel() else x


def _constant(cx: Context, x: Number, shape: Sequence[int], value: float) -> Number:
    """A constant, rounded to the tensor's format."""
    held = float(torch.tensor(value, dtype=cx.dtype)) if x.is_float else value
    return Number(torch.full(shape, held, dtype=x.v.dtype, device=x.v.device))


def _is_one_number(x: Number) -> bool:
    """True if all elements are the same exact number."""
    return x.b is None and x.v.numel() > 0 and bool((x.v == x.v.reshape(-1)[0]).all())


def _written_or_not(
    cx: Context,
    x: Number,
    dim: int,
    ways: list[torch.Tensor],
    source: Number,
    made: Number,
    reached: torch.Tensor,
) -> Number:
    """The mask of the greatest: a place that ties with the last of them holds the number or keeps its own."""
    value = source.v.reshape(-1)[0].double()
    made.beside = reached & (x.v != value)
    apart = torch.where(reached, distance(x.v, value.expand(x.v.shape)) + or_zero(x.b, x.v), 0.0)
    made.b = apart if made.b is None else made.b + apart
    made.runs = [
        x.run(i).double().scatter(dim, at, value.expand(at.shape)) for i, at in enumerate(ways)
    ] or None
    return made


@rule("aten.scatter.src", "aten.scatter_.src", "aten.scatter.value", "aten.scatter_.value")
def scatter(cx: Context, x: Number, dim: int, index: Number, source: Operand) -> Number:
    if not isinstance(source, Number):
        source = _constant(cx, x, index.v.shape, source)
    source = same(lambda t: t[tuple(slice(n) for n in index.v.shape)], source)
    if index.is_undecided and is_whole_sort(x, dim, index):
        reached, source = None, as_sorted(cx, dim, index, source)
    else:
        reached = _reached(x, dim, index) if index.is_undecided else None
    made = _placed(cx, x, source, lambda t, s: t.scatter(dim, index.v, s))
    if reached is not None and index.ways is not None and x.is_float and _is_one_number(source):
        return _written_or_not(cx, x, dim, index.ways(), source, made, reached)
    if source.open is not None and not source.is_float:
        made.open = torch.zeros_like(made.v).scatter(dim, index.v, source.open)
    made = lost(cx, made, reached)
    return _settled(
        cx, made, source, torch.arange(x.v.numel(), device=x.v.device).reshape(x.v.shape).gather(dim, index.v)
    )


@rule("aten.fill.Scalar", "aten.fill.Tensor")
def fill(cx: Context, x: Number, value: Operand) -> Number:
    if not isinstance(value, Number):
        return _constant(cx, x, x.v.shape, value)
    return same(lambda t: t.expand(x.v.shape).clone(), value)
