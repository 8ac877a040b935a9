"""Tests of unseen_torch/task: classes that move exponents and gates, and numbers beyond the range of fp16.
Run by the suite task, or by hand with any Python that has torch."""

import torch
from importing import NO_INIT, imported, run
from unseen_torch.task import shaped

STEP = (
    """
rows, steps, width = 3, 6, 8
F = nn.functional


class Model(nn.Module):
    def forward(self, {0}):
        {1}


def get_inputs():
    {2}


"""
    + NO_INIT
)
SCAN = """h = torch.zeros_like(x[:, 0])
        out = []
        for t in range(x.shape[1]):
            h = h * {0} + x[:, t]
            out.append(h)
        return torch.stack(out, 1)"""
OF_LOGS, OF_GATES = SCAN.replace("{0}", "g[:, t].exp()"), SCAN.replace("{0}", "g[:, t]")
NORMAL = "torch.randn(rows, steps, width)"


def entries_of(parameters, body, made):
    text = STEP.replace("{0}", parameters).replace("{1}", body).replace("{2}", made)
    return {c["name"]: c for c in imported(text, 2.0)["classes"]}


def classes_of(parameters, body, made):
    return {
        name: {n: fill["changes"] for n, fill in c["fill"].items() if "changes" in fill}
        for name, c in entries_of(parameters, body, made).items()
    }


STEEP = ["scale 8", "scale 32", "scale 128", "scale 512"]


def log_gates_are_strong_and_are_near_zero():
    """Sums of them pass -88, or nothing is forgotten."""
    made = classes_of("x, g", OF_LOGS, f"return [{NORMAL}, F.logsigmoid({NORMAL})]")
    assert made["steep"] == {"g": STEEP} and made["lasting"] == {"g": [shaped.SHARE]}, made
    made = classes_of("x, dt, a", "return x * (dt * a).exp()", TIMES)
    assert made["steep"] == {"dt": STEEP, "a": STEEP}, made


TIMES = f"return [{NORMAL}, F.softplus({NORMAL} - 4), -torch.exp(torch.rand(width))]"


def long_sequences_meet_lasting_gates():
    """The greatest extents are drawn with the class of the first rank."""
    made = entries_of("x, g", OF_LOGS, f"return [{NORMAL}, F.logsigmoid({NORMAL})]")
    assert [made[name]["discriminating"] for name in ("lasting", "steep")] == [1, 2], made


def gates_keep_their_bounds():
    made = classes_of("x, g", OF_GATES, f"return [{NORMAL}, torch.sigmoid({NORMAL})]")
    assert made["steep"]["g"] == ["raised 8", "raised 32"], made
    fill = {"kind": "computed", "as": "tempered", "changes": made["lasting"]["g"]}
    gates = shaped.changed(torch.rand(50) * 0.9 + 0.05, fill)
    assert float(gates.min()) > 0.99 and float(gates.max()) < 1, gates


MERGED = """top = torch.maximum(a, b)
        return torch.where(top.isfinite(), ((a - top).exp() + (b - top).exp()).log() + top, top)"""
SHARED = """none = torch.rand(rows, width) < 0.2
    a, b = (torch.randn(rows, width) for _ in range(2))
    a[none], b[~none & (torch.rand(rows, width) < 0.1)] = -float("inf"), -float("inf")
    return [a, b]"""


def inputs_that_share_a_mask_are_moved_and_those_that_follow_from_one_another_are_not():
    assert classes_of("a, b", MERGED, SHARED)["steep"] == {"a": STEEP, "b": STEEP}
    both = f"x = {NORMAL}\n    return [{NORMAL} * x.sigmoid(), F.logsigmoid(x)]"
    assert classes_of("x, g", OF_LOGS, both)["steep"] == {"g": STEEP}
    kept = f"s = {NORMAL}\n    return [s, s.logsumexp(-1, keepdim=True)]"
    made = classes_of("s, lse", "return (s - lse).exp()", kept)
    assert "steep" not in made and "lasting" not in made, made


def an_exponent_that_others_hide_is_moved_alone():
    """Products of the first two pass the range long before the third one does."""
    body = "return (q @ k.transpose(-1, -2)).softmax(-1) @ (s - s.logcumsumexp(1)).exp()"
    made = classes_of("q, k, s", body, f"return [{NORMAL}, {NORMAL}, {NORMAL}]")
    assert "beyond" in made and made["steep"] == {"s": STEEP}, made


def other_tasks_have_neither():
    for body in ("return x.softmax(-1)", "return (x - x.amax(-1, True)).exp()", "return x.relu() + 1"):
        made = classes_of("x", body, f"return [{NORMAL}]")
        assert "steep" not in made and "lasting" not in made, (body, made)
    unit = f"return [F.normalize({NORMAL}, dim=-1)]"
    assert "steep" not in classes_of("x", "return (x @ x.transpose(-1, -2)).softmax(-1)", unit)


def an_exponential_of_the_task_that_overflows_is_no_class():
    made = classes_of("x", "return x / (1e-6 + x.exp().sum(-1, keepdim=True))", f"return [{NORMAL}]")
    assert "steep" not in made, made


def numbers_pass_the_range_of_fp16_where_outputs_are_coarse():
    def has(body, dtype):
        return "huge" in classes_of("x", f"return {body}", f"return [{NORMAL}.to(torch.{dtype})]")

    assert has("x * x.float().square().mean(-1, keepdim=True).rsqrt().to(x.dtype)", "bfloat16")
    assert has("x.bfloat16() + 1", "float32") and not has("x + 1", "float32")
    for body in ("x.softmax(-1)", "x.sin()", "x.to(torch.int8)", "x.half()", "x.float().pow(9).to(x.dtype)"):
        assert not has(body, "bfloat16"), body
    assert not has("x * 2", "float16")


if __name__ == "__main__":
    run(globals(), ("classes_of", "entries_of"))
