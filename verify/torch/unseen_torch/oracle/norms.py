"""Rules of normalizations and of the softmax family."""

import math

import torch

from . import exponents
from .elementwise import or_zero, rule
from .number import U32, U64, UNIT, Number, Unsupported, moved, same, unit_of


def expm1_of_bound(e):
    return torch.expm1(e) * (1 + 2.0**-50)


def softmax_shift(x, dim, level, y):
    """The effect of the errors of x on the logarithm of the sum of exponentials."""
    e = x.error(level)
    return (
        None if e is None else torch.log(torch.where(y > 0, y * torch.exp(e), 0.0).sum(dim, True)) + 2.0**-50
    )


def exponential_error(u, x, y, dim, walk):
    """Relative errors: (of one exponential exp(x - m), of a row's sum of them), where m is the row's maximum or 0. The
    sum's own error is its bound or, with `walk`, its typical size."""
    n = math.sqrt(x.shape[dim]) if walk else x.shape[dim]
    # An element masked by -inf contributes nothing.
    away = torch.where(y > 0, (x.amax(dim, True) - x).abs(), 0.0)
    own = (4 + 2.4 * away + 2 * torch.maximum(away, x.abs().clamp(max=88.0))) * u
    of_sum = (y * own).sum(dim, True) + n * u
    return torch.where(y > 0, own, 0.0), of_sum


def by_log_sum(x, y):
    """The error of exp(x - l) in units, where l is the logarithm of the sum. Its parts are the errors of the
    exponential, of l, and of the difference."""
    away = torch.where(y > 0, -y.log(), 0.0)
    return 8 + 3.4 * away + 3 * torch.where(y > 0, (x + away).abs(), 0.0)


@rule("aten._softmax.default", "aten._safe_softmax.default", "aten.softmax.int")
def softmax(cx, x, dim, *_, **__):
    def f(t):
        return torch.softmax(t, dim)

    y = f(x.v)
    y = torch.where(y.isnan(), 0.0, y) if "safe" in cx.name else y

    def propagated(level):
        e = x.error(level)
        if e is None:
            return None
        return torch.where(y > 0, y * expm1_of_bound(e + softmax_shift(x, dim, level, y)), 0.0)

    def local(u, walk=False):
        own, of_sum = exponential_error(u, x.v, y, dim, walk)
        return torch.where(
            y > 0, y * torch.maximum(own + of_sum + 4 * u, of_sum + u * by_log_sum(x.v, y)), 0.0
        )

    made = cx.out(y, propagated, local, moved(f, x), lambda u: local(u, True))
    # FlashAttention rounds the exponentials before the division by their sum, other kernels after it. The relative
    # error is the same.
    made = exponents.normalized(cx, made, x, dim)
    return made if cx.narrow is None else cx.permitted(made, cx.narrow)


@rule("aten._log_softmax.default", "aten.log_softmax.int")
def log_softmax(cx, x, dim, *_, **__):
    def f(t):
        return torch.log_softmax(t, dim)

    v, y = f(x.v), torch.softmax(x.v, dim)

    def propagated(level):
        e = x.error(level)
        return None if e is None else e + softmax_shift(x, dim, level, y)

    def local(u, walk=False):
        _own, of_sum = exponential_error(u, x.v, y, dim, walk)
        return of_sum + u * (v.abs() + 2 * x.v.abs() + 2 * (x.v - v).abs() + 12)

    return cx.out(v, propagated, local, moved(f, x), lambda u: local(u, True))


@rule("aten.logsumexp.default")
def logsumexp(cx, x, dims, keep=False):
    dims = [d % x.v.dim() for d in (list(dims) or range(x.v.dim()))]
    if len(dims) > 1:  # several dimensions are flattened to one
        rest = [d for d in range(x.v.dim()) if d not in dims]
        flat = same(lambda t: t.permute(*rest, *dims).flatten(len(rest)), x)
        made = logsumexp(cx, flat, [len(rest)])
        return (
            same(lambda t: t.reshape([1 if d in dims else x.v.shape[d] for d in range(x.v.dim())]), made)
            if keep
            else made
        )
    dim = dims[0]

    def f(t):
        return torch.logsumexp(t, dim, keep)

    v, y = f(x.v), torch.softmax(x.v, dim)

    def flat(t):
        return t if keep else t.squeeze(dim)

    def propagated(level):
        if x.error(level) is None:
            return None
        # the sum of an empty or fully masked row is exact
        nothing = v.isneginf() & flat(x.error(level).amax(dim, True)).isfinite()
        return torch.where(nothing, 0.0, flat(softmax_shift(x, dim, level, y)))

    def local(u, walk=False):
        _, of_sum = exponential_error(u, x.v, y, dim, walk)
        log = v - flat(x.v.amax(dim, True))
        size = torch.where(v.isfinite(), v.abs(), 0.0) + 1
        merged = exponents.steps_of_merging(u, walk, x.v.shape[dim], size)
        own = flat(of_sum) + u * (3 * v.abs() + 4 * log.abs() + 8)
        return 0 if x.v.shape[dim] == 1 and u == U64 else own + merged

    return cx.out(v, propagated, local, moved(f, x), lambda u: local(u, True))


class Moments:
    """Mean and variance of x over `dims`, their bounds, and the bounds of 1 / sqrt(variance + eps)."""

    def __init__(self, x, dims, eps):
        self.x, self.dims, self.eps = x, dims, eps
        self.n = math.prod([x.v.shape[d] for d in dims])
        self.mean = x.v.mean(dims, True)
        self.centered = x.v - self.mean
        self.variance = (self.centered**2).mean(dims, True)
        self.rstd = 1 / torch.sqrt(self.variance + eps)
        self.size = x.v.abs().mean(dims, True)
        self.square = (x.v**2).mean(dims, True)

    def own(self, u):
        """The own errors of the mean, and of the variance in one pass or two, in any order. The mean of one number is
        exact. Its variance in one pass is the rounding of its square."""
        if self.n == 1:
            return torch.zeros_like(self.mean), u * self.square
        return (self.n + 3) * u * self.size, 2 * (self.n + 4) * u * self.square

    def walk(self, u):
        if self.n == 1:
            return self.own(u)
        k = math.sqrt(self.n + 4) * u
        return k * torch.maximum(self.mean.abs(), (self.square / self.n).sqrt()), k * self.square

    def bounds(self, level, u):
        """The bounds of an evaluation at unit u: (mean, 1 / standard deviation)."""
        own_mean, own_variance = self.own(u)
        e = self.x.error(level)
        if e is None:
            return own_mean, self.of_rstd(own_variance, u)
        return own_mean + e.mean(self.dims, True) * (1 + self.n * u), self.of_rstd(
            own_variance + self.moved(e, u), u
        )

    def moved(self, e, u):
        """The effect of operands' errors e on the variance, computed in one pass or two at unit u."""
        moved_variance = 2 * (self.centered.abs() * e).mean(self.dims, True) + (e * e).mean(self.dims, True)
        return moved_variance + 2 * (self.n + 4) * u * (2 * self.x.v.abs() * e + e * e).mean(self.dims, True)

    def of_rstd(self, e, u):
        low = (self.variance - e).clamp(min=0) + self.eps
        up = torch.where(low > 0, 1 / torch.sqrt(low), math.inf) - self.rstd
        return torch.maximum(up, self.rstd - 1 / torch.sqrt(self.variance + e + self.eps)) + 6 * u * self.rstd


@rule("aten.var.correction", "aten.var_mean.correction")
def variance(cx, x, dim=None, correction=1, keepdim=False):
    dims = list(range(x.v.dim())) if not dim and dim != 0 else [dim] if isinstance(dim, int) else list(dim)
    m = Moments(x, dims, 0.0)
    rest = m.n - (1 if correction is None else correction)
    if rest <= 0:
        raise Unsupported(f"a variance of {m.n} numbers with {correction} taken off")
    factor = m.n / rest

    def flat(t):
        return t if keepdim or t is None else t.squeeze(dims)

    def f(t):
        return flat(((t - t.mean(dims, True)) ** 2).sum(dims, True) / rest)

    def propagated(level):
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

    def g(t):
        return flat(t.mean(dims, True))

    return y, cx.out(
        g(x.v),
        lambda level: None if x.error(level) is None else g(x.error(level)),
        lambda u: flat(m.own(u)[0]),
        moved(g, x),
        lambda u: flat(m.walk(u)[0]),
    )


def normalize(cx, x, dims, eps, weight=None, bias=None):
    """(x - mean) rstd weight + bias, where weight and bias are Numbers that broadcast, with or without errors."""
    m = Moments(x, dims, eps)
    w = None if weight is None else weight.v
    W = 1.0 if w is None else w.abs()
    f = affine(m, dims, eps)
    v = f(x.v, w, None if bias is None else bias.v)

    def level_bound(level, u):
        e_mean, e_rstd = m.bounds(level, u)
        e = or_zero(x.error(level), x.v) + e_mean
        bound = W * (e * (m.rstd + e_rstd) + m.centered.abs() * e_rstd)
        hat = m.centered.abs() * m.rstd
        if weight is not None and weight.error(level) is not None:
            bound = bound + weight.error(level) * (hat + e * (m.rstd + e_rstd) + m.centered.abs() * e_rstd)
        own = 4 * u * W * m.rstd * (x.v.abs() + m.mean.abs()) + u * v.abs()
        if bias is not None:
            own = own + 2 * u * bias.v.abs() + or_zero(bias.error(level), bias.v)
        return bound + own

    unit = {0: U64, 1: 2.0**-24 if cx.dtype != torch.float64 else U64}
    y = cx.out(v, lambda level: level_bound(level, unit[level]), lambda u: 0)
    y.runs = normalized_runs(cx, m, f, x, weight, bias, y, unit[1], W)
    return y, m


def statistics(cx, m, x, shape):
    """The mean and 1 / standard deviation as separate results."""
    walk_mean, walk_variance = m.walk(U64 if cx.dtype == torch.float64 else 2.0**-24)
    runs = ([], [])
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


def affine(m, dims, eps):
    def f(t, w, b, shift=0.0, spread=0.0):
        mean = t.mean(dims, True) + shift
        variance = ((t - mean + shift) ** 2).mean(dims, True) + spread
        y = (t - mean) / torch.sqrt(variance.clamp(min=0) + eps)
        y = y if w is None else y * w
        return y if b is None else y + b

    return f


def normalized_runs(cx, m, f, x, weight, bias, y, u, W):
    walk_mean, walk_variance = m.walk(u)
    own = 4 * u * W * m.rstd * (x.v.abs() + m.mean.abs()) + u * y.v.abs()
    _, own = cx.stored(y.v, None, own)
    runs = []
    for i in range(cx.count):
        p = f(
            x.run(i),
            None if weight is None else weight.run(i),
            None if bias is None else bias.run(i),
            cx.noise(m.mean) * walk_mean,
            cx.noise(m.mean) * walk_variance,
        )
        runs.append(p + cx.noise(p) * own)
    return runs


def shaped(x, like, channel):
    shape = [1] * like.v.dim()
    shape[channel] = -1
    return None if x is None else same(lambda t: t.reshape(shape), x)


@rule(
    "aten.native_batch_norm.default",
    "aten._native_batch_norm_legit_functional.default",
    "aten._native_batch_norm_legit.default",
    "aten._native_batch_norm_legit.no_stats",
    "aten.cudnn_batch_norm.default",
)
def batch_norm(cx, x, weight, bias, *rest):
    if cx.name.endswith("no_stats"):
        mean, variance, training, eps = None, None, rest[0], rest[2]
    else:
        mean, variance, training, eps = rest[0], rest[1], rest[2], rest[4]
    if not training:
        return stored_norm(cx, x, weight, bias, mean, variance, eps), None, None, mean, variance
    dims = [d for d in range(x.v.dim()) if d != 1]
    y, m = normalize(cx, x, dims, eps, shaped(weight, x, 1), shaped(bias, x, 1))
    # The updated running statistics are no output of a task.
    return y, *(statistics(cx, m, x, (-1,)) if cx.wanted & {1, 2} else (None, None)), mean, variance


def stored_norm(cx, x, weight, bias, mean, variance, eps):
    from .elementwise import RULES

    def call(name, *args):
        return RULES["aten." + name](cx, *args)

    name, cx.name = cx.name, "aten.rsqrt.default"
    scale = call("rsqrt.default", call("add.Tensor", shaped(variance, x, 1), eps))
    cx.name = name
    y = call("mul.Tensor", call("sub.Tensor", x, shaped(mean, x, 1)), scale)
    y = y if weight is None else call("mul.Tensor", y, shaped(weight, x, 1))
    y = y if bias is None else call("add.Tensor", y, shaped(bias, x, 1))
    y.b = y.b + 4 * 2.0**-24 * (x.v.abs() + shaped(mean, x, 1).v.abs()) * scale.v * (
        1.0 if weight is None else shaped(weight, x, 1).v.abs()
    )
    return y


@rule("aten.native_layer_norm.default")
def layer_norm(cx, x, shape, weight, bias, eps):
    dims = list(range(x.v.dim() - len(shape), x.v.dim()))
    y, m = normalize(cx, x, dims, eps, weight, bias)
    return y, *(statistics(cx, m, x, m.mean.shape) if cx.wanted & {1, 2} else (None, None))


@rule("aten.native_group_norm.default")
def group_norm(cx, x, weight, bias, batch, channels, inner, groups, eps):
    split = same(lambda t: t.reshape(batch, groups, channels // groups, -1), x)

    def part(t):
        return None if t is None else same(lambda s: s.reshape(1, groups, channels // groups, 1), t)

    y, m = normalize(cx, split, [2, 3], eps, part(weight), part(bias))
    y = same(lambda t: t.reshape(x.v.shape), y)
    return y, *(statistics(cx, m, split, (batch, groups)) if cx.wanted & {1, 2} else (None, None))
