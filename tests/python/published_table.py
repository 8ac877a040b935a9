"""published_table.py OUT [RUNDETAIL]: a table by problem of the results that gpu.sh --published left in
the folder OUT. With the benchmark's own records (a folder of NAME.json with `correct`) it lists the
solutions whose published shapes the two checks judge differently."""

import collections
import json
import os
import sys

COLUMNS = (
    "started",
    "not loaded",
    "published fail",
    "unseen fail",
    "wrong values",
    "refuse only",
    "pass all",
    "cut off",
)
SILENT = ("wrong", "unstable", "unwritten")


def failing(result, which):
    return [r for r in result["results"] if r["set"] == which and r["outcome"] not in ("pass", "skipped")]


def kinds(result):
    """Its columns, beside `started`."""
    seen, unseen = failing(result, "seen"), failing(result, "unseen")
    ran = [r for r in result["results"] if r["outcome"] != "skipped"]
    if not ran or any("building extension" in (r["detail"] or "") for r in seen):
        return ["not loaded"]
    if seen:
        return ["published fail"]
    if unseen:
        return (
            ["unseen fail"]
            + ["wrong values"] * any(r["outcome"] in SILENT for r in unseen)
            + ["refuse only"] * all(r["outcome"] == "refused" for r in unseen)
        )
    return ["cut off" if result["partial"] else "pass all"]


def differs(result, record):
    """A sentence where the benchmark's check and this one disagree on the published shapes; None where
    they agree."""
    seen, found = failing(result, "seen"), kinds(result)[0]
    whole = result["seen"]["pass"] == result["seen"]["configs"]
    if record["correct"] and found == "published fail":
        return f"correct there; here {seen[0]['outcome']}: {seen[0]['config']}: {seen[0]['detail']}"
    if not record["correct"] and whole:
        return f"{record['failure_reason']} there; here all of the published shapes pass"
    return None


def main(folder, records=None):
    table, words = collections.defaultdict(collections.Counter), []
    for file in sorted(f for f in os.listdir(folder) if f.endswith(".json")):
        name = file[:-5]
        try:
            with open(os.path.join(folder, file)) as f:
                result = json.load(f)
        except (OSError, ValueError) as error:
            words.append(f"{name}: {error}")
            continue
        for problem in (result["problem"] or "?", "all"):
            table[problem].update(["started", *kinds(result)])
        record = os.path.join(records, file) if records else ""
        if os.path.exists(record):
            with open(record) as f:
                difference = differs(result, json.load(f))
            words += [f"{name}: {difference}"] if difference else []
    print("| problem | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1))
    for problem in sorted(table, key=lambda p: (p == "all", p)):
        print(f"| {problem} | " + " | ".join(str(table[problem][c] or "-") for c in COLUMNS) + " |")
    print(*words, sep="\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
