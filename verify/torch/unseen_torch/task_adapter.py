# state: weights
"""Binds a candidate to an imported task, whose file UNSEEN_TASK names.

The runner loads it by its path, like the adapter of a problem.
"""

from unseen_torch.task.adapter import bind, entries

__all__ = ["FUNCTIONS", "bind", "entries"]
FUNCTIONS = True  # plain functions are bound, too
