"""Reads a condition as alternatives, each of which is a conjunction of comparisons."""

from __future__ import annotations

import ast
import itertools

from .collect import MOST_TERMS, Term, Terms
from .expression import IDENTIFIER, MOST_DEPTH, Reader, Unusable, Value, has_number
from .scope import Scope, last_name

MOST_ALTERNATIVES = 64
MOST_CHOICES = 8

RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.GtE: ">=", ast.Gt: ">"
}  # fmt: skip
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

Alternatives = list[Terms]
NOTHING: Alternatives = [()]  # a condition that tells nothing


def is_condition(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return is_comparison(node.left) or is_comparison(node.right)
    return isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def is_comparison(node: ast.AST) -> bool:
    """Masks nest to the left, so that a look at one side after the other is enough."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        if isinstance(node.right, (ast.Compare, ast.BoolOp)):
            return True
        node = node.left
    return isinstance(node, (ast.Compare, ast.BoolOp))


def both(a: Alternatives, b: Alternatives) -> Alternatives:
    pairs = ((*x, *y)[:MOST_TERMS] for x, y in itertools.product(a, b))
    return list(itertools.islice(pairs, MOST_ALTERNATIVES))


def members(scope: Scope, node: ast.expr) -> list[ast.expr] | None:
    """Returns the elements of a sequence, set or dictionary that the code writes out."""
    for _ in range(MOST_DEPTH):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return node.elts
        if isinstance(node, ast.Dict):
            return [key for key in node.keys if key]
        if isinstance(node, ast.Call) and len(node.args) == 1:
            if last_name(node.func) not in ("set", "frozenset", "tuple", "list", "Size"):
                return None
            node = node.args[0]
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = last_name(node)
            found = scope.definition(name) if isinstance(node, ast.Name) else scope.attributes.get(name)
            if found is None:
                return None
            node = found
        else:
            return None
    return None


class Conditions:
    """Reads the conditions of one scope with one choice of values."""

    def __init__(self, scope: Scope, options: dict[str, list[int]], choice: dict[str, int]) -> None:
        self.scope = scope
        self.reader = Reader(scope, options, choice)

    def alternatives(self, node: ast.expr, negated: bool = False, depth: int = 0) -> Alternatives:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.alternatives(node.operand, not negated, depth)
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And) != negated
            return self._joined([self.alternatives(v, negated, depth) for v in node.values], is_and)
        if isinstance(node, ast.BinOp) and is_condition(node):
            is_and = isinstance(node.op, ast.BitAnd) != negated
            return self._joined(
                [self.alternatives(v, negated, depth) for v in (node.left, node.right)], is_and
            )
        if isinstance(node, ast.Compare):
            return self._chain(node, negated)
        if isinstance(node, ast.Name) and depth < MOST_DEPTH:
            found = self.scope.definition(node.id)
            return self.alternatives(found, negated, depth + 1) if found is not None else NOTHING
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.BitAnd)):  # "if n % 64:"
            return self._compare(node, "==" if negated else "!=", ast.Constant(0))
        return NOTHING

    def _joined(self, parts: list[Alternatives], is_and: bool) -> Alternatives:
        if is_and:
            result = NOTHING
            for part in parts:
                result = both(result, part)
            return result
        return [terms for part in parts for terms in part][:MOST_ALTERNATIVES]

    def _chain(self, node: ast.Compare, negated: bool) -> Alternatives:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                parts.append(self._member(left, right, isinstance(op, ast.NotIn) != negated))
            elif type(op) in RELATIONS:
                relation = RELATIONS[type(op)]
                parts.append(self._compare(left, NEGATED[relation] if negated else relation, right))
            left = right
        return self._joined(parts, not negated) if parts else NOTHING

    def _member(self, left: ast.expr, right: ast.expr, negated: bool) -> Alternatives:
        if isinstance(right, ast.Call) and last_name(right.func) == "range" and 1 <= len(right.args) <= 2:
            low = right.args[0] if len(right.args) == 2 else ast.Constant(0)
            parts = [
                self._compare(left, "<" if negated else ">=", low),
                self._compare(left, ">=" if negated else "<", right.args[-1]),
            ]
            return self._joined(parts, not negated)
        relation = "!=" if negated else "=="
        found = members(self.scope, right) or []
        parts = [self._compare(left, relation, each) for each in found[:MOST_ALTERNATIVES]]
        return self._joined(parts, False) if parts else NOTHING

    def _compare(self, left: ast.expr, relation: str, right: ast.expr) -> Alternatives:
        a, b = members(self.scope, left), members(self.scope, right)
        if a is None and b is None:
            term = self._term(left, relation, right)
            return [(term,)] if term else NOTHING
        if relation not in ("==", "!=") or (a is not None and b is not None and len(a) != len(b)):
            return NOTHING
        count = min(len(a if a is not None else b or []), MOST_TERMS)
        parts = [self._element(a, b, i, relation) for i in range(count)]
        return self._joined(parts, relation == "==") if parts else NOTHING

    def _element(
        self, a: list[ast.expr] | None, b: list[ast.expr] | None, i: int, relation: str
    ) -> Alternatives:
        unknown = ast.Name("?")  # an element of another tuple, such as x.shape
        term = self._term(a[i] if a else unknown, relation, b[i] if b else unknown)
        return [(term,)] if term else NOTHING

    def _value(self, node: ast.expr) -> Value:
        return self.reader.value(node)

    def _term(self, left: ast.expr, relation: str, right: ast.expr) -> Term | None:
        try:
            a, b = self._value(left), self._value(right)
        except Unusable:
            return None
        if a.number is not None:
            a, b, relation = b, a, FLIPPED[relation]
        if a.number is not None or a.text == b.text:  # texts are equal as in self.code == other.code
            return None
        if not has_number(a.text) and not has_number(b.text):
            if "?" in a.text + b.text or self._varies(a) or self._varies(b):
                return None
        elif b.number is not None and b.number < 2 and IDENTIFIER.fullmatch(a.text) and self._varies(a):
            return None  # a loop's first turn, or the sign of data
        return a.text, relation, b.text

    def _varies(self, value: Value) -> bool:
        return any(self.scope.varies(name) for name in IDENTIFIER.findall(value.text))


def choices(options: dict[str, list[int]], met: set[str]) -> list[dict[str, int]]:
    """Returns choices of values for these names; one without any if there are none."""
    names = sorted(met)
    combined = itertools.product(*(options[name] for name in names))
    return [dict(zip(names, values)) for values in itertools.islice(combined, MOST_CHOICES)]


def read(scope: Scope, options: dict[str, list[int]], node: ast.expr) -> Alternatives:
    """Reads a condition. If it has names with several values, its alternatives are those of each choice."""
    try:
        plain = Conditions(scope, options, {})
        found = plain.alternatives(node)
        if plain.reader.met:
            chosen = (Conditions(scope, options, c) for c in choices(options, plain.reader.met))
            found = [terms for each in chosen for terms in each.alternatives(node)]
        return list(dict.fromkeys(found))
    except RecursionError:
        return NOTHING


def equal(scope: Scope, options: dict[str, list[int]], node: ast.expr, number: ast.expr) -> Alternatives:
    return read(scope, options, ast.Compare(node, [ast.Eq()], [number]))
