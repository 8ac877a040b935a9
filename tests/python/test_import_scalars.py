"""Tests of unseen_torch/task: numbers among forward's arguments that follow sizes. Run by the suite task, or by hand with any Python that has
torch."""

import math

import torch
from importing import NO_INIT, imported, run, written
from test_import_inputs import NUMBERS
from unseen_torch.task import scalar

SCALED = (
    """
import math


class Model(nn.Module):
    def forward(self, x, scale):
        return (x * scale).sum(-1)


rows, width = 6, 48


def get_inputs():
    return [torch.randn(rows, width), {0}]


"""
    + NO_INIT
)


def scale_of(expression):
    task = imported(SCALED.replace("{0}", expression))
    return {a["name"] for a in task["axes"]}, task["inputs"][1]


def a_scale_follows_the_size_that_it_is_computed_from():
    for text, at in (
        ("1.0 / math.sqrt(width)", lambda n, m: 1 / math.sqrt(m)),
        ("width ** -0.5", lambda n, m: m**-0.5),
        ("0.3 / width", lambda n, m: 0.3 / m),
        ("-0.7 / math.sqrt(rows * width)", lambda n, m: -0.7 / math.sqrt(n * m)),
        ("math.log2(width + 1)", lambda n, m: math.log2(m + 1)),
        ("1.0 / (2 * rows + 1)", lambda n, m: 1 / (2 * n + 1)),
        ("width / 2", lambda n, m: m / 2),
        ("math.sqrt(2.0 / (rows + width))", lambda n, m: math.sqrt(2 / (n + m))),
    ):
        axes, entry = scale_of(text)
        assert axes == {"rows", "width"}, (text, axes)
        for rows, width in ((6, 48), (1, 1), (7, 129), (64, 3)):
            got, want = scalar.value(entry, {"rows": rows, "width": width}), at(rows, width)
            assert abs(got - want) <= 1e-12 * abs(want), (text, entry, rows, width, got, want)


def a_number_that_no_form_fits_holds_its_size():
    axes, entry = scale_of("math.sin(width)")
    assert axes == {"rows"} and entry["value"] == math.sin(48) and "form" not in entry, (axes, entry)
    axes, entry = scale_of("0.25")
    assert axes == {"rows", "width"} and entry == {"name": "scale", "value": 0.25}, entry


def both_processes_get_the_same_bits():
    with written(SCALED.replace("{0}", "1.0 / math.sqrt(width)")) as (_task, oracle, candidate):
        for width in (1, 3, 47, 200):
            sizes = {"rows": 2, "width": width}
            assert (
                scalar.value(oracle.description["inputs"][1], sizes)
                == candidate.arguments({"x": None}, sizes)[1]
            )


def laws_of_few_samples_hold_or_are_none():
    line = [({"n": n}, 1.5 / math.sqrt(2 * n)) for n in (8, 7, 9, 16, 31)]
    law = scalar.law(line)
    assert abs(scalar.value(law, {"n": 1000}) - 1.5 / math.sqrt(2000)) < 1e-12, law
    assert scalar.law([({"n": n}, float("inf")) for n in (1, 2)]) is None
    assert scalar.law([({"n": n}, (-1.0) ** n) for n in (1, 2, 3)]) is None


def other_values_follow_one_axis_by_a_table():
    text = NUMBERS.replace("(rows ^ width) % 3 + 0.375", "rows % 3 + 0.375").replace(
        '"sum"', '["sum", "mean"][width % 2]'
    )
    text = text.replace(
        "rows, width, turns = 3, 7, 4",
        "rows, width, turns = 3, 7, 4\nif rows > 9 or width > 8:\n    raise ValueError(rows)",
    )
    sizes, x = {"rows": 5, "width": 2, "turns": 6}, torch.rand(5, 2)
    with written(text) as (task, asked, of):
        _, _, inputs, _ = asked.prepared(sizes, {"x": x})
    entries = {e["name"]: e for e in task["inputs"]}
    assert entries["scale"]["of"] == "rows" and entries["scale"]["first"] == 1, entries["scale"]
    assert entries["scale"]["table"] == [n % 3 + 0.375 for n in range(1, 10)], entries["scale"]
    assert entries["mode"]["table"] == ["mean", "sum"] * 4, entries["mode"]
    assert of.arguments({"x": x}, sizes)[3:5] == inputs[3:5] == [2.375, "sum"], inputs


if __name__ == "__main__":
    run(globals(), ("imported", "scale_of", "written"))
