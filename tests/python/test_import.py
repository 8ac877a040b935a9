"""Tests of unseen_torch/task: sizes, axes and constructors. Run by the suite task, or by hand with any Python that has torch."""

import random

import torch
from importing import NO_INIT, imported, of_one_line, run, written
from unseen_torch.oracle import task_session
from unseen_torch.oracle.number import Unsupported
from unseen_torch.task import describe, expression, fit, probe, size_constraints, write

LOOP = """
steps, batch, width = 80, 5, 12


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
"""


UNTOLD = """
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
"""


def what_the_constructor_is_not_told_stays():
    task = imported(UNTOLD)
    axes = {a["name"]: a["ring"] for a in task["axes"]}
    sizes = {s["name"]: (s["ring"], s["why"]) for s in task["sizes"]}
    assert axes == {"width": 2, "others": 1}, axes
    assert sizes["batch"] == (3, "the model takes it from its file: its constructor is not told"), sizes
    assert sizes["TAIL"] == sizes["scaled"] == sizes["turned"] == sizes["batch"], sizes


RECURRENT = """
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
"""


def the_work_of_a_recurrent_layer_is_counted():
    law = imported(RECURRENT)["flops"]
    sizes = {"batch": 3, "steps": 40, "width": 8, "hidden": 16}
    counted = write.law_at(law, sizes)
    multiplied = 2 * 3 * 40 * 4 * 16 * (8 + 16 + 16 + 16)  # gates of two layers, of inputs and of states
    assert multiplied < counted < 1.3 * multiplied, (counted, multiplied)


CORNERED = """
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
"""


def an_axis_is_sampled_whole_or_fixed():
    late, limits = probe.Probe.late, size_constraints.limits

    def over(runs, axes, chance):
        found = limits(runs, axes, chance)
        probe.Probe.late = lambda self: True
        return found

    size_constraints.limits = over
    try:
        task = imported(CORNERED)
    finally:
        probe.Probe.late, size_constraints.limits = late, limits
    why = {f["name"]: f["why"] for f in task["fixed"]}
    assert [a["name"] for a in task["axes"]] == ["batch"], task["axes"]
    assert why == dict.fromkeys(("steps", "width"), "fixed: the time for probing was over"), why
    assert not any("steps" in text for text in task["limits"]), task["limits"]
    assert task["weights"][0]["shape"] == [10, 10] and task["inputs"][0]["shape"] == ["batch", 5, 10], task[
        "inputs"
    ]


COPIED = """
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 2, 8), num_layers=1)

    def forward(self, x):
        return self.layers(x)


rows, width = 3, 4


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width]
"""


def a_constructor_may_copy_its_modules():
    assert "rows" in [axis["name"] for axis in imported(COPIED)["axes"]]


def a_loop_is_short_while_others_are_looked_at():
    asked, observed, long = [], probe.fake.observe, probe.LONG

    def observe(of, sizes, file=None):
        asked.append((*tuple(sorted({"steps": 80, "batch": 5, "width": 12, **sizes}.items())), file is None))
        return observed(of, sizes, file)

    probe.fake.observe, probe.LONG = observe, 200
    try:
        task = imported(LOOP, seconds=1000.0)
    finally:
        probe.fake.observe, probe.LONG = observed, long
    axes = {a["name"]: a for a in task["axes"]}
    assert axes["steps"]["ring"] == axes["batch"]["ring"] == 1 and axes["width"]["ring"] == 2, axes
    # more turns than its author's, as far as a run stays short
    assert axes["steps"]["low"] == 1 and axes["steps"]["high"] == 512, axes["steps"]
    turns = [dict(one[:-1])["steps"] for one in asked]
    assert sum(n > 40 for n in turns) * 10 < len(turns), turns
    # No question is asked twice, except about values of chance and for a constructor without that argument.
    known = [one for one in asked if one[-1]]
    assert len(known) - len(set(known)) <= describe.AGAIN, known


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
    assert types["norm.weight"] == types["hidden.bias"] == "float16" and types["last.weight"] == "bfloat16", (
        types
    )
    assert [a["name"] for a in task["axes"]] == ["batch", "width"] and task["outputs"][0][
        "dtype"
    ] == "bfloat16", task["axes"]


def what_forward_makes_itself_fixes_no_axis():
    for line in (
        "x + torch.zeros_like(x)",
        "x * torch.ones(x.shape[0], 1)",
        "x + torch.arange(x.shape[0])[:, None]",
    ):
        task = of_one_line(line)
        assert "rows" in [a["name"] for a in task["axes"]], (line, task["axes"], task["fixed"])


PACKED = """
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("packed", torch.randint(-128, 128, (7, width), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(7))
        self.register_buffer("step", torch.arange(width) / 4.0)

    def forward(self, x, segment):
        s = x.new_zeros(8, x.size(1)).index_add(0, segment, x) * self.step
        return s @ (self.packed.float() * self.scale[:, None]).t()


rows, width, segments = 5, 6, 8
torch.rand(3)


def get_inputs():
    return [torch.rand(rows, width), torch.randint(0, segments, (rows,))]


def get_init_inputs():
    return [width]
"""


def what_a_constructor_draws_is_the_candidate_s_too():
    with written(PACKED) as (_, asked, of):
        sizes = {axis["name"]: axis["value"] for axis in asked.description["axes"]}
        held, given = asked.built(sizes)[1].state_dict(), of.constructed(of.instance(sizes))
        # a table of no seed is a candidate's own to make
        assert list(given) == ["packed", "scale"], given.keys()
        for name, value in given.items():
            assert torch.equal(held[name], value), name
        for outside, words in ((2, ""), (9, "the forward pass cannot be traced: ")):
            try:
                task_session.answers(
                    asked, sizes, {"x": torch.rand(5, 6), "segment": torch.full((5,), outside)}
                )
            except Unsupported as why:  # the module does not run there itself, which no shape shows
                assert words and str(why).startswith(words), why
            else:
                assert not words, outside


Q8 = """
class Model(nn.Module):
    def __init__(self, inner, outer, group):
        super().__init__()
        self.group = group
        groups = (inner + group - 1) // group
        self.register_buffer("packed", torch.randint(-127, 128, (outer, inner)).to(torch.int8))
        self.register_buffer("scales", torch.rand(outer, groups) * 0.01 + 0.001)

    def forward(self, x):
        which = torch.arange(self.packed.shape[1], device=x.device) // self.group
        return x @ (self.packed.float() * self.scales[:, which]).t()


rows, inner, outer, group = 4, 512, 16, 64


def get_inputs():
    return [torch.randn(rows, inner)]


def get_init_inputs():
    return [inner, outer, group]
"""


def the_last_group_may_be_short():
    task = imported(Q8)
    shapes = {w["name"]: w["shape"] for w in task["weights"]}
    assert shapes["scales"] == ["outer", "(inner - 1)/group + 1"], shapes
    assert {a["name"]: a["ring"] for a in task["axes"]} == {"rows": 1, "inner": 2, "outer": 2, "group": 2}, (
        task["axes"]
    )
    assert not task["fixed"], task["fixed"]


def extents_may_be_divided_by_an_axis():
    """At sizes that the fit has not seen, too."""
    chance, most = random.Random(1), {"a": 600, "k": 7, "b": 128, "p": 3}
    shown = {
        "(a - 1)/b + 1": lambda a, b: -(-a // b),
        "a/b": lambda a, b: a // b,
        "((a - 1)/b + 1)*b": lambda a, b: -(-a // b) * b,
        "(a + 2*p - k)/b + 1": lambda a, k, b, p: (a + 2 * p - k) // b + 1,
        "a*b": lambda a, b: a * b,
        "(a + 2*p)*k": lambda a, p, k: (a + 2 * p) * k,
    }
    for text, of in shown.items():
        names = of.__code__.co_varnames

        def draw():
            return {n: chance.randint(8 if n == "a" else 0 if n == "p" else 1, most[n]) for n in names}

        base = {n: {"a": 512, "k": 3, "b": 16, "p": 1}[n] for n in names}
        lines = [{**base, n: draw()[n]} for n in names for _ in range(12)]
        found = fit.extent(base, [(s, of(**s)) for s in (base, *lines, *(draw() for _ in range(40)))])
        assert found == text, (found, text)
        for sizes in (draw() for _ in range(500)):
            assert expression.evaluate(found, sizes) == of(**sizes), (found, sizes)


SHARED = """
class Model(nn.Module):
    def __init__(self, heads, shared):
        super().__init__()
        self.num_heads, self.times = heads, heads // shared

    def forward(self, q, k):
        return torch.bmm(q.unflatten(2, (self.num_heads, 1)).flatten(2), k.repeat_interleave(self.times, dim=1))


rows, heads, shared, width = 5, 12, 1, 16


def get_inputs():
    return [torch.rand(rows, width, heads), torch.rand(rows, shared, width)]


def get_init_inputs():
    return [heads, shared]
"""


def a_size_may_divide_one_that_stays():
    """Key heads of grouped attention: the query heads, an attribute, stay as published."""
    task = imported(SHARED)
    assert next(s for s in task["sizes"] if s["name"] == "heads")["ring"] == 3, task["sizes"]
    assert "shared" in {a["name"] for a in task["axes"]} and "12 % shared == 0" in task["limits"], task


PART = """
class Model(nn.Module):
    def __init__(self, turned):
        super().__init__()
        self.register_buffer("table", torch.rand(turned, 3))

    def forward(self, x, rows):
        return x[..., :self.table.shape[0]] @ self.table + rows.sum()


batch, length, width, turned = 2, 128, 64, 48


def get_inputs():
    return [torch.rand(batch, length, width), torch.rand(length)]


def get_init_inputs():
    return [turned]
"""


def where_two_sizes_meet_only_at_their_ends():
    task = imported(PART)
    assert "turned <= width" in task["limits"], task["limits"]


EXPERTS = """
tokens, experts, hidden, inner, top = 40, 2, 12, 10, 2


class Model(nn.Module):
    def __init__(self, experts, hidden, inner, top):
        super().__init__()
        self.top, self.gate = top, nn.Linear(hidden, experts)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(hidden, inner), nn.Linear(inner, hidden)) for _ in range(experts)])

    def forward(self, x, lengths):
        w, chosen = torch.topk(self.gate(x), self.top, dim=-1)
        out = torch.zeros_like(x)
        for e, layer in enumerate(self.layers):
            rows, slot = torch.where(chosen == e)
            if rows.numel() == 0:
                continue
            out.index_add_(0, rows, layer(x[rows]) * w[rows, slot, None])
        out[x > 9] = 0
        return torch.stack([one[: int(n)].sum(0) for one, n in zip(out.split(tokens // 2), lengths)])


def get_inputs():
    return [torch.randn(tokens, hidden), torch.randint(1, 5, (2,))]


def get_init_inputs():
    return [experts, hidden, inner, top]
"""


def shapes_inside_may_hang_on_values():
    """The rows of an expert and a loop up to a length have stand-ins while sizes are searched. The
    returned shape depends on none of them."""
    task = imported(EXPERTS, 60.0)
    assert {"hidden", "inner"} <= {a["name"] for a in task["axes"]}, task["sizes"]
    assert [o["shape"] for o in task["outputs"]] == [[2, "hidden"]], task["outputs"]
    for line in ("x.repeat_interleave(x[:, 0].abs().long(), 0)", "x[: int(x.sum()), :3]"):
        try:
            of_one_line(line)
        except describe.ImportError_ as error:
            assert "shapes hang on values" in str(error) or "reads numbers from its tensors" in str(error), (
                error
            )
        else:
            raise AssertionError(line)


BOXES = """
boxes, columns, longest = 9, 2, 12


class Model(nn.Module):
    def forward(self, a, offset, table):
        offset = offset.sigmoid()
        return (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1]) * a[:, 4] + a[:, 5] + (offset[:, 0] * offset[:, 1]) + table[: a.shape[0]]


def get_inputs():
    return [torch.rand(boxes, 6), torch.rand(boxes, columns), torch.rand(longest)]


def get_init_inputs():
    return []
"""


def what_nobody_reads_does_not_grow():
    """The model takes columns 0 to 5 of a box, and would do so with a seventh. A kernel may take a box for
    six numbers. A table that is longer than its used part has a size of its own."""
    task = imported(BOXES)
    unread = {f["name"] for f in task["fixed"] if "nobody reads" in f["why"]}
    assert task["axes"][0]["name"] == "boxes" and unread == {"dim0_1", "columns"}, (
        task["axes"],
        task["fixed"],
    )


POINTS = (
    """
points = 9


class Model(nn.Module):
    def forward(self, a, b):
        return b @ a.square().sum(-1)


def get_inputs():
    return [torch.rand(points, 3), torch.rand(2, points)]


"""
    + NO_INIT
)


def what_an_element_consists_of_stays():
    """All three coordinates are read, and a fourth would be: a kernel names them one by one. The number of points that stands there as 2 varies."""

    def moves(task):
        return {name for a in task["axes"] for name in a["sizes"]}

    task = imported(POINTS)
    stays = {f["name"]: f["why"] for f in task["fixed"]}
    assert moves(task) == {"points", "dim1_0"} and "--vary" in stays["dim0_1"], (task["axes"], stays)
    task = imported(POINTS, vary=("dim0_1",))
    assert moves(task) == {"points", "dim0_1", "dim1_0"}, task["axes"]


if __name__ == "__main__":
    run(globals())
