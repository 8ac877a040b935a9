"""The candidate's side of an imported task: its class is constructed as the task's own is, with the drawn weights, and called
with the inputs. A plain function gets the inputs, then the weights in the state dict's order.

Protocol: bind(entry, call) once per configuration, then rebind(tensors) on what it returned. The task's file is named by
UNSEEN_TASK, or by call.task.
"""
import inspect
import os

import torch

from . import CONSTRUCTION_SEED, Task, structure, weight


class Bound:
    """One candidate with one configuration's constructor arguments and weights."""

    def __init__(self, task, entry, call):
        self.task, self.entry, self.call = task, entry, call
        self.sizes = {axis["name"]: int(call.scalars[axis["name"]]) for axis in task.description["axes"]}
        self.instance = task.instance(self.sizes)
        self.model = None
        self.tensors = call.tensors
        if inspect.isclass(entry):
            torch.manual_seed(CONSTRUCTION_SEED)
            self.model = self.instance.model(entry, call.device)
            kept = {n: t.to(call.device) for n, t in task.constructed(self.instance).items()}
            self._put({n: t for n, t in kept.items() if n in self.model.state_dict()}, by_name=True)
        self.rebind(call.tensors)

    def _put(self, weights, by_name=False):
        if by_name:
            state = self.model.state_dict(keep_vars=True)
            with torch.no_grad():
                for name, value in weights.items():
                    if state[name].shape == value.shape:
                        state[name].copy_(value)
        elif weights:
            weight.load(self.model, weights)

    def rebind(self, tensors):
        """Other contents: the inputs' tensors, and the weights made of `weights` again."""
        self.tensors = tensors
        self.weights = self.task.weights(tensors["weights"], self.sizes) if "weights" in tensors else {}
        if self.model is not None:
            self._put(self.weights)

    def __call__(self):
        arguments = self.task.arguments(self.tensors, self.sizes)
        with torch.no_grad():
            if self.model is not None:
                result = self.model(*arguments)
            else:
                result = self.entry(*arguments, *self.weights.values())
        return structure.at(result, self.task.ways) if self.task.nested else result


def bind(entry, call):
    """A function of no arguments that runs the candidate on `call`'s tensors and returns what it returned."""
    path = getattr(call, "task", None) or os.environ["UNSEEN_TASK"]
    return Bound(Task.read(path), entry, call)
