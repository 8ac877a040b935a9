"""Tests of unseen_torch/readers: small tasks of our own in each form.

The suite task runs them, and any Python that has torch can."""

import contextlib
import json
import os
import tempfile

import torch
from importing import run
from unseen_torch.oracle import task_session
from unseen_torch.task import Task, describe, source, variants, write


@contextlib.contextmanager
def laid(files):
    """A folder with these files, by path."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            whole = os.path.join(folder, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text if isinstance(text, str) else json.dumps(text))
        yield folder


def described(path, vary=()):
    """(description, source) of the task at `path`."""
    loaded = variants.chosen(source.load(path))
    return describe.describe(loaded, "t", 20.0, vary), loaded


@contextlib.contextmanager
def imported(path):
    """(description, the oracle's task, the candidate's) from an import."""
    task, loaded = described(path)
    with tempfile.TemporaryDirectory() as folder:
        write.write(task, loaded, folder)
        file = os.path.join(folder, "t.task")
        yield task, task_session.Task(file, "cpu"), Task.read(file)


def axes(task):
    return {a["name"]: (a["low"], a["ring"]) for a in task["axes"]}


def refused(path, *parts):
    try:
        described(path)
    except source.SourceError as error:
        for part in parts:
            assert part in str(error), (part, str(error))
        assert "\n---> " in str(error), error
        return
    raise AssertionError(f"{path} was read")


# --- Atrex-Bench ---

ATREX = {
    "norm/reference.py": """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, x, weight, bias=None):
        y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps) * weight.float()
        return {"y": (y if bias is None else y + bias.float()).to(x.dtype)}
""",
    "norm/input.py": """
import torch


def _make_inputs(tokens, width, dtype="bf16"):
    kind = torch.bfloat16 if dtype == "bf16" else torch.float16
    weight = torch.randn(width, dtype=kind, device='cuda')
    return {"weight": weight, "x": torch.randn(tokens, width, dtype=kind, device='cuda')}
""",
    "norm/shapes.json": {
        str(i): {
            "init_kwargs": {"eps": eps},
            "input_kwargs": {"tokens": tokens, "width": width, "dtype": dtype},
        }
        for i, (eps, tokens, width, dtype) in enumerate(
            [(1e-6, 5, 64, "bf16"), (1e-5, 7, 64, "bf16"), (1e-6, 9, 96, "fp16"), (1e-6, 3, 96, "bf16")]
        )
    },
    "norm/metadata.json": {"shapes": {"1": {"call_count": 12}}},
}


def named_arguments_are_axes_and_other_types_are_left_out():
    with laid(ATREX) as folder, imported(f"{folder}/norm") as (task, _oracle, own):
        assert task["form"] == "atrex", task["form"]
        assert set(axes(task)) == {"tokens", "width", "variant"}, axes(task)
        assert [(i["name"], i.get("dtype")) for i in task["inputs"]][:2] == [
            ("x", "bfloat16"),
            ("weight", "bfloat16"),
        ]
        assert write.seen(task).count("input=published") == 3, write.seen(task)
        notes = [n["text"] for n in task["notes"] if n["kind"] == "variant"]
        assert len(notes) == 1 and "1 like 2" in notes[0], notes
        for variant, eps in ((1, 1e-6), (2, 1e-5)):
            instance = own.instance({"tokens": 4, "width": 16, "variant": variant})
            assert instance.init_named == {"eps": eps}, instance.init_named
        loaded = variants.chosen(source.load(f"{folder}/norm"))
        assert [c.weight for c in loaded.reading.configs] == [1, 12, 1], loaded.reading.configs


def a_candidate_may_take_its_arguments_in_another_order():
    class Other(torch.nn.Module):
        def forward(self, weight, x, bias=None):
            return weight - x

    with laid(ATREX) as folder:
        module = source.load(f"{folder}/norm").execute({})
        entry = module.unseen_solution(Other, None)
        assert entry()(torch.tensor(1.0), torch.tensor(3.0)) == 2.0
        plain = module.unseen_solution(lambda weight, x, bias: weight - x, None)
        assert plain(torch.tensor(1.0), torch.tensor(3.0), None) == 2.0


def lists_of_several_lengths_have_a_count_and_a_greatest_element():
    files = {
        "r/reference.py": "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        "        return x * 2\n",
        "r/input.py": "import torch\n\n\ndef _make_inputs(lens, width):\n"
        "    return {'x': torch.randn(sum(lens), width)}\n",
        "r/shapes.json": {
            "a": {"input_kwargs": {"lens": [3, 5], "width": 4}},
            "b": {"input_kwargs": {"lens": [6, 6, 6], "width": 8}},
        },
    }
    with laid(files) as folder:
        loaded = source.load(f"{folder}/r")
        assert [c.values for c in loaded.reading.configs] == [
            {"lens_count": 2, "lens_most": 5, "width": 4},
            {"lens_count": 3, "lens_most": 6, "width": 8},
        ]
        for sizes, rows in (
            ({}, 8),
            ({"lens_count": 3, "lens_most": 6}, 18),
            ({"lens_count": 4, "lens_most": 2}, 8),
        ):
            assert len(loaded.instance(sizes).inputs()[0]) == rows, sizes


def bad_atrex_directories_are_refused():
    for name, text, *parts in (
        ("shapes.json", "[1,", "shapes.json, line 1", "an object of configurations was expected"),
        ("shapes.json", "{}", "has no configurations"),
        ("input.py", "_make_inputs = 1 +", "input.py"),
    ):
        with laid({**ATREX, f"norm/{name}": text}) as folder:
            try:
                described(f"{folder}/norm")
            except Exception as error:
                assert all(part in str(error) for part in parts) or name == "input.py", error
            else:
                raise AssertionError(name)
    with laid({"x/other.txt": ""}) as folder:
        refused(f"{folder}/x", "is a directory of no known form", "atrex (reference.py input.py shapes.json)")
    try:
        source.load(".", "none")
    except source.SourceError as error:
        assert "--as none: there is no such form" in str(error) and "atrex" in str(error)


# --- definitions ---

DEFINITION = {
    "name": "gather_h8",
    "axes": {
        "batch": {"type": "var"},
        "width": {"type": "const", "value": 8},
        "half": {"type": "expr", "expression": "width // 2"},
        "num_pages": {"type": "var"},
        "len_indptr": {"type": "var"},
        "total": {"type": "var"},
    },
    "constraints": ["len_indptr == batch + 1", "total == indptr[-1].item()"],
    "inputs": {
        "cache": {"shape": ["num_pages", "width"], "dtype": "float32"},
        "indptr": {"shape": ["len_indptr"], "dtype": "int32"},
        "page_ids": {"shape": ["total"], "dtype": "int32"},
        "scale": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["batch", "half"], "dtype": "float32"}},
    "reference": """
import torch


def run(cache, indptr, page_ids, scale):
    assert page_ids.shape[0] == indptr[-1].item()
    rows = cache[page_ids.long()] * scale
    of = torch.bucketize(torch.arange(rows.shape[0], device=rows.device), indptr[1:].long(), right=True)
    y = torch.zeros(indptr.shape[0] - 1, cache.shape[1], device=rows.device).index_add_(0, of, rows)
    return y[:, : cache.shape[1] // 2]
""",
}
WORKLOADS = "".join(
    json.dumps(
        {
            "uuid": f"w{i}",
            "axes": {"batch": b, "num_pages": p, "len_indptr": b + 1, "total": t},
            "inputs": {"scale": {"type": "scalar", "value": 0.5}},
        }
    )
    + "\n"
    for i, (b, p, t) in enumerate([(3, 6, 9), (2, 7, 12)])
)


def constraints_are_expressions_and_offsets():
    with laid({"g/definition.json": DEFINITION, "g/workload.jsonl": WORKLOADS}) as folder:
        loaded = source.load(f"{folder}/g")
        assert {s.name for s in loaded.sizes} == {"batch", "width", "num_pages", "total"}, loaded.sizes
        cache, indptr, ids, scale = loaded.instance({"batch": 4, "total": 11, "num_pages": 5}).inputs()
        assert cache.shape == (5, 8) and indptr.shape == (5,) and scale == 0.5
        assert indptr[0] == 0 and indptr[-1] == 11 and bool((indptr.diff() >= 0).all())
        assert ids.shape == (11,) and int(ids.min()) >= 0 and int(ids.max()) < 5
        task, _ = described(f"{folder}/g")
        sizes = {s["name"]: s["why"] for s in task["sizes"]}
        assert sizes["width"] == "its definition says that it is constant; --vary varies it", sizes
        assert "width" not in axes(task) and {"batch", "num_pages", "total"} <= set(axes(task)), axes(task)
        assert any("page_ids is taken for indices below num_pages" in n["text"] for n in task["notes"])
        vary, _ = described(f"{folder}/g", ("width",))
        assert "width" in axes(vary), axes(vary)


def uuids_of_workloads_stand_in_comments_of_the_seen_set():
    with laid({"g/definition.json": DEFINITION, "g/workload.jsonl": WORKLOADS}) as folder:
        task, _ = described(f"{folder}/g")
    for text in (write.seen(task), write.host_seen(task)):
        lines = text.splitlines()[1:]
        assert [line.split("  # ")[1] for line in lines] == ["workload=w0", "workload=w1"], text
    nameless = WORKLOADS.replace('"uuid": "w0"', '"uuid": "two words"')
    with laid({"g/definition.json": DEFINITION, "g/workload.jsonl": nameless}) as folder:
        task, _ = described(f"{folder}/g")
    assert [line.partition("  # ")[2] for line in write.seen(task).splitlines()] == ["", "", "workload=w1"]


def a_definition_may_be_a_file_of_a_data_set():
    files = {"definitions/ops/g.json": DEFINITION, "workloads/ops/g.jsonl": WORKLOADS}
    with laid(files) as folder:
        loaded = source.load(f"{folder}/definitions/ops/g.json")
        assert [c.name for c in loaded.reading.configs] == ["w0", "w1"]
    with laid({"definitions/ops/g.json": DEFINITION}) as folder:
        loaded = source.load(f"{folder}/definitions/ops/g.json")
        assert loaded.reading.configs[0].values["batch"] == 128


def candidates_write_or_return():
    with laid({"g/definition.json": DEFINITION, "g/workload.jsonl": WORKLOADS}) as folder:
        module = source.load(f"{folder}/g").execute({"batch": 4})
        given = [torch.ones(2, 8), torch.zeros(5), torch.zeros(3), 0.5]

        def writes(cache, indptr, page_ids, scale, y):
            y.fill_(scale)

        made = module.unseen_solution(writes, None)(*given)
        assert made.shape == (4, 4) and bool((made == 0.5).all())
        assert module.unseen_solution(lambda a, b, c, d: d, None)(*given) == 0.5
        assert module.unseen_solution(lambda a, b, c, d, y=None: d, False)(*given) == 0.5


def bad_definitions_are_refused():
    for change, *parts in (
        ({"inputs": None}, "definition.json has no 'inputs'"),
        (
            {"axes": {**DEFINITION["axes"], "half": {"type": "expr", "expression": "nothing // 2"}}},
            "the axis half is",
        ),
    ):
        value = {k: v for k, v in {**DEFINITION, **change}.items() if v is not None}
        with laid({"g/definition.json": value, "g/workload.jsonl": WORKLOADS}) as folder:
            refused(f"{folder}/g", *parts)
    with laid({"g/definition.json": DEFINITION, "g/workload.jsonl": '{"axes": {"batch": 2}}\n'}) as folder:
        refused(f"{folder}/g", "workload.jsonl, line 1 gives no num_pages")


if __name__ == "__main__":
    run(globals(), ("laid", "described", "imported", "axes", "refused"))
