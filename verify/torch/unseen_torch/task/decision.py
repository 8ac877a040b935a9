"""The class `decision`: inputs at which the task's own graph decides. Examples are halves that it rounds, bounds of
comparisons and clamps, and edges of bins.

An aim of aims.py that reaches an input becomes a level of the class. Aims are fractions, so that a level is used only
if the input's type holds it exactly. The class uses the greatest density at which the oracle can still judge
everything.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar, Union

import torch

from ..oracle import evaluate
from ..oracle import graph as graphs
from ..oracle.number import Unsupported
from . import aims, effects, input_domain, weight
from .description import Fill, InputEntry, WeightEntry

T = TypeVar("T")
Level = tuple[Fraction, bool]  # a level, and whether the path to the decision is exact
Levels = dict[int, tuple[list[Level], bool]]  # by input: its levels, and whether one is a threshold
Fills = dict[Union[int, str], Fill]  # by the number of an input, or "weights"
Larger = tuple[torch.nn.Module, list[Any]]  # another model with inputs of other sizes

MOST = 64  # levels of one input, as in problems/fill.h
DENSITIES = (0.75, 0.25, 1 / 32)
WHOLE_STEP, NO_STEP = -1, -2  # of problems/fill.h
# distance from a level to its neighbours where one unit of the last place cannot be judged
COARSE = Fraction(1, 1024)
DRAWS, SECONDS = 8, 1.0  # draws and time for trying a class
LIMITS = (math.inf, 1024.0, 16.0)  # magnitudes of levels: an exponential behind a decision may overflow


def _holds(dtype: torch.dtype, v: Fraction) -> bool:
    """Tells whether the type holds this fraction exactly."""
    if not dtype.is_floating_point:
        return (
            v.denominator == 1 and torch.iinfo(dtype).min <= v <= torch.iinfo(dtype).max
            if dtype != torch.bool
            else False
        )
    try:
        return Fraction(torch.tensor(float(v)).to(dtype).double().item()) == v and aims.is_single(v)
    except (OverflowError, ValueError):
        return False


def _in_turns(lists: Sequence[Sequence[T]]) -> list[T]:
    """Interleaves the lists without repetitions."""
    found: dict[T, None] = {}
    for i in range(max(map(len, lists), default=0)):
        for each in lists:
            if i < len(each):
                found.setdefault(each[i], None)
    return list(found)


def _levels(walk: aims.Walk, inputs: list[Any]) -> Levels:
    """Returns `{input: ([(level, is the path to the decision exact?)], is it a threshold?)}`, with the decisions
    interleaved."""
    found: Levels = {}
    for node, place in walk.place.items():
        aimed = walk.aims.of.get(node)
        if not aimed or isinstance(place, str):
            continue
        dtype = inputs[place].dtype
        told = [[(v, exact) for v, exact in each.items() if _holds(dtype, v)] for each in aimed.values()]
        merged: dict[Fraction, bool] = {}
        for v, exact in _in_turns(told):
            merged[v] = merged.get(v, False) or exact
        if merged:
            found[place] = list(merged.items()), not all(isinstance(source, tuple) for source in aimed)
    return found


def _both(levels: Levels, others: Levels) -> Levels:
    """Merges the levels of two sizes. Levels that do not depend on the sizes come first."""
    merged: Levels = {}
    for place, (found, is_threshold) in levels.items():
        more = dict(others.get(place, ([], False))[0])
        same = [(v, exact and more[v]) for v, exact in found if v in more]
        only = _in_turns(
            [
                [(v, e) for v, e in found if v not in more],
                [(v, e) for v, e in more.items() if v not in dict(found)],
            ]
        )
        merged[place] = same + only, is_threshold
    return merged


# fraction bits that fp32 has more
UNITS = {torch.bfloat16: 16, torch.float16: 13, torch.float8_e4m3fn: 20, torch.float8_e5m2: 21}
# neighbours of 0, where 2^-100 underflows
LEAST = {torch.float16: 2.0**-14, torch.float8_e4m3fn: 2.0**-6, torch.float8_e5m2: 2.0**-14}


def _signed(values: list[Fraction], dtype: torch.dtype, coarse: bool) -> list[float]:
    """Returns levels as numbers, with both zeros for 0. `coarse` adds neighbours at a distance of COARSE."""
    told = [w for v in values for w in (v, v - COARSE, v + COARSE)] if coarse else values
    levels = list(dict.fromkeys(float(v) for v in told if _holds(dtype, v)))
    if dtype.is_floating_point and 0.0 in levels:
        at, least = levels.index(0.0) + 1, LEAST.get(dtype)
        levels[at:at] = [-0.0, least, -least] if least else [-0.0]
    return levels[:MOST]


def _neighbour(t: torch.Tensor, step: int, up: bool) -> torch.Tensor:
    """Returns the neighbour above or below in fp32, as gen/inputs/values.h does."""
    bits = t.view(torch.int32) + torch.where((t > 0) == up, step, -step)
    return torch.where(t == 0, 2.0**-100 if up else -(2.0**-100), bits.int().view(torch.float32))


def drawn(value: torch.Tensor, fill: Fill) -> torch.Tensor:
    """Draws an input of that shape from the fill."""
    if fill["kind"] == "ascending":
        return torch.randint(-8, 9, value.shape).sort(-1).values.to(value.dtype)
    at = torch.tensor(fill["at"], dtype=torch.float32)[torch.randint(len(fill["at"]), value.shape)]
    rest = value
    if fill["step"] != WHOLE_STEP:
        rest = torch.randn(value.shape) * fill["b"] + fill["a"]
    if fill["step"] > 0:
        side = torch.randint(4, value.shape)
        at = torch.where(
            side == 2,
            _neighbour(at, fill["step"], False),
            torch.where(side == 3, _neighbour(at, fill["step"], True), at),
        )
    return torch.where(torch.rand(value.shape) < fill["density"], at.to(value.dtype), rest.to(value.dtype))


def _apart_from(v: Fraction, dtype: torch.dtype) -> list[Fraction]:
    """Returns the numbers two units of the last place below and above."""
    step = 2 << UNITS.get(dtype, 0)
    t = torch.tensor([float(v)], dtype=torch.float32)
    return [Fraction(_neighbour(t, step, up).item()) for up in (False, True)]


class _Choice:
    """How the class is drawn: the density of its levels and their greatest magnitude. `exact` uses only levels with
    an exact path to the decision. `coarse` puts neighbours at a distance of COARSE instead of one unit of the last
    place."""

    def __init__(self, exact: bool, density: float, limit: float, coarse: bool) -> None:
        self.exact, self.density, self.limit, self.coarse = exact, density, limit, coarse

    def levels(self, found: list[Level], dtype: torch.dtype) -> list[Fraction]:
        """Returns the levels that this choice uses. At an inexact threshold either side is right, so the numbers
        beside it replace it."""
        kept = []
        for v, exact in found:
            if abs(v) <= self.limit and (exact or not self.exact):
                kept += [v] if exact or not dtype.is_floating_point else _apart_from(v, dtype)
        return list(dict.fromkeys(kept))


CHOICES = [
    _Choice(exact, density, limit, coarse)
    for exact, density in [(True, d) for d in DENSITIES[:2]] + [(False, d) for d in DENSITIES]
    for limit in LIMITS
    for coarse in (False, True)
]


def _fill(
    found: tuple[list[Level], bool], entry: InputEntry, published: Fill | None, peak: bool, choice: _Choice
) -> Fill | None:
    """Returns the fill of one input. None keeps the published one."""
    dtype, domain, density = getattr(torch, entry["dtype"]), entry["domain"], choice.density
    kept, is_threshold = choice.levels(found[0], dtype), found[1]
    if domain == "computed" and entry["law"].endswith("sort") and dtype.is_floating_point:
        return {"kind": "ascending", "a": -8, "b": 17}
    if domain == "nonnegative":
        kept, density = [v for v in kept if v >= 0], 1
    elif domain in ("positive", "negative"):
        kept, density = [v for v in kept if v and (v > 0) == (domain == "positive")], 1
    elif domain == "real" and peak:
        kept, density = [v for v in kept if abs(v) <= aims.PEAK] + [Fraction(aims.PEAK)], 1
    elif domain == "index":
        kept = [v for v in kept if v.denominator == 1]
    elif domain != "real":
        return None
    if not kept:
        return None
    coarse = choice.coarse and is_threshold and domain != "index"
    step = (
        WHOLE_STEP
        if domain == "index"
        else NO_STEP
        if coarse or not is_threshold
        else 1 << UNITS.get(dtype, 0)
    )
    rest = (published["a"], published["b"]) if published and published["kind"] == "normal" else (0, 1)
    return {
        "kind": "decision",
        "at": _signed(kept, dtype, coarse),
        "a": rest[0],
        "b": rest[1],
        "density": density if is_threshold else 1,
        "step": step,
    }


def _weights_fill(walk: aims.Walk, entries: list[WeightEntry], choice: _Choice) -> Fill | None:
    """Returns the fill of the packed weights. Weights on which a decision depends get the values for which it asks."""
    found = []
    for node, place in walk.place.items():
        entry = next((e for e in entries if e["name"] == place), None)
        aimed = walk.aims.of.get(node)
        if (
            entry
            and aimed
            and weight.is_drawn(entry)
            and entry["scale"] != "fan"
            and entry["kind"] != "variance"
        ):
            wanted = _in_turns(
                [[v for v, exact in each.items() if abs(v) <= choice.limit] for each in aimed.values()]
            )
            found.append([(v - Fraction(entry["shift"])) / Fraction(entry["scale"]) for v in wanted[:MOST]])
    levels = [v for v in _in_turns(found) if aims.is_single(v)]
    return (
        {
            "kind": "decision",
            "at": [float(v) for v in levels[:MOST]],
            "a": 0,
            "b": 1,
            "density": 1,
            "step": NO_STEP,
        }
        if levels
        else None
    )


def _is_told(graph: graphs.Graph, state: dict[str, torch.Tensor], changed: list[Any]) -> bool:
    """Tells whether the oracle can judge all outputs."""
    try:
        return all(j.dropped is None for j in evaluate.answer(graph, state, changed))
    except Unsupported:
        return False


class _Trial:
    """A task's graph with inputs of some sizes. It tells whether the oracle can judge the inputs that a class draws."""

    def __init__(
        self, model: torch.nn.Module, inputs: list[Any], entries: list[WeightEntry], written: list[int]
    ) -> None:
        self.model, self.inputs, self.entries = model, inputs, entries
        self.graph = graphs.trace(copy.deepcopy(model), inputs, written)
        self.state = {n: t.detach() for n, t in graphs.state_of(model).items()}

    def walk(self) -> aims.Walk:
        free = {w["name"] for w in self.entries if weight.is_drawn(w)} | set(self.graph.inputs)
        return aims.walked(self.graph, self.state, self.inputs, free)

    def is_always_judged(self, fills: Fills) -> bool:
        """Tells whether many draws are judged, as far as time permits. One draw of small inputs has few elements."""
        until = time.monotonic() + SECONDS
        return all(self.is_judged(fills) for i in range(DRAWS) if not i or time.monotonic() < until)

    def is_judged(self, fills: Fills) -> bool:
        changed = [
            drawn(v, fills[i]) if i in fills else input_domain.copied(v) for i, v in enumerate(self.inputs)
        ]
        model, state = copy.deepcopy(self.model), dict(self.state)
        if "weights" in fills:
            state.update(self._weights(fills["weights"]))
            graphs_state = graphs.state_of(model)
            with torch.no_grad():
                for name, value in state.items():
                    graphs_state[name].copy_(value)
        with torch.no_grad():
            outputs = effects.tensors(model, [input_domain.copied(v) for v in changed])
        return all(torch.isfinite(o.double()).all() for o in outputs) and _is_told(self.graph, state, changed)

    def _weights(self, fill: Fill) -> dict[str, torch.Tensor]:
        made: dict[str, torch.Tensor] = {}
        for entry in self.entries:
            if weight.is_drawn(entry) and entry["name"] in self.state:
                shape = list(self.state[entry["name"]].shape)
                one: WeightEntry = {**entry, "shape": [*shape]}
                made.update(weight.unpack([one], drawn(torch.zeros(math.prod(shape)), fill), {}))
        return made


def _words(walk: aims.Walk, fills: Fills) -> str:
    kinds = list(dict.fromkeys(reversed(walk.decides)))
    some = sorted({v for f in fills.values() for v in f.get("at", [])[:3]})
    return (
        f"numbers at which {', '.join(kinds[:4])}{' and others' if len(kinds) > 4 else ''} decide"
        f"{'s' if len(kinds) == 1 else ''} ({', '.join(f'{v:g}' for v in some[:4])}, ..), and their neighbours below and above"
    )


def _search(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    published: Sequence[Fill | None],
    weights: list[WeightEntry],
    larger: Larger | None,
) -> tuple[str, Fills] | None:
    written = [i for i, entry in enumerate(entries) if entry.get("written")]
    trials = [_Trial(model, inputs, weights, written)]
    walk = trials[0].walk()
    levels = _levels(walk, inputs)
    tried: list[Fills] = []
    if levels and larger:
        trials.append(_Trial(*larger, weights, written))
        levels = _both(levels, _levels(trials[1].walk(), larger[1]))
    for choice in CHOICES:
        fills: Fills = {}
        for i, found in levels.items():
            fill = _fill(found, entries[i], published[i], walk.peak, choice)
            if fill:
                fills[i] = fill
        of_weights = _weights_fill(walk, weights, choice) if fills else None
        if of_weights:
            fills["weights"] = of_weights
        if fills and fills not in tried and all(t.is_always_judged(fills) for t in trials):
            return _words(walk, fills), fills
        tried.append(fills)
    return None


def found(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    published: Sequence[Fill | None],
    weights: list[WeightEntry],
    larger: Larger | None,
) -> tuple[str, Fills] | None:
    """Returns `(description, {number of an input or "weights": its fill})`, or None if no input reaches a decision.

    - `published`: the fills of the published class.
    - `weights`: the entries of NAME.task.
    - `larger`: another model with inputs of other sizes, or None.
    """
    torch.manual_seed(17)
    try:
        return _search(model, inputs, entries, published, weights, larger)
    except Exception:  # raised by the task's own code; the other classes still judge it
        return None
