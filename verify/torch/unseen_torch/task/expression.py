"""Integer expressions of sizes, in the grammar of a contract's limits: + - * / % ^ and parentheses.

The C side reads the same texts (gen/contract/constraint.h). Division rounds toward zero there, and no expression here
divides a negative number.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any

Sizes = dict[str, int]  # values of axes by name
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_OPERATORS[ast.FloorDiv] = _divide
_OPERATORS[ast.Mod] = lambda a, b: a - b * _divide(a, b)


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    return ast.parse(text.replace("^", "**").replace("/", "//"), mode="eval").body


def _evaluate(node: ast.AST, sizes: Sizes) -> int:
    if isinstance(node, ast.Constant):
        value: int = node.value  # type: ignore[assignment]  # these texts hold no other constants
        return value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.UnaryOp):
        return -_evaluate(node.operand, sizes)
    if isinstance(node, ast.Compare):
        compared: bool = _OPERATORS[type(node.ops[0])](
            _evaluate(node.left, sizes), _evaluate(node.comparators[0], sizes)
        )
        return compared
    assert isinstance(node, ast.BinOp)
    number: int = _OPERATORS[type(node.op)](_evaluate(node.left, sizes), _evaluate(node.right, sizes))
    return number


def evaluate(text: str | int, sizes: Sizes) -> int:
    """Returns the value of `text` (an int or a text) for these sizes. A comparison that divides by 0 is false."""
    if isinstance(text, int):
        return text
    try:
        return _evaluate(_parse(text), sizes)
    except ZeroDivisionError:
        return False


def names(text: str | int) -> set[str]:
    """Returns the axes in `text`."""
    if isinstance(text, int):
        return set()
    return {node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name)}
