"""Reads an operator's directory of Atrex-Bench.

reference.py has Model, and input.py has _make_inputs, which returns forward's arguments by name. shapes.json
has the published configurations: `init_kwargs` of Model and `input_kwargs` of _make_inputs. metadata.json has
the number of calls in production, `call_count`."""

from __future__ import annotations

import json
import os
from typing import Any

from ..task import own_modules
from .compose import PUBLISHED, Table
from .reading import Reading, error, text_of
from .support import SUPPORT, TEXT

CHECK = {"atol": 1e-2, "rtol": 5e-2}  # of the benchmark's own comparison

_MODULE = '''"""{name} of Atrex-Bench: input.py's inputs for reference.py's Model."""

import reference
from input import _make_inputs
from unseen_published import VARIANTS, published_list
from unseen_support import by_name, in_order

{constants}
Model = reference.Model


def get_inputs():
    return in_order(Model.forward, _make_inputs({inputs}))


def get_init_inputs():
    return dict({init})


def unseen_solution(entry, writes):
    return by_name(entry, Model.forward)
'''


def load_json(path: str, expected: str) -> Any:
    """Returns a JSON file's content. Raises SourceError."""
    try:
        return json.loads(text_of(path))
    except json.JSONDecodeError as failure:
        raise error(
            f"{path}, line {failure.lineno}: {failure.msg}", f"{expected} was", "correct it"
        ) from failure


def _rows(folder: str, shapes: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Returns (arguments of both functions by configuration, names of init's, names of the inputs')."""
    init: dict[str, None] = {}
    inputs: dict[str, None] = {}
    for shape in shapes.values():
        init.update(dict.fromkeys(shape.get("init_kwargs") or {}))
        inputs.update(dict.fromkeys(shape.get("input_kwargs") or {}))
    rows = []
    for key, shape in shapes.items():
        of_init, of_inputs = shape.get("init_kwargs") or {}, shape.get("input_kwargs") or {}
        for name in of_init.keys() & of_inputs.keys():
            if of_init[name] != of_inputs[name]:
                raise error(
                    f"{folder}/shapes.json: configuration {key} gives {name} = {of_init[name]} to Model and "
                    f"{of_inputs[name]} to _make_inputs",
                    "one value was",
                    "rename one of them",
                )
        rows.append({**of_init, **of_inputs})
    return rows, list(init), list(inputs)


def _weights(folder: str, keys: list[str]) -> list[float]:
    path = os.path.join(folder, "metadata.json")
    shapes = load_json(path, "an object").get("shapes", {}) if os.path.exists(path) else {}
    return [float(shapes.get(key, {}).get("call_count") or 1) for key in keys]


def read(folder: str, wanted: list[int] | None = None) -> Reading:
    """Reads an operator's directory. `wanted` are the variants that remain."""
    shapes = load_json(os.path.join(folder, "shapes.json"), "an object of configurations")
    if not isinstance(shapes, dict) or not shapes:
        raise error(f"{folder}/shapes.json has no configurations", "an object of them was", "correct it")
    rows, init, inputs = _rows(folder, shapes)
    table = Table(rows, list(shapes), _weights(folder, list(shapes)), wanted)
    text = _MODULE.format(
        name=os.path.basename(os.path.abspath(folder)),
        constants=table.constants(),
        inputs=table.call(inputs),
        init=table.call(init),
    )
    modules = own_modules.read(folder, "import reference, input\n")
    modules.update({PUBLISHED: table.published(), SUPPORT: TEXT})
    return Reading(
        os.path.join(folder, "reference.py"),
        text,
        form="atrex",
        modules=modules,
        configs=table.configs,
        restrict=lambda kept: read(folder, kept),
        variants=table.count,
    )
