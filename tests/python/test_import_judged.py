"""Tests of unseen_torch/task: what importing says of tasks whose right answers are not known. Run by the suite task, or by hand with any Python
that has torch."""

from importing import imported, of_one_line, run


def notes_of(line):
    return {n["kind"]: n["text"] for n in of_one_line(line)["notes"]}


def a_task_without_a_known_answer_says_so():
    assert "draws random numbers (rand_like)" in notes_of("x * torch.rand_like(x)")["unjudged"]
    lost = notes_of("(x - x.mean(-1, keepdim=True)).sum(-1)")["unjudged"]
    assert "honest errors reach" in lost, lost


def a_task_whose_answer_is_known_has_no_such_note():
    for line in ("x.softmax(-1)", "x @ x.T", "x.topk(3, -1)"):
        assert "unjudged" not in notes_of(line), line


IN_OUT = """
class Model(nn.Module):
    def forward(self, x, g):
        x.sub_(g, alpha=0.1)


rows = 6


def get_inputs():
    return [torch.randn(rows, 8), torch.randn(rows, 8)]


def get_init_inputs():
    return []
"""


def in_out_tasks_are_asked_about_what_they_write():
    assert [n["kind"] for n in imported(IN_OUT)["notes"]] == []


def a_size_whose_answer_is_nan_is_no_least_size():
    """The deviation of one row is 0 / 0."""
    task = of_one_line("(x - x.mean(0)) / x.std(0)")
    assert [a["low"] for a in task["axes"] if a["name"] == "rows"] == [2], task["axes"]
    assert notes_of("x / x.std(0)")["least"] == "`rows` begins at 2, since the answer is NaN with 1"
    for line in ("x / x.std(0, unbiased=False)", "x.softmax(-1)", "x.log()"):
        task = of_one_line(line)
        assert [a["low"] for a in task["axes"] if a["name"] == "rows"] == [1], (line, task["axes"])


if __name__ == "__main__":
    run(globals(), ("imported", "of_one_line", "notes_of"))
