"""Writes the module in KernelBench's form that stands for a group of calls of a function (calls.py)."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from .calls import Group
from .compose import PUBLISHED, Table
from .reading import Reading
from .support import SUPPORT, TEXT

ALONE = """import reference
from torch.nn import Module as Model, Module as get_inputs, Module as get_init_inputs
"""  # a module of which only the reference is wanted
_MODULE = '''"""{name}: inputs of the published calls of its function."""

from math import inf, nan

{imported}import torch
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
        return called({function}, ({leaves}, ), self.told)


def get_inputs():
{body}

def get_init_inputs():
    return told()


def unseen_solution(entry, writes):
    return entry if isinstance(entry, type) else lambda *leaves: called(entry, leaves, told())
'''


class Parts(NamedTuple):
    """Parts of a form. `function` is the expression of the reference, `body` the body of get_inputs."""

    form: str
    function: str
    body: str
    notes: list[tuple[str, str]]
    entries: list[str]


Once = tuple[list[dict[str, Any]], list[str], list[float]]  # different rows, their names and weights


def merged(rows: list[dict[str, Any]], numbers: list[int], weights: list[float] | None = None) -> Once:
    """Returns different rows of the calls with these numbers. Weights of equal rows are added."""
    equal: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        equal.setdefault(repr(row), []).append(place)
    firsts = [places[0] for places in equal.values()]
    names = [f"call-{numbers[i] + 1}" for i in firsts]
    each = weights or [1.0] * len(rows)
    return [rows[i] for i in firsts], names, [sum(each[i] for i in places) for places in equal.values()]


def kept_text(table: Table, name: str, text: str) -> str:
    """Returns the text of an argument without tensors, after the choice of variants."""
    column = next((a for a in table.arguments if a.name == name), None)
    return column.text() if column is not None else text


def published(table: Table) -> str:
    """Returns the text of the module PUBLISHED, whose values may be types of torch."""
    return f"import torch\nfrom math import inf, nan\n\n{table.published()}"


def reading(path: str, group: Group, once: Once, parts: Parts, modules: dict[str, str]) -> Reading:
    """Returns the reading of a group of calls."""
    _, texts = group.rows()

    def made(kept: list[int] | None) -> Reading:
        table = Table(*once, kept)
        given = {n: kept_text(table, n, text) for n, text in texts.items()}
        told = [n for n in given if n in group.sized or given[n].startswith("VARIANTS")]
        text = _MODULE.format(
            name=os.path.splitext(os.path.basename(path))[0],
            imported="import reference\n" if "reference.py" in modules else "",
            constants=table.constants(),
            told=", ".join(f"{n!r}: {given[n]}" for n in told),
            leaves=", ".join(leaf for leaf, _ in group.first.leaves),
            arguments=group.arguments(lambda of: f"told[{of!r}]" if of in told else given[of]),
            function=parts.function,
            body=parts.body,
        )
        return Reading(
            path,
            text,
            form=parts.form,
            modules={**modules, PUBLISHED: published(table), SUPPORT: TEXT},
            configs=table.configs,
            notes=parts.notes,
            entries=parts.entries,
            restrict=made,
            variants=table.count,
        )

    return made(None)
