"""Do the files that `unseen harden` wrote run? FOLDER NAME. The module is executed as KernelBench does it: from a string."""

import importlib.util
import json
import os
import re
import sys

import torch


def module_of(folder, name):
    with open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:
        text = file.read()
    context = {}
    exec(compile(text, "<string>", "exec"), context)
    return context


def check_module(context):
    for name in ("Model", "get_inputs", "get_init_inputs"):
        assert callable(context[name]), name
    count = len(context["SHAPES"])
    assert 1 <= count <= 12 and all(len(context[k]) == count for k in ("INPUTS", "SEEDS", "TOLERANCES"))
    for i in range(count):
        torch.manual_seed(context["SEEDS"][i])
        inputs = context["get_inputs_for"](i)
        torch.manual_seed(context["SEEDS"][i])
        again = context["get_inputs_for"](i)
        assert all(torch.equal(a, b) for a, b in zip(inputs, again) if isinstance(a, torch.Tensor)), (
            "inputs by the seed"
        )
        with torch.no_grad():
            want, other = context["model_for"](i)(*inputs), context["model_for"](i)(*inputs)
            torch.manual_seed(context["SEEDS"][i])
            candidate = context["vary_weights"](
                context["Model"](*context["get_init_inputs_for"](i)), context["SEEDS"][i]
            )
            got = candidate(*inputs)
        assert context["accepts"](i, want, other) and context["accepts"](i, want, got), (
            f"shape {i}: itself is rejected"
        )
        first = want[0] if isinstance(want, (tuple, list)) else want
        if not isinstance(want, (tuple, list)) and bool((first != 0).any()):
            assert not context["accepts"](i, want, torch.zeros_like(first)), f"shape {i}: zeros are accepted"
    return count


def check_lists(folder, count):
    spec = importlib.util.spec_from_file_location("shapes", os.path.join(folder, "shapes.py"))
    shapes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shapes)
    assert 1 <= len(shapes.SHAPES) <= count and all(
        isinstance(v, int) for s in shapes.SHAPES for v in s.values()
    )
    with open(os.path.join(folder, "workloads.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert len(lines) == len(shapes.SHAPES)
    assert all(set(line) == {"definition", "workload", "solution", "evaluation"} for line in lines)
    part = r"\s*([a-zA-Z]+):\s*([a-zA-Z]+|[+-]?[0-9]+)\s*"  # what gpu-mode's checkers take
    with open(os.path.join(folder, "tests.txt"), encoding="utf-8") as file:
        tests = file.read().splitlines()
    assert len(tests) == count and all(re.fullmatch(part, p) for line in tests for p in line.split(";"))


def main():
    folder, name = sys.argv[1:3]
    torch.set_num_threads(1)
    sys.dont_write_bytecode = True
    check_lists(folder, check_module(module_of(folder, name)))


if __name__ == "__main__":
    main()
