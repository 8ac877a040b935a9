"""Rules of functions of one or two numbers that few tasks use: hyperbolic and inverse ones, error and gamma functions, distances.

What a function errs by itself is what the usual forms err by, of fast parts: (e^x - e^-x) / 2, log(x + sqrt(x^2 - 1)),
(1 - erf(x)), sin(x) / cos(x), Stirling's series.
"""
import math

import torch

from .elementwise import monotone, or_zero, rule
from .number import Unsupported, moved


def steep(cx, x, f, slope, local):
    """A function whose slope's magnitude is greatest at one end of what lies between x - e and x + e."""
    v = f(x.v)
    def propagated(level):
        e = x.error(level)
        return None if e is None else e * torch.maximum(slope(x.v - e).abs(), slope(x.v + e).abs()) * (1 + 2.0 ** -40) + 2.0 ** -50 * v.abs()
    return cx.out(v, propagated, lambda u: local(u, x.v, v), moved(f, x))


@rule("aten.sinh.default", "aten.cosh.default")
def hyperbolic(cx, x):
    # cosh neither rises nor falls, but of all values between x - e and x + e those at the ends are farthest from the one at x
    f = torch.sinh if "sinh" in cx.name else torch.cosh
    return monotone(cx, x, f, lambda u, x, v: (6 + 2.4 * x.abs()) * u * torch.cosh(x))


def required(cx, met):
    if not bool(met.all()):
        raise Unsupported(f"{cx.name.split('.')[1]} of numbers that it has no rule for")


@rule("aten.asin.default", "aten.acos.default")
def arc(cx, x):
    required(cx, x.v.abs() <= 1)
    f = torch.asin if "asin" in cx.name else torch.acos
    return monotone(cx, x, lambda t: f(t.clamp(-1, 1)), lambda u, x, v: u * (4 * v.abs() + 4))


@rule("aten.acosh.default")
def area_cosine(cx, x):
    # x^2 - 1 errs by u x^2, which next to 1 is all that is left of it
    required(cx, x.v >= 1)
    def local(u, x, v):
        root = (x * x - 1).clamp(min=0).sqrt()
        return u * (4 * v.abs() + 4) + torch.minimum(u * x * x / (root * (x + root)), 2 * (u * x * x).sqrt())
    return monotone(cx, x, lambda t: torch.acosh(t.clamp(min=1)), local, least=1.0)


@rule("aten.atanh.default")
def area_tangent(cx, x):
    # log((1 + x) / (1 - x)) / 2: the quotient errs by 3u
    required(cx, x.v.abs() <= 1)
    return monotone(cx, x, lambda t: torch.atanh(t.clamp(-1, 1)), lambda u, x, v: u * (4 * v.abs() + 6))


@rule("aten.tan.default")
def tangent(cx, x):
    # of sines and cosines that are off by (4 + 2 |x|) u; between two poles it rises
    v = torch.tan(x.v)
    def propagated(level):
        e = x.error(level)
        if e is None:
            return None
        turn = lambda t: torch.floor(t / math.pi + 0.5)
        bound = torch.maximum((torch.tan(x.v + e) - v).abs(), (torch.tan(x.v - e) - v).abs()) + 2.0 ** -50 * v.abs()
        return torch.where(turn(x.v + e) == turn(x.v - e), bound, math.inf)
    return cx.out(v, propagated, lambda u: (8 + 4 * x.v.abs()) * u * (1 + v * v), moved(torch.tan, x))


@rule("aten.erfc.default")
def complement(cx, x):
    return monotone(cx, x, torch.erfc, lambda u, x, v: u * (8 + 8 * v))


@rule("aten.erfinv.default")
def inverse_error(cx, x):
    required(cx, x.v.abs() <= 1)
    return monotone(cx, x, lambda t: torch.erfinv(t.clamp(-1, 1)), lambda u, x, v: 16 * u * v.abs())


@rule("aten.lgamma.default", "aten.digamma.default")
def gamma(cx, x):
    """Of positive numbers; (x - 1/2) log x - x is what is left of terms of x log x."""
    required(cx, x.v > 0)
    of = lambda t: t.clamp(min=2.0 ** -1000)  # a pole lies at 0: what reaches beyond is off by more than can be told
    if "lgamma" in cx.name:
        return steep(cx, x, lambda t: torch.lgamma(of(t)), lambda t: torch.digamma(of(t)),
                     lambda u, x, v: u * (8 * v.abs() + 8 * (1 + x * (1 + x.log().abs()))))
    return steep(cx, x, lambda t: torch.digamma(of(t)), lambda t: torch.polygamma(1, of(t)), lambda u, x, v: u * (8 * v.abs() + 8 + 8 / x))


@rule("aten.hypot.default")
def distance(cx, a, b):
    """No farther off than both together."""
    a, b = cx.number(a), cx.number(b)
    v = torch.hypot(a.v, b.v)
    def propagated(level):
        if a.error(level) is None and b.error(level) is None:
            return None
        return (or_zero(a.error(level), a.v) + or_zero(b.error(level), b.v)).expand(v.shape) + 2.0 ** -50 * v
    return cx.out(v, propagated, lambda u: 4 * u * v, moved(torch.hypot, a, b))
