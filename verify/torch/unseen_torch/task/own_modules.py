"""Modules in a task's folder beside its reference.py.

Only the task's source can import them. They may therefore have any name, and a candidate's modules with the same
names are separate.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import os
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import devices

# loaded before, so they keep their names
LIBRARIES = {*sys.stdlib_module_names, "torch", "triton", "numpy"}


def _imported(text: str) -> Iterator[tuple[int, str]]:
    """Yields the imported names with their levels. `from a import b` gives a and a.b."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((0, a.name) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield node.level, base
            yield from ((node.level, f"{base}.{a.name}".lstrip(".")) for a in node.names)


def _paths(name: str) -> Iterator[str]:
    """Yields the possible paths of a module with that dotted name and of the packages above it."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth])
        yield from (path + ".py", path + "/__init__.py")


def read(folder: str, text: str) -> dict[str, str]:
    """Returns `{path below the folder: text}` of all modules that `text` imports from it, directly or indirectly."""
    found, waiting = {}, [("", text)]
    while waiting:
        inside, each = waiting.pop()
        try:
            names = list(_imported(each))
        except (SyntaxError, ValueError):
            continue  # the module that imports it gets the error
        for level, name in names:
            if level == 0 and name.split(".")[0] in LIBRARIES:
                continue
            above = inside.split("/")[:-level] if level else []
            for path in _paths(".".join([*above, name]).strip(".")):
                place = os.path.join(folder, path)
                if path not in found and os.path.isfile(place):
                    with open(place, encoding="utf-8") as file:
                        found[path] = file.read()
                    waiting.append((path, found[path]))
    return found


class OwnModules:
    """The `__import__` of a task's source. It looks among the task's own modules first, then among all others."""

    def __init__(self, texts: dict[str, str], prefix: str) -> None:
        self.texts, self.prefix = texts, prefix
        self.made: dict[str, types.ModuleType] = {}
        self.builtins = {**vars(builtins), "__import__": self.find_and_load}

    def _path(self, name: str) -> str | None:
        base = name.replace(".", "/")
        return next((p for p in (base + ".py", base + "/__init__.py") if p in self.texts), None)

    def _is_folder(self, name: str) -> bool:
        return any(p.startswith(name.replace(".", "/") + "/") for p in self.texts)

    def _is_own(self, name: str) -> bool:
        return self._path(name) is not None or self._is_folder(name)

    def load(self, name: str) -> types.ModuleType:
        if name in self.made:
            return self.made[name]
        above, _, last = name.rpartition(".")
        parent, path = self.load(above) if above else None, self._path(name)
        full = f"{self.prefix}.{name}"
        module = types.ModuleType(full)
        is_package = path is None or path.endswith("/__init__.py")
        module.__package__ = full if is_package else full.rpartition(".")[0]
        module.__dict__["__builtins__"], module.__file__ = self.builtins, path
        if is_package:
            module.__path__ = []
        self.made[name] = sys.modules[full] = module
        try:
            tree = ast.parse(self.texts.get(path or "", ""), path or name)
            devices.replace(tree)
            module.__dict__[devices.NAME] = devices.here
            exec(compile(tree, path or name, "exec"), module.__dict__)
        except BaseException:
            del self.made[name], sys.modules[full]
            raise
        if parent is not None:
            setattr(parent, last, module)
        return module

    def find_and_load(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        if level:
            full = importlib.util.resolve_name("." * level + name, (globals or {}).get("__package__") or "")
            name = full[len(self.prefix) + 1 :] if full.startswith(self.prefix) else full
        top = name.split(".")[0]
        if name and not self._is_own(top):
            return builtins.__import__(name, globals, locals, fromlist, 0)
        if name and not self._is_own(name):
            raise ModuleNotFoundError(f"No module named '{name}' in the task's folder", name=name)
        module = self.load(name) if name else sys.modules[self.prefix]
        for each in fromlist or ():
            inner = f"{name}.{each}".lstrip(".")
            if not hasattr(module, each) and self._is_own(inner):
                setattr(module, each, self.load(inner))
        return module if fromlist else self.load(top)
