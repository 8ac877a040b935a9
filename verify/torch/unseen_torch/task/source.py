"""A task's source with every size in it replaceable.

It is a KernelBench file (Model, get_inputs, get_init_inputs, module-level constants) or a KernelBench-Hard directory
(reference.py, shapes.py).
"""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import linecache
import os
import re
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import own_modules
from .sizes import FUNCTIONS, PREFIX, Places

if TYPE_CHECKING:
    import torch

    from .description import Description
    from .expression import Sizes

MODULE = "unseen_task"  # the module name that the task's functions see


class SourceError(Exception):
    """Its text says what was found, what was expected and, after '--->', what to do."""


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

    def __init__(self, path: str, text: str, entry: str = "Model", directory: str | None = None) -> None:
        self.path, self.text, self.entry, self.directory = path, text, entry, directory
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.modules: dict[
            str, str
        ] = {}  # text by path of the modules from the task's folder (own_modules.py)
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
        places = Places(tree)
        places.find(parameters_of(tree, entry, "__init__"))
        self.sizes = places.sizes
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
        """Returns the published configurations, each as sizes by name. They are the source's own sizes or the SHAPES
        of shapes.py."""
        path = os.path.join(self.directory or "", "shapes.py")
        if not self.directory or not os.path.exists(path):
            return [self.published()]
        namespace: dict[str, Any] = {}
        try:
            with open(path, encoding="utf-8") as file:
                exec(compile(file.read(), "shapes.py", "exec"), namespace)
        except Exception as error:
            raise SourceError(
                f"shapes.py does not run: {type(error).__name__}: {error}; SHAPES, a list of dictionaries, was "
                "expected\n---> correct it"
            ) from error
        by_lower = {size.name.lower(): size.name for size in self.sizes}
        sets = []
        for shape in namespace.get("SHAPES", []):
            unknown = [key for key in shape if key.lower() not in by_lower]
            if unknown:
                raise SourceError(
                    f"shapes.py gives '{unknown[0]}', which is no size of reference.py; one of "
                    f"{', '.join(sorted(by_lower.values()))} was expected\n---> name it after a "
                    "constant there"
                )
            sets.append({**self.published(), **{by_lower[k.lower()]: int(v) for k, v in shape.items()}})
        return sets or [self.published()]


def tolerance(directory: str | None) -> tuple[dict[str, float], list[str]]:
    """Reads tolerances from problem.yaml. Returns `({dtype: atol and rtol}, unreadable lines)`.

    It reads lines `dtype: number` below `tolerance:`, which needs no YAML parser.
    """
    found: dict[str, float] = {}
    unread: list[str] = []
    inside = False
    try:
        with open(os.path.join(directory or "", "problem.yaml"), encoding="utf-8") as file:
            lines = file.read().splitlines() if directory else []
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError) as error:
        return {}, [f"problem.yaml: {error}"]
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].rstrip()
        if text and not text[0].isspace():
            inside = text.split(":")[0] == "tolerance"
            if not inside or text == "tolerance:":
                continue
        if not inside or not text:
            continue
        match = re.fullmatch(
            r"\s+[\"']?(?:torch\.)?(\w+)[\"']?\s*:\s*[\"']?([0-9.]+(?:[eE][-+]?[0-9]+)?)[\"']?", text
        )
        try:
            if match is None:
                raise ValueError(text)
            found[match[1]] = float(match[2])
        except ValueError:
            unread.append(
                f"problem.yaml, line {number}: '{text.strip()[:60]}'; a dtype and a number were expected"
            )
    return found, unread


def load(path: str, entry: str = "Model") -> Source:
    """Reads the source at `path`: a .py file, or a directory with reference.py."""
    directory = path if os.path.isdir(path) else None
    file = os.path.join(path, "reference.py") if directory else path
    if directory is None and os.path.basename(path) == "reference.py":
        directory = os.path.dirname(path)
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except OSError as error:
        raise SourceError(
            f"{file}: {error.strerror}; a task's source was expected\n---> check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{file} is no UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}; a task's source was "
            "expected\n---> save it as UTF-8"
        ) from error
    source = Source(file, text, entry, directory)
    if directory:
        source.modules = own_modules.read(directory, text)
    return source


def load_imported(folder: str, description: Description) -> Source:
    """Reads the source of the description (NAME.task) in `folder`, with the modules that the description holds."""
    source = load(os.path.join(folder, description["source"]["file"]), description["entry"])
    source.modules = description["source"].get("modules", {})
    return source
