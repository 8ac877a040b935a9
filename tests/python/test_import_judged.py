"""Tests of unseen_torch/task: what importing says of tasks whose right answers are not known. Run by the suite task, or by hand with any Python
that has torch."""

from importing import imported, of_one_line, run


def notes_of(line):
    notes = of_one_line(line)["notes"]
    return {n["kind"]: " ".join(m["text"] for m in notes if m["kind"] == n["kind"]) for n in notes}


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


ROUTER = "x.sigmoid() * torch.zeros_like(x).scatter_(1, x.sigmoid().topk(3, -1)[1], 1.0)"


def classes_without_known_answers_are_left_out():
    """Scores of great numbers tie in each row, so that any of them may be chosen."""
    task = of_one_line(ROUTER)
    found = [n["text"] for n in task["notes"] if n["kind"] == "left out"]
    assert any("`beyond`" in t and "---> keep inputs away" in t for t in found), task["notes"]
    assert not {"beyond"} & {c["name"] for c in task["classes"]}, task["classes"]
    assert "signed" in {c["name"] for c in task["classes"]}
    told = of_one_line("x.softmax(-1)")
    assert "integers" in {c["name"] for c in told["classes"]} and told["notes"] == []


def the_page_says_what_would_have_to_change():
    text = notes_of("(torch.tanh(x) * 3.5).round() / 3.5")["partly"]
    assert "draws of the class `wide`" in text and "---> keep inputs away from jumps" in text, text
    assert "---> take the random numbers as an input" in notes_of("x * torch.rand_like(x)")["unjudged"]
    assert "---> use operations that have a rule" in notes_of("torch.special.i0(x)")["unjudged"]


if __name__ == "__main__":
    run(globals(), ("imported", "of_one_line", "notes_of"))
