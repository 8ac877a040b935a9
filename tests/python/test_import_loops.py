"""Tests of unseen_torch/task: loops of the task's own, whose sizes are reduced while other sizes are probed.
Run by the suite task, or by hand with any Python that has torch."""

import contextlib
import os
import tempfile

from importing import HEAD, NO_INIT, imported, run
from unseen_torch.task import probe, ranges, source

SCAN = """
class Model(nn.Module):
    def forward(self, x, w):
        state, out = torch.zeros_like(x[0]), []
        for t in range(x.shape[0]):
            state = torch.tanh(torch.einsum("bi,ij->bj", state, w) + x[t])
            out.append(state)
        return torch.stack(out)


steps = 100
batch = 3
width = 8


def get_inputs():
    return [torch.randn(steps, batch, width), torch.randn(width, width)]


"""

TABLE = """
class Model(nn.Module):
    def forward(self, costs):
        above = [torch.zeros_like(costs[0, 0])] * (costs.shape[1] + 1)
        for i in range(costs.shape[0]):
            line = [above[0]]
            for j in range(costs.shape[1]):
                line.append(torch.maximum(above[j] + costs[i, j], torch.maximum(above[j + 1], line[j]) - 1))
            above = line
        return torch.stack(above, 1)


rows = 24
columns = 20


def get_inputs():
    return [torch.randn(rows, columns, 5)]


"""


@contextlib.contextmanager
def probed(text):
    """The runs of a task's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + text + NO_INIT)
        yield probe.Probe(source.load(path), 60.0)


def reduced(text):
    """The sizes of slow loops, and how many operations a run has before and after."""
    with probed(text) as runs:
        return runs.few, runs.base.steps, runs.ground.steps


def a_loop_is_short_while_other_sizes_are_probed():
    few, before, after = reduced(SCAN)
    assert few == {"steps": 6} and after * 8 < before, (few, before, after)


def loops_within_loops_are_short_alike():
    few, before, after = reduced(TABLE)
    assert few == {"rows": 6, "columns": 6} and after * 8 < before, (few, before, after)


def a_loop_may_still_be_longer_than_published():
    steps = next(a for a in imported(SCAN + NO_INIT)["axes"] if a["name"] == "steps")
    assert steps["low"] == 1 and steps["high"] > steps["value"], steps


def a_long_loop_is_no_bound_of_positions():
    with probed(SCAN) as runs:
        steps = probe.Axis("steps", ["steps"], 100, 1)
        ranges.find_range(runs, steps)
        ranges.lengthen_bound(runs, steps)
        longest = max((dict(key).get("steps", 0) for key in runs.seen), default=0)
        assert longest < ranges.POSITIONS, longest


if __name__ == "__main__":
    run(globals(), ("probed", "reduced"))
