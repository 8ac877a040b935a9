"""Shared by the tests of importing: importing, describing and writing a task's text, and running the
tests."""

import contextlib
import inspect
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "verify", "torch"))

import torch
from unseen_torch.oracle import task_session
from unseen_torch.task import Task, describe, source, write

torch.set_num_threads(1)
HEAD = "import torch\nimport torch.nn as nn\n"
NO_INIT = "def get_init_inputs():\n    return []\n"


def imported(text, seconds=20.0, vary=()):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + text)
        return describe.describe(source.load(path), "t", seconds, vary)


@contextlib.contextmanager
def written(text):
    """(description, the oracle's task, the candidate's) from an import."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + text)
        loaded = source.load(path)
        task = describe.describe(loaded, "t", 20.0)
        write.write(task, loaded, folder)
        file = os.path.join(folder, "t.task")
        yield task, task_session.Task(file, "cpu"), Task.read(file)


def fills(task):
    return task["classes"][0]["fill"]


def of_one_line(line, inputs="torch.randn(rows, 40)"):
    return imported(f"""
class Model(nn.Module):
    def forward(self, x):
        return {line}


rows = 6


def get_inputs():
    return [{inputs}]


{NO_INIT}""")


def run(names, others=()):
    """All functions of a test file but its helpers."""
    tests = [
        f
        for name, f in names.items()
        if getattr(f, "__module__", None) == "__main__"
        and inspect.isfunction(f)
        and name not in (*others, "main")
    ]
    for test in tests:
        test()
    print(f"{len(tests)} tests, 0 failed")
