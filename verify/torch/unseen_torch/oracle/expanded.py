"""Powers of sums of products, which an honest implementation may expand before a second sum.

Linear attention with polynomial features is an example: sum_s (q k_s)^2 v_s is a product of all pairs q_i q_j with a
state, the sum of k_si k_sj v_s. doc/error-model.md derives the bound.

A `Number` carries three sizes of its expanded sum for this purpose: (the sum of the terms' magnitudes, their Euclidean
norm, their number). None stands for a single term.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .bounds import Expanded
from .eager import computed
from .graph import PASSED_ON, packet
from .number import U64, WHOLE, Context, Number, add_bounds, unit_of
from .sums import MORE_TERMS, THREE_TF32

MOST_TERMS = 1 << 16  # of an expanded power: nobody holds a state of more features
POWERS = (2, 3, 4)
TF32_WALK = 2.0**-22  # as for products in sums.py
PRODUCTS = ("mm", "bmm", "mv", "dot", "matmul")
SUMS = ("sum", "mean", "cumsum")
# Operations whose result is linear in their first operand, or in both of them.
LINEAR = frozenset((*PASSED_ON, "flip", "add", "sub", "rsub", "mul", "div", "tril", "triu", "t"))
BY_TWO = ("add", "sub", "rsub", "mul")


def _name(node: torch.fx.Node) -> str:
    return packet(node).rstrip("_")


def _operands(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The operands in which the operation is linear."""
    name = _name(node)
    if name == "cat":
        listed: Any = node.args[0]
        return list(listed)
    places = (1, 2) if name == "where" else (0, 1) if name in (*BY_TWO, *PRODUCTS) else (0,)
    operands = [node.args[i] for i in places if i < len(node.args)]
    return [a for a in operands if isinstance(a, torch.fx.Node)]


def _is_first(node: torch.fx.Node, given: set[torch.fx.Node]) -> bool:
    """True for a sum of products of two factors that both depend on the task's inputs. A state of features of weights
    alone has no use."""
    name = _name(node)
    factors: Any = node.args[0] if name == "sum" else node
    if name not in PRODUCTS and not (name == "sum" and _name(factors) == "mul"):
        return False
    pair = _operands(factors)
    return len(pair) == 2 and given.issuperset(pair)


def mark(nodes: Sequence[torch.fx.Node], inputs: Iterable[torch.fx.Node]) -> None:
    """Marks sums over powers of sums (meta `expands`), and the operations that lead to them (meta `expanded`)."""
    given, of_sum = set(inputs), set[torch.fx.Node]()
    of_power: set[torch.fx.Node] = set()
    for node in nodes:
        if node.op != "call_function" or not packet(node):
            continue
        name, of = _name(node), _operands(node)
        if given.intersection(node.all_input_nodes):
            given.add(node)
        if name in PRODUCTS + SUMS and of_power.intersection(of):
            node.meta["expands"] = True
        if _is_first(node, given):
            of_sum.add(node)
        elif name == "pow" and node.args[1] in POWERS and of_sum.issuperset(of):
            of_sum.add(node)
            of_power.add(node)
        elif name in LINEAR and of_sum.intersection(of) and "rounding_mode" not in node.kwargs:
            of_sum.add(node)
            if of_power.intersection(of) or (name == "mul" and len(of) == 2 and of_sum.issuperset(of)):
                of_power.add(node)
    leading = set()
    for node in reversed(nodes):
        if node in of_sum and any(
            (u in leading and u in of_sum and not _is_first(u, given)) or "expands" in u.meta
            for u in node.users
        ):
            node.meta["expanded"] = True
            leading.add(node)


def sizes(x: Any) -> Expanded:
    """The sizes of the expanded sum of an operand."""
    if not isinstance(x, Number):
        return (torch.tensor(abs(float(x)), dtype=torch.float64),) * 2 + (1,)
    return (x.v.double().abs(),) * 2 + (1,) if x.expanded is None else x.expanded


def follow(cx: Context, node: torch.fx.Node, args: Sequence[Any], result: Any) -> None:
    """Adds the error of an expanded power to a sum over it. Sets the sizes of the result's own expanded sum."""
    if not isinstance(result, Number) or not result.is_float:
        return
    if node.meta.get("expands"):
        size, norm, n = _of_sum(node, args, [sizes(x) for x in args[:2] if isinstance(x, Number)])
        if n <= MOST_TERMS:
            _expand(cx, result, size, norm, n)
    if node.meta.get("expanded"):
        name = _name(node)
        if name in PRODUCTS + SUMS:
            plain = [x.v.double().abs() for x in args[:2] if isinstance(x, Number)]
            result.expanded = _of_sum(node, args, [(x, x, 1) for x in plain])
        else:
            result.expanded = _of_linear(node, name, args)


def _of_sum(node: torch.fx.Node, args: Sequence[Any], of: Sequence[Expanded]) -> Expanded:
    """The sizes of a sum over terms of these sizes. It has two stages: over a state's terms, and over its features."""
    name = _name(node)
    if name in PRODUCTS:
        (size, norm, n), (other, of_other, m) = of
        return (
            computed(node, [size, other], {}),
            computed(node, [norm**2, of_other**2], {}).sqrt(),
            n * m + size.shape[-1],
        )
    size, norm, n = of[0]
    made, square = (computed(node, [x, *args[1:]], {}) for x in (size, norm**2))
    count = size.numel() // max(1, made.numel()) if name != "cumsum" else size.shape[args[1]]
    return made, (square / count if name == "mean" else square).sqrt(), n + count


def _of_linear(node: torch.fx.Node, name: str, args: Sequence[Any]) -> Expanded:
    """The sizes after a power, or after an operation that is linear in its operands."""
    if name == "pow":
        size, norm, n = sizes(args[0])
        return size ** args[1], norm ** args[1], n ** args[1]
    if name in BY_TWO:
        (size, norm, n), (other, of_other, m) = sizes(args[0]), sizes(args[1])
        if name == "mul":
            return size * other, norm * of_other, n * m
        alpha: Any = node.kwargs.get("alpha", args[2] if len(args) > 2 else 1)
        by = abs(alpha)
        size, norm = (size * by, norm * by) if name == "rsub" else (size, norm)
        other, of_other = (other, of_other) if name == "rsub" else (other * by, of_other * by)
        return size + other, torch.hypot(norm, of_other), n + m
    if name == "div":
        (size, norm, n), by = sizes(args[0]), sizes(args[1])[0]
        return size / by, norm / by, n
    if name in ("_to_copy", "neg", "clone", "alias"):
        return sizes(args[0])
    target: Any = torch.reshape if name in ("view", "_unsafe_view") else node.target
    of = tree_leaves(args)

    def part(k: int) -> Any:
        return tree_map(
            lambda x: x if not isinstance(x, Number) else sizes(x)[k] if x.is_float else x.v, args
        )

    n = max(sizes(x)[2] for x in of if isinstance(x, Number))
    return target(*part(0)).abs(), target(*part(1)).abs(), n


def _expand(cx: Context, result: Number, size: torch.Tensor, norm: torch.Tensor, n: int) -> None:
    """Adds the errors of a sum of n terms, whose factors are sums that may be rounded by three TF32 products."""
    u = unit_of(cx.dtype)
    splits = 0.0 if u == U64 else 2.0
    rounds = (size > WHOLE).double() if result.whole else 1.0
    own = ((n + MORE_TERMS) * u + splits * THREE_TF32) * size * rounds
    walk = (math.sqrt(n + 4) * u * torch.maximum(result.v.abs(), norm) + splits * TF32_WALK * norm) * rounds
    result.b = add_bounds(result.b, own)
    result.runs = [result.run(i) + cx.noise(walk) * walk for i in range(cx.count)] or None
