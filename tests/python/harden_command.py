"""The command that a hardened file is, and its check(ModelNew). FOLDER NAME SOURCE, the task's own file, whose Model is right."""

import os
import subprocess
import sys
import tempfile

from harden_written import module_of

WRONG = "class ModelNew(Model):\n    def forward(self, *x):\n        y = super().forward(*x)\n        y[..., -1] = 0\n        return y\n"
SOLUTIONS = {  # what is written behind the source: (status, a line of what is printed)
    "right": ("ModelNew = Model\n", 0, "of"),
    "wrong": (WRONG, 1, "fail 0"),
    "raises": (
        "class ModelNew(Model):\n    def forward(self, *x):\n        raise RuntimeError('no such shape')\n",
        1,
        "RuntimeError: no such shape",
    ),
    "other names": (
        "class ModelNew(Model):\n    def __init__(self, *a):\n        super().__init__(*a)\n        for n in [*self._parameters]:\n"
        "            self._parameters['my_' + n] = self._parameters.pop(n)\n",
        1,
        "its state dict lacks",
    ),
    "none": ("", 2, "a file with a class ModelNew was expected"),
    "no Python": ("def f(:\n", 2, "SyntaxError"),
}


def run(folder, name, path):
    done = subprocess.run(
        [sys.executable, "-B", os.path.join(folder, f"{name}.py"), *path], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def main():
    folder, name, source = sys.argv[1:4]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    context = module_of(folder, name)
    count = len(context["SHAPES"])
    assert context["check"](context["Model"], "cpu") == [None] * count
    exec(WRONG, context)
    assert all(context["check"](context["ModelNew"], "cpu")), "a wrong last column passes"
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "solution.py")
        for what, (behind, status, words) in SOLUTIONS.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n" + behind)
            found, said = run(folder, name, [path, "cpu"])
            assert found == status and words in said, (what, found, said)
            assert status == 2 or f"{count if status == 0 else 0} of {count} pass" in said, (what, said)
        assert run(folder, name, [])[0] == 2


if __name__ == "__main__":
    main()
