"""Reads a file of TritonBench-T or KernelBench-X: a function, a line of `#`, and its tests.

The tests are run, and their calls of the function are the published configurations. A candidate defines the
function of the same name."""

from __future__ import annotations

import os
import re
import types
from typing import Any

from . import calls, composed, drawn, recorder
from .composed import ALONE
from .reading import Reading, error, text_of

_LINE = re.compile(r"^#{100,}[ \t]*$", re.M)
_SHARED = "../../../utils/data_utils.py"  # of KernelBench-X, beside the folder of its categories


def is_one(path: str) -> bool:
    """Tells whether a Python file is of this form."""
    return path.endswith(".py") and os.path.isfile(path) and len(_parts(text_of(path))) == 2


def _parts(text: str) -> list[str]:
    return _LINE.split(text, maxsplit=1)


def _function(path: str, head: str, tests: str) -> str:
    """Returns the name of the function that the tests call. Raises SourceError."""
    defined = re.findall(r"^def (\w+)", head, re.M)
    found = [name for name in defined if re.search(rf"\b{name}\(", tests)]
    if not found:
        raise error(
            f"{path}: its tests call none of {', '.join(defined) or 'no function'}",
            "tests of a function above the line of # were",
            "call it in a function test_NAME",
        )
    return str(found[-1])


def _recorded(path: str, modules: dict[str, str], tests: str, name: str) -> tuple[Any, recorder.Recorder]:
    """Returns `(the function, its recorded calls)`. Raises SourceError."""
    from ..task import failure as failures
    from ..task.source import Source

    try:
        module: types.ModuleType = Source(Reading(path, ALONE, modules=modules)).execute({})
        function = getattr(module.reference, name)
        found, why = recorder.run(tests, path, vars(module.reference), name)
    except Exception as raised:
        failed = failures.failed(raised)
        raise error(
            f"{path} does not run: {failed}", "a function and its tests were", failed.hint
        ) from raised
    if not found.calls:
        raise error(
            f"{path}: its tests call {name} never{': ' + why if why else ''}",
            "a call that runs on a CPU was",
            "correct the tests",
        )
    return function, found


def read(path: str) -> Reading:
    """Reads a file."""
    parts = _parts(text_of(path))
    if len(parts) != 2:
        raise error(f"{path} has no line of 100 #", "a function, such a line and tests were", "add it")
    head, tests = parts
    name = _function(path, head, tests)
    # tests may import the function from the file itself
    modules = {"reference.py": head, os.path.basename(path): f"from reference import {name}\n"}
    shared = os.path.join(os.path.dirname(path), _SHARED)
    if re.search(r"\bdata_utils\b", tests) and os.path.exists(shared):
        modules["data_utils.py"] = text_of(shared)
    function, found = _recorded(path, modules, tests, name)
    group, notes, numbers = calls.grouped(function, found.calls, path)
    body, note = drawn.body(group, found)
    once = composed.merged(group.rows()[0], numbers)
    parts_of = composed.Parts("tritonbench", f"reference.{name}", body, [*notes, ("inputs", note)], [name])
    return composed.reading(path, group, once, parts_of, modules)
