"""Lowered graphs for the suite oracle_task, with values of some of their elements.

    python tests/python/dump_graphs.py FOLDER [KERNELBENCH LEVEL..]

Without KERNELBENCH it takes the graphs of test_oracle.py's small cases. It writes NAME.graph, numbers
and then JSON. It also writes NAME.want: "NUMBERS TEXT", then lines "OUTPUT INDEX VALUE RADIUS". It
prints the operations that cannot be lowered.
"""

import glob
import os
import sys

import test_oracle as small
import torch
from unseen_torch.oracle import evaluate
from unseen_torch.oracle import graph as graphs
from unseen_torch.oracle.ir import lowered
from unseen_torch.oracle.number import Unsupported

ASKED = 3


def write(folder, name, graph, state, inputs):
    with torch.no_grad():
        judged = evaluate.answer(graph, state, inputs)
    text, parts = lowered(graph, state, inputs)
    numbers = b"".join(part.numpy().tobytes() for part in parts)
    with open(os.path.join(folder, name + ".graph"), "wb") as file:
        file.write(numbers + text.encode())
    with open(os.path.join(folder, name + ".want"), "w") as file:
        print(len(numbers), len(text.encode()), file=file)
        for output, j in enumerate(judged):
            if not j.number.is_float:
                continue
            count = j.want.numel()
            for index in sorted({0, count // 2, count - 1} if count > ASKED else range(count)):
                value, radius = float(j.want.reshape(-1)[index]), float(j.radius.reshape(-1)[index])
                print(output, index, repr(value), repr(radius), file=file)


def tasks(root, levels):
    import small_tasks

    for level in levels:
        for path in sorted(glob.glob(os.path.join(root, f"level{level}", "*.py"))):
            name = f"{level}_{os.path.basename(path).split('_')[0]}"
            try:
                model, inputs, _ = small_tasks.instance(path, 1)
            except ValueError:
                continue
            small_tasks.loud(model, 1)
            yield name, model, inputs


def cases():
    nothing = torch.full((3, 8), -torch.inf)
    yield "log of nothing", small.Plain(lambda t: t.logsumexp(1)), [nothing]
    yield "safe softmax of nothing", small.Plain(lambda t: torch._safe_softmax(t, 1)), [nothing]
    for name, (function, inputs) in {**small.SMALL, **small.OF_PRODUCTS}.items():
        yield name, small.Plain(function), inputs


def write_all(folder, given):
    written = 0
    for name, model, inputs in given:
        try:
            write(folder, name, small.traced(model, inputs), graphs.state_of(model), inputs)
            written += 1
        except Unsupported as why:
            print(f"{name}: {why}")
    print(f"{written} graphs")


if __name__ == "__main__":
    write_all(sys.argv[1], tasks(sys.argv[2], sys.argv[3:]) if len(sys.argv) > 2 else cases())
