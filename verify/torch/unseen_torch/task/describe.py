"""Makes the description that NAME.task holds from a source."""

import math
import random
import re

import torch

from ..oracle import coverage
from . import (
    collide,
    computed,
    decision,
    expression,
    fake,
    fit,
    input_domain,
    judgeable,
    marked,
    overflow_inputs,
    phase,
    probe,
    scalar,
    scaled_inputs,
    size_constraints,
    structure,
    tied,
    varying,
    weight_init,
)
from .source import tolerance as source_tolerance

CLASS_DATA = {  # a class's description and fill, by its greatest magnitude
    "signed": lambda most: ("both signs, deviation 1", {"kind": "normal", "b": 1}),
    "wide": lambda most: (
        f"magnitudes from 2^-6 to {most}, both signs",
        {"kind": "wide", "a": -6, "b": int(math.log2(most)) - 1},
    ),
    "needle": lambda most: (
        "one element of every row far above the rest, at ends and tile edges",
        {"kind": "peak", "a": most, "b": 1},
    ),
    "integers": lambda most: (
        f"whole numbers up to {most}, a quarter of them 0",
        {"kind": "integers", "b": most, "density": 0.75},
    ),
}


FROM_ZERO = {
    "rand",
    "rand_like",
    "randn",
    "randn_like",
    "randint",
    "randint_like",
    "randperm",
    "random",
    "uniform",
}
AGAIN = 3  # more runs of the source as it is, to find shapes that depend on chance


class ImportError_(Exception):
    """Its text says what was found, what was expected and, after '--->', what to do."""


def _published_fill(domain, value, entry):
    """Returns the fill that imitates the published draw."""
    if domain in ("index", "flag", "sign", "simplex"):
        return {"kind": domain}
    x = value.double() if isinstance(value, torch.Tensor) and value.numel() else torch.zeros(1)
    if domain in ("triu", "tril", "symmetric"):
        return {"kind": domain, "a": 0, "b": 1}
    drawn = input_domain.drawn_range(entry["law"])
    if drawn:
        return {"kind": drawn[0], "a": float(f"{drawn[1]:.6g}"), "b": float(f"{drawn[2]:.6g}")}
    x = x[x.isfinite()] if bool(x.isfinite().any()) else torch.zeros(1)
    if x.min() < 0:
        mean, deviation = x.mean().item(), x.std().item() if x.numel() > 1 else 1.0
        return {
            "kind": "normal",
            "a": 0.0 if abs(mean) < deviation / 4 else round(mean, 2),
            "b": float(f"{deviation or 1.0:.1g}"),
        }
    if x.max() <= 1 or any(call.rstrip("_") in FROM_ZERO for call in entry["law"]["calls"]):
        return {"kind": "uniform", "a": 0, "b": max(1.0, math.ceil(x.max().item()))}
    return {"kind": "uniform", "a": math.floor(x.min().item()), "b": math.ceil(x.max().item()) or 1.0}


def _names(parameters, count, taken):
    names = []
    for i in range(count):
        name = parameters[i] if i < len(parameters) else f"x{i}"
        while name in taken or name in names:
            name += "_in"
        names.append(name)
    return names


class _Extents:
    """Fits expressions to all extents. Equal series of values are fitted once."""

    def __init__(self, points, axes):
        self.points, self.base, self.memory, self.unknown = points, points[0][0], {}, None
        self.axes = axes

    def of(self, pick, what):
        values = tuple(pick(observed) for _, observed in self.points)
        if values not in self.memory:
            self.memory[values] = fit.extent(self.base, [(s, y) for (s, _), y in zip(self.points, values)])
        if self.memory[values] is None:
            self.unknown = (what, self._moving(values))
            return values[0]
        return self.memory[values]

    def _moving(self, values):
        """Returns the axes along which `values` change while the other axes stay at the base."""

        def is_beside(s, axis):
            return all(s[o] == self.base[o] for o in s if o != axis.name)

        rows = [(s, y) for (s, _), y in zip(self.points, values)]
        return [a for a in self.axes if len({y for s, y in rows if is_beside(s, a)}) > 1]

    def numbers(self, base, by_chance):
        """Returns extra keys for each input that is a number and follows axes. They are an expression of a whole
        number, or scalar.py's form of another one. None keeps the value in `base`.

        If no form fits, the axis has to be fixed.
        """
        found = []
        for i, published in enumerate(base):
            values = [o.inputs[i].get("value") for _, o in self.points]
            if (
                published["kind"] == "tensor"
                or i in by_chance
                or all(v == published["value"] for v in values)
            ):
                found.append(None)
            elif all(type(v) is int for v in values):
                text = self.of(lambda o, i=i: o.inputs[i]["value"], f"input {i}, a number")
                found.append({"expression": computed.negative_first(text)})
            else:
                found.append(scalar.law([(sizes, value) for (sizes, _), value in zip(self.points, values)]))
                self.unknown = self.unknown if found[-1] else (f"input {i}, no tensor", self._moving(values))
        return found

    def shapes(self, tensors, what):
        return [
            [
                self.of(
                    lambda o, t=t, d=d: tensors(o)[t]["shape"][d], f"the extents of {what} {t}, dimension {d}"
                )
                for d in range(len(one["shape"]))
            ]
            for t, one in enumerate(tensors(self.points[0][1]))
        ]


def _power(low, high):
    """Returns the exponent of a power law through two (x, y)."""
    (x0, y0), (x1, y1) = low, high
    power = math.log(y1 / y0) / math.log(x1 / x0) if x1 > x0 > 0 and y0 > 0 and y1 > 0 else 0
    return 0 if abs(power) <= 0.02 else round(power, 2) if abs(power - round(power)) > 0.1 else round(power)


def _powers(points, axes, pick):
    """Fits c * a^p * b^q to `pick` about the published sizes.

    Each axis has an exponent from the widest step up. Sizes below `base` have another exponent, `below`, from the
    widest step down. Work that does not depend on the axis does not shrink with it.
    """
    base_sizes, base = points[0]
    powers, below = {}, {}
    for axis in axes:
        line = [
            (s[axis.name], pick(o))
            for s, o in points
            if all(s[other] == base_sizes[other] for other in base_sizes if other != axis.name)
        ]
        here = (base_sizes[axis.name], pick(base))
        up, down = (_power(here, max(line)), _power(min(line), here))
        up = up if max(line)[0] > here[0] else down
        powers.update({axis.name: up} if up else {})
        if min(line)[0] < here[0] and down != up:
            below[axis.name] = down
    scale = pick(base)
    for name, power in powers.items():
        scale /= base_sizes[name] ** power
    return {
        "coefficient": scale,
        "powers": powers,
        "below": below,
        "base": {name: base_sizes[name] for name in below},
    }


KNOWN = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
)


def _require_known(source, observed):
    """Raises ImportError_ for an input or output of an unsupported type."""
    for i, value in enumerate(observed.inputs):
        if (
            value["kind"] != "tensor"
            and isinstance(value["value"], float)
            and not math.isfinite(value["value"])
        ):
            raise ImportError_(
                f"{source.path}: get_inputs gives {value['value']} as its number {i + 1}; a finite number was expected"
                "\n---> give None in its place, or make it a constant of the class"
            )
    if not observed.weights and all(value["kind"] != "tensor" for value in observed.inputs):
        raise ImportError_(
            f"{source.path}: get_inputs gives no tensor, and Model has no weight; one at least was expected, whose "
            "values can be drawn\n---> pass what forward computes with as a tensor"
        )
    for what, tensors in (
        ("an input", [v for v in observed.inputs if v["kind"] == "tensor"]),
        ("an output", observed.outputs),
    ):
        for tensor in tensors:
            if tensor["dtype"] not in KNOWN:
                raise ImportError_(
                    f"{source.path}: {what} is of {tensor['dtype']}; one of {', '.join(KNOWN)} was expected\n---> pass "
                    "it as one of these: of complex numbers torch.view_as_real"
                )


STAGES = {
    "get_inputs": "; the arguments of forward were expected",
    "get_init_inputs": "; the arguments of the constructor were expected",
}


def _expected(failed, otherwise):
    """Returns the expectation, unless the failure already states one."""
    return "" if " expected" in str(failed) else STAGES.get(failed.stage, otherwise)


def _probe(source, seconds, vary):
    known = [s.name for s in source.sizes]
    for name in vary:
        if name not in known:
            raise ImportError_(
                f"--vary {name}: found no such size in {source.path}; expected some of {', '.join(known)}\n---> name one of these"
            )
    try:
        runs = probe.Probe(source, seconds)
    except fake.Failed as failed:
        expected = _expected(failed, "; a Model that takes what get_inputs returns was expected")
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
    sets = source.published_sets()
    # sizes that differ among the published shapes vary
    several = [s.name for s in source.sizes if len({each[s.name] for each in sets}) > 1]
    axes, words = probe.rings(runs, (*vary, *several))
    for i, axis in enumerate(axes):
        phase.say("importing: how far sizes go", i, len(axes))
        if not runs.late():
            probe.find_range(runs, axis)
        for published in sets:
            probe.cover(runs, axis, published[axis.sizes[0]])
    axes = tied.literals(runs, axes, size_constraints.spread)
    for axis in (a for a in axes if not {*vary, *several} & set(a.sizes)):
        if probe.is_structure(runs, axis):
            axis.low = axis.high = axis.value
            axis.why = "fixed: so small a number without a name stands for coordinates, colours or corners; --vary varies it"
        elif not runs.late() and probe.is_unread(runs, axis, axes):
            axis.low = axis.high = axis.value
            axis.why = "fixed: nobody reads what a greater one adds"
    return runs, axes[:14], words


def _fit(runs, axes, chance):
    """Returns `(limits, points, extents)`. Axes whose extents have no expression are fixed, until all extents have
    one."""
    while True:
        found = size_constraints.limits(runs, axes, chance)
        moving = [a for a in axes if a.low < a.high]
        points = size_constraints.sample_points(runs, axes, found, chance)
        if any(a.low == a.high for a in moving):
            continue  # the limits must not contain axes that are fixed by now
        extents = _Extents(points, axes)
        shapes = {
            "inputs": extents.shapes(lambda o: o.inputs, "input"),
            "weights": extents.shapes(lambda o: o.weights, "weight"),
            "outputs": extents.shapes(lambda o: o.outputs, "output"),
        }
        shapes["bounds"] = [
            extents.of(lambda o, i=i: o.laws[i]["bound"], f"the bound of input {i}")
            if w.get("bound")
            else None
            for i, w in enumerate(points[0][1].laws)
        ]
        shapes["lows"] = [
            computed.negative_first(
                extents.of(lambda o, i=i: o.laws[i]["low"], f"the least value of input {i}")
            )
            if w.get("bound") and input_domain.is_drawn_whole(w)
            else w.get("low", 0)
            for i, w in enumerate(points[0][1].laws)
        ]
        shapes["numbers"] = extents.numbers(runs.base.inputs, runs.by_chance)
        if extents.unknown is None:
            return found, points, shapes
        what, moving = extents.unknown
        moving = [a for a in moving if a.low < a.high] or [a for a in axes if a.low < a.high]
        if not moving:
            raise ImportError_(f"no expression of the sizes gives {what}\n---> simplify the task")
        worst = max(moving, key=lambda a: a.ring)
        worst.low = worst.high = worst.value
        worst.why = f"fixed: no expression of it gives {what}"


def _same_bits(a, b):
    return a.shape == b.shape and torch.equal(
        *(t.detach().flatten().contiguous().view(torch.uint8) for t in (a, b))
    )


def _weights(source, sizes, observed, shapes):
    torch.manual_seed(11)
    with weight_init.Order() as order:
        model = source.instance(sizes).model()
    drawn = {name for name, kind, _ in order.of(model) if kind == "drawn"}
    torch.manual_seed(12)
    again = source.instance(sizes).model().state_dict()
    entries = []
    for entry, shape in zip(observed.weights, shapes):
        tensor = model.state_dict()[entry["name"]]
        kind, scale, shift = input_domain.weight_law(
            entry["name"], tensor, entry["parameter"], again[entry["name"]].double(), entry["name"] in drawn
        )
        entries.append(
            {
                "name": entry["name"],
                "dtype": entry["dtype"],
                "shape": shape,
                "kind": kind,
                "scale": scale,
                "shift": shift,
            }
        )
        if kind == "constructed":
            entries[-1]["loaded"] = source.directory is not None or not _same_bits(
                tensor, again[entry["name"]]
            )
    return model, entries


SEEDS = range(7, 15)  # of draws for a real run


def _drawn(instance, model):
    """Returns `(inputs, is its answer without NaN?)` from the first draw whose answer has no NaN, or from the first draw.
    A few labels may all be of one class, and a few ratings equal."""
    first = None
    for seed in SEEDS:
        torch.manual_seed(seed)
        inputs = instance.inputs()
        outputs = input_domain.outputs_at(model, inputs)
        if outputs is not None and not any(bool(o.isnan().any()) for o in outputs):
            return inputs, True
        first = first or inputs
    return first, False


def _real(source, axes, points):
    """Returns `(sizes by axis, sizes of the source, observed)` of the first point that also runs with real numbers. A
    point whose answers all have a NaN is used only if no other point runs: no class of inputs could be told there."""
    unnamed = None
    failure = fake.Failed("it has no sizes at which every tensor has elements", "let get_inputs make some")
    for sizes, observed in points[:8]:
        spread = size_constraints.spread(axes, sizes)
        try:
            instance = source.instance(spread)
            torch.manual_seed(7)
            model, inputs = instance.model(), instance.inputs()
            outputs = input_domain._call(model, inputs, 3)
        except Exception as error:
            failure = fake.failed(error)
            continue
        if not varying.are_fit(outputs, observed.outputs):
            failure = fake.Failed("other shapes than on FakeTensors")
        elif _drawn(instance, model)[1]:
            return sizes, spread, observed
        else:
            unnamed = unnamed or (sizes, spread, observed)
    if unnamed:
        return unnamed
    expected = _expected(failure, "; a Model that runs on a CPU was expected")
    raise ImportError_(
        f"{source.path} does not run with real numbers: {failure}{expected}\n---> {failure.hint}"
    )


def _small(runs, axes, limits_, points):
    """Returns points for real runs, the most informative first. A few elements along every axis come first, then the
    cheapest sampled points."""
    found = []
    for value in (5, 8, 16, 3, 2):
        sizes = {a.name: a.near(value) for a in axes}
        if all(expression.evaluate(t, sizes) for t in limits_):
            observed = runs.run(size_constraints.spread(axes, sizes))
            if observed and all(d > 0 for d in observed.dims()):
                found.append((sizes, observed))
    return found + sorted((p for p in points if p[1].elements), key=lambda p: p[1].elements)


LARGE = 1 << 24  # most elements of all operations of one more real run
SMALL = 1 << 15  # the same, of a run that is judged


def _grown(source, runs, axes, limits_, small, sizes_tried=(256, 128, 64, 48, 32, 24, 16), most=LARGE):
    """Returns `(model, inputs)` at sizes larger than `small`, with at most `most` elements of all operations. Returns
    None if there are no such sizes.

    An answer may be constant for a few elements only (all below a threshold, one channel per group).
    """
    moving = [a.name for a in axes if a.low < a.high]
    for value in sizes_tried:
        sizes = {a.name: a.near(value) for a in axes}
        if not all(expression.evaluate(t, sizes) for t in limits_) or all(
            sizes[n] <= small[n] for n in moving
        ):
            continue
        observed = runs.run(size_constraints.spread(axes, sizes))
        if not observed or observed.elements > most:
            continue
        try:
            instance = source.instance(size_constraints.spread(axes, sizes))
            torch.manual_seed(8)
            model = instance.model()
            return model, _drawn(instance, model)[0]
        except Exception:
            continue
    return None


def _beside(source, axes, limits_, small):
    """Yields at most three sets of inputs for the same model, at sizes of ring 1 next to `small`. Sizes that change
    the constructor's arguments are skipped, since they make another model."""
    found, told = 0, lambda instance: repr((instance.init_args, instance.init_named))
    own = told(source.instance(size_constraints.spread(axes, small)))
    for axis, value in [
        (a, small[a.name] + by * a.step) for a in axes if a.ring == 1 and a.low < a.high for by in (1, -1)
    ]:
        sizes = {**small, axis.name: axis.near(value)}
        if found == 3 or sizes == small or not all(expression.evaluate(t, sizes) for t in limits_):
            continue
        try:
            torch.manual_seed(9)
            instance = source.instance(size_constraints.spread(axes, sizes))
            inputs = instance.inputs() if told(instance) == own else None
        except Exception:
            continue
        if inputs is not None:
            found += 1
            yield inputs


def _whole(source, name, observed, runs, i, bound):
    """Returns `(domain, fill)` of an input of whole numbers that computed.py has not recognized."""
    fill = computed.whole_law(runs, i, observed, bound) if runs else {"kind": "index"}
    if fill:
        return fill["kind"], fill
    low, high = (
        f(int(f(x.reshape(-1))) for _, first, _ in runs for x in (first[i],) if x.numel()) for f in (min, max)
    )
    if low >= -1 << 31 and high < 1 << 31:
        return "computed", {"kind": "computed"}
    raise ImportError_(
        f"{source.path}: the input {name} holds whole numbers from {low} to {high}, made by "
        f"{', '.join(dict.fromkeys(observed['calls'])) or 'no call of torch'}; randint, randperm, sorted ones of "
        "randint, a mask of diagonals, a table that grows by steps (arange), or numbers of 32 bits were expected\n---> draw it so, or "
        "compute it in forward"
    )


def _number(name, published, follows):
    """Returns the entry of an input that is no tensor, with its published value: small runs have other values."""
    return {"name": name, "value": published["value"], **(follows or {})}


def _inputs(source, base, instance, inputs, names, shapes, runs):
    """Returns `(entries, published fills, calls)` of forward's parameters. `calls` has the inputs whose elements
    depend on no other input. An input that is no tensor has no fill."""
    entries, fills, laws = [], [], base.laws
    shared, held = input_domain.linked(laws), input_domain.held(instance)
    for i, (value, shape) in enumerate(zip(inputs, shapes["inputs"])):
        if not isinstance(value, torch.Tensor):
            entries.append(_number(names[i], base.inputs[i], shapes["numbers"][i]))
            fills.append(None)
            continue
        bound, low, fill, marker = shapes["bounds"][i], shapes["lows"][i], None, None
        domain = input_domain.domain(value, laws[i])
        if computed.is_fixed(runs, i):
            fill = computed.fixed_law(runs, i)
            if fill and value.dtype.is_floating_point and fill["kind"] == "affine" and not any(fill["steps"]):
                domain, fill = "real", {"kind": "constant", "a": fill["start"]}  # initial zeros or ones
            elif fill:
                domain = fill["kind"]
        if fill is None and i not in shared and domain not in ("flag", "sign"):
            marker = marked.marker_of(runs, i, laws[i]["calls"])
        if fill is None and (
            marker is not None
            or i in shared
            or input_domain.is_computed(laws[i], domain)
            or (i in held and domain not in ("triu", "tril"))
        ):
            domain, fill = "computed", {"kind": "computed"}
        if fill is None and domain == "index":
            domain, fill = _whole(source, names[i], {**laws[i], "low": low}, runs, i, bound)
        calls = [re.sub(r"\W", "", c) for c in laws[i]["calls"]]
        entries.append(
            {
                "name": names[i],
                "dtype": fake.dtype_name(value.dtype),
                "shape": shape,
                "law": " then ".join(calls) or "computed",
                "domain": domain,
                "low": low,
                "bound": bound or 2,
                **({"written": True} if i in base.written else {}),
                **({"marker": marker} if marker is not None else {}),
            }
        )
        fills.append(fill or _published_fill(domain, value, {"law": laws[i]}))
    return (
        entries,
        fills,
        {i: laws[i]["calls"] for i, fill in enumerate(fills) if fill and i not in shared and i not in held},
    )


def _outputs(observed, shapes, taken):
    """Returns the entries of the results that are not inputs. Names are the keys of a returned dictionary, else y, or
    y0, y1, .."""
    entries, first = [], len(observed.written)
    for i, (output, shape, way) in enumerate(zip(observed.outputs[first:], shapes[first:], observed.ways)):
        name = re.sub(r"\W", "_", structure.name_of(way))[:40] or (
            "y" if len(shapes) == first + 1 else f"y{i}"
        )
        name = "y_" + name if name[0].isdigit() else name
        while name in taken:
            name += "_out"
        taken = taken | {name}
        entries.append({"name": name, **output, "shape": shape, "way": list(way)})
    return entries + varying.entries(entries, taken)


def _kinds(model, inputs, domains):
    """Returns `(name, description, fills of the real inputs)` of every class beside the published one."""
    reals = domains.count("real")
    told = [
        (kind, *CLASS_DATA[kind](most))
        for kind, most in input_domain.allowed_classes(model, inputs, domains).items()
    ]
    kinds = [(kind, shows, [fill] * reals) for kind, shows, fill in told]
    for name, search, shows in (
        (
            "beyond",
            lambda *of: overflow_inputs.about(*of, False),
            "about {}, where exponentials overflow and a softmax's answer does not",
        ),
        (
            "below",
            lambda *of: overflow_inputs.about(*of, True),
            "about {}, where all that a greatest one is looked for among is far below 0",
        ),
        (
            "above",
            overflow_inputs.above,
            "about {}, where all that a least one is looked for among is far above 0",
        ),
    ):
        found = search(model, inputs, domains)
        if found:
            about = [sign * found[0] for sign in found[1]]
            kinds.append(
                (
                    name,
                    shows.format(" and ".join(str(a) for a in dict.fromkeys(about))),
                    [{"kind": "normal", "a": a, "b": 1} for a in about],
                )
            )
    parts = scaled_inputs.fills(model, inputs, domains)
    if parts:
        zeros = parts[0]["density"] < 1
        kinds.append(
            (
                "uneven",
                f"samples, rows or columns of unlike size, some of them {'all 0' if zeros else 'a thousandth of others'}",
                parts,
            )
        )
    return kinds


# classes in which whole numbers are often their first or last: the longest, the last label
ENDS = ("needle", "integers", "ends")


def _of_class(kind, entry, published, given):
    """Returns an input's fill in a class other than the published one. `given` holds the fills of the real inputs."""
    if entry["domain"] == "real":
        return next(given, published)
    return {**published, "density": 0.5} if kind in ENDS and published["kind"] == "index" else published


def describe(source, name, seconds=60.0, vary=()):
    """Returns the description that NAME.task holds."""
    chance = random.Random(source.sha256)
    phase.say("importing: which sizes the source has, and which go together")
    runs, axes, words = _probe(source, seconds, vary)
    phase.say("importing: how extents follow from sizes")
    limits_, points, shapes = _fit(runs, axes, chance)
    phase.say("importing: how inputs are drawn")
    small, spread, observed = _real(source, axes, _small(runs, axes, limits_, points))
    kept = [a for a in axes if a.low < a.high]
    model, weights = _weights(source, spread, observed, shapes["weights"])
    instance = source.instance(spread)
    inputs, _ = _drawn(instance, model)
    taken = {a.name for a in kept} | {"weights", "stream", "seed", "input"}
    names = _names(instance.input_names, len(inputs), taken)
    drawn = computed.drawn(source, axes, limits_)
    entries, fills, own = _inputs(source, runs.base, instance, inputs, names, shapes, drawn)
    domains = input_domain.one_sided(
        model, inputs, [e["domain"] if "shape" in e else "value" for e in entries]
    )
    for entry, domain in zip(entries, domains):
        if "shape" in entry:
            entry["domain"] = domain
    limits_ = limits_ + collide.settle(model, inputs, entries, fills, {a.name: a.value for a in axes})
    tensors = [e for e in entries if "shape" in e]
    outputs = _outputs(runs.base, shapes["outputs"], taken | set(names))
    classes = [
        {
            "name": "published",
            "shows": "as the task's get_inputs draws",
            "fill": {e["name"]: fill for e, fill in zip(entries, fills) if fill},
        }
    ]
    phase.say("importing: which classes of inputs it takes")
    kinds = _kinds(model, inputs, domains)
    phase.say("importing: what calls keep and draw")
    if not kinds and any(fill and fill["kind"] == "index" for fill in fills):
        kinds = [
            ("ends", "whole numbers that are often their first or their last, now and then all of them", [])
        ]
    for kind, shows, filled in kinds:
        given = iter(filled)
        classes.append(
            {
                "name": kind,
                "shows": shows,
                "fill": {
                    e["name"]: _of_class(kind, e, classes[0]["fill"][e["name"]], given) for e in tensors
                },
            }
        )
    classes += marked.classes(model, inputs, entries, classes[0]["fill"], drawn, own)
    larger = _grown(source, runs, axes, limits_, small, (48, 24, 13), SMALL)
    decides = decision.found(model, inputs, entries, fills, weights, larger)
    if decides:
        fill = {e["name"]: decides[1].get(i, fills[i]) for i, e in enumerate(entries) if "shape" in e}
        fill.update({"weights": decides[1]["weights"]} if "weights" in decides[1] else {})
        classes.insert(1, {"name": "decision", "shows": decides[0], "discriminating": 1, "fill": fill})
    phase.say("importing: whether its right answers can be told")
    unjudged = judgeable.why_not(
        model,
        instance,
        runs.base.written,
        lambda: _grown(source, runs, axes, limits_, small, (48, 24, 13), SMALL),
    )
    ring = {n: a for a in kept for n in a.sizes}
    tolerance, unread = source_tolerance(source.directory)
    return {
        "task": 1,
        "name": name,
        "entry": source.entry,
        "source": {
            "file": "source.py",
            "sha256": source.sha256,
            **({"modules": source.modules} if source.modules else {}),
        },
        "torch": torch.__version__,
        "sizes": [
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
        ],
        "axes": [
            {
                "name": a.name,
                "value": a.value,
                "ring": a.ring,
                "low": a.low,
                "high": a.high,
                "step": a.step,
                "sizes": a.sizes,
                "why": a.why or words[a.sizes[0]][1],
            }
            for a in kept
        ],
        "fixed": [{"name": a.name, "value": a.value, "why": a.why} for a in axes if a.low == a.high],
        "inputs": entries,
        "weights": weights,
        "outputs": outputs,
        "limits": limits_,
        **(
            {"same": [{"way": list(way), "input": names[place]} for way, place in runs.base.same]}
            if runs.base.same
            else {}
        ),
        "classes": classes,
        "tolerance": tolerance,
        "notes": input_domain.notes(
            instance,
            model,
            inputs,
            lambda: _grown(source, runs, axes, limits_, small),
            lambda: _beside(source, axes, limits_, small),
        )
        + [{"kind": "tolerance", "text": f"{text}; the published check's default stands"} for text in unread]
        + (coverage.note(model, inputs) or judgeable.note(unjudged)),
        "flops": _powers(points, kept, lambda o: o.flops + o.elements),
        "scratch": _powers(points, kept, lambda o: o.largest),
        "small": {a.name: small[a.name] for a in kept},
        "published": source.published_sets(),
        "runs": runs.runs,
    }
