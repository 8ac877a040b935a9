"""Sizes by which the code divides, steps, tiles or launches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .collect import Term
from .conditions import choices, members
from .expression import CEILING, IDENTIFIER, Reader, Unusable, has_number
from .scope import Function, Scope, last_name

LEAST, MOST = 2, 1 << 40
MOST_OPTIONS = 8
# Arguments that are no sizes.
NO_TILES = frozenset(
    "dim axis dims axes dim0 dim1 ndim seed start_dim end_dim stacklevel indent verbose other level version "
    "maxsize dtype opset".split()
)


def tile(number: int | None, subject: str = "?") -> Iterator[Term]:
    if number is not None and LEAST <= number < MOST:
        yield subject, "tile", str(number)


def literals(node: ast.AST | None) -> Iterator[int]:
    """Yields numbers that stand in the code: alone, in a sequence, or in a conditional expression."""
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Constant) and type(each.value) is int:
            yield each.value
        elif isinstance(each, (ast.Tuple, ast.List, ast.Set)):
            stack.extend(reversed(each.elts))
        elif isinstance(each, ast.IfExp):
            stack.extend((each.orelse, each.body))


class Tiles:
    def __init__(self, scope: Scope, options: dict[str, list[int]]) -> None:
        self.scope = scope
        self.options = options

    def of(self, node: ast.AST) -> Iterator[Term]:
        if isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.BinOp):
            yield from self._operation(node)
        elif isinstance(node, ast.Dict):
            for each in (*node.keys, *node.values):
                yield from self._numbers(each)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            for each in members(self.scope, node.iter) or []:
                yield from self._numbers(each)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield from self._numbers(node.value)
        elif isinstance(node, Function):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                yield from self._numbers(default)

    def _numbers(self, node: ast.AST | None) -> Iterator[Term]:
        for number in literals(node):
            yield from tile(number)

    def _folded(self, node: ast.expr) -> Iterator[Term]:
        """Yields literals, or the number that the expression is."""
        found = list(literals(node))
        if not found and isinstance(node, (ast.BinOp, ast.Name, ast.Attribute, ast.Call)):
            number = Reader(self.scope, self.options, {}).number(node)
            found = [] if number is None else [number]
        for number in found:
            yield from tile(number)

    def _call(self, node: ast.Call) -> Iterator[Term]:
        name = last_name(node.func)
        for keyword in node.keywords:
            if keyword.arg not in NO_TILES:
                yield from self._folded(keyword.value)
        if isinstance(node.func, ast.Subscript):  # kernel[grid](x, y, 128)
            for argument in (*node.args, node.func.slice):
                yield from self._folded(argument)
        if name == "range" and len(node.args) == 3:
            yield from self._divided(node.args[1], node.args[2])
        if name in CEILING and len(node.args) == 2:
            yield from self._divided(*node.args)
        if name == "arange" and len(node.args) == 2:
            yield from self._folded(node.args[1])

    def _operation(self, node: ast.BinOp) -> Iterator[Term]:
        if isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.Div)):
            yield from self._divided(node.left, node.right)
        elif isinstance(node.op, (ast.RShift, ast.BitAnd)):
            number = Reader(self.scope, self.options, {}).number(node.right)
            if number is None or not 0 < number < MOST:
                return
            if isinstance(node.op, ast.BitAnd) and number & (number + 1) == 0:
                yield from self._divided(node.left, ast.Constant(number + 1))
            elif isinstance(node.op, ast.RShift) and number < 40:
                yield from self._divided(node.left, ast.Constant(1 << number))

    def _divided(self, node: ast.expr, by: ast.expr) -> Iterator[Term]:
        try:
            reader = Reader(self.scope, self.options, {})
            reader.value(by)
            for choice in choices(self.options, reader.met):
                yield from self._division(Reader(self.scope, self.options, choice), node, by)
        except (Unusable, RecursionError):
            return

    def _division(self, reader: Reader, node: ast.expr, by: ast.expr) -> Iterator[Term]:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node = node.operand  # -(-a // b)
        subject, bound = reader.value(node), reader.value(by)
        text = subject.text
        if subject.number is not None or (IDENTIFIER.fullmatch(text) and self.scope.varies(text)):
            text = "?"  # part of an index
        if bound.number is not None:
            yield from tile(bound.number, text)
        elif has_number(bound.text) and text != "?":
            yield text, "tile", bound.text


# --- values that the arguments of kernels get ---


def is_constexpr(argument: ast.arg) -> bool:
    note = argument.annotation
    return note is not None and (
        last_name(note) == "constexpr" or (isinstance(note, ast.Constant) and "constexpr" in str(note.value))
    )


def _defaults(node: Any) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    arguments = [*node.args.posonlyargs, *node.args.args]
    defaults = node.args.defaults
    yield from zip(arguments[len(arguments) - len(defaults) :], defaults)
    yield from zip(node.args.kwonlyargs, node.args.kw_defaults)


def options_of(tree: ast.Module, scope: Scope) -> dict[str, list[int]]:
    """Returns the values of constexpr arguments: by default, by name in a call, by a Config."""
    reader = Reader(scope, {}, {})
    found: dict[str, list[int]] = {}
    constexpr: set[str] = set()
    given: list[tuple[str, ast.expr | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            constexpr.update(a.arg for a in (*node.args.args, *node.args.kwonlyargs) if is_constexpr(a))
            given.extend((a.arg, default) for a, default in _defaults(node) if is_constexpr(a))
        elif isinstance(node, ast.Call):
            given.extend((k.arg, k.value) for k in node.keywords if k.arg)
            if last_name(node.func) == "Config" and node.args and isinstance(node.args[0], ast.Dict):
                for key, of_key in zip(node.args[0].keys, node.args[0].values):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        constexpr.add(key.value)
                        given.append((key.value, of_key))
    for name, value in given:
        number = reader.number(value) if value is not None and name in constexpr else None
        values = found.setdefault(name, []) if number is not None else []
        if number is not None and number not in values and len(values) < MOST_OPTIONS:
            values.append(number)
    return found
