"""Reads a task's directory of gpu-mode: task.yml and reference.py.

reference.py has generate_input(**spec) and ref_kernel(data). task.yml has the specs: `tests` and `benchmarks`
are lists of mappings in braces. A candidate has custom_kernel(data)."""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from . import structure
from .compose import PUBLISHED, Table
from .reading import Reading, error, text_of
from .support import SUPPORT, TEXT

_MODULE = '''"""{name} of gpu-mode: generate_input's data for ref_kernel."""

import reference
import torch.nn as nn
from unseen_published import STRUCTURE, VARIANTS, published_list
from unseen_support import Data, drawn_seed

{constants}
data = Data(STRUCTURE)


class Model(nn.Module):
    def forward(self, {leaves}):
        return reference.ref_kernel(data.packed([{leaves}]))


def generated():
    return reference.generate_input({spec})


def get_inputs():
    return data.leaves(generated())


def get_init_inputs():
    return []


def unseen_solution(entry, writes):
    return lambda *leaves: entry(data.packed(leaves))
'''
_WORDS = {"true": "True", "false": "False", "null": "None", "yes": "True", "no": "False"}


def _mapping(path: str, number: int, text: str) -> dict[str, Any]:
    """Returns the mapping of a list's item. Raises SourceError."""
    plain = re.sub(r"\b(true|false|null|yes|no)\b(?=\s*[,}])", lambda m: _WORDS[m[1]], text)
    try:
        value = ast.literal_eval(re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', plain))
        if not isinstance(value, dict):
            raise ValueError(text)
        return value
    except (ValueError, SyntaxError) as failure:
        raise error(
            f"{path}, line {number}: '{text[:60]}'",
            "a mapping in braces was",
            "write it so: - {size: 128, seed: 1}",
        ) from failure


def items(path: str) -> dict[str, list[dict[str, Any]]]:
    """Returns the lists of mappings in task.yml, by key. Texts in blocks are skipped."""
    found: dict[str, list[dict[str, Any]]] = {}
    key = ""
    for number, line in enumerate(text_of(path).splitlines(), 1):
        text = re.sub(r"\s#.*$", "", line).rstrip()
        if text and not text[0].isspace() and not text.startswith(("-", "#")):
            key = text.split(":")[0]
        match = re.fullmatch(r"\s*-\s*(\{.*\})", text)
        if match and key in ("files", "tests", "benchmarks"):
            found.setdefault(key, []).append(_mapping(path, number, match[1]))
    return found


def _value(path: str, key: str) -> str:
    match = re.search(rf"^{key}:\s*[\"']?(\w+)", text_of(path), re.M)
    return match[1] if match else ""


def _modules(folder: str, files: list[dict[str, Any]]) -> dict[str, str]:
    """Returns the Python files that task.yml lists, by the names under which the benchmark copies them."""
    listed = {str(f.get("name")): str(f.get("source")) for f in files}
    listed.setdefault("reference.py", "reference.py")
    return {
        name: text_of(os.path.join(folder, source))
        for name, source in listed.items()
        if name.endswith(".py") and not source.startswith("@") and name not in ("eval.py", "submission.py")
    }


def _returned(text: str) -> list[str]:
    """Returns the names in generate_input's last return of a tuple of names."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == "generate_input":
            for inner in reversed(list(ast.walk(node))):
                if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Tuple):
                    return [
                        e.id if isinstance(e, ast.Name) else f"x{i}" for i, e in enumerate(inner.value.elts)
                    ]
    return []


def _specs(folder: str, path: str) -> tuple[list[dict[str, Any]], list[str], dict[str, str]]:
    """Returns `(specs, their names, modules)`. Raises SourceError."""
    lists = items(path)
    if _value(path, "lang") == "cu":
        raise error(f"{path}: its language is cu", "py was", "write reference.py for it")
    if _value(path, "multi_gpu") == "true" or any("world_size" in s for s in lists.get("tests", [])):
        raise error(f"{path} is for several GPUs", "a task of one GPU was", "unseen verifies on one GPU only")
    specs, names = [], []
    for key in ("tests", "benchmarks"):
        for i, spec in enumerate(lists.get(key, [])):
            specs.append({k: v for k, v in spec.items() if k != "seed"})
            names.append(f"{key[:-1]}-{i + 1}")
    if not specs:
        raise error(f"{path} has no tests and no benchmarks", "a list of mappings in braces was", "add one")
    return specs, names, _modules(folder, lists.get("files", []))


def read(folder: str, wanted: list[int] | None = None) -> Reading:
    """Reads a task's directory. `wanted` are the variants that remain."""
    path = os.path.join(folder, "task.yml")
    specs, names, modules = _specs(folder, path)
    table = Table(specs, names, [1.0] * len(specs), wanted)
    takes_seed = re.search(r"def generate_input\([^)]*\bseed\b", modules["reference.py"]) is not None
    spec = ", ".join([table.call()] + ["seed=drawn_seed()"] * takes_seed)
    reading = Reading(
        os.path.join(folder, "reference.py"),
        "",
        form="gpu-mode",
        modules={**modules, SUPPORT: TEXT},
        configs=table.configs,
        entries=["custom_kernel"],
        restrict=lambda kept: read(folder, kept),
        variants=table.count,
    )

    def compose(found: structure.Structure, leaves: list[str]) -> None:
        reading.modules[PUBLISHED] = f"STRUCTURE = {found!r}\n{table.published()}"
        reading.text = _MODULE.format(
            name=os.path.basename(os.path.abspath(folder)),
            constants=table.constants(),
            leaves=", ".join(leaves),
            spec=spec,
        )

    compose(("tuple", []), ["x"])
    found = structure.of(reading, lambda module: module.generated(), _returned(modules["reference.py"]))
    compose(*found)
    return reading
