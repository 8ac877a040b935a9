"""Writes expressions of Python in the grammar of constraints (gen/contract/constraint.h): integers, names,
+ - * / % and parentheses. "?" stands for any other integer."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from .scope import Scope, last_name

MOST_TEXT = 90  # CLUE_TEXT_SIZE in gen/draw/clue.h is 96
MOST_NUMBER = 1 << 62
MOST_NAME = 60
MOST_DEPTH = 8

SUM, PRODUCT, UNARY, ATOM = range(4)

NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9]")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

# Attributes that are no integer, or a number of dimensions.
NO_SIZES = frozenset(
    "dtype device type layout ndim is_cuda requires_grad grad training inf nan pi __version__ major minor "
    "float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 long int bool".split()
)
WHOLE = frozenset("shape data T mT strides".split())
NO_SIZE_CALLS = frozenset(
    "dim ndimension float bool str type isinstance getattr get_device_capability device_count is_available "
    "element_size getenv".split()
)
CEILING = frozenset("cdiv ceil_div ceildiv div_up".split())
TRANSPARENT = frozenset("int constexpr multiple_of max_contiguous".split())


class Unusable(Exception):
    """The expression is no size: a float, a text, a type."""


class Value(NamedTuple):
    text: str
    level: int = ATOM
    number: int | None = None
    depth: int = 0  # definitions of definitions that it has replaced


UNKNOWN = Value("?")


def has_number(text: str) -> bool:
    return NUMBER.search(text) is not None


def number_value(number: int) -> Value:
    if not -MOST_NUMBER < number < MOST_NUMBER:
        return UNKNOWN
    return Value(str(number), UNARY if number < 0 else ATOM, number)


def fold(sign: str, a: int, b: int) -> Value:
    if sign in "/%" and b == 0:
        return UNKNOWN
    results = {"+": a + b, "-": a - b, "*": a * b, "/": a // (b or 1), "%": a % (b or 1)}
    return number_value(results[sign])


def join(sign: str, a: Value, b: Value) -> Value:
    if a.number is not None and b.number is not None:
        return fold(sign, a.number, b.number)
    level = SUM if sign in "+-" else PRODUCT
    left = a.text if a.level >= level and a.level != UNARY else f"({a.text})"
    right = (
        b.text
        if (b.level > level or (sign == "+" and b.level == level)) and b.level != UNARY
        else f"({b.text})"
    )
    text = f"{left} {sign} {right}"
    return Value(text, level, None, max(a.depth, b.depth)) if len(text) <= MOST_TEXT else UNKNOWN


def ceiling(a: Value, b: Value) -> Value:
    """ceil(a / b), as the grammar can say it."""
    return join("/", join("-", join("+", a, b), number_value(1)), b)


SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Div: "/", ast.Mod: "%"
}  # fmt: skip


class Reader:
    """Reads expressions of one scope. `options` has the values of some names, `choice` the ones to insert. `met`
    collects the names that have some."""

    def __init__(
        self,
        scope: Scope,
        options: dict[str, list[int]],
        choice: dict[str, int],
        met: set[str] | None = None,
    ) -> None:
        self.scope = scope
        self.options = options
        self.choice = choice
        self.met: set[str] = set() if met is None else met

    def value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.NamedExpr):
            return self.value(node.value)
        if isinstance(node, (ast.JoinedStr, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Lambda, ast.Compare)):
            raise Unusable
        return UNKNOWN

    def number(self, node: ast.expr) -> int | None:
        try:
            return self.value(node).number
        except (Unusable, RecursionError):
            return None

    # --- leaves ---

    def _constant(self, value: object) -> Value:
        if type(value) is not int:
            raise Unusable
        return number_value(value)

    def _plain(self, name: str, has_options: bool) -> Value:
        if has_options and name in self.choice:
            return number_value(self.choice[name])
        if has_options and name in self.options:
            self.met.add(name)
        return Value(name) if IDENTIFIER.fullmatch(name) and len(name) <= MOST_NAME else UNKNOWN

    def _name(self, name: str) -> Value:
        owner = self.scope.owner(name)
        if owner is None or name in owner.parameters:
            return self._plain(name, has_options=True)
        node = owner.definitions[name]
        if node is None or name in owner.varying:
            return self._plain(name, has_options=False)
        value = self._defined(owner, name, node)
        keeps = value.depth >= MOST_DEPTH or ("?" in value.text and not has_number(value.text))
        return self._plain(name, has_options=False) if keeps else value._replace(depth=value.depth + 1)

    def _defined(self, owner: Scope, name: str, node: ast.expr) -> Value:
        key = (name, tuple(sorted(self.choice.items())))
        if key not in owner.memo:
            owner.memo[key] = UNKNOWN, frozenset()  # for a definition by itself
            within = Reader(owner, self.options, self.choice)
            try:
                value: Value | None = within.value(node)
            except Unusable:
                value = None
            except RecursionError:
                value = UNKNOWN
            owner.memo[key] = value, frozenset(within.met)
        found, met = owner.memo[key]
        self.met.update(met)
        if found is None:
            raise Unusable
        known: Value = found
        return known

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr in NO_SIZES:
            raise Unusable
        if node.attr in WHOLE:
            return UNKNOWN
        defined = self.scope.attributes.get(node.attr)
        if isinstance(defined, ast.Constant) and type(defined.value) is int:
            return number_value(defined.value)
        return self._plain(node.attr, has_options=False)

    def _subscript(self, node: ast.Subscript) -> Value:
        """Of a dictionary with texts as keys the key is the name: META["BLOCK"]."""
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return self._plain(key.value, has_options=True)
        if isinstance(node.value, ast.Call) and last_name(node.value.func) in NO_SIZE_CALLS:
            raise Unusable
        return UNKNOWN

    # --- operations ---

    def _binary(self, node: ast.BinOp) -> Value:
        a, b = self.value(node.left), self.value(node.right)
        sign = SIGNS.get(type(node.op))
        if sign:
            return join(sign, a, b)
        if isinstance(node.op, ast.BitAnd):
            return masked(a, b)
        if b.number is None or not 0 <= b.number < 62:
            return UNKNOWN
        if isinstance(node.op, (ast.LShift, ast.RShift)):
            return join("*" if isinstance(node.op, ast.LShift) else "/", a, number_value(1 << b.number))
        if isinstance(node.op, ast.Pow) and a.number is not None and abs(a.number) < 1 << 40:
            return number_value(a.number**b.number)
        return UNKNOWN

    def _unary(self, node: ast.UnaryOp) -> Value:
        inside = node.operand
        if isinstance(node.op, ast.Not):
            raise Unusable
        if isinstance(node.op, ast.UAdd):
            return self.value(inside)
        if not isinstance(node.op, ast.USub):
            return UNKNOWN
        if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.FloorDiv):
            above = inside.left
            if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.USub):  # -(-a // b)
                return ceiling(self.value(above.operand), self.value(inside.right))
        value = self.value(inside)
        if value.number is not None:
            return number_value(-value.number)
        text = f"-{value.text}" if value.level == ATOM else f"-({value.text})"
        return Value(text, UNARY, None, value.depth) if len(text) <= MOST_TEXT else UNKNOWN

    def _call(self, node: ast.Call) -> Value:
        name = last_name(node.func)
        if name in NO_SIZE_CALLS:
            raise Unusable
        if name in CEILING and len(node.args) == 2:
            return ceiling(self.value(node.args[0]), self.value(node.args[1]))
        if name in TRANSPARENT and node.args:
            return self.value(node.args[0])
        if name == "len" and node.args and last_name(node.args[0]) == "shape":
            raise Unusable  # the number of dimensions
        if name == "ceil" and len(node.args) == 1:
            inside = node.args[0]
            if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Div):
                return ceiling(self.value(inside.left), self.value(inside.right))
        return UNKNOWN


def masked(a: Value, b: Value) -> Value:
    """x & 63 is x % 64."""
    if a.number is not None and b.number is not None:
        return number_value(a.number & b.number)
    if a.number is not None:
        a, b = b, a
    mask = b.number
    if mask is None or mask <= 0 or mask & (mask + 1):
        return UNKNOWN
    return join("%", a, number_value(mask + 1))
