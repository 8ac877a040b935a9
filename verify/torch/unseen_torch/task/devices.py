"""Replaces the device "cuda" that a task's source names by the device on which the tool runs it.

The tool places inputs and modules itself. A literal device would fail on a host without a GPU, and would be another
GPU than the one that judges.
"""

from __future__ import annotations

import ast
import re

NAME = "_unseen_device"  # a function of the module's namespace
_LITERAL = re.compile(r"cuda(:\d+)?")
_PLACED = {"device", "to", "Generator", "get_device_properties"}


def _is_device(node: ast.AST | None) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _LITERAL.fullmatch(node.value) is not None
    )


def _here(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), [], []), node)


class _Replace(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0

    def _replaced(self, node: ast.expr) -> ast.expr:
        self.count += 1
        return _here(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        for keyword in node.keywords:
            if keyword.arg == "device" and _is_device(keyword.value):
                keyword.value = self._replaced(keyword.value)
        if called in _PLACED:
            node.args = [self._replaced(a) if _is_device(a) else a for a in node.args]
        if called == "cuda" and isinstance(node.func, ast.Attribute) and _is_tensor_call(node):
            node.func.attr, node.args = "to", [self._replaced(node)]
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        self.generic_visit(node)
        node.defaults = [self._replaced(d) if _is_device(d) else d for d in node.defaults]
        node.kw_defaults = [self._replaced(d) if d and _is_device(d) else d for d in node.kw_defaults]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        names = [t.id.lower() for t in node.targets if isinstance(t, ast.Name)]
        if "device" in names and _is_device(node.value):
            node.value = self._replaced(node.value)
        return node


def _is_tensor_call(node: ast.Call) -> bool:
    """Tells whether `x.cuda()` moves something: `torch.cuda` is a module, and takes no call."""
    return not node.args or isinstance(node.args[0], ast.Constant)


def replace(tree: ast.Module) -> bool:
    """Replaces all literal devices of a tree. Tells whether there were any."""
    transformer = _Replace()
    transformer.visit(tree)
    ast.fix_missing_locations(tree)
    return transformer.count > 0


def here() -> str:
    """Returns the device on which the source runs: torch's default one."""
    import torch

    return str(torch.get_default_device())
