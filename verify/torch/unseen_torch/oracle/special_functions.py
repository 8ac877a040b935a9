"""Rules of rarely used functions of one or two numbers: hyperbolic and inverse ones, error and gamma functions,
distances.

A function's own error is that of its usual form with fast parts. The usual forms are (e^x - e^-x) / 2, log(x +
sqrt(x^2 - 1)), (1 - erf(x)), sin(x) / cos(x), and Stirling's series.
"""

from __future__ import annotations

import math

import torch

from .bounds import Bound, Error, Function
from .elementwise import Curve, monotone, or_zero, rule
from .number import Context, Number, Operand, Unsupported, moved


def steep(cx: Context, x: Number, f: Function, slope: Function, local: Curve) -> Number:
    """A function whose slope on [x - e, x + e] has its greatest magnitude at one of the ends."""
    v = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return (
            None
            if e is None
            else e * torch.maximum(slope(x.v - e).abs(), slope(x.v + e).abs()) * (1 + 2.0**-40)
            + 2.0**-50 * v.abs()
        )

    return cx.out(v, propagated, lambda u: local(u, x.v, v), moved(f, x))


@rule("aten.sinh.default", "aten.cosh.default")
def hyperbolic(cx: Context, x: Number) -> Number:
    # cosh is not monotone. But of all points in [x - e, x + e], an end still has the value that is farthest from
    # cosh(x).
    f = torch.sinh if "sinh" in cx.name else torch.cosh
    return monotone(cx, x, f, lambda u, x, v: (6 + 2.4 * x.abs()) * u * torch.cosh(x))


def required(cx: Context, met: torch.Tensor) -> None:
    if not bool(met.all()):
        raise Unsupported(f"{cx.name.split('.')[1]} of numbers that it has no rule for")


@rule("aten.asin.default", "aten.acos.default")
def arc(cx: Context, x: Number) -> Number:
    required(cx, x.v.abs() <= 1)
    f = torch.asin if "asin" in cx.name else torch.acos
    return monotone(cx, x, lambda t: f(t.clamp(-1, 1)), lambda u, x, v: u * (4 * v.abs() + 4))


@rule("aten.acosh.default")
def area_cosine(cx: Context, x: Number) -> Number:
    # x^2 - 1 errs by u x^2. Next to 1, this error is as large as the difference itself.
    required(cx, x.v >= 1)

    def local(u: float, x: torch.Tensor, v: torch.Tensor) -> Error:
        root = (x * x - 1).clamp(min=0).sqrt()
        return u * (4 * v.abs() + 4) + torch.minimum(u * x * x / (root * (x + root)), 2 * (u * x * x).sqrt())

    return monotone(cx, x, lambda t: torch.acosh(t.clamp(min=1)), local, least=1.0)


@rule("aten.atanh.default")
def area_tangent(cx: Context, x: Number) -> Number:
    # The form is log((1 + x) / (1 - x)) / 2, and its quotient errs by 3u.
    required(cx, x.v.abs() <= 1)
    return monotone(cx, x, lambda t: torch.atanh(t.clamp(-1, 1)), lambda u, x, v: u * (4 * v.abs() + 6))


@rule("aten.tan.default")
def tangent(cx: Context, x: Number) -> Number:
    # The sine and the cosine are off by (4 + 2 |x|) u. Between two poles the tangent rises.
    v = torch.tan(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        if e is None:
            return None

        def turn(t: torch.Tensor) -> torch.Tensor:
            return torch.floor(t / math.pi + 0.5)

        bound = (
            torch.maximum((torch.tan(x.v + e) - v).abs(), (torch.tan(x.v - e) - v).abs()) + 2.0**-50 * v.abs()
        )
        return torch.where(turn(x.v + e) == turn(x.v - e), bound, math.inf)

    return cx.out(v, propagated, lambda u: (8 + 4 * x.v.abs()) * u * (1 + v * v), moved(torch.tan, x))


@rule("aten.erfc.default")
def complement(cx: Context, x: Number) -> Number:
    return monotone(cx, x, torch.erfc, lambda u, x, v: u * (8 + 8 * v))


@rule("aten.erfinv.default")
def inverse_error(cx: Context, x: Number) -> Number:
    required(cx, x.v.abs() <= 1)
    return monotone(cx, x, lambda t: torch.erfinv(t.clamp(-1, 1)), lambda u, x, v: 16 * u * v.abs())


@rule("aten.lgamma.default", "aten.digamma.default")
def gamma(cx: Context, x: Number) -> Number:
    """The gamma functions of positive numbers. In (x - 1/2) log x - x, terms of the size x log x cancel."""
    required(cx, x.v > 0)

    # A pole lies at 0. If x - e reaches beyond it, the bound is too large to be of use.
    def of(t: torch.Tensor) -> torch.Tensor:
        return t.clamp(min=2.0**-1000)

    if "lgamma" in cx.name:
        return steep(
            cx,
            x,
            lambda t: torch.lgamma(of(t)),
            lambda t: torch.digamma(of(t)),
            lambda u, x, v: u * (8 * v.abs() + 8 * (1 + x * (1 + x.log().abs()))),
        )
    return steep(
        cx,
        x,
        lambda t: torch.digamma(of(t)),
        lambda t: torch.polygamma(1, of(t)),
        lambda u, x, v: u * (8 * v.abs() + 8 + 8 / x),
    )


@rule("aten.hypot.default")
def distance(cx: Context, a: Operand, b: Operand) -> Number:
    """The error is at most the sum of both operands' errors."""
    a, b = cx.number(a), cx.number(b)
    v = torch.hypot(a.v, b.v)

    def propagated(level: int) -> Bound:
        if a.error(level) is None and b.error(level) is None:
            return None
        return (or_zero(a.error(level), a.v) + or_zero(b.error(level), b.v)).expand(v.shape) + 2.0**-50 * v

    return cx.out(v, propagated, lambda u: 4 * u * v, moved(torch.hypot, a, b))
