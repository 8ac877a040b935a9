# state: weights
"""Binds a candidate to an imported task, whose file UNSEEN_TASK names."""

# noqa: F401  (before the candidate is: it may have modules of any name)
from _unseen.task import expression, source
from _unseen.task.adapter import bind  # noqa: F401

FUNCTIONS = True  # plain functions are bound, too
