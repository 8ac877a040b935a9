"""Finds the sizes of a task's source and makes them replaceable.

A size is an integer literal in one of these places:

- a module-level constant, or a tuple, list or dictionary of them.
- an argument of a configuration's class, or a default in its body.
- a default or a literal in get_inputs or get_init_inputs.

Each size becomes a name in the syntax tree, which gets its value when the tree is executed. Functions and classes of
the source stay unchanged.
"""

from __future__ import annotations

import ast
import copy
import re

PREFIX = "_unseen_size_"  # one underscore, since Python mangles names with two inside a class
FACTORIES = set("""rand randn zeros ones empty full randint normal arange eye randperm""".split())
PLAIN_BASES = {"object", "NamedTuple"}
UNNAMED = re.compile(r"dim\d+_(\d+|below)")  # the names that Places.calls gives
RESERVED = {"input", "seed", "stream", "weights"}
FUNCTIONS = ("get_inputs", "get_init_inputs")


class Size:
    """One replaceable integer of the source."""

    def __init__(self, name: str, value: int, line: int, where: str) -> None:
        self.name, self.value, self.line, self.where = name, value, line, where
        self.is_bound = False  # a literal that bounds drawn indices

    @property
    def is_unnamed(self) -> bool:
        """Tells whether it is a literal in a call of get_inputs."""
        return self.where == "get_inputs" and UNNAMED.fullmatch(self.name) is not None


def _constant(node: ast.AST) -> int | None:
    """Returns the value of an expression of integer literals, or None for any other."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _constant(node.left), _constant(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.FloorDiv) and right:
        return left // right
    if isinstance(node.op, ast.Pow) and 0 <= right <= 62:
        return int(left**right)
    return None


def _identifier(text: str) -> str:
    name = re.sub(r"\W", "_", text)
    return "_" + name if name[:1].isdigit() else name


def _has_size(node: ast.Call) -> bool:
    """Tells whether a call has its extents as a keyword, `size=(4, 8)`."""
    return any(argument.arg == "size" for argument in node.keywords)


class Places:
    """Finds the sizes of a tree and replaces them by names."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree, self.taken = tree, set(RESERVED)
        self.sizes: list[Size] = []
        self.classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef) and self.is_plain(n)}

    @staticmethod
    def is_plain(node: ast.ClassDef) -> bool:
        """Tells whether a class only holds a configuration: it derives from no class with code."""
        return all(isinstance(b, ast.Name) and b.id in PLAIN_BASES for b in node.bases) and not node.keywords

    def add(self, node: ast.expr, value: int, name: str, where: str) -> ast.expr:
        base = _identifier(name)
        unique, n = base, 2
        while unique in self.taken:
            unique, n = f"{base}_{n}", n + 1
        self.taken.add(unique)
        self.sizes.append(Size(unique, value, node.lineno, where))
        return ast.copy_location(ast.Name(PREFIX + unique, ast.Load()), node)

    def value(self, node: ast.expr, name: str, where: str, least: int = 0) -> ast.expr:
        """Returns `node` with its sizes replaced by names. It descends into tuples, lists, dictionaries and
        configurations."""
        constant = _constant(node)
        if constant is not None:
            return self.add(node, constant, name, where) if constant >= least else node
        if isinstance(node, (ast.Tuple, ast.List)):
            for i, element in enumerate(node.elts):
                node.elts[i] = self.value(element, f"{name}_{i}", where, least)
        elif isinstance(node, ast.Dict):
            for i, key in enumerate(node.keys):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    node.values[i] = self.value(node.values[i], key.value, where, least)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and (node.func.id in ("dict", "SimpleNamespace") or node.func.id in self.classes)
        ):
            for keyword in node.keywords:
                keyword.value = self.value(keyword.value, keyword.arg or name, where, least)
            for i, argument in enumerate(node.args):
                node.args[i] = self.value(argument, f"{name}_{i}", where, least)
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mult)
            and isinstance(node.left, (ast.Tuple, ast.List))  # [1024] * 16: sixteen equal sizes
        ):
            node.left = self.value(node.left, name, where, least)
        return node

    def assignment(self, statement: ast.stmt, where: str) -> list[ast.stmt]:
        """Returns the statements that replace one assignment. Each target of `a = b = 128` gets a size of its own."""
        if isinstance(statement, ast.AnnAssign):
            if isinstance(statement.target, ast.Name) and statement.value is not None:
                statement.value = self.value(statement.value, statement.target.id, where)
            return [statement]
        if not isinstance(statement, ast.Assign) or not all(
            isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets
        ):
            return [statement]
        result: list[ast.stmt] = []
        for target in statement.targets:
            one = ast.copy_location(ast.Assign([target], copy.deepcopy(statement.value)), statement)
            if isinstance(target, ast.Name):
                one.value = self.value(one.value, target.id, where)
            elif (
                isinstance(target, ast.Tuple)
                and isinstance(one.value, ast.Tuple)
                and len(one.value.elts) == len(target.elts)
            ):
                for i, element in enumerate(target.elts):
                    if isinstance(element, ast.Name):
                        one.value.elts[i] = self.value(one.value.elts[i], element.id, where)
            result.append(one)
        if len(statement.targets) > 1 and not isinstance(
            statement.value, (ast.Constant, ast.BinOp, ast.Tuple)
        ):
            return [statement]  # other values are evaluated once, as in the source
        return result

    def calls(self, function: ast.FunctionDef, label: str) -> None:
        """Replaces literal extents in factory calls: torch.rand(batch_size, 3, 224, 224)."""
        count = 0
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", None))
            if called not in FACTORIES:
                continue
            if called == "randint":
                self.bound(node, f"{label}{count}", function.name)
            for i, argument in enumerate(node.args):
                if (called == "randint" and (i < len(node.args) - 1 or _has_size(node))) or (
                    called == "full" and i > 0
                ):
                    continue
                if called == "arange" and i != min(len(node.args) - 1, 1):
                    continue  # arange(start, end, step): only the end
                name = f"{label}{count}_{i}" if not isinstance(argument, ast.Tuple) else f"{label}{count}"
                node.args[i] = self.value(argument, name, function.name, least=2)
            for keyword in node.keywords:
                if keyword.arg == "size":
                    keyword.value = self.value(keyword.value, f"{label}{count}", function.name, least=2)
            count += 1

    def bound(self, node: ast.Call, label: str, where: str) -> None:
        """Replaces the literal bound of randint. It stands before the extents, or last if `size=` gives these."""
        before = len(self.sizes)
        at = len(node.args) - (1 if _has_size(node) else 2)
        if at >= 0:
            node.args[at] = self.value(node.args[at], f"{label}_below", where, least=3)
        for argument in node.keywords:
            if argument.arg == "high":
                argument.value = self.value(argument.value, f"{label}_below", where, least=3)
        for size in self.sizes[before:]:
            size.is_bound = True

    def defaults(self, function: ast.FunctionDef) -> None:
        """Replaces defaults of parameters: def get_inputs(batch=16)."""
        arguments = function.args
        known = [a.arg for a in arguments.posonlyargs + arguments.args]
        for i, default in enumerate(arguments.defaults):
            name = known[len(known) - len(arguments.defaults) + i]
            arguments.defaults[i] = self.value(default, name, function.name)
        for i, named in enumerate(arguments.kw_defaults):
            if named is not None:
                arguments.kw_defaults[i] = self.value(named, arguments.kwonlyargs[i].arg, function.name)

    def returned(self, function: ast.FunctionDef, parameters: list[str]) -> None:
        """Replaces literals that get_init_inputs returns. They are named like the constructor's parameters."""
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and isinstance(node.value, (ast.List, ast.Tuple)):
                for i, element in enumerate(node.value.elts):
                    name = parameters[i] if i < len(parameters) else f"init{i}"
                    node.value.elts[i] = self.value(element, name, function.name)

    def find(self, parameters: list[str]) -> None:
        body: list[ast.stmt] = []
        for statement in self.tree.body:
            if isinstance(statement, ast.FunctionDef) and statement.name in FUNCTIONS:
                inner: list[ast.stmt] = []
                self.defaults(statement)
                for line in statement.body:
                    inner += self.assignment(line, statement.name)
                statement.body = inner
                if statement.name == "get_inputs":
                    self.calls(statement, "dim")
                else:
                    self.returned(statement, parameters)
                body.append(statement)
            elif isinstance(statement, ast.ClassDef):
                if statement.name in self.classes:
                    statement.body = [
                        one for line in statement.body for one in self.assignment(line, statement.name)
                    ]
                body.append(statement)
            else:
                body += self.assignment(statement, "module")
        self.tree.body = body
        ast.fix_missing_locations(self.tree)
