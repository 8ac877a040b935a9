"""The candidate's side of an imported task: its class is constructed as the task's own is, with the drawn weights, and called
with the inputs. A plain function gets the inputs, then the weights in the state dict's order.

Protocol: bind(entry, call) once per configuration, then rebind(tensors) on what it returned. The task's file is named by
UNSEEN_TASK, or by call.task.
"""
import inspect
import os

import torch

from . import CONSTRUCTION_SEED, Task, placing, structure, weight


def _plain(value):
    """Is it made of what two constructors may be told alike to be?"""
    if isinstance(value, dict):
        return all(_plain(v) for v in value.values())
    return all(map(_plain, value)) if isinstance(value, (tuple, list)) else value is None or type(value) in (
        int, float, bool, str)


class Bound:
    """One candidate with one configuration's constructor arguments and weights."""

    def __init__(self, task, entry, call):
        self.task, self.entry, self.call = task, entry, call
        self.sizes = {axis["name"]: int(call.scalars[axis["name"]]) for axis in task.description["axes"]}
        self.instance = task.instance(self.sizes)
        self.tensors, self.weights, self.model, self.mark = call.tensors, {}, None, None
        last, kinds = getattr(call, "last", None), [note["kind"] for note in task.description.get("notes", [])]
        self.is_in_out = any(entry.get("written") for entry in task.description["inputs"])
        self.is_stateful, self.is_derived, self.is_placed = "stateful" in kinds, "derived" in kinds, False
        self.folded = frozenset()
        if inspect.isclass(entry) and not {"kept", "stateful", "random"} & set(kinds) and self._is_served_by(last):
            self.model, self.mark, self.is_placed, self.folded = last.model, last.mark, last.is_placed, last.folded
        self.rebind(call.tensors)

    def _construct(self, weights):
        """A new model with these weights, which its constructor finds in it already (placing.py); unless the task's own makes something
        of those that it draws itself."""
        expected = self._order() if weights and not self.is_derived else []
        def construct(*of):
            torch.manual_seed(CONSTRUCTION_SEED)
            return self.instance.model(*of)
        self.model, has_all, self.folded = placing.constructed(lambda: construct(self.entry, self.call.device), construct, expected, weights)
        self.is_placed = bool(weights) and has_all
        kept = {n: t.to(self.call.device) for n, t in self.task.constructed(self.instance).items()}
        self._put({n: t for n, t in kept.items() if n in self.model.state_dict()}, by_name=True)

    def _order(self):
        """Of the parameters of the task's own model."""
        try:
            with placing.Order() as order:
                model = self.instance.model()
            return order.of(model)
        except Exception:
            return []

    def _is_served_by(self, last):
        """Is the model that was bound before one of the same arguments and weights?"""
        return (isinstance(last, Bound) and last.model is not None and _plain(self.instance.init_args) and
                _plain(self.instance.init_named) and last.mark == self._mark() and
                repr((self.instance.init_args, self.instance.init_named)) == repr(
                    (last.instance.init_args, last.instance.init_named)))

    def _mark(self):
        """Other weights have another."""
        return self.call.fingerprint([self.tensors["weights"]] if "weights" in self.tensors else [])

    def _load(self, weights):
        """The weights are in the model: by names but for what its constructor has folded into them, in order, or as it has found them."""
        keeps = self.folded and weight.by_name(self.model, weights)
        self._put({n: w for n, w in weights.items() if n not in self.folded} if keeps else weights)

    def _put(self, weights, by_name=False):
        if by_name:
            state = self.model.state_dict(keep_vars=True)
            with torch.no_grad():
                for name, value in weights.items():
                    if state[name].shape == value.shape:
                        state[name].copy_(value)
        elif weights and (not self.is_placed or weight.by_name(self.model, weights)):
            weight.load(self.model, weights)
        elif weights:  # it has made of its parameters what it likes; what a module counts for itself is no parameter
            drawn = {w["name"] for w in self.task.description["weights"] if w["kind"] in ("mean", "variance")}
            buffers = dict(self.model.named_buffers())
            self._put({n: w for n, w in weights.items() if n in drawn and n in buffers}, by_name=True)

    def rebind(self, tensors):
        """Other contents. Other weights make another model: what it has made of the former ones is its own business."""
        self.tensors = tensors
        packed = tensors.get("weights")
        if inspect.isclass(self.entry):
            mark = self._mark()
            others = self.model is None or mark != self.mark
            weights = self.task.weights(packed, self.sizes) if packed is not None and (others or self.is_stateful) else {}
            if others:
                self._construct(weights)
                self.mark = mark
            self._load(weights)
        elif packed is not None:
            self.weights = self.task.weights(packed, self.sizes)

    def __call__(self):
        arguments = self.task.arguments(self.tensors, self.sizes)
        with torch.no_grad():
            if self.model is not None:
                result = self.model(*arguments)
            else:
                result = self.entry(*arguments, *self.weights.values())
        return self._without_inputs(result) if self.is_in_out else structure.at(result, self.task.ways) if self.task.nested else result

    def _without_inputs(self, result):
        """Of a task that writes into its inputs, what else it returns. A new tensor in the place of such an input is its content from now on."""
        for same in self.task.same:
            given, value = self.tensors[same["input"]], structure.at(result, [same["way"]])
            if isinstance(value, torch.Tensor) and value is not given and value.shape == given.shape and value.data_ptr() != given.data_ptr():
                given.copy_(value)
        return structure.at(result, self.task.ways) if self.task.ways else None


def bind(entry, call):
    """A function of no arguments that runs the candidate on `call`'s tensors and returns what it returned."""
    path = getattr(call, "task", None) or os.environ["UNSEEN_TASK"]
    return Bound(Task.read(path), entry, call)
