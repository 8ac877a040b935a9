"""A task's source with every size in it replaceable.

The readers (unseen_torch.readers) give it as a module in KernelBench's form: Model, get_inputs, get_init_inputs and
module-level constants.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import linecache
import os
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import readers
from ..readers.reading import Reading, text_of
from ..readers.reading import SourceError as SourceError
from . import devices, own_modules
from .sizes import FUNCTIONS, PREFIX, Places
from .written_extents import expressions

if TYPE_CHECKING:
    import torch

    from .description import Description
    from .expression import Sizes

MODULE = "unseen_task"  # the module name that the task's functions see


def parameters_of(tree: ast.Module, class_name: str, method: str) -> list[str]:
    """Returns the names of a method's parameters after self, from the tree alone."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == method:
                    return [a.arg for a in member.args.args[1:]]
    return []


class NoTask(TypeError):
    """Model, get_inputs or get_init_inputs is of the wrong kind, or a function returned no list of arguments."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


def _kind(value: Any) -> str:
    return type(value).__name__.replace("FakeTensor", "Tensor")


def _listed(function: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise NoTask(
            f"{function} returned a {_kind(value)}; a list was expected",
            "let it return a list of arguments, in the order of the parameters",
        )
    return list(value)


def _require_names(module: types.ModuleType, entry: str) -> None:
    import torch

    made = getattr(module, entry, None)
    if not isinstance(made, type) or not issubclass(made, torch.nn.Module):
        found = (
            f"a class of {', '.join(b.__name__ for b in made.__bases__)}"
            if isinstance(made, type)
            else f"a {_kind(made)}"
        )
        raise NoTask(
            f"{entry} is {found}; a class derived from torch.nn.Module was expected",
            "derive it, as in KernelBench's tasks",
        )
    for name in FUNCTIONS:
        if not callable(getattr(module, name, None)):
            raise NoTask(
                f"{name} is a {_kind(getattr(module, name, None))}; a function was expected",
                "write it, as in KernelBench's tasks",
            )


def arguments_of(init: Any) -> tuple[list[Any], dict[str, Any]]:
    """Returns `(positional, by name)` from get_init_inputs's result: a list, a dictionary, or [list, dictionary] as
    in KernelBook."""
    if isinstance(init, dict):
        return [], init
    if (
        len(init) == 2
        and isinstance(init[0], (list, tuple))
        and isinstance(init[1], dict)
        and (init[1] or not init[0])
    ):
        return list(init[0]), init[1]
    return list(init), {}


class Instance:
    """A source executed with sizes. It constructs models and draws inputs."""

    def __init__(self, module: types.ModuleType, entry: str) -> None:
        _require_names(module, entry)
        self.module, self.entry = module, entry
        init = module.get_init_inputs()
        self.init_args, self.init_named = arguments_of(
            init if isinstance(init, dict) else _listed("get_init_inputs", init)
        )

    def model(
        self,
        cls: Callable[..., Any] | None = None,
        device: torch.device | str | None = None,
        weights: dict[str, torch.Tensor] | None = None,
    ) -> torch.nn.Module:
        """Constructs a module of `cls` (default: the task's own class). `weights`, by name of the state dict, are
        loaded into it."""
        from . import weight

        model: torch.nn.Module = (cls or getattr(self.module, self.entry))(
            *copy.deepcopy(self.init_args), **copy.deepcopy(self.init_named)
        )
        if device is not None:
            model = model.to(device)
        if weights is not None:
            weight.load(model, weights)
        return model

    def inputs(self) -> list[Any]:
        """Returns the inputs of get_inputs as a list."""
        return _listed("get_inputs", self.module.get_inputs())

    @property
    def input_names(self) -> list[str]:
        """Returns the names of forward's parameters in order."""
        forward = getattr(self.module, self.entry).forward
        return [p for p in inspect.signature(forward).parameters if p != "self"]


class Source:
    """A task's syntax tree and its sizes."""

    def __init__(self, reading: Reading, entry: str = "Model") -> None:
        self.reading, self.entry = reading, entry
        self.path, self.text = path, text = reading.path, reading.text
        self.modules = reading.modules  # text by path of the modules from the task's folder (own_modules.py)
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.hanging: Exception | None = (
            None  # the failure by which fake.py found that shapes depend on values
        )
        try:
            tree = ast.parse(text, filename=os.path.basename(path))
        except (SyntaxError, ValueError) as error:
            line = str(error)
            if isinstance(error, SyntaxError) and error.lineno:
                line = f"line {error.lineno}: {error.msg}"
            raise SourceError(
                f"{path} is no Python: {line}; a task's source was expected\n---> correct it"
            ) from error
        self._require(tree)
        devices.replace(tree)
        places = Places(tree)
        places.find(parameters_of(tree, entry, "__init__"))
        self.sizes = places.sizes
        self.expressions = expressions(tree, PREFIX)  # of sizes, as get_inputs computes extents
        self.code = compile(tree, os.path.basename(path), "exec")

    def _require(self, tree: ast.Module) -> None:
        """Raises SourceError if one of the three names is missing."""
        if not tree.body:
            raise SourceError(
                f"{self.path} is empty; class {self.entry}, get_inputs and get_init_inputs were expected\n"
                "---> give the task's file"
            )
        found = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        found |= {
            t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
        }
        imported = any(isinstance(n, ast.ImportFrom) for n in tree.body)
        for name in (self.entry, *FUNCTIONS):
            if name not in found and not imported:
                raise SourceError(
                    f"{self.path} has no {name}; class {self.entry}, get_inputs and get_init_inputs "
                    "were expected\n---> write it, as in KernelBench's tasks"
                )

    def published(self) -> Sizes:
        """Returns all sizes as published."""
        return {size.name: size.value for size in self.sizes}

    def execute(self, sizes: Sizes) -> types.ModuleType:
        """Executes the source as a module with `sizes`, the others as published."""
        module = types.ModuleType(MODULE)
        module.__file__ = os.path.basename(self.path)
        module.__dict__[devices.NAME] = devices.here
        for name, value in {**self.published(), **sizes}.items():
            module.__dict__[PREFIX + name] = value
        sys.modules[MODULE] = module
        if self.modules:
            module.__dict__["__builtins__"] = own_modules.OwnModules(self.modules, MODULE).builtins
            module.__package__ = MODULE
        linecache.cache[module.__file__] = (len(self.text), None, self.text.splitlines(True), module.__file__)
        exec(self.code, module.__dict__)
        return module

    def instance(self, sizes: Sizes) -> Instance:
        """Executes the source with `sizes` and gets its constructor's arguments."""
        return Instance(self.execute(sizes), self.entry)

    def published_sets(self) -> list[Sizes]:
        """Returns the published configurations, each as sizes by name. Without any, it is the text's own sizes."""
        by_lower = {size.name.lower(): size.name for size in self.sizes}
        sets = []
        for config in self.reading.configs:
            unknown = [key for key in config.values if key.lower() not in by_lower]
            if unknown:
                raise SourceError(
                    f"the configuration {config.name} gives '{unknown[0]}', which is no size of {self.path}; one of "
                    f"{', '.join(sorted(by_lower.values()))} was expected\n---> name it after a constant there"
                )
            sets.append(
                {**self.published(), **{by_lower[k.lower()]: int(v) for k, v in config.values.items()}}
            )
        return sets or [self.published()]

    def published_notes(self) -> list[str]:
        """Returns what the task knows of each published configuration, as its line's comment says it."""
        return [config.note() for config in self.reading.configs] or [""]


def load(path: str, form: str | None = None) -> Source:
    """Reads the task at `path` by the reader of its form, or of the form that is recognized."""
    return Source(readers.read(path, form))


def load_imported(folder: str, description: Description) -> Source:
    """Reads the source of the description (NAME.task) in `folder`, with the modules that the description holds."""
    entry = description["source"]
    path = os.path.join(folder, entry["file"])
    reading = Reading(path, text_of(path), modules=entry.get("modules", {}))
    return Source(reading, description["entry"])
