"""Evaluates operations that need no rule of their own: on empty tensors, on whole numbers, on numbers without
dimensions, on complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import complexes
from .eager import computed
from .graph import declared
from .number import Context, Number, Unsupported

# Operations whose results name values, or depend on the order of several writers. They keep their rules.
RULED = """argmax argmin max min sort topk median nanmedian kthvalue mode cummax cummin where index_put scatter copy nonzero equal masked_scatter
_local_scalar_dense empty new_empty empty_like empty_strided new_empty_strided empty_permuted index_copy put""".split()
# Operations along a dimension. A tensor without dimensions is a row of one element there.
ALONG = """argmax argmin max min sort topk median nanmedian kthvalue mode cummax cummin cumsum cumprod logcumsumexp _softmax _log_softmax softmax log_softmax
logsumexp _safe_softmax sum mean linalg_vector_norm norm prod index_select var var_mean amax amin any all""".split()


# A mask is converted to 0 and 1 for these operations.
ORDERED = ("argmax", "argmin", "max", "min", "sort", "topk", "kthvalue", "median", "cummax", "cummin")
LOGICAL = ("logical_and", "logical_or", "logical_xor", "logical_not")
# One of two operands may be a mask or a whole number.
OF_FRACTIONS = ("pow", "xlogy", "special_xlog1py", "atan2", "hypot", "copysign", "fmod", "remainder")


def packet_of(name: str) -> str:
    return name.split(".")[1].rstrip("_") if name.startswith("aten.") else ""


def declared_tensors(node: torch.fx.Node) -> list[torch.Tensor] | None:
    """The node's results as traced, or None if their sizes depend on values."""
    found = tree_leaves(node.meta.get("val"))
    if not found or not all(
        isinstance(t, torch.Tensor) and all(isinstance(n, int) for n in t.shape) for t in found
    ):
        return None
    return found


def of_nothing(cx: Context, node: torch.fx.Node) -> Any:
    """Results without elements, which are exact."""
    found = declared_tensors(node)
    if found is None or any(t.numel() for t in found) or not isinstance(node.target, torch._ops.OpOverload):
        return None

    def blank(t: torch.Tensor) -> Any:
        if t.is_complex():
            return complexes.exact_complex(cx, torch.zeros(t.shape, dtype=torch.complex128, device=cx.device))
        return Number(
            torch.zeros(t.shape, dtype=torch.float64 if t.is_floating_point() else t.dtype, device=cx.device)
        )

    return tree_map(lambda t: blank(t) if isinstance(t, torch.Tensor) else t, node.meta["val"])


def of_no_operands(cx: Context, node: torch.fx.Node, args: Sequence[Any], named: Any) -> Any:
    """Results of operands without elements, as PyTorch has them: sums are 0, products 1."""
    operands = operands_of(args, named)
    if not operands or any(x.v.numel() for x in operands) or packet_of(cx.name) in RULED:
        return None

    def plain(tree: Any) -> Any:
        return tree_map(lambda x: x.v if isinstance(x, Number) else x, tree)

    try:
        made = computed(node, plain(args), plain(named))
    except (RuntimeError, IndexError, TypeError):  # the rule reports the reason
        return None

    def as_number(t: torch.Tensor) -> Number:
        if not t.is_floating_point():
            return Number(t)
        # Such results are constants. fp32 does not represent all of them: bins have edges at thirds.
        held = (t.float().double() == t) | ~t.isfinite()
        return cx.out(t.double(), lambda level: None, lambda u: torch.where(held, 0.0, 2 * u * t.abs()))

    return tree_map(lambda t: as_number(t) if isinstance(t, torch.Tensor) else t, made)


def operands_of(args: Sequence[Any], named: Any) -> list[Number]:
    return [x for x in tree_leaves((args, named)) if isinstance(x, Number)]


def of_whole_numbers(cx: Context, node: torch.fx.Node, args: Sequence[Any], named: Any) -> Any:
    """An operation on whole numbers and masks has one right result: PyTorch's."""
    operands, found = operands_of(args, named), declared_tensors(node)
    ruled = packet_of(cx.name) in RULED and not (packet_of(cx.name) == "index_put" and True in args[3:])
    if (
        not operands
        or found is None
        or ruled
        or any(x.is_float or x.open is not None or x.names for x in operands)
    ):
        return None
    if any(t.is_floating_point() or t.is_complex() for t in found):
        return None

    def plain(tree: Any) -> Any:
        return tree_map(lambda x: x.v if isinstance(x, Number) else x, tree)

    made = computed(node, plain(args), plain(named))
    return tree_map(lambda t: Number(t) if isinstance(t, torch.Tensor) else t, made)


def lifted(cx: Context, args: Sequence[Any], named: Any) -> Any:
    """Converts whole numbers and masks to floats if the result is a float."""
    operands, packet = operands_of(args, named), packet_of(cx.name)
    if packet in LOGICAL:
        return tree_map(lambda x: truth(x) if isinstance(x, Number) and x.is_float else x, (args, named))
    if packet in ORDERED and operands and operands[0].v.dtype == torch.bool:
        return (Number(operands[0].v.long(), open=operands[0].open), *args[1:]), named
    if (
        packet in ("_local_scalar_dense", "bincount")
        or not cx.dtype.is_floating_point
        or not operands
        or any(x.open is not None for x in operands)
    ):
        return args, named
    if any(x.is_float for x in operands) and packet not in OF_FRACTIONS:
        return args, named

    def lift(x: Any) -> Any:
        return Number(x.v.double(), whole=True) if isinstance(x, Number) and not x.is_float else x

    return tree_map(lift, args), tree_map(lift, named)


def of_a_single_number(function: Callable[..., Any], cx: Context, args: Sequence[Any], named: Any) -> Any:
    """Applies the rule to a row of one element if the operand has no dimension."""
    x = args[0]

    def flat(t: Any) -> Any:
        return t.reshape(()) if t is not None and t.numel() == 1 else t

    row = Number(
        x.v.reshape(1),
        None if x.r is None else x.r.expand(x.v.shape).reshape(1),
        None if x.b is None else x.b.expand(x.v.shape).reshape(1),
        None if x.runs is None else [t.reshape(1) for t in x.runs],
        None if x.open is None else x.open.reshape(1),
        x.names,
        x.whole,
    )
    made = function(cx, row, *args[1:], **named)

    def back(n: Any) -> Any:
        if not isinstance(n, Number):
            return n
        return Number(
            flat(n.v),
            flat(n.r),
            flat(n.b),
            None if n.runs is None else [flat(t) for t in n.runs],
            flat(n.open),
            n.names,
            n.whole,
        )

    return tree_map(back, made)


def truth(x: Number) -> Number:
    """True where x is not 0. A computed number that may be 0 is ambiguous."""
    return Number(x.v != 0, open=None if x.b is None else (x.v.abs() <= x.b) & (x.b > 0))


def is_single(cx: Context, args: Sequence[Any]) -> bool:
    return bool(args) and isinstance(args[0], Number) and args[0].v.dim() == 0 and packet_of(cx.name) in ALONG


def result(
    cx: Context,
    node: torch.fx.Node,
    function: Callable[..., Any] | None,
    args: Sequence[Any],
    named: Any,
    exactly: Callable[..., Any],
) -> Any:
    """Evaluates the node by the first applicable route. `function` is its rule, or None."""
    made = of_nothing(cx, node)
    if made is not None:
        return made
    if complexes.concerns(cx, args, named):
        return complexes.call(cx, cx.name, args, named)
    made = of_no_operands(cx, node, args, named)
    made = of_whole_numbers(cx, node, args, named) if made is None else made
    if made is not None:
        return made
    if (
        function is None
        and not operands_of(args, named)
        and not isinstance(node.target, torch._ops.OpOverload)
    ):
        return computed(node, args, named)  # arithmetic of Python on sizes
    if function is None:
        return exactly(node, args, named)
    args, named = lifted(cx, args, named)
    if is_single(cx, args):
        return of_a_single_number(function, cx, args, named)
    return function(cx, *args, **named)


def outputs_of(node: torch.fx.Node, env: dict[torch.fx.Node, Any]) -> list[tuple[Number, torch.dtype]]:
    value: Any = torch.fx.node.map_arg(node.args[0], env.__getitem__)
    numbers = list(value) if isinstance(value, (tuple, list)) else [value]
    types = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
    flat = [n for n in numbers if isinstance(n, Number)]
    if len(flat) != len(numbers):
        raise Unsupported("an output that is no tensor")
    return [(n, declared(t)) for n, t in zip(flat, types)]
