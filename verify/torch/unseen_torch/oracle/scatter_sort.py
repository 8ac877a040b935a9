"""Operations that place elements by order or by index: sorting, scattering, writing into places."""

import torch

from .elementwise import div, mul, or_zero, rule
from .number import APART, STABLE, Number, Unsupported, distance, lost, moved, same
from .shape import joined, open_of, operator, plain_index
from .wholes import added_beside, either_way


def _order(cx, x, f, dim, ties=APART):
    """Returns (values, indices) of f, which sorts along dim and may keep a part. A sorted element is off by at most the
    row's greatest error. It may change places with a neighbour that is within both bounds."""
    if not x.v.dim():
        raise Unsupported(f"{cx.name} of a single number")
    v, at = f(x.v)

    def spread(e):
        return None if e is None else e.amax(dim, True).expand(v.shape)

    values = cx.out(v, lambda level: spread(x.error(level)), lambda u: 0, moved(lambda t: f(t)[0], x))
    return values, Number(at, names=(x, dim, ties), open=_exchanged(x, dim, ties).gather(dim, at))


def _steps(ordered, dim):
    """The distance of each element along dim from its predecessor."""
    n = ordered.shape[dim] - 1
    return distance(ordered.narrow(dim, 1, n), ordered.narrow(dim, 0, n))


def _exchanged(x, dim, ties):
    """Mask of the elements of x that may change places with a neighbour in order."""
    full, order = torch.sort(x.v, dim, descending=True)
    bound = or_zero(x.b, x.v).gather(dim, order)
    reach = bound.narrow(dim, 1, bound.shape[dim] - 1) + bound.narrow(dim, 0, bound.shape[dim] - 1)
    near = _steps(full, dim) <= reach
    if ties == STABLE:
        near &= reach > 0  # equal values without error keep their order
    edge = (
        torch.zeros_like(near.narrow(dim, 0, 1))
        if near.shape[dim]
        else torch.zeros_like(full, dtype=torch.bool)
    )
    both = torch.cat([edge, near], dim) | torch.cat([near, edge], dim) if near.shape[dim] else edge
    return torch.zeros_like(both).scatter(dim, order, both)


def _reached(x, dim, index):
    """Mask of the elements of x that an honest implementation may write differently from this evaluation. In a row with
    an ambiguous element, these are all elements. If the index comes from a sort or a top-k of a tensor of the same
    shape, they are only those whose selection is ambiguous."""
    rows = torch.zeros_like(x.v, dtype=torch.bool)
    rows[tuple(slice(None if d == dim % x.v.dim() else n) for d, n in enumerate(index.v.shape))] = (
        index.open.any(dim, True)
    )
    if (
        index.names is None
        or index.names[1] is None
        or index.names[0].v.shape != x.v.shape
        or index.names[1] % x.v.dim() != dim % x.v.dim()
    ):
        return rows
    values = index.names[0]
    bound, picked = or_zero(values.b, values.v), values.v.gather(dim, index.v)
    reach = bound + bound.amax(dim, True)
    inside = (values.v >= picked.amin(dim, True) - reach) & (values.v <= picked.amax(dim, True) + reach)
    return rows & inside & _exchanged(*index.names)


@rule("aten.topk.default")
def topk(cx, x, k, dim=-1, largest=True, *_, **__):
    return _order(cx, x, lambda t: torch.topk(t, k, dim, largest), dim)


@rule("aten.sort.default", "aten.sort.stable")
def sort(cx, x, dim=-1, descending=False, stable=None, **named):
    dim, descending = named.get("dim", dim), named.get("descending", descending)
    return _order(
        cx,
        x,
        lambda t: torch.sort(t, dim=dim, descending=descending, stable=True),
        dim,
        STABLE if named.get("stable", stable) else APART,
    )


def _added(cx, x, source, put):
    """put(target, source) adds source elements to target elements. Each target element gets n of them."""

    def f(t, s):
        return put(t.double(), s.double())

    if source.v.dtype == torch.bool:  # a sum of truth values is whether one of them holds
        plain_index(x, source)
        return Number(f(x.v, source.v) > 0)
    n = put(torch.zeros_like(x.v.double()), torch.ones_like(source.v.double()))
    v = f(x.v, source.v)
    size = f(x.v.abs(), source.v.abs())
    walk = torch.maximum(v.abs(), f(x.v.double() ** 2, source.v.double() ** 2).sqrt())

    def propagated(level):
        ex, es = x.error(level), source.error(level)
        if ex is None and es is None:
            return None
        return f(or_zero(ex, x.v.double()), or_zero(es, source.v.double()))

    return cx.out(v, propagated, lambda u: n * u * size, moved(f, x, source), lambda u: n.sqrt() * u * walk)


@rule("aten.scatter_add.default", "aten.scatter_add_.default")
def scatter_add(cx, x, dim, index, source):
    plain_index(*(t for t in (x, source) if not t.is_float))
    made = _added(cx, x, source, lambda t, s: t.scatter_add(dim, index.v, s))
    if not index.is_undecided:
        return made
    source = same(lambda t: t[tuple(slice(n) for n in index.v.shape)], source)
    beside = added_beside(
        index, source, lambda at, s: torch.zeros_like(made.v).scatter_add(dim, at, s), x.v.shape[dim], made.v
    )
    return lost(cx, made, _reached(x, dim, index)) if beside is None else either_way(cx, made, beside)


def met_by(x, source, dim, index, by_row):
    """The number of source elements for each place."""
    none, ones = torch.zeros_like(x.v.double()), torch.ones_like(source.v.double())
    return (
        none.index_add(dim, index.v, ones)
        if by_row
        else none.scatter_add(
            dim, index.v, torch.ones(index.v.shape, dtype=torch.float64, device=none.device)
        )
    )


def _multiplied(cx, x, source, n, put):
    """put(target, source) multiplies target elements by source elements. Each product has n factors."""

    def f(t, s):
        return put(t.double(), s.double())

    v = f(x.v, source.v)
    if source.v.dtype == torch.bool:  # a product of truth values is whether all of them hold
        plain_index(x, source)
        return Number(v != 0)

    def propagated(level):
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
def scatter_reduce(cx, x, dim, index, source, reduce, include_self=True):
    """Sums and means follow `_added`. A maximum or minimum is off by at most the greatest error of the elements that it
    is chosen from."""
    plain_index(index)
    by_row = "index_reduce" in cx.name

    def put(t, s, how, own=True):
        return (
            t.index_reduce(dim, index.v, s, how, include_self=own)
            if by_row
            else t.scatter_reduce(dim, index.v, s, how, include_self=own)
        )

    if reduce in ("amax", "amin"):

        def f(t, s):
            return put(t.double(), s.double(), reduce, include_self)

        def propagated(level):
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
    adds = (
        (lambda t, s: t.index_add(dim, index.v, s))
        if by_row
        else (lambda t, s: t.scatter_add(dim, index.v, s))
    )
    met = adds(torch.zeros_like(x.v.double()), torch.ones_like(source.v.double()))
    kept = x if include_self else same(lambda t: torch.where(met > 0, 0.0, t.double()), x)
    total = _added(cx, kept, source, adds)
    return total if reduce == "sum" else div(cx, total, Number((met + float(include_self)).clamp(min=1)))


@rule("aten.scatter.reduce", "aten.scatter.value_reduce")
def scatter_with(cx, x, dim, at, source, *, reduce):
    """The older form of scatter_reduce. A number takes the tensor's type first."""
    if not isinstance(source, Number):
        source = _constant(cx, x, at.v.shape, source)
    source = same(lambda t: t[tuple(slice(n) for n in at.v.shape)], source)
    return scatter_reduce(cx, x, dim, at, source, {"add": "sum", "multiply": "prod"}[reduce])


@rule("aten.index_add.default", "aten.index_add_.default")
def index_add(cx, x, dim, index, source, alpha=1):
    plain_index(
        *([] if index.there or index.sides is not None else [index]),
        *(t for t in (x, source) if not t.is_float),
    )
    source = source if alpha == 1 else mul(cx, source, alpha)
    made = _added(cx, x, source, lambda t, s: t.index_add(dim, index.v, s))
    if not index.is_undecided:
        return made
    if index.sides is not None:

        def along(at):
            return at.reshape([-1 if d == dim % x.v.dim() else 1 for d in range(x.v.dim())]).expand(
                source.v.shape
            )

        wide = Number(along(index.v), open=along(index.open))
        wide.sides = tuple(along(t) for t in index.sides)
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


def _settled(cx, made, source, places):
    """`made`, after elements of `source` were written to flat `places` of the same shape. Several writes to one place
    have no defined order. If they all write the same exact value, the place has that value. Otherwise it may be
    anything, such as a slot for dropped elements."""
    places = places.reshape(-1)

    def flat(t):
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
def index_put(cx, x, indices, values, accumulate=False, **_):
    plain_index(*(i for i in indices if i is not None and not i.there))
    where = tuple(slice(None) if i is None else i.v for i in indices)
    values = cx.number(values)
    if any(i is not None and i.is_undecided for i in indices):
        plain_index(*(t for t in (x, values) if not t.is_float))
        met = torch.zeros(x.v.shape, dtype=torch.int32, device=x.v.device)
        found = open_of(indices, met[where].dim()).int().expand(met[where].shape)
        met = torch.ops.aten.index_put(met, [None if i is None else i.v for i in indices], found, True)
        decided = [None if i is None else Number(i.v) for i in indices]
        return lost(cx, index_put(cx, x, decided, values, accumulate), met > 0)
    if accumulate:
        lay = [None if i is None else i.v for i in indices]
        return _added(cx, x, values, lambda t, s: torch.ops.aten.index_put(t, lay, s, True))

    def put(t, s):
        t = t.clone()
        t[where] = s.to(t.dtype)
        return t

    def lift(level):
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


def _placed(cx, x, source, put):
    """put(target, source) replaces some of the target's elements by source elements."""
    return joined(cx, [x, source], lambda ts: put(ts[0], ts[1].to(ts[0].dtype))) if source.v.numel() else x


def _constant(cx, x, shape, value):
    """A constant, rounded to the tensor's format."""
    held = float(torch.tensor(value, dtype=cx.dtype)) if x.is_float else value
    return Number(torch.full(shape, held, dtype=x.v.dtype, device=x.v.device))


def _is_whole_sort(x, dim, index):
    """True if the index is the complete sort order of a tensor of that shape, along that dimension."""
    if (
        index.names is None
        or index.names[1] is None
        or not index.v.shape == x.v.shape == index.names[0].v.shape
    ):
        return False
    return dim % x.v.dim() == index.names[1] % x.v.dim()


def _as_sorted(cx, dim, index, source):
    """`source` in a sort order whose neighbours may have changed places. Within a group of such neighbours, each
    element may be any of the group's. A mask that is equal throughout a group stays exact."""
    n, x = index.v.shape[dim], index.names[0]
    bound = or_zero(x.b, x.v).gather(dim, index.v)
    starts = _steps(x.v.gather(dim, index.v), dim) > bound.narrow(dim, 1, n - 1) + bound.narrow(dim, 0, n - 1)
    # each element's group of neighbours
    row = torch.cat([torch.zeros_like(index.v.narrow(dim, 0, 1)), starts.cumsum(dim)], dim)

    def of_row(t, how):
        return torch.zeros_like(t).scatter_reduce(dim, row, t, how, include_self=False).gather(dim, row)

    values = source.v.double()
    spread = of_row(values, "amax") - of_row(values, "amin")
    if source.is_float:

        def reach(level):
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


@rule("aten.scatter.src", "aten.scatter_.src", "aten.scatter.value", "aten.scatter_.value")
def scatter(cx, x, dim, index, source):
    if not isinstance(source, Number):
        source = _constant(cx, x, index.v.shape, source)
    source = same(lambda t: t[tuple(slice(n) for n in index.v.shape)], source)
    if index.is_undecided and _is_whole_sort(x, dim, index):
        reached, source = None, _as_sorted(cx, dim, index, source)
    else:
        reached = _reached(x, dim, index) if index.is_undecided else None
    made = _placed(cx, x, source, lambda t, s: t.scatter(dim, index.v, s))
    if source.open is not None and not source.is_float:
        made.open = torch.zeros_like(made.v).scatter(dim, index.v, source.open)
    made = lost(cx, made, reached)
    return _settled(
        cx, made, source, torch.arange(x.v.numel(), device=x.v.device).reshape(x.v.shape).gather(dim, index.v)
    )


@rule("aten.fill.Scalar", "aten.fill.Tensor")
def fill(cx, x, value):
    if not isinstance(value, Number):
        return _constant(cx, x, x.v.shape, value)
    return same(lambda t: t.expand(x.v.shape).clone(), value)


@rule("aten._unique2.default", "aten.unique_dim.default", "aten.unique_consecutive.default")
def distinct(cx, x, *how, **named):
    """Distinct values, for exact numbers only: whether two computed numbers are equal cannot be determined."""
    if x.b is not None or x.is_undecided:
        raise Unsupported(f"{cx.name} of computed numbers")
    values, inverse, counts = operator(cx.name)(x.v, *how, **named)
    return Number(values), Number(inverse), Number(counts)
