# state: weights
"""Binds a candidate to an imported task, whose file UNSEEN_TASK names."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from task.adapter import bind  # noqa: E402,F401

FUNCTIONS = True  # a plain function is bound, too
