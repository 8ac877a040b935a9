"""Tests of verify/python/task: run by the suite task, or by hand with any Python that has torch."""
import math
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "verify", "python"))

import torch  # noqa: E402

from oracle import opened  # noqa: E402
from oracle.number import Unsupported  # noqa: E402
from task import Task, describe, law, probe, source, structure, together, write  # noqa: E402

torch.set_num_threads(1)
HEAD = "import torch\nimport torch.nn as nn\n"
NO_INIT = "def get_init_inputs():\n    return []\n"


def imported(text, seconds=20.0):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + text)
        return describe.describe(source.load(path), "t", seconds)


def fills(task):
    return task["classes"][0]["fill"]


MASKED = '''
from dataclasses import dataclass


@dataclass
class Config:
    batch: int = 2
    asked: int = 9


class Model(nn.Module):
    def __init__(self, scale, *, shift):
        super().__init__()
        self.scale, self.shift = scale, shift

    def forward(self, x, mask, place, temperature):
        s = x.masked_fill(~mask, float("-inf")).softmax(-1) * self.scale
        return {"p": s, "rest": [s.sum(-1) + self.shift, (place + mask.sum()).float() * temperature]}


def get_inputs(kept=12):
    config = Config()
    mask = torch.tril(torch.ones(config.asked, kept, dtype=torch.bool), diagonal=kept - config.asked)
    return [torch.randn(config.batch, config.asked, kept), mask, torch.arange(kept).unsqueeze(0).expand(config.batch, kept), 0.5]


def get_init_inputs():
    return [[2.0], {"shift": 1.0}]
'''


def tables_masks_and_names():
    task = imported(MASKED)
    assert [a["name"] for a in task["axes"]] == ["batch", "asked", "kept"], task["axes"]
    assert fills(task)["place"] == {"kind": "affine", "start": 0, "steps": [0, 1]}, fills(task)
    mask = fills(task)["mask"]
    assert mask["kind"] == "band" and "low" not in mask and mask["high"] == "0 - 1*asked + kept", mask
    assert task["limits"] == ["asked <= kept"], task["limits"]  # with fewer a row has nothing that is not masked
    assert [o["name"] for o in task["outputs"]] == ["p", "rest_0", "rest_1"], task["outputs"]
    assert all(c["fill"]["mask"] == mask for c in task["classes"]) and len(task["classes"]) > 1
    ways = [o["way"] for o in task["outputs"]]
    assert structure.at({"rest": (2, 3), "p": 1}, ways) == (1, 2, 3)
    assert structure.at((1, 2, 3), ways) == (1, 2, 3) and structure.at({"p": 1}, ways) == {"p": 1}


CHOSEN = '''
SHAPE = {"rows": 6, "width": 20}
CLASSES = 20
TILE = 5


class Model(nn.Module):
    def forward(self, x, target, decay, bias, order, part):
        s = (x + bias).log_softmax(-1)[order] * decay.cumprod(0)
        return s.gather(-1, target[:, None])[:, 0] * part


def get_inputs():
    rows, width = SHAPE["rows"], SHAPE["width"]
    bias = torch.triu(torch.full((rows, width), float("-inf")), diagonal=width)
    bias = bias + torch.triu(torch.full((rows, width), float("-inf")), diagonal=width)
    part = torch.sort(torch.randint(3, (rows,)))[0]
    return [torch.randn(rows, width) * 0.5 + 3, torch.randint(high=CLASSES, size=(rows,)),
            torch.rand(rows, width) * 0.1 + 0.95, bias, torch.randperm(rows), part]
''' + NO_INIT


def indices_and_ranges():
    task = imported(CHOSEN)
    fill = fills(task)
    assert task["limits"] == ["CLASSES <= width"], (task["limits"], task["fixed"])
    assert fill["x"] == {"kind": "normal", "a": 3.0, "b": 0.5}, fill["x"]
    assert fill["decay"] == {"kind": "uniform", "a": 0.95, "b": 1.05}, fill["decay"]
    assert all(c["fill"]["decay"] == fill["decay"] for c in task["classes"]), "signs break a decay"
    assert fill["order"] == {"kind": "permutation"} and fill["part"] == {"kind": "ascending"}, fill
    assert fill["target"] == {"kind": "index"} and fill["bias"] == {"kind": "constant", "a": 0}, fill
    assert "# TILE = 5 stays" in write.space(task), write.space(task)


TWICE = "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
REFUSED = (
    ("class Model(nn.Module):\n    def forward(self, cache, x):\n        cache[:, 0] = x\n        return cache\n"
     "n = int('5')\ndef get_inputs():\n    return [torch.zeros(n, 3), torch.rand(n)]\n" + NO_INIT,
     ("forward writes into its input cache", "inputs that stay as they are were expected", "---> let it work on a copy")),
    ("class Model(nn.Module):\n    def forward(self, x, ends):\n        return x * ends[-1]\n"
     "n = int('5')\ndef get_inputs():\n    return [torch.rand(n), torch.randint(1, 9, (n,)).cumsum(0)]\n" + NO_INIT,
     ("the input ends holds whole numbers from ", "made by randint, detach, cumsum", "was expected\n---> draw it so")),
    ("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
     "n = int('5')\ndef get_inputs():\n    return {'x': torch.rand(n)}\n" + NO_INIT,
     ("get_inputs returned a dict; a list was expected", "---> let it return a list of arguments")),
    ("class Model(nn.Module):\n    def forward(self, x):\n        return x[0] + x[1]\n"
     "n = 5\ndef get_inputs():\n    return [[torch.rand(n), torch.rand(n)]]\n" + NO_INIT,
     ("get_inputs gives a list as its number 1; a tensor", "---> give forward its tensors one by one")),
    ("class Model(nn.Module):\n    def forward(self, x):\n        return torch.fft.fft(x)\n"
     "n = 5\ndef get_inputs():\n    return [torch.rand(n)]\n" + NO_INIT,
     ("an output is of complex64; one of float32, ", "---> pass it as one of these")),
    ("class Model(nn.Module):\n    def forward(self, x, most):\n        return x.clamp(max=most)\n"
     "n = 5\ndef get_inputs():\n    return [torch.rand(n), float('inf')]\n" + NO_INIT,
     ("get_inputs gives inf as its number 2; a finite number", "---> give None in its place")),
    ("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = torch.rand(5).cuda()\n"
     "    def forward(self, x):\n        return x * self.w\n"
     "n = 5\ndef get_inputs():\n    return [torch.rand(n)]\n" + NO_INIT,
     ("it names a device (", "were expected\n---> take .cuda()")),
    (TWICE + "def get_inputs():\n    return torch.rand(3)\n" + NO_INIT, ("get_inputs returned a Tensor; a list was expected",)),
    (TWICE + "get_inputs = 3\n" + NO_INIT, ("get_inputs is a int; a function was expected", "---> write it")),
    ("Model = 3\ndef get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
     ("Model is a int; a class derived from torch.nn.Module was expected", "---> derive it")),
    (TWICE.replace("nn.Module", "object") + "def get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
     ("Model is a class of object; a class derived from torch.nn.Module was expected", "---> derive it")),
    (TWICE.replace("x * 2", "torch.ones(5) * x") + "def get_inputs():\n    return [3]\n" + NO_INIT,
     ("get_inputs gives no tensor, and Model has no weight; one at least was expected", "---> pass what forward")),
    (TWICE + "def get_inputs():\n    return [torch.rand(int(torch.randint(2, 9, ())))]\n" + NO_INIT,
     ("get_inputs reads numbers from its tensors (", "(line 7, in get_inputs)", "---> take chance out of the shapes")),
    (TWICE + "def get_inputs():\n    raise KeyError('boom')\n" + NO_INIT,
     ("KeyError: 'boom' (line 7, in get_inputs); the arguments of forward were expected", "")),
    (TWICE + "def get_inputs():\n    return [torch.rand(3)]\ndef get_init_inputs():\n    raise KeyError('boom')\n",
     ("KeyError: 'boom' (line 9, in get_init_inputs); the arguments of the constructor were expected", "")),
    (TWICE.replace("x * 2", "x.nonzero()") + "def get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
     ("forward makes tensors whose shapes hang on values (", "---> let it compute with a mask")),
    (TWICE.replace("x * 2", "[]") + "def get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
     ("forward returned an empty list; a tensor, or a tuple of tensors, was expected", "---> correct the task")),
    ("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
     "n = int('5')\ndef get_inputs():\n    return [torch.rand(0, n)]\n" + NO_INIT,
     ("no sizes at which every tensor has elements", "---> let get_inputs make some")),
)


def what_no_law_tells_is_refused():
    for text, parts in REFUSED:
        try:
            imported(text, 3.0)
        except describe.ImportError_ as error:
            assert all(part in str(error) for part in parts), str(error)
        else:
            raise AssertionError(parts[0])


NORMAL = """
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        return self.norm(x)


n, width, length = 6, 8, 10


def get_inputs():
    return [torch.randn(n, width, length)]


def get_init_inputs():
    return [width]
"""


def of_one_element_there_is_no_variance():
    task = imported(NORMAL)
    assert task["limits"] == ["n*length > 1"] and len(task["axes"]) == 3, (task["limits"], task["fixed"])


def ranges_follow_arithmetic():
    step = lambda call, *numbers: {"call": call, "numbers": list(numbers)}
    of = lambda *steps: law.drawn_range({"steps": list(steps)})
    assert of(step("rand"), step("mul", 2), step("rsub", 1)) == ("uniform", -1, 1)
    assert of(step("randn"), step("div", 4), step("sub", 1)) == ("normal", -1, 0.25)
    assert of(step("empty"), step("uniform_", 2, 3), step("view")) is None  # what begins otherwise is told by its values
    assert of(step("rand"), {"call": "mul", "numbers": None}) is None


LOOP = '''
steps, batch, width = 200, 5, 12


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.Linear(width, width)

    def forward(self, x):
        out = []
        for one in x:
            out.append(torch.tanh(self.cell(one)))
        return torch.stack(out)


def get_inputs():
    return [torch.rand(steps, batch, width)]


def get_init_inputs():
    return [width]
'''


UNTOLD = '''
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kept = torch.zeros(batch, width)
        self.cell = nn.Linear(width, width)
        self.tail = nn.Parameter(torch.zeros(TAIL))

    def forward(self, x, y, z):
        turns = sum(z[i] for i in range(turned))
        return self.cell(x + self.kept) * torch.ones(rows, 1) + y.sum() / scaled + self.tail.sum() + turns


batch, rows, width, others, scaled, turned, TAIL = 6, 1, 10, 4, 7, 3, 5


def get_inputs():
    return [torch.rand(batch, width), torch.rand(others, scaled), torch.rand(turned)]


def get_init_inputs():
    return [width]
'''


def what_the_constructor_is_not_told_stays():
    task = imported(UNTOLD)
    axes = {a["name"]: a["ring"] for a in task["axes"]}
    sizes = {s["name"]: (s["ring"], s["why"]) for s in task["sizes"]}
    assert axes == {"width": 2, "others": 1}, axes
    assert sizes["batch"] == (3, "the model takes it from its file: its constructor is not told"), sizes
    assert sizes["TAIL"] == sizes["scaled"] == sizes["turned"] == sizes["batch"], sizes


RECURRENT = '''
batch, steps, width, hidden = 3, 40, 8, 16


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, 2, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


def get_inputs():
    return [torch.rand(batch, steps, width)]


def get_init_inputs():
    return [width, hidden]
'''


def the_work_of_a_recurrent_layer_is_counted():
    law = imported(RECURRENT)["flops"]
    sizes = {"batch": 3, "steps": 40, "width": 8, "hidden": 16}
    counted = law["coefficient"] * math.prod(sizes[name]**power for name, power in law["powers"].items())
    multiplied = 2 * 3 * 40 * 4 * 16 * (8 + 16 + 16 + 16)  # gates of two layers, of inputs and of states
    assert multiplied < counted < 1.3 * multiplied, (counted, multiplied)


CORNERED = '''
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.Linear(width, width)

    def forward(self, x):
        if x.shape[0] * x.shape[1] < 2:
            raise ValueError("one value has no variance")
        return self.cell(x).var((0, 1))


batch, steps, width = 6, 5, 10


def get_inputs():
    return [torch.rand(batch, steps, width)]


def get_init_inputs():
    return [width]
'''


def an_axis_is_sampled_whole_or_fixed():
    late, limits = probe.Probe.late, together.limits

    def over(runs, axes, chance):
        found = limits(runs, axes, chance)
        probe.Probe.late = lambda self: True
        return found

    together.limits = over
    try:
        task = imported(CORNERED)
    finally:
        probe.Probe.late, together.limits = late, limits
    why = {f["name"]: f["why"] for f in task["fixed"]}
    assert [a["name"] for a in task["axes"]] == ["batch"], task["axes"]
    assert why == {name: "fixed: the time for probing was over" for name in ("steps", "width")}, why
    assert not any("steps" in text for text in task["limits"]), task["limits"]
    assert task["weights"][0]["shape"] == [10, 10] and task["inputs"][0]["shape"] == ["batch", 5, 10], task["inputs"]


class Clock:
    """A twentieth of a second for each turn of the loop, whatever the machine."""

    def __init__(self):
        self.now = 0.0

    def thread_time(self):
        return self.now


def a_loop_is_short_while_others_are_looked_at():
    clock, asked = Clock(), []
    time, probe.time = probe.time, clock
    observed = probe.fake.observe

    def observe(of, sizes, file=None):
        asked.append(sizes.get("steps", 200))
        clock.now += asked[-1] / 20
        return observed(of, sizes, file)

    probe.fake.observe = observe
    try:
        task = imported(LOOP, seconds=1000.0)
    finally:
        probe.time, probe.fake.observe = time, observed
    axes = {a["name"]: a for a in task["axes"]}
    assert axes["steps"]["ring"] == axes["batch"]["ring"] == 1 and axes["width"]["ring"] == 2, axes
    assert axes["steps"]["low"] == 1 and axes["steps"]["high"] == 200, axes["steps"]  # no more turns than its author's
    assert sum(n == 200 for n in asked) * 4 < len(asked), asked


NUMBERS = """
import random
rows, width, turns = 3, 7, 4


class Model(nn.Module):
    def forward(self, x, turns, last, scale, mode, chance):
        return x.repeat(turns, 1) * scale + last + (len(mode) if chance > 2 else 0)


def get_inputs():
    return [torch.rand(rows, width), turns, -turns * rows, rows / 8, "sum", random.random()]


def get_init_inputs():
    return []
"""


def numbers_follow_axes_or_stay_as_published():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + NUMBERS)
        loaded = source.load(path)
        task = describe.describe(loaded, "t", 20.0)
        write.write(task, loaded, folder)
        asked = opened.Task(os.path.join(folder, "t.task"), "cpu")
        of, sizes = Task.read(os.path.join(folder, "t.task")), {"width": 2, "turns": 6}
        x = torch.rand(3, 2)
        graph, state, inputs, _ = asked.prepared(sizes, {"x": x})
    entries = {e["name"]: e for e in task["inputs"]}
    why = {f["name"]: f["why"] for f in task["fixed"]}
    assert [a["name"] for a in task["axes"]] == ["width", "turns"], task["axes"]
    assert why == {"rows": "fixed: no expression of it gives input 3, no tensor"}, why  # no whole number
    assert entries["turns_in"] == {"name": "turns_in", "value": 4, "expression": "turns"}, entries
    assert (entries["last"]["value"], entries["last"]["expression"]) == (-12, "3*(0 - 1)*turns"), entries
    assert entries["scale"] == {"name": "scale", "value": 0.375} and "expression" not in entries["chance"], entries
    assert of.arguments({"x": x}, sizes)[1:5] == inputs[1:5] == [6, -18, 0.375, "sum"], inputs
    assert graph.module([], [x]).shape == (18, 2), "the graph is not that of its configuration"


CONVERTED = """
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.hidden = nn.Linear(width, width).double()
        self.last = nn.Linear(width, 4).to(dtype=torch.bfloat16)
        self.half()
        self.last.bfloat16()

    def forward(self, x):
        return self.last(self.norm(x.half()).bfloat16())


batch, width = 3, 8


def get_inputs():
    return [torch.rand(batch, width)]


def get_init_inputs():
    return [width]
"""


def a_constructor_may_convert_its_modules():
    task = imported(CONVERTED)
    types = {w["name"]: w["dtype"] for w in task["weights"]}
    assert types["norm.weight"] == types["hidden.bias"] == "float16" and types["last.weight"] == "bfloat16", types
    assert [a["name"] for a in task["axes"]] == ["batch", "width"] and task["outputs"][0]["dtype"] == "bfloat16", task["axes"]
def of_one_line(line, inputs="torch.randn(rows, 40)"):
    return imported(f"""
class Model(nn.Module):
    def forward(self, x):
        return {line}


rows = 6


def get_inputs():
    return [{inputs}]


{NO_INIT}""")


def what_forward_makes_itself_fixes_no_axis():
    for line in ("x + torch.zeros_like(x)", "x * torch.ones(x.shape[0], 1)", "x + torch.arange(x.shape[0])[:, None]"):
        task = of_one_line(line)
        assert "rows" in [a["name"] for a in task["axes"]], (line, task["axes"], task["fixed"])


def inputs_that_are_computed_from_others_are_said_to_be():
    plain = ("torch.randn(rows, 40) * 2 + 1", "torch.randn(40, rows).t()")
    for inputs, computed in [(i, None) for i in plain] + [
            (i, True) for i in ("torch.softmax(torch.randn(rows, 40), 1)", "torch.randn(rows, 40) @ torch.randn(40, 40)",
                                "torch.cat([torch.rand(rows, 20), torch.rand(rows, 20) + 1], 1)", "torch.rand(rows, 40).cumsum(1)")]:
        assert of_one_line("x * 2", inputs)["inputs"][0].get("computed") == computed, inputs


PACKED = '''
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("packed", torch.randint(-128, 128, (7, width), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(7))

    def forward(self, x, segment):
        s = x.new_zeros(8, x.size(1)).index_add(0, segment, x)
        return s @ (self.packed.float() * self.scale[:, None]).t()


rows, width, segments = 5, 6, 8
torch.rand(3)


def get_inputs():
    return [torch.rand(rows, width), torch.randint(0, segments, (rows,))]


def get_init_inputs():
    return [width]
'''


def what_a_constructor_draws_is_the_candidate_s_too():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + PACKED)
        loaded = source.load(path)
        write.write(describe.describe(loaded, "t", 20.0), loaded, folder)
        asked, of = opened.Task(os.path.join(folder, "t.task"), "cpu"), Task.read(os.path.join(folder, "t.task"))
        sizes = {axis["name"]: axis["value"] for axis in asked.description["axes"]}
        held = asked.built(sizes)[1].state_dict()
        for name, value in of.constructed(of.instance(sizes)).items():
            assert torch.equal(held[name], value), name
        for outside, words in ((2, ""), (9, "the forward pass cannot be traced: ")):
            try:
                opened.answers(asked, sizes, {"x": torch.rand(5, 6), "segment": torch.full((5,), outside)})
            except Unsupported as why:  # the module does not run there itself, which no shape shows
                assert words and str(why).startswith(words), why
            else:
                assert not words, outside


def exponents_reach_beyond_where_the_answer_stays():
    """exp(x) / sum exp(x) is wrong from 89 on only; tasks without a softmax keep the classes that they had."""
    plain = ["published", "signed", "wide", "needle", "integers"]
    attention = "nn.functional.scaled_dot_product_attention(x, x, x)"
    for line, middle in (("torch.softmax(x, 1)", 128), ("torch.log_softmax(x * 0.25, 1)", 512), ("torch.logsumexp(x, 1)", 128)):
        task = of_one_line(line)
        assert [c["name"] for c in task["classes"]] == plain + ["beyond"], (line, task["classes"])
        assert task["classes"][-1]["fill"] == {"x": {"kind": "normal", "a": middle, "b": 1}}, line
    for narrow in ("torch.float32", "torch.bfloat16"):
        task = of_one_line(attention, inputs=f"torch.randn(2, rows, 40, dtype={narrow})")
        assert [c["name"] for c in task["classes"]] == plain + ["beyond"], narrow
    for line in ("x.sigmoid()", "x / (1e-6 + x.exp().sum(1, keepdim=True))",
                 "torch.softmax(nn.functional.layer_norm(x, x.shape[1:]), 1)",  # what all have in common is taken off again
                 "torch.softmax((x + 1e6 - 1e6) * 16, 1)"):  # cannot be told there
        assert [c["name"] for c in of_one_line(line)["classes"]] == plain, line


def main():
    tests = [f for f in globals().values() if getattr(f, "__module__", None) == "__main__" and callable(f)
             and f.__name__ not in ("imported", "fills", "main", "Clock", "of_one_line")]
    for test in tests:
        test()
    print(f"{len(tests)} tests, 0 failed")


if __name__ == "__main__":
    main()
