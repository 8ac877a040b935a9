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
# By a part of the reason: what the task's author would have to change. The first that fits counts.
CHANGES = (
    ("no rule", "use operations that have a rule"),
    ("draws random numbers", "take the random numbers as an input"),
    ("NaN", "keep the answer a number: a bound before the division, or a row that is never masked whole"),
    ("cannot be told", "keep inputs away from jumps and from differences of nearly equal numbers"),
    ("either way", "let no count, index or branch hang on numbers that tie within a rounding"),
    (
        "may be anything",
        "draw inputs without ties, and let nothing overflow or be divided by a number near 0",
    ),
    ("read by Python", "compute with the number instead of reading it in Python"),
    ("rank", "give a tolerance far above a rounding"),
    ("singular", "draw matrices that are well-conditioned"),
    ("a system without", "draw matrices that are well-conditioned"),
    ("positive definite", "add a multiple of the identity"),
    ("rounding", "draw inputs whose choices are clear"),
)


def with_change(why: str) -> str:
    """Returns the reason and what would have to change."""
    text = " ".join(why.split())[:300]
    return next((f"{text} ---> {change}" for part, change in CHANGES if part in text), text)


def unknown(model: torch.nn.Module, inputs: list[Any], written: Sequence[int]) -> str | None:
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
        why = unknown(model, instance.inputs(), written)
        if why is None:
            return None
        reason = reason or why
    larger = grown()
    if larger and unknown(*larger, written) is None:
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
                + with_change(why),
            }
        ]
        if why
        else []
    )
