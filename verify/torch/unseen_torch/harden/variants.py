"""Changes to operations of a task's graph (oracle/eager.py), as made by faulty or honest kernels."""

from __future__ import annotations

from typing import Any

import torch

from ..oracle.eager import Change, computed
from ..oracle.graph import Graph, packet

PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "convolution", "mv", "dot")
REDUCTIONS = (
    "mean",
    "sum",
    "amax",
    "amin",
    "max",
    "min",
    "linalg_vector_norm",
    "norm",
    "_softmax",
    "_log_softmax",
    "logsumexp",
    "native_layer_norm",
    "native_group_norm",
    "native_batch_norm",
    "argmax",
    "argmin",
)
POOLS = (
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "_adaptive_avg_pool2d",
)
SCANS = ("cumsum", "cumprod")


def rounded(t: Any, bits: int) -> Any:
    """Rounds to `bits` explicit fraction bits, ties to even: 10 for TF32, 7 for bf16."""
    if not isinstance(t, torch.Tensor) or t.dtype != torch.float32:
        return t
    drop = 23 - bits
    raw = t.contiguous().view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    raw = raw + (1 << (drop - 1)) - 1 + ((raw >> drop) & 1)
    raw = (raw >> drop) << drop
    raw = torch.where(raw >= 2**31, raw - 2**32, raw)
    return raw.to(torch.int32).view(torch.float32).reshape(t.shape)


def operands_rounded(bits: int) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        if packet(node) not in PRODUCTS:
            return None
        first = 1 if packet(node) in ("addmm", "baddbmm") else 0
        args[first], args[first + 1] = rounded(args[first], bits), rounded(args[first + 1], bits)
        return computed(node, args, named)

    return change


def has_products(graph: Graph) -> bool:
    return any(packet(n) in PRODUCTS for n in graph.nodes)


# --- wrong ---


def tail_left_out(graph: Graph) -> Change | None:
    """Leaves out the last term of the first reduction. Returns None if the graph has no reduction."""
    kinds = PRODUCTS + REDUCTIONS + POOLS + SCANS
    first = next((n for n in graph.nodes if packet(n) in kinds), None)
    if first is None:
        return None

    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        if node is not first:
            return None
        name = packet(node)
        place = 1 if name in ("addmm", "baddbmm") else 0
        dim = last_term(name, args)
        value = {
            "max": -1e30,
            "amax": -1e30,
            "argmax": -1e30,
            "min": 1e30,
            "amin": 1e30,
            "argmin": 1e30,
            "cumprod": 1.0,
            "_softmax": -1e30,
            "_log_softmax": -1e30,
            "logsumexp": -1e30,
        }.get(name, 0.0)
        x = args[place].clone()
        # a pool loses the last element of its first window
        last = args[1][-1] if name in POOLS else x.shape[dim]
        x.select(dim, last - 1).fill_(value)
        args[place] = x
        return computed(node, args, named)

    return change


def last_term(name: str, args: list[Any]) -> Any:
    if name in ("convolution",) or name.startswith("native_"):
        return 1
    if name in (*SCANS, "_softmax", "_log_softmax", "argmax", "argmin", "max", "min") and len(args) > 1:
        return args[1]
    if name in ("mean", "sum", "amax", "amin", "logsumexp") and len(args) > 1 and args[1]:
        return args[1][0] if isinstance(args[1], (list, tuple)) else args[1]
    return -1


def tile_left_out(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Zeroes the last column of the first output whose right values are not all zero."""
    out = [t.clone() for t in outputs]
    columns = out[0].reshape(-1, out[0].shape[-1]) if out[0].dim() else out[0].reshape(1, 1)
    told = columns.ne(0).any(0).nonzero()
    columns[:, int(told[-1]) if len(told) else 0] = 0
    out[0] = columns.reshape(outputs[0].shape)
    return out


def strided(x: torch.Tensor) -> torch.Tensor:
    """Reads x with a row pitch that is one element too long."""
    if x.numel() < 2:
        return x + 1
    columns = x.shape[-1] if x.dim() > 1 else 1
    at = torch.arange(x.numel(), device=x.device)
    return x.reshape(-1)[(at + at // columns) % x.numel()].reshape(x.shape)


def wrong_strides(inputs: list[Any], places: list[int]) -> list[Any]:
    given = list(inputs)
    first = next((i for i in places if inputs[i].is_floating_point() and inputs[i].numel() > 1), places[0])
    given[first] = strided(inputs[first])
    return given


def accumulated_narrow(dtype: torch.dtype, step: int = 32) -> Change:
    """Accumulates products in a narrow format, rounded after every `step` terms."""

    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        name = packet(node)
        if name not in PRODUCTS:
            return None
        if name == "convolution":
            return narrow_convolution(args, dtype, step)
        first = 1 if name in ("addmm", "baddbmm") else 0
        a, b = args[first], args[first + 1]
        total: Any = 0.0
        for low in range(0, a.shape[-1], step):
            right = b[low : low + step] if b.dim() == 1 else b[..., low : low + step, :]
            total = (total + torch.matmul(a[..., low : low + step], right)).to(dtype).to(a.dtype)
        return total + args[0] if first else total

    return change


def narrow_convolution(args: list[Any], dtype: torch.dtype, step: int) -> Any:
    x, weight, bias = args[:3]
    made: Any = 0.0
    if args[8] != 1 or weight.numel() == 0:
        made = torch.ops.aten.convolution(x, weight, None, *args[3:]).to(dtype).to(x.dtype)
    else:
        width = max(1, step // max(1, weight[0, 0].numel()))
        for low in range(0, x.shape[1], width):
            part = weight[low : low + width] if args[6] else weight[:, low : low + width]
            made = made + torch.ops.aten.convolution(
                x[:, low : low + width].contiguous(), part.contiguous(), None, *args[3:]
            )
            made = made.to(dtype).to(x.dtype)
    return made if bias is None else made + bias.reshape(-1, *[1] * (x.dim() - 2))
