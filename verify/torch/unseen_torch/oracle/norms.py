"""Rules of normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .bounds import Bound, Error, Function
from .elementwise import or_zero, rule
from .number import U32, U64, UNIT, Context, Number, Unsupported, add_bounds, carried, moved, same, unit_of


class Moments:
    """Mean and variance of x over `dims`, their bounds, and the bounds of 1 / sqrt(variance + eps)."""

    def __init__(self, x: Number, dims: list[int], eps: float) -> None:
        self.x, self.dims, self.eps = x, dims, eps
        self.n = math.prod([x.v.shape[d] for d in dims])
        self.mean = x.v.mean(dims, True)
        self.centered = x.v - self.mean
        self.variance = (self.centered**2).mean(dims, True)
        self.rstd = 1 / torch.sqrt(self.variance + eps)
        self.size = x.v.abs().mean(dims, True)
        self.square = (x.v**2).mean(dims, True)

    def own(self, u: float) -> tuple[torch.Tensor, torch.Tensor]:
        """The own errors of the mean, and of the variance in one pass or two, in any order. The mean of one number is
        exact. Its variance in one pass is the rounding of its square."""
        if self.n == 1:
            return torch.zeros_like(self.mean), u * self.square
        return (self.n + 3) * u * self.size, 2 * (self.n + 4) * u * self.square

    def walk(self, u: float) -> tuple[torch.Tensor, torch.Tensor]:
        if self.n == 1:
            return self.own(u)
        k = math.sqrt(self.n + 4) * u
        return k * torch.maximum(self.mean.abs(), (self.square / self.n).sqrt()), k * self.square

    def bounds(self, level: int, u: float) -> tuple[torch.Tensor, torch.Tensor]:
        """The bounds of an evaluation at unit u: (mean, 1 / standard deviation)."""
        own_mean, own_variance = self.own(u)
        e = self.x.error(level)
        if e is None:
            return own_mean, self.of_rstd(own_variance, u)
        return own_mean + e.mean(self.dims, True) * (1 + self.n * u), self.of_rstd(
            own_variance + self.moved(e, u), u
        )

    def moved(self, e: torch.Tensor, u: float) -> torch.Tensor:
        """The effect of operands' errors e on the variance, computed in one pass or two at unit u."""
        moved_variance = 2 * (self.centered.abs() * e).mean(self.dims, True) + (e * e).mean(self.dims, True)
        return moved_variance + 2 * (self.n + 4) * u * (2 * self.x.v.abs() * e + e * e).mean(self.dims, True)

    def of_rstd(self, e: torch.Tensor, u: float) -> torch.Tensor:
        low = (self.variance - e).clamp(min=0) + self.eps
        up = torch.where(low > 0, 1 / torch.sqrt(low), math.inf) - self.rstd
        return torch.maximum(up, self.rstd - 1 / torch.sqrt(self.variance + e + self.eps)) + 6 * u * self.rstd


@rule("aten.var.correction", "aten.var_mean.correction")
def variance(
    cx: Context, x: Number, dim: Any = None, correction: float | None = 1, keepdim: bool = False
) -> Any:
    dims = list(range(x.v.dim())) if not dim and dim != 0 else [dim] if isinstance(dim, int) else list(dim)
    m = Moments(x, dims, 0.0)
    rest = m.n - (1 if correction is None else correction)
    if rest <= 0:
        raise Unsupported(f"a variance of {m.n} numbers with {correction} taken off")
    factor = m.n / rest

    def flat(t: torch.Tensor) -> torch.Tensor:
        return t if keepdim else t.squeeze(dims)

    def f(t: torch.Tensor) -> torch.Tensor:
        return flat(((t - t.mean(dims, True)) ** 2).sum(dims, True) / rest)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else flat(factor * m.moved(e, U64 if level == 0 else unit_of(cx.dtype)))

    y = cx.out(
        f(x.v),
        propagated,
        lambda u: flat(factor * (m.own(u)[1] + 2 * u * m.variance)),
        moved(f, x),
        lambda u: flat(factor * (m.walk(u)[1] + u * m.variance)),
    )
    # Honest implementations do not take the root of a negative variance.
    y.runs = None if y.runs is None else [t.clamp(min=0) for t in y.runs]
    if cx.name == "aten.var.correction":
        return y

    def g(t: torch.Tensor) -> torch.Tensor:
        return flat(t.mean(dims, True))

    return y, cx.out(
        g(x.v),
        carried(g, x),
        lambda u: flat(m.own(u)[0]),
        moved(g, x),
        lambda u: flat(m.walk(u)[0]),
    )


def normalize(
    cx: Context,
    x: Number,
    dims: list[int],
    eps: float,
    weight: Number | None = None,
    bias: Number | None = None,
) -> tuple[Number, Moments]:
    """(x - mean) rstd weight + bias, where weight and bias are Numbers that broadcast, with or without errors."""
    m = Moments(x, dims, eps)
    w = None if weight is None else weight.v
    W: Error = 1.0 if w is None else w.abs()
    f = affine(m, dims, eps)
    v = f(x.v, w, None if bias is None else bias.v)

    def level_bound(level: int, u: float) -> torch.Tensor:
        e_mean, e_rstd = m.bounds(level, u)
        e = or_zero(x.error(level), x.v) + e_mean
        bound = W * (e * (m.rstd + e_rstd) + m.centered.abs() * e_rstd)
        hat = m.centered.abs() * m.rstd
        of_weight = None if weight is None else weight.error(level)
        if of_weight is not None:
            bound = bound + of_weight * (hat + e * (m.rstd + e_rstd) + m.centered.abs() * e_rstd)
        own = 4 * u * W * m.rstd * (x.v.abs() + m.mean.abs()) + u * v.abs()
        if bias is not None:
            own = own + 2 * u * bias.v.abs() + or_zero(bias.error(level), bias.v)
        return bound + own

    unit = {0: U64, 1: 2.0**-24 if cx.dtype != torch.float64 else U64}
    y = cx.out(v, lambda level: level_bound(level, unit[level]), lambda u: 0)
    y.runs = normalized_runs(cx, m, f, x, weight, bias, y, unit[1], W)
    return y, m


def statistics(cx: Context, m: Moments, x: Number, shape: Sequence[int]) -> list[Number]:
    """The mean and 1 / standard deviation as separate results."""
    walk_mean, walk_variance = m.walk(U64 if cx.dtype == torch.float64 else 2.0**-24)
    runs: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    for i in range(cx.count):
        t = x.run(i)
        mean = t.mean(m.dims, True) + cx.noise(m.mean) * walk_mean
        variance = ((t - mean) ** 2).mean(m.dims, True) + cx.noise(m.mean) * walk_variance
        runs[0].append(mean.reshape(shape))
        runs[1].append((1 / torch.sqrt(variance.clamp(min=0) + m.eps)).reshape(shape))
    proved, honest = m.bounds(0, U64), m.bounds(1, U64 if cx.dtype == torch.float64 else 2.0**-24)
    made = [
        Number(v.reshape(shape), proved[k].reshape(shape), honest[k].reshape(shape), runs[k] or None)
        for k, v in enumerate((m.mean, m.rstd))
    ]
    return [cx.permitted(x, cx.dtype) for x in made] if UNIT.get(cx.dtype, 0.0) > U32 else made


def affine(m: Moments, dims: list[int], eps: float) -> Function:
    def f(t: torch.Tensor, w: Bound, b: Bound, shift: Error = 0.0, spread: Error = 0.0) -> torch.Tensor:
        centered = t - (t.mean(dims, True) + shift)
        variance = (centered + shift).square_().mean(dims, True) + spread
        y = centered.div_(torch.sqrt(variance.clamp(min=0) + eps))
        y = y if w is None else y * w
        return y if b is None else y + b

    return f


def normalized_runs(
    cx: Context,
    m: Moments,
    f: Function,
    x: Number,
    weight: Number | None,
    bias: Number | None,
    y: Number,
    u: float,
    W: Error,
) -> list[torch.Tensor]:
    walk_mean, walk_variance = m.walk(u)
    own = 4 * u * W * m.rstd * (x.v.abs() + m.mean.abs()) + u * y.v.abs()
    _, stored = cx.stored(y.v, None, own)
    runs = []
    for i in range(cx.count):
        p = f(
            x.run(i),
            None if weight is None else weight.run(i),
            None if bias is None else bias.run(i),
            cx.noise(m.mean) * walk_mean,
            cx.noise(m.mean) * walk_variance,
        )
        runs.append(p if stored is None else cx.disturbed(p, stored))
    return runs


def shaped(x: Number, like: Number) -> Number:
    """x, which has an element for each channel, as it broadcasts to `like`."""
    shape = [1] * like.v.dim()
    shape[1] = -1
    return same(lambda t: t.reshape(shape), x)


@rule(
    "aten.native_batch_norm.default",
    "aten._native_batch_norm_legit_functional.default",
    "aten._native_batch_norm_legit.default",
    "aten._native_batch_norm_legit.no_stats",
    "aten.cudnn_batch_norm.default",
)
def batch_norm(cx: Context, x: Number, weight: Number | None, bias: Number | None, *rest: Any) -> Any:
    if cx.name.endswith("no_stats"):
        mean, variance, training, eps = None, None, rest[0], rest[2]
    else:
        mean, variance, training, eps = rest[0], rest[1], rest[2], rest[4]
    weight, bias = (None if t is None else shaped(t, x) for t in (weight, bias))
    if not training and mean is not None and variance is not None:
        return stored_norm(cx, x, weight, bias, mean, variance, eps), None, None, mean, variance
    dims = [d for d in range(x.v.dim()) if d != 1]
    y, m = normalize(cx, x, dims, eps, weight, bias)
    # The updated running statistics are no output of a task.
    return y, *(statistics(cx, m, x, (-1,)) if cx.wanted & {1, 2} else (None, None)), mean, variance


def stored_norm(
    cx: Context,
    x: Number,
    weight: Number | None,
    bias: Number | None,
    mean: Number,
    variance: Number,
    eps: float,
) -> Number:
    from .elementwise import RULES

    def call(name: str, *args: Any) -> Number:
        made: Number = RULES["aten." + name](cx, *args)
        return made

    name, cx.name = cx.name, "aten.rsqrt.default"
    mean = shaped(mean, x)
    scale = call("rsqrt.default", call("add.Tensor", shaped(variance, x), eps))
    cx.name = name
    y = call("mul.Tensor", call("sub.Tensor", x, mean), scale)
    y = y if weight is None else call("mul.Tensor", y, weight)
    y = y if bias is None else call("add.Tensor", y, bias)
    W: Error = 1.0 if weight is None else weight.v.abs()
    y.b = add_bounds(y.b, 4 * 2.0**-24 * (x.v.abs() + mean.v.abs()) * scale.v * W)
    return y


@rule("aten.native_layer_norm.default")
def layer_norm(
    cx: Context, x: Number, shape: Sequence[int], weight: Number | None, bias: Number | None, eps: float
) -> Any:
    dims = list(range(x.v.dim() - len(shape), x.v.dim()))
    y, m = normalize(cx, x, dims, eps, weight, bias)
    return y, *(statistics(cx, m, x, m.mean.shape) if cx.wanted & {1, 2} else (None, None))


@rule("aten.native_group_norm.default")
def group_norm(
    cx: Context,
    x: Number,
    weight: Number | None,
    bias: Number | None,
    batch: int,
    channels: int,
    inner: int,
    groups: int,
    eps: float,
) -> Any:
    split = same(lambda t: t.reshape(batch, groups, channels // groups, -1), x)

    def part(t: Number | None) -> Number | None:
        return None if t is None else same(lambda s: s.reshape(1, groups, channels // groups, 1), t)

    y, m = normalize(cx, split, [2, 3], eps, part(weight), part(bias))
    y = same(lambda t: t.reshape(x.v.shape), y)
    return y, *(statistics(cx, m, split, (batch, groups)) if cx.wanted & {1, 2} else (None, None))
