"""Finds inputs that get_inputs shapes by itself, and the changes of shaped.py under which the task's answer is still
known.

Several small runs of get_inputs show its markers. A marker is an infinity among numbers, or one number that is far
more frequent than others. The latter counts only if get_inputs called an operation that plants numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import effects, input_domain, overflow_inputs, shaped
from .computed import Runs
from .description import ClassEntry, Fill, InputEntry, Marker

PLANTING = {"where", "masked_fill", "index_put", "index_fill", "masked_scatter", "copy", "scatter", "fill"}
OFTEN = 0.04  # least share of a marker
TRIES = 3
SUMMED = {*input_domain.SIMPLEX, "log_softmax", "_log_softmax"}  # rows of probabilities, or their logarithms
BOUNDED = {"tanh", "clamp", "clamp_min", "clamp_max", "sin", "cos", "erf", "hardtanh", "sign"}
# calls after which elements are at or above 0 and depend on no other, and those that only join such tensors
NONNEGATIVE = {"rand", "uniform", "randn", "normal", "abs", "square", "pow", "mul", "relu", "sqrt"}
JOINED = {"rand", "uniform", "mul", "add", "cat", "stack"}
SUM = 1e-3  # tolerance for the sum of a row of probabilities


def _draws(runs: Runs, i: int) -> list[torch.Tensor]:
    return [x.double() for _, *draws in runs for x in (d[i] for d in draws) if x.numel()]


def marker_of(runs: Runs, i: int, calls: list[str]) -> Marker | None:
    """Returns the marker of input i as JSON holds it, or None."""
    drawn = _draws(runs, i)
    if not drawn or not drawn[0].dim():
        return None
    flat = torch.cat([x.flatten() for x in drawn])
    for marker in ("-inf", "inf"):
        share = float((flat == float(marker)).double().mean())
        if 0 < share < 1:
            return marker
    if not {call.rstrip("_") for call in calls} & PLANTING:
        return None
    values, counts = flat[flat.isfinite()].unique(return_counts=True)
    if values.numel() < 3:
        return None  # two values are a mask
    most = int(counts.argmax())
    others = (int(counts.sum()) - int(counts[most])) / (values.numel() - 1)
    often = int(counts[most]) > max(OFTEN * flat.numel(), 4 * others)
    return float(values[most]) if often else None


def _is_tail(runs: Runs, i: int, marker: Marker) -> bool:
    """Tells whether markers are behind all other numbers of their rows, in every run."""
    masks = [shaped.is_marker(x, marker) for x in _draws(runs, i)]
    return any(bool(m.any()) and not bool(m.all()) for m in masks) and all(
        bool((m.int().diff(dim=-1) >= 0).all()) for m in masks
    )


def _changes_of(runs: Runs, i: int, calls: list[str]) -> tuple[str, ...]:
    """Returns the names of changes for numbers of both signs, at or above 0, or for rows of probabilities.

    Returns () for other inputs, whose bounds are unknown.
    """
    drawn, made = _draws(runs, i), {call.rstrip("_") for call in calls} | set(calls)
    finite = [x[x.isfinite()] for x in drawn]
    if not drawn or not all(x.numel() for x in finite):
        return ()
    low, high = min(float(x.min()) for x in finite), max(float(x.max()) for x in finite)
    own = {call.rstrip("_") for call in calls} - input_domain.MOVES
    if low >= 0 and own and (own <= NONNEGATIVE or own <= JOINED):  # a box stays a box
        return shaped.QUIETER if own <= NONNEGATIVE else shaped.SMALLER
    if made & input_domain.MIXING - SUMMED:
        return ()  # elements depend on each other: sorted, cumulated, of unit length
    if low < 0 < high:
        return shaped.COLDER if made & BOUNDED else shaped.TEMPERED
    if all(
        x.dim() and bool(((x.sum(-1) if low >= 0 else x.exp().sum(-1)) - 1).abs().max() < SUM) for x in drawn
    ):
        return shaped.SHARPER
    return ()


def _told(model: torch.nn.Module, inputs: list[Any], i: int, fill: Fill) -> bool:
    """Tells whether the answer is known and free of NaN in some draws with input i changed by `fill`."""
    for _ in range(TRIES):
        given = [input_domain.copied(v) for v in inputs]
        given[i] = shaped.changed(given[i], fill)
        outputs = effects.tensors(copy.deepcopy(model), [input_domain.copied(v) for v in given])
        if any(bool(o.double().isnan().any()) for o in outputs):
            return False
        if not overflow_inputs.told_at(copy.deepcopy(model).double(), given, outputs, outputs):
            return False
    return True


def _admitted(
    model: torch.nn.Module, inputs: list[Any], i: int, names: Sequence[str], fill_of: Callable[[str], Fill]
) -> list[str]:
    found = []
    for name in names:
        try:
            if _told(model, inputs, i, fill_of(name)):
                found.append(name)
        except Exception:  # raised by the task's own code; the other changes still judge it
            continue
    return found


def markers(
    model: torch.nn.Module, inputs: list[Any], runs: Runs, marker_by_input: dict[int, Marker]
) -> dict[int, Fill]:
    """Returns `{input: fill}` of the inputs whose markers may be planted at rates other than get_inputs's."""
    torch.manual_seed(15)
    fills: dict[int, Fill] = {}
    for i, marker in marker_by_input.items():
        plain: Fill = {"kind": "computed", "as": "markers", "marker": marker}
        if _is_tail(runs, i, marker):
            plain["tails"] = True
        rates = _admitted(model, inputs, i, shaped.RATES, lambda rate: {**plain, "rates": [rate]})
        if rates:
            fills[i] = {**plain, "rates": rates}
    return fills


def tempered(
    model: torch.nn.Module, inputs: list[Any], runs: Runs, calls_by_input: dict[int, list[str]]
) -> dict[int, Fill]:
    """Returns `{input: fill}` for other temperatures and signs of inputs that get_inputs shapes by these calls."""
    torch.manual_seed(16)
    fills: dict[int, Fill] = {}
    for i, calls in calls_by_input.items():
        names = _admitted(
            model,
            inputs,
            i,
            _changes_of(runs, i, calls),
            lambda name: {"kind": "computed", "as": "tempered", "changes": [name]},
        )
        if names:
            fills[i] = {"kind": "computed", "as": "tempered", "changes": names}
    return fills


def classes(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    published: dict[str, Fill],
    drawn: Runs,
    calls_by_input: dict[int, list[str]],
) -> list[ClassEntry]:
    """Returns the classes for inputs that get_inputs shapes by itself: markers at other rates, numbers at other
    temperatures and signs. `calls_by_input` has the inputs whose numbers depend on no other input."""
    planted = {i: e["marker"] for i, e in enumerate(entries) if "marker" in e}
    alone = {
        i: calls
        for i, calls in calls_by_input.items()
        if inputs[i].dtype.is_floating_point
        and published[entries[i]["name"]]["kind"] in ("computed", "simplex")
    }
    made: list[ClassEntry] = []
    for name, shows, found in (
        (
            "markers",
            "markers that get_inputs plants nowhere, here and there, in whole rows and everywhere",
            markers(model, inputs, drawn, planted) if planted else {},
        ),
        (
            "tempered",
            "what get_inputs shapes, at other temperatures or with other signs",
            tempered(model, inputs, drawn, alone) if alone else {},
        ),
    ):
        if found:
            made.append(
                {
                    "name": name,
                    "shows": shows,
                    "discriminating": 1,
                    "fill": {**published, **{entries[i]["name"]: fill for i, fill in found.items()}},
                }
            )
    return made
