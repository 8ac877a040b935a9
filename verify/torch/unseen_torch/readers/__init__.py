"""Readers of tasks in the forms of benchmarks. Each gives a module in KernelBench's form (reading.py).

A form is a row of FORMS: its name, what marks a path as one of it, and its reader.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from . import (
    arena,
    atrex,
    backendbench,
    definition,
    gpu_mode,
    input_groups,
    kernelbench,
    robust_kbench,
    tritonbench,
)
from .reading import Config, Reading, SourceError, error

__all__ = ["FORMS", "Config", "Reading", "SourceError", "read"]


class Form(NamedTuple):
    """A form of tasks. `marks` are files that its directories have; without any, a path of it is a file."""

    name: str
    marks: tuple[str, ...]
    read: Callable[[str], Reading]


# A directory is of the first form whose marks it has.
FORMS = (
    Form("atrex", ("reference.py", "input.py", "shapes.json"), atrex.read),
    Form("definition", ("definition.json",), definition.read),
    Form("gpu-mode", ("task.yml", "reference.py"), gpu_mode.read),
    Form("robust-kbench", ("func_forward.py", "config_forward.json"), robust_kbench.read),
    Form("agent-kernel-arena", ("config.yaml", "pytorch_code_module"), arena.read),
    Form("kernelbench-hard", ("reference.py",), kernelbench.read_directory),
    Form("input-groups", (), input_groups.read),
    Form("backendbench", (), backendbench.read),
    Form("tritonbench", (), tritonbench.read),
    Form("kernelbench", (), kernelbench.read_file),
)


def _recognized(path: str) -> Form:
    if not os.path.isdir(path):
        name = "definition" if path.endswith(".json") else "kernelbench"
        name = "input-groups" if input_groups.is_one(path) else name
        name = "tritonbench" if tritonbench.is_one(path) else name
        name = "backendbench" if backendbench.is_one(path) else name
        return next(form for form in FORMS if form.name == name)
    for form in FORMS:
        if form.marks and all(os.path.exists(os.path.join(path, mark)) for mark in form.marks):
            return form
    raise error(
        f"{path} is a directory of no known form",
        f"one of {', '.join(f'{f.name} ({chr(32).join(f.marks)})' for f in FORMS if f.marks)} was",
        "give the task's file or directory, or name its form with --as",
    )


def read(path: str, form: str | None = None) -> Reading:
    """Reads the task at `path`. Without `form` its form is recognized. Raises SourceError."""
    if os.path.basename(path) == "reference.py":
        path = os.path.dirname(path) or "."
    if form is None:
        return _recognized(path).read(path)
    for one in FORMS:
        if one.name == form:
            return one.read(path)
    raise error(
        f"--as {form}: there is no such form",
        f"one of {', '.join(f.name for f in FORMS)} was",
        "name one of these",
    )
