"""Binds a candidate to an imported task.

A class is constructed like the task's own Model, gets the drawn weights and is called with the inputs. A plain
function gets the inputs, then the weights in the order of the state dict.

Protocol: call `bind(entry, call)` once per configuration, then `rebind(tensors)` on its result. UNSEEN_TASK or
`call.task` names the task's file.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from typing import Any, Protocol

import torch

from . import CONSTRUCTION_SEED, Task, structure, varying, weight, weight_init


class Call(Protocol):
    """A configuration of runner/calling.py."""

    tensors: dict[str, torch.Tensor]
    scalars: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]
    device: torch.device
    destination: bool | None
    fingerprint: Callable[[list[torch.Tensor]], Any]
    later: Callable[[Any, Callable[[], torch.Tensor]], Any]


def _plain(value: Any) -> bool:
    """Tells whether a value consists of plain Python values alone. Two such values with the same repr are equal."""
    if isinstance(value, dict):
        return all(_plain(v) for v in value.values())
    return (
        all(map(_plain, value))
        if isinstance(value, (tuple, list))
        else value is None or type(value) in (int, float, bool, str)
    )


def _put_by_name(model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> None:
    state = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, value in weights.items():
            if state[name].shape == value.shape:
                state[name].copy_(value)


class Bound:
    """A candidate with the constructor arguments and weights of one configuration."""

    def __init__(self, task: Task, entry: Callable[..., Any], call: Call) -> None:
        self.task, self.call = task, call
        self.sizes = {axis["name"]: int(call.scalars[axis["name"]]) for axis in task.description["axes"]}
        self.instance = task.instance(self.sizes)
        in_our_form = getattr(self.instance.module, "unseen_solution", None)
        self.entry = in_our_form(entry, call.destination) if in_our_form else entry
        self.tensors = call.tensors
        self.weights: dict[str, torch.Tensor] = {}
        self.model: torch.nn.Module | None = None
        self.mark: Any = None
        last = getattr(call, "last", None)
        kinds = [note["kind"] for note in task.description.get("notes", [])]
        self.is_in_out = any(entry.get("written") for entry in task.description["inputs"])
        self.is_stateful, self.is_derived, self.is_placed = "stateful" in kinds, "derived" in kinds, False
        self.folded: frozenset[str] = frozenset()
        if (
            isinstance(last, Bound)
            and inspect.isclass(self.entry)
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

    def _construct(self, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
        """Constructs a new model with these weights. Its constructor already finds them in its parameters
        (weight_init.py).

        The exception is a task whose own constructor derives something from its drawn parameters.
        """
        expected = self._order() if weights and not self.is_derived else []

        def construct(*of: Any) -> torch.nn.Module:
            torch.manual_seed(CONSTRUCTION_SEED)
            return self.instance.model(*of)

        model, has_all, self.folded = weight_init.constructed(
            lambda: construct(self.entry, self.call.device), construct, expected, weights
        )
        self.is_placed = bool(weights) and has_all
        kept = {n: t.to(self.call.device) for n, t in self.task.constructed(self.instance).items()}
        _put_by_name(model, {n: t for n, t in kept.items() if n in model.state_dict()})
        return model

    def _order(self) -> weight_init.Expected:
        """Returns the initialization order of the parameters of the task's own model."""
        try:
            with weight_init.Order() as order:
                model = self.instance.model()
            return order.of(model)
        except Exception:
            return []

    def _is_served_by(self, last: Bound) -> bool:
        """Tells whether the previously bound model has the same constructor arguments and weights and can be reused."""
        return (
            last.model is not None
            and _plain(self.instance.init_args)
            and _plain(self.instance.init_named)
            and last.mark == self._mark()
            and repr((self.instance.init_args, self.instance.init_named))
            == repr((last.instance.init_args, last.instance.init_named))
        )

    def _mark(self) -> Any:
        """Returns a fingerprint of the weights."""
        return self.call.fingerprint([self.tensors["weights"]] if "weights" in self.tensors else [])

    def _load(self, model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> None:
        """Loads the weights into the model. Parameters into which the constructor has folded something keep their
        content. Without matching names the weights go in by order, or stay as the constructor found them."""
        keeps = self.folded and weight.by_name(model, weights)
        self._put(model, {n: w for n, w in weights.items() if n not in self.folded} if keeps else weights)

    def _put(self, model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> None:
        if weights and (not self.is_placed or weight.by_name(model, weights)):
            weight.load(model, weights)
        elif weights:  # placed already, but running statistics are buffers, which placing does not reach
            drawn = {w["name"] for w in self.task.description["weights"] if w["kind"] in ("mean", "variance")}
            buffers = dict(model.named_buffers())
            _put_by_name(model, {n: w for n, w in weights.items() if n in drawn and n in buffers})

    def rebind(self, tensors: dict[str, torch.Tensor]) -> None:
        """Binds other tensors. Other weights need a new model, since the constructor may have derived state from the
        old ones."""
        self.tensors = tensors
        packed = tensors.get("weights")
        if inspect.isclass(self.entry):
            mark = self._mark()
            model = None if mark != self.mark else self.model
            weights = (
                self.task.weights(packed, self.sizes)
                if packed is not None and (model is None or self.is_stateful)
                else {}
            )
            if model is None:
                self.model = model = self._construct(weights)
                self.mark = mark
            self._load(model, weights)
        elif packed is not None:
            self.weights = self.task.weights(packed, self.sizes)

    def __call__(self) -> Any:
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

    def measured(self, result: Any) -> Any:
        """Returns the result as the memory holds it, and the extents that depend on values. No clock
        measures this."""
        of = (result, self.task.outputs, self.call.shapes, self.call.later)
        return varying.measured(*of) if self.task.varying else result

    def _without_inputs(self, result: Any) -> Any:
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


def entries() -> list[str]:
    """Returns the names by which candidates of the task's form are known."""
    with open(os.environ["UNSEEN_TASK"], encoding="utf-8") as file:
        names: list[str] = json.load(file).get("candidates", [])
    return names


def bind(entry: Callable[..., Any], call: Call) -> Bound:
    """Returns a callable without arguments. It runs the candidate on `call`'s tensors and returns its result."""
    path = getattr(call, "task", None) or os.environ["UNSEEN_TASK"]
    return Bound(Task.read(path), entry, call)
