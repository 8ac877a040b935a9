"""Tests of unseen_torch/readers: gpu-mode and NPUKernelBench."""

import json

import torch
from importing import run
from test_readers import axes, imported, laid, refused
from unseen_torch.task import write

# --- gpu-mode ---

GPU_MODE = {
    "task.yml": """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "utils.py", "source": "../utils.py"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
tests:
  - {"size": 48, "hot": 10, "seed": 1, "nomask": True}   # first
  - {"size": 64, "hot": 40, "seed": 2, "nomask": false}
benchmarks:
  - {size: 128, hot: 40, seed: 3, nomask: true}
""",
    "task.py": "import torch\n\ninput_t = tuple\n",
    "../utils.py": "def nothing():\n    return None\n",
    "reference.py": """
import torch
from task import input_t
from utils import nothing


def ref_kernel(data):
    x, config, out = data
    out[...] = x["rows"] * config["size"] if config["mask"] else x["rows"]
    return out


def generate_input(size: int, hot: int, seed: int, nomask: bool):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    rows = torch.randn(size, 8, device="cuda", generator=gen)
    x = {"rows": rows}
    config = {"size": size, "mask": True}
    out = torch.empty(size, 8, device="cuda")
    return x, config, out


def check_implementation(data, output):
    return True, ""
""",
}


def nested_data_has_leaves():
    with (
        laid({f"set/op/{name}": text for name, text in GPU_MODE.items()}) as folder,
        imported(f"{folder}/set/op") as (
            task,
            _,
            own,
        ),
    ):
        assert task["form"] == "gpu-mode" and task["candidates"] == ["custom_kernel"]
        assert [i["name"] for i in task["inputs"]] == ["x_rows", "config_size", "out"], task["inputs"]
        assert "size" in axes(task) and "seed" not in axes(task), axes(task)
        assert write.seen(task).count("input=published") == 3, write.seen(task)
        module = own.instance(dict.fromkeys(axes(task), 1) | {"size": 6}).module

        def custom_kernel(data):
            x, config, out = data
            out[...] = x["rows"] * config["size"]
            return out

        rows = torch.ones(6, 8)
        assert bool((module.unseen_solution(custom_kernel, None)(rows, 3, torch.zeros(6, 8)) == 3).all())


def bad_gpu_mode_tasks_are_refused():
    for old, new, *parts in (
        ('lang: "py"', 'lang: "cu"', "its language is cu"),
        ('lang: "py"', "multi_gpu: true", "is for several GPUs"),
        ("{size: 128,", "{size: [128,", "task.yml, line 12"),
        ("return x, config, out", "return x, object(), out", "its inputs hold a object"),
        ("gen.manual_seed(seed)", "nowhere(seed)", "does not run as it is"),
    ):
        files = {f"set/op/{n}": t.replace(old, new) for n, t in GPU_MODE.items()}
        with laid(files) as folder:
            refused(f"{folder}/set/op", *parts)


# --- NPUKernelBench ---

GROUPS = """
import json
import os
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight, eps=1e-6, mask=None, mode="rows"):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
        return y if mode == "rows" else -y


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), "norm.json")
    groups = []
    with open(path) as file:
        for line in file:
            one = {i["name"]: i for i in json.loads(line)["inputs"]}
            kind = {"float32": torch.float32, "float16": torch.float16}[one["x"]["dtype"]]
            tensors = [torch.randn(one[n]["shape"], dtype=kind) for n in ("x", "weight")]
            groups.append([*tensors, one["eps"]["value"], None, one["mode"]["value"]])
    return groups


def get_init_inputs():
    return []
"""


def _line(rows, width, eps, mode, dtype="float32"):
    return json.dumps(
        {
            "inputs": [
                {"name": "x", "type": "tensor", "required": True, "dtype": dtype, "shape": [rows, 2 * width]},
                {"name": "weight", "type": "tensor", "required": True, "dtype": dtype, "shape": [2 * width]},
                {"name": "eps", "type": "attr", "required": False, "dtype": "float", "value": eps},
                {"name": "mask", "type": "tensor", "required": False, "dtype": dtype, "shape": None},
                {"name": "mode", "type": "attr", "required": False, "dtype": "str", "value": mode},
            ]
        }
    )


def groups_have_shared_extents_and_a_table_of_attributes():
    lines = [_line(2, 8, 1e-6, "rows"), _line(3, 16, 1e-5, "rows"), _line(5, 4, 1e-5, "other")]
    lines.append(_line(2, 8, 1e-6, "rows", "float16"))
    files = {"norm.py": GROUPS, "norm.json": "\n".join(lines) + "\n"}
    with laid(files) as folder, imported(f"{folder}/norm.py") as (task, _oracle, own):
        assert task["form"] == "input-groups"
        assert set(axes(task)) == {"x_0", "x_1", "variant"}, axes(task)
        assert [i["shape"] for i in task["inputs"] if "shape" in i] == [["x_0", "x_1"], ["x_1"]]
        table = {i["name"]: i.get("table") for i in task["inputs"]}
        assert table["eps"] == [1e-6, 1e-5, 1e-5] and table["mode"] == ["rows", "rows", "other"], table
        assert any("1 like line 4" in n["text"] for n in task["notes"]), task["notes"]
        x, weight = torch.ones(2, 4), torch.ones(4)
        given = own.arguments({"x": x, "weight": weight}, {"x_0": 2, "x_1": 4, "variant": 3})
        assert given[2:] == [1e-5, None, "other"], given


if __name__ == "__main__":
    run(globals(), ("laid", "imported", "axes", "refused", "_line"))
