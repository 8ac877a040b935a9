"""Tests of unseen_torch/task: inputs beyond those of get_inputs, where faulty guards and bounds show. Run by
the suite task, or by hand with any Python that has torch."""

import torch
from importing import NO_INIT, imported, of_one_line, run, written
from unseen_torch.task import shaped

STEP = (
    """
rows, cols, last = 6, 8, 64


class Model(nn.Module):
    def forward(self, {0}):
        return {1}


def get_inputs():
    {2}


"""
    + NO_INIT
)


def class_of(parameters, result, line, name):
    text = STEP.replace("{0}", parameters).replace("{1}", result).replace("{2}", line)
    task = imported(text)
    return next((c["fill"] for c in task["classes"] if c["name"] == name), None)


def a_whole_tensor_is_near_zero_where_a_norm_divides():
    """A norm that is held at 1 and a lost epsilon show only if the whole tensor is small."""
    for line in ("x / (x.norm() + 1e-7)", "x / x.square().mean().sqrt().clamp(min=1e-3)"):
        classes = {c["name"]: c["fill"]["x"] for c in of_one_line(line)["classes"]}
        assert classes["tiny"] == {"kind": "normal", "a": 0, "b": 2.0**-13}, (line, classes)
    assert "tiny" not in [c["name"] for c in of_one_line("x * 3 + 1")["classes"]]


def casts_to_fp32_do_not_hide_classes():
    """The run in double precision that decides on a class stays double where forward asks for fp32."""
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(8, 8)

    def forward(self, x):
        return torch.softmax(self.line(x.float()), -1).to(x.dtype)


def get_inputs():
    return [torch.randn(rows, 8).half()]


rows = 6
"""
    names = [c["name"] for c in imported(text + NO_INIT)["classes"]]
    assert "beyond" in names, names


def scales_reach_subnormal_numbers_and_probabilities_reach_one():
    narrow = "return [torch.randn(rows, cols), (torch.rand(rows) + 0.25).to(torch.float8_e4m3fn)]"
    fill = class_of("x, s", "x * s.float()[:, None]", narrow, "scales")
    assert 2.0**-9 in fill["s"]["at"] and 0.0 not in fill["s"]["at"], fill
    usual = "return [torch.randn(rows, cols), torch.rand(rows) * 0.15 + 0.05]"
    bounded = "(x.softmax(-1) >= p[:, None] * x.softmax(-1).amax(-1, True)).float() * x"
    assert 1.0 in class_of("x, p", bounded, usual, "scales")["p"]["at"]
    dominant = "return [torch.randn(rows, cols), torch.rand(rows, cols) + 2.5]"
    assert class_of("x, d", "x / d", dominant, "scales") is None


def weights_are_hot_where_a_norm_hides_the_inputs():
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(8, 8)

    def forward(self, x):
        return torch.softmax(self.line(nn.functional.rms_norm(x, (8,))), -1)


def get_inputs():
    return [torch.randn(rows, 8)]


rows = 6
"""
    task = imported(text + NO_INIT)
    hot = next(c["fill"] for c in task["classes"] if c["name"] == "hot")
    assert hot["x"] == task["classes"][0]["fill"]["x"] and hot["weights"]["b"] > 1, hot


def shares_have_ties():
    line = "return [torch.softmax(2 * torch.randn(rows, cols), -1)]"
    assert "tied" in class_of("p", "p.sort(-1).values", line, "tempered")["p"]["changes"]
    torch.manual_seed(1)
    for numbers, sums in ((torch.randn(40, 30).softmax(-1), True), (torch.randn(40, 30), False)):
        made = shaped.changed(numbers, {"kind": "computed", "as": "tempered", "changes": ["tied"]})
        assert all(len(row.unique()) < 15 for row in made), made
        assert not sums or bool(((made.sum(-1) - 1).abs() < 1e-6).all()), made


BOXES = """corner, size = torch.rand(rows, 2) * 100, torch.rand(rows, 2) * 50 + 1
    return [torch.cat([corner, corner + size], 1)]"""


def corners_of_boxes_come_as_shares_of_an_image():
    areas = "1 / ((x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]))"
    fill = class_of("x", areas, BOXES, "small")
    assert fill["x"] == {"kind": "computed", "as": "tempered", "changes": [shaped.SHARE]}, fill
    labelled = BOXES.replace("+ size]", "+ size, torch.randint(5, (rows, 1)).float()]")
    assert class_of("x", areas, labelled, "small") is None


STARTS = """starts = torch.zeros(rows + 1, dtype=torch.int64)
    starts[1:] = torch.cumsum(torch.randint(1, last, (rows,)), 0)
    return [torch.randn(rows * last), starts]"""
SUMS = "(lambda c: c[starts[1:]] - c[starts[:-1]])(nn.functional.pad(x.cumsum(0), (1, 0)))"


def groups_may_be_empty_where_the_task_has_an_answer():
    fill = class_of("x, starts", SUMS, STARTS, "empty")
    assert fill["starts"]["changes"] == [shaped.DROPPED], fill
    assert class_of("x, starts", f"{SUMS} / starts.diff()", STARTS, "empty") is None
    grouped = "torch.stack([{}(x[a:b], 0) @ x[a:b] for a, b in zip(starts[:-1], starts[1:])])"
    assert class_of("x, starts", grouped.format("torch.sigmoid").replace(", 0)", ")"), STARTS, "empty")
    assert class_of("x, starts", grouped.format("torch.softmax"), STARTS, "empty") is None
    torch.manual_seed(2)
    given = torch.tensor([0, 3, 5, 9, 14, 15])
    for change, end in ((shaped.DROPPED, None), (shaped.MERGED, 15)):
        made = [shaped.changed(given, {"as": "tempered", "changes": [change]}) for _ in range(20)]
        assert all(bool((x.diff() >= 0).all()) and int(x[0]) == 0 for x in made), made
        assert any(bool((x.diff() == 0).any()) for x in made) and made[0].dtype == given.dtype, made
        assert end is None or all(int(x[-1]) == end for x in made), made
        assert end is not None or all(int(x.diff().max()) <= 5 for x in made), made


def bounds_that_cost_nothing_go_beyond_narrow_types():
    """fp16 holds whole numbers up to 2048."""
    text = STEP.replace("{0}", "x, at").replace("{2}", "return [torch.randn(rows, cols), {3}]")
    position = text.replace("{1}", "x * at[:, None]").replace("{3}", "torch.randint(0, last, (rows,))")
    table = text.replace("{1}", "x + at[0]").replace("{3}", "torch.zeros(last, cols)")
    for source, high in ((position, 8192), (table, 256)):
        ends = {a["name"]: a["high"] for a in imported(source)["axes"]}
        assert ends["last"] == high, ends


def scores_with_markers_have_other_temperatures():
    """The markers at fixed places are infinite, so that they stay."""
    line = "x = torch.randn(rows, cols)\n    x[rows // 2 :] = float('-inf')\n    return [x]"
    fill = class_of("x", "x.logsumexp(0)", line, "tempered")
    assert {"shift 128", "shift -128"} <= set(fill["x"]["changes"]), fill
    marked = class_of("x", "x.logsumexp(0)", line, "markers")["x"]
    assert "tails" not in marked and marked["rates"] == list(shaped.RATES), marked


def draws_of_other_distributions_are_drawn_by_get_inputs():
    line = "return [torch.empty(rows, cols).exponential_()]"
    for name in ("published", "signed", "wide"):
        fill = class_of("x", "(1 / x).sum(-1)", line, name)
        assert fill is None or fill["x"] == {"kind": "computed"}, (name, fill)
    changes = class_of("x", "(1 / x).sum(-1)", line, "tempered")["x"]["changes"]
    assert "scale 0.5" in changes and "quiet" not in changes, changes


def packed_words_have_all_their_bits():
    """A fill draws whole numbers in fp32, which has 24 bits."""
    line = "return [torch.randint({0}, {1}, (rows, cols)).to(torch.int32)]"
    for low, high, kind in ((-(2**31), 2**31, "computed"), (0, 2**20, "index")):
        fill = class_of("x", "(x >> 3) & 15", line.format(low, high), "published")
        assert fill["x"]["kind"] == kind, fill


def all_classes_of_extremes_are_drawn():
    text = STEP.replace("{0}", "x, starts").replace("{1}", SUMS).replace("{2}", STARTS)
    with written(text) as (_, oracle, __):
        sizes = {"rows": 12, "last": 6}
        made = [oracle.made(sizes, seed, "empty")["starts"] for seed in range(8)]
        assert any(bool((x.diff() == 0).any()) for x in made), made


if __name__ == "__main__":
    run(globals(), ("imported", "class_of", "of_one_line", "written"))
