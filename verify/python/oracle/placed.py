"""Operations that put elements where their order or an index says: sorting, scattering, writing into places."""
import torch

from .elementwise import div, or_zero, rule
from .number import APART, STABLE, Number, Unsupported, moved, same
from .shape import joined, operator, plain_index


def _order(cx, x, f, dim, ties=APART):
    """(values, indices) of f, which sorts along dim and may keep a part: an element in order is off by the row's greatest error at
    most, and may change places with a neighbour that is within both bounds."""
    if not x.v.dim():
        raise Unsupported(f"{cx.name} of a single number")
    v, at = f(x.v)
    spread = lambda e: None if e is None else e.amax(dim, True).expand(v.shape)
    values = cx.out(v, lambda level: spread(x.error(level)), lambda u: 0, moved(lambda t: f(t)[0], x))
    full, order = torch.sort(x.v, dim, descending=True)
    bound = or_zero(x.b, x.v).gather(dim, order)
    reach = bound.narrow(dim, 1, bound.shape[dim] - 1) + bound.narrow(dim, 0, bound.shape[dim] - 1)
    near = full.diff(dim=dim).abs() <= reach
    if ties == STABLE:
        near &= reach > 0  # equal ones without error keep their order
    edge = torch.zeros_like(near.narrow(dim, 0, 1)) if near.shape[dim] else torch.zeros_like(full, dtype=torch.bool)
    both = torch.cat([edge, near], dim) | torch.cat([near, edge], dim) if near.shape[dim] else edge
    told = torch.zeros_like(both).scatter(dim, order, both)  # by x's own places
    return values, Number(at, names=(x, dim, ties), open=told.gather(dim, at))


@rule("aten.topk.default")
def topk(cx, x, k, dim=-1, largest=True, *_, **__):
    return _order(cx, x, lambda t: torch.topk(t, k, dim, largest), dim)


@rule("aten.sort.default", "aten.sort.stable")
def sort(cx, x, dim=-1, descending=False, stable=None, **named):
    dim, descending = named.get("dim", dim), named.get("descending", descending)
    return _order(cx, x, lambda t: torch.sort(t, dim=dim, descending=descending, stable=True), dim,
                  STABLE if named.get("stable", stable) else APART)


def _added(cx, x, source, put):
    """put(target, source) adds elements of the source to those of the target, n of them at a place."""
    f = lambda t, s: put(t.double(), s.double())
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
    plain_index(index)
    return _added(cx, x, source, lambda t, s: t.scatter_add(dim, index.v, s))


@rule("aten.scatter_reduce.two", "aten.index_reduce.default")
def scatter_reduce(cx, x, dim, index, source, reduce, include_self=True):
    """Sums and means as `_added` has them; a greatest or least one is off by no more than the farthest of those it was chosen from."""
    plain_index(index)
    by_row = "index_reduce" in cx.name
    def put(t, s, how, own=True):
        return t.index_reduce(dim, index.v, s, how, include_self=own) if by_row else t.scatter_reduce(dim, index.v, s, how, include_self=own)
    if reduce in ("amax", "amin"):
        f = lambda t, s: put(t.double(), s.double(), reduce, include_self)
        def propagated(level):
            ex, es = x.error(level), source.error(level)
            if ex is None and es is None:
                return None
            return put(or_zero(ex, x.v.double()), or_zero(es, source.v.double()), "amax", include_self)
        return cx.out(f(x.v, source.v), propagated, lambda u: 0, moved(f, x, source))
    if reduce not in ("sum", "mean"):
        raise Unsupported(f"{cx.name} with {reduce}")
    adds = (lambda t, s: t.index_add(dim, index.v, s)) if by_row else (lambda t, s: t.scatter_add(dim, index.v, s))
    met = adds(torch.zeros_like(x.v.double()), torch.ones_like(source.v.double()))
    kept = x if include_self else same(lambda t: torch.where(met > 0, 0.0, t.double()), x)
    total = _added(cx, kept, source, adds)
    return total if reduce == "sum" else div(cx, total, Number((met + float(include_self)).clamp(min=1)))


@rule("aten.index_add.default", "aten.index_add_.default")
def index_add(cx, x, dim, index, source, alpha=1):
    plain_index(index)
    if alpha != 1:
        raise Unsupported("index_add with a factor")
    return _added(cx, x, source, lambda t, s: t.index_add(dim, index.v, s))


@rule("aten.index_put.default", "aten.index_put_.default", "aten._unsafe_index_put.default")
def index_put(cx, x, indices, values, accumulate=False, **_):
    plain_index(*indices)
    where = tuple(slice(None) if i is None else i.v for i in indices)
    values = cx.number(values)
    if accumulate:
        lay = [None if i is None else i.v for i in indices]
        return _added(cx, x, values, lambda t, s: torch.ops.aten.index_put(t, lay, s, True))
    met = torch.zeros_like(x.v, dtype=torch.float64)
    met = torch.ops.aten.index_put(met, [None if i is None else i.v for i in indices], torch.ones_like(met[where]), True)
    if met.numel() and float(met.max()) > 1:
        raise Unsupported("several values are written to one place, in an order that nothing says")
    def put(t, s):
        t = t.clone()
        t[where] = s.to(t.dtype)
        return t
    lift = lambda level: None if x.error(level) is None and values.error(level) is None else put(
        or_zero(x.error(level), x.v.double()), or_zero(values.error(level), values.v.double()))
    runs = moved(put, x, values)
    made = Number(put(x.v, values.v), lift(0), lift(1))
    made.runs = None if runs is None else [runs(i) for i in range(cx.count)]
    return made


def _placed(cx, x, source, put):
    """put(target, source): elements of the source in the place of some of the target's."""
    return joined(cx, [x, source], lambda ts: put(ts[0], ts[1].to(ts[0].dtype))) if source.v.numel() else x


def _constant(cx, x, shape, value):
    """As the tensor's format has it."""
    held = float(torch.tensor(value, dtype=cx.dtype)) if x.is_float else value
    return Number(torch.full(shape, held, dtype=x.v.dtype, device=x.v.device))


@rule("aten.slice_scatter.default")
def slice_scatter(cx, x, source, *where, **named):
    return _placed(cx, x, source, lambda t, s: torch.slice_scatter(t, s, *where, **named))


@rule("aten.select_scatter.default")
def select_scatter(cx, x, source, dim, index):
    return _placed(cx, x, source, lambda t, s: torch.select_scatter(t, s, dim, index))


@rule("aten.scatter.src", "aten.scatter_.src", "aten.scatter.value", "aten.scatter_.value")
def scatter(cx, x, dim, index, source):
    plain_index(index)
    if not isinstance(source, Number):
        source = _constant(cx, x, index.v.shape, source)
    met = torch.zeros(x.v.shape, device=x.v.device).scatter_add(dim, index.v, torch.ones(index.v.shape, device=x.v.device))
    if met.numel() and float(met.max()) > 1:
        raise Unsupported("several values are written to one place, in an order that nothing says")
    return _placed(cx, x, source, lambda t, s: t.scatter(dim, index.v, s))


@rule("aten.fill.Scalar", "aten.fill.Tensor")
def fill(cx, x, value):
    if not isinstance(value, Number):
        return _constant(cx, x, x.v.shape, value)
    return same(lambda t: t.expand(x.v.shape).clone(), value)


@rule("aten._unique2.default", "aten.unique_dim.default", "aten.unique_consecutive.default")
def distinct(cx, x, *how, **named):
    """Of exact numbers alone: nobody knows which of two computed ones are equal."""
    if x.b is not None or x.is_undecided:
        raise Unsupported(f"{cx.name} of computed numbers")
    values, inverse, counts = operator(cx.name)(x.v, *how, **named)
    return Number(values), Number(inverse), Number(counts)
