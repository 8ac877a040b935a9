"""Tests of unseen_torch/task: the draws of inputs. Run by the suite task, or by hand with any Python that
has torch."""

import torch
from importing import NO_INIT, fills, imported, of_one_line, run, written
from unseen_torch.task import describe, input_domain, observed, structure, write

MASKED = """
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
"""


def tables_masks_and_names():
    task = imported(MASKED)
    assert [a["name"] for a in task["axes"]] == ["batch", "asked", "kept"], task["axes"]
    assert fills(task)["place"] == {"kind": "affine", "start": 0, "steps": [0, 1]}, fills(task)
    mask = fills(task)["mask"]
    assert mask["kind"] == "band" and "low" not in mask and mask["high"] == "0 - 1*asked + kept", mask
    # with fewer a row has nothing that is not masked
    assert task["limits"] == ["asked <= kept"], task["limits"]
    assert [o["name"] for o in task["outputs"]] == ["p", "rest_0", "rest_1"], task["outputs"]
    assert all(c["fill"]["mask"] == mask for c in task["classes"]) and len(task["classes"]) > 1
    ways = [o["way"] for o in task["outputs"]]
    assert structure.at({"rest": (2, 3), "p": 1}, ways) == (1, 2, 3)
    assert structure.at((1, 2, 3), ways) == (1, 2, 3) and structure.at({"p": 1}, ways) == {"p": 1}


CHOSEN = (
    """
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
"""
    + NO_INIT
)


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
    (
        "class Model(nn.Module):\n    def forward(self, x, ends):\n        return x * ends[-1]\n"
        "n = int('5')\ndef get_inputs():\n    return [torch.rand(n), torch.randint(1, 9, (n,)).cumsum(0) * (1 << 40)]\n"
        + NO_INIT,
        (
            "the input ends holds whole numbers from ",
            "made by randint, detach, cumsum",
            "of 32 bits were expected\n---> draw it so",
        ),
    ),
    (
        "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
        "n = int('5')\ndef get_inputs():\n    return {'x': torch.rand(n)}\n" + NO_INIT,
        ("get_inputs returned a dict; a list was expected", "---> let it return a list of arguments"),
    ),
    (
        "class Model(nn.Module):\n    def forward(self, x):\n        return x[0] + x[1]\n"
        "n = 5\ndef get_inputs():\n    return [[torch.rand(n), torch.rand(n)]]\n" + NO_INIT,
        ("get_inputs gives a list as its number 1; a tensor", "---> give forward its tensors one by one"),
    ),
    (
        "class Model(nn.Module):\n    def forward(self, x):\n        return torch.fft.fft(x)\n"
        "n = 5\ndef get_inputs():\n    return [torch.rand(n)]\n" + NO_INIT,
        ("an output is of complex64; one of float32, ", "---> pass it as one of these"),
    ),
    (
        "class Model(nn.Module):\n    def forward(self, x, most):\n        return x.clamp(max=most)\n"
        "n = 5\ndef get_inputs():\n    return [torch.rand(n), float('inf')]\n" + NO_INIT,
        ("get_inputs gives inf as its number 2; a finite number", "---> give None in its place"),
    ),
    (
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = torch.rand(5).to('cu' + 'da')\n"
        "    def forward(self, x):\n        return x * self.w\n"
        "n = 5\ndef get_inputs():\n    return [torch.rand(n)]\n" + NO_INIT,
        ("it names a device (", "were expected\n---> take .cuda()"),
    ),
    (
        TWICE + "def get_inputs():\n    return torch.rand(3)\n" + NO_INIT,
        ("get_inputs returned a Tensor; a list was expected",),
    ),
    (TWICE + "get_inputs = 3\n" + NO_INIT, ("get_inputs is a int; a function was expected", "---> write it")),
    (
        "Model = 3\ndef get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
        ("Model is a int; a class derived from torch.nn.Module was expected", "---> derive it"),
    ),
    (
        TWICE.replace("nn.Module", "object") + "def get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
        ("Model is a class of object; a class derived from torch.nn.Module was expected", "---> derive it"),
    ),
    (
        TWICE.replace("x * 2", "torch.ones(5) * x") + "def get_inputs():\n    return [3]\n" + NO_INIT,
        (
            "get_inputs gives no tensor, and Model has no weight; one at least was expected",
            "---> pass what forward",
        ),
    ),
    (
        TWICE + "def get_inputs():\n    return [torch.rand(int(torch.randint(2, 9, ())))]\n" + NO_INIT,
        (
            "get_inputs reads numbers from its tensors (",
            "(line 7, in get_inputs)",
            "---> take chance out of the shapes",
        ),
    ),
    (
        TWICE + "def get_inputs():\n    raise KeyError('boom')\n" + NO_INIT,
        ("KeyError: 'boom' (line 7, in get_inputs); the arguments of forward were expected", ""),
    ),
    (
        TWICE
        + "def get_inputs():\n    return [torch.rand(3)]\ndef get_init_inputs():\n    raise KeyError('boom')\n",
        ("KeyError: 'boom' (line 9, in get_init_inputs); the arguments of the constructor were expected", ""),
    ),
    (
        TWICE.replace("x * 2", "x.bincount()") + "def get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
        ("forward makes tensors whose shapes hang on values (", "---> let it compute with a mask"),
    ),
    (
        TWICE.replace("x * 2", "[]") + "def get_inputs():\n    return [torch.rand(3)]\n" + NO_INIT,
        (
            "forward returned an empty list; a tensor, or a tuple of tensors, was expected",
            "---> correct the task",
        ),
    ),
    (
        "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
        "n = int('5')\ndef get_inputs():\n    return [torch.rand(0, n)]\n" + NO_INIT,
        ("no sizes at which every tensor has elements", "---> let get_inputs make some"),
    ),
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
    def step(call, *numbers):
        return observed.Step(call, list(numbers))

    def of(*steps):
        return input_domain.drawn_range(steps)

    assert of(step("rand"), step("mul", 2), step("rsub", 1)) == ("uniform", -1, 1)
    assert of(step("randn"), step("div", 4), step("sub", 1)) == ("normal", -1, 0.25)
    # another beginning is told by its values
    assert of(step("empty"), step("uniform_", 2, 3), step("view")) is None
    assert of(step("rand"), observed.Step("mul", None)) is None


NUMBERS = """
import random
rows, width, turns = 3, 7, 4


class Model(nn.Module):
    def forward(self, x, turns, last, scale, mode, chance):
        return x.repeat(turns, 1) * scale + last + (len(mode) if chance > 2 else 0)


def get_inputs():
    return [torch.rand(rows, width), turns, -turns * rows, (rows ^ width) % 3 + 0.375, "sum", random.random()]


def get_init_inputs():
    return []
"""


def numbers_follow_axes_or_stay_as_published():
    sizes, x = {"width": 2, "turns": 6}, torch.rand(3, 2)
    with written(NUMBERS) as (task, asked, of):
        graph, _state, inputs, _ = asked.prepared(sizes, {"x": x})
    entries = {e["name"]: e for e in task["inputs"]}
    why = {f["name"]: f["why"] for f in task["fixed"]}
    assert [a["name"] for a in task["axes"]] == ["width", "turns"], task["axes"]
    assert why == {"rows": "fixed: no expression of it gives input 3, no tensor"}, why  # no whole number
    assert entries["turns_in"] == {"name": "turns_in", "value": 4, "expression": "turns"}, entries
    assert (entries["last"]["value"], entries["last"]["expression"]) == (-12, "3*(0 - 1)*turns"), entries
    assert (entries["scale"]["value"], entries["scale"]["of"]) == (1.375, "width"), entries["scale"]
    assert "expression" not in entries["chance"] and "table" not in entries["chance"], entries
    assert of.arguments({"x": x}, sizes)[1:5] == inputs[1:5] == [6, -18, 1.375, "sum"], inputs
    assert graph.module([], [x]).shape == (18, 2), "the graph is not that of its configuration"


def inputs_that_are_computed_come_from_get_inputs():
    plain = (
        "torch.randn(rows, 40) * 2 + 1",
        "torch.randn(40, rows).t()",
        "torch.rand(rows, 40) > 0.5",
        "torch.tril(torch.randn(40, 40))",
    )
    made = (
        "torch.softmax(torch.randn(rows, 40), 1)",
        "torch.randn(rows, 40) @ torch.randn(40, 40)",
        "torch.rand(rows, 40).cumsum(1)",
        "torch.cat([torch.rand(rows, 20), torch.rand(rows, 20) + 1], 1)",
        "torch.arange(40) < torch.randint(1, 40, (rows, 1))",
        "(lambda m: (m[:, 0].fill_(True), m)[1])(torch.rand(rows, 40) > 0.5)",
        "(lambda v: (v[:, :1].fill_(1), v)[1])(torch.rand(rows, 40))",
        "torch.randint(1, 9, (rows, 40)).cumsum(1)",
        "torch.stack([torch.randperm(50)[:40] for _ in range(rows)])",
    )
    for inputs, computed in [(i, False) for i in plain] + [(i, True) for i in made]:
        task = of_one_line("x * 2", inputs)
        assert all((c["fill"]["x"]["kind"] == "computed") == computed for c in task["classes"]), (
            inputs,
            task["classes"],
        )
        shaped = [c for c in task["classes"] if c["name"] in ("tempered", "sparse", "small")]
        assert all("as" not in c["fill"]["x"] for c in task["classes"] if c not in shaped), (inputs, task)
        assert (task["inputs"][0]["domain"] == "computed") == computed, inputs


BOUNDED = (
    "-torch.rand(rows, 40) * 0.1",
    "torch.rand(rows, 40) + 0.5",
    "torch.sigmoid(torch.randn(rows, 40))",
    "-nn.functional.softplus(torch.randn(rows, 40))",
    "nn.functional.logsigmoid(torch.randn(rows, 40))",
    "torch.exp(-torch.rand(rows, 40))",
    "torch.randn(rows, 40).abs() + 1e-3",
    "torch.randn(rows, 40).clamp(-2, 2)",
    "torch.rand(rows, 40) * 0.1",
)


def what_its_author_keeps_within_bounds_stays_there():
    """A decay above 0 grows without end, and one of two right orders of computation overflows."""
    names = "abcdefghi"
    task = imported(f"""
class Model(nn.Module):
    def forward(self, {", ".join(names)}):
        return {" + ".join(names)}


rows = 6


def get_inputs():
    return [{", ".join(BOUNDED)}]


{NO_INIT}""")
    kept = {
        "a": {"kind": "uniform", "a": -0.1, "b": 0.0},
        "b": {"kind": "uniform", "a": 0.5, "b": 1.5},
        **{n: {"kind": "computed"} for n in "cdefgh"},
    }

    def changed(names, *changes):
        return {n: {"kind": "computed", "as": "tempered", "changes": list(changes)} for n in names}

    by_class = {
        "tempered": changed("h", "scale 0.125", "scale 0.5"),
        "steep": changed("cf", "raised 8", "raised 32"),
        "lasting": changed("cf", "raised 0.000976562"),
    }
    for each in task["classes"]:
        nearer = by_class.get(each["name"], {})
        assert {n: each["fill"][n] for n in kept} == {**kept, **nearer}, each
    assert task["classes"][1]["name"] == "signed" and task["classes"][1]["fill"]["i"]["kind"] == "normal", (
        task["classes"]
    )


LINKED = """
class Model(nn.Module):
    def forward(self, x, y, lengths, kept):
        return torch.where(kept, x + y, 0).sum(1) / lengths


rows = 6


def get_inputs():
    lengths = torch.randint(1, 41, (rows,))
    return [torch.randn(rows, 40), torch.randn(rows, 40), lengths, torch.arange(40) < lengths[:, None]]


"""


def what_goes_back_to_one_draw_is_of_one_call():
    with written(LINKED + NO_INIT) as (task, asked, _):
        domains = [e["domain"] for e in task["inputs"]]
        assert domains == ["real", "real", "computed", "computed"], domains
        assert task["axes"][0]["name"] == "rows"
        for seed in (3, 4):
            made = asked.made({"rows": 9, **{a["name"]: a["value"] for a in task["axes"][1:]}}, seed)
            assert torch.equal(made["kept"].sum(1), made["lengths"]) and made["lengths"].shape == (9,), made
        assert torch.equal(
            asked.made({a["name"]: a["value"] for a in task["axes"]}, 3)["x"],
            asked.made({a["name"]: a["value"] for a in task["axes"]}, 3)["x"],
        )


def exponents_reach_beyond_where_the_answer_stays():
    """exp(x) / sum exp(x) is wrong from 89 on only, and so is x exp(x) / (1 + exp(x)). Tasks without such
    exponentials keep their classes."""
    plain = ["published", "signed", "wide", "needle", "integers"]
    attention = "nn.functional.scaled_dot_product_attention(x, x, x)"
    for line, middle in (
        ("torch.softmax(x, 1)", 128),
        ("torch.log_softmax(x * 0.25, 1)", 512),
        ("torch.logsumexp(x, 1)", 128),
    ):
        classes = of_one_line(line)["classes"]
        assert [c["name"] for c in classes] == [*plain, "beyond", "below", "apart"], (line, classes)
        laws = [(c["fill"]["x"]["kind"], c["fill"]["x"]["a"]) for c in classes[-3:]]
        assert laws == [("normal", middle), ("normal", -middle), ("peak", middle)], (line, laws)
    for narrow in ("torch.float32", "torch.bfloat16"):
        task = of_one_line(attention, inputs=f"torch.randn(2, rows, 40, dtype={narrow})")
        assert [c["name"] for c in task["classes"]] == [*plain, "beyond", "apart"], narrow
    greatest = "torch.maximum(x, x.roll(1, 1)).amax(1, True)[:, :1]"
    for line in ("(x - x.amax(1, True)).exp()", f"torch.exp((x - {greatest}.expand(x.shape)) * 0.5)"):
        # a softmax written out
        assert [c["name"] for c in of_one_line(line)["classes"]] == [*plain, "beyond", "below", "apart"], line
    for line in ("nn.functional.silu(x)", "x.sigmoid()", "nn.functional.softplus(x)"):
        task = of_one_line(line)
        assert [c["name"] for c in task["classes"]] == [*plain, "beyond"], line
        assert task["classes"][-1]["fill"] == {"x": {"kind": "normal", "a": 128, "b": 1}}, line
    for line in (
        "x.tanh()",
        "x / (1e-6 + x.exp().sum(1, keepdim=True))",
    ):  # cannot be told there
        assert [c["name"] for c in of_one_line(line)["classes"]] == plain, line
    # nor there, but one number of each row is far above the others at a higher temperature
    names = [c["name"] for c in of_one_line("torch.softmax((x + 1e6 - 1e6) * 16, 1)")["classes"]]
    assert names == [*plain, "steep"], names
    # the common part is subtracted again
    line = "torch.softmax(nn.functional.layer_norm(x, x.shape[1:]), 1)"
    assert [c["name"] for c in of_one_line(line)["classes"]] == [*plain, "uneven", "tiny"]


def what_is_divided_by_is_now_and_then_nothing():
    """Guarded divisions meet rows of zeros. Where the task has no answer there, sizes alone differ. Other
    tasks keep their classes. Half-width numbers stay normal."""
    drawn = {"kind": "uneven", "a": -13, "b": 6, "density": 0.875}
    largest = "x.abs().amax(1, True)"
    for line, more in (
        ("nn.functional.cosine_similarity(x, x.roll(1, 0), 1)", {}),
        ("x / (x.norm(dim=1, keepdim=True) + 1e-6)", {}),
        (f"(x / torch.where({largest} > 0, {largest}, torch.ones_like({largest})))", {}),
        ("x * torch.rsqrt(x.square().mean(1, True) + 1e-5)", {}),
        ("(x.square().sum(1) + 1e-3).log()", {}),
        ("nn.functional.instance_norm(x[None])", {}),
        ("x / x.norm(dim=1, keepdim=True)", {"density": 1}),
    ):
        found = [c["fill"] for c in of_one_line(line)["classes"] if c["name"] == "uneven"]
        assert found == [{"x": {**drawn, **more}}], (line, found)
    task = of_one_line(
        "nn.functional.layer_norm(x, x.shape[1:])", inputs="torch.randn(rows, 40, dtype=torch.float16)"
    )
    assert {"x": {**drawn, "a": -6}} in [c["fill"] for c in task["classes"]], task["classes"]
    for line in (
        "x / 3",
        "x / (1 + x.square())",
        "x / (1 + x.abs().sum(1, True))",
        "torch.relu(x)",
        "x.sqrt()",
        "x / (x - x)",
    ):
        assert "uneven" not in [c["name"] for c in of_one_line(line)["classes"]], line


def whole_numbers_are_often_their_ends():
    task = imported(f"""
class Model(nn.Module):
    def forward(self, x, lengths):
        return x.masked_fill(torch.arange(x.size(1))[None] >= lengths[:, None], 0.0)


rows, width = 6, 24


def get_inputs():
    return [torch.randn(rows, width), torch.randint(1, width + 1, (rows,))]


{NO_INIT}""")
    drawn = {c["name"]: c["fill"]["lengths"] for c in task["classes"]}
    assert drawn["published"] == drawn["signed"] == {"kind": "index"}, drawn
    assert drawn["needle"] == drawn["integers"] == {"kind": "index", "density": 0.5}, drawn


def all_may_lie_below_where_a_greatest_one_is_looked_for_from():
    """A running maximum that starts from 0 is right as long as one element of each row is above it."""
    plain = ["published", "signed", "wide", "needle", "integers"]
    for line in (
        "x.amax(1)",
        "x.argmax(1)",
        "x.max(1)[0]",
        "x.topk(2, 1)[0]",
        "nn.functional.max_pool1d(x, 4)",
    ):
        below = of_one_line(line)["classes"][-1]
        assert below["name"] == "below" and below["fill"] == {"x": {"kind": "normal", "a": -8, "b": 1}}, line
    for line in ("torch.maximum(x, x * 2)", "torch.minimum(x, x * 2)", "x.relu()"):
        assert [c["name"] for c in of_one_line(line)["classes"] if c["name"] != "decision"] == plain, line
    task = imported(f"""
class Model(nn.Module):
    def forward(self, q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v)


rows = 6


def get_inputs():
    return [torch.randn(2, rows, 40), torch.randn(2, 8, 40), torch.randn(2, 8, 40)]


{NO_INIT}""")
    below = {c["name"]: c["fill"] for c in task["classes"]}[
        "below"
    ]  # what is far below 0 is a product of two
    assert [below[n]["a"] for n in "qkv"] == [-8, 8, 8], below


RANGES = (  # a task, a faulty form of it, and the class with the centre that shows the fault
    ("x.amin(1)", "x.amin(1).clamp(max=0)", "above", 8),
    ("(-x).amax(1)", "(-x).amax(1).clamp(min=0)", "below", 8),
    ("torch.aminmax(x, dim=1)[0]", "x.amin(1).clamp(max=0)", "above", 8),
    (
        "((x - x.amin(1, True).clamp(max=0)) / (x.amax(1, True) - x.amin(1, True).clamp(max=0)) * 15).round()",
        "((x - x.amin(1, True)) / (x.amax(1, True) - x.amin(1, True)) * 15).round()",
        "above",
        8,
    ),
    (
        "((x - x.amin(1, True)) / (x.amax(1, True) - x.amin(1, True)) * 15).round()",
        "((x - x.amin(1, True)) / (x.amax(1, True).clamp(min=0) - x.amin(1, True)) * 15).round()",
        "below",
        -8,
    ),
)


def ranges_are_met_on_either_side_of_0():
    """A quantization's range without 0, or with it where the task has none, differs in rows of one sign alone."""
    normal = torch.randn(6, 40, generator=torch.Generator().manual_seed(3))
    for line, faulty, name, about in RANGES:
        classes = {c["name"]: c["fill"]["x"] for c in of_one_line(line)["classes"]}
        assert classes.get(name) == {"kind": "normal", "a": about, "b": 1}, (line, classes)
        differs = [
            not torch.equal(*(eval(f, {"x": x, "torch": torch}) for f in (line, faulty)))
            for x in (normal, normal + about)
        ]
        assert differs == [False, True], (line, differs)
    product = imported(f"""
class Model(nn.Module):
    def forward(self, x, w):
        return (x @ w).amax(1)


rows = 6


def get_inputs():
    return [torch.randn(rows, 40), torch.randn(40, 12)]


{NO_INIT}""")
    below = next(c["fill"] for c in product["classes"] if c["name"] == "below")
    assert [below["x"]["a"], below["w"]["a"]] == [-8, 8], below


NO_ANSWER = {
    # of five elements there is none beyond the fifth; eight have an answer
    "short rows": (
        "x[:, 5:].sum(1) / (x[:, 5:] * 0 + 1).sum(1)",
        "torch.randn(rows, 40)",
        {"rows": 8, "dim0_1": 8},
    ),
    # a row that is masked whole, at each size
    "masked row": (
        "x.masked_fill(torch.arange(x.shape[0])[:, None] < 1, -float('inf')).softmax(1)",
        "torch.randn(rows, 40)",
        {"rows": 5, "dim0_1": 5},
    ),
    # equal numbers have no deviation
    "deviations": ("(x - x.mean(1, True)) / x.std(1, False, keepdim=True)", "torch.randn(rows, 40)", None),
}


def answers_without_a_number_at_a_small_size_leave_the_classes():
    for name, (line, inputs, small) in NO_ANSWER.items():
        task = of_one_line(line, inputs)
        kinds = [c["name"] for c in task["classes"]]
        assert {"published", "signed", "wide", "needle", "integers"} <= set(kinds), (name, kinds)
        assert small is None or task["small"] == small, (name, task["small"])


TABLE = (
    """
rows, columns = 6, 40


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None%s:
            self.table = torch.arange(x.shape[1], dtype=x.dtype)
        return x * self.table


def get_inputs():
    return [torch.rand(rows, columns)]


"""
    + NO_INIT
)


def whether_one_model_serves_several_shapes_is_noted():
    """A table that a model makes in its first call and keeps fits no other shape. A model that looks at
    the shape serves all."""

    def kinds(task):
        return [note["kind"] for note in task["notes"]]

    assert kinds(imported(TABLE % "")) == ["kept"]
    assert kinds(imported(TABLE % " or len(self.table) != x.shape[1]")) == []


COUNTED = """
TOKENS, EXPERTS, WIDTH = 30, 4, 6


class Model(nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(experts, width))

    def forward(self, x, held, ends, half):
        owner = (torch.arange(x.shape[0])[:, None] >= held.cumsum(0)[None]).sum(1)
        return x * self.weight[owner] + ends.sum() + half.sum()


def get_inputs():
    counts = torch.bincount(torch.randint(0, EXPERTS, (TOKENS,))%s)
    return [torch.randn(TOKENS, WIDTH), counts, torch.randint(1, 9, (EXPERTS,)).cumsum(0), torch.randint(0, 40, (EXPERTS,)) // 2]


def get_init_inputs():
    return [EXPERTS, WIDTH]
"""


def what_is_counted_is_made():
    """get_inputs asks for numbers (how many tokens each expert has), which FakeTensors do not have, so it
    runs really. A count or sum is not an index that may be drawn below the bound of its terms."""
    task = imported(COUNTED % ", minlength=EXPERTS")
    assert [a["name"] for a in task["axes"]] == ["TOKENS", "EXPERTS", "WIDTH"], task["axes"]
    assert [fills(task)[name]["kind"] for name in ("held", "ends", "half")] == ["computed"] * 3, fills(task)
    try:
        imported((COUNTED % "").replace("30, 4,", "30, 400,"))  # as many as the greatest that was drawn
    except describe.ImportError_ as error:
        assert "shapes hang on values" in str(error), error
    else:
        raise AssertionError("shapes that hang on chance")


if __name__ == "__main__":
    run(globals())
