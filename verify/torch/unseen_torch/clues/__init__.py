"""Reads clues out of a candidate's files: the comparisons and sizes in its code, by its syntax tree. No code
of the candidate runs. `python -I -B PATH/__main__.py clues FILE..` prints one JSON object a line:

    {"file": "k.py"}                                                 its clues follow
    {"file": "k.py", "line": 88, "terms": [{"subject": "k % 64", "relation": "==", "bound": "32"}]}
    {"file": "k.py", "line": 3, "embedded": "__global__ void .."}    a text of another language
    {"error": "line 3: invalid syntax"}                              the file is no Python
    {"truncated": true}                                              some clues were left out
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from typing import Any

from .collect import Collector, Full
from .parse import parse
from .walk import Walk

MOST_EMBEDDED = 1 << 18  # characters of one text; the reader bounds its lines
MOST_TEXTS = 1 << 21  # characters of all texts of a process
MOST_SECONDS = 10  # of CPU time: parsers of some versions take quadratic time


def tell(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")


def read_file(path: str, collector: Collector) -> None:
    try:
        tree, is_cut = parse(path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        told = getattr(error, "msg", None) or str(error) or "it nests too deep"
        tell({"error": f"line {line}: {told}"[:200]})
        return
    collector.truncated |= is_cut
    try:
        Walk(collector, tree).run()
    except (Full, RecursionError, MemoryError):
        collector.truncated = True


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    gc.disable()  # a large tree has no garbage, and each collection walks all of it
    texts = 0
    collector = Collector()
    for path in sys.argv[1:]:
        name = os.path.basename(path).encode("utf-8", "replace").decode()
        tell({"file": name})
        sys.stdout.flush()  # the limit may end the process
        read_file(path, collector)
        for line, terms in collector.take_clues():
            parts = [{"subject": s, "relation": r, "bound": b} for s, r, b in terms]
            tell({"file": name, "line": line, "terms": parts})
        for line, text in collector.take_texts():
            texts += len(text)
            if len(text) > MOST_EMBEDDED or texts > MOST_TEXTS:
                collector.truncated = True
                continue
            told = text.encode("utf-8", "replace").decode()  # JSON has no single surrogates
            tell({"file": name, "line": line, "embedded": told})
        sys.stdout.flush()
    if collector.truncated:
        tell({"truncated": True})
