"""Reads a file of TritonBench-T or KernelBench-X: a function, a line of `#`, and its tests.

The tests are run, and their calls of the function are the published configurations. A candidate defines the
function of the same name."""

from __future__ import annotations

import os
import re
import types
from typing import Any

from ..task import failure as failures
from . import calls, drawn, recorder
from .compose import PUBLISHED, Table
from .reading import Reading, error, text_of
from .support import SUPPORT, TEXT

_LINE = re.compile(r"^#{100,}[ \t]*$", re.M)
_SHARED = "../../../utils/data_utils.py"  # of KernelBench-X, beside the folder of its categories
ALONE = """import reference
from torch.nn import Module as Model, Module as get_inputs, Module as get_init_inputs
"""
_MODULE = '''"""{name}: inputs of its tests for its function."""

from math import inf, nan

import reference
import torch
import torch.nn as nn
from unseen_published import VARIANTS, published_list

{constants}

def told():
    return {{{told}}}


def called(function, leaves, told):
    {leaves}, = leaves
    return function({arguments})


class Model(nn.Module):
    def __init__(self, **told):
        super().__init__()
        self.told = told

    def forward(self, {leaves}):
        return called(reference.{function}, ({leaves}, ), self.told)


def get_inputs():
{body}

def get_init_inputs():
    return told()


def unseen_solution(entry, writes):
    return entry if isinstance(entry, type) else lambda *leaves: called(entry, leaves, told())
'''


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


def merged(
    rows: list[dict[str, Any]], numbers: list[int]
) -> tuple[list[dict[str, Any]], list[str], list[float]]:
    """Returns `(different rows, their names, how often each is called)`."""
    counts: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        counts.setdefault(repr(row), []).append(place)
    firsts = [places[0] for places in counts.values()]
    names = [f"call-{numbers[i] + 1}" for i in firsts]
    return [rows[i] for i in firsts], names, [float(len(places)) for places in counts.values()]


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
    rows, texts = group.rows()
    body, note = drawn.body(group, found)
    once = merged(rows, numbers)

    def composed(kept: list[int] | None) -> Reading:
        table = Table(*once, kept)
        given = {n: kept_text(table, n, text) for n, text in texts.items()}
        told = [n for n in given if n in group.sized or given[n].startswith("VARIANTS")]
        text = _MODULE.format(
            name=os.path.splitext(os.path.basename(path))[0],
            constants=table.constants(),
            told=", ".join(f"{n!r}: {given[n]}" for n in told),
            leaves=", ".join(leaf for leaf, _ in group.first.leaves),
            arguments=group.arguments(lambda of: f"told[{of!r}]" if of in told else given[of]),
            function=name,
            body=body,
        )
        published = f"import torch\nfrom math import inf, nan\n\n{table.published()}"
        return Reading(
            path,
            text,
            form="tritonbench",
            modules={**modules, PUBLISHED: published, SUPPORT: TEXT},
            configs=table.configs,
            notes=[*notes, ("inputs", note)],
            entries=[name],
            restrict=composed,
            variants=table.count,
        )

    return composed(None)


def kept_text(table: Table, name: str, text: str) -> str:
    """Returns the text of an argument without tensors, after the choice of variants."""
    column = next((a for a in table.arguments if a.name == name), None)
    return column.text() if column is not None else text
