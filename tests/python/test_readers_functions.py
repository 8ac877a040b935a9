"""Tests of unseen_torch/readers: robust-kbench."""

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


if __name__ == "__main__":
    run(globals(), ("laid", "imported", "axes", "refused"))
