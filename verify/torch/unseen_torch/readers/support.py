"""The module that composed tasks import: unseen_support.py of this folder, whose text goes into NAME.task."""

from __future__ import annotations

import os

from .reading import text_of

SUPPORT = "unseen_support.py"
TEXT = text_of(os.path.join(os.path.dirname(os.path.abspath(__file__)), SUPPORT))
