"""Walks over a file's tree and collects its clues. Its stack is a list, so that no nesting is too deep."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from . import conditions
from .collect import MOST_TERMS, Collector
from .conditions import NOTHING, Alternatives
from .expression import Reader
from .scope import Function, Inner, Scope
from .tiles import Tiles, options_of

MOST_ENCLOSING = 4
LEAST_TEXT = 40


class Place(NamedTuple):
    node: Any
    scope: Scope
    enclosing: Alternatives  # conditions under which the code runs


def is_c(text: str) -> bool:
    """Is it source in a language like C?"""
    if len(text) <= LEAST_TEXT:
        return False
    return "__global__" in text or all(mark in text for mark in "{;(")


class Walk:
    def __init__(self, collector: Collector, tree: ast.Module) -> None:
        self.collector = collector
        module = Scope(None, list(tree.body))
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                module.forget(node.names)
        self.options = options_of(tree, module)
        self.stack = [Place(tree, module, NOTHING)]

    def run(self) -> None:
        self.collector.begin()
        while self.stack:
            self.collector.check_time()
            self._visit(self.stack.pop())

    def _push(self, place: Place, nodes: list[Any], enclosing: Alternatives | None = None) -> None:
        for node in reversed(nodes):
            if node is not None:
                self.stack.append(
                    Place(node, place.scope, place.enclosing if enclosing is None else enclosing)
                )

    def _add(self, place: Place, found: Alternatives) -> None:
        line = getattr(place.node, "lineno", 0)
        for terms in found:
            self.collector.add(line, terms)
            for outer in place.enclosing:
                if outer and terms:
                    self.collector.add(line, (*outer, *terms)[-MOST_TERMS:])

    def _tiles(self, place: Place) -> None:
        line = getattr(place.node, "lineno", 0) or getattr(getattr(place.node, "iter", None), "lineno", 0)
        for term in Tiles(place.scope, self.options).of(place.node):
            self.collector.add(line, (term,))

    def _visit(self, place: Place) -> None:
        node = place.node
        self._tiles(place)
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            self._branch(place)
        elif isinstance(node, Inner):
            self._inner(place)
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):
            self._text(place)
        elif conditions.is_condition(node):
            self._condition(place, node)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                self._push(place, [test])
            self._push(place, [node.target, node.iter])
        elif isinstance(node, (ast.Subscript, ast.Call)):
            self._lookup(place)
        elif type(node).__name__ == "Match":  # since Python 3.10
            self._match(place)
        else:
            self._push(place, list(ast.iter_child_nodes(node)))

    # --- conditions ---

    def _condition(self, place: Place, test: ast.expr) -> Alternatives:
        """Adds a condition's clues, and walks on over what it compares."""
        found = conditions.read(place.scope, self.options, test)
        self._add(place._replace(node=test), found)
        parts: list[ast.AST] = [test]
        while parts:
            part = parts.pop()
            if conditions.is_condition(part):
                parts.extend(ast.iter_child_nodes(part))
            elif isinstance(part, ast.expr):
                self._push(place, [part])
        return found

    def _inside(self, place: Place, found: Alternatives) -> Alternatives:
        return conditions.both(place.enclosing, found)[:MOST_ENCLOSING]

    def _branch(self, place: Place) -> None:
        node = place.node
        orelse = [node.orelse] if isinstance(node, ast.IfExp) else node.orelse
        body = [node.body] if isinstance(node, ast.IfExp) else node.body
        self._push(place, orelse)
        found = self._condition(place, node.test)
        self._push(place, body, self._inside(place, found))

    def _lookup(self, place: Place) -> None:
        """A dictionary's entry is chosen: TABLE[n], TABLE.get(n)."""
        node, table, key = place.node, None, None
        if isinstance(node, ast.Subscript):
            table, key = node.value, node.slice
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            table, key = node.func.value, node.args[0]
        if isinstance(table, ast.Name):
            table = place.scope.definition(table.id)
        if isinstance(table, ast.Dict) and key is not None and not isinstance(key, ast.Constant):
            for each in table.keys[: conditions.MOST_ALTERNATIVES]:
                if isinstance(each, ast.Constant) and type(each.value) is int:
                    self._add(place, conditions.equal(place.scope, self.options, key, each))
        self._push(place, list(ast.iter_child_nodes(node)))

    def _match(self, place: Place) -> None:
        self._push(place, [place.node.subject])
        for case in place.node.cases:
            found = self._pattern(place, place.node.subject, case.pattern)
            at_case = place._replace(node=case.pattern)
            self._add(at_case, found)
            inside = self._inside(place, found)
            if case.guard:
                at_guard = at_case._replace(enclosing=inside)
                inside = self._inside(at_guard, self._condition(at_guard, case.guard))
            self._push(place, case.body, inside)

    def _pattern(self, place: Place, subject: ast.expr, pattern: Any) -> Alternatives:
        kind = type(pattern).__name__
        if kind == "MatchValue":
            return conditions.equal(place.scope, self.options, subject, pattern.value)
        if kind == "MatchOr":
            return [terms for each in pattern.patterns for terms in self._pattern(place, subject, each)]
        if kind == "MatchAs" and pattern.pattern:
            return self._pattern(place, subject, pattern.pattern)
        elements = conditions.members(place.scope, subject)
        if kind == "MatchSequence" and elements and len(elements) == len(pattern.patterns):
            found = NOTHING
            for element, each in zip(elements, pattern.patterns):
                found = conditions.both(found, self._pattern(place, element, each))
            return found
        return NOTHING

    # --- scopes and texts ---

    def _inner(self, place: Place) -> None:
        """The body runs when it is called: a function's under other conditions, a lambda's mostly at once."""
        node = place.node
        outside = list(getattr(node, "decorator_list", []))
        if isinstance(node, Function):
            outside += [*node.args.defaults, *node.args.kw_defaults]
        else:
            outside += node.bases
        scope = place.scope.inner(node)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        enclosing = place.enclosing if isinstance(node, ast.Lambda) else NOTHING
        self._push(Place(node, scope, enclosing), body)
        self._push(place, outside)

    def _text(self, place: Place) -> None:
        node = place.node
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = ""
        for part in parts:
            text += self._part(place, part)
            if isinstance(part, ast.FormattedValue):
                self._push(place, [part.value])
        if is_c(text):
            self.collector.add_text(node.lineno, text)

    def _part(self, place: Place, part: ast.expr) -> str:
        """Returns a text's part as it will be; for a value that is not known, a name."""
        if isinstance(part, ast.FormattedValue):
            number = Reader(place.scope, self.options, {}).number(part.value)
            return str(number) if number is not None else getattr(part.value, "id", "_")
        value = part.value if isinstance(part, ast.Constant) else ""
        if isinstance(value, bytes):
            return value.decode("latin-1")
        return value if isinstance(value, str) else ""
