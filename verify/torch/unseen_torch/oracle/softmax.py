"""Rules of the softmax family."""

from __future__ import annotations

import math
from typing import Any

import torch

from . import exponents
from .bounds import Bound, Error
from .elementwise import rule
from .number import U64, Context, Number, moved, same


def expm1_of_bound(e: torch.Tensor) -> torch.Tensor:
    return torch.expm1(e) * (1 + 2.0**-50)


def softmax_shift(e: torch.Tensor, dim: int, y: torch.Tensor) -> torch.Tensor:
    """The effect of the operand's errors e on the logarithm of the sum of exponentials."""
    return torch.log(torch.where(y > 0, y * torch.exp(e), 0.0).sum(dim, True)) + 2.0**-50


def exponential_size(x: torch.Tensor, y: torch.Tensor, dim: int) -> torch.Tensor:
    """The relative error of exp(x - m) in unit roundoffs, where m is the row's maximum or 0."""
    # An element masked by -inf contributes nothing.
    away = torch.where(y > 0, (x.amax(dim, True) - x).abs(), 0.0)
    return 4 + 2.4 * away + 2 * torch.maximum(away, x.abs().clamp(max=88.0))


def exponential_error(
    u: float, size: torch.Tensor, y: torch.Tensor, dim: int, walk: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Relative errors: (of one exponential of that size, of a row's sum of them). The sum's own error is its
    bound or, with `walk`, its typical size."""
    n = math.sqrt(y.shape[dim]) if walk else y.shape[dim]
    own = size * u
    of_sum = (y * own).sum(dim, True) + n * u
    return torch.where(y > 0, own, 0.0), of_sum


MOST = 0.25  # the greatest relative error with which exp(x - l) is still a softmax


def log_sum_size(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The error of exp(x - l) in unit roundoffs, where l is the logarithm of the sum. Its parts are the errors
    of the exponential, of l, and of the difference."""
    away = torch.where(y > 0, -y.log(), 0.0)
    return 8 + 3.4 * away + 3 * torch.where(y > 0, (x + away).abs(), 0.0)


def by_log_sum(u: float, size: torch.Tensor) -> torch.Tensor:
    """The error of exp(x - l). A row whose numbers are all -1e9 loses the whole logarithm. No honest kernel
    uses that form there, so it is 0."""
    error = u * size
    return torch.where(error > MOST, 0.0, error)


@rule("aten._softmax.default", "aten._safe_softmax.default", "aten.softmax.int")
def softmax(cx: Context, x: Number, dim: int, *_: Any, **__: Any) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return torch.softmax(t, dim)

    y = f(x.v)
    y = torch.where(y.isnan(), 0.0, y) if "safe" in cx.name else y

    def propagated(level: int) -> Bound:
        e = x.error(level)
        if e is None:
            return None
        return torch.where(y > 0, y * expm1_of_bound(e + softmax_shift(e, dim, y)), 0.0)

    size, other = exponential_size(x.v, y, dim), log_sum_size(x.v, y)

    def local(u: float, walk: bool = False) -> Error:
        own, of_sum = exponential_error(u, size, y, dim, walk)
        return torch.where(y > 0, y * torch.maximum(own + of_sum + 4 * u, of_sum + by_log_sum(u, other)), 0.0)

    made = cx.out(y, propagated, local, moved(f, x), lambda u: local(u, True))
    # FlashAttention rounds the exponentials before the division by their sum, other kernels after it. The relative
    # error is the same.
    made = exponents.normalized(cx, made, x, dim)
    return made if cx.narrow is None else cx.permitted(made, cx.narrow)


@rule("aten._log_softmax.default", "aten.log_softmax.int")
def log_softmax(cx: Context, x: Number, dim: int, *_: Any, **__: Any) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(t, dim)

    v, y = f(x.v), torch.softmax(x.v, dim)
    size = exponential_size(x.v, y, dim)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else e + softmax_shift(e, dim, y)

    def local(u: float, walk: bool = False) -> Error:
        _own, of_sum = exponential_error(u, size, y, dim, walk)
        return of_sum + u * (v.abs() + 2 * x.v.abs() + 2 * (x.v - v).abs() + 12)

    return cx.out(v, propagated, local, moved(f, x), lambda u: local(u, True))


@rule("aten.logsumexp.default")
def logsumexp(cx: Context, x: Number, dims: Any, keep: bool = False) -> Number:
    dims = [d % x.v.dim() for d in (list(dims) or range(x.v.dim()))]
    if len(dims) > 1:  # several dimensions are flattened to one
        rest = [d for d in range(x.v.dim()) if d not in dims]
        row = same(lambda t: t.permute(*rest, *dims).flatten(len(rest)), x)
        made = logsumexp(cx, row, [len(rest)])
        return (
            same(lambda t: t.reshape([1 if d in dims else x.v.shape[d] for d in range(x.v.dim())]), made)
            if keep
            else made
        )
    dim = dims[0]

    def f(t: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(t, dim, keep)

    v, y = f(x.v), torch.softmax(x.v, dim)
    size = exponential_size(x.v, y, dim)

    def flat(t: torch.Tensor) -> torch.Tensor:
        return t if keep else t.squeeze(dim)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        if e is None:
            return None
        # the sum of an empty or fully masked row is exact
        nothing = v.isneginf() & flat(e.amax(dim, True)).isfinite()
        return torch.where(nothing, 0.0, flat(softmax_shift(e, dim, y)))

    def local(u: float, walk: bool = False) -> Error:
        _, of_sum = exponential_error(u, size, y, dim, walk)
        log = v - flat(x.v.amax(dim, True))
        most = torch.where(v.isfinite(), v.abs(), 0.0) + 1
        merged = exponents.steps_of_merging(u, walk, x.v.shape[dim], most)
        own = flat(of_sum) + u * (3 * v.abs() + 4 * log.abs() + 8)
        return 0 if x.v.shape[dim] == 1 and u == U64 else own + merged

    return cx.out(v, propagated, local, moved(f, x), lambda u: local(u, True))
