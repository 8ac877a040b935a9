"""Lowers a graph to few primitive operations. An evaluator in MPFR computes single elements of them
(verify/torch/exact.c).

Every operation becomes sums, products and elementary functions of numbered elements. Moves of elements become lists
of numbers. So the evaluator knows nothing of PyTorch, and shares no rule with this package.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import torch

from .bounds import Function
from .eager import computed
from .graph import Graph, declared
from .number import UNIT, Unsupported

MOST_BYTES = 1 << 29
R = TypeVar("R", bound=Callable[..., Any])
LOWER: dict[str, Callable[..., Any]] = {}


def lower(*names: str) -> Callable[[R], R]:
    def keep(function: R) -> R:
        for name in names:
            LOWER["aten." + (name if "." in name else name + ".default")] = function
        return function

    return keep


UNTOLD = object()  # marks a value without a lowering; an error only if an output depends on it


class Ref:
    """A tensor of the lowered graph: its node and its shape."""

    def __init__(self, node: int, shape: Sequence[int]) -> None:
        self.node, self.shape = node, tuple(shape)

    @property
    def count(self) -> int:
        return math.prod(self.shape)


class Lowered:
    """The nodes as dictionaries, and the memory that they refer to: doubles and 64-bit places."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.parts: list[torch.Tensor] = []
        self.bytes = 0
        self.constants: dict[float, Ref] = {}
        self.name, self.dtype = "", torch.float32  # of the current operation

    def store(self, tensor: torch.Tensor) -> int:
        at = self.bytes
        self.parts.append(tensor.detach().contiguous().cpu())
        self.bytes += tensor.numel() * 8
        if self.bytes > MOST_BYTES:
            raise Unsupported("the graph is too large for single elements to be evaluated")
        return at

    def emit(self, op: str, shape: Sequence[int], **rest: Any) -> Ref:
        self.nodes.append({"op": op, "n": math.prod(shape), **rest})
        return Ref(len(self.nodes) - 1, shape)

    def input(self, tensor: torch.Tensor) -> Ref:
        return self.emit("input", tensor.shape, at=self.store(tensor.double()))

    def constant(self, value: float) -> Ref:
        if value not in self.constants:
            self.constants[value] = self.input(torch.tensor(float(value), dtype=torch.float64))
        return self.constants[value]

    def ref(self, x: Any) -> Ref:
        return x if isinstance(x, Ref) else self.constant(x)

    def moved(self, x: Ref, f: Function, fill: float = 0.0) -> Ref:
        """Moves elements of x by f. A new element that f creates (padding) is `fill`."""
        index = torch.arange(1, x.count + 1).reshape(x.shape)
        made = f(index) - 1
        if made.numel() == x.count and bool((made.reshape(-1) == torch.arange(x.count)).all()):
            return Ref(x.node, made.shape)
        return self.emit("map", made.shape, a=x.node, at=self.store(made), fill=self.constant(fill).node)

    def expanded(self, x: Ref, shape: Sequence[int]) -> Ref:
        return x if x.shape == tuple(shape) else self.moved(x, lambda t: t.expand(shape))

    def unary(self, op: str, x: Ref) -> Ref:
        return self.emit(op, x.shape, a=x.node)

    def binary(self, op: str, a: Any, b: Any) -> Ref:
        a, b = self.ref(a), self.ref(b)
        shape = torch.broadcast_shapes(a.shape, b.shape)
        a, b = self.expanded(a, shape), self.expanded(b, shape)
        return self.emit(op, shape, a=a.node, b=b.node)

    def reduced(self, op: str, x: Ref, dims: Sequence[int], keep: bool = False) -> Ref:
        """Sums, maxima or minima over dimensions."""
        rank = len(x.shape)
        dims = sorted({d % rank for d in dims}) if rank else []
        kept = [d for d in range(rank) if d not in dims]
        rows = self.moved(x, lambda t: t.permute(kept + dims))
        terms = math.prod([x.shape[d] for d in dims])
        shape = [1 if d in dims else x.shape[d] for d in range(rank)] if keep else [x.shape[d] for d in kept]
        return self.emit(op, shape, a=rows.node, terms=terms)

    def mean(self, x: Ref, dims: Sequence[int], keep: bool = False) -> Ref:
        n = math.prod([x.shape[d % len(x.shape)] for d in dims])
        return self.binary("div", self.reduced("sum", x, dims, keep), n)

    def add(self, a: Any, b: Any) -> Ref:
        return self.binary("add", a, b)

    def sub(self, a: Any, b: Any) -> Ref:
        return self.binary("sub", a, b)

    def mul(self, a: Any, b: Any) -> Ref:
        return self.binary("mul", a, b)

    def div(self, a: Any, b: Any) -> Ref:
        return self.binary("div", a, b)


def lowered(
    graph: Graph, state: dict[str, torch.Tensor], inputs: Sequence[Any], without: Sequence[int] = ()
) -> tuple[str, list[torch.Tensor]]:
    """Returns (JSON of nodes and outputs, the parts of the memory). Raises Unsupported if an operation has no
    lowering. Outputs at the places `without` have no single elements."""
    from . import lower_aten  # noqa: F401  (registers the operations)

    low = Lowered()
    env: dict[torch.fx.Node, Any] = {}
    places = iter([state[n] for n in graph.names] + [inputs[i] for i in graph.inputs])
    for node in graph.nodes:
        if node.op == "placeholder":
            value = next(places)
            env[node] = low.input(value) if value.is_floating_point() else value
        elif node.op == "get_attr":
            value = getattr(graph.module, node.target)
            env[node] = low.input(value) if value.is_floating_point() else value
        elif node.op == "output":
            made: Any = torch.fx.node.map_arg(node.args[0], env.__getitem__)
            outs = list(made) if isinstance(made, (tuple, list)) else [made]
            found = [o.node if isinstance(o, Ref) else -1 for o in outs]
            for place in without:
                found[place] = -1
            return json.dumps({"nodes": low.nodes, "outputs": found}), low.parts
        else:
            env[node] = one(low, node, env)
    raise Unsupported("the graph has no output")


def one(low: Lowered, node: torch.fx.Node, env: dict[torch.fx.Node, Any]) -> Any:
    args: Any = torch.fx.node.map_arg(node.args, env.__getitem__)
    named: Any = torch.fx.node.map_arg(node.kwargs, env.__getitem__)
    name = str(node.target)
    if any(a is UNTOLD for a in flat([*args, *named.values()])):
        return UNTOLD
    if name == "<built-in function getitem>":
        return args[0][args[1]]
    low.name, low.dtype = name, declared(node)
    if not any(isinstance(a, Ref) for a in flat(args)):  # counters, masks, constants
        made = computed(node, args, named)
        return low.input(made) if isinstance(made, torch.Tensor) and made.is_floating_point() else made
    if low.dtype not in UNIT:
        return UNTOLD  # indices and masks; an operation that uses them has no lowering
    if name not in LOWER:
        raise Unsupported(f"single elements of {name} are not evaluated")
    return LOWER[name](low, *args, **named)


def flat(args: Iterable[Any]) -> Iterator[Any]:
    for a in args:
        yield from a if isinstance(a, (list, tuple)) else [a]
