"""Reads NPUKernelBench: NAME.py with Model and get_input_groups, and NAME.json with an input group a line.

A line lists forward's inputs: tensors with type and shape, and attributes with values. get_input_groups makes
the tensors of all lines. A composed task gives it one line with drawn extents."""

from __future__ import annotations

import json
import os
from typing import Any

from .compose import PUBLISHED, Table, Value
from .dimensions import Dimensions
from .reading import Reading, error, text_of
from .support import SUPPORT, TEXT

_MODULE = '''"""{name} of NPUKernelBench: an input group of drawn extents for its Model."""

import reference
from unseen_published import VARIANTS, published_list
from unseen_support import input_group

{constants}
Model = reference.Model


def described():
    return {{"inputs": {inputs}}}


def get_inputs():
    return input_group(reference, described())


def get_init_inputs():
    return reference.get_init_inputs()
'''
_SHAPES = ("shape", "shapes")  # keys that hold extents
_UNREAD = ("range_values", "outlier_values", "backward", "align_32B", "required")


def is_one(path: str) -> bool:
    """Tells whether a Python file is of this form."""
    beside = os.path.splitext(path)[0] + ".json"
    return path.endswith(".py") and os.path.exists(beside) and "def get_input_groups" in text_of(path)


def _lines(path: str) -> list[list[dict[str, Any]]]:
    """Returns the inputs of each line. Raises SourceError."""
    found = []
    for number, line in enumerate(text_of(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line)["inputs"])
        except (json.JSONDecodeError, KeyError, TypeError) as failure:
            raise error(
                f"{path}, line {number}: {failure}", 'an object {"inputs": [..]} was', "correct it"
            ) from failure
    if not found:
        raise error(f"{path} is empty", "an input group a line was", "add one")
    return found


def _is_of_extents(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int or _is_of_extents(n) for n in value)


def _ranks(value: Any) -> Any:
    """Returns a shape with None for each extent."""
    return [_ranks(n) for n in value] if isinstance(value, list) else None


def _structure(inputs: list[dict[str, Any]]) -> str:
    """Returns what configurations of one folder share: names, kinds, types and ranks."""
    parts = []
    for i in inputs:
        dtype = i.get("dtype") if i.get("type") != "attr" else None
        parts.append((i.get("name"), i.get("type"), dtype, [_ranks(i.get(key)) for key in _SHAPES]))
    return repr(parts)


def _extents(value: Any) -> list[int]:
    return [n for each in value for n in _extents(each)] if isinstance(value, list) else [value]


class _Group:
    """The lines of one structure, and the text that describes a drawn one."""

    def __init__(self, lines: list[list[dict[str, Any]]]) -> None:
        self.lines, self.dimensions = lines, Dimensions()
        self.rows: list[dict[str, Any]] = [{} for _ in lines]
        self.text = f"[{', '.join(self._input(i) for i in range(len(lines[0])))}]"
        for name, series in self.dimensions.sizes.items():
            for row, extent in zip(self.rows, series):
                row[name] = extent

    def _input(self, i: int) -> str:
        name = str(self.lines[0][i].get("name", i))
        return f"{{{', '.join(self._field(i, name, key) for key in self.lines[0][i] if key not in _UNREAD)}}}"

    def _field(self, i: int, name: str, key: str) -> str:
        values = [line[i].get(key) for line in self.lines]
        if key in _SHAPES and _is_of_extents(values[0]):
            series = list(zip(*map(_extents, values)))
            names = iter([self.dimensions.of(s, f"{name}_{d}") for d, s in enumerate(series)])
            return f"{key!r}: {self._shape(values[0], names)}"
        if all(repr(v) == repr(values[0]) for v in values):
            return f"{key!r}: {values[0]!r}"
        column = f"{name}_{key}"
        for row, value in zip(self.rows, values):
            row[column] = Value(repr(value))
        return f"{key!r}: VARIANTS[variant - 1][{column!r}]"

    def _shape(self, value: Any, names: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(self._shape(each, names) for each in value)}]"
        return str(next(names))


def read(path: str, wanted: list[int] | None = None) -> Reading:
    """Reads a file. The structure with the most lines stays; a note names the others."""
    lines = _lines(os.path.splitext(path)[0] + ".json")
    structures = [_structure(line) for line in lines]
    best = max(structures, key=structures.count)
    kept = [i for i, structure in enumerate(structures) if structure == best]
    group = _Group([lines[i] for i in kept])
    names = [f"line-{i + 1}" for i in kept]
    table = Table(group.rows, names, [1.0] * len(names), wanted)
    notes = []
    others = {s: structures.count(s) for s in structures if s != best}
    if others:
        words = ", ".join(
            f"{count} like line {structures.index(s) + 1}" for s, count in list(others.items())[:6]
        )
        notes.append(
            (
                "variant",
                f"left out of the published configurations: {words}: their tensors have other types or ranks",
            )
        )
    text = _MODULE.format(
        name=os.path.splitext(os.path.basename(path))[0], constants=table.constants(), inputs=group.text
    )
    return Reading(
        path,
        text,
        form="input-groups",
        modules={"reference.py": text_of(path), PUBLISHED: table.published(), SUPPORT: TEXT},
        configs=table.configs,
        notes=notes,
        restrict=lambda chosen: read(path, chosen),
        variants=table.count,
    )
