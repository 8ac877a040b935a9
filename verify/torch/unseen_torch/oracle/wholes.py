"""Computed whole numbers: quantized values, bins, counts of a comparison's results.

Beside a jump, an honest implementation may get the next whole number. A whole number with such elements is held in
fp64, with a bound and runs like any `Number`, as long as arithmetic uses it. As an index or for bit operations, it
becomes an integer (`as_index`). Its elements beside a jump are then open, and `sides` has the least and the greatest
possible value of each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import ties
from .bounds import Bound
from .number import Context, Number, distance, lost, same

# Operations that do arithmetic with whole numbers. All others use them as indices or bits.
COMPUTED = frozenset(
    """add sub rsub mul neg abs div maximum minimum clamp clamp_min clamp_max where masked_fill eq ne lt le gt ge _to_copy cat stack
sum mean mm bmm mv dot addmm matmul amax amin max min cumsum pow sqrt rsqrt reciprocal exp log sign round floor ceil trunc relu
view _unsafe_view t transpose permute expand unsqueeze squeeze select slice clone alias detach flip repeat roll reshape split
split_with_sizes unbind copy_ zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty""".split()
)
# Element-wise operations on whole numbers: the result may be anything where an operand is open.
BY_ELEMENT = frozenset(
    """add sub rsub mul neg abs maximum minimum clamp bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift
bitwise_right_shift __lshift__ __rshift__ __and__ __or__ __xor__ remainder fmod floor_divide div pow""".split()
)
# Positions of the operands that an operation moves. Its other operands are indices.
MOVED = {
    "gather": (0,),
    "index": (0,),
    "index_select": (0,),
    "embedding": (0,),
    "index_put": (0, 2),
    "sort": (0,),
    "topk": (0,),
}
COUNTING = ("sum", "cumsum")  # these operations count a mask's elements
FEW_SIDES = 32  # most values of an open index, and most combinations of several
FAR = 2.0**31


def is_computed(x: Any, dtype: torch.dtype) -> bool:
    """True if x has a whole declared type, and is held in fp64 with a bound."""
    return (
        isinstance(x, Number)
        and x.is_float
        and not dtype.is_floating_point
        and not dtype.is_complex
        and dtype != torch.bool
    )


def within_type(cx: Context, x: Number, dtype: torch.dtype) -> Number:
    """x with the elements beyond its type's range marked as lost. An honest implementation wraps or saturates there."""
    limits = torch.iinfo(dtype)
    low, high = (x.v, x.v) if x.sides is None else x.sides
    return lost(cx, x, (low < limits.min) | (high > limits.max))


def as_index(cx: Context, x: Number, dtype: torch.dtype) -> Number:
    """x as whole numbers of `dtype`. Elements that may have another value are open."""
    v, reach = (
        x.v.round().to(dtype),
        None if x.b is None else (x.b.nan_to_num(nan=FAR, posinf=FAR).clamp(max=FAR) + 2.0**-20).floor(),
    )
    if reach is None or not bool((reach > 0).any()):  # errors of whole numbers are whole numbers
        return Number(v)
    made = Number(
        v,
        r=x.r,
        open=reach > 0,
        runs=None if x.runs is None else [t.nan_to_num(0.0).round().to(dtype) for t in x.runs],
    )
    sides = (x.v - reach, x.v + reach) if x.sides is None else x.sides
    low, high = (t.nan_to_num(0.0).clamp(-FAR, FAR).round().to(torch.int64) for t in sides)
    made.sides, made.open = (low, high), low != high
    return made


def by_element(node: torch.fx.Node, args: Sequence[Any], named: Any) -> Number:
    """An operation on whole numbers. A result is open if an operand is."""

    def plain(a: Any) -> Any:
        return a.v if isinstance(a, Number) else a

    operation: Any = node.target
    v = operation(*[plain(a) for a in args], **{k: plain(a) for k, a in named.items()})
    open_ = torch.zeros_like(v, dtype=torch.bool)
    for a in [*args, *named.values()]:
        if isinstance(a, Number) and a.open is not None:
            open_ = open_ | a.open
    return Number(v, open=open_)


def _places(index: Number, extent: int, alone: bool = True) -> list[torch.Tensor] | None:
    """The possible values of an open index, one after the other, within 0 .. extent - 1. None: there are too many.

    Beside other indices (not `alone`), only the ends of a wide interval and the value stand for it. Such an interval
    comes from a choice between a place and 0, where the place lies outside.
    """
    if index.sides is None:
        return None if index.ways is None else ties.candidates(index, FEW_SIDES)
    low, high = (s.clamp(0, extent - 1) for s in index.sides)
    widest = int((high - low).max())
    if not alone and widest > 2:
        return [low, index.v.clamp(0, extent - 1), high]
    return None if widest >= FEW_SIDES else [torch.minimum(low + d, high) for d in range(widest + 1)]


def _together(indices: Sequence[Number], extents: Sequence[int]) -> list[tuple[torch.Tensor, ...]] | None:
    """All combinations of the indices' possible values. None: there are too many, or an index may be anything."""
    every = []
    for index, extent in zip(indices, extents):
        if not index.is_undecided:
            every.append([index.v])
        elif not extent or (places := _places(index, extent, len(indices) == 1)) is None:
            return None
        else:
            every.append(places)
    return list(itertools.product(*every)) if math.prod(map(len, every)) <= FEW_SIDES else None


def picked(
    cx: Context,
    x: Number,
    indices: Sequence[Number],
    pick: Callable[[torch.Tensor, Sequence[torch.Tensor]], torch.Tensor],
    extents: Sequence[int],
    open_: Bound,
) -> Number:
    """pick(x, values): the elements that indices name. Ambiguous ones (`open_`, in the result's shape) may name any of
    a few."""
    first = [i.v for i in indices]
    together = _together(indices, extents) if any(i.is_undecided for i in indices) else None
    if together is None and len(indices) == 1 and indices[0].is_undecided:
        both = ties.ends(indices[0], x, pick(x.v, first))
        together = None if both is None else [(p,) for p in both]
    if together is None:
        return lost(cx, same(lambda t: pick(t, first), x), open_)
    made = Number(pick(x.v, first))
    at = [pick(x.v, p) for p in together]
    if not x.is_float:
        differs = torch.stack([p != made.v for p in at]).any(0)
        made.open = (
            differs if x.open is None else differs | torch.stack([pick(x.open, p) for p in together]).any(0)
        )
        return made
    apart = torch.stack([distance(p, made.v) for p in at]).amax(0)

    def bound(level: int) -> Bound:
        e = x.error(level)
        if level == 0 and all(i.r is None for i in indices):
            return None if e is None else pick(e, first)
        return apart if e is None else apart + torch.stack([pick(e, p) for p in together]).amax(0)

    made.r, made.b, made.beside = bound(0), bound(1), apart > 0

    def of_run(i: int) -> list[torch.Tensor]:
        return [
            index.v
            if not index.is_undecided
            else index.run(i).clamp(0, n - 1)
            if index.sides is not None or index.ways is None
            else index.ways()[i]
            for index, n in zip(indices, extents)
        ]

    made.runs = [pick(x.run(i), of_run(i)) for i in range(cx.count)] or None
    return made


def added_beside(
    index: Number,
    source: Number,
    put: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    extent: int,
    total: torch.Tensor,
) -> Bound:
    """The error of a sum by an open index: an element may add its own size at each possible place. The
    function put(index, values) adds them up."""
    places = _places(index, extent) if extent else None
    if places is None or index.open is None:
        return None
    size = torch.where(
        index.open.expand(source.v.shape),
        source.v.double().abs() + (0.0 if source.b is None else source.b),
        0.0,
    )
    return sum((put(p, size) for p in places), torch.zeros_like(total))


def contracted(made: Number, a: Number, b: Number) -> Number:
    """Marks a matrix product as beside a jump if one of its terms is."""

    def row(x: Number, dim: int) -> Bound:
        return None if x.beside is None else x.beside.expand(x.v.shape).any(dim, True)

    if a.v.dim() > 1 and b.v.dim() > 1:
        first, second = row(a, -1), row(b, -2)
        near = second if first is None else first if second is None else first | second
        made.beside = None if near is None else near.expand(made.v.shape)
    return made


def either_way(cx: Context, made: Number, off: torch.Tensor) -> Number:
    """`made` with an additional error of `off`."""
    made.r, made.b = (off if e is None else e + off for e in (made.r, made.b))
    made.runs = [made.run(i) + cx.noise(off) * off for i in range(cx.count)] or None
    made.beside = off > 0
    return made
