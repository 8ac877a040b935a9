"""Tests of unseen_torch/task/own_modules.py: a task's folder with modules beside its reference.py. Run by the suite task, or by hand with
any Python that has torch."""

import os
import sys
import tempfile
import types

import own_names
from importing import run
from unseen_torch.oracle import task_session
from unseen_torch.task import Task, describe, source, write

REFERENCE = """import torch
import torch.nn as nn
{imports}
from lib.deep import more as deeper

for module in ({modules},):
    assert module.MARK == "mine", module
rows, cols = 6, 40


class Model(nn.Module):
    def forward(self, x):
        from lib import other
        return deeper(x) + other.add


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
"""
LIB = {
    "lib/deep.py": "from . import other\nfrom .other import add\ndef more(x):\n    return x * other.add\n",
    "lib/other.py": "add = 2\n",
    "lib/unused.py": "raise RuntimeError('nobody imports this')\n",
}


def laid(folder, files):
    for path, text in files.items():
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)


def a_tasks_modules_may_have_the_names_of_ours():
    """In the importer, in the oracle, and beside a candidate that has modules of the same names."""
    flat = own_names.names()
    files = {f"{n}.py": 'MARK = "mine"\n' for n in flat}
    text = REFERENCE.format(imports="\n".join(f"import {n}" for n in flat), modules=", ".join(flat))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as out:
        laid(folder, {"reference.py": text, **files, **LIB})
        loaded = source.load(folder)
        assert set(loaded.modules) == {*files, "lib/deep.py", "lib/other.py"}, set(loaded.modules) ^ {
            *files,
            *LIB,
        }
        task = describe.describe(loaded, "t", 20.0)
        write.write(task, loaded, out)
        sys.modules["words"] = types.ModuleType("words")  # a candidate's
        for made in (
            task_session.Task(os.path.join(out, "t.task"), "cpu"),
            Task.read(os.path.join(out, "t.task")),
        ):
            instance = made.source.instance({"rows": 3, "cols": 5})
            (x,) = instance.inputs()
            assert tuple(x.shape) == (3, 5) and bool((instance.model()(x) == 2 * x + 2).all())
        del sys.modules["words"]
        assert not [n for n in flat if n in sys.modules and n != "own_names"], (
            "a task's module can be imported by others"
        )


def what_a_library_has_keeps_its_name():
    with tempfile.TemporaryDirectory() as folder:
        laid(
            folder,
            {
                "reference.py": "import json, torch\nfrom queue import Queue\nclass Model(torch.nn.Module):\n    pass\n"
                "def get_inputs():\n    return []\ndef get_init_inputs():\n    return []\n",
                "json.py": "",
                "torch.py": "",
                "queue.py": "",
            },
        )
        assert source.load(folder).modules == {}


def an_error_in_a_module_is_the_tasks():
    with tempfile.TemporaryDirectory() as folder:
        laid(
            folder,
            {
                "reference.py": REFERENCE.format(imports="import mine", modules="mine"),
                "mine.py": "MARK = 1 / 0\n",
                **LIB,
            },
        )
        try:
            describe.describe(source.load(folder), "t", 20.0)
        except describe.ImportError_ as error:
            assert "ZeroDivisionError" in str(error), error
        else:
            raise AssertionError("it was imported")


if __name__ == "__main__":
    run(globals(), ("run", "laid"))
