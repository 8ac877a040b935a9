"""Rules of operations without arithmetic: moving, selecting and comparing elements, constants, casts."""

import functools

import torch

from . import exponents
from .discontinuous import step
from .elementwise import RULES, or_zero, rule
from .number import (
    CALIBRATED,
    EIGHT_BITS,
    FEW,
    U32,
    UNIT,
    Number,
    Unsupported,
    add_bounds,
    distance,
    in_eight_bits,
    is_exact,
    lost,
    of_mask,
    perturbed,
    same,
)
from .wholes import as_index, picked

MOVES = """view _unsafe_view t transpose.int permute expand unsqueeze squeeze.dim squeeze squeeze.dims select.int
slice.Tensor clone alias detach flip unfold triu tril lift_fresh_copy lift_fresh contiguous repeat roll diagonal reshape
narrow movedim.int unbind.int split.Tensor split_with_sizes unsafe_split.Tensor unsafe_split_with_sizes chunk
view_copy pixel_shuffle pixel_unshuffle
channel_shuffle diag_embed""".split()


def operator(name):
    namespace, packet, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload)


def move(cx, x, *args, **named):
    op = operator(cx.name)
    if op in (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default):
        op = torch.reshape  # the memory layout may differ here
    args = [a.v.item() if isinstance(a, Number) else a for a in args]

    def f(t):
        return op(t, *args, **named)

    if not isinstance(x, Number):
        return x
    made = f(x.v)
    if isinstance(made, torch.Tensor):
        return same(f, x)
    return [same(lambda t, k=k: f(t)[k], x) for k in range(len(made))]


for name in MOVES:
    RULES["aten." + (name if "." in name else name + ".default")] = move


def joined(cx, operands, f):
    """cat, stack. If only some operands have errors, the others get zeros."""
    operands = [o for o in operands if o.v.numel() or o.v.dim() > 1 or len(operands) == 1]

    def of(get):
        parts = [get(o) for o in operands]
        if all(p is None for p in parts):
            return None
        return f(
            [torch.zeros_like(o.v, dtype=torch.float64) if p is None else p for o, p in zip(operands, parts)]
        )

    runs = None
    if any(o.runs is not None for o in operands):
        runs = [f([o.run(i) for o in operands]) for i in range(cx.count)]
    made = Number(
        f([o.v for o in operands]),
        of(lambda o: o.r),
        of(lambda o: o.b),
        runs,
        whole=all(o.whole for o in operands),
    )
    for name in ("beside",) if made.is_float else ("beside", "open"):
        parts = [getattr(o, name) for o in operands]
        if any(p is not None for p in parts):
            setattr(
                made,
                name,
                f(
                    [
                        torch.zeros_like(o.v, dtype=torch.bool) if p is None else p.expand(o.v.shape)
                        for o, p in zip(operands, parts)
                    ]
                ),
            )
    return made


@rule("aten.cat.default")
def cat(cx, operands, dim=0):
    return joined(cx, operands, lambda ts: torch.cat(ts, dim))


@rule("aten.stack.default")
def stack(cx, operands, dim=0):
    return joined(cx, operands, lambda ts: torch.stack(ts, dim))


def plain_index(*indices):
    for i in indices:
        if i is not None and i.open is not None and bool(i.open.any()):
            raise Unsupported("values picked by an index that an honest implementation may decide either way")


# An element picked by an ambiguous index may be anything.


@rule("aten.gather.default")
def gather(cx, x, dim, index, **_):
    return picked(
        cx, x, [index], lambda t, i: t.gather(dim, i[0]), [x.v.shape[dim] if x.v.dim() else 1], index.open
    )


@rule("aten.index_select.default")
def index_select(cx, x, dim, index):
    shape = [1] * x.v.dim()
    if x.v.dim():
        shape[dim] = -1
    open_ = None if index.open is None else index.open.reshape(shape)
    return picked(
        cx, x, [index], lambda t, i: t.index_select(dim, i[0]), [x.v.shape[dim] if x.v.dim() else 1], open_
    )


@rule("aten.embedding.default")
def embedding(cx, table, index, *_):
    open_ = None if index.open is None else index.open.unsqueeze(-1)
    return picked(cx, table, [index], lambda t, i: t[i[0]], [table.v.shape[0]], open_)


@rule("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(cx, x, indices):
    places = [d for d, i in enumerate(indices) if i is not None]

    def pick(t, values):
        at = dict(zip(places, values))
        return t[tuple(at.get(d, slice(None)) for d in range(len(indices)))]

    given = [indices[d] for d in places]
    open_ = open_of(indices, pick(x.v, [i.v for i in given]).dim())
    return picked(cx, x, given, pick, [x.v.shape[d] for d in places], open_)


def open_of(indices, dims):
    """Mask of the ambiguous elements of t[indices], which has `dims` dimensions. None: there are none. An ambiguous
    mask changes the number of picked elements, and is refused."""
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if not any(i.is_undecided for _, i in given):
        return None
    plain_index(*[i for _, i in given if i.v.dtype == torch.bool])
    if any(i.v.dtype == torch.bool for _, i in given):
        raise Unsupported(
            "values picked by a mask and by an index that an honest implementation may decide either way"
        )
    told = [torch.zeros_like(i.v, dtype=torch.bool) if i.open is None else i.open for _, i in given]
    open_ = functools.reduce(torch.logical_or, torch.broadcast_tensors(*told))
    places = [d for d, _ in given]
    # separated index dimensions come first in the result
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    return open_.reshape(*open_.shape, *[1] * (dims - first - open_.dim()))


@rule("aten.constant_pad_nd.default")
def pad(cx, x, widths, value=0):
    def grow(t, c):
        return torch.nn.functional.pad(t, widths, value=c)

    def lift(t, fill=0.0):
        return None if t is None else grow(t, fill)

    made = Number(
        grow(x.v, value),
        lift(x.r),
        lift(x.b),
        None if x.runs is None else [grow(t, value) for t in x.runs],
        lift(x.open, False),
        whole=x.whole and float(value).is_integer(),
    )
    made.beside, made.sides = (
        lift(x.beside, False),
        None if x.sides is None else tuple(grow(t, value) for t in x.sides),
    )
    return made


def choose(cx, condition, a, b):
    """where(condition, a, b). If the condition is ambiguous, either value is right."""
    a, b = cx.number(a), cx.number(b)
    float_ = a.is_float or b.is_float
    if (
        not float_
        and condition.is_undecided
        and not (a.is_undecided or b.is_undecided)
        and a.v.dtype != torch.bool
    ):
        # The result is a computed whole number (wholes.py).
        a, b, float_ = Number(a.v.double(), whole=True), Number(b.v.double(), whole=True), True
    if (
        float_
        and not cx.dtype.is_floating_point
        and any(x.is_undecided and x.v.dtype != torch.bool for x in (a, b))
    ):
        a, b = (as_index(cx, x, cx.dtype) if x.is_float else x for x in (a, b))
        float_ = False
    if float_:
        a, b = (of_mask(x) if x.is_undecided else x for x in (a, b))
    cast = (lambda t: t.double()) if float_ else (lambda t: t)

    def f(c, x, y):
        return torch.where(c, cast(x), cast(y))

    v = f(condition.v, a.v, b.v)
    if not float_:
        return lost(cx, Number(v), either(condition, a, b))

    def bound(level):
        ea, eb = a.error(level), b.error(level)
        e = (
            None
            if ea is None and eb is None
            else torch.where(condition.v, or_zero(ea, a.v), or_zero(eb, b.v))
        )
        if condition.open is not None and bool(condition.open.any()):
            both = distance(a.v, b.v) + or_zero(ea, a.v) + or_zero(eb, b.v)
            e = torch.where(condition.open, both, 0.0 if e is None else e)
        return e

    runs = None
    if any(x.runs is not None for x in (condition, a, b)):
        runs = [f(condition.run(i), a.run(i), b.run(i)) for i in range(cx.count)]
    made = Number(v, bound(0), bound(1), runs, open=either(condition, a, b), whole=a.whole and b.whole)
    made.beside, made.sides = condition.open, sides_of(condition, a, b) if made.whole else None
    return exponents.chosen(made, a, b)


def sides_of(condition, a, b):
    """The least and the greatest value that may be chosen."""
    if condition.open is None and a.sides is None and b.sides is None:
        return None
    found = []
    for place, either_of in ((0, torch.minimum), (1, torch.maximum)):
        first, second = (x.v.double() if x.sides is None else x.sides[place].double() for x in (a, b))
        chosen = torch.where(condition.v, first, second)
        found.append(
            chosen
            if condition.open is None
            else torch.where(condition.open, either_of(first, second), chosen)
        )
    return tuple(found)


def either(condition, a, b):
    """Mask of the elements whose choice between floats is ambiguous, or whose chosen value depends on an ambiguous one.
    None: there are none."""
    open_ = None
    if a.open is not None or b.open is not None:
        no = torch.zeros((), dtype=torch.bool, device=condition.v.device)
        open_ = torch.where(condition.v, no if a.open is None else a.open, no if b.open is None else b.open)
    if condition.open is not None and bool(condition.open.any()):
        differ = condition.open & (a.v != b.v)
        open_ = differ if open_ is None else open_ | differ
    return open_


@rule("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def where(cx, condition, a, b):
    return choose(cx, condition, a, b)


@rule("aten.masked_fill.Scalar", "aten.masked_fill.Tensor", "aten.masked_fill_.Scalar")
def masked_fill(cx, x, mask, value):
    return choose(cx, mask, value, x)


COMPARE = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}


def compare(cx, a, b):
    if a is b:  # x != x tests for NaN, whatever the error of x
        return Number(COMPARE[cx.name.split(".")[1]](a.v, a.v))
    a, b = cx.number(a), cx.number(b)
    f = COMPARE[cx.name.split(".")[1]]
    reach = None
    for x in (a, b):
        if x.is_float and x.b is not None:
            reach = x.b if reach is None else reach + x.b
    if cx.name.endswith("Scalar") and a.b is None:
        reach = None
    v, gap = f(a.v, b.v), distance(a.v, b.v)
    near = None if reach is None else (gap <= reach) & (reach > 0)
    runs = decided(
        cx, f, a, b, v, gap, near if near is not None and int(near.sum()) * FEW <= near.numel() else False
    )
    held = by_type(cx, f, a, b, v)
    if held is not None:
        near = held if near is None else near | held
        runs = [
            torch.where(held, ~v if i % 2 else v, v if runs is None else runs[i]) for i in range(cx.count)
        ] or None
    for x in (a, b):  # the index itself may be ambiguous
        if x.is_undecided:
            near = (x.open if near is None else near | x.open).expand(v.shape)
            runs = [
                torch.where(near, ~v if i % 2 else v, v if runs is None else runs[i]) for i in range(cx.count)
            ] or None
    return Number(v, open=near, runs=runs)


def by_type(cx, f, a, b, v):
    """Mask of comparisons with a number of the code that depend on the type that holds it: the tensor's, fp32 or fp64.
    None: there are none."""
    if not cx.name.endswith("Scalar") or not a.is_float or not b.is_float:
        return None
    own = cx.laid.dtype if cx.laid is not None else torch.float32
    others = (f(a.v, b.v.to(own).double()) != v) | (f(a.v, b.v.float().double()) != v)
    return others if bool(others.any()) else None


def decided(cx, f, a, b, v, gap, few):
    """The decisions of the runs. Where both decisions are honest, every other run takes the opposite of the value.
    `few` is the mask of elements with ambiguous bounds, or False if there are many."""
    if (a.runs is None and b.runs is None) or not cx.count:
        return None
    # The runs of whole numbers are already on either side of a jump.
    if a.whole and b.whole:
        return [f(a.run(i), b.run(i)) for i in range(cx.count)]
    off = torch.stack([a.run(i) - b.run(i) - (a.v - b.v) for i in range(cx.count)])
    # A mask's infinities say nothing about the spread of the runs.
    square = off.where(off.isfinite(), 0.0).square().mean(0)
    near = ((gap <= CALIBRATED * torch.maximum(square.sqrt(), square.mean().sqrt())) | few) & ~(
        is_exact(a) & is_exact(b)
    )
    return [torch.where(near, ~v if i % 2 else v, f(a.run(i), b.run(i))) for i in range(cx.count)]


for name in COMPARE:
    RULES[f"aten.{name}.Scalar"] = RULES[f"aten.{name}.Tensor"] = compare


@rule("aten._to_copy.default", "aten.to.dtype", "prims.convert_element_type.default")
def cast(cx, x, *args, **named):
    """A down-cast is the identity, plus a rounding that an implementation may perform or skip."""
    if cx.dtype in UNIT:
        if not x.is_float:
            return Number(x.v.double(), whole=True)
        return cx.out(x.v, lambda level: x.error(level), lambda u: 0, None if x.runs is None else x.run)
    if x.is_float and cx.dtype in EIGHT_BITS:
        return step(cx, x, lambda t: in_eight_bits(t, cx.dtype), whole=False)
    if x.is_float and cx.dtype != torch.bool:
        # A value that depends on sizes alone (the places of an interpolation) is the module's own. The comparison with
        # the module's answer covers it.
        if x.b is not None and not cx.fixed and not bool(((x.v - x.b).trunc() == (x.v + x.b).trunc()).all()):
            return x if x.whole else step(cx, x, torch.trunc)
        return Number(x.v.to(cx.dtype))
    if cx.dtype in EIGHT_BITS:
        return Number(in_eight_bits(x.v.double(), cx.dtype))
    if x.v.dtype == torch.bool and x.is_undecided and cx.dtype != torch.bool:
        return of_mask(x)
    return Number(x.v.to(cx.dtype), open=x.open, names=None if cx.dtype == torch.bool else x.names)


FACTORIES = """zeros ones full arange.start arange.start_step arange zeros_like ones_like full_like scalar_tensor linspace
empty.memory_format empty_like new_empty new_zeros new_ones new_full tril_indices triu_indices eye""".split()


def factory(cx, *args, **named):
    op = operator(cx.name)
    if "device" in named:
        named["device"] = cx.device
    args = [a.v if isinstance(a, Number) else a for a in args]
    blank = cx.name.startswith(("aten.empty", "aten.new_empty"))
    if "dtype" in named or blank:
        named["dtype"] = cx.dtype
    named.pop("pin_memory", None)
    made = op(*args, **named)
    if blank:
        made = torch.zeros_like(made)
    made = made.to(cx.device)
    computed = cx.name == "aten.linspace.default"
    v = made.double() if made.is_floating_point() else made
    return Number(
        v,
        whole=not computed and made.is_floating_point() and bool((v == v.round()).all()),
        b=2 * U32 * v.abs() if computed else None,
    )


for name in FACTORIES:
    RULES["aten." + (name if "." in name else name + ".default")] = factory


@rule("aten.copy_.default", "aten.copy.default")
def copy(cx, target, source, *_):
    return same(lambda t: t.expand(target.v.shape), source)


def no_numbers(cx, *operands):
    """Refuses operands that are not exact. Masks may have ambiguous elements."""
    if any(x.is_float or (x.open is not None and x.v.dtype != torch.bool) for x in operands):
        raise Unsupported(f"no rule for {cx.name} of numbers that are not exact")


@rule(
    *[
        f"aten.{name}"
        for kind in ("and", "or", "xor")
        for name in (f"bitwise_{kind}.Tensor", f"logical_{kind}.default")
    ]
)
def logic(cx, a, b):
    """A result is ambiguous if another value of an ambiguous operand changes it."""
    no_numbers(cx, a, b)
    f = getattr(torch, cx.name.split(".")[1])
    v = f(a.v, b.v)
    if a.open is None and b.open is None:
        return Number(v)

    def other(t):
        return t.v if t.open is None else t.v ^ t.open

    runs = [f(a.run(i), b.run(i)) for i in range(cx.count)] if perturbed(a, b) else None
    return Number(
        v, open=(f(other(a), b.v) != v) | (f(a.v, other(b)) != v) | (f(other(a), other(b)) != v), runs=runs
    )


@rule("aten.bitwise_not.default", "aten.logical_not.default")
def logic_not(cx, x):
    no_numbers(cx, x)
    f = getattr(torch, cx.name.split(".")[1])
    return Number(f(x.v), open=x.open, runs=None if x.runs is None else [f(t) for t in x.runs])


@rule(
    "aten.any.default", "aten.any.dim", "aten.any.dims", "aten.all.default", "aten.all.dim", "aten.all.dims"
)
def any_all(cx, x, *how, **named):
    """A result is ambiguous if it depends on an ambiguous element."""

    def f(t):
        return operator(cx.name)(t, *how, **named)

    if x.is_float or not x.is_undecided or x.v.dtype != torch.bool:
        if x.is_float and x.b is not None:
            raise Unsupported(f"{cx.name} of computed numbers")
        return Number(f(x.v))
    least, most = f(x.v & ~x.open), f(x.v | x.open)
    return Number(f(x.v), open=least != most)


@rule("aten._local_scalar_dense.default")
def item(cx, x):
    if x.b is not None or x.is_undecided:
        raise Unsupported("a computed number read by Python")
    return x.v.item()


@rule("aten.equal.default")
def equal(cx, a, b):
    if a.v.shape != b.v.shape:
        return False
    gap, reach = distance(a.v, b.v), add_bounds(a.b, b.b)
    if bool((gap > (0.0 if reach is None else reach)).any()):
        return False
    if reach is not None or a.is_undecided or b.is_undecided:
        raise Unsupported("computed numbers that Python asks whether they are equal")
    return True
