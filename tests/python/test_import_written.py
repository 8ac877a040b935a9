"""Tests of unseen_torch/task: inputs that forward writes into. Run by the suite task, or by hand with any Python that has torch."""

import torch
from importing import NO_INIT, imported, run, written
from unseen_torch.oracle import task_session

STEP = (
    """
class Model(nn.Module):
    def forward(self, p, g, m):
        m.mul_(0.9).add_(g, alpha=0.1)
        p.sub_(m, alpha=0.01)
        return {"norm": g.norm(), "p": p}


n = 300


def get_inputs():
    return [torch.randn(n), torch.randn(n), torch.zeros(n)]


"""
    + NO_INIT
)


def what_forward_writes_into_its_inputs_is_an_output():
    task = imported(STEP)
    assert [e.get("written", False) for e in task["inputs"]] == [True, False, True], task["inputs"]
    assert [o["name"] for o in task["outputs"]] == ["norm"], task["outputs"]
    assert task["same"] == [{"way": ["p"], "input": "p"}], task["same"]


def the_oracle_answers_for_them_first():
    with written(STEP) as (_, oracle, __):
        torch.manual_seed(3)
        p, g, m = (torch.randn(40) for _ in range(3))
        given = {"p": p, "g": g, "m": m}
        before = {name: value.clone() for name, value in given.items()}
        judged, _ = task_session.answers(oracle, {"n": 40}, given)
        moved = m.double() * 0.9 + g.double() * 0.1
        wants = (p.double() - 0.01 * moved, moved, g.double().norm())
        for j, want in zip(judged, wants, strict=True):
            assert j.dropped is None and bool(((j.want - want).abs() <= 1e-6 * want.abs() + 1e-7).all()), (
                j.want,
                want,
            )
            assert bool((j.allowed > 0).all()) and bool((j.allowed < 1e-3).all()), j.allowed
        assert all(torch.equal(given[name], before[name]) for name in given), "its own inputs stay"


CACHE = (
    """
class Model(nn.Module):
    def forward(self, cache, k, at):
        cache[at] = k


rows, width, fresh = 32, 8, 5


def get_inputs():
    return [torch.randn(rows, width), torch.randn(fresh, width), torch.randint(0, rows, (fresh,))]


"""
    + NO_INIT
)


def a_model_that_returns_nothing_is_a_task_where_it_writes():
    with written(CACHE) as (task, oracle, _):
        assert task["outputs"] == [] and task["inputs"][0]["written"], task
        cache, k, at = torch.randn(6, 3), torch.randn(2, 3), torch.tensor([4, 1])
        (judged,), constant = task_session.answers(
            oracle, {"rows": 6, "width": 3, "fresh": 2}, {"cache": cache, "k": k, "at": at}
        )
        want = cache.clone()
        want[at] = k
        assert torch.equal(judged.want, want.double()) and not constant


def a_model_that_returns_nothing_and_writes_nothing_is_none():
    try:
        imported(CACHE.replace("cache[at] = k", "cache.sum()"))
    except Exception as error:
        assert "forward returned None" in str(error), error
    else:
        raise AssertionError("it was imported")


if __name__ == "__main__":
    run(globals(), ("imported", "written"))
