"""Asks the oracle during import whether it has right answers for a task, on small inputs of get_inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..oracle import evaluate
from ..oracle import graph as graphs
from ..oracle.number import Unsupported
from . import input_domain
from .description import Note

if TYPE_CHECKING:
    import torch

    from .source import Instance

SEEDS = (1, 2)


def _why(model: torch.nn.Module, inputs: list[Any], written: Sequence[int]) -> str | None:
    """Returns the reason why the oracle has no answer for these inputs, or None if it has one."""
    try:
        graph = graphs.trace(copy.deepcopy(model), inputs, written)
        if graph.random():
            return f"the forward pass draws random numbers ({graph.random()})"
        state = {n: t.detach() for n, t in graphs.state_of(model).items()}
        dropped = [j.dropped for j in evaluate.answer(graph, state, [input_domain.copied(v) for v in inputs])]
        return next((why for why in dropped if why), None)
    except Unsupported as why:
        return str(why)
    except Exception as error:  # raised by the task's own code or by the oracle
        return f"the oracle cannot evaluate it: {type(error).__name__}: {error}"


def why_not(
    model: torch.nn.Module,
    instance: Instance,
    written: Sequence[int],
    grown: Callable[[], tuple[torch.nn.Module, list[Any]] | None],
) -> str | None:
    """Returns one line with the reason why no tried configuration has a known answer, or None if one has. `grown()`
    returns another model with inputs of other sizes, or None."""
    import torch

    reason: str | None = None
    for seed in SEEDS:
        torch.manual_seed(seed)
        why = _why(model, instance.inputs(), written)
        if why is None:
            return None
        reason = reason or why
    larger = grown()
    if larger and _why(*larger, written) is None:
        return None
    assert reason
    return " ".join(reason.split())[:300]


def note(why: str | None) -> list[Note]:
    """Returns the description's notes for this reason: one of the kind `unjudged`, or none."""
    return (
        [
            {
                "kind": "unjudged",
                "text": "no right answer is known for the inputs that importing tried, so verify may give no verdict: "
                + why,
            }
        ]
        if why
        else []
    )
