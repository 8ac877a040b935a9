"""Rules of comparisons, and of choices between two values by a mask."""

from __future__ import annotations

import torch

from . import exponents
from .bounds import Bound, Function, Runs, Sides
from .elementwise import RULES, or_zero, rule
from .number import CALIBRATED, FEW, Context, Number, Operand, distance, lost, of_mask
from .wholes import as_index


def choose(cx: Context, condition: Number, a: Operand, b: Operand) -> Number:
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
    cast: Function = (lambda t: t.double()) if float_ else (lambda t: t)

    def f(c: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where(c, cast(x), cast(y))

    v = f(condition.v, a.v, b.v)
    if not float_:
        return lost(cx, Number(v), either(condition, a, b))

    def bound(level: int) -> Bound:
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
    made.beside, made.sides = condition.open, chosen_sides(condition, a, b) if made.whole else None
    return exponents.masked(exponents.chosen(made, a, b), a, b)


def chosen_sides(condition: Number, a: Number, b: Number) -> Sides | None:
    """The least and the greatest value that may be chosen."""
    if condition.open is None and a.sides is None and b.sides is None:
        return None
    found: list[torch.Tensor] = []
    for place, either_of in ((0, torch.minimum), (1, torch.maximum)):
        first, second = (x.v.double() if x.sides is None else x.sides[place].double() for x in (a, b))
        chosen = torch.where(condition.v, first, second)
        found.append(
            chosen
            if condition.open is None
            else torch.where(condition.open, either_of(first, second), chosen)
        )
    return found[0], found[1]


def either(condition: Number, a: Number, b: Number) -> Bound:
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
def where(cx: Context, condition: Number, a: Operand, b: Operand) -> Number:
    return choose(cx, condition, a, b)


@rule("aten.masked_fill.Scalar", "aten.masked_fill.Tensor", "aten.masked_fill_.Scalar")
def masked_fill(cx: Context, x: Number, mask: Number, value: Operand) -> Number:
    return choose(cx, mask, value, x)


COMPARE = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}


def compare(cx: Context, a: Number, b: Operand) -> Number:
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
    runs = None if near is None else decided(cx, f, a, b, v, gap, near)
    held = by_type(cx, f, a, b, v)
    if held is not None:
        near = held if near is None else near | held
        runs = [
            torch.where(held, ~v if i % 2 else v, v if runs is None else runs[i]) for i in range(cx.count)
        ] or None
    if a.held is not None and near is not None and b.b is None:  # at the bound in any honest arithmetic
        near, runs = near & ~a.held, runs and [torch.where(a.held, v, r) for r in runs]
    for x in (a, b):  # the index itself may be ambiguous
        if x.open is not None and x.is_undecided:
            near = (x.open if near is None else near | x.open).expand(v.shape)
            runs = [
                torch.where(near, ~v if i % 2 else v, v if runs is None else runs[i]) for i in range(cx.count)
            ] or None
    return Number(v, open=near, runs=runs)


def by_type(cx: Context, f: Function, a: Number, b: Number, v: torch.Tensor) -> Bound:
    """Mask of comparisons with a number of the code that depend on the type that holds it: the tensor's, fp32 or fp64.
    None: there are none."""
    if not cx.name.endswith("Scalar") or not a.is_float or not b.is_float:
        return None
    own = cx.laid.dtype if cx.laid is not None else torch.float32
    others = (f(a.v, b.v.to(own).double()) != v) | (f(a.v, b.v.float().double()) != v)
    return others if bool(others.any()) else None


def decided(
    cx: Context,
    f: Function,
    a: Number,
    b: Number,
    v: torch.Tensor,
    gap: torch.Tensor,
    open_: torch.Tensor,
) -> Runs:
    """The decisions of the runs. Where both decisions are honest, every other run takes the opposite of the value.
    `open_` is the mask of elements with ambiguous bounds. No run decides any other element otherwise."""
    if (a.runs is None and b.runs is None) or not cx.count:
        return None
    # The runs of whole numbers are already on either side of a jump.
    if a.whole and b.whole:
        return [f(a.run(i), b.run(i)) for i in range(cx.count)]
    off = torch.stack([a.run(i) - b.run(i) - (a.v - b.v) for i in range(cx.count)])
    # A mask's infinities say nothing about the spread of the runs.
    square = off.where(off.isfinite(), 0.0).square().mean(0)
    near = open_
    if int(open_.sum()) * FEW > open_.numel():
        near = open_ & (gap <= CALIBRATED * torch.maximum(square.sqrt(), square.mean().sqrt()))
    own = [torch.where(open_, f(a.run(i), b.run(i)), v) for i in range(cx.count)]
    return [torch.where(near, ~v if i % 2 else v, p) for i, p in enumerate(own)]


for name in COMPARE:
    RULES[f"aten.{name}.Scalar"] = RULES[f"aten.{name}.Tensor"] = compare
