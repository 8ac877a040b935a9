"""Tasks of a KernelBench folder at sizes that a CPU evaluates in about a second: module-level numbers replaced."""

import ast
import types

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

CAPS = (64, 48, 40, 32, 24, 20, 16, 12, 8, 6, 4)
MOST_FLOPS = 6e7
MOST_ELEMENTS = 4e5
# The sizes that shrink: everything, the batch further; everything alike; only sizes that no weight's shape
# depends on.
WAYS = ("batch", "alike", "free")
FREE = ("batch", "depth", "height", "length", "seq", "D", "H")


class Shrink(ast.NodeTransformer):
    """Whole numbers above a cap in assignments at the module's level become the cap; odd ones one less than it."""

    def __init__(self, cap):
        self.now = cap

    def visit_Constant(self, node):
        if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value > self.now:
            small = self.now
            if node.value % 2 and small > 2:
                small -= 1
            return ast.copy_location(ast.Constant(small), node)
        return node

    def visit_BinOp(self, node):
        if all(
            isinstance(n, (ast.BinOp, ast.Constant, ast.Mult, ast.Add, ast.Sub, ast.Pow))
            for n in ast.walk(node)
        ):
            value = eval(compile(ast.Expression(node), "size", "eval"))
            if isinstance(value, int):
                return self.visit_Constant(ast.copy_location(ast.Constant(value), node))
        return self.generic_visit(node)


def limit(statement, cap, way):
    """The cap for one statement, or None where it stays."""
    if isinstance(statement, ast.FunctionDef):
        return cap if statement.name in ("get_inputs", "get_init_inputs") and way != "free" else None
    if not isinstance(statement, ast.Assign):
        return None
    names = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name)]
    if any("groups" in n for n in names):  # a group of one channel has nothing to normalize
        return max(cap // 8, 1)
    if way == "free":
        return max(cap // 4, 2) if any(n.startswith(f) for n in names for f in FREE) else None
    return (4 if cap > 4 else 2) if way == "batch" and any("batch" in n for n in names) else cap


def apart(statement):
    """`a, b = 1, 2` as two assignments."""
    if (
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Tuple)
        and isinstance(statement.value, ast.Tuple)
    ):
        return [
            ast.copy_location(ast.Assign([t], v), statement)
            for t, v in zip(statement.targets[0].elts, statement.value.elts)
        ]
    return [statement]


def load(path, cap, way):
    with open(path) as file:
        tree = ast.parse(file.read())
    tree.body = [single for statement in tree.body for single in apart(statement)]
    for i, statement in enumerate(tree.body):
        most = limit(statement, cap, way)
        if most:
            tree.body[i] = Shrink(most).visit(statement)
    ast.fix_missing_locations(tree)
    module = types.ModuleType("task")
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


def cost(path, cap, way):
    """(floating-point operations, elements) of the forward pass; raises where these sizes are not possible."""
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad(), FlopCounterMode(display=False) as flops:
        module = load(path, cap, way)
        model, inputs = module.Model(*module.get_init_inputs()), module.get_inputs()
        out = model(*inputs)
    outs = out if isinstance(out, (tuple, list)) else [out]
    return flops.get_total_flops(), sum(x.numel() for x in [*inputs, *outs] if isinstance(x, torch.Tensor))


def sizes(path):
    """(cap, way): the largest cheap sizes, else the cheapest possible ones."""
    possible = []
    for way in WAYS:
        for cap in CAPS:
            try:
                flops, elements = cost(path, cap, way)
            except Exception:  # what a model's code raises at sizes that do not fit may be anything
                continue
            possible.append((flops + 100 * elements, cap, way))
            if flops <= MOST_FLOPS and elements <= MOST_ELEMENTS:
                return cap, way
    return min(possible)[1:] if possible else tried(path)


def tried(path):
    """The same for a model that reads numbers, which cannot run without values: the least sizes that run."""
    for way in WAYS:
        for cap in reversed(CAPS):
            try:
                module = load(path, cap, way)
                with torch.no_grad():
                    module.Model(*module.get_init_inputs())(*module.get_inputs())
                return cap, way
            except Exception:
                continue
    raise ValueError("no small sizes found")


def instance(path, seed):
    """(model, inputs, sizes)."""
    cap, way = sizes(path)
    torch.manual_seed(seed)
    module = load(path, cap, way)
    model = module.Model(*module.get_init_inputs())
    return model, module.get_inputs(), f"{cap} {way}"


def loud(model, seed):
    """Weights that are not the identity: scales around 1, shifts, running statistics."""
    generator = torch.Generator().manual_seed(seed)

    def draw(t):
        return torch.rand(t.shape, generator=generator) - 0.5

    with torch.no_grad():
        for module in model.modules():
            if hasattr(module, "eps") and getattr(module, "weight", None) is not None:
                module.weight.add_(draw(module.weight))
                if getattr(module, "bias", None) is not None:
                    module.bias.add_(draw(module.bias))
    return model
