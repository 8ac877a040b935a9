"""Finds inputs that exponentials read, and factors at which these overflow, vanish or stay near 1.

`beyond` moves only inputs of both signs, and the least centre that one exponent needs may leave others small.
A log gate, a step of time or a log-sum-exp of get_inputs has a law of its own, which a factor above 0
preserves:

- `steep`: sums of exponents pass the range of fp32. The split of `exp(a - b)` into two factors overflows.
- `lasting`: decays are near 1, so that a recurrence remembers its whole past.

A gate is such a decay after its exponential, between 0 and 1. Powers preserve its bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import exponents, input_domain, marked, overflow_inputs, shaped
from .computed import Runs
from .description import ClassEntry, Fill
from .observed import Law

GREATER = 8.0
GROWS = 2.0  # the least growth of an exponent that follows an input of GREATER size
STEEP = tuple(f"scale {s:g}" for s in (8, 32, 128, 512))
STEEP_GATES = tuple(f"raised {s:g}" for s in (8, 32))
LASTING, LASTING_GATES = (shaped.SHARE,), (f"raised {2.0**-10:g}",)
# laws that a factor breaks: rows of unit length or sum, numbers with bounds on both sides
UNIT = {
    "linalg_vector_norm",
    "norm",
    "std",
    "var",
    "prod",
    "cumprod",
    "linalg_qr",
    *marked.SUMMED,
    *marked.BOUNDED,
}


def _own(law: Law) -> list[str]:
    return [call.rstrip("_") for call in law.calls if call.rstrip("_") not in input_domain.MOVES]


def _is_gate(law: Law, finite: torch.Tensor) -> bool:
    own = [call for call in _own(law) if call not in marked.JOINING]
    return bool(own) and own[-1] in ("exp", "sigmoid") and bool(((finite > 0) & (finite < 1)).all())


def _takes_factors(law: Law) -> bool:
    own = set(_own(law))
    return not own & UNIT and not ("sigmoid" in own and "log" not in own)


def _is_free(i: int, laws: Sequence[Law]) -> bool:
    """Tells whether no other input follows from input i alone: each one that shares a draw has one more."""
    mine = laws[i].roots
    return all(not mine & law.roots or law.roots - mine for j, law in enumerate(laws) if j != i)


class _Changes:
    """The changes of each input for both classes, before it is known whether the task has an answer there."""

    def __init__(self) -> None:
        self.steep: dict[int, Sequence[str]] = {}
        self.lasting: dict[int, Sequence[str]] = {}


def _with(inputs: list[Any], i: int, change: str) -> list[Any]:
    return [shaped.changed(v, marked.changing(change)) if j == i else v for j, v in enumerate(inputs)]


def _moves(
    model: torch.nn.Module,
    inputs: list[Any],
    i: int,
    plain: list[exponents.Call],
    reached: list[exponents.Call],
) -> tuple[bool, bool]:
    """Tells whether input i moves an exponential that `reached` leaves below REACH, and whether it moves an
    exponential that is no part of a softmax."""
    calls = exponents.calls(model, _with(inputs, i, STEEP[0]))
    if len(calls) != len(plain):
        return False, False
    moved = [now.reach >= GROWS * was.reach > 0 for now, was in zip(calls, plain)]
    return (
        any(m and far.reach < overflow_inputs.REACH for m, far in zip(moved, reached)),
        any(m and now.is_raw for m, now in zip(moved, calls)),
    )


def _candidates(
    model: torch.nn.Module,
    inputs: list[Any],
    runs: Runs,
    laws: Sequence[Law],
    at: Sequence[int],
    far: list[Any],
) -> _Changes:
    found, plain, reached = _Changes(), exponents.calls(model, inputs), exponents.calls(model, far)
    if len(plain) != len(reached):
        reached = plain
    for i in at:
        drawn = [x[x.isfinite()] for x in marked.draws(runs, i)]
        finite = torch.cat(drawn) if drawn else torch.zeros(0)
        if not finite.numel():
            continue
        if _is_gate(laws[i], finite):
            found.steep[i], found.lasting[i] = STEEP_GATES, LASTING_GATES
        elif _takes_factors(laws[i]):
            is_low, is_raw = _moves(model, inputs, i, plain, reached)
            if is_low:
                found.steep[i] = STEEP
            if is_raw and (bool((finite >= 0).all()) or bool((finite <= 0).all())):
                found.lasting[i] = LASTING
    return found


def _admitted(model: torch.nn.Module, inputs: list[Any], i: int, names: Sequence[str]) -> list[str]:
    """Returns the changes with known answers at which the task's own exponentials do not overflow.

    Factors that leave all exponents in the range of fp32 are no change."""
    found, reach = list[str](), 0.0
    for name in marked.admitted(model, inputs, i, names, marked.changing):
        calls = exponents.calls(model, _with(inputs, i, name))
        if not any(call.overflows for call in calls):
            found, reach = [*found, name], max([reach, *(call.reach for call in calls)])
    return found if names is not STEEP or reach >= overflow_inputs.REACH else []


def _together(
    model: torch.nn.Module, inputs: list[Any], changes: dict[int, Sequence[str]]
) -> dict[int, Fill]:
    """Returns the fills of the changes with known answers, each alone and all of them together."""
    fills: dict[int, Fill] = {}
    for i, names in changes.items():
        found = _admitted(model, inputs, i, names)
        fill: Fill = {"kind": "computed", "as": "tempered", "changes": found}
        if found and (not fills or marked.told(model, inputs, {**fills, i: fill})):
            fills[i] = fill
    return fills


# With their ranks: drawing joins the greatest extents with rank 1, and old history needs long sequences.
KINDS = (
    ("steep", 2, "exponents so large that sums of them pass the range of fp32, where the answer does not"),
    ("lasting", 1, "decays near 1, so that nothing is forgotten"),
)


def classes(
    model: torch.nn.Module,
    inputs: list[Any],
    names: Sequence[str],
    runs: Runs,
    laws: Sequence[Law],
    held: set[int],
    made: Sequence[ClassEntry],
) -> list[ClassEntry]:
    """Returns the classes `steep` and `lasting` of a task that has them. `names` are those of the inputs,
    `made` the classes so far, the published one first."""
    at = [
        i
        for i, v in enumerate(inputs)
        if isinstance(v, torch.Tensor) and v.dtype.is_floating_point and v.numel()
        if i not in held and laws[i].roots and _is_free(i, laws)
    ]
    torch.manual_seed(24)
    try:
        beyond = next((c["fill"] for c in made if c["name"] == "beyond"), {})
        far = [
            torch.randn(v.shape).add(fill["a"]).to(v.dtype) if fill and fill["kind"] == "normal" else v
            for v, fill in ((v, beyond.get(name)) for v, name in zip(inputs, names))
        ]
        found = _candidates(model, inputs, runs, laws, at, far)
        fills = [_together(model, inputs, changes) for changes in (found.steep, found.lasting)]
    except Exception:  # raised by the task's own code; the other classes still judge it
        return []
    published = made[0]["fill"]
    return [
        {
            "name": name,
            "shows": shows,
            "discriminating": rank,
            "fill": {**published, **{names[i]: fill for i, fill in of.items()}},
        }
        for (name, rank, shows), of in zip(KINDS, fills)
        if of
    ]
