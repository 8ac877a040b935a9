"""Chooses the variants of a composed task (readers/compose.py) that one folder can hold.

A folder's tensors have fixed types and ranks. Variants that share those of the most published configurations stay, and
a note names the others.
"""

from __future__ import annotations

import math
from typing import Any

from ..readers.compose import VARIANT
from ..readers.reading import Reading
from . import failure, fake
from .source import Source

Structure = tuple[Any, ...]


def _structure(source: Source, variant: int) -> Structure | str:
    """Returns types and ranks of a variant's tensors at its smallest published sizes, or why it does not run."""
    configs = [c.values for c in source.reading.configs if c.values.get(VARIANT, 1) == variant]
    smallest = min(configs, key=lambda values: math.prod(max(v, 1) for v in values.values()))
    try:
        seen = fake.observe(source, smallest)
    except failure.Failed as failed:
        return str(failed)
    tensors = [(v.kind, v.dtype, len(v.shape)) for v in seen.inputs]
    return (
        *tensors,
        *((o.dtype, len(o.shape)) for o in seen.outputs),
        *((w.dtype, w.name) for w in seen.weights),
    )


def _named(reading: Reading, variant: int) -> str:
    count = sum(c.values.get(VARIANT, 1) == variant for c in reading.configs)
    first = next(c.name for c in reading.configs if c.values.get(VARIANT, 1) == variant)
    return f"{count} like {first}"


def chosen(source: Source) -> Source:
    """Returns the source with the variants of one structure."""
    reading = source.reading
    if reading.restrict is None or reading.variants < 2:
        return source
    structures = [_structure(source, v + 1) for v in range(reading.variants)]
    counts: dict[Structure, int] = {}
    for config in reading.configs:
        key = structures[config.values.get(VARIANT, 1) - 1]
        if not isinstance(key, str):
            counts[key] = counts.get(key, 0) + 1
    if not counts:
        return source  # the import says why it does not run
    best = max(counts, key=lambda key: counts[key])
    kept = [v for v, key in enumerate(structures) if key == best]
    if len(kept) == reading.variants:
        return source
    restricted = reading.restrict(kept)
    for variant, key in enumerate(structures):
        if key != best:
            why = key if isinstance(key, str) else "their tensors have other types or ranks"
            restricted.notes.append(
                (
                    "variant",
                    f"left out of the published configurations: {_named(reading, variant + 1)}: {why}",
                )
            )
    return Source(restricted, source.entry)
