"""Lowers products, convolutions, poolings, normalizations and losses to the primitives of ir.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .gradients import wide
from .ir import Lowered, Ref, lower
from .number import Unsupported

F = torch.nn.functional


@lower("mm", "bmm")
def product(low: Lowered, a: Ref, b: Ref) -> Ref:
    batch = a.shape[0] if len(a.shape) == 3 else 1
    shape = (*a.shape[:-1], b.shape[-1])
    return low.emit("mm", shape, a=a.node, b=b.node, sizes=[batch, a.shape[-2], b.shape[-1], a.shape[-1]])


@lower("addmm", "baddbmm")
def addmm(low: Lowered, bias: Ref | None, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Ref:
    made = product(low, a, b)
    made = made if alpha == 1 else low.mul(made, alpha)
    return low.add(made, bias if beta == 1 else low.mul(bias, beta))


@lower("convolution")
def convolution(
    low: Lowered,
    x: Ref,
    w: Ref,
    bias: Ref | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Ref:
    zeros = [torch.zeros(t.shape, device="meta") for t in (x, w)]
    shape = torch.ops.aten.convolution(
        *zeros, None, stride, padding, dilation, transposed, output_padding, groups
    ).shape
    rank = len(shape) - 2

    def wide(t: Sequence[int]) -> list[int]:
        return list(t) * (rank if len(t) == 1 else 1)

    made = low.emit(
        "conv",
        shape,
        a=x.node,
        b=w.node,
        x=list(x.shape),
        w=list(w.shape),
        y=list(shape),
        stride=wide(stride),
        padding=wide(padding),
        dilation=wide(dilation),
        transposed=int(transposed),
        groups=groups,
    )
    return made if bias is None else low.add(made, low.moved(bias, lambda t: t.reshape(-1, *[1] * rank)))


@lower("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(
    low: Lowered,
    x: Ref,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Ref, None]:
    if ceil_mode:
        raise Unsupported("single elements of a pooling with ceil_mode are not evaluated")
    taken, dims = windows(low, x, kernel, stride, padding, dilation, -math.inf)
    return low.reduced("most", taken, dims), None


@lower("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(
    low: Lowered,
    x: Ref,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Ref:
    if ceil_mode or divisor is not None or (not count_include_pad and set(wide(padding, 1)) != {0}):
        raise Unsupported("single elements of such a pooling are not evaluated")
    taken, dims = windows(low, x, kernel, stride, padding, 1, 0.0)
    return low.mean(taken, dims)


def windows(
    low: Lowered, x: Ref, kernel: Any, stride: Any, padding: Any, dilation: Any, fill: float
) -> tuple[Ref, list[int]]:
    """The elements of every window, in new dimensions behind the others."""
    rank = int(low.name.split("pool")[1][0])
    kernel, padding, dilation = wide(kernel, rank), wide(padding, rank), wide(dilation, rank)
    stride = wide(stride, rank) if len(wide(stride, 1)) else kernel

    def taken(t: torch.Tensor) -> torch.Tensor:
        t = F.pad(t, [p for p in reversed(padding) for _ in (0, 1)])
        for d in range(rank):
            t = t.unfold(len(x.shape) - rank + d, (kernel[d] - 1) * dilation[d] + 1, stride[d])[
                ..., :: dilation[d]
            ]
        return t

    return low.moved(x, taken, fill), list(range(len(x.shape), len(x.shape) + rank))


ENDLESS = 1e300


def finite_most(low: Lowered, x: Ref, dims: Sequence[int]) -> Ref:
    """The greatest element, or a finite number of its sign, since inf - inf is NaN."""
    return low.binary("min", low.binary("max", low.reduced("most", x, dims, True), -ENDLESS), ENDLESS)


@lower("_softmax", "_safe_softmax")
def softmax(low: Lowered, x: Ref, dim: int, *_: Any, **__: Any) -> Ref:
    e = low.unary("exp", low.sub(x, finite_most(low, x, [dim])))
    total = low.reduced("sum", e, [dim], True)
    return low.div(e, low.binary("max", total, 1.0) if "safe" in low.name else total)


@lower("logsumexp")
def logsumexp(low: Lowered, x: Ref, dims: Any, keep: bool = False) -> Ref:
    most = finite_most(low, x, dims)
    log = low.unary("log", low.reduced("sum", low.unary("exp", low.sub(x, most)), dims, True))
    made = low.add(log, most)
    return made if keep else low.moved(made, lambda t: t.squeeze(dims))


@lower("_log_softmax")
def log_softmax(low: Lowered, x: Ref, dim: int, *_: Any, **__: Any) -> Ref:
    return low.sub(x, logsumexp(low, x, [dim], True))


@lower("linalg_vector_norm", "norm.ScalarOpt_dim", "norm.Scalar")
def norm(
    low: Lowered, x: Ref, order: float | None = 2, dims: Any = None, keep: bool = False, **_: Any
) -> Ref:
    dims = (
        list(range(len(x.shape))) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    )
    if order in (2, None):
        return low.unary("sqrt", low.reduced("sum", low.mul(x, x), dims, keep))
    if order == 1:
        return low.reduced("sum", low.unary("abs", x), dims, keep)
    raise Unsupported("single elements of such a norm are not evaluated")


def normalized(low: Lowered, x: Ref, dims: Any, eps: float, weight: Ref | None, bias: Ref | None) -> Ref:
    centered = low.sub(x, low.mean(x, dims, True))
    variance = low.mean(low.mul(centered, centered), dims, True)
    made = low.div(centered, low.unary("sqrt", low.add(variance, eps)))
    made = made if weight is None else low.mul(made, weight)
    return made if bias is None else low.add(made, bias)


def column(low: Lowered, t: Ref | None, x: Ref, channel: int = 1) -> Ref | None:
    shape = [-1 if d == channel else 1 for d in range(len(x.shape))]
    return None if t is None else low.moved(t, lambda s: s.reshape(shape))


@lower("native_batch_norm")
def batch_norm(
    low: Lowered,
    x: Ref,
    weight: Ref | None,
    bias: Ref | None,
    mean: Ref | None,
    variance: Ref | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Ref, None, None]:
    if not training:
        scale = low.div(
            column(low, weight, x) or 1.0, low.unary("sqrt", low.add(column(low, variance, x), eps))
        )
        made = low.mul(low.sub(x, column(low, mean, x)), scale)
        return (made if bias is None else low.add(made, column(low, bias, x))), None, None
    dims = [d for d in range(len(x.shape)) if d != 1]
    return normalized(low, x, dims, eps, column(low, weight, x), column(low, bias, x)), None, None


@lower("native_layer_norm")
def layer_norm(
    low: Lowered, x: Ref, shape: Sequence[int], weight: Ref | None, bias: Ref | None, eps: float
) -> tuple[Ref, None, None]:
    return (
        normalized(low, x, list(range(len(x.shape) - len(shape), len(x.shape))), eps, weight, bias),
        None,
        None,
    )


@lower("native_group_norm")
def group_norm(
    low: Lowered,
    x: Ref,
    weight: Ref | None,
    bias: Ref | None,
    batch: int,
    channels: int,
    inner: int,
    groups: int,
    eps: float,
) -> tuple[Ref, None, None]:
    split = low.moved(x, lambda t: t.reshape(batch, groups, channels // groups, -1))

    def part(t: Ref | None) -> Ref | None:
        return None if t is None else low.moved(t, lambda s: s.reshape(1, groups, channels // groups, 1))

    made = normalized(low, split, [2, 3], eps, part(weight), part(bias))
    return low.moved(made, lambda t: t.reshape(x.shape)), None, None


@lower("mse_loss", "smooth_l1_loss", "huber_loss")
def loss(low: Lowered, a: Any, b: Any, reduction: int = 1, beta: float = 1.0) -> Ref:
    d = low.unary("abs", low.sub(a, b))
    if "mse" in low.name:
        each = low.mul(d, d)
    else:  # with m = min(d, beta): m^2 / 2 + beta (d - m), and smooth_l1 divides it by beta
        m = low.binary("min", d, beta)
        each = low.add(low.mul(low.mul(m, m), 0.5), low.mul(low.sub(d, m), beta))
        each = each if "huber" in low.name else low.div(each, beta)
    dims = list(range(len(each.shape)))
    return (
        each if reduction == 0 else low.mean(each, dims) if reduction == 1 else low.reduced("sum", each, dims)
    )


@lower("nll_loss_forward")
def nll(
    low: Lowered, x: Ref, target: torch.Tensor, weight: Any, reduction: int, ignore: int
) -> tuple[Ref, None]:
    if weight is not None:
        raise Unsupported("nll_loss with weights")
    if bool((target == ignore).any()):
        raise Unsupported("nll_loss with ignored targets")
    picked = low.moved(x, lambda t: t.gather(1, target.cpu().unsqueeze(1)).squeeze(1))
    each = low.sub(0.0, picked)
    return (
        each if reduction == 0 else low.mean(each, [0]) if reduction == 1 else low.reduced("sum", each, [0])
    ), None
