"""Reports the phase of the import as a line in a file that verify/torch/interpreter.c reads."""

from __future__ import annotations

import os
import time

_to: str | None = None
_begun = 0.0


def into(folder: str) -> None:
    """Writes phases to FOLDER/.phase from now on."""
    global _to, _begun
    _to, _begun = os.path.join(folder, ".phase"), time.time()


def say(text: str, done: int = 0, total: int = 0) -> None:
    """Reports a phase with `done` of `total` equal parts finished. The remaining time is extrapolated from them."""
    if _to is None:
        return
    now = time.time()
    if done == 0:
        globals()["_begun"] = now
    left = f", about {(now - _begun) / done * (total - done):.0f} s left" if done else ""
    try:
        with open(_to + ".new", "w", encoding="utf-8") as file:
            file.write(text + (f": {done} of {total}{left}" if total else "") + "\n")
        os.replace(_to + ".new", _to)
    except OSError:
        pass  # the report is optional


def end() -> None:
    """Removes the file."""
    if _to is not None and os.path.exists(_to):
        os.remove(_to)
