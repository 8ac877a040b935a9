"""Finds inputs that get_inputs shapes by itself, and the changes of shaped.py under which the task's answer is still
known.

Several small runs of get_inputs show its markers. A marker is an infinity among numbers, or one number that is far
more frequent than others. The latter counts only if get_inputs called an operation that plants numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import effects, input_domain, overflow_inputs, shaped
from .computed import Runs
from .description import ClassEntry, Fill, InputEntry, Marker
from .observed import Law

PLANTING = {"where", "masked_fill", "index_put", "index_fill", "masked_scatter", "copy", "scatter", "fill"}
OFTEN = 0.04  # least share of a marker
TRIES = 3
SUMMED = {*input_domain.SIMPLEX, "log_softmax", "_log_softmax"}  # rows of probabilities, or their logarithms
BOUNDED = {"tanh", "clamp", "clamp_min", "clamp_max", "sin", "cos", "erf", "hardtanh", "sign"}
# calls after which elements are at or above 0 and depend on no other, and those that only join such tensors
NONNEGATIVE = {"rand", "uniform", "randn", "normal", "abs", "square", "pow", "mul", "relu", "sqrt"}
POSITIVE = {"empty", "exponential", "log_normal", "_standard_gamma", "mul"}  # draws that are never 0
JOINED = {"rand", "uniform", "mul", "add", "cat", "stack"}
JOINING = {"cat", "stack", "concat", "hstack", "vstack", "column_stack"}
ORDERING = {"sort", "cumsum", "topk"}  # calls after which zeros would be out of order
SUM = 1e-3  # tolerance for the sum of a row of probabilities


def draws(runs: Runs, i: int) -> list[torch.Tensor]:
    return [x.double() for _, *made in runs for x in (d[i] for d in made) if x.numel()]


def marker_of(runs: Runs, i: int, calls: list[str]) -> Marker | None:
    """Returns the marker of input i as JSON holds it, or None."""
    drawn = draws(runs, i)
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
    """Tells whether markers are behind all other numbers of their rows, in every run, and some rows have both."""
    masks = [shaped.is_marker(x, marker) for x in draws(runs, i)]
    return any(bool((m.any(-1) & ~m.all(-1)).any()) for m in masks if m.dim()) and all(
        bool((m.int().diff(dim=-1) >= 0).all()) for m in masks
    )


def _row_of_shares(runs: Runs, i: int, calls: list[str]) -> int | None:
    """Returns the dimension, counted from the last, along which probabilities sum to 1. Returns None for
    other inputs."""
    drawn = draws(runs, i)
    if not drawn or not drawn[0].dim() or {call.rstrip("_") for call in calls} & ORDERING:
        return None
    if not all(bool((x >= 0).all()) for x in drawn):
        return None
    for along in range(-1, -1 - drawn[0].dim(), -1):
        sums = [x.sum(along) for x in drawn]
        if max(x.shape[along] for x in drawn) > 1 and all(bool(((s - 1).abs() < SUM).all()) for s in sums):
            return along
    return None


def _changes_of(runs: Runs, i: int, calls: list[str]) -> tuple[str, ...]:
    """Returns the names of changes for numbers of both signs, at or above 0, or for rows of probabilities.

    Returns () for other inputs, whose bounds are unknown.
    """
    if _row_of_shares(runs, i, calls) is not None:
        return shaped.SHARPER
    drawn, made = draws(runs, i), {call.rstrip("_") for call in calls} | set(calls)
    finite = [x[x.isfinite()] for x in drawn]
    if not drawn or not all(x.numel() for x in finite):
        return ()
    low, high = min(float(x.min()) for x in finite), max(float(x.max()) for x in finite)
    own = {call.rstrip("_") for call in calls} - input_domain.MOVES
    if (
        low >= 0 and own and any(own <= known for known in (NONNEGATIVE, JOINED, POSITIVE))
    ):  # a box stays a box
        return shaped.QUIETER if own <= NONNEGATIVE else shaped.SMALLER
    if made & input_domain.MIXING - SUMMED:
        return ()  # elements depend on each other: sorted, cumulated, of unit length
    if low < 0 < high:
        return shaped.COLDER if made & BOUNDED else shaped.TEMPERED
    if all(x.dim() and bool((x.exp().sum(-1) - 1).abs().max() < SUM) for x in drawn):
        return shaped.SHARPER
    return ()


class _Softmax(TorchDispatchMode):
    """Notes whether a softmax gets no elements. A kernel divides 0 by 0 there, while torch returns an empty
    tensor and a product with it is 0."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.of_nothing = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if "softmax" in function.__name__ and isinstance(args[0], torch.Tensor) and not args[0].numel():
            self.of_nothing = True
        return function(*args, **(kwargs or {}))


def told(model: torch.nn.Module, inputs: list[Any], fills: dict[int, Fill], is_finite: bool = False) -> bool:
    """Tells whether the answer is known and free of NaN (finite with `is_finite`) in some draws with these
    inputs changed, and no softmax is over nothing."""
    for _ in range(TRIES):
        given = [input_domain.copied(v) for v in inputs]
        for i, fill in fills.items():
            given[i] = shaped.changed(given[i], fill)
        with overflow_inputs.unfused(), _Softmax() as softmax:
            outputs = effects.tensors(copy.deepcopy(model), [input_domain.copied(v) for v in given])
        if softmax.of_nothing or any(bool(o.double().isnan().any()) for o in outputs):
            return False
        if is_finite and not all(bool(o.double().isfinite().all()) for o in outputs):
            return False
        if not overflow_inputs.told_at(copy.deepcopy(model).double(), given, outputs, outputs):
            return False
    return True


def admitted(
    model: torch.nn.Module,
    inputs: list[Any],
    i: int,
    names: Sequence[str],
    fill_of: Callable[[str], Fill],
    is_finite: bool = False,
) -> list[str]:
    found = []
    for name in names:
        try:
            if told(model, inputs, {i: fill_of(name)}, is_finite):
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
        rates = admitted(model, inputs, i, shaped.RATES, lambda rate: {**plain, "rates": [rate]})
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
        names = admitted(
            model,
            inputs,
            i,
            _changes_of(runs, i, calls),
            lambda name: changing(name, _row_of_shares(runs, i, calls)),
        )
        if names:
            fills[i] = {**changing(names[0], _row_of_shares(runs, i, calls)), "changes": names}
    return fills


def sparse(
    model: torch.nn.Module, inputs: list[Any], runs: Runs, shares: dict[int, list[str]], linked: set[int]
) -> dict[int, Fill]:
    """Returns `{input: fill}` for probabilities of which some are exactly 0, if the answer stays finite.

    Of the inputs that share a draw, only one is changed: a quotient of two zeros has no answer.
    """
    torch.manual_seed(23)
    fills: dict[int, Fill] = {}
    for i, calls in shares.items():
        along = _row_of_shares(runs, i, calls)
        if along is None or (i in linked and linked & set(fills)):
            continue
        names = [
            name
            for name in shaped.SPARSER
            if admitted(model, inputs, i, [name], lambda of: changing(of, along), is_finite=True)
        ]
        if names:
            fills[i] = {**changing(names[0], along), "changes": names}
    return fills


def _change_of_starts(runs: Runs, i: int) -> str | None:
    """Returns the change that empties groups if input i holds the starts of groups: whole numbers that
    ascend from 0. Returns None for other inputs."""
    drawn = [x for x in draws(runs, i) if x.dim() and x.shape[-1] > 1]
    lengths = [x.diff(dim=-1) for x in drawn]
    if any(bool(x[..., 0].any()) for x in drawn) or any(bool((n < 0).any()) for n in lengths):
        return None
    if not any(bool((n > 0).any()) for n in lengths):
        return None
    ends = [(a[i][..., -1], b[i][..., -1]) for _, a, b in runs if a[i].numel() and a[i].dim()]
    return shaped.MERGED if all(torch.equal(*pair) for pair in ends) else shaped.DROPPED


def starts(model: torch.nn.Module, inputs: list[Any], runs: Runs, computed: Sequence[int]) -> dict[int, Fill]:
    """Returns `{input: fill}` that empties groups whose starts get_inputs computes."""
    torch.manual_seed(21)
    fills: dict[int, Fill] = {}
    for i in computed:
        change = None if inputs[i].dtype.is_floating_point else _change_of_starts(runs, i)
        if change and admitted(model, inputs, i, [change], changing):
            fills[i] = changing(change)
    return fills


def changing(name: str, along: int | None = None) -> Fill:
    """Returns the fill of one change, of rows along a dimension other than the last if `along` is one."""
    fill: Fill = {"kind": "computed", "as": "tempered", "changes": [name]}
    if along not in (None, -1):
        fill["along"] = along
    return fill


def _are_lengths(drawn: list[torch.Tensor]) -> bool:
    """Tells whether these numbers are above 0 and some above 1, without a column of whole numbers such as
    labels."""
    return (
        all(bool((x >= 0).all()) for x in drawn)
        and any(bool((x > 1).any()) for x in drawn)
        and not any(bool((x == x.round()).reshape(-1, x.shape[-1]).all(0).any()) for x in drawn if x.dim())
    )


def small(
    model: torch.nn.Module, inputs: list[Any], runs: Runs, calls_by_input: dict[int, list[str]]
) -> dict[int, Fill]:
    """Returns `{input: fill}` that scales all joined tables without negative numbers together, such as the
    corners of boxes. It is empty if the answer is not known then."""
    torch.manual_seed(22)
    fills = {}
    for i, calls in calls_by_input.items():
        drawn, made = draws(runs, i), {call.rstrip("_") for call in calls} | set(calls)
        joined = made & JOINING and not made & input_domain.MIXING - JOINING
        if joined and drawn and _are_lengths(drawn):
            fills[i] = changing(shaped.SHARE)
    try:
        return fills if fills and told(model, inputs, fills) else {}
    except Exception:  # raised by the task's own code; the other changes still judge it
        return {}


class _Kept(NamedTuple):
    """Inputs that get_inputs shapes.

    - `planted`: those with markers.
    - `alone`: floats that depend on no other input, with their calls.
    - `computed`: all that are computed from draws of their own.
    - `shares`: floats that may be probabilities, with their calls.
    - `linked`: those that share a draw.
    """

    planted: dict[int, Marker]
    alone: dict[int, list[str]]
    computed: list[int]
    shares: dict[int, list[str]]
    linked: set[int]


def _kinds(
    model: torch.nn.Module, inputs: list[Any], drawn: Runs, of: _Kept
) -> list[tuple[str, str, dict[int, Fill]]]:
    """Returns the name, the description and the fills of each class."""
    return [
        (
            "markers",
            "markers that get_inputs plants nowhere, here and there, in whole rows and everywhere",
            markers(model, inputs, drawn, of.planted) if of.planted else {},
        ),
        (
            "tempered",
            "what get_inputs shapes, at other temperatures or with other signs",
            tempered(model, inputs, drawn, of.alone) if of.alone else {},
        ),
        (
            "sparse",
            "probabilities of which some are exactly 0, or one is 1",
            sparse(model, inputs, drawn, of.shares, of.linked) if of.shares else {},
        ),
        (
            "small",
            "numbers above 0 at a thousandth of their size, so that lengths and areas are below 1",
            small(model, inputs, drawn, of.alone) if of.alone else {},
        ),
        (
            "empty",
            "groups of which some have no elements",
            starts(model, inputs, drawn, of.computed) if of.computed else {},
        ),
    ]


OFTEN_DRAWN = ("markers", "tempered", "sparse")


def classes(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    published: dict[str, Fill],
    drawn: Runs,
    calls_by_input: dict[int, list[str]],
    laws: list[Law],
) -> list[ClassEntry]:
    """Returns the classes for inputs that get_inputs shapes by itself: markers at other rates, numbers at
    other temperatures and signs, groups without elements. `calls_by_input` has the inputs whose numbers
    depend on no other input, `laws` how each was drawn."""
    linked = input_domain.linked(laws)
    planted = {i: e["marker"] for i, e in enumerate(entries) if "marker" in e}
    alone = {
        i: calls
        for i, calls in calls_by_input.items()
        if inputs[i].dtype.is_floating_point
        and published[entries[i]["name"]]["kind"] in ("computed", "simplex")
    }
    computed = [
        i
        for i, e in enumerate(entries)
        if e.get("domain") == "computed" and i not in linked and i not in planted
    ]
    shares = {
        i: laws[i].calls
        for i in input_domain.separable(laws)
        if i not in planted
        and "shape" in entries[i]
        and inputs[i].dtype.is_floating_point
        and published[entries[i]["name"]]["kind"] in ("computed", "simplex")
    }
    made: list[ClassEntry] = []
    for name, shows, found in _kinds(model, inputs, drawn, _Kept(planted, alone, computed, shares, linked)):
        if found:
            fill = {**published, **{entries[i]["name"]: of for i, of in found.items()}}
            made.append({"name": name, "shows": shows, "fill": fill})
            if name in OFTEN_DRAWN:
                made[-1]["discriminating"] = 1
    return made
