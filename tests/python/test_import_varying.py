"""Tests of unseen_torch/task: results whose extents depend on values. Run by the suite task, or by
hand with any Python that has torch."""

import mmap
import os
import types

import torch
from importing import NO_INIT, imported, run, written
from unseen_torch.oracle import serve, task_session
from unseen_torch.task import adapter, varying


def task_of(body, inputs="torch.randn(rows, cols)"):
    return f"""
class Model(nn.Module):
    def forward(self, x):
        {body}


rows, cols = 12, 7


def get_inputs():
    return [{inputs}]


{NO_INIT}"""


PICKED = task_of("return x[x > 0.5] * 2")
# (body of forward, inputs, greatest shape, dimensions that vary)
LISTS = (
    ("return x.nonzero()", "(torch.randn(rows, cols) > 0).float()", ["rows*cols", 2], [0]),
    ("return torch.argwhere(x > 0)", None, ["rows*cols", 2], [0]),
    ("return x[x > 0]", None, ["rows*cols"], [0]),
    ("return x[x.sum(1) > 0]", None, ["rows", "cols"], [0]),
    ("return torch.masked_select(x, x > 0).exp()", None, ["rows*cols"], [0]),
    ("return torch.unique(x)", "torch.randint(0, 5, (rows, cols))", ["rows*cols"], [0]),
    ("return torch.unique_consecutive(x)", "torch.randint(0, 2, (rows, cols))", ["rows*cols"], [0]),
    ("return torch.unique(x, dim=1)", "torch.randint(0, 2, (rows, cols))", ["rows", "cols"], [1]),
)


def a_result_has_room_for_the_most_and_an_output_for_its_length():
    for body, inputs, shape, dims in LISTS:
        task = imported(task_of(body, *([inputs] if inputs else [])))
        first, length = task["outputs"]
        found = [str(n).replace(" ", "") for n in first["shape"]]
        assert found in (
            [str(n) for n in shape],
            [str(n).replace("rows*cols", "cols*rows") for n in shape],
        ), first
        assert first["varying"] == dims, (body, first)
        assert (length["name"], length["dtype"], length["shape"]) == ("y_length", "int64", [1]), length


def a_result_of_fixed_shape_has_no_length():
    for body in ("return x[x > 0].sum()", "return torch.where(x > 0, x, 0.0)"):
        (output,) = imported(task_of(body))["outputs"]
        assert "varying" not in output, (body, output)


def a_result_without_a_greatest_length_is_refused():
    try:
        imported(task_of("return x.repeat_interleave(x)", "torch.randint(1, 4, (rows,))"))
    except Exception as error:
        assert "shapes hang on values" in str(error), error
    else:
        raise AssertionError("it was imported")


def rows_are_repeated_to_as_many_as_another_tensor_has():
    """The lengths of groups add up to the number of rows. No stand-in of a single length says so."""
    task = imported(
        "import torch\nROWS, GROUPS = 30, 4\n"
        "class Model(torch.nn.Module):\n    def forward(self, x, scale, lengths):\n"
        "        group = torch.repeat_interleave(torch.arange(lengths.shape[0]), lengths)\n"
        "        return x * scale[group][:, None]\n"
        "def get_inputs():\n    cuts = torch.cat([torch.randint(0, ROWS + 1, (GROUPS - 1,)).sort().values,"
        " torch.full((1,), ROWS)])\n"
        "    lengths = cuts.diff(prepend=torch.zeros(1, dtype=cuts.dtype))\n"
        "    return [torch.randn(ROWS, 5), torch.rand(GROUPS), lengths]\n"
        "def get_init_inputs():\n    return []\n"
    )
    (output,) = task["outputs"]
    assert "varying" not in output and output["shape"][0] == task["inputs"][0]["shape"][0] != 30, output


def the_oracle_answers_with_the_length():
    with written(PICKED) as (_, oracle, __):
        x = torch.randn(5, 7)
        (values, length), constant = task_session.answers(oracle, {"rows": 5, "cols": 7}, {"x": x})
        want = x[x > 0.5].double() * 2
        assert torch.equal(values.want, want) and not constant
        assert length.want.tolist() == [want.numel()] and not bool(length.allowed.any())


def lengths_have_an_output_each_in_any_order_of_dimensions():
    """Columns that a mask picks lie apart in the memory. Their single elements lie at other places."""
    text = task_of("return x.sum(), x[:, x[0] > 0]")
    with written(text) as (task, oracle, _):
        assert [o["name"] for o in task["outputs"]] == ["y0", "y1", "y1_length"], task["outputs"]
        x = torch.randn(5, 7)
        (_, picked, length), __ = task_session.answers(oracle, {"rows": 5, "cols": 7}, {"x": x})
        assert length.want.tolist() == [int((x[0] > 0).sum())] and picked.want.shape[0] == 5
        assert oracle.padded() == [-1] and oracle.varying() == {"y1": [1]}


class Picked:
    """A candidate's class; `change` makes a wrong result of the right one."""

    def __init__(self, change=lambda t: t):
        self.change = change

    def __call__(self, x):
        return self.change(x[x > 0.5] + x[x > 0.5])


def answer_of(folder, change, x):
    os.environ["UNSEEN_TASK"] = folder
    shapes = {"x": tuple(x.shape), "y": (x.numel(),), "y_length": (1,)}
    scalars = {"rows": x.shape[0], "cols": x.shape[1]}
    call = types.SimpleNamespace(
        scalars=scalars,
        tensors={"x": x},
        shapes=shapes,
        fingerprint=lambda _: 0,
        device="cpu",
        later=lambda part, make: make(),
    )
    bound = adapter.bind(Picked(change), call)
    return bound.measured(bound())


def what_a_candidate_returns_lies_in_the_memory_with_its_length():
    with written(PICKED) as (_, _, candidate):
        path = os.path.join(os.path.dirname(candidate.source.path), "t.task")
        x = torch.randn(5, 7)
        count = int((x > 0.5).sum())
        for change, length in ((lambda t: t, count), (lambda t: t[1:], count - 1), (lambda t: t[:0], 0)):
            values, lengths = answer_of(path, change, x)
            assert values.shape == (35,) and lengths.tolist() == [length], (values.shape, lengths)
            assert torch.equal(values[:length], change(2 * x[x > 0.5])) and not bool(values[length:].any())
        too_long = torch.ones(36)
        values, lengths = answer_of(path, lambda t: too_long, x)
        assert values is too_long, "the runner refuses its shape"
        assert answer_of(path, lambda t: (t, t), x)[1].shape == (count,), "the runner refuses two results"


class Asked:
    """The oracle's process for a task without a runner: a question about inputs and returned outputs."""

    def __init__(self, oracle):
        self.server = object.__new__(serve.Server)
        self.server.torch, self.server.opened, self.server.task = torch, task_session, oracle

    def tell(self, sizes, given, got, room):
        """The first line of the answer, and whether all outputs pass. `room` has shapes of the memory."""
        self.server.memory, self.used = mmap.mmap(-1, 1 << 20), 0
        question = {"sizes": sizes, "returned": True}
        question["inputs"] = [self.put(n, t, "at") for n, t in given.items()]
        question["outputs"] = [self.put(n, varying.placed(got[n], room[n]), "got") for n in got]
        for output in question["outputs"]:
            for key in ("want", "allowed"):
                output.update(
                    self.put(output["name"], torch.zeros(room[output["name"]]).double(), key, output)
                )
        first = self.server.attempt({**question, "returned": False}).split("\n")[0]
        text = self.server.attempt(question)
        assert first == text.split("\n")[0] or (first == "returned" and text.startswith("ok")), (first, text)
        return first, text.startswith("ok") and all(map(self.passes, question["outputs"]))

    def put(self, name, tensor, key, entry=None):
        kept = self.server.view({"shape": list(tensor.shape), "dtype": dtype_of(tensor)}, self.used)
        kept.copy_(tensor)
        made = {
            **(entry or {"name": name, "shape": list(tensor.shape), "dtype": dtype_of(tensor)}),
            key: self.used,
        }
        self.used += (tensor.numel() * tensor.element_size() + 63) // 64 * 64
        return made

    def passes(self, output):
        got, want, allowed = (
            self.server.view({**output, "dtype": d}, output[key]).double()
            for key, d in (("got", output["dtype"]), ("want", "float64"), ("allowed", "float64"))
        )
        return bool(((got - want).abs() <= allowed).all())


def dtype_of(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def rows_of(y, most):
    """A result with its length, and the shapes of their memory."""
    got = {"y": y, "y_length": torch.tensor([len(y)])}
    return got, {"y": [most, *y.shape[1:]], "y_length": [1]}


def either_side_of_a_few_open_decisions_is_right():
    """One row sums to 1 but for rounding, so that a kernel may pick it or leave it out."""
    with written(task_of("return x[x.sum(1) > 1.0] * 2")) as (_, oracle, __):
        asked, x = Asked(oracle), torch.rand(6, 7) + 0.1
        x[:3] *= 0.05
        x[4] = torch.tensor([0.1, 0.2, 0.3, 0.05, 0.15, 0.1, 0.1])
        sizes, rows = {"rows": 6, "cols": 7}, (x.sum(1) > 0.9).nonzero()[:, 0].tolist()
        assert rows == [3, 4, 5]
        for kept, right in ((rows, True), ([3, 5], True), ([3, 4], False), ([4, 3, 5], False), ([3], False)):
            got, room = rows_of(2 * x[kept], 6)
            assert asked.tell(sizes, {"x": x}, got, room) == ("returned", right), kept
        got, room = rows_of(2 * x[rows], 6)
        got["y"][0, 0] *= 1 + 1e-5
        assert asked.tell(sizes, {"x": x}, got, room) == ("returned", False)
        many = x[4].expand(6, 7).clone()
        first, _ = asked.tell(sizes, {"x": many}, *rows_of(2 * many, 6))
        assert first.startswith("dropped values picked by"), first


def a_length_is_judged_and_what_lies_beyond_it():
    with written(PICKED) as (_, oracle, __):
        asked, x = Asked(oracle), torch.randn(5, 7)
        sizes, right = {"rows": 5, "cols": 7}, 2 * x[x > 0.5]
        for y, passes in ((right, True), (right[1:], False), (right.flip(0), False)):
            assert asked.tell(sizes, {"x": x}, *rows_of(y, 35)) == ("ok", passes), y
        got, room = rows_of(right, 35)
        got["y_length"] -= 1
        assert asked.tell(sizes, {"x": x}, got, room) == ("ok", False), "another length of the same rows"


def signs_are_those_that_were_returned():
    with written(task_of("return torch.linalg.qr(x)")) as (_, oracle, __):
        asked, x = Asked(oracle), torch.randn(12, 7)
        q, r = torch.linalg.qr(x)
        sign = torch.tensor([1.0, -1, 1, 1, -1, -1, 1])
        room = {"y0": [12, 7], "y1": [7, 7]}
        for first, second, right in (
            (q, r, True),
            (q * sign, sign[:, None] * r, True),
            (q * sign, r, False),
            (q, r * sign, False),
        ):
            found = asked.tell({"rows": 12, "cols": 7}, {"x": x}, {"y0": first, "y1": second}, room)
            assert found == ("returned", right), (found, right)


if __name__ == "__main__":
    run(globals(), ("imported", "written", "task_of", "answer_of", "dtype_of", "rows_of"))
