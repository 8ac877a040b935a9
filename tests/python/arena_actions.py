"""arena_actions.py UNSEEN: performs each action of an exported runner of AgentKernelArena, and again with
the held-out cases in place of its own. Run in the folder that has `arena`, right.c, torn.c and wrong.c, which
is right in the seen set alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

PREFIX = "ARENA_EVAL_RESULT="
CASES = "arena/cases.seen"


def act(*words: str) -> dict[str, Any]:
    """Returns the one line of the protocol, which agrees with the exit status."""
    command = [sys.executable, "-B", "arena/unseen_runner.py", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert done.stdout.count(PREFIX) == 1, done.stdout
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1].removeprefix(PREFIX))
    assert (done.returncode == 0) == (made["status"] == "PASS"), made
    expected = list(words[1:]) if len(words) > 2 else ["task", words[1]]
    assert [made["role"], made["action"]] == expected, made
    return made


def cases(made: dict[str, Any]) -> dict[str, Any]:
    return {case["test_case_id"]: case["params"] for case in made["cases"]}


def perform(count: int, wrong_passes: bool) -> None:
    """Performs all actions on `count` cases."""
    manifest = act("right.c", "validate-task")
    assert manifest["status"] == "PASS" and len(cases(manifest)) == count, manifest
    assert act("right.c", "candidate", "compile")["status"] == "PASS"
    right = act("right.c", "baseline", "correctness")
    assert right["status"] == "PASS" and cases(right) == cases(manifest), right
    wrong = act("wrong.c", "candidate", "correctness")
    assert (wrong["status"] == "PASS") == wrong_passes and cases(wrong) == cases(manifest), wrong
    assert wrong_passes or wrong["failure_kind"] == "numerical_mismatch", wrong
    timed = act("right.c", "candidate", "performance")  # the protocol takes no times of a host
    assert timed["status"] == "FAIL" and cases(timed) == cases(manifest), timed


def hold_out() -> None:
    """Replaces the cases as held_out_shapes.yaml says: blocks of lines, indented by 6."""
    with open("arena/held_out_shapes.yaml", encoding="utf-8") as file:
        blocks = file.read().split("old_code: |\n")[1].split("    replacement_code: |\n")
    old, new = ("".join(line[6:] + "\n" for line in block.splitlines()) for block in blocks)
    with open(CASES, encoding="utf-8") as file:
        text = file.read()
    assert text == old and not set(old.splitlines()) & set(new.splitlines()), (text, old, new)
    with open(CASES, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


os.environ["UNSEEN"] = sys.argv[1]
perform(2, True)
hold_out()
perform(6, False)
assert act("torn.c", "candidate", "compile")["reason"] == "the candidate does not compile"
os.environ["UNSEEN"] = "/no/such"
assert "/no/such" in act("right.c", "candidate", "compile")["reason"]
