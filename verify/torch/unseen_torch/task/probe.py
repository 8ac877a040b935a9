"""Finds which sizes of a task may vary, by runs on FakeTensors.

A size is replaced alone and together with others. Ring 1 changes inputs only, ring 2 changes weights. Ring 3 changes
an attribute (a window, a stride, a number of groups) or a value that the constructor computes. A dead size changes
nothing.

The ground is the published sizes, with the size of a slow loop reduced. Single sizes vary about it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import torch

from . import effects, failure, fake, input_domain
from .expression import Sizes
from .observed import Law, Observed
from .source import Source

Ring = tuple[int, str]  # how a size varies (0 to 3), and the reason
Key = tuple[tuple[str, int], ...]  # the sizes of a run that are not as published

WHOLE = ("int64", "int32", "int16", "int8", "uint8", "bool")
INDEXING = set(
    """embedding index index_select index_put index_add index_copy index_fill gather scatter
scatter_add scatter_reduce index_reduce take put embedding_bag nll_loss_forward
nll_loss2d_forward one_hot""".split()
)
WIDEST = 24
LONG = 400  # operations of a run with a long loop
PATIENCE = 1.75  # wall-clock seconds for each second of CPU time
SMALL = 1 << 20  # elements of all operations in a real run
FEW = (6, 16)  # iterations of a slow loop while other sizes are probed
QUICKER = 2
MOST_STEPS = 4000  # operations of a run at the greatest value of a slow loop, if it has fewer as published
# enough values of a size to classify it, if one is at least twice or at most half as large
PASSING = 3
OTHER = "another number of inputs, weights or dimensions"


OUTSIDE = "out of bounds"
EMPTY = "a tensor without elements"


def _lacks(observed: Observed) -> bool:
    """Tells whether a tensor has no elements, as heads of width 0 if there are more heads than columns.
    Fewer heads of queries than of keys leave no result."""
    return any(0 in t.shape for t in [*observed.inputs, *observed.weights, *observed.outputs] if t.shape)


class Axis:
    """One or several sizes that vary together."""

    def __init__(self, name: str, sizes: list[str], value: int, ring: int) -> None:
        self.name, self.sizes, self.value, self.ring = name, sizes, value, ring
        self.step, self.rest, self.low, self.high = 1, 0, value, value
        self.why = ""  # origin of step and bounds
        self.is_indexed = False  # the bound of drawn indices depends on it
        self.whole = False  # whether it has been sampled, so that extents can be fitted

    def fix(self, why: str) -> None:
        """Keeps the axis at its published value."""
        self.low = self.high = self.value
        self.why = f"fixed: {why}"

    def fits(self, value: int) -> bool:
        return self.low <= value <= self.high and value % self.step == self.rest

    def few(self, value: int) -> int:
        """Returns the legal value near `value` for a small run. A count that is published as 0 is 1."""
        return self.near(value if self.value else 1)

    def near(self, value: int) -> int:
        """Returns the legal value at or below `value`, or the least one."""
        value -= (value - self.rest) % self.step
        return min(max(value, self.low), self.high)


class Probe:
    """The runs of one source, cached."""

    def __init__(self, source: Source, seconds: float) -> None:
        self.source = source
        self.seen: dict[Key, Observed | None] = {}
        self.published = source.published()
        self.runs = 0
        self.failure: dict[Key, str] = {}  # why a run failed
        self.real: dict[Key, bool | None] = {}
        began = time.thread_time()
        self.base = fake.observe(source, {})  # also loads torch's lazy half, whose time is not counted
        self.slow = time.thread_time() - began
        self.seen[()] = self.base
        self.deadline, self.patience = time.thread_time() + seconds, time.monotonic() + PATIENCE * seconds
        # Sizes of slow loops, reduced while others are probed; `ground` is the run with them.
        self.few: Sizes = {}
        self.ground = self.base
        self.by_chance: set[int] = set()  # inputs that are numbers and depend on chance
        self._quicken()

    def late(self) -> bool:
        """Tells whether time is over. It counts this thread's CPU time, so that results do not depend on other
        processes. Wall-clock time is limited, too (PATIENCE)."""
        return time.thread_time() > self.deadline or time.monotonic() > self.patience

    def has_time_for(self, sizes: Sizes) -> bool:
        """Tells whether there is time for that run, or it is cached."""
        return self._key(sizes) in self.seen or not self.late()

    def _key(self, sizes: Sizes) -> Key:
        return tuple(
            sorted((name, value) for name, value in sizes.items() if value != self.published.get(name))
        )

    def run(self, sizes: Sizes) -> Observed | None:
        """Runs with `sizes`, the others as published. Returns None if it does not run or its structure differs."""
        key = self._key(sizes)
        if key not in self.seen:
            self.runs += 1
            began = time.thread_time()
            try:
                observed = fake.observe(self.source, sizes)
                self.seen[key] = observed if observed.structure() == self.base.structure() else None
                if self.seen[key] is None:
                    self.failure[key] = OTHER
                elif _lacks(observed) and not _lacks(self.base):
                    self.seen[key], self.failure[key] = None, EMPTY
            except failure.Failed as failed:
                self.seen[key], self.failure[key] = None, str(failed)
            self.slow = time.thread_time() - began
        return self.seen[key]

    def _quicken(self) -> None:
        """Finds the sizes that make runs long: steps of a loop, or of one within another.

        They are reduced while other sizes are probed.
        """
        for size in sorted(self.source.sizes, key=lambda s: -s.value):
            for few in (n for n in FEW if self.ground.steps >= LONG and size.value >= 2 * n):
                observed = None if self.late() else self.beside({size.name: few})
                if observed and observed.steps * QUICKER < self.ground.steps:
                    self.few, self.ground = {**self.few, size.name: few}, observed
                    break

    def keep_few(self, moving: set[str]) -> None:
        """Restores the sizes that do not vary: one that stays as published must not be reduced."""
        kept = {name: few for name, few in self.few.items() if name in moving}
        if kept != self.few:
            self.few, self.ground = kept, self.run(kept) or self.base

    def beside(self, sizes: Sizes) -> Observed | None:
        """Runs with `sizes`, the others as on the ground."""
        return self.run({**self.few, **sizes})

    def is_told(self, sizes: Sizes, observed: Observed) -> bool:
        """Tells whether a model behaves the same if it learns these sizes only through its constructor's arguments."""
        try:
            copied = fake.observe(self.source, {**self.few, **sizes}, self.few)
        except failure.Failed:
            return False
        return all(
            getattr(copied, what) == getattr(observed, what) for what in ("weights", "outputs", "operations")
        )

    def points(self) -> bool:
        """Tells whether an input is an index or a mask, or forward looks something up. FakeTensors show neither an
        index out of range nor a fully masked row."""
        return bool(self.base.calls & INDEXING) or any(
            t.kind == "tensor" and t.dtype in WHOLE for t in self.base.inputs
        )

    def really(self, sizes: Sizes) -> bool | None:
        """Tells whether the task runs with real numbers and the farthest indices. Returns None if the run is too
        large."""
        key = self._key(sizes)
        if key not in self.real:
            self.real[key] = self._really(sizes)
        return self.real[key]

    def _really(self, sizes: Sizes) -> bool | None:
        observed = self.run(sizes)
        if not observed or observed.elements > SMALL:
            return None
        try:
            instance = self.source.instance(sizes)
            torch.manual_seed(9)
            model, inputs = instance.model(), instance.inputs()
            for value, law in zip(inputs, observed.laws):
                _spread_ends(value, law)
            with torch.no_grad():
                outputs = effects.tensors(model, inputs)
            masks = [
                i
                for i, v in enumerate(inputs)
                if isinstance(v, torch.Tensor) and not v.dtype.is_floating_point
            ]
            # a mask may cover a whole row in every draw
            if any(bool(o.isnan().any()) for o in outputs) and masks:
                again = instance.inputs()
                self.failure[self._key(sizes)] = "the answer is NaN somewhere"
                return not all(torch.equal(inputs[i], again[i]) for i in masks)
            return True
        except Exception as error:
            self.failure[self._key(sizes)] = f"{type(error).__name__}: {error}".splitlines()[0]
            return False

    def is_doubtful(self, sizes: Sizes) -> bool:
        """Tells whether a run failed only because an index's stand-in (data_dependent.py) is out of range."""
        if self.source.hanging is None or OUTSIDE not in self.why(sizes):
            return False
        try:
            instance = self.source.instance(sizes)
            model, inputs = instance.model(), instance.inputs()
            if sum(v.numel() for v in inputs if isinstance(v, torch.Tensor)) > SMALL:
                return True
            with torch.no_grad():
                effects.tensors(model, inputs)
            return True
        except Exception:  # raised by the task's own code
            return False

    def why(self, sizes: Sizes) -> str:
        return self.failure.get(self._key(sizes), "")


def _spread_ends(value: torch.Tensor, law: Law) -> None:
    """Sets elements of a drawn index to its least and greatest legal value. Sorted rows stay sorted; computed indices
    stay as they are."""
    made = [call.rstrip("_") for call in law.calls]
    if (
        law.bound is None
        or not value.numel()
        or "randperm" in made
        or not input_domain.is_drawn_whole(law.calls)
    ):
        return
    ends = law.low, max(law.low, law.bound - 1)
    if "sort" in made and value.dim():
        value[..., 0], value[..., -1] = ends
    elif "expand" not in made:
        value.reshape(-1)[0], value.reshape(-1)[-1] = ends


def _next_prime(n: int) -> int:
    n += 1
    while any(n % d == 0 for d in range(2, math.isqrt(n) + 1)):
        n += 1
    return n


def candidates(value: int) -> list[int]:
    """Returns other values of a size, near ones first."""
    values = [
        value + 1,
        value - 1,
        2 * value,
        value // 2,
        _next_prime(value),
        value + 2,
        value + 8,
        value + 32,
    ]
    return [v for v in dict.fromkeys(values) if v >= 1 and v != value]


def _tried(probe: Probe, names: list[str], value: int) -> list[tuple[Sizes, Observed | None]]:
    """Runs with other values. Returns `[(sizes, observed or None)]`, enough to classify the size or to see that
    nothing runs."""
    runs: list[tuple[Sizes, Observed | None]] = []
    passing: list[int] = []
    for v in candidates(value)[:6]:
        sizes = dict.fromkeys(names, v)
        observed = probe.beside(sizes)
        runs.append((sizes, observed))
        passing += [v] if observed else []
        if len(passing) >= PASSING and any(v >= 2 * value or 2 * v <= value for v in passing):
            break
        if len(runs) >= PASSING and all(probe.why({**probe.few, **s}) == OTHER for s, _ in runs):
            break
    return runs


def classify(probe: Probe, names: list[str], value: int) -> Ring:
    """Returns `(ring, reason)` of sizes that vary together. Ring 0 means that no other value runs or that nothing
    changes."""
    base = probe.ground
    value = probe.few.get(names[0], value)
    runs = _tried(probe, names, value)
    passing = [o for _, o in runs if o]
    if not passing:
        return 0, probe.why(
            {**probe.few, **{n: candidates(value)[0] for n in names}}
        ) or "no other value runs"
    if any(o.attributes != base.attributes for o in passing):
        return 3, "an attribute: window, stride, padding or groups"
    inputs = any(
        o.inputs != base.inputs or [w.bound for w in o.laws] != [w.bound for w in base.laws] for o in passing
    )
    weights = any(o.weights != base.weights for o in passing)
    told = next((sizes, o) for sizes, o in runs if o)
    if (inputs or weights) and not probe.is_told(*told):
        return 3, "the model takes it from its file: its constructor is not told"
    if inputs or weights:
        return (2, "changes weights") if weights else (1, "changes inputs only")
    changed = any(
        (o.init, o.outputs, o.operations) != (base.init, base.outputs, base.operations) for o in passing
    )
    return (
        (3, "changes what the constructor is told, no shape of an input or weight")
        if changed
        else (0, "dead")
    )


def _tie(probe: Probe, stuck: Sizes) -> list[Axis]:
    """Returns axes of equal sizes that run only if they vary together. `stuck` has the values by name."""
    groups: dict[int, list[str]] = {}
    for name, value in stuck.items():
        if value > 1:
            groups.setdefault(value, []).append(name)
    tied = []
    for value, names in groups.items():
        if len(names) > 1:
            ring, word = classify(probe, names, value)
            if ring in (1, 2):
                tied.append(
                    Axis("_".join(dict.fromkeys(names)) if len(names) < 3 else names[0], names, value, ring)
                )
                tied[-1].why = word
    return tied


def rings(probe: Probe, vary: Sequence[str] = ()) -> tuple[list[Axis], dict[str, Ring]]:
    """Returns `(axes that may vary, {name: (ring, reason)} of all sizes)`."""
    axes: list[Axis] = []
    words: dict[str, Ring] = {}
    stuck: Sizes = {}
    for size in probe.source.sizes:
        if probe.late():
            words[size.name] = (0, "not probed: the time for it was over")
            continue
        if size.value < 1:  # absent.py finds zeros that may be greater
            words[size.name] = (3, "zero or negative: fixed")
            continue
        if size.name in probe.source.reading.constant and size.name not in vary:
            words[size.name] = (3, "its definition says that it is constant; --vary varies it")
            continue
        ring, word = classify(probe, [size.name], size.value)
        if word == "dead" and size.name in vary:
            ring, word = 1, "changes values only"
        words[size.name] = (ring, word)
        if ring in (1, 2) or (ring == 3 and size.name in vary):
            axes.append(Axis(size.name, [size.name], size.value, ring))
        elif ring == 0 and word != "dead":
            stuck[size.name] = size.value
    for axis in _tie(probe, stuck):
        axes.append(axis)
        for name in axis.sizes:
            words[name] = (
                axis.ring,
                f"moves only together with {', '.join(n for n in axis.sizes if n != name)}",
            )
    axes.sort(key=lambda a: a.ring)
    probe.keep_few({name for axis in axes for name in axis.sizes})
    return axes, words
