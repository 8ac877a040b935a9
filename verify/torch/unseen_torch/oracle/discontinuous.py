"""Rules of functions that jump: floors and other roundings, signs, remainders, angles.

Beside a jump, an honest implementation may be on either side, and both values are right. The bound there is the size
of the jump. Every fourth run takes either side, so that the calibrated spread includes the jump.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .bounds import Bound, Error, Function
from .elementwise import div, monotone, mul, or_zero, rule
from .few_bits import is_power
from .number import (
    CALIBRATED,
    FEW,
    U64,
    Context,
    Number,
    Operand,
    Unsupported,
    is_exact,
    moved,
    sides_of,
    unit_of,
)


def honest_reach(cx: Context, x: Number) -> Bound:
    """The error of honest implementations, calibrated by the runs and no greater than the bound. None: x has no error,
    or there are no runs."""
    if x.runs is None or not cx.count:
        return None
    square = torch.stack([(x.run(i) - x.v) ** 2 for i in range(cx.count)]).mean(0)
    reach = CALIBRATED * torch.maximum(square.sqrt(), square.mean().sqrt())
    reach = torch.where(is_exact(x), 0.0, reach)
    return reach if x.b is None else torch.minimum(reach, x.b)


def step(cx: Context, x: Operand, f: Function, whole: bool = True) -> Number:
    """A monotone, exact step function f. On [x - e, x + e] its extremes are its values at the ends."""
    x = cx.number(x)
    if not x.is_float:
        return Number(f(x.v.double()).to(x.v.dtype), open=x.open)
    v, reach = f(x.v), honest_reach(cx, x)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else torch.maximum(f(x.v + e) - v, v - f(x.v - e))

    made = Number(v, propagated(0), propagated(1), whole=whole)
    if reach is not None:
        reach, made.beside = jumping(made.b, v, reach, f, x)
        sides = {1: f(x.v + reach), 3: f(x.v - reach)}
        made.runs = [sides[i % 4] if i % 4 in sides else f(x.run(i)) for i in range(cx.count)]
    elif made.b is not None:
        made.beside = made.b > 0
    if whole and x.b is not None:
        made.sides = (f(x.v - x.b), f(x.v + x.b)) if x.sides is None else sides_of(f, x)
    return made


def jumping(
    bound: Bound, v: torch.Tensor, reach: torch.Tensor, f: Function, x: Number
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (the reach of the runs, a mask of the elements beside a jump). If few bounds reach beyond a jump, the
    runs reach as far as the bound."""
    if bound is not None and x.b is not None and int((bound > 0).sum()) * FEW <= bound.numel():
        return torch.maximum(reach, torch.where(bound > 0, x.b, 0.0)), bound > 0
    return reach, (f(x.v + reach) != v) | (f(x.v - reach) != v)


STEPS = {
    "floor": torch.floor,
    "ceil": torch.ceil,
    "trunc": torch.trunc,
    "round": torch.round,
    "sign": torch.sign,
}


@rule(
    "aten.floor.default", "aten.ceil.default", "aten.trunc.default", "aten.round.default", "aten.sign.default"
)
def whole(cx: Context, x: Number) -> Number:
    name = cx.name.split(".")[1]
    return x if x.is_float and x.whole and name != "sign" else step(cx, x, STEPS[name])


@rule("aten.copysign.Tensor")
def copysign(cx: Context, a: Operand, b: Operand) -> Number:
    """The magnitude of a with the sign of b. The sign must be certain."""
    a, b = cx.number(a), cx.number(b)
    if b.b is not None and bool((b.v.abs() <= b.b).any()):
        raise Unsupported("the sign of a computed number that lies so near 0 that kernels may differ")

    def f(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return torch.copysign(s.double(), t.double())

    v = f(a.v, b.v)

    def spread(e: Bound) -> Bound:
        return None if e is None else e.expand(v.shape)

    return cx.out(v, lambda level: spread(a.error(level)), lambda u: 0, moved(f, a, b))


@rule("aten.searchsorted.Tensor", "aten.bucketize.Tensor")
def place_among(cx: Context, first: Number, second: Number, **named: Any) -> Number:
    """The number of bounds below a value (or not above it, if `right`). It is certain if the value's interval overlaps
    none of the bounds' intervals."""
    bounds, x = (first, second) if "searchsorted" in cx.name else (second, first)
    if named.get("sorter") is not None:
        raise Unsupported("searchsorted with a sorter")
    right = named.get("right", False) or named.get("side") == "right"

    def count(at: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return torch.searchsorted(edges.double(), at.double().contiguous(), right=right)

    reach, around = or_zero(x.b, x.v.double()), or_zero(bounds.b, bounds.v.double())
    low = count(x.v.double() - reach, (bounds.v.double() + around).contiguous())
    high = count(x.v.double() + reach, (bounds.v.double() - around).contiguous())
    if bool((low == high).all()):
        return Number(low.to(cx.dtype))
    v = count(x.v, bounds.v.double().contiguous())
    off = torch.maximum(high - v, v - low).double()
    sides = [low, v, high, v]
    made = Number(v.double(), off, off, [sides[i % 4].double() for i in range(cx.count)] or None, whole=True)
    made.sides, made.beside = (low.double(), high.double()), off > 0
    return made


@rule("aten.round.decimals")
def decimals(cx: Context, x: Number, decimals: int = 0) -> Number:
    if decimals == 0:
        return step(cx, x, torch.round)
    scale = 10.0 ** abs(decimals)
    by, back = (mul, div) if decimals > 0 else (div, mul)
    return back(cx, step(cx, by(cx, x, scale), torch.round), scale)


@rule("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide.default", "aten.floor_divide.Scalar")
def rounded_division(cx: Context, a: Operand, b: Operand, rounding_mode: str | None = "floor") -> Number:
    """A rounded division of exact operands. A whole quotient is exact. A quotient close to a whole number may be
    rounded to it."""
    a, b = cx.number(a), cx.number(b)
    if rounding_mode is None:
        return div(cx, a, b)

    def f(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        return torch.div(p, q, rounding_mode=rounding_mode)

    if not a.is_float and not b.is_float:
        return Number(f(a.v, b.v))
    if a.error(1) is not None or b.error(1) is not None:
        return step(cx, div(cx, a, b), torch.floor if rounding_mode == "floor" else torch.trunc)
    p, q = a.v.double(), b.v.double()
    v, quotient = f(p, q), p / q
    off = (quotient - quotient.round()).abs()

    def near(u: float) -> torch.Tensor:
        return (off <= 3 * u * quotient.abs()) & (torch.fmod(p, q) != 0)

    made = cx.out(v, lambda level: None, lambda u: near(u).double(), None, lambda u: 0)
    made.whole = True
    return made


@rule(
    "aten.remainder.Scalar",
    "aten.remainder.Tensor",
    "aten.remainder.Scalar_Tensor",
    "aten.fmod.Scalar",
    "aten.fmod.Tensor",
)
def remainder(cx: Context, a: Operand, b: Operand) -> Number:
    """a - b q, where q is a whole number. It is exact for exact operands. An implementation that rounds a / b first is
    off by some roundings of a. It is also off by b if that rounding gave a whole number by mistake. The final
    addition to reach b's sign is rounded, too."""
    a, b = cx.number(a), cx.number(b)
    if not a.is_float and not b.is_float:
        return Number((torch.fmod if "fmod" in cx.name else torch.remainder)(a.v, b.v))
    function = torch.fmod if "fmod" in cx.name else torch.remainder

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return function(x.double(), y.double())

    v = f(a.v, b.v)
    width, size = b.v.double().abs().expand(v.shape), a.v.double().abs().expand(v.shape)
    # fmod has no jump around 0
    least = torch.where(size < width, math.inf, v.abs()) if "fmod" in cx.name else v.abs()
    gap = torch.minimum(least, width - v.abs())
    known = is_exact(a) & is_exact(b) & is_power(b.v)  # the quotient and b q are exact

    def own(u: float) -> torch.Tensor:
        return u * (torch.where(known, 0.0, 3 * size) + 2 * v.abs())

    turn = torch.where(known, 0.0, width)

    def propagated(level: int) -> Bound:
        ea, eb = a.error(level), b.error(level)
        if ea is None and eb is None:
            return None
        e = (or_zero(ea, a.v.double()) + (size / width + 1) * or_zero(eb, b.v.double())).expand(v.shape)
        near = gap <= e + own(U64 if level == 0 else unit_of(cx.dtype))
        return e + torch.where(near, turn + or_zero(eb, b.v.double()), 0.0)

    def local(u: float) -> Error:
        return own(u) + torch.where((gap <= own(u)) & (v != 0), turn, 0.0)

    plain = moved(f, a, b)
    if plain is None:
        return cx.out(v, propagated, local, None, own)
    reach = or_zero(honest_reach(cx, a), a.v.double()) + (size / width + 1) * or_zero(
        honest_reach(cx, b), b.v.double()
    )
    other = torch.where(
        v.abs() < width / 2, v + torch.where(v < 0, -width, width), v - torch.where(v < 0, -width, width)
    )
    jumped = torch.where((gap <= reach) & ~known, other, v)
    return cx.out(v, propagated, local, lambda i: jumped if i % 4 == 1 else plain(i), own)


@rule("aten.atan2.default")
def angle(cx: Context, y: Operand, x: Operand) -> Number:
    """An operand's error turns the direction by its share of the length. Across the negative axis, the angle changes by
    a whole turn."""
    y, x = cx.number(y), cx.number(x)

    def f(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return torch.atan2(s.double(), t.double())

    v, length = f(y.v, x.v), torch.hypot(y.v.double(), x.v.double())

    def across(ey: torch.Tensor, ex: torch.Tensor) -> torch.Tensor:
        return (y.v.abs() <= ey) & (x.v - ex < 0)

    def propagated(level: int) -> Bound:
        ey, ex = y.error(level), x.error(level)
        if ey is None and ex is None:
            return None
        ey, ex = or_zero(ey, y.v.double()), or_zero(ex, x.v.double())
        share = torch.hypot(ey, ex) / length
        turned = torch.where(share < 1, torch.asin(share.clamp(max=1)) * (1 + 2.0**-40), 2 * math.pi)
        return torch.where(across(ey, ex) & (ey > 0), 2 * math.pi, turned)

    plain = moved(f, y, x)
    if plain is None:
        return cx.out(v, propagated, lambda u: 10 * u * v.abs())
    near = across(or_zero(honest_reach(cx, y), y.v.double()), or_zero(honest_reach(cx, x), x.v.double())) & (
        y.v != 0
    )
    return cx.out(
        v,
        propagated,
        lambda u: 10 * u * v.abs(),
        lambda i: torch.where(near, -v, v) if i % 4 == 1 else plain(i),
    )


@rule("aten.atan.default", "aten.asinh.default")
def flat_curve(cx: Context, x: Number) -> Number:
    f = torch.atan if "atan" in cx.name else torch.asinh
    return monotone(
        cx,
        x,
        f,
        lambda u, x, v: 10 * u * v.abs() + (10 * u * x.abs().clamp(max=1) if f is torch.asinh else 0),
    )


@rule("aten.isnan.default", "aten.isinf.default", "aten.isposinf.default", "aten.isneginf.default")
def is_special(cx: Context, x: Number) -> Number:
    """The answer is torch's own. It may go either way where an operand may be anything."""
    f = getattr(torch, cx.name.split(".")[1])
    made = Number(f(x.v))
    if x.b is None or bool(x.b.isfinite().all()):
        return made
    made.open = ~x.b.isfinite().expand(x.v.shape)
    made.runs = [
        torch.where(made.open, ~made.v if i % 2 else made.v, f(x.run(i))) for i in range(cx.count)
    ] or None
    return made
