"""Faults planted in a task: in operations of its graph, in reads of inputs and in writes of outputs.

Each has a name that does not depend on the sizes, and a function of a case that returns outputs. The function returns
None where the fault has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..oracle.eager import Change
from ..oracle.graph import packet
from . import op_mutations, variants
from .case import Case, Make, Outputs
from .norms import norms
from .op_mutations import Absent, Keep


@dataclass
class Published:
    """The extents of the published configuration. Inputs that are no tensors have none."""

    inputs: list[list[int] | None]
    outputs: list[list[int]]


NORMS = ("native_layer_norm", "native_group_norm", "native_batch_norm")
ROWS = (*tuple(n for n in variants.REDUCTIONS if n not in NORMS), "_safe_softmax")
BUILDERS = (
    (variants.PRODUCTS, op_mutations.products),
    (NORMS, norms),
    (ROWS, op_mutations.rows),
    (variants.SCANS, op_mutations.scans),
)
MOST_SITES = 6  # operations of a kind in which faults are planted


def of_operations(case: Case) -> Iterator[tuple[str, Make]]:
    """Yields (name, function) of all faults in the graph's operations."""
    seen: dict[str, int] = {}
    for node in case.graph.nodes:
        name = packet(node)
        if not name:
            continue
        builder = next((b for names, b in BUILDERS if name in names), op_mutations.elements)
        made = list(builder(node))
        if not made:
            continue
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > MOST_SITES:
            continue
        label = name.strip("_") + (f" {seen[name]}" if seen[name] > 1 else "")
        for text, change in made:
            yield f"{label}: {text}", at(node, change)


def at(place: torch.fx.Node, change: Change) -> Make:
    """Runs the graph with one operation replaced by its faulty version."""

    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        return case.run(
            lambda node, args, named: change(node, args, named) if node is place else None, inputs
        )

    return run


# --- what is read ---


def inputs_of(case: Case) -> list[int]:
    return [i for i in case.graph.inputs if isinstance(case.inputs[i], torch.Tensor)]


def replaced(inputs: list[Any], i: int, x: torch.Tensor) -> list[Any]:
    given = list(inputs)
    given[i] = x
    return given


def read_with_pitch(i: int) -> Make:
    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        return case.run(inputs=replaced(inputs, i, op_mutations.pitched(inputs[i])))

    return run


def read_from_first(i: int) -> Make:
    """Every batch reads the first batch's elements."""

    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        x = inputs[i]
        if x.dim() < 2 or x.shape[0] < 2:
            raise Absent
        return case.run(inputs=replaced(inputs, i, x[:1].expand_as(x).contiguous()))

    return run


def hard_coded_pitch(i: int, extent: int) -> Make:
    """Rows start at multiples of the published extent."""

    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        x = inputs[i]
        if x.dim() < 2 or x.shape[-1] == extent or x.numel() < 2:
            raise Absent
        columns = x.shape[-1]
        at = torch.arange(x.numel(), device=x.device)
        at = (at // columns * extent + at % columns) % x.numel()
        return case.run(inputs=replaced(inputs, i, x.reshape(-1)[at].reshape(x.shape)))

    return run


def of_inputs(case: Case, published: Published) -> Iterator[tuple[str, Make]]:
    for i in inputs_of(case):
        name = case.subject.description["inputs"][i]["name"]
        extents = published.inputs[i] if i < len(published.inputs) else None
        if case.inputs[i].dim() >= 2:
            yield f"{name}: read with the other dimension as its pitch", read_with_pitch(i)
            yield f"{name}: every batch reads the first one's", read_from_first(i)
        if case.inputs[i].dim() >= 2 and extents:
            yield f"{name}: read with the published pitch", hard_coded_pitch(i, extents[-1])


# --- what is written ---


def short_output(number: int, dim: int | None, kept: Keep) -> Make:
    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        out = list(right)
        if dim is None:
            flat = out[number].reshape(-1)
            out[number] = op_mutations.cut(flat, 0, kept(flat.numel())).reshape(out[number].shape)
        else:
            out[number] = op_mutations.cut(out[number], dim, kept(out[number].shape[dim]))
        return out

    return run


def wrapped(number: int, limit: int) -> Make:
    """An index of 16 bits wraps around: elements beyond the limit are written to their place modulo the limit."""

    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        out = [t.clone() for t in right]
        flat = out[number].reshape(-1)
        if flat.numel() <= limit:
            raise Absent
        flat[limit:] = 0
        out[number] = flat.reshape(out[number].shape)
        return out

    return run


def only_published(shapes: list[list[int]]) -> Make:
    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        if [list(t.shape) for t in right] == shapes:
            raise Absent
        return [torch.zeros_like(t) for t in right]

    return run


def narrowed(dtype: torch.dtype) -> Make:
    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        if not any(t.dtype == torch.float32 for t in right):
            raise Absent
        return [t.to(dtype).to(t.dtype) if t.dtype == torch.float32 else t for t in right]

    return run


def of_outputs(case: Case, published: Published) -> Iterator[tuple[str, Make]]:
    names = [o["name"] for o in case.subject.description["outputs"]]
    for number, t in enumerate(case.reference):
        name = names[number] if number < len(names) else f"output {number}"
        for dim in range(max(t.dim() - 3, 0), t.dim()):
            label = f"{name}: dimension {dim - t.dim()}"
            for text, kept in op_mutations.lengths():
                if "256" not in text or dim == t.dim() - 1:
                    yield f"{label} {text}", short_output(number, dim, kept)
            if number < len(published.outputs) and len(published.outputs[number]) == t.dim():
                extent = published.outputs[number][dim]
                yield (
                    f"{label} beyond the published extent left out",
                    short_output(number, dim, op_mutations.at_most(extent)),
                )
        if t.dim() > 1:
            for tile in (4, 1024):
                yield (
                    f"{name}: all in one row beyond whole tiles of {tile} left out",
                    short_output(number, None, op_mutations.whole(tile)),
                )
        for limit in (1 << 15, 1 << 16):
            yield f"{name}: places from {limit} on never written", wrapped(number, limit)
    yield "zeros for any other than the published shape", only_published(published.outputs)
    yield "outputs rounded to bf16", narrowed(torch.bfloat16)
    yield "outputs rounded to fp16", narrowed(torch.float16)


# --- parameters ---


def of_parameters(case: Case) -> Iterator[tuple[str, Make]]:
    """Yields faults that ignore the values of parameters."""
    for name, tensor in case.state.items():
        if not tensor.is_floating_point() or not isinstance(
            dict(case.model.named_parameters()).get(name), torch.Tensor
        ):
            continue
        if tensor.numel() and constructed_constant(case, name) is not None:
            yield (
                f"{name}: left as the constructor makes it",
                with_parameter(name, constructed_constant(case, name)),
            )
        if tensor.numel() > 1:
            yield f"{name}: its first element for all", with_parameter(name, None)


def constructed_constant(case: Case, name: str) -> float | None:
    return case.subject.constants.get(name)


def with_parameter(name: str, value: float | None) -> Make:
    def run(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        tensor = case.state[name]
        wrong = (
            torch.full_like(tensor, value)
            if value is not None
            else tensor.reshape(-1)[:1].expand(tensor.numel()).reshape(tensor.shape).clone()
        )
        if torch.equal(wrong, tensor):
            raise Absent
        return case.run(inputs=inputs, state={**case.state, name: wrong})

    return run


def planted(case: Case, published: Published) -> dict[str, Make]:
    """Returns all faults: name -> function."""
    made: dict[str, Make] = {}
    for name, run in [
        *of_operations(case),
        *of_inputs(case, published),
        *of_outputs(case, published),
        *of_parameters(case),
    ]:
        made.setdefault(name, run)
    return made


def outcome(run: Make, case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs | None:
    """Returns a fault's outputs. Returns None if it has no effect or is impossible at this size."""
    try:
        out = run(case, inputs, right)
    except (Absent, RuntimeError, IndexError, ValueError):
        return None
    if out is None or all(torch.equal(a, b) for a, b in zip(out, right)):
        return None
    return out
