"""Which operations of a traced graph have no rule, known without evaluating it: `unseen import` says so.

    coverage.refusal(model, inputs) -> one line that names the first such operation, or None

Only what no values can change is told here. A rule may still refuse an operation for the values of a configuration.
"""
import copy

import torch
from torch.utils._pytree import tree_leaves

from . import complexes, evaluate, graph as graphs, routes
from .elementwise import RULES, REFUSED
from .number import Unsupported

PYTHONS_OWN = "<built-in function getitem>"


def kinds_of(node):
    """The types of a node's results, however many elements the values say they have."""
    return [t.dtype for t in tree_leaves(node.meta.get("val")) if isinstance(t, torch.Tensor)]


def is_whole(node):
    """Are all results and operands whole numbers or masks? PyTorch's own answer is the right one there."""
    made = kinds_of(node)
    kinds = made + [k for n in node.all_input_nodes for k in kinds_of(n)]
    return bool(made) and not any(k.is_floating_point or k.is_complex for k in kinds)


def is_of_nothing(node):
    """Has it no element among its results, or among its operands?"""
    made = routes.declared_tensors(node)
    given = [t for n in node.all_input_nodes for t in (routes.declared_tensors(n) or [])]
    return made is not None and (not any(t.numel() for t in made) or bool(given) and not any(t.numel() for t in given))


def is_complex(node):
    return any(k.is_complex for n in (node, *node.all_input_nodes) for k in kinds_of(n))


def reason(node):
    """Why no value of this node can be told, or None."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return None
    if is_of_nothing(node):
        return None
    name = graphs.target_name(node.target)
    plain = name.replace("_.", ".", 1)
    if name in REFUSED or plain in REFUSED:
        return REFUSED.get(name) or REFUSED[plain]
    rules = complexes.COMPLEX if is_complex(node) else RULES
    if name in rules or plain in rules or is_whole(node):
        return None
    return f"no rule for {name}"


def unruled(graph):
    """[why] of each operation of the graph that an answer hangs on, once each and in order."""
    needed = {next(n for n in graph.nodes if n.op == "output")}
    found = []
    for node in reversed(graph.nodes):
        if node in needed or graphs.packet(node) in evaluate.READ:
            needed.update(node.all_input_nodes)
            why = reason(node)
            if why and why not in found:
                found.append(why)
    return found[::-1]


def refusal(model, inputs):
    """One line: why no configuration of this task can be judged, as far as its graph alone says. None: nothing is known against it."""
    try:
        with torch.no_grad():
            graph = graphs.trace(copy.deepcopy(model), inputs)
    except Unsupported as why:
        return str(why)
    except Exception:  # whatever the task's own code raises; another part of importing says it
        return None
    drawn = graph.random()
    if drawn:
        return f"the forward pass draws random numbers ({drawn})"
    found = unruled(graph)
    return "; ".join(found) if found else None


def note(model, inputs):
    """As importing keeps it: [] or one note of the kind `unjudged`."""
    why = refusal(model, inputs)
    return [{"kind": "unjudged", "text": f"no configuration can be judged: {' '.join(why.split())[:300]}"}] if why else []
