"""Tests of unseen_torch/readers: robust-kbench and AgentKernelArena, whose modules call a function."""

import torch
from importing import run
from test_readers import axes, imported, laid, refused
from unseen_torch.task import source, write

# --- robust-kbench ---

FUNCTION = """
import torch
import torch.nn as nn


def forward_fn(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


class Model(nn.Module):
    def __init__(self, width, eps=1e-5, kind="ones"):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width) if kind == "ones" else torch.randn(width))
        self.eps = eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.eps)


def get_inputs(rows: int = 5, width: int = 8):
    return [torch.randn(rows, width)]


input_names = ["x"]
"""
CONFIGS = {
    "single_input_configs": [{}],
    "single_init_configs": [{}],
    "single_shared_configs": [{"width": 16}],
    "multi_input_configs": [{"rows": 3}, {"rows": 7}],
    "multi_init_configs": [{"kind": "ones"}, {"kind": "random"}],
    "multi_shared_configs": [{"width": 16}, {"width": 24}, {"dim": 4}],
}


def products_of_configurations_are_the_seen_set():
    files = {"norm/func_forward.py": FUNCTION, "norm/config_forward.json": CONFIGS}
    with laid(files) as folder, imported(f"{folder}/norm") as (task, _oracle, own):
        assert task["form"] == "robust-kbench" and task["candidates"] == ["forward_fn", "forward"]
        assert set(axes(task)) == {"rows", "width", "variant"}, axes(task)
        configs = source.load(f"{folder}/norm").reading.configs
        assert [(c.values["rows"], c.values["width"], c.values["variant"]) for c in configs] == [
            (5, 16, 1),
            *((r, w, v) for v in (1, 2) for r in (3, 7) for w in (16, 24)),
        ]
        assert write.seen(task).count("input=published") == 9, write.seen(task)
        notes = [n["text"] for n in task["notes"] if n["kind"] == "variant"]
        assert len(notes) == 4 and "multi-3: it gives dim" in notes[0], notes
        module = own.instance({"rows": 2, "width": 6, "variant": 2}).module
        x, seen = torch.randn(2, 6), []

        def forward_fn(x, weight, eps):
            seen.append((tuple(weight.shape), eps))
            return x + weight

        made = module.unseen_solution(forward_fn, None)(**module.get_init_inputs())
        assert torch.equal(made(x), x + made.weight) and seen == [((6,), 1e-5)], seen
        assert module.unseen_solution(module.Model, None) is module.Model


def bad_robust_kbench_directories_are_refused():
    for configs, text, *parts in (
        ("{", FUNCTION, "config_forward.json, line 1"),
        ({}, FUNCTION, "config_forward.json has no configurations"),
        ({"single_input_configs": [3]}, FUNCTION, "a single list holds no objects"),
        ({"single_input_configs": [{"rows": 3}]}, FUNCTION, "no configuration is complete", "single-1"),
        (CONFIGS, FUNCTION + "1 +\n", "func_forward.py, line"),
        (
            {"single_input_configs": [{"width": 3}], "single_init_configs": [{"width": 4}]},
            FUNCTION,
            "have different values of one name",
        ),
    ):
        files = {"norm/func_forward.py": text, "norm/config_forward.json": configs}
        with laid(files) as folder:
            refused(f"{folder}/norm", *parts)


# --- AgentKernelArena ---

MODULE = """
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, features, hidden, scale=2.0):
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.scale = scale

    def forward(self, x, gate, power=1.0):
        return self.up(x) * gate * self.scale * power


class Other(nn.Module):
    pass


def get_inputs():
    for rows in (2, 6, 9):
        yield [torch.randn([rows, 4]), torch.rand(rows, 1), 0.5 * rows]
    yield [torch.randn(2, 3, 4), torch.rand(2, 3, 1), 1.0]


def get_init_inputs():
    return [[], {"features": 4, "hidden": 4}]
"""
FUNCTIONAL = MODULE.replace(
    "def forward(self, x, gate, power=1.0):", "def forward(self, x, gate, power=1.0, fn=None):"
).replace(
    "        return self.up(x)",
    "        return fn(x, gate, self.up.weight, self.up.bias, self.scale, power)\n",
)
ARENA = {
    "block/config.yaml": "source_file_path:\n- pytorch_code_module/py_7_Block.py\ntask_type: torch2hip\n",
    "block/pytorch_code_module/py_7_Block.py": MODULE,
    "block/pytorch_code_functional/py_7_Block_func.py": FUNCTIONAL.split(" * gate * self")[0]
    + FUNCTIONAL[FUNCTIONAL.index("\n\nclass Other") :],
}


def cases_of_a_module_are_the_seen_set():
    with laid(ARENA) as folder, imported(f"{folder}/block") as (task, _oracle, own):
        assert task["form"] == "agent-kernel-arena", task["form"]
        # the features are the width of x; the hidden width, which is equal, is a size of its own
        assert {"x_0", "x_1", "init_hidden"} <= set(axes(task)), (axes(task), task["sizes"])
        lines = [line for line in write.seen(task).splitlines() if not line.startswith("#")]
        assert len(lines) == 3, lines
        notes = [n["text"] for n in task["notes"] if n["kind"] == "variant"]
        assert len(notes) == 1 and "call 4: their tensors have other types or ranks" in notes[0], notes
        sizes = dict.fromkeys(axes(task), 1) | {"x_0": 3, "x_1": 6, "init_hidden": 5, "variant": 2}
        module = own.instance(sizes).module
        x, gate, power = module.get_inputs()
        assert x.shape == (3, 6) and power == 3.0 and module.get_init_inputs() == {"features": 6, "hidden": 5}

        def module_fn(x, gate, weight, bias, scale, power):
            return (x @ weight.T + bias) * gate * scale * power

        made = module.unseen_solution(module_fn, None)(**module.get_init_inputs())
        own_one = module.Model(**module.get_init_inputs())
        own_one.load_state_dict(made.state_dict())
        gate = gate.reshape(3, 1)
        assert torch.allclose(made(x, gate, power), own_one(x, gate, power), atol=1e-5)


def bad_arena_directories_are_refused():
    module = "block/pytorch_code_module/py_7_Block.py"
    for name, text, *parts in (
        ("block/config.yaml", "task_type: torch2hip\n", "config.yaml names no file of pytorch_code_module"),
        (module, "import torch\n", "has no class"),
        (module, MODULE + "1 +\n", "py_7_Block.py, line"),
        (module, MODULE.replace("def get_inputs", "def inputs"), "does not run", "get_inputs"),
        (module, MODULE.replace('"hidden": 4', '"width": 4'), "does not run", "argument: 'hidden'"),
    ):
        with laid({**ARENA, name: text}) as folder:
            refused(f"{folder}/block", *parts)


if __name__ == "__main__":
    run(globals(), ("laid", "imported", "axes", "refused"))
