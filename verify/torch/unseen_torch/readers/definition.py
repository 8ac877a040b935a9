"""Reads definitions of FlashInfer Trace, SOL-ExecBench and SIKL: JSON with axes, inputs, outputs and a
reference.

A directory has definition.json and workload.jsonl. A file NAME.json has its workloads in NAME.jsonl beside
it, or in the folder `workloads` of its data set."""

from __future__ import annotations

import ast
import json
import os
import re
from typing import Any

from .atrex import load_json
from .compose import PUBLISHED, Table
from .reading import Reading, error, text_of
from .support import SUPPORT, TEXT

DEFAULT = 128  # value of a variable axis without workloads
_MODULE = '''"""{name}: inputs of its definition for the definition's reference."""

import reference
import torch.nn as nn
from unseen_published import VARIANTS, published_list
from unseen_support import destination, drawn_seed, indices, lengths, offsets, random

{constants}{derived}

class Model(nn.Module):
    def forward(self, {names}):
        return reference.run({names})


def get_inputs():
    return {inputs}


def get_init_inputs():
    return []


def outputs():
    return {outputs}


def unseen_solution(entry, writes):
    return destination(entry, writes, {count}, outputs)
'''
_AXES_OF_INDICES = (  # words of an integer input's name, and of the axis that bounds it
    ("page|kv_indices|block|slot", "num_pages|num_blocks|num_slots"),
    ("expert|topk_id", "num_experts|num_global_experts|experts"),
    ("token_id|vocab|label|target", "vocab"),
)


class _Definition:
    """A definition's parts, checked."""

    def __init__(self, path: str, value: Any) -> None:
        self.path, self.value = path, value
        for key in ("axes", "inputs", "outputs", "reference"):
            if not isinstance(value, dict) or key not in value:
                raise error(
                    f"{path} has no '{key}'",
                    "a definition with axes, inputs, outputs and reference was",
                    "add it",
                )
        self.inputs: dict[str, Any] = value["inputs"]
        self.outputs: dict[str, Any] = value["outputs"]
        self.variable = [n for n, axis in value["axes"].items() if axis.get("type") == "var"]
        self.constant = {n: a["value"] for n, a in value["axes"].items() if a.get("type") == "const"}
        self.derived = {n: str(a["expression"]) for n, a in value["axes"].items() if a.get("type") == "expr"}
        self.totals: dict[str, str] = {}  # the axis with an offset table's last element, by the table
        self.required: list[str] = []
        for text in value.get("constraints") or []:
            self._constrain(str(text))

    def _constrain(self, text: str) -> None:
        last = re.fullmatch(r"\s*(\w+)\s*==\s*(\w+)\[-1\](?:\.item\(\))?\s*", text)
        if last and last[1] in self.variable:
            self.totals[last[2]] = last[1]
            return
        equal = re.fullmatch(r"\s*(\w+)\s*==\s*(.+)", text)
        if equal and equal[1] in self.variable and self._is_of_axes(equal[2]):
            self.variable.remove(equal[1])
            self.derived[equal[1]] = equal[2].strip()
        elif self._is_of_axes(text):
            self.required.append(text.strip())

    def _is_of_axes(self, text: str) -> bool:
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return False
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        plain = not any(isinstance(n, (ast.Call, ast.Attribute, ast.Subscript)) for n in ast.walk(tree))
        return plain and names <= set(self.value["axes"])

    def lines(self) -> str:
        """Returns the lines that compute derived axes and check constraints."""
        known = {*self.variable, *self.constant}
        text, waiting = "", dict(self.derived)
        while waiting:
            ready = [
                n
                for n, e in waiting.items()
                if {x.id for x in ast.walk(ast.parse(e, mode="eval")) if isinstance(x, ast.Name)} <= known
            ]
            if not ready:
                raise error(
                    f"{self.path}: the axis {next(iter(waiting))} is {next(iter(waiting.values()))!r}",
                    "an expression of other axes was",
                    "correct it",
                )
            for name in ready:
                text += f"{name} = {waiting.pop(name)}\n"
                known.add(name)
        for each in self.required:
            text += f'if not ({each}):\n    raise ValueError("the definition wants {each}")\n'
        return text

    def shape(self, tensor: dict[str, Any]) -> str:
        return f"({''.join(f'{axis}, ' for axis in tensor['shape'])})"

    def _bounding_axis(self, name: str) -> str | None:
        for words, axes in _AXES_OF_INDICES:
            if re.search(words, name):
                found = [a for a in self.value["axes"] if re.search(axes, a)]
                if found:
                    return str(found[0])
        return None

    def drawn(self, name: str, notes: list[tuple[str, str]]) -> str:
        """Returns the expression that draws an input."""
        tensor = self.inputs[name]
        dtype, shape = tensor["dtype"], self.shape(tensor)
        if not str(dtype).startswith(("int", "uint")):
            return f"random({dtype!r}, {shape})"
        if name in self.totals:
            return f"offsets({dtype!r}, {shape}, {self.totals[name]})"
        bound = self._bounding_axis(name)
        if bound:
            notes.append(("index", f"{name} is taken for indices below {bound}, by its name"))
            return f"indices({dtype!r}, {shape}, {bound})"
        if re.search("len", name) and self.variable:
            most = next((a for a in self.value["axes"] if re.search("len|max", a)), self.variable[0])
            notes.append(("index", f"{name} is taken for lengths from 1 to {most}, by its name"))
            return f"lengths({dtype!r}, {shape}, {most})"
        return f"random({dtype!r}, {shape})"


def _workloads(path: str, definition: _Definition) -> list[dict[str, Any]]:
    folder, name = os.path.dirname(path), str(definition.value.get("name", ""))
    stem = os.path.splitext(path)[0]
    above = os.path.join(folder, "..", "..", "workloads", os.path.basename(os.path.abspath(folder)))
    places = [
        os.path.join(folder, "workload.jsonl"),
        stem + ".jsonl",
        os.path.join(above, os.path.basename(stem) + ".jsonl"),
    ]
    place = next((p for p in places if os.path.exists(p)), None)
    if place is None:
        return [{"axes": dict.fromkeys(definition.variable, DEFAULT), "inputs": {}}]
    found = []
    for number, line in enumerate(text_of(place).splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as failure:
            raise error(f"{place}, line {number}: {failure.msg}", "a workload was", "correct it") from failure
        value = value.get("workload", value) if isinstance(value, dict) else {}
        missing = [axis for axis in definition.variable if axis not in value.get("axes", {})]
        if missing:
            raise error(
                f"{place}, line {number} gives no {missing[0]}",
                f"a value of each axis of {name} was",
                "add it",
            )
        found.append(value)
    return found


def _rows(definition: _Definition, workloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns axes and scalars of each workload."""
    scalars = [n for n, i in definition.inputs.items() if i.get("shape") is None]
    rows = []
    for work in workloads:
        row: dict[str, Any] = {axis: int(work["axes"][axis]) for axis in definition.variable}
        row.update(definition.constant)
        for name in scalars:
            given = work.get("inputs", {}).get(name, {})
            value = given.get("value", 1.0)
            # a scalar is an argument, not a size
            row[name] = float(value) if "float" in definition.inputs[name]["dtype"] else _Number(value)
        rows.append(row)
    return rows


def _reference(text: str) -> str:
    """Returns the reference without assertions that read numbers of tensors. The drawn inputs satisfy them,
    and a trace without numbers cannot."""
    return re.sub(r"^([ \t]*)(assert .*\.(?:item|tolist)\(.*)$", r"\1pass  # \2", text, flags=re.M)


class _Number(int):
    """An integer that is an argument and no size."""

    def __repr__(self) -> str:
        return str(int(self))


def read(path: str, wanted: list[int] | None = None) -> Reading:
    """Reads a definition's directory or file. `wanted` are the variants that remain."""
    file = os.path.join(path, "definition.json") if os.path.isdir(path) else path
    definition = _Definition(file, load_json(file, "a definition"))
    workloads = _workloads(file, definition)
    names = [str(w.get("uuid", f"workload-{i + 1}")) for i, w in enumerate(workloads)]
    table = Table(_rows(definition, workloads), names, [1.0] * len(names), wanted)
    given = {str(w["uuid"]) for w in workloads if re.fullmatch(r"[\w.-]{1,63}", str(w.get("uuid", "")))}
    for config in table.configs:
        config.workload = config.name if config.name in given else ""
    notes: list[tuple[str, str]] = []
    scalars = {a.name: a.text() for a in table.arguments if a.name in definition.inputs}
    made = [scalars[n] if n in scalars else definition.drawn(n, notes) for n in definition.inputs]
    inputs = f"[{', '.join(made)}]"
    custom = definition.value.get("custom_inputs_entrypoint")
    if custom:
        known = ", ".join(f"{a!r}: {a}" for a in (*definition.value["axes"],))
        known += "".join(f", {n!r}: {t}" for n, t in scalars.items())
        inputs = (
            f"[reference.{custom}({{{known}}}, device='cuda')[name] for name in {list(definition.inputs)!r}]"
        )
    outputs = ", ".join(f"({definition.shape(o)}, {o['dtype']!r})" for o in definition.outputs.values())
    text = _MODULE.format(
        name=definition.value.get("name", os.path.basename(path)),
        constants=table.constants(),
        derived=definition.lines(),
        names=", ".join(definition.inputs),
        inputs=inputs,
        outputs=f"[{outputs}]",
        count=len(definition.inputs),
    )
    return Reading(
        file,
        text,
        form="definition",
        modules={
            "reference.py": _reference(definition.value["reference"]),
            PUBLISHED: table.published(),
            SUPPORT: TEXT,
        },
        configs=table.configs,
        notes=notes,
        entries=["run"],
        constant=list(definition.constant),
        restrict=lambda kept: read(path, kept),
        variants=table.count,
    )
