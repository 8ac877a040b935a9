"""Do hardened lists reject honest implementations? OUT of harden_table.py [SEEDS]: it judges honest
variants of the task's graph at every shape of every list. Draws are new to the list, and tolerances are
the written ones.

    python tests/python/harden_honest.py OUT [3]
"""

import glob
import json
import logging
import os
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "verify", "torch"), here]

import candidates
import torch
from unseen_torch.harden import case as cases
from unseen_torch.harden import checks
from unseen_torch.oracle.number import Unsupported
from unseen_torch.task import source


def variants(case):
    """(name, outputs) of each freedom of the declared arithmetic."""
    yield (
        "fp64, rounded at the end",
        [
            t.to(r.dtype)
            for t, r in zip(candidates.run(case.graph, case.state, case.inputs, double=True), case.reference)
        ],
    )
    yield "k in 4 parts, other forms", case.run(candidates.reordered(4))
    yield "k one by one", case.run(candidates.reordered(1 << 20))


def subject_of(folder):
    with open(glob.glob(os.path.join(folder, "*.task"))[0], encoding="utf-8") as file:
        description = json.load(file)
    loaded = source.load(os.path.join(folder, description["source"]["file"]), description["entry"])
    return cases.Subject(description, loaded, "cpu")


def excess(case, out, pair):
    """Greatest difference from the reference over the tolerance of the pair."""
    worst = 0.0
    for want, got, j in zip(case.reference, out, case.judged):
        if j.number.is_float and want.numel():
            room = pair[0] + pair[1] * got.double().abs()
            ratio = (want.double() - got.double()).abs() / room.clamp(min=1e-300)
            worst = max(worst, float(ratio.max()))
    return worst


def main():
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    torch.set_num_threads(1)
    asked, rejected, most = 0, [], {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*", "hardened", "harden.json"))):
        with open(path, encoding="utf-8") as file:
            hardened = json.load(file)
        subject = subject_of(glob.glob(os.path.join(os.path.dirname(path), "..", "task", "*"))[0])
        for i, shape in enumerate(hardened["shapes"]):
            pair = (shape["atol"], shape["rtol"])
            for seed in range(seeds):
                try:
                    case = cases.Case(
                        subject, shape["sizes"], shape["input"], shape["seed"] + 100 + seed, True
                    ).judge()
                except Unsupported as why:
                    print(f"{hardened['task']} shape {i}: {why}", flush=True)
                    continue
                for name, out in variants(case):
                    asked += 1
                    most[name] = max(most.get(name, 0.0), excess(case, out, pair))
                    if not checks.hardened(case.reference, out, case.judged, pair):
                        rejected.append(f"{hardened['task']} shape {i} seed {seed}: {name}")
    print(
        f"{asked} asked, {len(rejected)} rejected; greatest difference over tolerance: "
        + ", ".join(f"{name} {ratio:.2f}" for name, ratio in most.items())
    )
    print("\n".join(rejected))


if __name__ == "__main__":
    main()
