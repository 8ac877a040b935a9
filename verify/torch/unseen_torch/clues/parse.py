"""Parses a file within a bounded time. Of a long file it parses the first statements only."""

from __future__ import annotations

import ast
import re
import warnings

MOST_BYTES = 1 << 18  # statements of this length take half a second

# The first byte of a statement at the top level, at the beginning of a line.
STATEMENT = re.compile(rb"^[A-Za-z_@]", re.MULTILINE)


def cut(source: bytes, size: int) -> bytes:
    """Returns the whole statements of the top level among the first bytes, as far as their layout tells."""
    end = 0
    for found in STATEMENT.finditer(source, 0, size):
        end = found.start()
    return source[:end]


def parse(path: str) -> tuple[ast.Module, bool]:
    """Returns the tree, and whether it lacks a part of the file."""
    with open(path, "rb") as file:
        source = file.read(MOST_BYTES + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(source) <= MOST_BYTES:
            return ast.parse(source), False
        for part in (1, 2, 4):  # a cut inside of a long text is no Python
            try:
                return ast.parse(cut(source, MOST_BYTES // part)), True
            except SyntaxError:
                pass
    return ast.Module([], []), True
