"""Everything about PyTorch that runs in Python: importing tasks, their right answers, and calling candidates.

Candidates and tasks may bring modules of any name, such as task, oracle or runner. So the processes that load one
import this package by its own name alone: see __main__.py.
"""

from __future__ import annotations

import sys


def close() -> None:
    """Makes modules of the package that are not loaded yet impossible to import. A candidate is loaded next."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == __name__ and hasattr(module, "__path__"):
            module.__path__ = []
