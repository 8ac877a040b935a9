"""Makes the module that `unseen harden` writes: the task's source, followed by a list of shapes."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence

from ..task import sizes
from ..task import source as sources
from . import drawing

KEPT_OUT = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Expr, ast.If)


class _Rename(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id.startswith(sizes.PREFIX):
            node.id = "size_" + node.id[len(sizes.PREFIX) :]
        return node


def _assigned(tree: ast.Module) -> set[str]:
    """Returns the names that the module assigns outside of its functions and classes."""
    plain = [s for s in tree.body if not isinstance(s, (ast.ClassDef, ast.FunctionDef))]
    return {
        n.id for s in plain for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _read(tree: ast.Module) -> set[str]:
    return {
        n.id
        for s in tree.body
        if isinstance(s, ast.ClassDef)
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def maker(source: sources.Source) -> tuple[str, bool]:
    """Returns (text of _task, does a class read the module's own constants?)."""
    tree = ast.parse(source.text)
    places = sizes.Places(tree)
    places.find(sources.parameters_of(tree, source.entry, "__init__"))
    inside = bool(_assigned(tree) & _read(tree))
    held = places.classes if places.sizes else set()  # classes of configurations
    body = [
        _Rename().visit(s)
        for s in tree.body
        if not isinstance(s, KEPT_OUT) or (isinstance(s, ast.ClassDef) and (inside or s.name in held))
    ]
    names = ["get_inputs", "get_init_inputs", source.entry]
    body.append(ast.Return(ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load())))
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg("size_" + s.name) for s in places.sizes],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[ast.Constant(s.value) for s in places.sizes],
    )
    function = ast.FunctionDef("_task", arguments, body, [], None, None)
    function.type_params = []  # type: ignore[attr-defined]  # from Python 3.12 on
    return ast.unparse(ast.fix_missing_locations(ast.Module([function], []))), inside


ACCESS = '''
def _part(i, part):
    return _task(**{"size_" + name: value for name, value in SHAPES[i].items()})[part]


def get_inputs_for(i):
    """forward's arguments at shape i, from torch's generator as it stands."""
    return [drawn(x, INPUTS[i]) if is_real else x for x, is_real in zip(_part(i, 0)(), REAL)]


def get_init_inputs_for(i):
    """The constructor's arguments at shape i."""
    return _part(i, 1)()


def model_for(i):
    """The reference at shape i, with weights that are not the identity: a candidate gets the same by
    vary_weights(ModelNew(*init), SEEDS[i]), where init is get_init_inputs_for(i) after the same torch.manual_seed."""
    torch.manual_seed(SEEDS[i])
    positional, named = arguments_of(get_init_inputs_for(i))
    return vary_weights(_part(i, 2)(*positional, **named), SEEDS[i])


def accepts(i, want, got):
    """Is `got` right at shape i, beside the reference's own answer?"""
    atol, rtol = TOLERANCES[i]
    wants, gots = (x if isinstance(x, (tuple, list)) else [x] for x in (want, got))
    return len(wants) == len(gots) and all(
        w.shape == g.shape and torch.allclose(w.double(), g.double(), atol=atol, rtol=rtol) for w, g in zip(wants, gots))
'''

CHECK = '''

def _candidate_for(i, candidate):
    """The candidate at shape i with the reference's weights: the same seed and the same names."""
    torch.manual_seed(SEEDS[i])
    positional, named = arguments_of(get_init_inputs_for(i))
    model = candidate(*positional, **named)
    missing = sorted(set(model_for(i).state_dict()) - set(model.state_dict()))
    if missing:
        raise ValueError(f"its state dict lacks {', '.join(missing)}; the names of the reference were expected")
    return vary_weights(model, SEEDS[i])


def _on(values, device):
    return [x.to(device).clone() if isinstance(x, torch.Tensor) else x for x in values]


def _complaint(i, candidate, device):
    """None where the candidate is right at shape i; else why not."""
    torch.manual_seed(SEEDS[i])
    inputs = get_inputs_for(i)
    with torch.no_grad():
        want = model_for(i).to(device)(*_on(inputs, device))
        try:
            got = _candidate_for(i, candidate).to(device)(*_on(inputs, device))
            right = accepts(i, want, got)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None if right else "wrong values, or another shape or number of outputs"


def check(candidate, device=None):
    """For each shape None where `candidate`, a class like Model, is right; else why not. Of the reference TF32 must be off."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    return [_complaint(i, candidate, device) for i in range(len(SHAPES))]


def _solution(path):
    """The class ModelNew of a solution's file."""
    import importlib.util
    import os
    import sys
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelNew


def main(arguments):
    """python FILE SOLUTION.py [DEVICE]: a line for each shape; 0 all are right, 1 some are not, 2 there is no ModelNew to check."""
    import sys
    if len(arguments) not in (2, 3):
        print(f"usage: python {arguments[0]} SOLUTION.py [DEVICE]", file=sys.stderr)
        return 2
    try:
        candidate = _solution(arguments[1])
    except Exception as error:
        print(f"{arguments[1]}: {type(error).__name__}: {error}; a file with a class ModelNew was expected", file=sys.stderr)
        return 2
    found = check(candidate, *arguments[2:])
    for i, why in enumerate(found):
        sizes = " ".join(f"{name}={value}" for name, value in SHAPES[i].items())
        print(f"{'pass' if why is None else 'fail'} {i} {sizes} input={INPUTS[i]}" + (f": {why}" if why else ""))
    print(f"{found.count(None)} of {len(found)} pass")
    return int(any(found))
'''


def _is_guard(statement: ast.stmt) -> bool:
    """Tells whether a statement is `if __name__ == "__main__"`. The written module has one of its own."""
    return isinstance(statement, ast.If) and "__name__" in {
        n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)
    }


def without_guard(text: str) -> str:
    """Returns the source without its main guard."""
    lines = text.splitlines()
    for statement in reversed(ast.parse(text).body):
        if _is_guard(statement):
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "\n".join(lines)


def unannotated(text: str) -> str:
    """Returns the text of a function without the annotations of its head, which stands in one line."""
    head, _, body = text.partition("\n")
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef) and function.args.args
    if function.returns:
        head = head[: function.args.args[-1].end_col_offset] + "):"
    for argument in reversed(function.args.args):
        head = head[: argument.col_offset] + argument.arg + head[argument.end_col_offset :]
    return f"{head}\n{body}"


def module(source: sources.Source, domains: Sequence[str | None]) -> str:
    """Returns the module's text up to its lists SHAPES, INPUTS, SEEDS and TOLERANCES."""
    text, _ = maker(source)
    functions = "\n\n\n".join(
        unannotated(inspect.getsource(f)).rstrip()
        for f in (drawing.drawn, drawing.vary_weights, sources.arguments_of)
    )
    real = "REAL = [" + ", ".join(str(d == "real") for d in domains) + "]"
    return "\n".join(
        [
            without_guard(source.text).rstrip(),
            "",
            "",
            "# --- unseen harden: the same task at other shapes ---",
            "import torch",
            "",
            real,
            "",
            "",
            functions,
            "",
            "",
            text,
            "",
            ACCESS + CHECK,
        ]
    )
