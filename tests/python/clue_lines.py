"""Shared by the tests of clues: a text's clues as lines, and running the tests. Needs no torch."""

import io
import os
import sys
import tempfile
import unittest

here = os.path.dirname(os.path.abspath(__file__))
torch_folder = os.path.join(here, "..", "..", "verify", "torch")
sys.path.insert(0, torch_folder)

from unseen_torch.clues import collect, read_file


def collected(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        collector = collect.Collector()
        read_file(path, collector)
    return collector


def clues(text):
    """Clues with their lines: "88: k % 64 == 32 and m == 1"."""
    return [
        f"{line}: " + " and ".join(" ".join(term) for term in terms)
        for line, terms in collected(text).take_clues()
    ]


def unnumbered(text):
    return {line.partition(": ")[2] for line in clues(text)}


def compared(text):
    """All but tiles, without their lines."""
    return [line for line in (c.partition(": ")[2] for c in clues(text)) if " tile " not in line]


def run():
    told = io.StringIO()
    result = unittest.main(exit=False, testRunner=unittest.TextTestRunner(stream=told)).result
    if not result.wasSuccessful():
        sys.exit(told.getvalue())
