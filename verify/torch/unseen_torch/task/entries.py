"""Entries of NAME.task for inputs, weights and outputs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import torch

from . import computed, fake, input_domain, marked, structure, varying, weight_init
from .computed import Runs
from .description import Extent, Fill, ImportError_, InputEntry, Marker, OutputEntry, WeightEntry
from .expression import Sizes
from .extents import Shapes
from .observed import Input, Law, Observed
from .source import Instance, Source

FROM_ZERO = set("""rand rand_like randn randn_like randint randint_like randperm random uniform""".split())


def _published_fill(domain: str, value: torch.Tensor, law: Law) -> Fill:
    """Returns the fill that imitates the published draw."""
    if domain in ("index", "flag", "sign", "simplex"):
        return {"kind": domain}
    x = value.double() if value.numel() else torch.zeros(1)
    if domain in ("triu", "tril", "symmetric"):
        return {"kind": domain, "a": 0, "b": 1}
    drawn = input_domain.drawn_range(law.steps)
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
    if x.max() <= 1 or any(call.rstrip("_") in FROM_ZERO for call in law.calls):
        return {"kind": "uniform", "a": 0, "b": max(1.0, math.ceil(x.max().item()))}
    return {"kind": "uniform", "a": math.floor(x.min().item()), "b": math.ceil(x.max().item()) or 1.0}


def names_of(parameters: Sequence[str], count: int, taken: set[str]) -> list[str]:
    names: list[str] = []
    for i in range(count):
        name = parameters[i] if i < len(parameters) else f"x{i}"
        while name in taken or name in names:
            name += "_in"
        names.append(name)
    return names


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and torch.equal(
        *(t.detach().flatten().contiguous().view(torch.uint8) for t in (a, b))
    )


def weights(
    source: Source, sizes: Sizes, observed: Observed, shapes: list[list[Extent]]
) -> tuple[torch.nn.Module, list[WeightEntry]]:
    """Returns `(model, entries)`."""
    torch.manual_seed(11)
    with weight_init.Order() as order:
        model = source.instance(sizes).model()
    drawn = {name for name, kind, _ in order.of(model) if kind == "drawn"}
    torch.manual_seed(12)
    again = source.instance(sizes).model().state_dict()
    entries: list[WeightEntry] = []
    for one, shape in zip(observed.weights, shapes):
        tensor = model.state_dict()[one.name]
        kind, scale, shift = input_domain.weight_law(
            one.name, tensor, one.parameter, again[one.name].double(), one.name in drawn
        )
        entries.append(
            {
                "name": one.name,
                "dtype": one.dtype,
                "shape": shape,
                "kind": kind,
                "scale": scale,
                "shift": shift,
            }
        )
        if kind == "constructed":
            entries[-1]["loaded"] = source.reading.has_own_buffers or not _same_bits(tensor, again[one.name])
    return model, entries


def _whole(
    source: Source, name: str, law: Law, runs: Runs, i: int, low: Extent, bound: Extent | None
) -> tuple[str, Fill]:
    """Returns `(domain, fill)` of an input of whole numbers that computed.py has not recognized."""
    fill: Fill | None = {"kind": "index"}
    if runs:
        fill = computed.whole_law(runs, i, law.calls, low, bound)
    if fill:
        return fill["kind"], fill
    least, most = (
        f(int(f(x.reshape(-1))) for _, first, _ in runs for x in (first[i],) if x.numel()) for f in (min, max)
    )
    if least >= -1 << 31 and most < 1 << 31:
        return "computed", {"kind": "computed"}
    raise ImportError_(
        f"{source.path}: the input {name} holds whole numbers from {least} to {most}, made by "
        f"{', '.join(dict.fromkeys(law.calls)) or 'no call of torch'}; randint, randperm, sorted ones of "
        "randint, a mask of diagonals, a table that grows by steps (arange), or numbers of 32 bits were expected\n---> draw it so, or "
        "compute it in forward"
    )


def _number(name: str, published: Input, follows: InputEntry | None) -> InputEntry:
    """Returns the entry of an input that is no tensor, with its published value: small runs have other
    values."""
    return {"name": name, "value": published.value, **(follows or {})}


def _computed_fill(value: torch.Tensor, i: int, domain: str, runs: Runs) -> tuple[str, Fill | None]:
    """Returns `(domain, fill)` of an input that does not depend on the draw. Other inputs have no fill."""
    fill = computed.fixed_law(runs, i) if computed.is_fixed(runs, i) else None
    if fill and value.dtype.is_floating_point and fill["kind"] == "affine" and not any(fill["steps"]):
        start = fill["start"]
        if isinstance(start, int):
            return "real", {"kind": "constant", "a": start}  # initial zeros or ones
    return (fill["kind"] if fill else domain), fill


class _Inputs:
    """The entries of forward's parameters, one after the other."""

    def __init__(
        self,
        source: Source,
        base: Observed,
        instance: Instance,
        names: Sequence[str],
        shapes: Shapes,
        runs: Runs,
    ) -> None:
        self.source, self.base, self.names, self.shapes, self.runs = source, base, names, shapes, runs
        steady = input_domain.steady(instance)
        self.shared, self.held = input_domain.linked(base.laws), input_domain.held(steady)
        self.held_finite = input_domain.held(steady, has_infinities=False)

    def _fill(self, value: torch.Tensor, i: int) -> tuple[str, Fill | None, Marker | None]:
        """Returns `(domain, fill, marker)`. A fill of None imitates the published draw. Unwritten memory of
        whole numbers is filled with zeros."""
        law, marker = self.base.laws[i], None
        domain, fill = _computed_fill(value, i, input_domain.domain(value, law), self.runs)
        if fill is None and i not in self.shared and domain not in ("flag", "sign"):
            marker = marked.marker_of(self.runs, i, law.calls)
        if fill is None and (
            marker is not None
            or i in self.shared
            or input_domain.is_computed(law.calls, domain)
            or (i in self.held and domain not in ("triu", "tril"))
        ):
            domain, fill = "computed", {"kind": "computed"}
        if fill is None and domain == "index" and law.calls[:1] == ["empty"]:
            domain, fill = "affine", {"kind": "affine", "start": 0, "steps": [0] * value.dim()}
        if fill is None and domain == "index":
            low, bound = self.shapes.lows[i], self.shapes.bounds[i]
            domain, fill = _whole(self.source, self.names[i], law, self.runs, i, low, bound)
        return domain, fill, marker

    def one(self, value: torch.Tensor, i: int) -> tuple[InputEntry, Fill]:
        """Returns `(entry, published fill)` of a tensor."""
        law = self.base.laws[i]
        domain, fill, marker = self._fill(value, i)
        calls = [re.sub(r"\W", "", c) for c in law.calls]
        entry: InputEntry = {
            "name": self.names[i],
            "dtype": fake.dtype_name(value.dtype),
            "shape": self.shapes.inputs[i],
            "law": " then ".join(calls) or "computed",
            "domain": domain,
            "low": self.shapes.lows[i],
            "bound": self.shapes.bounds[i] or 2,
        }
        if i in self.base.written:
            entry["written"] = True
        if marker is not None:
            entry["marker"] = marker
        return entry, fill or _published_fill(domain, value, law)


def inputs(
    source: Source,
    base: Observed,
    instance: Instance,
    values: list[Any],
    names: Sequence[str],
    shapes: Shapes,
    runs: Runs,
) -> tuple[list[InputEntry], list[Fill | None], dict[int, list[str]]]:
    """Returns `(entries, published fills, calls)` of forward's parameters. `calls` has the inputs whose
    elements depend on no other input. An input that is no tensor has no fill."""
    entries: list[InputEntry] = []
    fills: list[Fill | None] = []
    made = _Inputs(source, base, instance, names, shapes, runs)
    for i, value in enumerate(values):
        if isinstance(value, torch.Tensor):
            entry, fill = made.one(value, i)
            entries.append(entry)
            fills.append(fill)
        else:
            entries.append(_number(names[i], base.inputs[i], shapes.numbers[i]))
            fills.append(None)
    alone = [i for i, fill in enumerate(fills) if fill and i not in made.shared | made.held_finite]
    return entries, fills, {i: base.laws[i].calls for i in alone}


def outputs(observed: Observed, shapes: list[list[Extent]], taken: set[str]) -> list[OutputEntry]:
    """Returns the entries of the results that are not inputs. Names are the keys of a returned dictionary,
    else y, or y0, y1, .."""
    entries: list[OutputEntry] = []
    first = len(observed.written)
    for i, (output, shape, way) in enumerate(zip(observed.outputs[first:], shapes[first:], observed.ways)):
        name = re.sub(r"\W", "_", structure.name_of(way))[:40] or (
            "y" if len(shapes) == first + 1 else f"y{i}"
        )
        name = "y_" + name if name[0].isdigit() else name
        while name in taken:
            name += "_out"
        taken = taken | {name}
        entry: OutputEntry = {"name": name, "dtype": output.dtype, "shape": shape}
        if output.varying:
            entry["varying"] = list(output.varying)
        entry["way"] = list(way)
        entries.append(entry)
    return entries + varying.entries(entries, taken)
