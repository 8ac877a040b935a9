"""Recurrent layers of the library (nn.RNN, nn.GRU, nn.LSTM): one operation while the model is traced, steps afterwards.

Traced step by step a graph of thousands of nodes takes minutes, a millisecond and more a node; its nodes are written here instead.
The formulas are those of PyTorch's documentation; all steps' products with the inputs are one product.
"""
import torch
from torch.overrides import TorchFunctionMode

aten = torch.ops.aten
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
FUNCTIONS = {getattr(torch, kind): kind for kind in GATES}
_library = torch.library.Library("unseen", "DEF")
_library.define("recurrent(str kind, Tensor x, Tensor[] states, Tensor[] weights, bool biased, int layers, bool two_ways, "
                "bool batch_first) -> Tensor[]")


def _run(kind, x, states, weights, biased, layers, two_ways, batch_first):
    made = getattr(torch, kind)(x, list(states) if kind == "lstm" else states[0], list(weights), biased, layers, 0.0, False, two_ways,
                                batch_first)
    return list(made)


def _shapes(kind, x, states, weights, biased, layers, two_ways, batch_first):
    wide = states[0].shape[-1] * (2 if two_ways else 1)
    return [x.new_empty(*x.shape[:-1], wide), *[torch.empty_like(s) for s in states]]


_library.impl("recurrent", _run, "CompositeExplicitAutograd")
torch.library.register_fake("unseen::recurrent", _shapes, lib=_library)


class Whole(TorchFunctionMode):
    """A recurrent layer is one operation: of tensors of equal lengths, without dropout, whose states are as wide as its results."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kind = FUNCTIONS.get(function)
        if kind is None or kwargs or len(args) != 9 or not isinstance(args[3], bool) or not isinstance(args[2], (list, tuple)):
            return function(*args, **(kwargs or {}))
        x, states, weights, biased, layers, dropout, training, two_ways, batch_first = args
        states = list(states) if kind == "lstm" else [states]
        ways = 2 if two_ways else 1
        if (dropout and training and layers > 1) or len(weights) != layers * ways * (4 if biased else 2) or x.dim() != 3:
            return function(*args)
        return tuple(torch.ops.unseen.recurrent(kind, x, states, list(weights), biased, layers, two_ways, batch_first))


class _Steps:
    """Writes the steps of one node before it."""

    def __init__(self, graph, node):
        self.graph, self.meta = graph, torch.empty((), dtype=node.args[1].meta["val"].dtype, device="meta")
        self.kind, x, self.states, self.weights, self.biased, self.layers, two_ways, self.batch_first = node.args
        self.x, self.ways = x, 2 if two_ways else 1
        steps, batch, self.width = x.meta["val"].shape
        self.steps, self.batch = (batch, steps) if self.batch_first else (steps, batch)
        self.hidden = self.states[0].meta["val"].shape[-1]

    def op(self, function, *args):
        node = self.graph.call_function(function, args)
        node.meta["val"] = self.meta
        return node

    def product(self, x, weight, bias):
        """x times a weight that was transposed, and the bias."""
        made = self.op(aten.mm.default, x, weight)
        return made if bias is None else self.op(aten.add.Tensor, made, bias)

    def part(self, gates, first, count=1):
        """Of [batch, gates * hidden] some gates."""
        return self.op(aten.slice.Tensor, gates, 1, first * self.hidden, (first + count) * self.hidden)

    def cell(self, of_input, states, weight, bias):
        """The states after a step, of what its input adds to the gates and of the states before it."""
        of_state = self.product(states[0], weight, bias)
        add, mul, both = aten.add.Tensor, aten.mul.Tensor, lambda first, count: self.op(
            aten.sigmoid.default, self.op(aten.add.Tensor, self.part(of_input, first, count), self.part(of_state, first, count)))
        if self.kind == "gru":  # reset, update, new
            gates = both(0, 2)
            new = self.op(aten.tanh.default, self.op(add, self.part(of_input, 2), self.op(mul, self.part(gates, 0), self.part(of_state, 2))))
            return [self.op(add, new, self.op(mul, self.part(gates, 1), self.op(aten.sub.Tensor, states[0], new)))]
        total = self.op(add, of_input, of_state)
        if self.kind != "lstm":
            return [self.op(aten.tanh.default if self.kind == "rnn_tanh" else aten.relu.default, total)]
        pair = self.op(aten.sigmoid.default, self.part(total, 0, 2))  # input, forget; then cell, output
        kept, made = self.op(mul, self.part(pair, 1), states[1]), self.op(aten.tanh.default, self.part(total, 2))
        cell = self.op(add, kept, self.op(mul, self.part(pair, 0), made))
        out = self.op(aten.sigmoid.default, self.part(total, 3))
        return [self.op(mul, out, self.op(aten.tanh.default, cell)), cell]

    def direction(self, flat, width, number, backwards):
        """(results of every step, states after the last) of [steps * batch, width]."""
        each = 4 if self.biased else 2
        given = [*self.weights[number * each:(number + 1) * each], None, None]
        (w_input, w_state), (b_input, b_state) = (self.op(aten.t.default, w) for w in given[:2]), given[2:4]
        of_inputs = self.product(flat, w_input, b_input)
        of_inputs = self.op(aten.view.default, of_inputs, [self.steps, self.batch, GATES[self.kind] * self.hidden])
        states = [self.op(aten.select.int, s, 0, number) for s in self.states]
        results = []
        for t in range(self.steps)[::-1 if backwards else 1]:
            states = self.cell(self.op(aten.select.int, of_inputs, 0, t), states, w_state, b_state)
            results.append(states[0])
        return self.op(aten.stack.default, results[::-1] if backwards else results, 0), states

    def results(self):
        """The nodes of what the operation returns."""
        x = self.op(aten.transpose.int, self.x, 0, 1) if self.batch_first else self.x
        width, last = self.width, []
        for layer in range(self.layers):
            flat = self.op(aten.view.default, x, [self.steps * self.batch, width])
            ways = [self.direction(flat, width, layer * self.ways + way, way == 1) for way in range(self.ways)]
            last += [states for _, states in ways]
            x = ways[0][0] if self.ways == 1 else self.op(aten.cat.default, [made for made, _ in ways], 2)
            width = self.hidden * self.ways
        x = self.op(aten.transpose.int, x, 0, 1) if self.batch_first else x
        return [x, *[self.op(aten.stack.default, [states[i] for states in last], 0) for i in range(len(self.states))]]


def spread(module):
    """The module's graph with the steps of recurrent layers; whether there were any."""
    found = [node for node in module.graph.nodes if node.target is torch.ops.unseen.recurrent.default]
    for node in found:
        with module.graph.inserting_before(node):
            results = _Steps(module.graph, node).results()
        for user in list(node.users):  # each takes one of the results
            user.replace_all_uses_with(results[user.args[1]])
            module.graph.erase_node(user)
        module.graph.erase_node(node)
    return bool(found)
