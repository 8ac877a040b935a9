"""Expressions of sizes that a task's source computes extents with.

`blocks = (rows * cols + block - 1) // block` says what no fit of single axes finds. So where no form fits, an
expression of the source is taken that gives the extent in every run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from . import expression
from .expression import Sizes

MOST = 512  # expressions of a source
LONGEST = 200  # letters of an expression

_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "/",
    ast.Mod: "%",
    ast.Pow: "^",
}
_CEILS = ("cdiv", "ceil_div", "ceildiv", "div_up")


def _ceil(a: str | None, b: str | None) -> str | None:
    return f"(({a} + {b} - 1)/{b})" if a and b else None


def _is_minus(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


class _Reader:
    """Reads assignments in their order. `names` has the expression of each variable that is one."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.names: dict[str, str] = {}
        self.found: dict[str, None] = {}  # in the order of the source

    def text(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Constant):
            return str(node.value) if type(node.value) is int and node.value >= 0 else None
        if isinstance(node, ast.Name):
            if node.id.startswith(self.prefix):
                return node.id[len(self.prefix) :]
            return self.names.get(node.id)
        if isinstance(node, ast.UnaryOp) and _is_minus(node):
            of = node.operand
            if isinstance(of, ast.BinOp) and isinstance(of.op, ast.FloorDiv) and _is_minus(of.left):
                return _ceil(self.text(of.left.operand), self.text(of.right))  # type: ignore[attr-defined]
            return None
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            a, b = self.text(node.left), self.text(node.right)
            return f"({a} {_SIGNS[type(node.op)]} {b})" if a and b else None
        return self._of_call(node) if isinstance(node, ast.Call) and not node.keywords else None

    def _of_call(self, node: ast.Call) -> str | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _CEILS and len(node.args) == 2:
            return _ceil(self.text(node.args[0]), self.text(node.args[1]))
        if len(node.args) != 1:
            return None
        of = node.args[0]
        if name == "ceil" and isinstance(of, ast.BinOp) and isinstance(of.op, ast.Div):
            return _ceil(self.text(of.left), self.text(of.right))
        return self.text(of) if name == "int" else None

    def _assign(self, target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, of in zip(target.elts, value.elts):
                self._assign(one, of)
        elif isinstance(target, ast.Name):
            text = self.text(value)
            self.names.pop(target.id, None)
            if text and len(text) <= LONGEST:
                self.names[target.id] = text

    def read(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            for node in ast.walk(statement):
                text = self.text(node) if isinstance(node, (ast.BinOp, ast.Call, ast.UnaryOp)) else None
                if text and len(text) <= LONGEST and len(self.found) < MOST:
                    self.found[text] = None
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    self._assign(target, statement.value)


def expressions(tree: ast.Module, prefix: str, function: str = "get_inputs") -> list[str]:
    """Returns the expressions of sizes in the module's own statements and in `function`. A size is a name
    that begins with `prefix`."""
    reader = _Reader(prefix)
    reader.read([s for s in tree.body if isinstance(s, ast.Assign)])
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == function:
            reader.read(statement.body)
    return list(reader.found)


def fitting(
    written: Sequence[str], axes: Mapping[str, str], published: Sizes, runs: Sequence[tuple[Sizes, int]]
) -> str | None:
    """Returns the shortest expression of axes that gives the value of every run, or None. `axes` has the axis
    of each size that varies; the others are as published."""

    def by_axes(match: re.Match[str]) -> str:
        name = match[0]
        return axes[name] if name in axes else str(published[name])

    for text in sorted(written, key=len):
        named = re.sub(r"[A-Za-z_]\w*", by_axes, text)
        if expression.names(named) and all(expression.evaluate(named, s) == y for s, y in runs):
            return named[1:-1]
    return None
