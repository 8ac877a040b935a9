"""Tests of unseen_torch/task/decision.py: inputs at the thresholds of a task's own graph. Run by the suite task, or by hand with any Python
that has torch.

Each task has honest solutions by another algebra, and wrong ones that differ from it at single values
alone. All are judged by the oracle's tolerance. The class `decision` finds wrong ones, and honest ones
are right there.
"""

import torch
from importing import NO_INIT, imported, run
from unseen_torch.oracle import evaluate
from unseen_torch.oracle import graph as graphs
from unseen_torch.task import decision

F = torch.nn.functional


def task_of(body, inputs, setup="pass"):
    """(description, its own module's class, get_inputs)."""
    names = ["x", "y", "z"][: len(inputs)]
    text = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {setup}

    def forward(self, {", ".join(names)}):
        return {body}


rows, cols = 12, 40


def get_inputs():
    return [{", ".join(inputs)}]


{NO_INIT}"""
    names = {"torch": torch, "nn": torch.nn}
    exec(text, names)
    return imported(text), names["Model"], names["get_inputs"]


def fills_of(task):
    return next((c["fill"] for c in task["classes"] if c["name"] == "decision"), None)


def levels_of(task, name="x"):
    return set(fills_of(task)[name]["at"])


def contents(task, get_inputs, seed):
    torch.manual_seed(seed)
    return [
        decision.drawn(value, fill) if fill["kind"] in ("decision", "ascending") else value
        for value, fill in zip(get_inputs(), (fills_of(task)[e["name"]] for e in task["inputs"]))
    ]


def accepts(judged, out):
    """Is the output right by the judge's want and allowed?"""
    return bool(((out.double() - judged.want).abs() <= judged.allowed).all())


def expect(body, inputs, levels, honest, wrong, setup="pass"):
    task, model, get_inputs = task_of(body, inputs, setup)
    assert fills_of(task), body
    for name, some in levels.items():
        assert set(some) <= levels_of(task, name), (body, name, fills_of(task))
    found = [False] * len(wrong)
    for seed in (1, 2):
        given, own = contents(task, get_inputs, seed), model()
        graph = graphs.trace(own, given)
        (judged,) = evaluate.answer(graph, {k: v.detach() for k, v in graphs.state_of(own).items()}, given)
        assert judged.dropped is None and judged.untold == 0, (body, judged.dropped)
        for number, solution in enumerate(honest):
            assert accepts(judged, solution(*given)), (body, "honest", number, seed)
        found = [was or not accepts(judged, solution(*given)) for was, solution in zip(found, wrong)]
    assert all(found), (body, found)


X = "torch.randn(rows, cols) * 3"


def half_away(q):
    return torch.sign(q) * torch.floor(q.abs() + 0.5)


def halves_are_met_through_scales_and_clamps():
    expect(
        "torch.clamp(torch.round(x / 0.25), -8, 7) * 0.25",
        [X],
        {"x": [0.125, 0.375, -0.625, -2.0, -2.125, 1.75, 1.875]},
        [lambda x: torch.round((x * 4).clamp(-8, 7)) * 0.25],
        [
            lambda x: torch.clamp(half_away(x * 4), -8, 7) * 0.25,
            lambda x: torch.clamp(torch.floor(x * 4 + 0.5), -8, 7) * 0.25,
            lambda x: torch.clamp(torch.round(x * 4), -7, 7) * 0.25,
        ],
    )
    expect(
        "torch.round(3.0 * x + 1.5)",
        [X],
        {"x": [0.0, 1.0, -2.0]},
        [lambda x: torch.round(1.5 + x * 3)],
        [lambda x: torch.floor(3 * x + 2)],
    )
    expect(
        "torch.clamp(torch.round(x * 16), -128, 127).to(torch.int8)",
        [X],
        {"x": [0.03125, -8.03125]},
        [lambda x: torch.round((x / 0.0625).clamp(-128, 127)).to(torch.int8)],
        [lambda x: torch.clamp(half_away(x * 16), -128, 127).to(torch.int8)],
    )


def a_scale_that_is_an_input_is_a_power_of_two_there():
    wrong = [lambda x, s: torch.clamp(half_away(x / s), -128, 127) * s]
    expect(
        "torch.clamp(torch.round(x / y), -128, 127) * y",
        [X, "torch.rand(rows, 1) * 0.05 + 0.01"],
        {"x": [0.5, -1.5], "y": [1.0, 2.0, 0.5]},
        [lambda x, s: torch.round(torch.clamp(x * (1 / s), -128, 127)) * s],
        wrong,
    )
    task, _, _ = task_of(
        "torch.round(x / self.step) * self.step", [X], "self.step = nn.Parameter(torch.ones(1))"
    )
    assert fills_of(task)["weights"]["at"] == [0.0, 4.0, -2.0], fills_of(task)  # 1 + w / 4: 1, 2 and a half
    narrow = task_of("torch.round(x)", ["(torch.randn(rows, cols) * 3).half()"])[0]
    assert fills_of(narrow)["x"]["step"] == 1 << 13, fills_of(narrow)


def whole_parts_and_remainders_are_met():
    expect(
        "torch.floor(x / 0.5)",
        [X],
        {"x": [0.0, 0.5, -0.5]},
        [lambda x: torch.floor(x * 2)],
        [lambda x: torch.trunc(x * 2), lambda x: torch.ceil(x * 2) - 1],
    )
    expect(
        "torch.fmod(x, 2.0)",
        [X],
        {"x": [0.0, 2.0, -2.0]},
        [lambda x: x - torch.trunc(x * 0.5) * 2],
        [lambda x: x - torch.ceil(x * 0.5 - 1) * 2],
    )
    expect(
        "(x * 8).to(torch.int32)",
        [X],
        {"x": [0.125, -0.125]},
        [lambda x: torch.trunc(x / 0.125).int()],
        [lambda x: torch.floor(x * 8).int()],
    )
    expect(
        "torch.floor((x - 0.5) * 4)",
        [X],
        {"x": [0.5, 0.75, -0.25]},
        [lambda x: torch.floor(4 * x - 2)],
        [lambda x: torch.ceil(4 * x - 2) - 1],
    )


def bounds_that_are_compared_with_are_met():
    expect(
        "torch.sign(x)",
        [X],
        {"x": [0.0]},
        [lambda x: (x > 0).float() - (x < 0).float()],
        [lambda x: torch.where(x >= 0, 1.0, -1.0)],
    )
    expect(
        "torch.where(x > y, x, y + 1)",
        [X, X],
        {"x": [0.0, 1.0], "y": [0.0, 1.0]},
        [lambda x, y: torch.where(y < x, x, y + 1)],
        [lambda x, y: torch.where(x >= y, x, y + 1)],
    )
    expect(
        "torch.where(x > 0.1, x * 2, x - 1)",
        [X],
        {},
        [
            lambda x: torch.where(x.double() > 0.1, x * 2, x - 1),
            lambda x: torch.where(x <= 0.1, x - 1, x + x),
        ],
        [lambda x: torch.where(x > 0.1001, x * 2, x - 1)],
    )
    expect(
        "torch.bucketize(x, self.edges)",
        [X],
        {"x": [-1.0, 0.25, 3.0]},
        [lambda x: (x[..., None] > torch.tensor([-1.0, 0.25, 3.0])).sum(-1)],
        [lambda x: (x[..., None] >= torch.tensor([-1.0, 0.25, 3.0])).sum(-1)],
        "self.register_buffer('edges', torch.tensor([-1.0, 0.25, 3.0]))",
    )
    expect(
        "torch.searchsorted(x, y)",
        ["torch.sort(torch.randn(cols)).values", X],
        {"y": [0.0, 1.0]},
        [lambda e, x: (x[..., None] > e).sum(-1)],
        [lambda e, x: (x[..., None] >= e).sum(-1)],
    )
    expect(
        "torch.where((y >= 1000).unsqueeze(-1), x * 2, x)",
        [X, "torch.randint(0, 50000, (rows,))"],
        {"y": [999.0, 1000.0]},
        [lambda x, y: torch.where((y > 999)[:, None], x + x, x)],
        [lambda x, y: torch.where((y > 1000)[:, None], x * 2, x)],
    )


def what_decides_nothing_has_no_such_class():
    """Sums of many terms cannot be brought to a decision, nor a computed scale of a row that is rounded."""
    for body in ("x * 2", "torch.softmax(x, -1)", "torch.round((x.sin() * 0.7).sum(-1))"):
        assert fills_of(task_of(body, [X])[0]) is None, body
    named = [c["name"] for c in task_of("torch.floor(x)", [X])[0]["classes"]]
    assert named[:2] == ["published", "decision"] and len(named) == 6, named


if __name__ == "__main__":
    run(globals(), ("task_of", "fills_of", "levels_of", "contents", "accepts", "expect", "half_away"))
