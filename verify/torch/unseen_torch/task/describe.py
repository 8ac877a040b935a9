"""Makes the description that NAME.task holds from a source."""

from __future__ import annotations

import copy
import functools
import math
import random
from collections.abc import Sequence

import torch

from ..oracle import coverage
from . import (
    absent,
    collide,
    computed,
    decision,
    entries,
    exponent_inputs,
    extents,
    failure,
    fake,
    input_classes,
    input_domain,
    judgeable,
    marked,
    nonnegative,
    notes,
    overflow_inputs,
    phase,
    probe,
    ranges,
    real_runs,
    size_constraints,
    tied,
    told_classes,
    unnamed,
)
from .description import (
    AxisEntry,
    ClassEntry,
    Description,
    Fill,
    ImportError_,
    Note,
    SameKey,
    SizeEntry,
    SourceEntry,
)
from .observed import Observed, Point, Shaped
from .source import Source

AGAIN = 3  # more runs of the source as it is, to find shapes that depend on chance
KNOWN = tuple(
    """float32 float64 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int8 uint8 bool""".split()
)


def _require_known(source: Source, observed: Observed) -> None:
    """Raises ImportError_ for an input or output of an unsupported type."""
    for i, value in enumerate(observed.inputs):
        if value.kind != "tensor" and isinstance(value.value, float) and not math.isfinite(value.value):
            raise ImportError_(
                f"{source.path}: get_inputs gives {value.value} as its number {i + 1}; a finite number was expected"
                "\n---> give None in its place, or make it a constant of the class"
            )
    if not observed.weights and all(value.kind != "tensor" for value in observed.inputs):
        raise ImportError_(
            f"{source.path}: get_inputs gives no tensor, and Model has no weight; one at least was expected, whose "
            "values can be drawn\n---> pass what forward computes with as a tensor"
        )
    tensors: list[Shaped] = [v for v in observed.inputs if v.kind == "tensor"]
    for what, each in (("an input", tensors), ("an output", observed.outputs)):
        for tensor in each:
            if tensor.dtype not in KNOWN:
                raise ImportError_(
                    f"{source.path}: {what} is of {tensor.dtype}; one of {', '.join(KNOWN)} was expected\n---> pass "
                    "it as one of these: of complex numbers torch.view_as_real"
                )


def _require_sizes(source: Source, vary: Sequence[str]) -> None:
    """Raises ImportError_ for a size of --vary that the source does not have."""
    known = [s.name for s in source.sizes]
    for name in vary:
        if name not in known:
            raise ImportError_(
                f"--vary {name}: found no such size in {source.path}; expected some of {', '.join(known)}\n---> name one of these"
            )


def _started(source: Source, seconds: float) -> probe.Probe:
    """Returns the runs of a source. Raises ImportError_ if it does not run as published, or if its shapes depend
    on chance."""
    try:
        runs = probe.Probe(source, seconds)
    except failure.Failed as failed:
        expected = real_runs.expected_of(failed, "; a Model that takes what get_inputs returns was expected")
        raise ImportError_(
            f"{source.path} does not run as it is: {failed}{expected}\n---> {failed.hint}"
        ) from failed
    _require_known(source, runs.base)
    again = [fake.observe(source, runs.few) for _ in range(AGAIN)]
    if any(one.dims() != runs.ground.dims() for one in again):
        raise ImportError_(
            f"{source.path} draws other shapes in another run; the shapes of inputs, weights and outputs "
            "were expected to follow from the source's sizes\n---> take chance out of the shapes"
        )
    runs.by_chance = {i for i, v in enumerate(runs.ground.inputs) if any(one.inputs[i] != v for one in again)}
    return runs


def _probe(
    source: Source, seconds: float, vary: Sequence[str]
) -> tuple[probe.Probe, list[probe.Axis], dict[str, probe.Ring]]:
    """Returns `(runs, axes with their ranges, ring and reason of all sizes)`."""
    _require_sizes(source, vary)
    runs = _started(source, seconds)
    sets = source.published_sets()
    # sizes that differ among the published shapes vary
    several = [s.name for s in source.sizes if len({each[s.name] for each in sets}) > 1]
    axes, words = probe.rings(runs, (*vary, *several))
    axes += absent.published_zeros(runs, axes, words)
    axes.sort(key=lambda a: a.ring)
    for i, axis in enumerate(axes):
        phase.say("importing: how far sizes go", i, len(axes))
        if not runs.late():
            ranges.find_range(runs, axis)
            ranges.lengthen_bound(runs, axis)
        for published in sets:
            ranges.cover(runs, axis, published[axis.sizes[0]])
    axes = tied.literals(runs, axes, size_constraints.spread)
    absent.allow_zero(runs, axes)
    for axis in (a for a in axes if not {*vary, *several} & set(a.sizes)):
        if ranges.is_structure(runs, axis):
            axis.fix(
                "so small a number without a name stands for coordinates, colours or corners; --vary varies it"
            )
        elif not runs.late() and ranges.is_unread(runs, axis, axes):
            axis.fix("nobody reads what a greater one adds")
    return runs, axes[:14], words


class _Task:
    """A task with known sizes and extents: its model and inputs at small sizes, and their entries."""

    def __init__(
        self,
        runs: probe.Probe,
        axes: list[probe.Axis],
        limits: list[str],
        points: list[Point],
        shapes: extents.Shapes,
    ) -> None:
        source = runs.source
        self.runs, self.axes, self.limits = runs, axes, limits
        self.kept = [a for a in axes if a.low < a.high]
        small = real_runs.small_points(runs, axes, limits, points)
        self.small, spread, observed = real_runs.real(source, axes, small)
        self.model, self.weights = entries.weights(source, spread, observed, shapes.weights)
        self.instance = source.instance(spread)
        self.inputs, _ = real_runs.drawn(self.instance, self.model)
        taken = {a.name for a in self.kept} | {"weights", "stream", "seed", "input"}
        self.names = entries.names_of(self.instance.input_names, len(self.inputs), taken)
        self.draws = computed.drawn(source, axes, limits)
        self.entries, self.fills, self.calls = entries.inputs(
            source, runs.base, self.instance, self.inputs, self.names, shapes, self.draws
        )
        before = [e["domain"] if "shape" in e else "value" for e in self.entries]
        told = nonnegative.without_biases(
            self.model, self.inputs, before, nonnegative.found(before, runs.base.laws)
        )
        self.domains = input_domain.one_sided(self.model, self.inputs, told)
        for entry, domain in zip(self.entries, self.domains):
            if "shape" in entry:
                entry["domain"] = domain
        published = {a.name: a.value for a in axes}
        self.limits = limits + collide.settle(self.model, self.inputs, self.entries, self.fills, published)
        self.outputs = entries.outputs(runs.base, shapes.outputs, taken | set(self.names))
        self.left_out: list[Note] = []  # of classes

    @functools.cached_property
    def _grown(self) -> real_runs.Grown | None:
        return real_runs.grown(self.runs, self.axes, self.limits, self.small, real_runs.FEW, real_runs.SMALL)

    def grown(self) -> real_runs.Grown | None:
        """Returns the model and inputs of a larger run that is judged, or None."""
        return copy.deepcopy(self._grown)

    def _nonnegative(self) -> dict[int, dict[str, Fill]]:
        """Returns the fills of the nonnegative inputs, by input and class."""
        if nonnegative.DOMAIN not in self.domains:
            return {}
        published = {i: fill for i, fill in enumerate(self.fills) if fill}
        model, inputs = real_runs.as_published(self.runs) or (self.model, self.inputs)
        return nonnegative.fills(model, inputs, self.domains, published)

    def _decision(self, published: dict[str, Fill]) -> ClassEntry | None:
        found = decision.found(self.model, self.inputs, self.entries, self.fills, self.weights, self.grown())
        if found is None:
            return None
        shows, decided = found
        fill = {
            e["name"]: decided.get(i, published[e["name"]])
            for i, e in enumerate(self.entries)
            if "shape" in e
        }
        if "weights" in decided:
            fill["weights"] = decided["weights"]
        return {"name": "decision", "shows": shows, "discriminating": 1, "fill": fill}

    def classes(self) -> list[ClassEntry]:
        phase.say("importing: which classes of inputs it takes")
        made = input_classes.classes(
            self.model, self.inputs, self.entries, self.fills, self.domains, self._nonnegative()
        )
        hot = "beyond" not in [c["name"] for c in made] and overflow_inputs.heated(
            self.model, self.inputs, self.weights
        )
        if hot:
            shows = (
                f"weights of {hot} times their deviation, where exponentials overflow and the answer does not"
            )
            heated: Fill = {"kind": "normal", "a": 0, "b": hot}
            made.append({"name": "hot", "shows": shows, "fill": {**made[0]["fill"], "weights": heated}})
        phase.say("importing: what calls keep and draw")
        published = made[0]["fill"]
        made += exponent_inputs.classes(
            self.model,
            self.inputs,
            self.names,
            self.draws,
            self.runs.base.laws,
            input_domain.held(input_domain.steady(self.instance)),
            made,
        )
        made += marked.classes(
            self.model, self.inputs, self.entries, published, self.draws, self.calls, self.runs.base.laws
        )
        decided = self._decision(published)
        if decided:
            made.insert(1, decided)
        phase.say("importing: which classes have right answers")
        written = self.runs.base.written
        told, self.left_out = told_classes.kept(
            self.model, self.inputs, self.entries, written, made, self.grown
        )
        return told

    def notes(self) -> list[Note]:
        """Returns the notes of real runs."""
        phase.say("importing: whether its right answers can be told")
        source = self.runs.source
        unjudged = judgeable.why_not(self.model, self.instance, self.runs.base.written, self.grown)
        found = notes.notes(
            self.instance,
            self.model,
            self.inputs,
            lambda: real_runs.grown(self.runs, self.axes, self.limits, self.small),
            lambda: real_runs.beside(source, self.axes, self.limits, self.small),
        )
        return found + (coverage.note(self.model, self.inputs) or judgeable.note(unjudged))


def _sizes(source: Source, kept: list[probe.Axis], words: dict[str, probe.Ring]) -> list[SizeEntry]:
    ring = {n: a for a in kept for n in a.sizes}
    return [
        {
            "name": s.name,
            "value": s.value,
            "ring": words[s.name][0],
            "why": words[s.name][1],
            "line": s.line,
            "where": s.where,
            "axis": ring[s.name].name if s.name in ring else None,
        }
        for s in source.sizes
        if s.name in ring or not s.is_bound
    ]


def _axes(kept: list[probe.Axis], words: dict[str, probe.Ring]) -> list[AxisEntry]:
    return [
        {
            "name": a.name,
            "value": a.value,
            "ring": a.ring,
            "low": a.low,
            "high": a.high,
            "step": a.step,
            "rest": a.rest,
            "sizes": a.sizes,
            "why": a.why or words[a.sizes[0]][1],
        }
        for a in kept
    ]


def _source_entry(source: Source) -> SourceEntry:
    entry: SourceEntry = {"file": "source.py", "sha256": source.sha256}
    if source.modules:
        entry["modules"] = source.modules
    return entry


def _of_reading(source: Source) -> list[Note]:
    return [{"kind": kind, "text": text} for kind, text in source.reading.notes]


def describe(source: Source, name: str, seconds: float = 60.0, vary: Sequence[str] = ()) -> Description:
    """Returns the description that NAME.task holds."""
    chance = random.Random(source.sha256)
    phase.say("importing: which sizes the source has, and which go together")
    runs, axes, words = _probe(source, seconds, vary)
    phase.say("importing: how extents follow from sizes")
    limits, points, shapes = extents.fitted(runs, axes, chance)
    least = unnamed.raise_least(runs, axes, limits)
    phase.say("importing: how inputs are drawn")
    task = _Task(runs, axes, limits, points, shapes)
    classes = task.classes()
    same: SameKey = {}
    if runs.base.same:
        same["same"] = [{"way": list(way), "input": task.names[place]} for way, place in runs.base.same]
    return {
        "task": 1,
        "name": name,
        "entry": source.entry,
        "form": source.reading.form,
        "candidates": source.reading.entries,
        "source": _source_entry(source),
        "torch": torch.__version__,
        "sizes": _sizes(source, task.kept, words),
        "axes": _axes(task.kept, words),
        "fixed": [{"name": a.name, "value": a.value, "why": a.why} for a in axes if a.low == a.high],
        "inputs": task.entries,
        "weights": task.weights,
        "outputs": task.outputs,
        "limits": task.limits,
        **same,
        "classes": classes,
        "tolerance": source.reading.tolerance,
        "notes": _of_reading(source) + least + task.left_out + task.notes(),
        "flops": extents.powers(points, task.kept, lambda o: o.flops + o.elements),
        "scratch": extents.powers(points, task.kept, lambda o: o.largest),
        "small": {a.name: task.small[a.name] for a in task.kept},
        "published": source.published_sets(),
        "published_notes": source.published_notes(),
        "runs": runs.runs,
    }
