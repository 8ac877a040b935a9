"""Rules of element-wise operations: the value, the effect of the operands' errors, and the operation's own error.

A function's own error follows doc/error-model.md. It covers the vendors' tables for fp32, including their fast
forms. It also covers the forms that honest kernels use instead of a library's function, such as tanh by
exponentials, or exp(x) - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from . import exponents
from .bounds import Bound, Error, Function
from .chains import MOST_COUNTED, counted, expandable, is_power_of_two, unscaled
from .few_bits import is_gridded, is_power
from .number import Context, Number, Operand, add_bounds, is_exact, moved, rounded, sides_of

R = TypeVar("R", bound=Callable[..., Any])
Curve = Callable[[float, torch.Tensor, torch.Tensor], Error]  # from a unit, the operand and the value

F = torch.nn.functional
RULES: dict[str, Callable[..., Any]] = {}


def rule(*names: str) -> Callable[[R], R]:
    def keep(function: R) -> R:
        for name in names:
            RULES[name] = function
        return function

    return keep


def by_rule(cx: Context, name: str, *args: Any, **named: Any) -> Any:
    """Evaluates the rule of another operation of ATen."""
    kept, cx.name = cx.name, "aten." + name
    try:
        return RULES[cx.name](cx, *args, **named)
    finally:
        cx.name = kept


def or_zero(bound: Bound, like: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(like) if bound is None else bound


def linear(
    cx: Context,
    f: Function,
    parts: Sequence[tuple[Number, Error]],
    local: Callable[[float, torch.Tensor], Error],
    typical: Callable[[float, torch.Tensor], Error] | None = None,
) -> Number:
    """Evaluates v = f(values), where the operands' errors add up, each times its factor. `parts` are pairs (operand,
    factor). `local` and `typical` are those of Context.out, as functions of (unit, v)."""

    def propagated(level: int) -> Bound:
        return add_bounds(*[None if (e := x.error(level)) is None else e * k for x, k in parts])

    v = f(*[x.v for x, _ in parts])

    def full(level: int) -> Bound:
        e = propagated(level)
        return None if e is None else e.expand(v.shape)

    return cx.out(
        v,
        full,
        lambda u: local(u, v),
        moved(f, *[x for x, _ in parts]),
        typical and (lambda u: typical(u, v)),
    )


def integers(*operands: Number) -> bool:
    return all(not x.is_float for x in operands)


def add_sub(cx: Context, a: Operand, b: Operand, alpha: float, sign: int) -> Number:
    a, b = cx.number(a), cx.number(b)

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + sign * alpha * y

    if integers(a, b) and cx.dtype not in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        return Number(f(a.v, b.v))
    whole = a.whole and b.whole and alpha == int(alpha)
    larger = torch.maximum(a.v.double().abs(), abs(alpha) * b.v.double().abs())
    if (a.v.numel() == 1 and not bool(a.v)) or (b.v.numel() == 1 and not bool(b.v)):
        made = linear(cx, f, [(a, 1.0), (b, abs(alpha))], lambda u, v: 0)  # adding zero is exact
    else:
        # An operand may have been added to another number before (a bias less a constant): a rounding at its
        # size. Each of several products has as many as there are others (doc/error-model.md, short chains).
        literal = cx.literal and a.b is None and b.b is None
        first, second = (x * (not literal) for x in (a.size(), abs(alpha) * b.size()))
        reached, each = torch.maximum(first, second), b.count * first + a.count * second
        known = is_exact(a) & is_gridded(a.v) & is_exact(b) & is_gridded(b.v)
        rounds: Callable[[torch.Tensor], Error] = (
            (lambda v: rounded(v, a, b)) if whole else lambda v: torch.where(known & is_gridded(v), 0.0, 1.0)
        )
        # An implementation may subtract the logarithm of a sum from an exponent instead of the maximum. It is rounded
        # at that size.
        beside = larger if cx.raised and not whole else 0.0

        def own(size: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return torch.maximum(size * rounds(v), beside + torch.zeros_like(v))

        # Terms may cancel in this order. In another order a partial sum is as large as half of their magnitudes.
        walked: Function = (
            (lambda v: torch.maximum(v.abs(), (first + second) / 2)) if a.count + b.count > 2 else torch.abs
        )
        made = linear(
            cx,
            f,
            [(a, 1.0), (b, abs(alpha))],
            lambda u, v: u * own(torch.maximum(reached + torch.maximum(v.abs(), reached), each), v),
            lambda u, v: u * own(walked(v), v),
        )
        made.terms, made.count = None if literal else first + second, min(a.count + b.count, MOST_COUNTED)
        made.nested = max(a.nested, b.nested, 1)
    made.whole = whole
    if whole and alpha == 1 and a.sides is not None and b.b is None and b.open is None:
        made.sides = sides_of(lambda t: f(t, b.v), a)
    return exponents.added(cx, made, a, b, larger)


@rule("aten.add.Tensor", "aten.add.Scalar", "aten.add_.Tensor")
def add(cx: Context, a: Operand, b: Operand, alpha: float = 1) -> Number:
    return add_sub(cx, a, b, alpha, 1)


@rule("aten.sub.Tensor", "aten.sub.Scalar", "aten.sub_.Tensor")
def sub(cx: Context, a: Operand, b: Operand, alpha: float = 1) -> Number:
    return add_sub(cx, a, b, alpha, -1)


@rule("aten.rsub.Scalar", "aten.rsub.Tensor")
def rsub(cx: Context, a: Operand, b: Operand, alpha: float = 1) -> Number:
    return add_sub(cx, b, a, alpha, -1)


def scaled_error(x: torch.Tensor, factor: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """|x| e, where e bounds the error of `factor`. An infinite x times any factor of one sign is the same infinity."""
    return torch.where(x.isinf() & (factor.abs() > e), 0.0, x.abs() * e)


@rule("aten.mul.Tensor", "aten.mul.Scalar", "aten.mul_.Tensor")
def mul(cx: Context, a: Operand, b: Operand) -> Number:
    a, b = cx.number(a), cx.number(b)
    if integers(a, b):
        return Number(a.v * b.v)
    plain = any(t.v.dtype == torch.bool or is_power_of_two(t) for t in (a, b))
    # A mask has no magnitude, so it is converted to numbers.
    a, b = (t if t.v.dtype != torch.bool else Number(t.v.double(), open=t.open, whole=True) for t in (a, b))

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y

    v = f(a.v, b.v)

    def propagated(level: int) -> Bound:
        ea, eb = a.error(level), b.error(level)
        parts = [
            None if eb is None else scaled_error(a.v, b.v, eb),
            None if ea is None else scaled_error(b.v, a.v, ea),
            None if ea is None or eb is None else ea * eb,
        ]
        return add_bounds(*parts)

    # A product with a sum may be expanded: each term of the sum is then multiplied.
    size = v.abs() if a.terms is None and b.terms is None else a.size() * b.size()
    # Terms that cancel before the product need not cancel afterwards: x s - m s for (x - m) s.
    walked = torch.maximum(v.abs(), size / 2)
    rounds = 0 if plain else rounded(v, a, b) * unscaled(a, b)
    made = cx.out(
        v,
        propagated,
        lambda u: 0 if plain else u * size * rounds,
        moved(f, a, b),
        lambda u: 0 if plain else u * walked * rounds,
    )
    made.whole, made.terms, made.count = a.whole and b.whole, size, min(counted(a) * counted(b), MOST_COUNTED)
    return exponents.multiplied(cx, expandable(made, a, b), a, b)


@rule("aten.div.Tensor", "aten.div.Scalar", "aten.div_.Tensor")
def div(cx: Context, a: Operand, b: Operand) -> Number:
    a, b = cx.number(a), cx.number(b)

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x / y

    v = f(a.v, b.v)

    def propagated(level: int) -> Bound:
        ea, eb = a.error(level), b.error(level)
        if ea is None and eb is None:
            return None
        room = b.v.abs() - or_zero(eb, b.v)
        bound = (or_zero(ea, a.v) + scaled_error(v, b.v, or_zero(eb, b.v))) / room
        return torch.where(room > 0, bound, math.inf)

    # A kernel may use a reciprocal and a product instead of a division. This adds one rounding.
    scaled = torch.where(is_power(b.v), 0.0, 3.0) if b.b is None and b.v.numel() > 1 else 3.0
    # A quotient of a sum may be expanded: each term of the sum is then divided.
    size = v.abs() if a.terms is None else a.terms / b.v.abs()
    made = cx.out(
        v,
        propagated,
        lambda u: 0 if is_power_of_two(b) else scaled * u * (2 * size + v.abs()) / 3,
        moved(f, a, b),
        lambda u: 0 if is_power_of_two(b) else u * torch.maximum(scaled * v.abs(), size / 2),
    )
    made.terms, made.count = None if a.terms is None else size, a.count
    return exponents.divided(cx, expandable(made, a), a, b)


@rule("aten.neg.default")
def neg(cx: Context, x: Number) -> Number:
    made = Number(-x.v, x.r, x.b, None if x.runs is None else [-t for t in x.runs], whole=x.whole)
    made.terms, made.count, made.nested = x.terms, x.count, x.nested
    return exponents.chosen(made, x, None)


@rule("aten.abs.default")
def absolute(cx: Context, x: Number) -> Number:
    return Number(x.v.abs(), x.r, x.b, None if x.runs is None else [t.abs() for t in x.runs])


def monotone(cx: Context, x: Number, f: Function, local: Curve, least: float | None = None) -> Number:
    """A monotone function. Its error is its greatest change between x - e and x + e."""
    v = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        if e is None:
            return None
        low = x.v - e if least is None else (x.v - e).clamp(min=least)
        bound = torch.maximum((f(x.v + e) - v).abs(), (f(low) - v).abs())
        return bound + 2.0**-50 * v.abs()  # the error of three evaluations of f in fp64

    return cx.out(v, propagated, lambda u: local(u, x.v, v), moved(f, x))


def none(u: float, x: torch.Tensor, v: torch.Tensor) -> float:
    return 0


def piecewise(
    cx: Context, x: Number, f: Function, slope: float, low: float, high: float, local: Curve = none
) -> Number:
    """A function that is constant below `low` and above `high`, with slopes of at most `slope` in between."""
    v = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else torch.where((x.v + 2 * e < low) | (x.v - 2 * e > high), 0.0, slope * e)

    return cx.out(v, propagated, lambda u: local(u, x.v, v), moved(f, x))


def far(x: torch.Tensor) -> torch.Tensor:
    """|x|, limited to the range in which an exponential is neither 0 nor infinite. A mask's -inf thus adds 0 times a
    finite number, and no NaN."""
    return x.abs().clamp(max=1000)


def exp_error(u: float, x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The error of the fast exponential: 2 ulp and 1.173 |x| ulp. An ulp is at most 2u of the value."""
    return (4 + 2.4 * far(x)) * u * v.abs()


@rule("aten.exp.default")
def exp(cx: Context, x: Number) -> Number:
    made = exponents.in_parts(cx, monotone(cx, x, torch.exp, exp_error), x)
    return exponents.of_function(made, x, x.v.abs())


@rule("aten.exp2.default")
def exp2(cx: Context, x: Number) -> Number:
    made = exponents.in_parts(cx, monotone(cx, x, torch.exp2, exp_error), x)
    return exponents.of_function(made, x, x.v.abs())


@rule("aten.expm1.default")
def expm1(cx: Context, x: Number) -> Number:
    return monotone(cx, x, torch.expm1, lambda u, x, v: exp_error(u, x, v + 1) + 2 * u)


@rule("aten.log.default", "aten.log2.default", "aten.log10.default", "aten.log1p.default")
def log(cx: Context, x: Number) -> Number:
    f = getattr(torch, cx.name.split(".")[1])
    # The fast logarithm has an absolute error where the logarithm is near 0.
    least = -1.0 if f is torch.log1p else 0.0
    made = monotone(cx, x, f, lambda u, x, v: u * (4 * v.abs() + 8), least=least)
    return exponents.log_of_sum(cx, made, x)


@rule("aten.sqrt.default")
def sqrt(cx: Context, x: Number) -> Number:
    return monotone(cx, x, torch.sqrt, lambda u, x, v: 3 * u * v.abs(), least=0.0)


@rule("aten.rsqrt.default")
def rsqrt(cx: Context, x: Number) -> Number:
    return monotone(cx, x, torch.rsqrt, lambda u, x, v: 5 * u * v.abs(), least=0.0)


@rule("aten.reciprocal.default")
def reciprocal(cx: Context, x: Number) -> Number:
    return div(cx, 1.0, x)


@rule("aten.erf.default")
def erf(cx: Context, x: Number) -> Number:
    return monotone(cx, x, torch.erf, lambda u, x, v: 8 * u * torch.ones_like(v))


@rule("aten.sin.default", "aten.cos.default")
def circular(cx: Context, x: Number) -> Number:
    f = torch.sin if "sin" in cx.name else torch.cos
    v = f(x.v)
    return cx.out(v, lambda level: x.error(level), lambda u: (4 + 2 * x.v.abs()) * u, moved(f, x))


@rule(
    "aten.hardtanh.default",
    "aten.hardtanh_.default",
    "aten.clamp.default",
    "aten.clamp_.default",
    "aten.clamp_min.default",
    "aten.clamp_max.default",
    "aten.clamp_min_.default",
)
def clamp(
    cx: Context, x: Number, low: float | None = None, high: float | None = None, **named: Any
) -> Number:
    if "hardtanh" in cx.name:
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
    if "clamp_max" in cx.name:
        low, high = None, low
    low, high = named.get("min", low), named.get("max", high)
    edge = max([abs(float(t)) for t in (low, high) if t is not None] or [0.0])

    def f(t: torch.Tensor) -> torch.Tensor:
        return t.clamp(low, high)

    held = x.error(1) is not None or float(torch.tensor(edge).float()) != edge
    whole = x.whole and all(t is None or float(t).is_integer() for t in (low, high))

    def clipped(u: float, x: torch.Tensor, v: torch.Tensor) -> Error:
        return 0 if not held or whole else torch.where(x == v, 0.0, u * v.abs())

    made = piecewise(
        cx, x, f, 1.0, -math.inf if low is None else low, math.inf if high is None else high, clipped
    )
    made.whole, made.sides, made.held = whole, sides_of(f, x), (made.v - x.v).abs() > 2 * or_zero(x.b, x.v)
    return exponents.chosen(made, x, None)


@rule("aten.clamp.Tensor")
def clamp_by(
    cx: Context, x: Number, low: Operand | None = None, high: Operand | None = None, **named: Any
) -> Number:
    low, high = named.get("min", low), named.get("max", high)
    x = x if low is None else extreme_by(cx, torch.maximum, x, low)
    return x if high is None else extreme_by(cx, torch.minimum, x, high)


def power_of(cx: Context, base: Number, exponent: Number) -> Number:
    """x ** y by exp(y ln x). If x > e, the bound is the greatest change to (x +- e) ** (y +- d). Otherwise it is
    infinite."""
    v = base.v.double() ** exponent.v

    def propagated(level: int) -> Bound:
        e, d = base.error(level), exponent.error(level)
        if e is None and d is None:
            return None
        e, d = (torch.zeros((), dtype=torch.float64, device=v.device) if t is None else t for t in (e, d))
        log, off = base.v.double().log().abs(), -torch.log1p(-e / base.v.double())
        bound = v * torch.expm1((exponent.v.abs() + d) * off + d * log) * (1 + 2.0**-40) + 2.0**-50 * v
        return torch.where((base.v > e) & bound.isfinite(), bound, math.inf)

    return cx.out(
        v, propagated, lambda u: 32 * u * v.abs() * (1 + exponent.v.abs()), moved(torch.pow, base, exponent)
    )


@rule("aten.pow.Tensor_Scalar", "aten.pow.Scalar", "aten.pow.Tensor_Tensor")
def power(cx: Context, x: Operand, n: Operand) -> Number:
    if not isinstance(x, Number) or isinstance(n, Number):
        return power_of(cx, cx.number(x), cx.number(n))
    if not x.is_float:
        return Number(x.v**n)

    def f(t: torch.Tensor) -> torch.Tensor:
        return t**n

    v = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        if e is None:
            return None
        if n == int(n) and n > 0:
            return (x.v.abs() + e) ** n - x.v.abs() ** n + 2.0**-50 * v.abs()
        low = x.v - e
        bound = torch.maximum((f(x.v + e) - v).abs(), (f(low) - v).abs()) + 2.0**-50 * v.abs()
        return torch.where(low > 0, bound, math.inf)

    roundings = n - 1 if n == int(n) and 0 < n <= 4 else 16 + 4 * abs(n)
    return cx.out(v, propagated, lambda u: max(roundings, 0) * u * v.abs(), moved(f, x))


@rule("aten.maximum.default", "aten.minimum.default", "aten.fmax.default", "aten.fmin.default")
def extreme(cx: Context, a: Operand, b: Operand) -> Number:
    """fmax and fmin ignore a NaN, as PyTorch's own do."""
    return extreme_by(cx, getattr(torch, cx.name.split(".")[1]), a, b)


def extreme_by(cx: Context, f: Function, a: Operand, b: Operand) -> Number:
    a, b = cx.number(a), cx.number(b)
    if integers(a, b):
        return Number(f(a.v, b.v))

    def f2(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return f(x.double(), y.double())

    def propagated(level: int) -> Bound:
        ea, eb = a.error(level), b.error(level)
        if ea is None and eb is None:
            return None
        return torch.maximum(or_zero(ea, a.v).double(), or_zero(eb, b.v).double())

    v = f2(a.v, b.v)

    def full(level: int) -> Bound:
        e = propagated(level)
        return None if e is None else e.expand(v.shape)

    made = cx.out(v, full, lambda u: 0, moved(f2, a, b))
    made.whole = a.whole and b.whole
    return made


@rule("aten.xlogy.Tensor")
def xlogy(cx: Context, x: Number, y: Number) -> Number:
    v = torch.xlogy(x.v, y.v)
    if any(t.error(1) is not None for t in (x, y)):
        return mul(cx, x, log_of(cx, y))
    return cx.out(v, lambda level: None, lambda u: u * (5 * v.abs() + 8 * x.v.abs()))


def log_of(cx: Context, y: Number) -> Number:
    return monotone(cx, y, torch.log, lambda u, x, v: u * (4 * v.abs() + 8), least=0.0)
