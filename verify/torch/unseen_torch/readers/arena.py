"""Reads a task's directory of AgentKernelArena: config.yaml, and in pytorch_code_module a file with a module.

Its get_inputs yields the inputs of each published configuration, and get_init_inputs returns the
constructor's arguments. pytorch_code_functional has the same module with its forward as a function,
`module_fn`. A candidate is such a function, or a class."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Callable
from typing import Any

from . import calls, drawn, recorder
from .compose import PUBLISHED, Table
from .composed import ALONE, kept_text, merged, published
from .reading import Reading, SourceError, error, text_of, whole
from .support import SUPPORT, TEXT

_FOLDERS = ("pytorch_code_module", "pytorch_code_functional")
_MODULE = '''"""{name} of AgentKernelArena: its inputs for its module."""

from math import inf, nan

import reference
import torch
from unseen_published import VARIANTS, published_list
from unseen_support import with_function
{functional}
{constants}
Model = reference.{model}


def drawn():
{body}

def get_inputs():
    {leaves}, = drawn()
    return [{inputs}]


def get_init_inputs():
    return dict({init})


def unseen_solution(entry, writes):
    return with_function(entry, {served})
'''


def _files(folder: str) -> tuple[str, str | None]:
    """Returns the paths of both modules; a task may have none of functions. Raises SourceError."""
    config = os.path.join(folder, "config.yaml")
    named = re.search(rf"{_FOLDERS[0]}/(\S+\.py)", text_of(config))
    if named is None:
        raise error(f"{config} names no file of {_FOLDERS[0]}", "one in source_file_path was", "add it")
    functional = os.path.join(folder, _FOLDERS[1], named[1].removesuffix(".py") + "_func.py")
    return os.path.join(folder, _FOLDERS[0], named[1]), functional if os.path.exists(functional) else None


def _class(path: str) -> str:
    """Returns the name of a file's module: the class that the file is named after, or its last one."""
    try:
        names = [n.name for n in ast.parse(text_of(path)).body if isinstance(n, ast.ClassDef)]
    except SyntaxError as failure:
        raise error(f"{path}, line {failure.lineno}: {failure.msg}", "Python was", "correct it") from failure
    if not names:
        raise error(f"{path} has no class", "a module of torch was", "write it")
    stem = os.path.splitext(os.path.basename(path))[0].removesuffix("_func")
    return next((name for name in names if stem.endswith(f"_{name}")), names[-1])


def _init(path: str, model: Any, value: Any) -> dict[str, Any]:
    """Returns the constructor's arguments by name. Raises SourceError."""
    from ..task.source import arguments_of

    args, named = arguments_of(value)
    bound = inspect.signature(model).bind(*args, **named).arguments
    if any(inspect.signature(model).parameters[n].kind is inspect.Parameter.VAR_POSITIONAL for n in bound):
        raise error(f"{path}: {model.__name__} takes any number of arguments", "named ones were", "name them")
    return {**bound, **bound.pop("kwargs", {})}


def _cases(path: str, module: Any) -> tuple[list[recorder.Call], recorder.Recorder]:
    """Returns `(the inputs of each configuration, what made them)`."""
    found = recorder.Recorder()
    with found.watch():
        value = module.get_inputs()
        is_one = isinstance(value, (list, tuple)) and not all(isinstance(c, (list, tuple)) for c in value)
        cases = [list(case) for case in ([value] if is_one else value)]
    return [recorder.Call(tuple(c), {}, {id(t): t for t in recorder.tensors(c)}) for c in cases], found


def _function(model: Any, init: dict[str, Any]) -> Callable[..., Any]:
    """Returns the function of a constructed module's inputs and of its constructor's arguments. Names of the
    latter begin with `init_`."""
    import torch

    def function(*inputs: Any, **named: Any) -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            made = model(**{n.removeprefix("init_"): v for n, v in named.items()})
        return made(*inputs)

    kinds = inspect.Parameter
    takes = [p.name for p in inspect.signature(model.forward).parameters.values() if p.name != "self"]
    given = [kinds(n, kinds.POSITIONAL_OR_KEYWORD, default=None) for n in takes]
    given += [kinds(f"init_{n}", kinds.KEYWORD_ONLY, default=None) for n in init]
    vars(function).update(__name__=model.__name__, __signature__=inspect.Signature(given))
    return function


class _Task:
    """The parts of a task's module."""

    def __init__(self, folder: str) -> None:
        from ..task import failure as failures
        from ..task.source import Source

        self.folder = folder
        self.path, functional = _files(folder)
        self.model = _class(self.path)
        self.modules = {"reference.py": text_of(self.path)}
        self.functional = _class(functional) if functional else None
        if functional:
            self.modules["functional.py"] = text_of(functional)
        try:
            module = Source(Reading(self.path, ALONE, modules=self.modules)).execute({}).reference
            cases, self.recorded = _cases(self.path, module)
            model = getattr(module, self.model)
            self.init = _init(self.path, model, module.get_init_inputs())
        except SourceError:
            raise
        except Exception as raised:
            failed = failures.failed(raised)
            expected = "get_inputs that yields lists, and get_init_inputs, were"
            raise error(f"{self.path} does not run: {failed}", expected, failed.hint) from raised
        for case in cases:
            case.kwargs.update({f"init_{n}": v for n, v in self.init.items()})
        self.group, self.notes, numbers = calls.grouped(_function(model, self.init), cases, self.path)
        rows, self.texts = self.group.rows()
        for name, value in self.init.items():
            if f"init_{name}" not in self.group.sized and whole(value) and value > 1:
                self.texts[f"init_{name}"] = f"init_{name}"
                for row in rows:
                    row[f"init_{name}"] = value
        self.body, note = drawn.body(self.group, self.recorded)
        self.notes.append(("inputs", note))
        self.merged = merged(rows, numbers)

    def text(self, table: Table) -> str:
        """Returns the module in KernelBench's form."""
        given = {n: kept_text(table, n, text) for n, text in self.texts.items()}
        inputs = self.group.arguments(lambda name: "" if name.startswith("init_") else given[name])
        return _MODULE.format(
            name=os.path.basename(os.path.abspath(self.folder)),
            functional="import functional\n" if self.functional else "",
            constants=table.constants(),
            model=self.model,
            body=self.body,
            leaves=", ".join(leaf for leaf, _ in self.group.first.leaves),
            inputs=", ".join(part for part in inputs.split(", ") if not part.startswith("init_")),
            init=", ".join(f"{n}={given[f'init_{n}']}" for n in self.init),
            served=f"functional.{self.functional}" if self.functional else "Model",
        )


def read(folder: str) -> Reading:
    """Reads a task's directory."""
    task = _Task(folder)

    def composed(kept: list[int] | None) -> Reading:
        table = Table(*task.merged, kept)
        return Reading(
            task.path,
            task.text(table),
            form="agent-kernel-arena",
            modules={**task.modules, PUBLISHED: published(table), SUPPORT: TEXT},
            configs=table.configs,
            notes=task.notes,
            entries=["module_fn", "forward", task.model],
            restrict=composed,
            variants=table.count,
        )

    return composed(None)
