"""Rules of sums: products of matrices, convolutions, reductions, pooling, scans.

A sum of n terms in any order and any split errs by at most n u sum|p| (doc/error-model.md, T1). A bias, a scale or a
normalization that an implementation fuses into the sum counts as a few more terms. A product in fp32 may be
three TF32 products (2^-19 sum|p|), as in gemm_f32. Typical errors form a random walk of amplitude sqrt(n) u max(|s|, ||p||).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from . import exponents, ties, wholes
from .bounds import Bound, Error, Function
from .elementwise import mul, or_zero, rule
from .number import FIRST, U64, WHOLE, Context, Number, Unsupported, add_bounds, carried, moved, same
from .transformed import Transformed, of_long_filter

F = torch.nn.functional
MORE_TERMS = 8
THREE_TF32 = 2.0**-19
SHORT = 2.0**11  # whole numbers up to here have exact products in every admitted arithmetic


def terms_factor(u: float, n: int, split: bool = True) -> float:
    return (n + 2) * u if u == U64 else (n + MORE_TERMS) * u + (THREE_TF32 if split else 0.0)


def bilinear(
    cx: Context,
    f: Function,
    a: Number,
    b: Number,
    n: int,
    spread: Callable[[torch.Tensor], torch.Tensor] | None = None,
    fast: Transformed | None = None,
) -> Number:
    """v = f(a, b), a sum of n products each. Matrix products and convolutions share it.

    `spread` gives magnitudes of the first operand in the sums of another algorithm (Winograd's). `fast`
    gives the errors of fast transforms.
    """
    v = f(a.v, b.v)
    A, B = a.v.abs(), b.v.abs()
    magnitude = f(A, B)

    def propagated(level: int) -> Bound:
        ea, eb = a.error(level), b.error(level)
        first = None if ea is None else f(ea, B)
        second = None if eb is None else f(A + or_zero(ea, A), eb)
        return add_bounds(first, second)

    wide = magnitude if spread is None else f(spread(A), B)
    norm = f(A * A if spread is None else spread(A * A), B * B).clamp(min=0).sqrt()
    exact = (
        spread is None
        and fast is None
        and a.whole
        and b.whole
        and float(A.amax() if A.numel() else 0) <= SHORT
        and float(B.amax() if B.numel() else 0) <= SHORT
    )
    rounds = magnitude > WHOLE if exact else 1.0  # any order and any split of such products is exact

    def local(u: float) -> Error:
        if u == U64:
            return terms_factor(u, n) * magnitude * rounds
        own = (n + MORE_TERMS) * u * magnitude + THREE_TF32 * (1 if spread is None else 4) * wide
        return rounds * (own if fast is None else torch.maximum(own, fast.most(u)))

    def typical(u: float) -> Error:
        walk = math.sqrt(n + 4) * u * torch.maximum(v.abs(), norm)
        walk = walk if fast is None else torch.maximum(walk, fast.typical(u))
        return (walk + (2.0**-22 if spread is None else 2.0**-20) * norm) * rounds

    made = cx.out(v, propagated, local, moved(f, a, b), typical)
    made.whole = a.whole and b.whole and fast is None
    return made


def scaled(cx: Context, x: Number, k: float) -> Number:
    return x if k == 1 else mul(cx, x, float(k))


def plus(cx: Context, product: Number, bias: Number, k: float = 1) -> Number:
    from .elementwise import add_sub

    return add_sub(cx, product, scaled(cx, bias, k), 1, 1)


@rule("aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.matmul.default")
def product(cx: Context, a: Number, b: Number) -> Number:
    made = exponents.contracted(cx, bilinear(cx, torch.matmul, a, b, a.v.shape[-1]), a, b)
    return wholes.contracted(made, a, b)


@rule("aten.dot.default")
def dot(cx: Context, a: Number, b: Number) -> Number:
    return bilinear(cx, lambda x, y: (x * y).sum(), a, b, a.v.shape[-1])


@rule("aten.addmm.default", "aten.baddbmm.default", "aten.addmv.default")
def addmm(cx: Context, bias: Number, a: Number, b: Number, beta: float = 1, alpha: float = 1) -> Number:
    return plus(cx, scaled(cx, product(cx, a, b), alpha), bias, beta)


@rule("aten.addbmm.default")
def added_batches(
    cx: Context, bias: Number, a: Number, b: Number, beta: float = 1, alpha: float = 1
) -> Number:
    """A single product: its sums run over the batches, too."""
    wide = same(lambda t: t.transpose(0, 1).reshape(t.shape[1], -1), a)
    tall = same(lambda t: t.reshape(-1, t.shape[2]), b)
    return plus(cx, scaled(cx, product(cx, wide, tall), alpha), bias, beta)


@rule("aten.linear.default")
def fully_connected(cx: Context, x: Number, w: Number, bias: Number | None = None) -> Number:
    y = product(cx, x, same(lambda t: t.transpose(-1, -2), w))
    return y if bias is None else plus(cx, y, bias)


def winograd(
    x: torch.Tensor, w: torch.Tensor, stride: Any, dilation: Any, transposed: bool
) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """3 x 3 convolutions may use Winograd tiles, whose sums extend over neighbouring elements."""
    plain = (
        x.dim() == 4
        and w.shape[2:] == (3, 3)
        and set(stride) == {1}
        and set(dilation) == {1}
        and not transposed
    )
    return (lambda t: F.max_pool2d(t, 5, 1, 2)) if plain else None


@rule("aten.convolution.default")
def convolution(
    cx: Context,
    x: Number,
    w: Number,
    bias: Number | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Number:
    def f(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.ops.aten.convolution(
            p, q, None, stride, padding, dilation, transposed, output_padding, groups
        )
        return made

    n = math.prod(w.v.shape[2:]) * (x.v.shape[1] // groups)
    near = winograd(x.v, w.v, stride, dilation, transposed)
    fast = of_long_filter(x.v, w.v, stride, padding, dilation, transposed, groups)
    y = bilinear(cx, f, x, w, n, near, fast)
    if bias is None:
        return y

    def column(t: torch.Tensor) -> torch.Tensor:
        return t.reshape(-1, *[1] * (x.v.dim() - 2))

    return plus(cx, y, same(column, bias))


def reduce(cx: Context, x: Number, dims: Any, keep: bool, mean: bool = False) -> Number:
    dims = list(range(x.v.dim())) if dims is None or dims == [] else [d % max(x.v.dim(), 1) for d in dims]
    n = math.prod([x.v.shape[d] for d in dims])

    def total(t: torch.Tensor) -> torch.Tensor:
        return t.sum(dim=dims, keepdim=keep) if dims else t

    if not x.is_float and not mean:
        return Number(total(x.v))
    scale = 1.0 / max(n, 1) if mean else 1.0

    def f(t: torch.Tensor) -> torch.Tensor:
        return total(t.double()) * scale

    v, magnitude = f(x.v), f(x.v.double().abs())
    norm = total(x.v.double() ** 2).sqrt() * scale

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else f(e)

    roundings = 2 if mean else 0
    if n == 1:
        return cx.out(v, propagated, lambda u: 0, moved(f, x))
    rounds = magnitude > WHOLE if x.whole and not mean else 1.0
    made = cx.out(
        v,
        propagated,
        lambda u: (n + roundings) * u * magnitude * rounds,
        moved(f, x),
        lambda u: math.sqrt(n + roundings) * u * torch.maximum(v.abs(), norm) * rounds,
    )
    made.beside = (
        None if x.beside is None else x.beside.expand(x.v.shape).sum(dims, keep) > 0 if dims else x.beside
    )
    made.whole = x.whole and not mean
    return exponents.summed(made, x, lambda t: t.amax(dims, keep) if dims else t)


@rule("aten.sum.dim_IntList", "aten.sum.default")
def total(cx: Context, x: Number, dims: Any = None, keep: bool = False, **_: Any) -> Number:
    return reduce(cx, x, dims, keep)


@rule("aten.mean.dim", "aten.mean.default")
def mean(cx: Context, x: Number, dims: Any = None, keep: bool = False, **_: Any) -> Number:
    return reduce(cx, x, dims, keep, mean=True)


@rule(
    "aten.amax.default",
    "aten.amin.default",
    "aten.max.default",
    "aten.min.default",
    "aten.max.dim",
    "aten.min.dim",
)
def extreme_of(cx: Context, x: Number, dim: Any = None, keep: bool = False) -> Any:
    largest = "max" in cx.name
    dims = list(range(x.v.dim())) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim

    def f(t: torch.Tensor) -> torch.Tensor:
        return t.amax(dims, keep) if largest else t.amin(dims, keep)

    y = cx.out(
        f(x.v),
        carried(lambda e: e.amax(dims, keep), x),
        lambda u: 0,
        moved(f, x),
    )
    if not cx.name.endswith(".dim"):
        return y
    return y, index_of(cx, x, dim, keep, largest)


def index_of(cx: Context, x: Number, dim: int | None, keep: bool, largest: bool) -> Number:
    f = torch.argmax if largest else torch.argmin
    open_ = None if x.b is None else undecided(x, dim, keep, largest)
    index = Number(f(x.v, dim, keep), names=(x, dim, FIRST), open=open_)
    index.ways = ties.ways(cx, x, lambda t: f(t, dim, keep), open_)
    return index


def undecided(x: Number, dim: int | None, keep: bool, largest: bool) -> Bound:
    """Mask of the extremes for which another element may be the best one, within the bounds."""
    if dim is None:
        return undecided(same(lambda t: t.reshape(-1), x), 0, False, largest)
    v, b = (x.v if largest else -x.v), x.b
    if b is None or v.shape[dim] < 2:
        return None
    best, at = v.max(dim, True)
    reach = best - b.gather(dim, at)
    return (v + b >= reach).sum(dim, keep) > 1


@rule("aten.argmax.default", "aten.argmin.default")
def arg(cx: Context, x: Number, dim: int | None = None, keep: bool = False) -> Number:
    return index_of(cx, x, dim, keep, "argmax" in cx.name)


@rule("aten.cumsum.default")
def cumsum(cx: Context, x: Number, dim: int, **_: Any) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return t.cumsum(dim)

    if not x.is_float:
        return Number(f(x.v))
    v, magnitude = f(x.v), f(x.v.abs())
    shape = [1] * x.v.dim()
    shape[dim] = -1
    n = torch.arange(1, x.v.shape[dim] + 1, dtype=torch.float64, device=x.v.device).reshape(shape)
    walk = f(x.v * x.v).sqrt()
    rounds = magnitude > WHOLE if x.whole else 1.0
    made = cx.out(
        v,
        carried(f, x),
        lambda u: n * u * magnitude * rounds,
        moved(f, x),
        lambda u: n.sqrt() * u * torch.maximum(v.abs(), walk) * rounds,
    )
    made.whole = x.whole
    return exponents.running_sum(cx, made, x, f)


@rule("aten.cumprod.default")
def cumprod(cx: Context, x: Number, dim: int, **_: Any) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return t.cumprod(dim)

    v = f(x.v)
    shape = [1] * x.v.dim()
    shape[dim] = -1
    n = torch.arange(1, x.v.shape[dim] + 1, dtype=torch.float64, device=x.v.device).reshape(shape)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else f(x.v.abs() + e) - v.abs() + 2.0**-50 * n * v.abs()

    # A partial product may vanish in fp32, and a large factor may follow.
    lost = 2.0**-126 * n * f(x.v.abs().clamp(min=1.0))
    return cx.out(
        v,
        propagated,
        lambda u: (n - 1) * u * v.abs() + (lost if u != U64 else 0),
        moved(f, x),
        lambda u: n.sqrt() * u * v.abs(),
    )


@rule("aten.prod.dim_int", "aten.prod.default")
def prod(cx: Context, x: Number, dim: int | None = None, keep: bool = False, **_: Any) -> Number:
    flat = x if dim is not None else same(lambda t: t.reshape(-1), x)
    at = 0 if dim is None else dim
    made = cumprod(cx, flat, at)

    def last(t: torch.Tensor) -> torch.Tensor:
        return t.narrow(at, t.shape[at] - 1, 1) if keep else t.select(at, t.shape[at] - 1)

    return same(last, made)


@rule("aten.linalg_vector_norm.default", "aten.norm.ScalarOpt_dim", "aten.norm.Scalar")
def vector_norm(
    cx: Context, x: Number, order: Any = 2, dims: Any = None, keep: bool = False, **_: Any
) -> Number:
    order = 2 if order is None else order
    dims = list(range(x.v.dim())) if dims is None or dims == [] else dims

    def f(t: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.linalg.vector_norm(t, order, dims, keep)
        return made

    n = math.prod([x.v.shape[d] for d in ([dims] if isinstance(dims, int) else dims)])
    v = f(x.v)
    if order < 1 and order != -math.inf and x.b is not None:
        # Norms of such an order obey no triangle inequality.
        raise Unsupported(f"a norm of the order {order:g} of computed numbers")
    greatest = (lambda e: e.amax(dims, keep)) if order == -math.inf else f
    power = 0 if order in (0, 1, 2, math.inf, -math.inf) else 16 + 4 * abs(order)
    return cx.out(
        v,
        carried(greatest, x),
        lambda u: (n / (abs(order) or 1) + 8 + power) * u * v,
        moved(f, x),
        lambda u: math.sqrt(n + 8) * u * v,
    )
