"""Finds which sizes of a task may vary, and how far, by runs on FakeTensors.

A size is replaced alone and together with others. Ring 1 changes inputs only, ring 2 changes weights. Ring 3 changes
an attribute (a window, a stride, a number of groups) or a value that the constructor computes. A dead size changes
nothing.

The ground is the published sizes, with the size of a slow loop reduced. Single sizes vary about it.
"""

import math
import time

import torch

from . import effects, fake, input_domain

WHOLE = ("int64", "int32", "int16", "int8", "uint8", "bool")
INDEXING = {
    "embedding",
    "index",
    "index_select",
    "index_put",
    "index_add",
    "index_copy",
    "index_fill",
    "gather",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "index_reduce",
    "take",
    "put",
    "embedding_bag",
    "nll_loss_forward",
    "nll_loss2d_forward",
    "one_hot",
}
WIDEST = 24
SLOW_SECONDS = 2.0
LONG = 1000  # operations of a run with a long loop
PATIENCE = 1.75  # wall-clock seconds for each second of CPU time
SMALL = 1 << 20  # elements of all operations in a real run
FEW = 16  # iterations of a slow loop while other sizes are probed
QUICKER = 4
MOST_DOUBLED = 8
# enough values of a size to classify it, if one is at least twice or at most half as large
PASSING = 3
OTHER = "another number of inputs, weights or dimensions"


EMPTY = "a weight without elements"


def _lacks(observed):
    """Tells whether a weight has no elements, as heads of width 0 if there are more heads than columns."""
    return any(0 in weight["shape"] for weight in observed.weights)


STRUCTURE = 4  # homogeneous coordinates; colours with opacity; corners of a box


class Axis:
    """One or several sizes that vary together."""

    def __init__(self, name, sizes, value, ring):
        self.name, self.sizes, self.value, self.ring = name, sizes, value, ring
        self.step, self.rest, self.low, self.high = 1, 0, value, value
        self.why = ""  # origin of step and bounds
        self.is_indexed = False  # the bound of drawn indices depends on it
        self.whole = False  # whether it has been sampled, so that extents can be fitted

    def fits(self, value):
        return self.low <= value <= self.high and value % self.step == self.rest

    def near(self, value):
        """Returns the legal value at or below `value`, or the least one."""
        value -= (value - self.rest) % self.step
        return min(max(value, self.low), self.high)


class Probe:
    """The runs of one source, cached."""

    def __init__(self, source, seconds):
        self.source, self.seen = source, {}
        self.published = source.published()
        self.runs, self.failure, self.real = 0, {}, {}
        began = time.thread_time()
        self.base = fake.observe(source, {})  # also loads torch's lazy half, whose time is not counted
        self.slow = time.thread_time() - began
        self.seen[()] = self.base
        self.deadline, self.patience = time.thread_time() + seconds, time.monotonic() + PATIENCE * seconds
        # Sizes of slow loops, reduced while others are probed; `ground` is the run with them.
        self.few = {}
        self.ground = self.base
        self.by_chance = set()  # inputs that are numbers and depend on chance
        self._quicken()

    def late(self):
        """Tells whether time is over. It counts this thread's CPU time, so that results do not depend on other
        processes. Wall-clock time is limited, too (PATIENCE)."""
        return time.thread_time() > self.deadline or time.monotonic() > self.patience

    def has_time_for(self, sizes):
        """Tells whether there is time for that run, or it is cached."""
        return self._key(sizes) in self.seen or not self.late()

    def _key(self, sizes):
        return tuple(
            sorted((name, value) for name, value in sizes.items() if value != self.published.get(name))
        )

    def run(self, sizes):
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
            except fake.Failed as failed:
                self.seen[key], self.failure[key] = None, str(failed)
            self.slow = time.thread_time() - began
        return self.seen[key]

    def _quicken(self):
        """Finds a size that alone makes runs long (steps of a loop). It is reduced while other sizes are probed."""
        for size in sorted(self.source.sizes, key=lambda s: -s.value):
            if self.base.steps < LONG or size.value <= FEW or self.late():
                return
            observed = self.run({size.name: FEW})
            if observed and observed.steps * QUICKER < self.base.steps:
                self.few, self.ground = {size.name: FEW}, observed
                return

    def beside(self, sizes):
        """Runs with `sizes`, the others as on the ground."""
        return self.run({**self.few, **sizes})

    def is_told(self, sizes, observed):
        """Tells whether a model behaves the same if it learns these sizes only through its constructor's arguments."""
        try:
            copied = fake.observe(self.source, {**self.few, **sizes}, self.few)
        except fake.Failed:
            return False
        return all(
            getattr(copied, what) == getattr(observed, what) for what in ("weights", "outputs", "operations")
        )

    def points(self):
        """Tells whether an input is an index or a mask, or forward looks something up. FakeTensors show neither an
        index out of range nor a fully masked row."""
        return bool(self.base.calls & INDEXING) or any(
            t["kind"] == "tensor" and t["dtype"] in WHOLE for t in self.base.inputs
        )

    def really(self, sizes):
        """Tells whether the task runs with real numbers and the farthest indices. Returns None if the run is too
        large."""
        key = self._key(sizes)
        if key not in self.real:
            self.real[key] = self._really(sizes)
        return self.real[key]

    def _really(self, sizes):
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
                outputs = effects.outputs(model, inputs)
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

    def why(self, sizes):
        return self.failure.get(self._key(sizes), "")


def _spread_ends(value, law):
    """Sets elements of a drawn index to its least and greatest legal value. Sorted rows stay sorted; computed indices
    stay as they are."""
    made = [call.rstrip("_") for call in law["calls"]]
    if (
        law.get("bound") is None
        or not value.numel()
        or "randperm" in made
        or not input_domain.is_drawn_whole(law)
    ):
        return
    ends = law["low"], max(law["low"], law["bound"] - 1)
    if "sort" in made and value.dim():
        value[..., 0], value[..., -1] = ends
    elif "expand" not in made:
        value.reshape(-1)[0], value.reshape(-1)[-1] = ends


def _next_prime(n):
    n += 1
    while any(n % d == 0 for d in range(2, math.isqrt(n) + 1)):
        n += 1
    return n


def candidates(value):
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


def _tried(probe, names, value):
    """Runs with other values. Returns `[(sizes, observed or None)]`, enough to classify the size or to see that
    nothing runs."""
    runs, passing = [], []
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


def classify(probe, names, value):
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
        o.inputs != base.inputs or [w.get("bound") for w in o.laws] != [w.get("bound") for w in base.laws]
        for o in passing
    )
    weights = any(o.weights != base.weights for o in passing)
    if (inputs or weights) and not probe.is_told(*next(run for run in runs if run[1])):
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


def _tie(probe, stuck):
    """Returns axes of equal sizes that run only if they vary together. `stuck` has the values by name."""
    groups = {}
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


def rings(probe, vary=()):
    """Returns `(axes that may vary, {name: (ring, reason)} of all sizes)`."""
    axes, words, stuck = [], {}, {}
    for size in probe.source.sizes:
        if probe.late():
            words[size.name] = (0, "not probed: the time for it was over")
            continue
        if size.value < 1:
            words[size.name] = (3, "zero or negative: fixed")
            continue
        ring, word = classify(probe, [size.name], size.value)
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
    if not any(name in probe.few for axis in axes for name in axis.sizes):
        probe.few = {}  # a size that stays as published must not be reduced
    return axes, words


# --- how far ---


def _sizes(axis, value):
    return dict.fromkeys(axis.sizes, value)


def _find_step(probe, axis):
    v = axis.value
    near = next((probe.few[name] for name in axis.sizes if name in probe.few), v)
    if probe.beside(_sizes(axis, near + 1)) or (near > 1 and probe.beside(_sizes(axis, near - 1))):
        return
    for d in [d for d in range(2, v + 1) if v % d == 0]:
        if probe.beside(_sizes(axis, v + d)) and probe.beside(_sizes(axis, v + 2 * d)):
            axis.step = d
            return
    axis.step = 0  # no other multiple runs: the size is fixed or divides another


def _halves(probe, axis):
    """Returns (least, greatest) from halving and doubling the value while it runs. It serves sizes that must divide
    another one, such as a group of weights."""
    low = high = axis.value
    while low % 2 == 0 and probe.beside(_sizes(axis, low // 2)):
        low //= 2
    while high < axis.value * MOST_DOUBLED and probe.beside(_sizes(axis, 2 * high)):
        high *= 2
    return low, high


def _search(probe, axis, good, bad):
    """Returns the last legal value from `good` towards `bad`, which does not run."""
    while abs(bad - good) > axis.step:
        middle = (good + bad) // 2
        middle -= (middle - axis.rest) % axis.step
        if middle in (good, bad):
            break
        if probe.beside(_sizes(axis, middle)):
            good = middle
        else:
            bad = middle
    return good


def _target(axis):
    """Returns the greatest value to try."""
    v = axis.value
    wanted = 64 if v < 16 else 4 * v if v < 4096 else 2 * v
    wanted = 1 << (wanted - 1).bit_length()
    return wanted - (wanted - axis.rest) % axis.step


def find_range(probe, axis):
    """Sets step, least and greatest value of an axis, with the others on the ground."""
    _find_step(probe, axis)
    if axis.step == 0:
        axis.step = 1
        # size_constraints.py finds the size that it divides, or fixes it
        axis.low, axis.high = _halves(probe, axis)
        axis.why = "" if axis.low < axis.high else "fixed: no row of multiples runs"
        return
    least = axis.rest or axis.step
    if least < axis.value and not probe.beside(_sizes(axis, least)):
        axis.low = _search(probe, axis, axis.value, least - axis.step)
    else:
        axis.low = min(least, axis.value)
    high = axis.value if any(name in probe.few for name in axis.sizes) else _target(axis)
    while high > axis.value:
        if probe.beside(_sizes(axis, high)):
            axis.high = high
            break
        if probe.late():
            break
        axis.high = _search(probe, axis, axis.value, high)
        break
    if probe.slow > SLOW_SECONDS:
        axis.high = max(axis.value, axis.low)


def _beyond_changed(value, kept):
    """Changes the numbers outside of the shape `kept`."""
    inside = torch.zeros(value.shape, dtype=torch.bool)
    inside[tuple(slice(extent) for extent in kept)] = True
    return torch.where(
        inside, value, ~value if value.dtype == torch.bool else (value * 0.5 + 1).to(value.dtype)
    )


def _is_idle(probe, axis, axes):
    """Tells whether numbers added by one more step leave the results unchanged. It runs really, with few elements
    along the other axes."""
    for few in (5, 8, 16, 3):
        sizes = {name: a.near(few) for a in axes for name in a.sizes}
        here, there = ({**sizes, **_sizes(axis, v)} for v in (axis.value, axis.value + axis.step))
        before, after = probe.run(here), probe.run(there)
        if not before or not after or after.elements > SMALL:
            continue
        try:
            instance = probe.source.instance(there)
            torch.manual_seed(9)
            model, inputs = instance.model(), instance.inputs()
            changed = [
                _beyond_changed(v, was["shape"]) if isinstance(v, torch.Tensor) else v
                for v, was in zip(inputs, before.inputs)
            ]
            with torch.no_grad():
                one, two = effects.outputs(model, inputs), effects.outputs(model, changed)
            return all(
                torch.equal(torch.nan_to_num(p.double()), torch.nan_to_num(q.double()))
                for p, q in zip(one, two)
            )
        except Exception:  # raised by the task's own code: the answer is unknown
            continue
    return False


def _is_nameless(probe, axis):
    return all(s.is_unnamed for s in probe.source.sizes if s.name in axis.sizes)


def is_structure(probe, axis):
    """Tells whether a literal is structure: x, y and z, colours, corners of a box. It is small, unnamed and behind
    other extents. Kernels name such elements one by one. A true number of elements has a name or comes first."""
    return (
        _is_nameless(probe, axis)
        and axis.value <= STRUCTURE
        and not any(name.endswith("_0") for name in axis.sizes)
    )


def is_unread(probe, axis, axes):
    """Tells whether the results ignore the elements that a greater value adds to an input. An example are boxes with
    more than four numbers, of which a model reads columns 0 to 3.

    The published value must be the least one or unnamed. A kernel may rely on it like the model.
    """
    if axis.is_indexed:
        return False
    most = min(axis.high, 2 * axis.value + axis.step)
    larger = (
        probe.beside(_sizes(axis, most - (most - axis.rest) % axis.step))
        if axis.ring == 1 and axis.high > axis.value
        else None
    )

    def told(o):
        return (o.outputs, o.weights, o.operations)

    may_be = (
        larger is not None
        and (_is_nameless(probe, axis) or axis.low == axis.value)
        and told(larger) == told(probe.ground)
    )
    return may_be and _is_idle(probe, axis, axes)


def cover(probe, axis, value):
    """Extends an axis to a published value if that value runs."""
    if (
        not axis.low <= value <= axis.high
        and value % axis.step == axis.rest
        and probe.beside(_sizes(axis, value))
    ):
        axis.low, axis.high = min(axis.low, value), max(axis.high, value)
