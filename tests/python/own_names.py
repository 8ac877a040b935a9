"""Honest solutions whose files have the names of all of unseen_torch: OUT. Writes OUT/flat.json (a file of each name beside the entry)
and the folder OUT/tree (the same folders as ours). Each is a softmax, and a ModelNew for tests/task/row_scale. Needs no torch."""

import json
import os
import sys

OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "verify", "torch", "unseen_torch")
ENTRY = """import importlib
import os
import sys

import torch
{imports}

for module in ({modules},):
    assert module.MARK == "mine", f"{{module.__name__}} is not the solution's own: {{module.__file__}}"
loaded = [n for n in sys.modules if n.split(".")[0] == "unseen_torch"]
assert "unseen_torch.runner.calling" in loaded and not [n for n in loaded if ".oracle" in n or ".harden" in n], loaded
for name in ("unseen_torch.oracle", "unseen_torch.oracle.graph", "unseen_torch.harden", "unseen_torch.task.describe"):
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    raise AssertionError(f"{{name}} can be imported beside a candidate")
assert not [p for p in sys.path if os.path.isdir(os.path.join(p, "unseen_torch"))], sys.path


def softmax(x):
    return torch.softmax(x, -1)


class {name}(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(cols))

    def forward(self, x):
        y = x * self.scale
        return y / (1 + y.abs().amax(dim=-1, keepdim=True))
"""


def ours():
    """Paths of all modules of the package, below it."""
    for folder, _, files in os.walk(OURS):
        for file in sorted(files):
            if file.endswith(".py") and "__pycache__" not in folder:
                yield os.path.relpath(os.path.join(folder, file), OURS)


def names():
    """Names of all modules of the package and of its folders, without those above them."""
    found = {os.path.basename(p)[: -len(".py")] for p in ours()} | {os.path.dirname(p) for p in ours()}
    return sorted(found - {"", "__init__", "__main__"})


def entry(names, name):
    return ENTRY.format(imports="\n".join(f"import {n}" for n in names), modules=", ".join(names), name=name)


def sources(paths, name):
    """{path: content} of a solution with a module at each of `paths`."""
    names = [p[: -len(".py")].replace("/__init__", "").replace("/", ".") for p in paths]
    return {**dict.fromkeys(paths, 'MARK = "mine"\n'), "entry.py": entry(names, name)}


def main():
    out = sys.argv[1]
    tree = [p for p in ours() if p not in ("__init__.py", "__main__.py")]
    flat = [f"{n}.py" for n in names()]
    assert len(flat) > 40 and {"task.py", "oracle.py", "runner.py", "error_text.py", "adapter.py"} <= set(
        flat
    ), flat
    for kind in ("softmax", "ModelNew"):
        name = "Unused" if kind == "softmax" else kind
        spec = {"language": "python", "entry_point": f"entry.py::{kind}", "destination_passing_style": False}
        with open(os.path.join(out, f"flat_{kind}.json"), "w", encoding="utf-8") as file:
            json.dump(
                {
                    "name": "s",
                    "spec": spec,
                    "sources": [{"path": p, "content": c} for p, c in sources(flat, name).items()],
                },
                file,
            )
        for path, content in sources(tree, name).items():
            place = os.path.join(out, f"tree_{kind}", path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write(content)


if __name__ == "__main__":
    main()
