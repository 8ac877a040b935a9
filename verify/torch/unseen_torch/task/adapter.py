"""Binds a candidate to an imported task.

A class is constructed like the task's own Model, gets the drawn weights and is called with the inputs. A plain
function gets the inputs, then the weights in the order of the state dict.

Protocol: call `bind(entry, call)` once per configuration, then `rebind(tensors)` on its result. UNSEEN_TASK or
`call.task` names the task's file.
"""

import inspect
import os

import torch

from . import CONSTRUCTION_SEED, Task, structure, varying, weight, weight_init


def _plain(value):
    """Tells whether a value consists of plain Python values alone. Two such values with the same repr are equal."""
    if isinstance(value, dict):
        return all(_plain(v) for v in value.values())
    return (
        all(map(_plain, value))
        if isinstance(value, (tuple, list))
        else value is None or type(value) in (int, float, bool, str)
    )


class Bound:
    """A candidate with the constructor arguments and weights of one configuration."""

    def __init__(self, task, entry, call):
        self.task, self.entry, self.call = task, entry, call
        self.sizes = {axis["name"]: int(call.scalars[axis["name"]]) for axis in task.description["axes"]}
        self.instance = task.instance(self.sizes)
        self.tensors, self.weights, self.model, self.mark = call.tensors, {}, None, None
        last, kinds = (
            getattr(call, "last", None),
            [note["kind"] for note in task.description.get("notes", [])],
        )
        self.is_in_out = any(entry.get("written") for entry in task.description["inputs"])
        self.is_stateful, self.is_derived, self.is_placed = "stateful" in kinds, "derived" in kinds, False
        self.folded = frozenset()
        if (
            inspect.isclass(entry)
            and not {"kept", "stateful", "random"} & set(kinds)
            and self._is_served_by(last)
        ):
            self.model, self.mark, self.is_placed, self.folded = (
                last.model,
                last.mark,
                last.is_placed,
                last.folded,
            )
        self.rebind(call.tensors)

    def _construct(self, weights):
        """Constructs a new model with these weights. Its constructor already finds them in its parameters
        (weight_init.py).

        The exception is a task whose own constructor derives something from its drawn parameters.
        """
        expected = self._order() if weights and not self.is_derived else []

        def construct(*of):
            torch.manual_seed(CONSTRUCTION_SEED)
            return self.instance.model(*of)

        self.model, has_all, self.folded = weight_init.constructed(
            lambda: construct(self.entry, self.call.device), construct, expected, weights
        )
        self.is_placed = bool(weights) and has_all
        kept = {n: t.to(self.call.device) for n, t in self.task.constructed(self.instance).items()}
        self._put({n: t for n, t in kept.items() if n in self.model.state_dict()}, by_name=True)

    def _order(self):
        """Returns the initialization order of the parameters of the task's own model."""
        try:
            with weight_init.Order() as order:
                model = self.instance.model()
            return order.of(model)
        except Exception:
            return []

    def _is_served_by(self, last):
        """Tells whether the previously bound model has the same constructor arguments and weights and can be reused."""
        return (
            isinstance(last, Bound)
            and last.model is not None
            and _plain(self.instance.init_args)
            and _plain(self.instance.init_named)
            and last.mark == self._mark()
            and repr((self.instance.init_args, self.instance.init_named))
            == repr((last.instance.init_args, last.instance.init_named))
        )

    def _mark(self):
        """Returns a fingerprint of the weights."""
        return self.call.fingerprint([self.tensors["weights"]] if "weights" in self.tensors else [])

    def _load(self, weights):
        """Loads the weights into the model. Parameters into which the constructor has folded something keep their
        content. Without matching names the weights go in by order, or stay as the constructor found them."""
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
        elif weights:  # placed already, but running statistics are buffers, which placing does not reach
            drawn = {w["name"] for w in self.task.description["weights"] if w["kind"] in ("mean", "variance")}
            buffers = dict(self.model.named_buffers())
            self._put({n: w for n, w in weights.items() if n in drawn and n in buffers}, by_name=True)

    def rebind(self, tensors):
        """Binds other tensors. Other weights need a new model, since the constructor may have derived state from the
        old ones."""
        self.tensors = tensors
        packed = tensors.get("weights")
        if inspect.isclass(self.entry):
            mark = self._mark()
            others = self.model is None or mark != self.mark
            weights = (
                self.task.weights(packed, self.sizes)
                if packed is not None and (others or self.is_stateful)
                else {}
            )
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
        return (
            self._without_inputs(result)
            if self.is_in_out
            else structure.at(result, self.task.ways)
            if self.task.nested
            else result
        )

    def measured(self, result):
        """Returns the result as the memory holds it, and the extents that depend on values. No clock
        measures this."""
        of = (result, self.task.outputs, self.call.shapes, self.call.later)
        return varying.measured(*of) if self.task.varying else result

    def _without_inputs(self, result):
        """Returns the results that are not inputs. If the model returns a new tensor for a written input, the tensor
        is copied into that input."""
        for same in self.task.same:
            given, value = self.tensors[same["input"]], structure.at(result, [same["way"]])
            if (
                isinstance(value, torch.Tensor)
                and value is not given
                and value.shape == given.shape
                and value.data_ptr() != given.data_ptr()
            ):
                given.copy_(value)
        return structure.at(result, self.task.ways) if self.task.ways else None


def bind(entry, call):
    """Returns a callable without arguments. It runs the candidate on `call`'s tensors and returns its result."""
    path = getattr(call, "task", None) or os.environ["UNSEEN_TASK"]
    return Bound(Task.read(path), entry, call)
