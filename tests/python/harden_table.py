"""Hardens KernelBench tasks with `unseen harden` on a CPU and prints a table, a line a task.

    python tests/python/harden_table.py UNSEEN PYTHON KERNELBENCH OUT [others] LEVEL/NUMBER..

OUT gets a folder a task. With `others` the last columns are faults that were not planted when the list
was chosen: tails of other tiles, other remainders, other limits. They count faults that show on some
tried configuration, and faults that the list finds.
"""

import glob
import json
import os
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "verify", "torch"))
OTHER = {"TILES": (12, 20, 24, 48, 96, 112), "BLOCKS": (192, 512), "EDGES": (32, 48)}


def held_out(folder, hardened, python):
    """(shown, found by the list) for faults with other parameters."""
    script = (
        "import sys, json; sys.path.insert(0, sys.argv[1])\n"
        "from unseen_torch.harden import op_mutations, serve\n"
        f"op_mutations.TILES, op_mutations.BLOCKS = {OTHER['TILES']}, {OTHER['BLOCKS']}\n"
        f"op_mutations.EDGES = {OTHER['EDGES']}\n"
        "json.dump(serve.Run(json.load(sys.stdin)).answer(), sys.stdout)\n"
    )

    def key(c):
        return (tuple(sorted(c["sizes"].items())), c["input"], c["seed"])

    tried = list(hardened["tried"])
    request = {
        "task": glob.glob(os.path.join(folder, "*.task"))[0],
        "device": "cpu",
        "mode": "harden",
        "threads": 2,
        "seen": [{k: c[k] for k in ("sizes", "input", "seed")} for c in hardened["published"]["configs"]],
        "drawn": [{k: c[k] for k in ("sizes", "input", "seed")} for c in tried],
    }
    done = subprocess.run(
        [python, "-c", script, sys.path[0]], input=json.dumps(request), capture_output=True, text=True
    )
    if done.returncode:
        return None
    chosen = [[key(c) for c in tried].index(key(s)) for s in hardened["shapes"]]
    known = {w["name"] for w in hardened["wrong"]}
    rows = [r for r in json.loads(done.stdout)["rows"] if r["kind"] == "fault" and r["name"] not in known]
    shown = [r for r in rows if set(r["drawn_hardened"]) != {"-"} or "0" in r["seen_published"]]
    return (
        len(shown),
        sum(any(r["drawn_hardened"][c] == "0" for c in chosen) for r in shown),
        sum("0" in r["seen_published"] for r in shown),
    )


def one(unseen, python, file, out, name, others):
    start = time.time()
    folder, target = os.path.join(out, "task"), os.path.join(out, "hardened")
    os.makedirs(out)
    command = [unseen, "import", file, "--python", python, "--out", folder]
    os.makedirs(folder)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        folder = glob.glob(os.path.join(folder, "*"))[0]
        done = subprocess.run(
            [
                unseen,
                "harden",
                folder,
                "--python",
                python,
                "--device",
                "host",
                "--seed",
                "1",
                "--effort",
                "quick",
                "--out",
                target,
            ],
            capture_output=True,
            text=True,
        )
    if done.returncode:
        print(
            f"| {name} | {done.stderr.strip().splitlines()[0][:120] if done.stderr else done.returncode} |",
            flush=True,
        )
        return None
    seconds = time.time() - start
    with open(os.path.join(target, "harden.json"), encoding="utf-8") as read:
        hardened = json.load(read)
    nulls, faults = hardened["rejected"]["nulls"], hardened["rejected"]["faults"]
    other = held_out(folder, hardened, python) if others else None
    print(
        f"| {name} | {len(hardened['shapes'])} | {nulls['shown']} | {nulls['published']} | {nulls['list']} | {faults['all']} | "
        f"{faults['shown']} | {faults['published']} | {faults['published_shape_allowed_error']} | {faults['list']} | "
        f"{100 * faults['list'] / max(1, faults['shown']):.0f}% | "
        f"{f'{other[0]} | {other[2]} | {other[1]}' if other else '- | - | -'} | {seconds:.0f} |",
        flush=True,
    )
    return faults, other


def main():
    unseen, python, root, out = sys.argv[1:5]
    asked = "others" in sys.argv
    total, others = [0, 0, 0, 0], [0, 0, 0]
    print(
        "| task | shapes | nulls | old | list | planted | shown | old | allowed error | list | | others shown | old | list | s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for task in [a for a in sys.argv[5:] if a != "others"]:
        level, number = task.split("/")
        file = glob.glob(os.path.join(root, f"level{level}", f"{number}_*.py"))[0]
        row = one(
            unseen,
            python,
            file,
            os.path.join(out, f"{level}_{number}"),
            f"{level}/{os.path.basename(file)[:-3]}",
            asked,
        )
        if row:
            total = [
                a + row[0][k]
                for a, k in zip(total, ("shown", "published", "published_shape_allowed_error", "list"))
            ]
            others = [a + b for a, b in zip(others, row[1] or (0, 0, 0))]
    print(
        f"\nfaults shown {total[0]}: old check {total[1]}, allowed error at the published shape {total[2]}, list {total[3]}; "
        f"others shown {others[0]}: list {others[1]}, old check {others[2]}"
    )


if __name__ == "__main__":
    main()
