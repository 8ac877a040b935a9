"""Traces recurrent layers of the library (nn.RNN, nn.GRU, nn.LSTM) as one operation, and expands it to steps
afterwards.

A graph of thousands of nodes takes minutes to trace step by step, at a millisecond or more a node. Its nodes are
written here instead. The formulas are those of PyTorch's documentation. The products of all steps with the inputs
are one product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

aten = torch.ops.aten
Node = torch.fx.Node
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
FUNCTIONS = {getattr(torch, kind): kind for kind in GATES}
_library = torch.library.Library("unseen", "DEF")
_library.define(
    "recurrent(str kind, Tensor x, Tensor[] states, Tensor[] weights, bool biased, int layers, bool two_ways, "
    "bool batch_first) -> Tensor[]"
)


def _run(
    kind: str,
    x: torch.Tensor,
    states: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    biased: bool,
    layers: int,
    two_ways: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    made = getattr(torch, kind)(
        x,
        list(states) if kind == "lstm" else states[0],
        list(weights),
        biased,
        layers,
        0.0,
        False,
        two_ways,
        batch_first,
    )
    return list(made)


def _shapes(
    kind: str,
    x: torch.Tensor,
    states: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    biased: bool,
    layers: int,
    two_ways: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    wide = states[0].shape[-1] * (2 if two_ways else 1)
    return [x.new_empty(*x.shape[:-1], wide), *[torch.empty_like(s) for s in states]]


_library.impl("recurrent", _run, "CompositeExplicitAutograd")
torch.library.register_fake("unseen::recurrent", _shapes, lib=_library)


def _of_one_hot(tensor: torch.Tensor, num_classes: int = -1) -> tuple[torch.Tensor, int]:
    return tensor, num_classes


class Whole(TorchFunctionMode):
    """Traces a recurrent layer as one operation. It must have tensors of equal lengths, no dropout, and states as wide
    as its results.

    One-hot rows become a comparison. torch would first read the least and the greatest index, which makes them
    decisions of Python.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is torch.nn.functional.one_hot:
            index, most = _of_one_hot(*args, **(kwargs or {}))
            if most > 0:
                return (index.unsqueeze(-1) == torch.arange(most, device=index.device)).long()
        by_chunks = getattr(torch.nn.functional, "linear_cross_entropy", None)
        if function is by_chunks and kwargs and kwargs.get("options"):
            # the chunk size does not change the result
            kwargs = {k: v for k, v in kwargs.items() if k != "options"}
        kind = FUNCTIONS.get(function)
        if (
            kind is None
            or kwargs
            or len(args) != 9
            or not isinstance(args[3], bool)
            or not isinstance(args[2], (list, tuple))
        ):
            return function(*args, **(kwargs or {}))
        x, states, weights, biased, layers, dropout, training, two_ways, batch_first = args
        states = list(states) if kind == "lstm" else [states]
        ways = 2 if two_ways else 1
        if (
            (dropout and training and layers > 1)
            or len(weights) != layers * ways * (4 if biased else 2)
            or x.dim() != 3
        ):
            return function(*args)
        return tuple(
            torch.ops.unseen.recurrent(kind, x, states, list(weights), biased, layers, two_ways, batch_first)
        )


class _Steps:
    """Writes the steps of one node in front of it."""

    def __init__(self, graph: torch.fx.Graph, node: Node) -> None:
        operands: Any = node.args
        kind, x, states, weights, biased, layers, two_ways, batch_first = operands
        self.graph, self.dtype = graph, x.meta["val"].dtype
        self.known: dict[tuple[int, ...], torch.Tensor] = {}
        self.kind: str = kind
        self.x: Node = x
        self.states: Sequence[Node] = states
        self.weights: Sequence[Node] = weights
        self.biased: bool = biased
        self.layers: int = layers
        self.batch_first: bool = batch_first
        self.ways = 2 if two_ways else 1
        steps, batch, self.width = x.meta["val"].shape
        self.steps, self.batch = (batch, steps) if self.batch_first else (steps, batch)
        self.hidden = self.states[0].meta["val"].shape[-1]

    def op(self, function: Any, *args: Any, shape: Sequence[int] | None = None) -> Node:
        """Adds a node. Its result has the shape of its first operand unless `shape` is given."""
        node = self.graph.call_function(function, args)
        shape = tuple(args[0].meta["val"].shape if shape is None else shape)
        if shape not in self.known:
            self.known[shape] = torch.empty(shape, dtype=self.dtype, device="meta")
        node.meta["val"] = self.known[shape]
        return node

    def at(self, x: Any, place: int) -> Node:
        return self.op(aten.select.int, x, 0, place, shape=x.meta["val"].shape[1:])

    def stack(self, nodes: Sequence[Node]) -> Node:
        return self.op(aten.stack.default, nodes, 0, shape=(len(nodes), *nodes[0].meta["val"].shape))

    def reshaped(self, x: Any, *shape: int) -> Node:
        return self.op(aten.reshape.default, x, list(shape), shape=shape)

    def turned(self, x: Any) -> Node:
        shape = x.meta["val"].shape
        return self.op(aten.transpose.int, x, 0, 1, shape=(shape[1], shape[0], *shape[2:]))

    def product(self, x: Any, weight: Node, bias: Node | None) -> Node:
        """The product of x with a transposed weight, plus the bias."""
        made = self.op(
            aten.mm.default, x, weight, shape=(x.meta["val"].shape[0], weight.meta["val"].shape[1])
        )
        return made if bias is None else self.op(aten.add.Tensor, made, bias)

    def part(self, gates: Node, first: int, count: int = 1) -> Node:
        """Slices `count` gates from [batch, gates * hidden]."""
        return self.op(
            aten.slice.Tensor,
            gates,
            1,
            first * self.hidden,
            (first + count) * self.hidden,
            shape=(self.batch, count * self.hidden),
        )

    def add(self, a: Node, b: Node) -> Node:
        return self.op(aten.add.Tensor, a, b)

    def mul(self, a: Node, b: Node) -> Node:
        return self.op(aten.mul.Tensor, a, b)

    def gru(self, of_input: Node, of_state: Node, hidden: Node) -> list[Node]:
        """The gates are reset, update, new."""
        gates = self.op(aten.sigmoid.default, self.add(self.part(of_input, 0, 2), self.part(of_state, 0, 2)))
        reset, update = self.part(gates, 0), self.part(gates, 1)
        new = self.op(
            aten.tanh.default, self.add(self.part(of_input, 2), self.mul(reset, self.part(of_state, 2)))
        )
        return [self.add(new, self.mul(update, self.op(aten.sub.Tensor, hidden, new)))]

    def lstm(self, of_input: Node, of_state: Node, hidden: Node, cell: Node) -> list[Node]:
        """The gates are input, forget, cell, output."""
        total = self.add(of_input, of_state)
        first, out = (
            self.op(aten.sigmoid.default, self.part(total, 0, 2)),
            self.op(aten.sigmoid.default, self.part(total, 3)),
        )
        new = self.mul(self.part(first, 0), self.op(aten.tanh.default, self.part(total, 2)))
        cell = self.add(self.mul(self.part(first, 1), cell), new)
        return [self.mul(out, self.op(aten.tanh.default, cell)), cell]

    def plain(self, of_input: Node, of_state: Node, hidden: Node) -> list[Node]:
        return [
            self.op(
                aten.tanh.default if self.kind == "rnn_tanh" else aten.relu.default,
                self.add(of_input, of_state),
            )
        ]

    def direction(self, flat: Node, number: int, backwards: bool) -> tuple[Node, list[Node]]:
        """One direction of a layer over [steps * batch, width]. Returns (the results of every step, the states after
        the last)."""
        each = 4 if self.biased else 2
        cells: dict[str, Callable[..., list[Node]]] = {"gru": self.gru, "lstm": self.lstm}
        cell = cells.get(self.kind, self.plain)
        first, second, *biases = self.weights[number * each : (number + 1) * each]
        b_input, b_state = biases if self.biased else (None, None)
        w_input, w_state = (
            self.op(aten.t.default, w, shape=w.meta["val"].shape[::-1]) for w in (first, second)
        )
        of_inputs = self.reshaped(
            self.product(flat, w_input, b_input), self.steps, self.batch, GATES[self.kind] * self.hidden
        )
        states, results = [self.at(s, number) for s in self.states], []
        for t in range(self.steps)[:: -1 if backwards else 1]:
            states = cell(self.at(of_inputs, t), self.product(states[0], w_state, b_state), *states)
            results.append(states[0])
        return self.stack(results[::-1] if backwards else results), states

    def results(self) -> list[Node]:
        """The nodes of the operation's results."""
        x = self.turned(self.x) if self.batch_first else self.x
        width, last = self.width, []
        for layer in range(self.layers):
            flat = self.reshaped(x, self.steps * self.batch, width)
            ways = [self.direction(flat, layer * self.ways + way, way == 1) for way in range(self.ways)]
            last += [states for _, states in ways]
            width = self.hidden * self.ways
            x = (
                ways[0][0]
                if self.ways == 1
                else self.op(
                    aten.cat.default, [made for made, _ in ways], 2, shape=(self.steps, self.batch, width)
                )
            )
        x = self.turned(x) if self.batch_first else x
        return [x, *[self.stack([states[i] for states in last]) for i in range(len(self.states))]]


def spread(module: torch.fx.GraphModule) -> None:
    """Expands the recurrent layers of the module's graph to their steps."""
    for node in [n for n in module.graph.nodes if n.target is torch.ops.unseen.recurrent.default]:
        with module.graph.inserting_before(node):
            results = _Steps(module.graph, node).results()
        for user in list(node.users):  # each user takes one of the results
            user.replace_all_uses_with(results[user.args[1]])
            module.graph.erase_node(user)
        module.graph.erase_node(node)
