"""Leaves out classes of inputs whose right answers are never known: whole numbers that tie everywhere, or
numbers so large that a function jumps at most of them.

Every configuration of such a class would be drawn in vain. Only classes that this module can draw are tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import judgeable, shaped
from .description import ClassEntry, Fill, InputEntry, Note
from .real_runs import Grown

SEED, SMALL_TRIES = 3, 3  # a larger one follows
PATIENCE = 6.0  # seconds of CPU time for all classes


def _peaked(x: torch.Tensor, fill: Fill) -> torch.Tensor:
    made = torch.randn(x.shape) * fill["b"]
    if made.dim() and made.numel():
        made[..., int(torch.randint(made.shape[-1], ()))] = fill["a"]
    return made


def _whole(x: torch.Tensor, fill: Fill) -> torch.Tensor:
    most = int(fill["b"])
    return torch.randint(-most, most + 1, x.shape) * (torch.rand(x.shape) < fill.get("density", 1.0))


DRAWN: dict[str, Callable[[torch.Tensor, Fill], torch.Tensor]] = {
    "normal": lambda x, fill: torch.randn(x.shape) * fill["b"] + fill.get("a", 0.0),
    "wide": lambda x, fill: (
        torch.randn(x.shape).sign()
        * torch.exp2(fill["a"] + torch.rand(x.shape) * (fill["b"] + 1 - fill["a"]))
    ),
    "peak": _peaked,
    "integers": _whole,
}


def _of_class(inputs: Sequence[Any], entries: list[InputEntry], fill: dict[str, Fill]) -> list[Any] | None:
    """Returns inputs of the class, or None if it draws one in a way that is not known here."""
    made: list[Any] = []
    for value, entry in zip(inputs, entries):
        law = fill.get(entry["name"])
        if law is not None and law.get("as") == "tempered":
            made.append(shaped.changed(value, law))
        elif law is None or entry["domain"] != "real" or not isinstance(value, torch.Tensor):
            made.append(value)
        elif law["kind"] in DRAWN:
            made.append(DRAWN[law["kind"]](value, law).to(value.dtype))
        else:
            return None
    return made


def _tried(model: torch.nn.Module, draws: Sequence[list[Any] | None], written: Sequence[int]) -> list[str]:
    """Returns the reasons of the inputs that have no known answer. Inputs that are None count as known."""
    found = [inputs and judgeable.unknown(model, inputs, written) for inputs in draws]
    return [why for why in found if isinstance(why, str)]


def _note(made: ClassEntry, reasons: list[str], tries: int) -> Note:
    why = judgeable.with_change(reasons[-1])
    if len(reasons) == tries:
        text = f"the class `{made['name']}`, since no tried draw has a known answer: {why}"
        return {"kind": "left out", "text": text}
    share = f"{len(reasons)} of {tries} tried draws of the class `{made['name']}`"
    return {"kind": "partly", "text": f"{share} have no known answer: {why}"}


def kept(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    written: Sequence[int],
    classes: list[ClassEntry],
    grown: Callable[[], Grown | None],
) -> tuple[list[ClassEntry], list[Note]]:
    """Returns the classes with known answers, and a note of each class that has none in some draws. All
    classes stay if the published one has none."""
    if judgeable.unknown(model, inputs, written) is not None:
        return classes, []
    began, found, notes, larger = time.thread_time(), classes[:1], list[Note](), grown()
    for made in classes[1:]:
        reasons: list[str] = []
        tries = SMALL_TRIES + (larger is not None)
        if time.thread_time() - began < PATIENCE and "weights" not in made["fill"]:
            torch.manual_seed(SEED)
            draws = [_of_class(inputs, entries, made["fill"]) for _ in range(SMALL_TRIES)]
            reasons = _tried(model, draws, written)
            if larger is not None:
                reasons += _tried(larger[0], [_of_class(larger[1], entries, made["fill"])], written)
        if reasons:
            notes.append(_note(made, reasons, tries))
        if len(reasons) < tries:
            found.append(made)
    return found, notes
