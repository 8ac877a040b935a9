"""Finds the operations of a traced graph that have no rule, without evaluating the graph. `unseen import` reports them.

    coverage.refusal(model, inputs) -> one line with the reasons, or None

This check covers only refusals that do not depend on values. A rule may still refuse an operation for the values of
a configuration.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..task.description import Note
from ..task.judgeable import with_change
from . import complexes, evaluate, routes
from . import graph as graphs
from .elementwise import RULES
from .number import Unsupported


def kinds_of(node: torch.fx.Node) -> list[torch.dtype]:
    """The types of a node's results. The results' sizes may depend on values."""
    return [t.dtype for t in tree_leaves(node.meta.get("val")) if isinstance(t, torch.Tensor)]


def is_whole(node: torch.fx.Node) -> bool:
    """True if all results and operands are whole numbers or masks. PyTorch's own answer is then the reference."""
    made = kinds_of(node)
    kinds = made + [k for n in node.all_input_nodes for k in kinds_of(n)]
    return bool(made) and not any(k.is_floating_point or k.is_complex for k in kinds)


def is_of_nothing(node: torch.fx.Node) -> bool:
    """True if all results are empty, or all operands are empty."""
    made = routes.declared_tensors(node)
    given = [t for n in node.all_input_nodes for t in (routes.declared_tensors(n) or [])]
    return made is not None and (
        not any(t.numel() for t in made) or (bool(given) and not any(t.numel() for t in given))
    )


def is_complex(node: torch.fx.Node) -> bool:
    return any(k.is_complex for n in (node, *node.all_input_nodes) for k in kinds_of(n))


def reason(node: torch.fx.Node) -> str | None:
    """Says why this node cannot be evaluated, or returns None."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return None
    if is_of_nothing(node):
        return None
    name = graphs.target_name(node.target)
    plain = name.replace("_.", ".", 1)
    rules = complexes.COMPLEX if is_complex(node) else RULES
    if name in rules or plain in rules or is_whole(node):
        return None
    return f"no rule for {name}"


def unruled(graph: graphs.Graph) -> list[str]:
    """The reasons of all operations that an output depends on, each once and in order."""
    needed = {next(n for n in graph.nodes if n.op == "output")}
    found = []
    for node in reversed(graph.nodes):
        if node in needed or graphs.packet(node) in evaluate.READ:
            needed.update(node.all_input_nodes)
            why = reason(node)
            if why and why not in found:
                found.append(why)
    return found[::-1]


def refusal(model: torch.nn.Module, inputs: list[Any]) -> str | None:
    """Says in one line why the graph alone rules out a reference for every configuration. None: the graph gives no such
    reason."""
    try:
        with torch.no_grad():
            graph = graphs.trace(copy.deepcopy(model), inputs)
    except Unsupported as why:
        return str(why)
    except Exception:  # the task's own code may raise any exception; another part of importing reports it
        return None
    drawn = graph.random()
    if drawn:
        return f"the forward pass draws random numbers ({drawn})"
    found = unruled(graph)
    return "; ".join(found) if found else None


def note(model: torch.nn.Module, inputs: list[Any]) -> list[Note]:
    """The notes for importing: [] or one note of the kind `unjudged`."""
    why = refusal(model, inputs)
    return (
        [{"kind": "unjudged", "text": f"no configuration can be judged: {with_change(why)}"}] if why else []
    )
