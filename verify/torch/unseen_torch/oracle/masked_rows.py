"""Rows listed by an ambiguous mask: for example the tokens of an expert, as `torch.where(chosen == e)` finds them.

The list holds all rows that may be in it. Rows that may be missing are marked as `open`. Their mark `there` says
that their place is certain, and only their presence is not. A result computed from such a row may be anything, and
so may the element that it is written to. All other rows keep their values, as long as every row goes its own way
from the list to its place. No operation may count the rows, truncate them, or combine one row with another.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map

from .graph import packet, target_name
from .number import Context, Number, Unsupported

POINTWISE = (
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "abs",
    "exp",
    "relu",
    "silu",
    "gelu",
    "sigmoid",
    "tanh",
    "pow",
    "sqrt",
    "rsqrt",
    "square",
    "clamp",
    "clamp_min",
    "softplus",
    "elu",
    "leaky_relu",
    "hardtanh",
    "hardswish",
    "mish",
    "_to_copy",
    "clone",
    "detach",
    "alias",
)
# position of the argument `dim`
ALONG = {"slice": 1, "split": 2, "split_with_sizes": 2, "chunk": 2, "_softmax": 1, "unbind": 1, "select": 1}
WRITTEN = -1  # the rows were written to their places; the list ends here


def nonzero(cx: Context, node: torch.fx.Node, mask: Number) -> Number:
    if not goes_row_by_row(node):
        raise Unsupported("aten.nonzero.default of what an honest implementation may decide either way")
    assert mask.open is not None
    may = mask.v.bool() | mask.open.expand(mask.v.shape)
    places = torch.nonzero(may)
    cx.listed = True
    return Number(
        places, open=mask.open.expand(mask.v.shape)[may].unsqueeze(-1).expand(places.shape), there=True
    )


def with_sides(cx: Context, node: torch.fx.Node, args: Any) -> Any:
    """Decides the open elements of masks whose length a result has."""
    picks = packet(node) in ("index", "masked_select") or (
        packet(node) == "nonzero" and not goes_row_by_row(node)
    )
    sides = cx.sides
    if sides is None or not picks:
        return args

    def of(x: Any) -> Any:
        is_mask = isinstance(x, Number) and x.v.dtype == torch.bool and x.is_undecided
        return sides.of(x) if is_mask else x

    return tree_map(of, args)


def goes_row_by_row(node: torch.fx.Node) -> bool:
    row, nodes, is_written = {node: 0}, list(node.graph.nodes), False
    for user in nodes[nodes.index(node) + 1 :]:
        if any(n in row for n in user.all_input_nodes):
            try:
                found = _row_of(user, row)
            except (IndexError, KeyError, AttributeError):
                return False
            if found is None:
                return False
            is_written = is_written or found == WRITTEN
            if found != WRITTEN:
                row[user] = found
    return is_written  # otherwise Python has read only the list's length


def _row_of(node: torch.fx.Node, row: dict[Any, int]) -> int | None:
    """The dimension of the result along which the rows lie. `row` holds that of earlier nodes. None: the rows do not go
    their own ways."""
    if node.op != "call_function":
        return None
    name = target_name(node.target)
    if name == "<built-in function getitem>":
        listed: Any = node.args[0]
        return row[listed]
    name = name.split(".")[1]
    args: Any = node.args
    if name in POINTWISE:
        total = node.meta["val"].dim()
        places = {total - n.meta["val"].dim() + row[n] for n in node.all_input_nodes if n in row}
        return places.pop() if len(places) == 1 else None
    if name in ("mm", "addmm"):
        rows, others = args[-2], [*args[:-2], args[-1]]
        return 0 if row.get(rows) == 0 and not any(n in row for n in others) else None
    if name in ("index", "index_select", "embedding", "index_add", "index_put"):
        return _of_places(name, args, row)
    at, shape = row[args[0]], args[0].meta["val"].shape
    if name in ALONG:
        where = ALONG[name]
        dim = (args[where] if len(args) > where else 0) % len(shape)
        return None if dim == at else at - (name in ("unbind", "select") and dim < at)
    if name == "unsqueeze":
        return at + int(args[1] % (len(shape) + 1) <= at)
    if name in ("view", "_unsafe_view", "reshape"):
        whole = args[1][0] == -1 and all(n > 0 for n in args[1][1:])
        return 0 if whole and all(n == 1 for n in shape[:at]) else None
    return None


def _of_places(name: str, args: Any, row: dict[Any, int]) -> int | None:
    """The same for an operation that uses the list as an index: it reads from a tensor outside the list, or writes to
    one."""
    if args[0] in row:
        return None
    if name in ("index_select", "index_add"):
        if row.get(args[2]) != 0 or args[2].meta["val"].dim() != 1:
            return None
        dim: int = args[1] % args[0].meta["val"].dim()
        return dim if name == "index_select" else WRITTEN
    if name == "embedding":
        return 0 if row.get(args[1]) == 0 and args[1].meta["val"].dim() == 1 else None
    places = [d for d, n in enumerate(args[1]) if n is not None]
    if any(row.get(args[1][d]) != 0 or args[1][d].meta["val"].dim() != 1 for d in places):
        return None
    if name == "index_put":
        return WRITTEN
    first: int = places[0]
    return first if places == list(range(first, places[-1] + 1)) else 0
