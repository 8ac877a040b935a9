"""Stand-ins for candidates: a task's own graph with some operations computed in another way, honest or
wrong. The wrong ones are the product's own (unseen_torch/harden)."""

import oracle_asked  # noqa: F401  (finds the package)
import torch
from unseen_torch.harden.variants import (  # noqa: F401
    POOLS,
    PRODUCTS,
    REDUCTIONS,
    SCANS,
    has_products,
    operands_rounded,
    rounded,
    strided,
    tail_left_out,
    tile_left_out,
    wrong_strides,
)
from unseen_torch.oracle.eager import run  # noqa: F401
from unseen_torch.oracle.graph import packet


def product_in_parts(a, b, parts):
    """a @ b, k in so many parts, the last ones first."""
    k = a.shape[-1]
    edges = [k * i // parts for i in range(parts + 1)]
    total = None
    for low, high in reversed(list(zip(edges, edges[1:]))):
        if high > low:
            part = torch.matmul(a[..., low:high], b[..., low:high, :] if b.dim() > 1 else b[low:high])
            total = part if total is None else total + part
    return total


def convolution_in_parts(args, parts):
    x, w, bias, stride, padding, dilation, transposed, out_padding, groups = args
    channels = x.shape[1]
    if groups != 1 or channels == 1:
        return None
    edges = [channels * i // min(parts, channels) for i in range(min(parts, channels) + 1)]
    total = None
    for low, high in reversed(list(zip(edges, edges[1:]))):
        kernel = w[low:high] if transposed else w[:, low:high]
        part = torch.ops.aten.convolution(
            x[:, low:high].contiguous(),
            kernel.contiguous(),
            None,
            stride,
            padding,
            dilation,
            transposed,
            out_padding,
            1,
        )
        total = part if total is None else total + part
    return total if bias is None else total + bias.reshape(-1, *[1] * (x.dim() - 2))


def one_pass(x, dims, eps, weight, bias):
    """Normalization by E[x^2] - E[x]^2, scale and shift folded into one multiply-add."""
    mean = x.mean(dims, True)
    variance = ((x * x).mean(dims, True) - mean * mean).clamp(min=0)
    scale = torch.rsqrt(variance + eps)
    scale = scale if weight is None else scale * weight
    shift = -mean * scale
    return x * scale + (shift if bias is None else shift + bias), mean, torch.rsqrt(variance + eps)


def channelwise(t, x):
    return None if t is None else t.reshape(1, -1, *[1] * (x.dim() - 2))


def reordered(parts):
    """All freedoms of the declared arithmetic: splits of k, order of sums, one-pass moments, other forms."""

    def change(node, args, named):
        name = packet(node)
        if name in ("mm", "bmm"):
            return product_in_parts(args[0], args[1], parts)
        if name == "addmm":
            return product_in_parts(args[1], args[2], parts) * named.get("alpha", 1) + args[0] * named.get(
                "beta", 1
            )
        if name == "convolution":
            return convolution_in_parts(args, parts)
        if name in ("sum", "mean") and len(args) > 1 and args[1]:
            return node.target(args[0].flip(args[1]).contiguous(), *args[1:], **named)
        if name == "_softmax":
            e = torch.exp(args[0] - args[0].amax(args[1], True))
            return e * (1 / e.flip(args[1]).sum(args[1], True))
        if name == "logsumexp":
            return torch.log(torch.exp(args[0]).sum(args[1], *args[2:]))
        if name == "sigmoid":
            return 1 / (1 + torch.exp(-args[0]))
        if name == "tanh":
            return 2 / (1 + torch.exp(-2 * args[0])) - 1
        if name == "div" and isinstance(args[1], (int, float)):
            return args[0] * (1.0 / args[1])
        return norm_again(name, args)

    return change


def norm_again(name, args):
    x = args[0]
    if name == "native_batch_norm" and args[5]:
        dims = [d for d in range(x.dim()) if d != 1]
        made, mean, rstd = one_pass(x, dims, args[7], channelwise(args[1], x), channelwise(args[2], x))
        return made, mean.reshape(-1), rstd.reshape(-1)
    if name == "native_layer_norm":
        dims = list(range(x.dim() - len(args[1]), x.dim()))
        return one_pass(x, dims, args[4], args[2], args[3])
    if name == "native_group_norm":
        groups, channels = args[6], args[4]
        split = x.reshape(x.shape[0], groups, channels // groups, -1)

        def part(t):
            return None if t is None else t.reshape(1, groups, channels // groups, 1)

        made, mean, rstd = one_pass(split, [2, 3], args[7], part(args[1]), part(args[2]))
        return made.reshape(x.shape), mean.reshape(-1, groups), rstd.reshape(-1, groups)
    return None
