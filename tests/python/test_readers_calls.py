"""Tests of unseen_torch/readers: files of a function and its tests, as in TritonBench-T and KernelBench-X.

Calls of operators, as in BackendBench, are read likewise."""

import json
import os

import torch
from importing import run
from test_readers import axes, imported, laid, refused
from unseen_torch import readers
from unseen_torch.task import source, write

LINE = "\n" + "#" * 146 + "\n\n"

NORM = """
import torch
import torch.nn.functional as F


def norm_linear(input, weight, bias=None, normalized_shape=4, *, eps=1e-5, scales=None, out=None):
    x = F.layer_norm(input, (normalized_shape,), eps=eps)
    y = F.linear(x, weight, bias)
    return y if scales is None else y * scales[0] + scales[1]
"""
TESTS = """
import torch


def test_norm_linear():
    results = {}
    weight = torch.randn(4, 4, device='cuda').abs()
    results["a"] = norm_linear(torch.randn(4, 4, device='cuda'), weight, normalized_shape=4)
    for rows in (6, 9):
        x = torch.rand(rows, 4, device='cuda')
        x[0] = 0
        results[f"b{rows}"] = norm_linear(x, weight, normalized_shape=4, eps=1e-3)
    results["again"] = norm_linear(x, weight, normalized_shape=4, eps=1e-3)
    results["bias"] = norm_linear(x, weight, torch.ones(4), 4)
    results["out"] = norm_linear(x, weight, normalized_shape=4, out=torch.empty(9, 4))
    try:
        norm_linear(x, torch.randn(3, 5))
    except RuntimeError:
        pass
    return results


test_results = test_norm_linear()
"""


def equal_extents_are_one_size_only_if_they_have_to_be():
    with laid({"t.py": NORM + LINE + TESTS}) as folder, imported(f"{folder}/t.py") as (task, _oracle, own):
        assert task["form"] == "tritonbench" and task["candidates"] == ["norm_linear"]
        # the width is also normalized_shape; the rows of input and weight are equal in the first call alone
        assert set(axes(task)) == {"input_0", "input_1", "weight_0", "variant"}, axes(task)
        assert [i["shape"] for i in task["inputs"] if "shape" in i] == [
            ["input_0", "input_1"],
            ["weight_0", "input_1"],
        ]
        lines = [line for line in write.seen(task).splitlines() if not line.startswith("#")]
        assert len(lines) == 3, lines
        notes = [n["text"] for n in task["notes"] if n["kind"] == "variant"]
        assert any("call 5: their tensors have other types or ranks" in n for n in notes), notes
        assert any("call 6: it passes a tensor as out" in n for n in notes), notes
        assert any("call 7: RuntimeError" in n for n in notes), notes
        module = own.instance({"input_0": 5, "input_1": 8, "weight_0": 3, "variant": 2}).module
        x, weight = module.get_inputs()
        assert x.shape == (5, 8) and weight.shape == (3, 8) and bool((weight >= 0).all())
        given = {}

        def candidate(input, weight, normalized_shape, eps):
            given.update(shape=normalized_shape, eps=eps)
            return input @ weight.T

        made = module.unseen_solution(candidate, None)(x, weight)
        assert made.shape == (5, 3) and given == {"shape": 8, "eps": 1e-3}, given
        wanted = torch.nn.functional.linear(torch.nn.functional.layer_norm(x, (8,), eps=1e-3), weight)
        assert torch.equal(module.Model(**module.get_init_inputs())(x, weight), wanted)


def equal_calls_are_one_configuration_with_a_weight():
    with laid({"t.py": NORM + LINE + TESTS}) as folder:
        configs = source.load(f"{folder}/t.py").reading.configs
        assert [(c.name, c.weight) for c in configs] == [("call-1", 1), ("call-2", 1), ("call-3", 2)], configs
        assert [c.values["variant"] for c in configs] == [1, 2, 2], configs


def indices_stay_below_the_size_that_bounds_them():
    text = """
import torch


def gather(table, index, dim=0):
    return torch.index_select(table, dim, index) * 2
"""
    tests = """
def test_gather():
    table = torch.randn(7, 3)
    gather(table, torch.tensor([0, 6, 2, 2, 1]))
    gather(torch.randn(9, 3), torch.tensor([0, 3]))


test_results = test_gather()
"""
    with laid({"t.py": text + LINE + tests}) as folder, imported(f"{folder}/t.py") as (task, _oracle, own):
        index = next(i for i in task["inputs"] if i["name"] == "index")
        assert index["domain"] == "index" and index["bound"] == "table_0", index
        _, drawn = own.instance({"table_0": 4, "table_1": 2, "index_0": 500}).inputs()
        assert int(drawn.max()) == 3 and int(drawn.min()) == 0, drawn


def literals_are_drawn_like_their_values():
    text = """
import torch


def root(matrix, vector, mask, gain=1.0):
    return torch.where(mask, torch.linalg.cholesky(matrix) @ vector * gain, vector)
"""
    tests = """
def test_root():
    m = torch.tensor([[4.0, 2.0], [2.0, 5.0]])
    root(m, torch.tensor([1.0, 3.0]), torch.tensor([True, False]), gain=float("inf"))


test_results = test_root()
"""
    with laid({"t.py": text + LINE + tests}) as folder:
        loaded = source.load(f"{folder}/t.py")
        assert {s.name for s in loaded.sizes} == {"matrix_0"}, loaded.sizes  # the vector moves with it
        matrix, vector, mask = loaded.instance({"matrix_0": 6}).inputs()
        assert torch.equal(matrix, matrix.mT) and bool((torch.linalg.eigvalsh(matrix) > 0).all())
        assert vector.shape == (6,) and bool((vector >= 0).all()) and mask.dtype is torch.bool
        assert "gain=inf" in loaded.reading.text, loaded.reading.text


def a_size_may_need_one_partner_and_refuse_all():
    text = (
        "import torch\n\n\ndef conv(input, weight):\n    return torch.nn.functional.conv1d(input, weight)\n"
    )
    tests = "conv(torch.randn(2, 3, 5), torch.randn(4, 3, 3))\n"
    with laid({"t.py": text + LINE + tests}) as folder:
        loaded = source.load(f"{folder}/t.py")
        x, weight = loaded.instance({"input_1": 7}).inputs()
        assert x.shape == (2, 7, 5) and weight.shape == (4, 7, 3), loaded.sizes


def tests_share_a_module_and_may_import_their_own_file():
    tests = """
import os
import sys
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
from data_utils import drawn
from double import double


def test_double():
    double(drawn((3, 5)))


if __name__ == "__main__":
    pass
"""
    shared = (
        "import torch\n\n\ndef drawn(shape, device='cuda'):\n    return torch.randn(*shape, device=device)\n"
    )
    text = "import torch\n\n\ndef double(x):\n    return x + x\n"
    files = {"utils/data_utils.py": shared, "data/set/kind/double.py": text + LINE + tests}
    with laid(files) as folder:
        loaded = source.load(f"{folder}/data/set/kind/double.py")
        assert {s.name: s.value for s in loaded.sizes} == {"x_0": 3, "x_1": 5}, loaded.sizes
        assert "torch.randn(x_0, x_1)" in loaded.reading.text, loaded.reading.text


def files_that_cannot_be_read_are_refused():
    plain = "import torch\n\n\ndef f(x, out=None):\n    return x + 1\n"
    for head, tests, *parts in (
        (plain, "def test_f():\n    pass\n", "its tests call none of f"),
        (plain, "def test_f():\n    f(3)\n", "no call of f in its tests can be read", "it passes no tensor"),
        (plain, "f(torch.ones(2), out=torch.ones(2))\n", "it passes a tensor as out"),
        (plain, "def test_f():\n    nowhere()\n    f(torch.ones(2))\n", "call f never", "NameError"),
        (plain + "1 +\n", "f(torch.ones(2))\n", "does not run", "SyntaxError"),
        (plain, "f(torch.ones(2), object())\n", "an argument is a object"),
        (plain, "f(torch.ones(2, 0))\n", "a tensor is empty"),
        (
            plain.replace("x + 1", "torch.dropout(x, 0.5, True)"),
            "f(torch.ones(99))\n",
            "it draws random numbers",
        ),
        (plain, "f(torch.ones(2)\n", "does not run"),
        ("import torch\n\n\ndef f(x):\n    return x.cuda_only()\n", "f(torch.ones(2))\n", "AttributeError"),
    ):
        with laid({"t.py": head + LINE + tests}) as folder:
            refused(f"{folder}/t.py", "t.py", *parts)
    with laid({"t.py": plain}) as folder:
        try:
            readers.read(os.path.join(folder, "t.py"), "tritonbench")
        except source.SourceError as error:
            assert "has no line of 100 #" in str(error), error
        else:
            raise AssertionError("a file without tests was read")


# --- BackendBench ---

ROWS = """Operator: aten.embedding.default
cnt: 4, ((T([30, 16], f32), T([8, 5], i64), 0), {})
cnt: 0, ((T([50, 64], f32), T([3, 10], i64, [1, 3], 'cpu'), 0), {})
cnt: 3, ((T([30, 16], f32), T([8, 5], i64), 0), {'sparse': False})
cnt: 2, ((T([30, 16], f16), T([8, 5], i64)), {})
"""


def rows_of_an_operator_are_the_seen_set_with_counts():
    with laid({"e.txt": ROWS}) as folder, imported(f"{folder}/e.txt") as (task, _oracle, own):
        assert task["form"] == "backendbench"
        assert task["candidates"] == ["embedding__default_kernel_impl", "embedding_kernel_impl"]
        assert set(axes(task)) == {"weight_0", "weight_1", "indices_0", "indices_1"}, axes(task)
        index = next(i for i in task["inputs"] if i["name"] == "indices")
        assert index["bound"] == "weight_0", index
        configs = source.load(f"{folder}/e.txt").reading.configs
        assert [(c.name, c.weight) for c in configs] == [("call-1", 7), ("call-2", 1)], configs
        notes = " ".join(n["text"] for n in task["notes"])
        assert "call 4: their tensors" in notes and "1 calls have tensors with strides" in notes, notes
        module = own.instance({"weight_0": 4, "weight_1": 3, "indices_0": 9, "indices_1": 7}).module
        weight, indices = module.get_inputs()
        seen = []

        def embedding_kernel_impl(*arguments, **named):
            seen.append((len(arguments), named))
            return arguments[0][arguments[1]]

        made = module.unseen_solution(embedding_kernel_impl, None)(weight, indices)
        assert torch.equal(made, module.Model()(weight, indices)) and made.shape == (9, 7, 3)
        assert seen == [(3, {"sparse": False})], seen


def rows_may_be_json_lines():
    row = {
        "op_name": "aten.add.Tensor",
        "args": "((T([4, 8], f32), T([4, 8], f32)), {'alpha': -2})",
        "count": 5,
    }
    with laid({"a.jsonl": json.dumps(row) + "\n"}) as folder:
        reading = source.load(f"{folder}/a.jsonl").reading
        assert reading.entries == ["add__Tensor_kernel_impl", "add_kernel_impl"]
        assert "alpha=-2" in reading.text and reading.configs[0].weight == 5, reading.text


def bad_rows_are_refused():
    for name, text, *parts in (
        (
            "e.txt",
            ROWS.replace("aten.embedding", "aten.nowhere"),
            "torch has no operator aten.nowhere.default",
        ),
        (
            "e.txt",
            ROWS + "Operator: aten.relu.default\ncnt: 1, ((T([2], f32),), {})\n",
            "calls of 2 operators",
        ),
        ("e.txt", "Operator: aten.relu.default\n", "calls of 0 operators"),
        ("e.txt", ROWS.replace("cnt: 4, ((", "cnt: 4, (("[:-1]), "e.txt, line 2"),
        ("e.txt", ROWS.replace("T([30, 16], f32)", "open('x')"), "e.txt, line 2: open('x')"),
        ("e.txt", ROWS.replace("T([30, 16], f32)", "T([30, 16], f99)"), "e.txt, line 2: f99"),
        ("e.jsonl", '{"op_name": "aten.relu.default"}\n', "e.jsonl, line 1: 'args'"),
    ):
        with laid({name: text}) as folder:
            refused(f"{folder}/{name}", *parts)


if __name__ == "__main__":
    run(globals(), ("laid", "imported", "axes", "refused"))
