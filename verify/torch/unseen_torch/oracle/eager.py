"""Executes a graph's operations in the task's own types or in fp64, without bounds and runs. It takes a tenth of the
time of `evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .graph import packet

if TYPE_CHECKING:
    from .graph import Graph

FLOATS = (torch.float16, torch.bfloat16, torch.float32)

# computes a node in another way, or returns None
Change = Callable[[torch.fx.Node, list[Any], dict[str, Any]], Any]


def computed(node: torch.fx.Node, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Returns the result of a node's own operation for these operands."""
    operation: Any = node.target
    return operation(*args, **named)


def run(
    graph: Graph,
    state: dict[str, torch.Tensor],
    inputs: Sequence[Any],
    change: Change | None = None,
    double: bool = False,
) -> list[Any]:
    """Returns the outputs of the graph, in the task's types or in fp64. `change(node, args, named)` may compute a node
    in another way, or return None. An operation without an fp64 implementation raises its own exception."""
    device = next((x.device for x in inputs if isinstance(x, torch.Tensor)), None)

    # In-place operations may write to these copies.
    def lift(t: torch.Tensor) -> torch.Tensor:
        return t.detach().to(
            device or t.device, torch.float64 if double and t.is_floating_point() else t.dtype, copy=True
        )

    def option(x: Any) -> Any:
        if double and x in FLOATS:
            return torch.float64
        if double and x is torch.complex64:
            return torch.complex128
        return device if device is not None and isinstance(x, torch.device) else x

    places = iter([lift(state[n]) for n in graph.names] + [lift(inputs[i]) for i in graph.inputs])
    env: dict[torch.fx.Node, Any] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            env[node] = next(places)
        elif node.op == "get_attr":
            env[node] = lift(getattr(graph.module, node.target))
        else:
            args, named = torch.fx.node.map_aggregate(
                (node.args, node.kwargs), lambda a: env[a] if isinstance(a, torch.fx.Node) else option(a)
            )
            if node.op == "output":
                return list(args[0]) if isinstance(args[0], (tuple, list)) else [args[0]]
            made = change(node, list(args), dict(named)) if change and packet(node) else None
            # the memory layout may differ here
            target = torch.reshape if packet(node) in ("view", "_unsafe_view") else node.target
            env[node] = target(*args, **named) if made is None else made
        for used in node.all_input_nodes:
            if graph.last_use.get(used) is node:
                env.pop(used, None)
    raise AssertionError("a graph ends with its output")
