"""Tests of unseen_torch/task: which literals bound indices, and what only runs with real numbers refuse. Run by the suite task, or by hand
with any Python that has torch."""

import torch
from importing import NO_INIT, fills, imported, run, written
from unseen_torch.task import expression

FORWARD = """
class Model(nn.Module):
    def forward(self, {0}):
        return {1}


"""


def task_of(parameters, result, inputs, sizes=""):
    """A task of one line, and the three parts that differ between the tests."""
    return (
        FORWARD.format(parameters, result)
        + f"{sizes}\n\n\ndef get_inputs():\n    return [{inputs}]\n\n\n"
        + NO_INIT
    )


def axes(task):
    return {a["name"]: (a["low"], a["high"]) for a in task["axes"]}


def entry(task, name):
    return next(e for e in task["inputs"] if e["name"] == name)


INDEX_ADD = task_of(
    "x, i, src",
    "x.index_add(0, i, src)",
    "torch.rand(1000, 64), torch.randint(0, 1000, (300,)), torch.randn(300, 64)",
)


def a_bound_is_the_table_that_it_bounds():
    task = imported(INDEX_ADD)
    assert set(axes(task)) == {"dim0_0_dim1_below", "dim0_1_dim2_1", "dim1_0_dim2_0"}, axes(task)
    assert axes(task)["dim0_0_dim1_below"][0] == 1, axes(task)
    assert entry(task, "i")["bound"] == "dim0_0_dim1_below" == entry(task, "x")["shape"][0], task["inputs"]


SCATTER_ADD = task_of(
    "x, i, src",
    "x.scatter_add(0, i, src)",
    "torch.zeros(4096, 256), torch.randint(0, 4096, (1024, 256)), torch.rand(1024, 256)",
)


def equal_literals_move_together_where_one_is_refused_alone():
    task = imported(SCATTER_ADD)
    assert set(axes(task)) == {"dim0_0_dim1_below", "dim1_0_dim2_0", "dim0_1"}, axes(task)
    assert entry(task, "i")["shape"] == entry(task, "src")["shape"], task["inputs"]


def equal_literals_that_need_not_move_together_do_not():
    task = imported(task_of("a, b", "a @ b", "torch.rand(64, 48), torch.rand(48, 64)"))
    assert sorted(axes(task)) == ["dim0_0", "dim0_1_dim1_0", "dim1_1"], axes(task)


def a_bound_below_the_length_of_its_table_is_a_size_of_its_own():
    task = imported(
        task_of(
            "w, ids",
            "nn.functional.embedding(ids, w)",
            "torch.randn(900, 64), torch.randint(0, 800, (4, 32))",
        )
    )
    assert "dim1_below <= dim0_0" in task["limits"] and {"dim0_0", "dim1_below"} <= set(axes(task)), (
        task["limits"],
        axes(task),
    )


def levels_that_nothing_refuses_stay():
    """Sixteen levels of a quantization index nothing: other numbers of them are another format."""
    task = imported(
        task_of(
            "x, q, s",
            "x @ ((q - 8).float() * s)",
            "torch.randn(M, K), torch.randint(0, 16, (K, N)), torch.rand(N)",
            "M, N, K = 32, 64, 48",
        )
    )
    assert sorted(axes(task)) == ["K", "M", "N"] and entry(task, "q")["bound"] == 16, task["inputs"]
    assert any("indexes nothing" in f["why"] for f in task["fixed"]), task["fixed"]


def the_least_index_follows_its_size():
    task = imported(
        task_of(
            "x, n",
            "torch.where(torch.arange(x.shape[1]) < n[:, None], x, 0.0).sum(-1) + x.gather(1, (n - 1)[:, None])[:, 0]",
            "torch.randn(B, U), torch.randint(U // 2, U + 1, (B,))",
            "B, U = 6, 20",
        )
    )
    assert (entry(task, "n")["low"], entry(task, "n")["bound"]) == ("U/2", "U + 1"), task["inputs"]
    assert axes(task)["U"][0] == 2, "half of a row of one is a row of none, which has no last element"


POSITIONS = """
class Model(nn.Module):
    def __init__(self, most, width):
        super().__init__()
        self.table = nn.Embedding(most, width)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[1]))


B, S, D, MAX = 2, 16, 24, 64


def get_inputs():
    return [torch.randn(B, S, D)]


def get_init_inputs():
    return [MAX, D]
"""


def positions_beyond_a_table_are_a_constraint():
    assert "S <= MAX" in imported(POSITIONS)["limits"]


HEADS = (
    """
class Model(nn.Module):
    def forward(self, q, cache, pages):
        keys = cache.squeeze(1)[pages]  # pages of one token
        keys = keys[:, torch.arange(q.shape[1]) // (q.shape[1] // keys.shape[1])]
        return torch.einsum("bhd,bhd->bh", q, keys)


B, HQ, HK, D, PAGES, PAGE = 4, 8, 2, 16, 24, 1


def get_inputs():
    return [torch.randn(B, HQ, D), torch.randn(PAGES, PAGE, HK, D), torch.randint(0, PAGES, (B,))]


"""
    + NO_INIT
)


def heads_and_pages_that_only_a_real_run_refuses():
    task = imported(HEADS)
    assert "PAGE" not in axes(task) and {"HQ", "HK", "PAGES"} <= set(axes(task)), (axes(task), task["fixed"])
    for heads, shared in ((8, 2), (9, 3), (5, 5)):
        assert all(
            expression.evaluate(t, {"HQ": heads, "HK": shared, "B": 4, "D": 16, "PAGES": 24})
            for t in task["limits"]
        ), task["limits"]
    assert not all(
        expression.evaluate(t, {"HQ": 8, "HK": 3, "B": 4, "D": 16, "PAGES": 24}) for t in task["limits"]
    ), task["limits"]


SLOTS = task_of(
    "cache, slots, k",
    "cache.index_copy(0, slots, k)",
    "torch.randn(N, 8), torch.randint(0, N, (T,)), torch.randn(T, 8)",
    "N, T = 40, 12",
)


def indices_at_which_a_task_writes_are_distinct():
    task = imported(SLOTS)
    assert fills(task)["slots"] == {"kind": "distinct", "along": -1}, fills(task)
    assert "T <= N" in task["limits"], task["limits"]
    assert all(c["fill"]["slots"]["kind"] == "distinct" for c in task["classes"]), task["classes"]
    task = imported(SLOTS.replace("index_copy", "index_add"))
    assert fills(task)["slots"]["kind"] == "index" and "T <= N" not in task["limits"], "sums do not mind"


def the_oracle_runs_wherever_the_contract_reaches():
    """The least and the greatest of each axis, at small sizes of the others."""
    for text in (INDEX_ADD, SCATTER_ADD, SLOTS, HEADS):
        with written(text) as (task, oracle, _):
            least = {a["name"]: a["low"] for a in task["axes"]}
            for axis in task["axes"]:
                sizes = {**least, axis["name"]: min(axis["high"], 70)}
                if all(expression.evaluate(t, sizes) for t in task["limits"]):
                    instance = oracle.source.instance(oracle.spread(sizes))
                    torch.manual_seed(1)
                    instance.model()(*instance.inputs())


if __name__ == "__main__":
    run(globals(), ("imported", "axes", "entry", "task_of", "written"))
