"""Imports every task of a folder tree (KernelBench/level1 ..) and prints a table: rings, notes, seconds.

    python tests/python/import_all.py INTERPRETER FOLDER... > table.md

INTERPRETER has torch. A task that takes more than LIMIT seconds counts as failed. Ends with 1 when one fails.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

LIMIT = 300
START = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../verify/torch/unseen_torch/__main__.py"
)


def order(path):
    number = re.match(r"\d+", os.path.basename(path))
    return os.path.dirname(path), int(number[0]) if number else 0, path


def run(interpreter, path, seconds):
    """(path, description or None, error, seconds)"""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [interpreter, "-I", START, "task.importer", path, folder, "task", str(seconds)],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
            error = done.stderr.strip().splitlines()[-2:] if done.returncode else []
        except subprocess.TimeoutExpired:
            error = [f"not done after {LIMIT} s"]
        try:
            with open(os.path.join(folder, "task.task"), encoding="utf-8") as file:
                description = json.load(file)
        except OSError:
            description = None
    return path, description, " ".join(error), time.monotonic() - began


def row(path, task, error, seconds):
    label = f"{os.path.basename(os.path.dirname(path))} {os.path.basename(path)[:-3][:44]}"
    if task is None:
        return f"| {label} | failed | | | | {error[:150]} | {seconds:.0f} |"
    ring = [" ".join(a["name"] for a in task["axes"] if a["ring"] == r) for r in (1, 2)]
    fixed = sum(s["axis"] is None for s in task["sizes"])
    classes = len(task["classes"])
    return (
        f"| {label} | {ring[0]} | {ring[1]} | {fixed} | {classes} | {' '.join(n['kind'] for n in task['notes'])} | "
        f"{seconds:.0f} |"
    )


def main():
    interpreter, folders = sys.argv[1], sys.argv[2:]
    seconds = float(os.environ.get("SECONDS_A_TASK", "60"))
    paths = sorted(
        (os.path.join(f, n) for f in folders for n in os.listdir(f) if n.endswith(".py")), key=order
    )
    print(
        "| task | ring 1 | ring 2 | fixed | classes | notes | s |\n|---|---|---|---|---|---|---|", flush=True
    )
    results = []
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for result in pool.map(lambda p: run(interpreter, p, seconds), paths):
            results.append(result)
            print(row(*result), flush=True)
    imported = [r[1] for r in results if r[1]]
    first = sum(any(a["ring"] == 1 for a in t["axes"]) for t in imported)
    print(
        f"\n{len(imported)} of {len(results)} imported, {first} with an axis of ring 1, "
        f"{sum(r[3] for r in results):.0f} s in all."
    )
    return 0 if len(imported) == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
