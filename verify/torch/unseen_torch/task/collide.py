"""Indices at which a task writes: index_copy, scatter, `cache[slots] = keys`.

With equal indices PyTorch lets any of the writers win, so there is no single right answer. Such indices are therefore
drawn distinct.
"""

from __future__ import annotations

import copy
from typing import Any

import torch

from ..oracle import graph as graphs
from . import expression
from .description import Fill, InputEntry
from .expression import Sizes

WHOLE = -1  # in place of a dimension: all numbers of a tensor have to be distinct
MOVING = set(
    """_to_copy clone alias detach contiguous lift_fresh_copy squeeze unsqueeze view reshape expand""".split()
)


def _placeholder(node: Any) -> torch.fx.Node | None:
    """Returns the placeholder of which a node is a view or a copy, or None."""
    while isinstance(node, torch.fx.Node) and node.op == "call_function" and graphs.packet(node) in MOVING:
        node = node.args[0]
    return node if isinstance(node, torch.fx.Node) and node.op == "placeholder" else None


def _elements(node: Any) -> int:
    """Returns the number of elements of a node's tensor. A number that depends on values counts as several."""
    value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    count = value.numel() if isinstance(value, torch.Tensor) else 1
    return count if type(count) is int else 2


def _written_at(node: torch.fx.Node) -> list[tuple[Any, Any]]:
    """Returns `[(index node, dimension)]` of an operation that overwrites elements. Equal indices along the dimension
    collide; WHOLE stands for the entire tensor."""
    name, args = graphs.packet(node).rstrip("_"), node.args
    if (
        name in ("index_put", "_unsafe_index_put")
        and not (len(args) > 3 and args[3])
        and _elements(args[2]) > 1
    ):
        given: Any = args[1]
        indices = [index for index in given if index is not None]
        return [(indices[0], WHOLE)] if len(indices) == 1 else []  # pairs of numbers seldom collide
    if (
        name == "scatter"
        and len(args) > 3
        and isinstance(args[3], torch.fx.Node)
        and len(args) < 5
        and not node.kwargs
    ):
        return [(args[2], args[1])]
    if name == "index_copy":
        return [(args[2], WHOLE)]
    return []


def found(model: torch.nn.Module, inputs: list[Any], written: list[int]) -> dict[int, Any]:
    """Returns `{number of an input: dimension along which its numbers have to be distinct}`."""
    try:
        graph = graphs.trace(copy.deepcopy(model), inputs, written)
    except Exception:  # raised by the task's own code; its indices are then drawn as get_inputs draws them
        return {}
    places = dict(zip((n for n in graph.nodes if n.op == "placeholder"), [*graph.names, *graph.inputs]))
    distinct: dict[int, Any] = {}
    for node in graph.nodes:
        for index, dim in _written_at(node) if node.op == "call_function" else ():
            place = places.get(_placeholder(index))
            if (
                isinstance(place, int)
                and not inputs[place].dtype.is_floating_point
                and inputs[place].dtype != torch.bool
            ):
                distinct[place] = dim if dim == WHOLE else dim % max(1, inputs[place].dim())
    return distinct


def law(entry: InputEntry, dim: Any, published: Sizes) -> tuple[Fill, str | None]:
    """Returns `(fill, limit or None)` of an index input whose numbers are distinct along `dim`. The limit requires as
    many possible numbers as drawn ones. It is left out if it names no axis or if the published sizes (values by axis)
    violate it."""
    extents = entry["shape"] if dim == WHOLE else [entry["shape"][dim]]
    count = (
        "*".join(
            f"({e})" if isinstance(e, str) and not e.isidentifier() else str(e) for e in extents if e != 1
        )
        or "1"
    )
    levels = str(entry["bound"]) if entry["low"] == 0 else f"{entry['bound']} - ({entry['low']})"
    limit = f"{count} <= {levels}"
    is_limit = expression.names(limit) and expression.evaluate(limit, published)
    return {"kind": "distinct", "along": dim}, limit if is_limit else None


def settle(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    fills: list[Fill | None],
    published: Sizes,
) -> list[str]:
    """Makes indices at which forward writes distinct, in place. Returns the limits that this needs."""
    limits_: list[str] = []
    for i, dim in found(model, inputs, [i for i, e in enumerate(entries) if e.get("written")]).items():
        fill = fills[i]
        if fill and fill["kind"] == "index":
            fills[i], limit = law(entries[i], dim, published)
            limits_ += [limit] if limit else []
    return limits_
