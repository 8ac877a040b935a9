"""Tests of unseen_torch/task: markers and temperatures of the inputs that get_inputs shapes. Run by the suite task, or by hand with any Python
that has torch."""

import torch
from importing import NO_INIT, fills, imported, run, written
from unseen_torch.task import shaped

FORWARD = (
    """
import math


class Model(nn.Module):
    def forward(self, {0}):
        return {1}


def get_inputs():
{2}


"""
    + NO_INIT
)


def task_of(parameters, result, lines):
    text = FORWARD.replace("{0}", parameters).replace("{1}", result)
    return text.replace("def get_inputs", "rows, width = 6, 24\n\n\ndef get_inputs").replace(
        "{2}", "\n".join("    " + line for line in lines)
    )


def class_of(task, name, of):
    found = [c for c in task["classes"] if c["name"] == name]
    return found[0]["fill"][of] if found else None


SCORES = [
    "s = torch.randn(rows, width).masked_fill(torch.rand(rows, width) < 0.3, -math.inf)",
    "return [s, torch.randn(rows, width)]",
]


def infinities_that_get_inputs_plants_are_markers():
    task = imported(
        task_of("s, x", "(torch.exp(s - s.amax(-1, keepdim=True).clamp(min=-1e30)) * x).sum(-1)", SCORES)
    )
    assert fills(task)["s"] == {"kind": "computed"}, fills(task)
    fill = class_of(task, "markers", "s")
    assert (fill["marker"], fill["rates"]) == ("-inf", ["none", "some", "rows", "all"]), fill


def rates_at_which_the_task_itself_has_no_answer_are_left_out():
    """The softmax of a row without anything is NaN."""
    task = imported(task_of("s, x", "(s.softmax(-1) * x).sum(-1)", SCORES))
    fill = class_of(task, "markers", "s")
    assert fill["rates"] == ["none", "some"], fill
    for seed in range(40):
        torch.manual_seed(seed)
        made = shaped.changed(torch.randn(5, 3), fill)
        assert not bool((made == -torch.inf).all(-1).any()), (seed, made)


def ids_of_padding_are_markers_and_lie_as_they_did():
    plain = ["ids = torch.randint(1, 50, (rows, width))"]
    anywhere = [*plain, "return [torch.where(torch.rand(rows, width) < 0.3, torch.zeros_like(ids), ids)]"]
    behind = [
        *plain,
        "long = torch.randint(1, width + 1, (rows, 1))",
        "return [torch.where(torch.arange(width) < long, ids, torch.zeros_like(ids))]",
    ]
    for lines, tails in ((anywhere, False), (behind, True)):
        task = imported(task_of("ids", "((ids != 0) * ids.float()).sum(-1)", lines))
        fill = class_of(task, "markers", "ids")
        assert fill["marker"] == 0 and fill.get("tails", False) == tails and len(fill["rates"]) == 4, fill
    for seed in range(20):
        torch.manual_seed(seed)
        made = shaped.changed(torch.randint(1, 50, (4, 9)), fill) == 0
        assert bool((made.int().diff(dim=-1) >= 0).all()), made


def numbers_without_markers_have_none():
    for line in (
        "torch.where(torch.rand(rows, width) < 0.5, torch.randn(rows, width), torch.rand(rows, width) - 3)",
        "(torch.rand(rows, width) < 0.2).float()",
        "torch.randint(0, 4, (rows, width))",
    ):
        task = imported(task_of("x", "x.float().sum(-1)", [f"return [{line}]"]))
        assert class_of(task, "markers", "x") is None, task["classes"]


def every_rate_is_drawn():
    fill = {"kind": "computed", "as": "markers", "marker": "-inf", "rates": list(shaped.RATES)}
    shares = []
    for seed in range(60):
        torch.manual_seed(seed)
        shares.append(float((shaped.changed(torch.randn(8, 6), fill) == -torch.inf).double().mean()))
    assert 0 in shares and 1 in shares and any(0.02 < s < 0.4 for s in shares), shares


def logits_that_get_inputs_shapes_have_several_temperatures():
    task = imported(task_of("s", "s.softmax(-1)", ["return [torch.exp(2 * torch.randn(rows, width)) - 2]"]))
    changes = class_of(task, "tempered", "s")["changes"]
    assert {"scale 0.125", "scale 4", "negated", "below", "shift 128"} <= set(changes), changes
    task = imported(task_of("p", "(p * p.log()).sum(-1)", ["return [torch.randn(rows, width).softmax(-1)]"]))
    assert class_of(task, "tempered", "p")["changes"] == list(shaped.SHARPER), task["classes"]
    row = shaped.changed(torch.rand(3, 8).softmax(-1), {"as": "tempered", "changes": ["power 4"]})
    assert bool(((row.sum(-1) - 1).abs() < 1e-6).all()) and float(row.max()) <= 1


def what_has_bounds_keeps_them():
    """A decay, sorted scores and unit vectors are not drawn at other temperatures; bounded numbers come nearer to 0 at most."""
    for line in (
        "torch.exp(-torch.rand(rows, width))",
        "torch.randn(rows, width).sort(-1).values",
        "nn.functional.normalize(torch.randn(rows, width), dim=-1)",
    ):
        assert (
            class_of(imported(task_of("x", "x.cumsum(-1)", [f"return [{line}]"])), "tempered", "x") is None
        ), line
    changes = class_of(
        imported(task_of("x", "x.sum(-1)", ["return [torch.tanh(torch.randn(rows, width))]"])),
        "tempered",
        "x",
    )["changes"]
    assert changes == list(shaped.COLDER), changes


def the_maker_draws_a_class_as_its_fill_says():
    text = task_of("s, x", "(torch.exp(s - s.amax(-1, keepdim=True).clamp(min=-1e30)) * x).sum(-1)", SCORES)
    with written(text) as (_, oracle, __):
        shares = [
            float((oracle.made({"rows": 8, "width": 16}, seed, "markers")["s"] == -torch.inf).double().mean())
            for seed in range(24)
        ]
        assert 0 in shares and 1 in shares, shares
        plain = [
            float(
                (oracle.made({"rows": 8, "width": 16}, seed, "published")["s"] == -torch.inf).double().mean()
            )
            for seed in range(8)
        ]
        assert all(0.1 < s < 0.6 for s in plain), plain


def a_constant_that_follows_an_axis_is_a_table():
    """The fill `constant` holds a number, so that an expression in its place would be drawn as 0."""
    task = imported(
        f"""
class Model(nn.Module):
    def forward(self, x, length, start):
        return x / length + start


rows, width = 6, 8


def get_inputs():
    return [torch.randn(rows, width), torch.full((rows, width), float(rows)), torch.zeros(rows, width)]


{NO_INIT}"""
    )
    for each in task["classes"]:
        assert each["fill"]["length"] == {"kind": "affine", "start": "rows", "steps": [0, 0]}, each
    assert fills(task)["start"] == {"kind": "constant", "a": 0}, fills(task)


def powers_and_boxes_are_also_drawn_small():
    """A power is at or above 0 and depends on no other. A box has its second corner beyond its first."""
    task = imported(task_of("p", "(p.sum(-1) + 1e-6).log()", ["return [torch.rand(rows, width) ** 2]"]))
    changes = class_of(task, "tempered", "p")["changes"]
    assert "quiet" in changes and "negated" not in changes, changes
    corner = "corner = torch.rand(rows, 2) * 50"
    boxes = ["return [torch.cat([corner, corner + torch.rand(rows, 2) * 9 + 1], 1)]"]
    task = imported(task_of("b", "(b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])", [corner, *boxes]))
    changes = class_of(task, "tempered", "b")["changes"]
    assert "scale 0.0078125" in changes and all(c.startswith("scale") for c in changes), changes


def quiet_parts_are_never_negative():
    torch.manual_seed(1)
    x = torch.rand(20, 30) + 0.5
    made = shaped.changed(x, {"kind": "computed", "as": "tempered", "changes": ["quiet"]})
    assert bool((made >= 0).all()) and bool((made <= x).all()) and float(made.amin()) < 1e-4


DIVERGENCE = """
class Model(nn.Module):
    def forward(self, student, teacher):
        return nn.functional.kl_div(student.log_softmax(1), teacher, reduction="sum")


rows, classes, width = 4, 6, 5


def get_inputs():
    shares = torch.rand(rows, classes, width)
    return [torch.randn(rows, classes, width), SHARES]


"""

DRAFTED = """
class Model(nn.Module):
    def forward(self, ids, draft, target):
        p, q = (x.gather(1, ids[:, None])[:, 0] for x in (target, draft))
        return torch.where(q > 0, p / q.clamp(min=1e-30), 0.0)


rows, words = 6, 9


def get_inputs():
    draft = torch.randn(rows, words).softmax(-1)
    target = (draft.log() + torch.randn(rows, words)).softmax(-1)
    return [torch.multinomial(draft, 1)[:, 0], draft, target]


"""


def probabilities_are_also_drawn_with_zeros():
    for shares in ("shares.softmax(1)", "shares / shares.sum(1, keepdim=True)"):
        task = imported(DIVERGENCE.replace("SHARES", shares) + NO_INIT)
        assert class_of(task, "sparse", "teacher")["changes"] == ["zeros", "one-hot"], task["classes"]
    torch.manual_seed(1)
    x = torch.rand(3, 4, 5).softmax(1)
    for change in ("zeros", "one-hot"):
        made = shaped.changed(x, {"kind": "computed", "as": "tempered", "changes": [change], "along": -2})
        assert bool((made == 0).any()) and bool(((made.sum(1) - 1).abs() < 1e-6).all()), made


def probabilities_without_an_answer_at_0_have_no_zeros():
    text = DIVERGENCE.replace("SHARES", "shares.softmax(1)").replace(
        'nn.functional.kl_div(student.log_softmax(1), teacher, reduction="sum")',
        "(teacher.log() * student).sum()",
    )
    assert not any(c["name"] == "sparse" for c in imported(text + NO_INIT)["classes"])


def probabilities_from_which_others_are_sampled_have_zeros():
    task = imported(DRAFTED + NO_INIT)
    assert class_of(task, "sparse", "draft")["changes"] == ["zeros", "one-hot"], task["classes"]
    assert "as" not in class_of(task, "sparse", "target"), task["classes"]
    # the logarithm would contradict them
    text = DRAFTED.replace("draft, target):", "draft, log, target):").replace(
        "draft, target]", "draft, draft.log(), target]"
    )
    assert not any("as" in c["fill"]["draft"] for c in imported(text + NO_INIT)["classes"])


if __name__ == "__main__":
    run(globals(), ("imported", "task_of", "class_of", "fills", "written"))
