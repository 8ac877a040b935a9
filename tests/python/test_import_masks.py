"""Tests of unseen_torch/task: the effect of masks, lengths and logarithms of shares on inputs and
classes; operations by their names. Run by the suite task, or by hand with any Python that has torch."""

import os
import subprocess
import sys

import torch
from importing import NO_INIT, fills, imported, run
from unseen_torch.task import entries, input_domain, source

INPUT = "[torch.randn(batch, length), torch.randint(1, length + 1, (batch,))]"


def masked(answer, inputs=INPUT, init="mask = torch.arange(x.shape[1])[None, :] < lengths[:, None]"):
    return imported(
        f"""
class Model(nn.Module):
    def forward(self, x, lengths):
        {init}
        return {answer}


batch, length = 8, 64


def get_inputs():
    return {inputs}


"""
        + NO_INIT
    )


def classes(task):
    return {c["name"] for c in task["classes"]}


def infinities_of_a_mask_take_no_class_away():
    """The answer is -inf where the mask is, whatever the other numbers are: every class that a softmax has is there."""
    for answer in (
        "torch.log_softmax(x.masked_fill(~mask, float('-inf')), dim=-1)",
        "torch.where(mask, x, float('inf'))",
        "x.masked_fill(~mask, float('-inf')).cummax(1)[0]",
    ):
        task = masked(answer)
        assert {"signed", "wide", "needle", "integers"} <= classes(task), (answer, classes(task))
    assert "beyond" in classes(masked("torch.log_softmax(x.masked_fill(~mask, float('-inf')), dim=-1)"))


def a_mask_of_lengths_is_imported_however_it_is_filled():
    for kind in ("float('-inf')", "-1e9"):
        for reduce in ("torch.softmax({}, -1)", "torch.logsumexp({}, -1)", "{}.amax(-1)", "{}.argmax(-1)"):
            task = masked(reduce.format(f"x.masked_fill(~mask, {kind})"))
            assert len(classes(task)) > 3, (kind, reduce, classes(task))
    given = masked(
        "torch.log_softmax(x.masked_fill(~mask, float('-inf')), -1)",
        "[torch.randn(batch, length), torch.full((batch,), length // 2)]",
    )
    assert "signed" in classes(given)


def a_class_without_fills_of_real_inputs_draws_them_as_published():
    """Numbers that only stay finite as they were drawn take no other class, and the indices beside them have their ends."""
    task = masked(
        "x.exp().exp().exp().exp() + lengths[:, None]",
        INPUT.replace("torch.randn", "0.1 * torch.randn"),
        init="pass",
    )
    assert classes(task) == {"published", "ends"}, classes(task)
    ends = next(c["fill"] for c in task["classes"] if c["name"] == "ends")
    assert ends["x"] == fills(task)["x"] and ends["lengths"]["density"] == 0.5, ends


def shares_are_told_by_the_names_of_operations():
    """Every name in the table, and every other operation of torch whose name contains one of them."""
    for name in input_domain.SIMPLEX:
        assert input_domain.is_simplex(["randn", name]), name
        assert input_domain.is_simplex(["randn", name, "view"]), name
        assert not input_domain.is_simplex(["randn", name, "log"]), name
    others = {n for n in dir(torch.ops.aten) if "softmax" in n} - input_domain.SIMPLEX | {
        "log_softmax",
        "_log_softmax",
        "gumbel_softmax",
    }
    assert not [n for n in others if input_domain.is_simplex(["randn", n])]
    for table in (
        input_domain.SIMPLEX,
        input_domain.MIXING,
        input_domain.SHAPING,
        input_domain.MARKING,
        input_domain.WHOLE,
        entries.FROM_ZERO,
    ):
        for name in table:
            near = (
                {f"log_{name}", f"{name}_like_no_other", f"not_{name}"}
                - input_domain.SIMPLEX
                - input_domain.MIXING
                - input_domain.SHAPING
                - input_domain.MARKING
            )
            for wrong in near:
                assert not input_domain.is_simplex([wrong]), wrong
                assert not input_domain.is_computed([wrong], "real"), wrong


def logarithms_of_shares_are_made_as_the_task_makes_them():
    for call in ("log_softmax(-1)", "softmax(-1).log()", "logcumsumexp(-1)"):
        task = imported(
            f"""
class Model(nn.Module):
    def forward(self, p):
        return (p.exp() * p).sum(-1)


rows, cols = 24, 60


def get_inputs():
    return [torch.randn(rows, cols).{call}]


"""
            + NO_INIT
        )
        assert task["inputs"][0]["domain"] == "computed" and fills(task)["p"]["kind"] == "computed", (
            call,
            task["inputs"],
        )


TASK = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1
def get_inputs():
    return [torch.randn(3)]
def get_init_inputs():
    return []
"""
BROKEN = """import sys
sys.argv = ["importer.py", sys.argv[1], sys.argv[2], "t"]
sys.path.insert(0, {ours!r})
from unseen_torch.task import describe, importer
def fails(*_):
    return next(iter(()))
describe.describe = fails
importer.main()
"""


def an_error_of_the_importers_own_is_not_laid_at_the_tasks_door():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TASK)
        program = BROKEN.format(
            ours=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "verify", "torch")
        )
        done = subprocess.run([sys.executable, "-c", program, path, folder], capture_output=True, text=True)
    assert done.returncode == 98 and "unseen itself failed on it, with StopIteration" in done.stderr, (
        done.returncode,
        done.stderr,
    )
    assert "run on a CPU" not in done.stderr and "report it" in done.stderr, done.stderr


def an_error_of_the_tasks_own_is_told_as_its_own():
    from unseen_torch import error_text

    module = {"__name__": source.MODULE}
    exec("def fails():\n    raise KeyError('lengths')\n", module)
    for function, status in ((module["fails"], 2), (lambda: next(iter(())), 98)):
        try:
            function()
        except Exception as error:
            text, found = error_text.whose(
                error, source.MODULE, "t.py cannot be imported", "see that it runs", 98
            )
        assert found == status and ("see that it runs" in text) == (status == 2), (found, text)


if __name__ == "__main__":
    run(globals(), ("imported", "fills", "masked", "classes"))
