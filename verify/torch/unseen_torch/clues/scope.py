"""Names of a file: which expression defines each, and which ones vary while the code runs."""

from __future__ import annotations

import ast
from typing import Any, Union

Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Inner = (*Function, ast.ClassDef)
AnyInner = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef]

# Calls whose results are indices or data of a kernel.
VARYING_CALLS = frozenset("arange program_id load threadIdx blockIdx grid tid".split())


def last_name(node: ast.expr) -> str:
    """Returns the last part of a dotted name: "cdiv" of triton.cdiv."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def parameters(node: AnyInner) -> list[ast.arg]:
    if isinstance(node, ast.ClassDef):
        return []
    a = node.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x)]


class Scope:
    """Names of a module, function or class. A definition is None unless a name is assigned exactly once."""

    def __init__(self, parent: Scope | None, body: list[Any], is_class: bool = False) -> None:
        self.parent = parent
        self.is_class = is_class
        self.definitions: dict[str, ast.expr | None] = {}
        self.parameters: set[str] = set()
        self.varying: set[str] = set()
        self.attributes: dict[str, ast.expr | None] = parent.attributes if parent else {}
        self.memo: dict[Any, Any] = {}
        self._fill(body)

    # --- questions ---

    def owner(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope and (name not in scope.definitions or (scope.is_class and scope is not self)):
            scope = scope.parent
        return scope

    def varies(self, name: str) -> bool:
        owner = self.owner(name)
        return owner is not None and name in owner.varying

    def definition(self, name: str) -> ast.expr | None:
        owner = self.owner(name)
        return owner.definitions[name] if owner else None

    def inner(self, node: AnyInner) -> Scope:
        body: list[Any] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        scope = Scope(self, body, isinstance(node, ast.ClassDef))
        for each in parameters(node):
            scope.parameters.add(each.arg)
            scope.definitions[each.arg] = None
        return scope

    # --- assignments ---

    def _bind(self, name: str, value: ast.expr | None, varying: bool = False) -> None:
        self.definitions[name] = None if name in self.definitions else value
        if varying:
            self.varying.add(name)
        if self.is_class:
            self.attributes[name] = None if name in self.attributes else value

    def _assign(self, target: ast.expr, value: ast.expr | None, varying: bool = False) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, value, varying)
        elif isinstance(target, ast.Attribute):
            self.attributes[target.attr] = None if target.attr in self.attributes else value
        elif isinstance(target, (ast.Tuple, ast.List)):
            pair = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            for i, each in enumerate(target.elts):
                self._assign(each, value.elts[i] if pair else None, varying)  # type: ignore[union-attr]
        elif isinstance(target, ast.Starred):
            self._assign(target.value, None, varying)

    def _statement(self, node: ast.AST) -> ast.expr | None:
        """Takes the node's assignments; returns the assigned value."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
            return node.value
        if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value:
                self._assign(node.target, node.value)
            return node.value
        if isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)):
            self._assign(node.target, None, varying=True)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            self._assign(node.optional_vars, None)
        elif isinstance(node, ast.Global):
            self.forget(node.names)
        return None

    def forget(self, names: list[str]) -> None:
        """Functions may assign these names at any time."""
        for name in names:
            self.definitions[name] = None

    def _fill(self, body: list[Any]) -> None:
        stack = list(reversed(body))
        assigned: list[tuple[ast.AST, ast.expr]] = []
        while stack:
            node = stack.pop()
            value = self._statement(node)
            if value is not None:
                assigned.append((node, value))
            if not isinstance(node, Inner):
                stack.extend(reversed(list(ast.iter_child_nodes(node))))
        for _ in range(2):  # a use may stand before the definition, in a loop
            for node, value in assigned:
                if self._is_varying(value):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore
                    self.varying.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))

    def _is_varying(self, value: ast.expr) -> bool:
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and node.id in self.varying:
                return True
            if isinstance(node, ast.Call) and last_name(node.func) in VARYING_CALLS:
                return True
        return False
