"""Rules of gradients, which `torch.autograd.grad` within a forward pass leaves in the graph.

PyTorch's own table decomposes most backward operations. The operations below have a rule here for one of two reasons.
Either the table lacks them, or its decomposition makes a choice that an honest implementation may make otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table

from .bounds import Bound, Function
from .elementwise import mul, or_zero, rule
from .number import Context, Number, Unsupported, lost, moved
from .sampling import nearest_dimensions
from .shape import operator
from .sums import bilinear, reduce, winograd

F = torch.nn.functional
aten = torch.ops.aten
OWN = (
    "max_pool2d_with_indices_backward",
    "native_dropout_backward",
    "reflection_pad1d_backward",
    "reflection_pad2d_backward",
    "reflection_pad3d_backward",
)


def hard_shrink(grad: torch.Tensor, x: torch.Tensor, limit: float) -> torch.Tensor:
    return torch.where((x >= -limit) & (x <= limit), torch.zeros_like(grad), grad)


def weight_norm(
    grad: torch.Tensor, v: torch.Tensor, g: torch.Tensor, norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of w = g v / |v|: (for v, for g)."""
    dims = [d for d in range(v.dim()) if d != dim]
    along = (grad * v).sum(dims, keepdim=True) / norms
    return g / norms * (grad - v * (along / norms)), along


def distances(
    grad: torch.Tensor, first: torch.Tensor, second: torch.Tensor, p: float, made: torch.Tensor
) -> Any:
    """The gradient of Euclidean distances. It is 0 for equal points."""
    if p != 2:
        return NotImplemented
    share = torch.where(made == 0, torch.zeros_like(made), grad / made)
    return first * share.sum(-1, keepdim=True) - share @ second


def apart() -> dict[Any, Callable[..., Any]]:
    """Decompositions of backward operations, by operation."""
    known = {
        op: function
        for op, function in decomposition_table.items()
        if isinstance(op, torch._ops.OpOverload)
        and "backward" in op._schema.name
        and op._schema.name.removeprefix("aten::") not in OWN
        and op._overloadname != "grad_input"
    }
    return {
        **known,
        aten.hardshrink_backward.default: hard_shrink,
        aten.softshrink_backward.default: hard_shrink,
        aten._weight_norm_interface_backward.default: weight_norm,
        aten._cdist_backward.default: distances,
    }


# --- convolutions ---


@rule("aten.convolution_backward.default")
def convolution(
    cx: Context,
    grad: Number,
    x: Number,
    w: Number,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    mask: Sequence[bool],
) -> tuple[Number | None, ...]:
    """The gradients of a convolution. Each is itself a sum of products: that of the input over the outputs that use it,
    that of the weight over all places."""
    shared = (None, stride, padding, dilation, transposed, output_padding, groups)
    neighbours = winograd(x.v, w.v, stride, dilation, transposed)
    window, channels = math.prod(w.v.shape[2:]), w.v.shape[0] if not transposed else w.v.shape[1]

    def of(g: torch.Tensor, s: torch.Tensor, t: torch.Tensor, which: int) -> torch.Tensor:
        made: torch.Tensor = aten.convolution_backward(g, s, t, *shared, [k == which for k in range(3)])[
            which
        ]
        return made

    results: list[Number | None] = [None, None, None]
    if mask[0]:
        blank = torch.zeros_like(x.v)
        results[0] = bilinear(
            cx,
            lambda g, t: of(g, blank, t, 0),
            grad,
            w,
            window * (channels // (1 if transposed else groups)),
            neighbours,
        )
    if mask[1]:
        shape = torch.zeros_like(w.v)
        places = x.v.shape[0] * math.prod(x.v.shape[2:] if transposed else grad.v.shape[2:])
        results[1] = bilinear(cx, lambda s, g: of(g, s, shape, 1), x, grad, places, neighbours)
    if mask[2]:
        results[2] = reduce(cx, grad, [d for d in range(grad.v.dim()) if d != 1], False)
    return tuple(results)


# --- linear maps with weights that are not negative ---


def weighted(
    cx: Context,
    f: Function,
    x: Number,
    n: int,
    size: Function | None = None,
    own: Callable[[float], torch.Tensor] | None = None,
) -> Number:
    """v = f(x), sums of n elements with weights. If weights may be negative, size(t) bounds the sum of magnitudes.
    own(u) is the error of weights that are themselves computed."""
    v, size = f(x.v), size or f
    magnitude = size(x.v.abs())

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else size(e)

    more = (lambda u: own(u)) if own else lambda u: 0
    return cx.out(
        v,
        propagated,
        lambda u: (n + 3) * u * magnitude + more(u),
        moved(f, x),
        lambda u: math.sqrt(n + 3) * u * magnitude + more(u),
    )


def overlap(kernel: Sequence[int], stride: Sequence[int]) -> int:
    return math.prod(-(-k // s) for k, s in zip(kernel, stride))


def wide(t: Any, rank: int) -> list[int]:
    extents: list[int] = [t] if isinstance(t, int) else list(t)
    return extents * (rank if len(extents) == 1 else 1)


@rule("aten.avg_pool2d_backward.default", "aten.avg_pool3d_backward.default")
def average_pool(cx: Context, grad: Number, x: Number, kernel: Any, stride: Any, *how: Any) -> Number:
    rank = 2 if "2d" in cx.name else 3
    op, kernel = operator(cx.name), wide(kernel, rank)
    n = overlap(kernel, wide(stride, rank) if list(stride) else kernel)
    if how[-1] is not None and how[-1] < 0:
        raise Unsupported("an average with a negative divisor")
    return weighted(cx, lambda g: op(g, torch.zeros_like(x.v), kernel, stride, *how), grad, n)


@rule("aten._adaptive_avg_pool2d_backward.default", "aten._adaptive_avg_pool3d_backward.default")
def adaptive_pool(cx: Context, grad: Number, x: Number) -> Number:
    op, rank = operator(cx.name), 2 if "2d" in cx.name else 3
    n = math.prod(-(-o // i) + 1 for o, i in zip(grad.v.shape[-rank:], x.v.shape[-rank:]))
    return weighted(cx, lambda g: op(g, torch.zeros_like(x.v)), grad, n)


@rule(*[f"aten.{kind}_pad{d}d_backward.default" for kind in ("replication", "reflection") for d in (1, 2, 3)])
def padding(cx: Context, grad: Number, x: Number, widths: Sequence[int]) -> Number:
    op: Function = operator(cx.name)
    n = math.prod(max(0, a) + max(0, b) + 1 for a, b in zip(widths[::2], widths[1::2]))
    return weighted(cx, lambda g: op(g, torch.zeros_like(x.v), widths), grad, n)


def near(t: torch.Tensor, rank: int, reach: int) -> torch.Tensor:
    """Sums over the pixels within `reach` along each dimension."""
    pool: Function = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[rank]
    return pool(t, 2 * reach + 1, 1, reach) * int((2 * reach + 1) ** rank)


# roundings of a place between pixels: two products and two sums, each at most as large as the image
PLACE = 8


@rule(
    "aten.upsample_linear1d_backward.default",
    "aten.upsample_bilinear2d_backward.default",
    "aten.upsample_trilinear3d_backward.default",
    "aten.upsample_bicubic2d_backward.default",
)
def between_pixels(
    cx: Context, grad: Number, made: Sequence[int], given: Sequence[int], align: bool, *scales: Any
) -> Number:
    """The gradient of an interpolation. A place that is off by e moves a weight by e. A pixel next to it may get that
    share."""
    op: Function = operator(cx.name)
    rank = len(made)
    n = math.prod(2 * -(-o // i) + 2 for o, i in zip(made, given[2:]))

    def f(g: torch.Tensor) -> torch.Tensor:
        return op(g, made, given, align, *scales)

    linear = {
        1: aten.upsample_linear1d_backward,
        2: aten.upsample_bilinear2d_backward,
        3: aten.upsample_trilinear3d_backward,
    }[rank]

    def plain(g: torch.Tensor) -> Any:
        return linear(g, made, given, align, *scales)

    cubic = "bicubic" in cx.name
    around = near(plain(grad.v.abs()), rank, 2 if cubic else 1)

    def own(u: float) -> torch.Tensor:
        return PLACE * rank * max(given[2:]) * u * (2 if cubic else 1) * around

    return weighted(
        cx,
        f,
        grad,
        n * (2**rank if cubic else 1),
        (lambda t: near(plain(t), rank, 2)) if cubic else None,
        own,
    )


@rule(
    *[
        f"aten.{name}{d}d_backward.default"
        for name in ("upsample_nearest", "_upsample_nearest_exact")
        for d in (1, 2, 3)
    ]
)
def nearest(cx: Context, grad: Number, made: Sequence[int], given: Sequence[int], *scales: Any) -> Number:
    name = cx.name.replace("_backward", "")
    if any(bool((least != most).any()) for _, least, most in nearest_dimensions(name, given, made, scales)):
        raise Unsupported("the gradient of a nearest pixel, where two are equally near")
    op: Function = operator(cx.name)
    n = math.prod(-(-o // i) + 1 for o, i in zip(made, given[2:]))
    return weighted(cx, lambda g: op(g, made, given, *scales), grad, n)


# --- maxima of windows ---


def windows_of(
    t: torch.Tensor,
    rank: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    fill: float,
) -> torch.Tensor:
    """The elements of each window, flat in the last dimension."""
    t = F.pad(t, [p for p in reversed(padding) for _ in (0, 1)], value=fill)
    first = t.dim() - rank
    for d in range(rank):
        t = t.unfold(first + d, (kernel[d] - 1) * dilation[d] + 1, stride[d])[..., :: dilation[d]]
    return t.flatten(-rank)


def may_be_greatest(
    x: Number,
    rank: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (the places within the plane that each window holds, or -1; a mask of the elements that may be the
    greatest). The mask is empty for windows with a single candidate."""
    v, b = x.v, or_zero(x.b, x.v)
    plane = x.v.shape[-rank:]
    at = torch.arange(math.prod(plane), dtype=torch.float64, device=v.device).reshape(1, *plane)
    how = (rank, kernel, stride, padding, dilation)
    places = windows_of(at, *how, -1.0).long()
    most, error = windows_of(v, *how, -math.inf), windows_of(b, *how, 0.0)
    best, index = most.max(-1, keepdim=True)
    reach = best - error.gather(-1, index)
    candidates = (most + error >= reach) & (places >= 0)
    return places, candidates & (candidates.sum(-1, keepdim=True) > 1)


@rule("aten.max_pool2d_with_indices_backward.default", "aten.max_pool3d_with_indices_backward.default")
def greatest_of_window(
    cx: Context,
    grad: Number,
    x: Number,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    index: Any,
) -> Number:
    """The gradient of a pooling goes to the element that was taken. If several elements may have been taken, their
    gradients are lost."""
    rank = 2 if "2d" in cx.name else 3
    wide_ = [wide(t, rank) for t in (kernel, stride if list(stride) else kernel, padding, dilation)]
    if ceil_mode:
        raise Unsupported(f"{cx.name} with ceil_mode")

    def flat(t: Any) -> Any:
        return t.flatten(-rank)

    pool: Any = F.max_pool2d if rank == 2 else F.max_pool3d
    _, index = pool(x.v, *wide_, return_indices=True)

    def f(g: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(flat(x.v)).scatter_add(-1, flat(index), flat(g)).reshape(x.v.shape)

    made = weighted(cx, f, grad, overlap(wide_[0], wide_[1]) - 3)
    places, candidates = may_be_greatest(x, rank, *wide_)
    if not bool(candidates.any()):
        return made
    paid = (grad.v != 0) if grad.b is None else (grad.v != 0) | (grad.b > 0)
    candidates = candidates & paid.unsqueeze(-1)
    places = places.clamp(min=0).expand(candidates.shape)
    open_ = torch.zeros_like(flat(x.v)).scatter_add(
        -1, places.flatten(-rank - 1), candidates.flatten(-rank - 1).double()
    )
    return lost(cx, made, (open_ > 0).reshape(x.v.shape))


@rule("aten.native_dropout_backward.default")
def dropout(cx: Context, grad: Number, mask: Number, scale: float) -> Number:
    kept = mul(cx, grad, Number(mask.v.double(), whole=True))
    return mul(cx, kept, float(scale))
