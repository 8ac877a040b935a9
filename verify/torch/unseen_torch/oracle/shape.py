"""Rules of operations without arithmetic: moving, selecting and comparing elements, constants, casts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .bounds import Bound, Function
from .discontinuous import step
from .elementwise import RULES, rule
from .number import (
    EIGHT_BITS,
    UNIT,
    Context,
    Number,
    Unsupported,
    add_bounds,
    distance,
    in_eight_bits,
    of_mask,
    perturbed,
    same,
    sides_of,
)
from .wholes import picked

MOVES = """view _unsafe_view t transpose.int permute expand unsqueeze squeeze.dim squeeze squeeze.dims select.int
slice.Tensor clone alias detach flip unfold triu tril lift_fresh_copy lift_fresh contiguous repeat roll diagonal reshape
narrow movedim.int unbind.int split.Tensor split_with_sizes unsafe_split.Tensor unsafe_split_with_sizes chunk
view_copy pixel_shuffle pixel_unshuffle
channel_shuffle diag_embed""".split()


def operator(name: str) -> Any:
    namespace, packet, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload)


def move(cx: Context, x: Any, *args: Any, **named: Any) -> Any:
    op: Function = operator(cx.name)
    if op in (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default):
        op = torch.reshape  # the memory layout may differ here
    plain = [a.v.item() if isinstance(a, Number) else a for a in args]

    def f(t: torch.Tensor) -> torch.Tensor:
        return op(t, *plain, **named)

    if not isinstance(x, Number):
        return x
    made = f(x.v)
    if isinstance(made, torch.Tensor):
        return same(f, x)
    return [same(lambda t: f(t)[k], x) for k in range(len(made))]


for name in MOVES:
    RULES["aten." + (name if "." in name else name + ".default")] = move


def joined(
    cx: Context, operands: Sequence[Number], f: Callable[[list[torch.Tensor]], torch.Tensor]
) -> Number:
    """cat, stack. If only some operands have errors, the others get zeros."""
    operands = [o for o in operands if o.v.numel() or o.v.dim() > 1 or len(operands) == 1]

    def of(get: Callable[[Number], Bound]) -> Bound:
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
def cat(cx: Context, operands: Sequence[Number], dim: int = 0) -> Number:
    return joined(cx, operands, lambda ts: torch.cat(ts, dim))


@rule("aten.stack.default")
def stack(cx: Context, operands: Sequence[Number], dim: int = 0) -> Number:
    return joined(cx, operands, lambda ts: torch.stack(ts, dim))


def plain_index(*indices: Number | None) -> None:
    for i in indices:
        if i is not None and i.open is not None and bool(i.open.any()):
            raise Unsupported("values picked by an index that an honest implementation may decide either way")


# An element picked by an ambiguous index may be anything.


@rule("aten.gather.default")
def gather(cx: Context, x: Number, dim: int, index: Number, **_: Any) -> Number:
    return picked(
        cx, x, [index], lambda t, i: t.gather(dim, i[0]), [x.v.shape[dim] if x.v.dim() else 1], index.open
    )


@rule("aten.index_select.default")
def index_select(cx: Context, x: Number, dim: int, index: Number) -> Number:
    shape = [1] * x.v.dim()
    if x.v.dim():
        shape[dim] = -1
    open_ = None if index.open is None else index.open.reshape(shape)
    return picked(
        cx, x, [index], lambda t, i: t.index_select(dim, i[0]), [x.v.shape[dim] if x.v.dim() else 1], open_
    )


@rule("aten.embedding.default")
def embedding(cx: Context, table: Number, index: Number, *_: Any) -> Number:
    open_ = None if index.open is None else index.open.unsqueeze(-1)
    return picked(cx, table, [index], lambda t, i: t[i[0]], [table.v.shape[0]], open_)


@rule("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(cx: Context, x: Number, indices: Sequence[Number | None]) -> Number:
    places = [d for d, i in enumerate(indices) if i is not None]

    def pick(t: torch.Tensor, values: Sequence[torch.Tensor]) -> torch.Tensor:
        at = dict(zip(places, values))
        return t[tuple(at.get(d, slice(None)) for d in range(len(indices)))]

    given = [i for i in indices if i is not None]
    open_ = open_of(indices, pick(x.v, [i.v for i in given]).dim())
    return picked(cx, x, given, pick, [x.v.shape[d] for d in places], open_)


def open_of(indices: Sequence[Number | None], dims: int) -> Bound:
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
    open_: torch.Tensor = functools.reduce(torch.logical_or, torch.broadcast_tensors(*told))
    places = [d for d, _ in given]
    # separated index dimensions come first in the result
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    return open_.reshape(*open_.shape, *[1] * (dims - first - open_.dim()))


@rule("aten.constant_pad_nd.default")
def pad(cx: Context, x: Number, widths: Sequence[int], value: float = 0) -> Number:
    def grow(t: torch.Tensor, c: float) -> torch.Tensor:
        return torch.nn.functional.pad(t, widths, value=c)

    def lift(t: Bound, fill: float = 0.0) -> Bound:
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
        sides_of(lambda t: grow(t, value), x),
    )
    return made


@rule("aten._to_copy.default", "aten.to.dtype", "prims.convert_element_type.default")
def cast(cx: Context, x: Number, *args: Any, **named: Any) -> Number:
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


FACTORIES = """zeros ones full arange.start arange.start_step arange zeros_like ones_like full_like scalar_tensor
linspace range range.step empty.memory_format empty_like new_empty new_zeros new_ones new_full tril_indices
triu_indices eye""".split()


def factory(cx: Context, *args: Any, **named: Any) -> Number:
    op = operator(cx.name)
    if "device" in named:
        named["device"] = cx.device
    plain = [a.v if isinstance(a, Number) else a for a in args]
    blank = cx.name.startswith(("aten.empty", "aten.new_empty"))
    if "dtype" in named or blank:
        named["dtype"] = cx.dtype
    named.pop("pin_memory", None)
    made: torch.Tensor = op(*plain, **named)
    if blank:
        made = torch.zeros_like(made)
    made = made.to(cx.device)
    v = made.double() if made.is_floating_point() else made
    if ("range" in cx.name or "linspace" in cx.name) and made.is_floating_point():
        # steps such as 0.1 are rounded, and libraries add or multiply them
        named["dtype"] = torch.float64
        wide: torch.Tensor = op(*plain, **named).to(cx.device)
        if not torch.equal(v, wide):
            most = wide.abs().max() if wide[0] != 0 else 0
            return of_no_operand(cx, wide, 2 * torch.maximum(wide.abs(), 0 * wide + most))
    return Number(v, whole=made.is_floating_point() and bool((v == v.round()).all()))


def of_no_operand(cx: Context, v: torch.Tensor, units: torch.Tensor) -> Number:
    """Numbers that follow from extents alone, with their error in units."""
    own = cx.dtype if cx.dtype.is_floating_point else torch.float32
    made = cx.out(v, lambda level: None, lambda u: u * units)
    return cx.permitted(made, own) if UNIT.get(own, 0.0) > UNIT[torch.float32] else made


for name in FACTORIES:
    RULES["aten." + (name if "." in name else name + ".default")] = factory


@rule("aten.copy_.default", "aten.copy.default")
def copy(cx: Context, target: Number, source: Number, *_: Any) -> Number:
    return same(lambda t: t.expand(target.v.shape), source)


def no_numbers(cx: Context, *operands: Number) -> None:
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
def logic(cx: Context, a: Number, b: Number) -> Number:
    """A result is ambiguous if another value of an ambiguous operand changes it."""
    no_numbers(cx, a, b)
    f = getattr(torch, cx.name.split(".")[1])
    v = f(a.v, b.v)
    if a.open is None and b.open is None:
        return Number(v)

    def other(t: Number) -> torch.Tensor:
        return t.v if t.open is None else t.v ^ t.open

    runs = [f(a.run(i), b.run(i)) for i in range(cx.count)] if perturbed(a, b) else None
    return Number(
        v, open=(f(other(a), b.v) != v) | (f(a.v, other(b)) != v) | (f(other(a), other(b)) != v), runs=runs
    )


@rule("aten.bitwise_not.default", "aten.logical_not.default")
def logic_not(cx: Context, x: Number) -> Number:
    no_numbers(cx, x)
    f = getattr(torch, cx.name.split(".")[1])
    return Number(f(x.v), open=x.open, runs=None if x.runs is None else [f(t) for t in x.runs])


@rule(
    "aten.any.default", "aten.any.dim", "aten.any.dims", "aten.all.default", "aten.all.dim", "aten.all.dims"
)
def any_all(cx: Context, x: Number, *how: Any, **named: Any) -> Number:
    """A result is ambiguous if it depends on an ambiguous element."""

    op: Function = operator(cx.name)

    def f(t: torch.Tensor) -> torch.Tensor:
        return op(t, *how, **named)

    if x.is_float or x.open is None or not x.is_undecided or x.v.dtype != torch.bool:
        if x.is_float and x.b is not None:
            raise Unsupported(f"{cx.name} of computed numbers")
        return Number(f(x.v))
    least, most = f(x.v & ~x.open), f(x.v | x.open)
    return Number(f(x.v), open=least != most)


@rule("aten._local_scalar_dense.default")
def item(cx: Context, x: Number) -> Any:
    if x.b is not None or x.is_undecided:
        raise Unsupported("a computed number read by Python")
    return x.v.item()


@rule("aten.equal.default")
def equal(cx: Context, a: Number, b: Number) -> bool:
    if a.v.shape != b.v.shape:
        return False
    gap, reach = distance(a.v, b.v), add_bounds(a.b, b.b)
    if bool((gap > (0.0 if reach is None else reach)).any()):
        return False
    if reach is not None or a.is_undecided or b.is_undecided:
        raise Unsupported("computed numbers that Python asks whether they are equal")
    return True
