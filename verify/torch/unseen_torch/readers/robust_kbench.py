"""Reads a task's directory of robust-kbench: func_forward.py and config_forward.json.

func_forward.py has forward_fn, Model, whose forward takes it as `fn`, and get_inputs. The configurations
are all products of one of init's, of the inputs' and of those that both share. A candidate has forward_fn or
forward."""

from __future__ import annotations

import ast
import itertools
import os
from typing import Any

from ..task import own_modules
from .atrex import load_json
from .compose import PUBLISHED, Table
from .reading import Reading, error, text_of
from .support import SUPPORT, TEXT

_KINDS = ("init", "input", "shared")
_MODULE = '''"""{name} of robust-kbench: inputs of its configurations for its Model."""

import func_forward
from unseen_published import VARIANTS, published_list
from unseen_support import with_function

{constants}
Model = func_forward.Model


def get_inputs():
    return list(func_forward.get_inputs({inputs}))


def get_init_inputs():
    return dict({init})


def unseen_solution(entry, writes):
    return with_function(entry, Model)
'''


def _parameters(tree: ast.Module, class_name: str | None, function: str) -> dict[str, Any]:
    """Returns a function's parameters with their literal defaults; one without has None."""
    for node in ast.walk(tree):
        body = node.body if isinstance(node, ast.ClassDef) and node.name == class_name else []
        for member in tree.body if class_name is None else body:
            if isinstance(member, ast.FunctionDef) and member.name == function:
                named = [a.arg for a in member.args.args if a.arg != "self"]
                given = member.args.defaults
                found: dict[str, Any] = dict.fromkeys(named)
                for name, default in zip(named[len(named) - len(given) :], given):
                    found[name] = default
                return {
                    **found,
                    **dict(zip((a.arg for a in member.args.kwonlyargs), member.args.kw_defaults)),
                }
    return {}


def _complete(values: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the arguments of a function: `values` and its literal defaults. None: one is missing."""
    found = {}
    for name, default in parameters.items():
        if name in values:
            found[name] = values[name]
        elif default is None:
            return None
        elif isinstance(default, (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp)):
            found[name] = ast.literal_eval(default)
    return found


def _products(path: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Returns `(name, init's values, the inputs' values)` of each product. Raises SourceError."""
    value = load_json(path, "an object of configurations")
    found = []
    for mode in ("single", "multi"):
        lists = [
            value.get(f"{mode}_{kind}_configs", []) if isinstance(value, dict) else [] for kind in _KINDS
        ]
        if not all(isinstance(each, list) and all(isinstance(c, dict) for c in each) for each in lists):
            raise error(
                f"{path}: a {mode} list holds no objects", "lists of configurations were", "correct it"
            )
        products = itertools.product(*(each or [{}] for each in lists)) if any(lists) else []
        for i, (init, inputs, shared) in enumerate(products):
            found.append((f"{mode}-{i + 1}", {**init, **shared}, {**inputs, **shared}))
    if not found:
        raise error(
            f"{path} has no configurations", "single_input_configs or multi_input_configs was", "add it"
        )
    return found


def _rows(
    path: str, of_init: dict[str, Any], of_inputs: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[str], list[tuple[str, str]]]:
    """Returns `(arguments of both functions by configuration, names, notes)`. Raises SourceError."""
    rows: list[dict[str, Any]] = []
    names: list[str] = []
    left = []
    for name, init, inputs in _products(path):
        made = _complete(init, of_init), _complete(inputs, of_inputs)
        unknown = [n for n in {**init, **inputs} if n not in of_init and n not in of_inputs]
        if unknown:
            left.append(f"{name}: it gives {unknown[0]}, which neither Model nor get_inputs takes")
        elif made[0] is None or made[1] is None:
            left.append(f"{name}: a parameter without default has no value")
        elif any(made[0][n] != made[1][n] for n in made[0].keys() & made[1].keys()):
            left.append(f"{name}: Model and get_inputs have different values of one name")
        elif {**made[0], **made[1]} not in rows:
            rows.append({**made[0], **made[1]})
            names.append(name)
    if not rows:
        raise error(
            f"{path}: no configuration is complete: {left[0]}",
            "values of all parameters and of no others were",
            "correct it",
        )
    return rows, names, [("variant", f"left out of the published configurations: {line}") for line in left]


def read(folder: str, wanted: list[int] | None = None) -> Reading:
    """Reads a task's directory. `wanted` are the variants that remain."""
    path = os.path.join(folder, "func_forward.py")
    try:
        tree = ast.parse(text_of(path))
    except SyntaxError as failure:
        raise error(f"{path}, line {failure.lineno}: {failure.msg}", "Python was", "correct it") from failure
    init, inputs = _parameters(tree, "Model", "__init__"), _parameters(tree, None, "get_inputs")
    rows, names, notes = _rows(os.path.join(folder, "config_forward.json"), init, inputs)
    table = Table(rows, names, [1.0] * len(rows), wanted)
    text = _MODULE.format(
        name=os.path.basename(os.path.abspath(folder)),
        constants=table.constants(),
        inputs=table.call(list(inputs)),
        init=table.call(list(init)),
    )
    modules = own_modules.read(folder, "import func_forward\n")
    modules.update({PUBLISHED: table.published(), SUPPORT: TEXT})
    return Reading(
        path,
        text,
        form="robust-kbench",
        modules=modules,
        configs=table.configs,
        notes=notes,
        entries=["forward_fn", "forward"],
        restrict=lambda kept: read(folder, kept),
        variants=table.count,
    )
