"""Faults of single operations of a graph.

Each is (text, change). `change(node, args, named)` computes the operation as the faulty kernel does. It raises Absent
if the fault has no effect on these operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..oracle.eager import Change, computed
from ..oracle.graph import packet
from . import variants

Keep = Callable[[int], int]  # from a length to the number of kept elements
Mutation = tuple[str, Change]
TILES = (4, 8, 16, 32, 64, 128)
BLOCKS = (256, 1024)
EDGES = (16, 64)  # tiles whose single remainders get a fault of their own


class Absent(Exception):
    """The fault has no effect at these sizes."""


def cut(x: torch.Tensor, dim: int, keep: int, value: float = 0.0) -> torch.Tensor:
    """Returns x with elements from place `keep` on replaced by a value."""
    length = x.shape[dim]
    if keep >= length or not x.numel():
        raise Absent
    x = x.clone()
    x.narrow(dim, keep, length - keep).fill_(value)
    return x


def whole(t: int) -> Keep:
    """Keeps whole tiles. A length below one tile is kept, since kernels often handle it separately."""
    return lambda n: n // t * t if n > t else n


def remainder(t: int, r: int) -> Keep:
    """Loses the tail only if it has r elements."""
    return lambda n: n // t * t if n > t and n % t == r else n


def at_most(limit: int) -> Keep:
    return lambda n: min(n, limit)


def lengths() -> Iterator[tuple[str, Keep]]:
    """Yields (text, function from a length n to the number of kept elements)."""
    yield from ((f"beyond whole tiles of {t} left out", whole(t)) for t in TILES)
    for t in EDGES:
        yield f"beyond whole tiles of {t} left out where 1 is left", remainder(t, 1)
        yield f"beyond whole tiles of {t} left out where {t - 1} are left", remainder(t, t - 1)
    yield from ((f"beyond {n} left out", at_most(n)) for n in BLOCKS)


# --- products ---


def shorter_product(kept: Keep) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        name = packet(node)
        if name == "convolution" and not args[6]:
            flat = args[1].reshape(args[1].shape[0], -1)
            args[1] = cut(flat, 1, kept(flat.shape[1])).reshape(args[1].shape)
        elif name == "convolution":
            args[0] = cut(args[0], 1, kept(args[0].shape[1]))
        else:
            place = 1 if name in ("addmm", "baddbmm") else 0
            args[place] = cut(args[place], -1, kept(args[place].shape[-1]))
        return computed(node, args, named)

    return change


def pitched(x: torch.Tensor) -> torch.Tensor:
    """Reads a matrix with its other dimension as the pitch."""
    if x.dim() < 2 or x.shape[-1] == x.shape[-2] or x.shape[-2] == 1 or not x.numel():
        raise Absent
    rows, columns = x.shape[-2:]
    at = torch.arange(rows, device=x.device).reshape(-1, 1) * rows + torch.arange(columns, device=x.device)
    flat = x.reshape(*x.shape[:-2], rows * columns)
    return flat[..., (at % (rows * columns)).reshape(-1)].reshape(x.shape)


def wrong_pitch(which: int) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        place = which + (1 if packet(node) in ("addmm", "baddbmm") else 0)
        args[place] = pitched(args[place])
        return computed(node, args, named)

    return change


def half_operands(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    first = 1 if packet(node) in ("addmm", "baddbmm") else 0
    for place in (first, first + 1):
        args[place] = args[place].half().to(args[place].dtype)
    return computed(node, args, named)


def without_bias(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    if packet(node) == "convolution":
        if args[2] is None:
            raise Absent
        args[2] = None
    else:
        args[0] = torch.zeros_like(args[0])
    return computed(node, args, named)


def products(node: torch.fx.Node) -> Iterator[Mutation]:
    for text, kept in lengths():
        yield f"terms of the sum {text}", shorter_product(kept)
    if packet(node) in ("mm", "bmm", "addmm", "baddbmm"):
        yield "left matrix read with the other dimension as its pitch", wrong_pitch(0)
        yield "right matrix read with the other dimension as its pitch", wrong_pitch(1)
    if packet(node) in ("addmm", "baddbmm", "convolution"):
        yield "bias left out", without_bias
    yield "operands rounded to TF32", variants.operands_rounded(10)
    yield "operands rounded to bf16", variants.operands_rounded(7)
    yield "operands rounded to fp16", half_operands
    yield "summed up in bf16", variants.accumulated_narrow(torch.bfloat16)
    yield "summed up in fp16", variants.accumulated_narrow(torch.float16)


# --- sums, extremes, softmax ---

LEAST = {
    "max": -math.inf,
    "amax": -math.inf,
    "argmax": -math.inf,
    "min": math.inf,
    "amin": math.inf,
    "argmin": math.inf,
    "_softmax": -math.inf,
    "_log_softmax": -math.inf,
    "_safe_softmax": -math.inf,
    "logsumexp": -math.inf,
    "cumprod": 1.0,
}


def along(node: torch.fx.Node, args: list[Any]) -> list[int]:
    """Returns the reduced dimensions of x."""
    name, x = packet(node), args[0]
    given = (
        args[2]
        if name in ("linalg_vector_norm", "norm") and len(args) > 2
        else args[1]
        if len(args) > 1
        else None
    )
    if name in ("linalg_vector_norm", "norm") and len(args) <= 2:
        given = None
    if given is None or given == []:
        return list(range(x.dim()))
    return [d % max(x.dim(), 1) for d in (given if isinstance(given, (list, tuple)) else [given])]


def shorter_row(kept: Keep) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        name, x = packet(node), args[0]
        dims, value = along(node, args), LEAST.get(name, 0.0)
        if not x.dim() or not x.is_floating_point():
            raise Absent
        if len(dims) == 1:
            args[0] = cut(x, dims[0], kept(x.shape[dims[0]]), value)
            return computed(node, args, named)
        rest = [d for d in range(x.dim()) if d not in dims]
        moved = x.permute(rest + dims).contiguous()
        flat = moved.reshape([x.shape[d] for d in rest] + [-1])
        moved = cut(flat, -1, kept(flat.shape[-1]), value).reshape(moved.shape)
        back = [(rest + dims).index(d) for d in range(x.dim())]
        args[0] = moved.permute(back).contiguous()
        return computed(node, args, named)

    return change


def power_above(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())


def padded_with_zeros(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    """Pads rows with zeros to a power of two and includes these in the result."""
    x, dims = args[0], along(node, args)
    if len(dims) != 1 or not x.numel() or power_above(x.shape[dims[0]]) == x.shape[dims[0]]:
        raise Absent
    dim, n = dims[0], x.shape[dims[0]]
    shape = list(x.shape)
    shape[dim] = power_above(n) - n
    args[0] = torch.cat([x, x.new_zeros(shape)], dim)
    made = computed(node, args, named)
    return (
        made.narrow(dim, 0, n)
        if isinstance(made, torch.Tensor)
        and made.dim() == x.dim()
        and (made.shape[dim] == args[0].shape[dim])
        else made
    )


def mean_by_power(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    n = math.prod(args[0].shape[d] for d in along(node, args))
    if not n or power_above(n) == n:
        raise Absent
    return computed(node, args, named) * (n / power_above(n))


def stored(dtype: torch.dtype) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        made = computed(node, args, named)
        first = made[0] if isinstance(made, (tuple, list)) else made
        if not first.is_floating_point() or first.dtype not in (torch.float32, torch.float64):
            raise Absent
        narrow = first.to(dtype).to(first.dtype)
        return (narrow, *made[1:]) if isinstance(made, (tuple, list)) else narrow

    return change


def without_maximum(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    """Computes exp(x) / sum exp(x) literally, which overflows."""
    e = args[0].exp()
    total = e.sum(args[1], True)
    return e / total if packet(node) != "_log_softmax" else args[0] - total.log()


def rows(node: torch.fx.Node) -> Iterator[Mutation]:
    name = packet(node)
    for text, kept in lengths():
        yield f"elements {text}", shorter_row(kept)
    if name in (
        "max",
        "amax",
        "min",
        "amin",
        "_softmax",
        "_log_softmax",
        "_safe_softmax",
        "logsumexp",
        "argmax",
        "argmin",
    ):
        yield "rows filled up with zeros to a power of two", padded_with_zeros
    if name == "mean":
        yield "divided by the next power of two", mean_by_power
    if name in ("_softmax", "_log_softmax", "_safe_softmax"):
        yield "the greatest element not subtracted", without_maximum
    if name in ("mean", "sum", "_softmax", "_log_softmax", "linalg_vector_norm", "logsumexp"):
        yield "stored as bf16", stored(torch.bfloat16)


def scans(node: torch.fx.Node) -> Iterator[Mutation]:
    name = packet(node)
    for tile in (16, 64, 256, 1024):
        yield f"the carry between tiles of {tile} left out", carry_lost(tile)
    yield "exclusive instead of inclusive", shifted
    for text, kept in lengths():
        yield f"elements {text}", shorter_row(kept)
    yield f"{name} stored as bf16", stored(torch.bfloat16)


def carry_lost(tile: int) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        x, dim = args[0], args[1]
        if x.shape[dim] <= tile:
            raise Absent
        return torch.cat(
            [computed(node, [part.contiguous(), dim], named) for part in x.split(tile, dim)], dim
        )

    return change


def shifted(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    x, dim = args[0], args[1]
    made = computed(node, args, named)
    first = torch.full_like(x.narrow(dim, 0, 1), 1.0 if packet(node) == "cumprod" else 0.0)
    return torch.cat([first, made.narrow(dim, 0, x.shape[dim] - 1)], dim)


# --- element by element ---

UNARY = (
    "relu",
    "sigmoid",
    "tanh",
    "elu",
    "leaky_relu",
    "hardsigmoid",
    "silu",
    "gelu",
    "mish",
    "hardswish",
    "hardtanh",
    "clamp",
    "clamp_min",
    "clamp_max",
    "softplus",
    "abs",
    "neg",
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "pow",
    "erf",
    "sin",
    "cos",
    "log1p",
    "expm1",
    "reciprocal",
)


def left_out(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    return args[0].clone()


def of_magnitude(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    args[0] = args[0].abs()
    return computed(node, args, named)


def linear_for_negative(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    made = computed(node, args, named)
    return torch.where(args[0] < 0, torch.zeros_like(made), made)


def one_bound(which: int) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        limits = [
            args[1] if len(args) > 1 else named.get("min", -1),
            args[2] if len(args) > 2 else named.get("max", 1),
        ]
        if limits[which] is None or not isinstance(limits[which], (int, float)):
            raise Absent
        limits[which] = None
        return args[0].clone() if limits == [None, None] else torch.clamp(args[0], *limits)

    return change


def fast_gelu(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    if named.get("approximate", "none") == "tanh":
        raise Absent
    return torch.nn.functional.gelu(args[0], approximate="tanh")


def elements(node: torch.fx.Node) -> Iterator[Mutation]:
    name = packet(node).rstrip("_")
    if name in UNARY:
        yield "left out", left_out
        yield "taken of the magnitude", of_magnitude
        yield "zero for negative numbers", linear_for_negative
        yield "stored as bf16", stored(torch.bfloat16)
        yield "stored as fp16", stored(torch.float16)
    if name in ("clamp", "hardtanh"):
        yield "lower bound left out", one_bound(0)
        yield "upper bound left out", one_bound(1)
    if name == "gelu":
        yield "by tanh", fast_gelu
    if name in ("add", "sub", "mul", "div"):
        yield "second operand left out", left_out
    if name in ("where", "masked_fill"):
        yield "mask left out", unmasked


def unmasked(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
    kept = args[1] if packet(node) == "where" else args[0]
    if not isinstance(kept, torch.Tensor):
        raise Absent
    made = computed(node, args, named)
    return kept.to(made.dtype).expand_as(made).clone()
