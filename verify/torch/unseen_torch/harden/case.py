"""One configuration of a task: module, inputs, graph and right answer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Optional

import torch

from ..oracle import eager, evaluate
from ..oracle import graph as graphs
from ..oracle.number import Unsupported
from ..task.description import Description
from ..task.expression import Sizes
from ..task.source import Instance, Source
from . import checks, drawing

Outputs = list[torch.Tensor]
# from a case, the inputs of one trial and the right outputs to wrong outputs, or None if there are none
Make = Callable[["Case", list[Any], Outputs], Optional[Outputs]]


def listed(out: Any) -> list[Any]:
    return list(out) if isinstance(out, (tuple, list)) else [out]


class Subject:
    """A task's description and source."""

    def __init__(self, description: Description, source: Source, device: str) -> None:
        self.description, self.source, self.device = description, source, device
        self.own: dict[str, float] = description.get("tolerance") or {}
        self.constants: dict[str, float] = {}  # parameters that the constructor fills with one value
        self.domains = [e.get("domain") for e in description["inputs"]]

    def instance(self, sizes: Sizes) -> Instance:
        spread = {
            name: int(sizes[axis["name"]]) for axis in self.description["axes"] for name in axis["sizes"]
        }
        return self.source.instance(spread)


class Case:
    """A configuration of a task. `hardened` draws inputs of the class `kind` and weights that are not the identity.
    Otherwise both are as in the task's own check."""

    def __init__(self, subject: Subject, sizes: Sizes, kind: str, seed: int, hardened: bool) -> None:
        self.subject, self.sizes, self.kind, self.seed = subject, sizes, kind, seed
        self.device = subject.device
        torch.manual_seed(seed)
        self.instance = subject.instance(sizes)
        torch.manual_seed(seed)
        model = self.instance.model()
        if hardened:
            drawing.vary_weights(model, seed)
        self.inputs = self.draw(seed)
        self.graph = graphs.trace(model, self.inputs)
        if self.graph.random():
            raise Unsupported(f"the forward pass draws random numbers ({self.graph.random()})")
        self.model = model.to(self.device)
        self.inputs = self.moved(self.inputs)
        self.state = {k: v.detach().clone() for k, v in graphs.state_of(self.model).items()}

    def draw(self, seed: int) -> list[Any]:
        """Draws inputs on the host, like get_inputs_for in the file that `unseen harden` writes."""
        torch.manual_seed(seed)
        values = self.instance.inputs()
        return [
            drawing.drawn(x, self.kind)
            if domain == "real" and isinstance(x, torch.Tensor) and x.is_floating_point()
            else x
            for x, domain in zip(values, self.subject.domains)
        ]

    def moved(self, inputs: list[Any]) -> list[Any]:
        return [x.to(self.device) if isinstance(x, torch.Tensor) else x for x in inputs]

    def answer(self, inputs: list[Any]) -> list[torch.Tensor]:
        """Returns the module's own answer, which a check uses as its reference."""
        model = copy.deepcopy(self.model)
        with torch.no_grad():
            torch.manual_seed(self.seed)
            given = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
            return [t.detach().clone() for t in listed(model(*given))]

    def judge(self) -> Case:
        """Computes right answers by the oracle. Raises Unsupported if they are not known."""
        with torch.no_grad():
            self.judged = evaluate.answer(self.graph, self.state, self.inputs, self.seed, self.device)
        self.reference = self.answer(self.inputs)
        dropped = next((j.dropped for j in self.judged if j.dropped), None)
        if dropped:
            raise Unsupported(dropped)
        if any(t.is_floating_point() and not bool(t.isfinite().all()) for t in self.reference):
            raise Unsupported("the task's own answer holds NaN or infinities")
        if checks.ours(self.judged, self.reference) > 1:
            raise Unsupported("the module's own answer is not that of its graph within what is allowed")
        self.tolerance = checks.tolerance(self.judged)
        return self

    def run(
        self,
        change: eager.Change | None = None,
        inputs: list[Any] | None = None,
        state: dict[str, torch.Tensor] | None = None,
    ) -> list[Any]:
        with torch.no_grad():
            return eager.run(
                self.graph,
                self.state if state is None else state,
                self.inputs if inputs is None else inputs,
                change,
            )
