"""A task's source with every size in it replaceable.

It is a KernelBench file (Model, get_inputs, get_init_inputs, module-level constants) or a KernelBench-Hard directory
(reference.py, shapes.py).

A size is an integer literal in one of these places:

- a module-level constant, or a tuple, list or dictionary of them.
- an argument of a configuration's class, or a default in its body.
- a default or a literal in get_inputs or get_init_inputs.

Each size becomes a name in the syntax tree, which gets its value when the tree is executed. Functions and classes of
the source stay unchanged.
"""

import ast
import copy
import hashlib
import inspect
import linecache
import os
import re
import sys
import types

from . import own_modules

PREFIX = "_unseen_size_"  # one underscore, since Python mangles names with two inside a class
FACTORIES = {
    "rand",
    "randn",
    "zeros",
    "ones",
    "empty",
    "full",
    "randint",
    "normal",
    "arange",
    "eye",
    "randperm",
}
PLAIN_BASES = {"object", "NamedTuple"}
UNNAMED = re.compile(r"dim\d+_(\d+|below)")  # the names that _Places.calls gives
RESERVED = {"input", "seed", "stream", "weights"}
FUNCTIONS = ("get_inputs", "get_init_inputs")
MODULE = "unseen_task"  # the module name that the task's functions see


class SourceError(Exception):
    """Its text says what was found, what was expected and, after '--->', what to do."""


class Size:
    """One replaceable integer of the source."""

    def __init__(self, name, value, line, where):
        self.name, self.value, self.line, self.where = name, value, line, where
        self.is_bound = False  # a literal that bounds drawn indices

    @property
    def is_unnamed(self):
        """Tells whether it is a literal in a call of get_inputs."""
        return self.where == "get_inputs" and UNNAMED.fullmatch(self.name) is not None


def _constant(node):
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
        return left**right
    return None


def _identifier(text):
    name = re.sub(r"\W", "_", text)
    return "_" + name if name[:1].isdigit() else name


def _has_size(node):
    """Tells whether a call has its extents as a keyword, `size=(4, 8)`."""
    return any(argument.arg == "size" for argument in node.keywords)


class _Places:
    """Finds the sizes of a tree and replaces them by names."""

    def __init__(self, tree):
        self.tree, self.sizes, self.taken = tree, [], set(RESERVED)
        self.classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef) and self.is_plain(n)}

    @staticmethod
    def is_plain(node):
        """Tells whether a class only holds a configuration: it derives from no class with code."""
        return all(isinstance(b, ast.Name) and b.id in PLAIN_BASES for b in node.bases) and not node.keywords

    def add(self, node, name, where):
        value = _constant(node)
        base = _identifier(name)
        unique, n = base, 2
        while unique in self.taken:
            unique, n = f"{base}_{n}", n + 1
        self.taken.add(unique)
        self.sizes.append(Size(unique, value, node.lineno, where))
        return ast.copy_location(ast.Name(PREFIX + unique, ast.Load()), node)

    def value(self, node, name, where, least=0):
        """Returns `node` with its sizes replaced by names. It descends into tuples, lists, dictionaries and
        configurations."""
        if _constant(node) is not None:
            return self.add(node, name, where) if _constant(node) >= least else node
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
            for argument in node.keywords:
                argument.value = self.value(argument.value, argument.arg or name, where, least)
            for i, argument in enumerate(node.args):
                node.args[i] = self.value(argument, f"{name}_{i}", where, least)
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mult)
            and isinstance(node.left, (ast.Tuple, ast.List))  # [1024] * 16: sixteen equal sizes
        ):
            node.left = self.value(node.left, name, where, least)
        return node

    def assignment(self, statement, where):
        """Returns the statements that replace one assignment. Each target of `a = b = 128` gets a size of its own."""
        if isinstance(statement, ast.AnnAssign):
            if isinstance(statement.target, ast.Name) and statement.value is not None:
                statement.value = self.value(statement.value, statement.target.id, where)
            return [statement]
        if not isinstance(statement, ast.Assign) or not all(
            isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets
        ):
            return [statement]
        result = []
        for target in statement.targets:
            one = ast.copy_location(ast.Assign([target], copy.deepcopy(statement.value)), statement)
            if isinstance(target, ast.Name):
                one.value = self.value(one.value, target.id, where)
            elif isinstance(one.value, ast.Tuple) and len(one.value.elts) == len(target.elts):
                for i, element in enumerate(target.elts):
                    if isinstance(element, ast.Name):
                        one.value.elts[i] = self.value(one.value.elts[i], element.id, where)
            result.append(one)
        if len(statement.targets) > 1 and not isinstance(
            statement.value, (ast.Constant, ast.BinOp, ast.Tuple)
        ):
            return [statement]  # other values are evaluated once, as in the source
        return result

    def calls(self, function, label):
        """Replaces literal extents in factory calls: torch.rand(batch_size, 3, 224, 224)."""
        count = 0
        for node in ast.walk(function):
            called = (
                getattr(node.func, "attr", getattr(node.func, "id", None))
                if isinstance(node, ast.Call)
                else None
            )
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
            for argument in node.keywords:
                if argument.arg == "size":
                    argument.value = self.value(argument.value, f"{label}{count}", function.name, least=2)
            count += 1

    def bound(self, node, label, where):
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

    def defaults(self, function):
        """Replaces defaults of parameters: def get_inputs(batch=16)."""
        arguments = function.args
        known = [a.arg for a in arguments.posonlyargs + arguments.args]
        for i, default in enumerate(arguments.defaults):
            name = known[len(known) - len(arguments.defaults) + i]
            arguments.defaults[i] = self.value(default, name, function.name)
        for i, default in enumerate(arguments.kw_defaults):
            if default is not None:
                arguments.kw_defaults[i] = self.value(default, arguments.kwonlyargs[i].arg, function.name)

    def returned(self, function, parameters):
        """Replaces literals that get_init_inputs returns. They are named like the constructor's parameters."""
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and isinstance(node.value, (ast.List, ast.Tuple)):
                for i, element in enumerate(node.value.elts):
                    name = parameters[i] if i < len(parameters) else f"init{i}"
                    node.value.elts[i] = self.value(element, name, function.name)

    def find(self, parameters):
        body = []
        for statement in self.tree.body:
            if isinstance(statement, ast.FunctionDef) and statement.name in FUNCTIONS:
                inner = []
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


def _parameters(tree, class_name, method):
    """Returns the names of a method's parameters after self, from the tree alone."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == method:
                    return [a.arg for a in member.args.args[1:]]
    return []


class NoTask(TypeError):
    """Model, get_inputs or get_init_inputs is of the wrong kind, or a function returned no list of arguments."""

    def __init__(self, text, hint):
        super().__init__(text)
        self.hint = hint


def _kind(value):
    return type(value).__name__.replace("FakeTensor", "Tensor")


def _listed(function, value):
    if not isinstance(value, (list, tuple)):
        raise NoTask(
            f"{function} returned a {_kind(value)}; a list was expected",
            "let it return a list of arguments, in the order of the parameters",
        )
    return list(value)


def _require_names(module, entry):
    import torch

    made = getattr(module, entry, None)
    if not isinstance(made, type) or not issubclass(made, torch.nn.Module):
        found = (
            f"a class of {', '.join(b.__name__ for b in made.__bases__)}"
            if isinstance(made, type)
            else f"a {_kind(made)}"
        )
        raise NoTask(
            f"{entry} is {found}; a class derived from torch.nn.Module was expected",
            "derive it, as in KernelBench's tasks",
        )
    for name in FUNCTIONS:
        if not callable(getattr(module, name, None)):
            raise NoTask(
                f"{name} is a {_kind(getattr(module, name, None))}; a function was expected",
                "write it, as in KernelBench's tasks",
            )


def arguments_of(init):
    """Returns `(positional, by name)` from get_init_inputs's result: a list, a dictionary, or [list, dictionary] as
    in KernelBook."""
    if isinstance(init, dict):
        return [], init
    if (
        len(init) == 2
        and isinstance(init[0], (list, tuple))
        and isinstance(init[1], dict)
        and (init[1] or not init[0])
    ):
        return list(init[0]), init[1]
    return list(init), {}


class Instance:
    """A source executed with sizes. It constructs models and draws inputs."""

    def __init__(self, module, entry):
        _require_names(module, entry)
        self.module, self.entry = module, entry
        init = module.get_init_inputs()
        self.init_args, self.init_named = arguments_of(
            init if isinstance(init, dict) else _listed("get_init_inputs", init)
        )

    def model(self, cls=None, device=None, weights=None):
        """Constructs a module of `cls` (default: the task's own class). `weights`, by name of the state dict, are
        loaded into it."""
        from . import weight

        model = (cls or getattr(self.module, self.entry))(
            *copy.deepcopy(self.init_args), **copy.deepcopy(self.init_named)
        )
        if device is not None:
            model = model.to(device)
        if weights is not None:
            weight.load(model, weights)
        return model

    def inputs(self):
        """Returns the inputs of get_inputs as a list."""
        return _listed("get_inputs", self.module.get_inputs())

    @property
    def input_names(self):
        """Returns the names of forward's parameters in order."""
        forward = getattr(self.module, self.entry).forward
        return [p for p in inspect.signature(forward).parameters if p != "self"]


class Source:
    """A task's syntax tree and its sizes."""

    def __init__(self, path, text, entry="Model", directory=None):
        self.path, self.text, self.entry, self.directory = path, text, entry, directory
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.modules = {}  # text by path of the modules from the task's folder (own_modules.py)
        self.hanging = None  # the failure by which fake.py found that shapes depend on values
        try:
            tree = ast.parse(text, filename=os.path.basename(path))
        except (SyntaxError, ValueError) as error:
            line = f"line {error.lineno}: {error.msg}" if getattr(error, "lineno", None) else str(error)
            raise SourceError(
                f"{path} is no Python: {line}; a task's source was expected\n---> correct it"
            ) from error
        self._require(tree)
        places = _Places(tree)
        places.find(_parameters(tree, entry, "__init__"))
        self.sizes = places.sizes
        self.code = compile(tree, os.path.basename(path), "exec")

    def _require(self, tree):
        """Raises SourceError if one of the three names is missing."""
        if not tree.body:
            raise SourceError(
                f"{self.path} is empty; class {self.entry}, get_inputs and get_init_inputs were expected\n"
                "---> give the task's file"
            )
        found = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        found |= {
            t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
        }
        imported = any(isinstance(n, ast.ImportFrom) for n in tree.body)
        for name in (self.entry, *FUNCTIONS):
            if name not in found and not imported:
                raise SourceError(
                    f"{self.path} has no {name}; class {self.entry}, get_inputs and get_init_inputs "
                    "were expected\n---> write it, as in KernelBench's tasks"
                )

    def published(self):
        """Returns all sizes as published."""
        return {size.name: size.value for size in self.sizes}

    def execute(self, sizes):
        """Executes the source as a module with `sizes`, the others as published."""
        module = types.ModuleType(MODULE)
        module.__file__ = os.path.basename(self.path)
        for name, value in {**self.published(), **sizes}.items():
            module.__dict__[PREFIX + name] = value
        sys.modules[MODULE] = module
        if self.modules:
            module.__builtins__, module.__package__ = (
                own_modules.OwnModules(self.modules, MODULE).builtins,
                MODULE,
            )
        linecache.cache[module.__file__] = (len(self.text), None, self.text.splitlines(True), module.__file__)
        exec(self.code, module.__dict__)
        return module

    def instance(self, sizes):
        """Executes the source with `sizes` and gets its constructor's arguments."""
        return Instance(self.execute(sizes), self.entry)

    def published_sets(self):
        """Returns the published configurations, each as sizes by name. They are the source's own sizes or the SHAPES
        of shapes.py."""
        path = os.path.join(self.directory or "", "shapes.py")
        if not self.directory or not os.path.exists(path):
            return [self.published()]
        namespace = {}
        try:
            with open(path, encoding="utf-8") as file:
                exec(compile(file.read(), "shapes.py", "exec"), namespace)
        except Exception as error:
            raise SourceError(
                f"shapes.py does not run: {type(error).__name__}: {error}; SHAPES, a list of dictionaries, was "
                "expected\n---> correct it"
            ) from error
        by_lower = {size.name.lower(): size.name for size in self.sizes}
        sets = []
        for shape in namespace.get("SHAPES", []):
            unknown = [key for key in shape if key.lower() not in by_lower]
            if unknown:
                raise SourceError(
                    f"shapes.py gives '{unknown[0]}', which is no size of reference.py; one of "
                    f"{', '.join(sorted(by_lower.values()))} was expected\n---> name it after a "
                    "constant there"
                )
            sets.append({**self.published(), **{by_lower[k.lower()]: int(v) for k, v in shape.items()}})
        return sets or [self.published()]


def tolerance(directory):
    """Reads tolerances from problem.yaml. Returns `({dtype: atol and rtol}, unreadable lines)`.

    It reads lines `dtype: number` below `tolerance:`, which needs no YAML parser.
    """
    found, unread, inside = {}, [], False
    try:
        with open(os.path.join(directory or "", "problem.yaml"), encoding="utf-8") as file:
            lines = file.read().splitlines() if directory else []
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError) as error:
        return {}, [f"problem.yaml: {error}"]
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].rstrip()
        if text and not text[0].isspace():
            inside = text.split(":")[0] == "tolerance"
            if not inside or text == "tolerance:":
                continue
        if not inside or not text:
            continue
        match = re.fullmatch(
            r"\s+[\"']?(?:torch\.)?(\w+)[\"']?\s*:\s*[\"']?([0-9.]+(?:[eE][-+]?[0-9]+)?)[\"']?", text
        )
        try:
            found[match[1]] = float(match[2])
        except (TypeError, ValueError):
            unread.append(
                f"problem.yaml, line {number}: '{text.strip()[:60]}'; a dtype and a number were expected"
            )
    return found, unread


def load(path, entry="Model"):
    """Reads the source at `path`: a .py file, or a directory with reference.py."""
    directory = path if os.path.isdir(path) else None
    file = os.path.join(path, "reference.py") if directory else path
    if directory is None and os.path.basename(path) == "reference.py":
        directory = os.path.dirname(path)
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except OSError as error:
        raise SourceError(
            f"{file}: {error.strerror}; a task's source was expected\n---> check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{file} is no UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}; a task's source was "
            "expected\n---> save it as UTF-8"
        ) from error
    source = Source(file, text, entry, directory)
    if directory:
        source.modules = own_modules.read(directory, text)
    return source


def load_imported(folder, description):
    """Reads the source of the description (NAME.task) in `folder`, with the modules that the description holds."""
    source = load(os.path.join(folder, description["source"]["file"]), description["entry"])
    source.modules = description["source"].get("modules", {})
    return source
