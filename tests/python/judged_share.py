"""Prints, for each task of folders, the share of its configurations that are judged, and why the others
are not.

    python tests/python/judged_share.py UNSEEN INTERPRETER OUT FOLDER... [-- OPTION..]

Arguments are those of verify_all.py, whose results in OUT it reads. A task is verified first if OUT has
no result of it. OPTIONs are those of verify, by default the configurations that `--effort quick` draws
on the host. Ends with 1 if a task has less than 95%, and the page of its import does not say why.
"""

import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import verify_all

USUAL = "--device host --effort quick --seed 1 --no-timing --no-explain".split()
ENOUGH = 0.95


def share(results):
    """(number of judged configurations, number of all, the reasons of the others with their numbers)"""
    left = [r for r in results if r["outcome"] == "skipped"]
    why = collections.Counter(re.sub(r"[\d.e+-]*\d", "N", r.get("detail", "?")) for r in left)
    return len(results) - len(left), len(results), why


def says_why(tool, interpreter, problem):
    """Does the page of the import say that configurations have no right answer?"""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(problem, "README.md")
        if not os.path.isdir(problem):
            words = [tool, "import", problem, "--python", interpreter, "--out", os.path.join(folder, "task")]
            subprocess.run(words, capture_output=True, check=False)
            page = next(iter(glob.glob(os.path.join(folder, "task", "*", "README.md"))), os.devnull)
        with open(page, encoding="utf-8") as text:
            found = text.read()
    return any(f"**{kind}**" in found for kind in ("unjudged", "partly", "left out"))


def main():
    words = sys.argv[1:]
    options = words[words.index("--") + 1 :] if "--" in words else USUAL
    tool, interpreter, out, *folders = words[: words.index("--")] if "--" in words else words
    os.makedirs(out, exist_ok=True)
    few = 0
    for number, task in enumerate(t for folder in folders for t in verify_all.tasks(folder)):
        name, verdict, seconds = verify_all.run(
            tool, interpreter, out, number, task, options, float(os.environ.get("LIMIT", "240"))
        )
        try:
            with open(os.path.join(out, f"{name}.eager.json"), encoding="utf-8") as file:
                judged, total, why = share(json.load(file)["results"])
        except (OSError, ValueError):
            judged, total, why = 0, 0, {verdict: 1}
        short = judged < ENOUGH * total or not total
        told = not short or says_why(tool, interpreter, task[1])
        few += not told
        silent = "" if told else ", and the page is silent"
        print(f"{name}: {judged} of {total} judged ({seconds:.0f} s){silent}", flush=True)
        for text, times in why.items() if short else ():
            print(f"    {times} times: {text}", flush=True)
    sys.exit(1 if few else 0)


if __name__ == "__main__":
    main()
