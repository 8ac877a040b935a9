"""The classes of NAME.task: the published one and those beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from . import huge_inputs, input_domain, overflow_inputs, scale_inputs, scaled_inputs
from .description import ClassEntry, Fill, InputEntry
from .observed import Centre

Kind = tuple[str, str, list[Fill]]  # name, description and fills of the real inputs of a class

CLASS_DATA: dict[
    str, Callable[[int], tuple[str, Fill]]
] = {  # a class's description and fill, by its greatest magnitude
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

APART = "one element of every row so far above the rest that an exponential of the difference overflows"


def _joins(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> bool:
    """Tells whether one element of the first real input changes several results, or one that many elements share."""
    i = domains.index("real")
    moved = [input_domain.copied(v) for v in inputs]
    moved[i].reshape(-1)[0] += overflow_inputs.MIDDLES[0]
    before, after = (input_domain.outputs_at(model, each) or [] for each in (inputs, moved))
    return any(
        int((a != b).sum()) > 1 or (a.numel() < inputs[i].numel() and bool((a != b).any()))
        for a, b in zip(before, after)
    )


def kinds(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> list[Kind]:
    """Returns every class of real inputs beside the published one."""
    reals = domains.count("real")
    told = [
        (kind, *CLASS_DATA[kind](most))
        for kind, most in input_domain.allowed_classes(model, inputs, domains).items()
    ]
    kinds: list[Kind] = [(kind, shows, [fill] * reals) for kind, shows, fill in told]
    searches: tuple[tuple[str, Callable[[], Centre | None], str], ...]
    searches = (
        (
            "beyond",
            lambda: overflow_inputs.about(model, inputs, domains, False),
            "about {}, where exponentials overflow and a softmax's answer does not",
        ),
        (
            "below",
            lambda: overflow_inputs.about(model, inputs, domains, True),
            "about {}, where all that a greatest one is looked for among is far below 0",
        ),
        (
            "above",
            lambda: overflow_inputs.above(model, inputs, domains),
            "about {}, where all that a least one is looked for among is far above 0",
        ),
    )
    for name, search, shows in searches:
        found = search()
        if found:
            about = [sign * found[0] for sign in found[1]]
            kinds.append(
                (
                    name,
                    shows.format(" and ".join(str(a) for a in dict.fromkeys(about))),
                    [{"kind": "normal", "a": a, "b": 1} for a in about],
                )
            )
    kinds += [
        ("apart", APART, [{**fill, "kind": "peak"} for fill in fills])
        for name, _, fills in kinds
        if name == "beyond" and _joins(model, inputs, domains)
    ]
    if scaled_inputs.is_narrow(model, inputs, domains):
        kinds += _narrow(model, inputs, domains)
    huge = huge_inputs.fills(model, inputs, domains)
    if huge:
        shows = f"deviation 2^{huge_inputs.HUGE}: beyond the range of fp16"
        kinds.append(("huge", shows, huge))
    return kinds


def _narrow(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> list[Kind]:
    """Returns the classes of a task with an operation that is steep or undefined at 0."""
    found: list[Kind] = []
    parts = scaled_inputs.uneven(model, inputs, domains)
    if parts:
        some = "all 0" if parts[0]["density"] < 1 else "a thousandth of others"
        found.append(("uneven", f"samples, rows or columns of unlike size, some of them {some}", parts))
    exponent = scaled_inputs.tiny(model, inputs, domains)
    if exponent is not None:
        shows = f"deviation 2^{exponent}: an epsilon or a lower bound is a large share"
        fills: list[Fill] = [{"kind": "normal", "a": 0, "b": 2.0**exponent}] * domains.count("real")
        found.append(("tiny", shows, fills))
    return found


ENDS = ("needle", "integers", "ends")


def _of_class(
    kind: str, entry: InputEntry, published: Fill, given: Iterator[Fill], nonnegative: dict[str, Fill]
) -> Fill:
    """Returns an input's fill in a class other than the published one.

    `given` holds the fills of the real inputs, `nonnegative` the input's own by class.
    """
    if entry["domain"] == "real":
        return next(given, published)
    if kind in nonnegative:
        return nonnegative[kind]
    return {**published, "density": 0.5} if kind in ENDS and published["kind"] == "index" else published


def classes(
    model: torch.nn.Module,
    inputs: list[Any],
    entries: list[InputEntry],
    fills: Sequence[Fill | None],
    domains: list[str],
    nonnegative: dict[int, dict[str, Fill]],
) -> list[ClassEntry]:
    """Returns the published class, whose fills are `fills`, and the classes of real inputs.

    `nonnegative` has other fills by input and class.
    """
    published = {e["name"]: fill for e, fill in zip(entries, fills) if fill}
    made: list[ClassEntry] = [
        {"name": "published", "shows": "as the task's get_inputs draws", "fill": published}
    ]
    found = kinds(model, inputs, domains)
    if not found and any(fill["kind"] == "index" for fill in published.values()):
        found = [
            ("ends", "whole numbers that are often their first or their last, now and then all of them", [])
        ]
    for kind, shows, filled in found:
        given = iter(filled)
        fill = {
            e["name"]: _of_class(kind, e, published[e["name"]], given, nonnegative.get(i, {}))
            for i, e in enumerate(entries)
            if "shape" in e
        }
        made.append({"name": kind, "shows": shows, "fill": fill})
    scales = {
        entries[i]["name"]: fill for i, fill in scale_inputs.fills(model, inputs, entries, fills).items()
    }
    if scales:
        shows = f"{', '.join(scales)} far below the published range, or 1"
        made.append({"name": "scales", "shows": shows, "fill": {**published, **scales}})
    return made
