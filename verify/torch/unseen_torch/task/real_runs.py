"""Runs of a task's source with real numbers, at sizes that are small enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from . import expression, failure, input_domain, notes, size_constraints, varying
from .description import ImportError_
from .expression import Sizes
from .observed import Observed, Point
from .probe import Axis, Probe
from .source import Instance, Source

STAGES = {
    "get_inputs": "; the arguments of forward were expected",
    "get_init_inputs": "; the arguments of the constructor were expected",
}


def expected_of(failed: failure.Failed, otherwise: str) -> str:
    """Returns the expectation, unless the failure already states one."""
    return "" if " expected" in str(failed) else STAGES.get(failed.stage, otherwise)


SEEDS = range(7, 15)  # of draws for a real run


def drawn(instance: Instance, model: torch.nn.Module) -> tuple[list[Any], bool]:
    """Returns `(inputs, is its answer without NaN?)` from the first draw whose answer has no NaN, or from the first draw.
    A few labels may all be of one class, and a few ratings equal."""
    first: list[Any] | None = None
    for seed in SEEDS:
        torch.manual_seed(seed)
        inputs = instance.inputs()
        outputs = input_domain.outputs_at(model, inputs)
        if outputs is not None and not any(bool(o.isnan().any()) for o in outputs):
            return inputs, True
        first = first or inputs
    return first or [], False


def real(source: Source, axes: list[Axis], points: list[Point]) -> tuple[Sizes, Sizes, Observed]:
    """Returns `(sizes by axis, sizes of the source, observed)` of the first point that also runs with real numbers. A
    point whose answers all have a NaN is used only if no other point runs: no class of inputs could be told there."""
    unnamed: tuple[Sizes, Sizes, Observed] | None = None
    reason = failure.Failed("it has no sizes at which every tensor has elements", "let get_inputs make some")
    for sizes, observed in points[:8]:
        spread = size_constraints.spread(axes, sizes)
        try:
            instance = source.instance(spread)
            torch.manual_seed(7)
            model, inputs = instance.model(), instance.inputs()
            outputs = notes.call(model, inputs, 3)
        except Exception as error:
            reason = failure.failed(error)
            continue
        if not varying.are_fit(outputs, observed.outputs):
            reason = failure.Failed("other shapes than on FakeTensors")
        elif drawn(instance, model)[1]:
            return sizes, spread, observed
        else:
            unnamed = unnamed or (sizes, spread, observed)
    if unnamed:
        return unnamed
    expected = expected_of(reason, "; a Model that runs on a CPU was expected")
    raise ImportError_(
        f"{source.path} does not run with real numbers: {reason}{expected}\n---> {reason.hint}"
    )


def small_points(runs: Probe, axes: list[Axis], limits: list[str], points: list[Point]) -> list[Point]:
    """Returns points for real runs, the most informative first. A few elements along every axis come first, then the
    cheapest sampled points."""
    found: list[Point] = []
    for value in (5, 8, 16, 3, 2):
        sizes = {a.name: a.few(value) for a in axes}
        if all(expression.evaluate(t, sizes) for t in limits):
            observed = runs.run(size_constraints.spread(axes, sizes))
            if observed and all(d > 0 for d in observed.dims()):
                found.append(Point(sizes, observed))
    return found + sorted((p for p in points if p.observed.elements), key=lambda p: p.observed.elements)


Grown = tuple[torch.nn.Module, list[Any]]  # a model and its inputs at larger sizes
LARGE = 1 << 24  # most elements of all operations of one more real run
SMALL = 1 << 15  # the same, of a run that is judged
FEW = (48, 24, 13)  # sizes along an axis of a run that is judged


def grown(
    runs: Probe,
    axes: list[Axis],
    limits: list[str],
    small: Sizes,
    sizes_tried: Sequence[int] = (256, 128, 64, 48, 32, 24, 16),
    most: int = LARGE,
) -> Grown | None:
    """Returns `(model, inputs)` at sizes larger than `small`, with at most `most` elements of all operations. Returns
    None if there are no such sizes.

    An answer may be constant for a few elements only (all below a threshold, one channel per group).
    """
    moving = [a.name for a in axes if a.low < a.high]
    for value in sizes_tried:
        sizes = {a.name: a.near(value) for a in axes}
        if not all(expression.evaluate(t, sizes) for t in limits) or all(
            sizes[n] <= small[n] for n in moving
        ):
            continue
        observed = runs.run(size_constraints.spread(axes, sizes))
        if not observed or observed.elements > most:
            continue
        try:
            instance = runs.source.instance(size_constraints.spread(axes, sizes))
            torch.manual_seed(8)
            model = instance.model()
            return model, drawn(instance, model)[0]
        except Exception:
            continue
    return None


def as_published(runs: Probe) -> Grown | None:
    """Returns `(model, inputs)` at the published sizes, or None if a run there is too large."""
    if runs.base.elements > LARGE:
        return None
    instance = runs.source.instance({})
    torch.manual_seed(8)
    model = instance.model()
    return model, drawn(instance, model)[0]


def beside(source: Source, axes: list[Axis], limits: list[str], small: Sizes) -> Iterator[list[Any]]:
    """Yields at most three sets of inputs for the same model, at sizes of ring 1 next to `small`. Sizes that change
    the constructor's arguments are skipped, since they make another model."""

    def told(instance: Instance) -> str:
        return repr((instance.init_args, instance.init_named))

    found = 0
    own = told(source.instance(size_constraints.spread(axes, small)))
    for axis, value in [
        (a, small[a.name] + by * a.step) for a in axes if a.ring == 1 and a.low < a.high for by in (1, -1)
    ]:
        sizes = {**small, axis.name: axis.near(value)}
        if found == 3 or sizes == small or not all(expression.evaluate(t, sizes) for t in limits):
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
