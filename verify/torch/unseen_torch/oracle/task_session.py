"""A session of the oracle with one imported task. It holds modules and graphs by sizes, and takes inputs and weights as
tensors."""

from __future__ import annotations

import copy
import json
import os
import random
import sys
from collections.abc import Sequence
from typing import Any, Optional

import torch

from ..oom import is_short
from ..task import CONSTRUCTION_SEED, effects, scalar, shaped, source, varying, weight
from ..task.description import Description
from ..task.expression import Sizes
from . import constant, evaluate, graph, returned, sides
from .number import U32, Number, Unsupported

Built = tuple[source.Instance, torch.nn.Module, Optional[graph.Graph]]
Judgements = Sequence[evaluate.Judged]

KEPT = 4  # sizes whose modules and graphs are cached
NEAR = 1e-2  # tolerance between two answers of one model
CHECKED = 1 << 21  # most input elements for which the module itself is run on the host


class Task:
    """Loads the description `path` (NAME.task) and the source beside it."""

    def __init__(self, path: str, device: str) -> None:
        with open(path, encoding="utf-8") as file:
            self.description: Description = json.load(file)
        self.source = source.load_imported(os.path.dirname(path), self.description)
        self.device, self.stateless = device, False
        self.kept: dict[tuple[tuple[str, int], ...], Built] = {}
        self.last: tuple[graph.Graph, dict[str, torch.Tensor], list[Any]] | None = (
            None  # graph, state and inputs of the last question
        )

    def varying(self) -> dict[str, list[int]]:
        """Returns the dimensions that depend on values, by the output's name."""
        return {e["name"]: e["varying"] for e in self.description.get("outputs", []) if "varying" in e}

    def padded(self) -> list[int]:
        """Returns the places of varying outputs, counted from the last result."""
        results = [e for e in self.description.get("outputs", []) if "length_of" not in e]
        return [k - len(results) for k, e in enumerate(results) if "varying" in e]

    def spread(self, sizes: Sizes) -> Sizes:
        """Converts values of axes to values of the source's sizes."""
        return {name: sizes[axis["name"]] for axis in self.description["axes"] for name in axis["sizes"]}

    def made(self, sizes: Sizes, seed: int, named: str | None = None) -> dict[str, Any]:
        """Returns {name: input that get_inputs draws with that seed} for values of axes. `named` is the class of
        inputs."""
        random.seed(seed)
        torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % (1 << 32))
        names = [e["name"] for e in self.description["inputs"]]
        drawn = dict(zip(names, self.source.instance(self.spread(sizes)).inputs()))
        fills = next((c["fill"] for c in self.description["classes"] if c["name"] == named), {})
        return {
            n: shaped.changed(v, fills.get(n, {})) if isinstance(v, torch.Tensor) else v
            for n, v in drawn.items()
        }

    def built(self, sizes: Sizes) -> Built:
        """Returns (instance, module, graph or None) for values of axes."""
        key = tuple(sorted(sizes.items()))
        if key not in self.kept:
            while len(self.kept) >= KEPT:
                self.kept.pop(next(iter(self.kept)))
            instance = self.source.instance(self.spread(sizes))
            # The candidate also gets the numbers that the constructor draws.
            torch.manual_seed(CONSTRUCTION_SEED)
            self.kept[key] = instance, instance.model(), None
        return self.kept[key]

    def prepared(
        self, sizes: Sizes, tensors: dict[str, torch.Tensor]
    ) -> tuple[graph.Graph, dict[str, torch.Tensor], list[Any], torch.nn.Module]:
        """Returns (graph, state, inputs, module). The module holds the weights."""
        instance, model, traced = self.built(sizes)
        if "weights" in tensors:
            weight.load(
                model, weight.unpack(self.description["weights"], tensors["weights"].reshape(-1), sizes)
            )
        inputs = [
            tensors[e["name"]].to(getattr(torch, e["dtype"])) if "shape" in e else scalar.value(e, sizes)
            for e in self.description["inputs"]
        ]
        if traced is None or traced.of_values:
            traced = graph.trace(model, inputs, effects.written_in(self.description))
            self.kept[tuple(sorted(sizes.items()))] = instance, model, traced
        return traced, graph.state_of(model), inputs, model

    def admits(self, before: Sizes, after: Sizes) -> bool:
        """True if the task's own model gives the same answer for `after` in a process that computed `before` first, and
        alone. The same model is called twice if both configurations have equal constructor arguments. Raises the
        model's exceptions."""

        def on(x: Any) -> Any:
            return x.to(self.device) if isinstance(x, torch.Tensor) else x

        first, then = self.source.instance(self.spread(before)), self.source.instance(self.spread(after))

        def of(instance: source.Instance) -> torch.nn.Module:
            torch.manual_seed(CONSTRUCTION_SEED)
            return instance.model().to(self.device)

        def call(model: torch.nn.Module, inputs: list[Any]) -> list[torch.Tensor]:
            torch.manual_seed(1)
            return [tensor.double() for tensor in effects.tensors(model, copy.deepcopy(inputs))]

        with torch.no_grad():
            torch.manual_seed(1)
            inputs = [on(x) for x in then.inputs()]
            alone, model = call(of(then), inputs), of(first)
            call(model, [on(x) for x in first.inputs()])
            served = call(model if repr(_told(first)) == repr(_told(then)) else of(then), inputs)
        return all(
            a.shape == b.shape and torch.allclose(a, b, rtol=NEAR, atol=NEAR, equal_nan=True)
            for a, b in zip(alone, served)
        )


def _told(instance: source.Instance) -> tuple[list[Any], dict[str, Any]]:
    """The constructor's arguments."""
    return instance.init_args, instance.init_named


def _tables(task: Any, model: torch.nn.Module) -> frozenset[str]:
    """The names of buffers that a candidate's constructor computes for itself, as the task's own does."""
    given = {
        w["name"]
        for w in task.description.get("weights", [])
        if w["kind"] != "constructed" or w.get("loaded", True)
    }
    return frozenset(name for name, _ in model.named_buffers() if name not in given)


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _is_off(judged: Judgements, out: Sequence[torch.Tensor], times: float) -> bool:
    """True if an answer of the module exceeds the allowed error `times` times, or is NaN although that of its graph is
    not."""
    for j, got, want in zip(judged, out, returned.wanted(judged, out)):
        if got.shape != want.shape:
            return True
        got = got.double().to(want.device)
        near = ((got - want).abs() <= times * j.allowed) | (got == want) | want.isnan()
        if j.number.is_float and not bool(near.all()):
            return True
    return False


def check(task: Any, ways: Sequence[Judgements], model: torch.nn.Module, inputs: list[Any]) -> None:
    """Compares the module's own answers with those of its graph. Eager PyTorch must itself stay within the allowed
    error. The first time, the module is called twice: a different second answer shows state that it keeps between
    calls."""
    if sum(x.numel() for x in inputs if isinstance(x, torch.Tensor)) > CHECKED:
        return
    # The module runs on the host, where some of the library's kernels compute in 16 bits. Candidates on the host use
    # the same kernels, so the limit there is the allowed error itself. For candidates on a GPU it is four times that.
    times = 1 if getattr(task, "device", "cpu") == "cpu" else 4
    for call in ("first",) if task.stateless else ("first", "second"):
        torch.manual_seed(1)
        out = effects.tensors(model, list(map(_copied, inputs)))
        if all(_is_off(judged, out, times) for judged in ways):
            raise Unsupported(
                "the module's own answer is beyond what its declared arithmetic allows here"
                if task.stateless
                else f"the module's own {call} answer is not that of its graph: it keeps state between "
                "calls, or the graph is not what it computes"
            )
    task.stateless = True


def _cause(error: Exception, model: torch.nn.Module, inputs: list[Any]) -> Exception:
    """Names the cause of an error during the evaluation of a graph. If the module itself also raises an exception, it
    does not run on this configuration. An example is an index out of range, which no shape shows. Any other error is
    a gap of the oracle, and this configuration has no reference."""
    if is_short(error, torch.cuda.OutOfMemoryError):
        return error
    try:
        if all(x.numel() <= CHECKED for x in inputs if isinstance(x, torch.Tensor)):
            model(*map(_copied, inputs))
    except (IndexError, ValueError, RuntimeError) as own:
        return own if is_short(own, torch.cuda.OutOfMemoryError) else graph.untraceable(own)
    return Unsupported(
        f"the oracle cannot evaluate this graph: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    )


def answers(task: Any, sizes: Sizes, tensors: dict[str, torch.Tensor], seed: int = 1) -> tuple[Answers, bool]:
    """Returns (the reference of every output, whether they are constant)."""
    traced, state, inputs, model = task.prepared(sizes, tensors)
    if traced.random():
        raise Unsupported(f"the forward pass draws random numbers ({traced.random()})")
    device = "cpu" if traced.is_small() else task.device

    def on(x: Any) -> Any:
        return x.to(device) if isinstance(x, torch.Tensor) else x

    state, moved = {k: on(v.detach()) for k, v in state.items()}, [on(x) for x in inputs]
    task.last = (traced, state, moved)
    with torch.no_grad():
        try:
            ways = sides.answers(traced, state, moved, seed, device, _tables(task, model))
            same = len(ways) == 1 and constant.is_constant(ways[0], traced, state, moved, seed, device)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise _cause(error, model, inputs)  # noqa: B904  (may be the error itself)
        check(task, ways, model, inputs)
    return Answers([judged + _lengths(task, judged) for judged in ways]), same


class Answers(list[evaluate.Judged]):
    """The references of all outputs. `ways` has those of each way that open decisions can fall (sides.py)."""

    def __init__(self, ways: Sequence[list[evaluate.Judged]]) -> None:
        super().__init__(ways[0])
        self.ways = ways


def _lengths(task: Any, judged: Judgements) -> list[evaluate.Judged]:
    """The references of the extents that depend on values."""
    dims = list(task.varying().values()) if isinstance(task, Task) else []
    return [
        evaluate.Judged(Number(varying.extents(judged[place].want, d)), torch.int64, U32)
        for place, d in zip(task.padded() if dims else [], dims)
    ]
