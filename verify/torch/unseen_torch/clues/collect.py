"""Keeps the clues of a process, each once, and no more than its reader takes."""

from __future__ import annotations

import time

Term = tuple[str, str, str]  # subject, relation, bound
Terms = tuple[Term, ...]

MOST_CLUES = 4096  # as CLUE_MOST in gen/draw/clue.h
MOST_TERMS = 6
SECONDS = 0.8  # of CPU time for the walk over a file


class Full(Exception):
    """No further clue is taken, or the time is over."""


class Collector:
    def __init__(self) -> None:
        self.seen: set[Terms] = set()
        self.clues: list[tuple[int, Terms]] = []
        self.texts: list[tuple[int, str]] = []
        self.truncated = False
        self.deadline = 0.0

    def begin(self) -> None:
        self.deadline = time.process_time() + SECONDS

    def check_time(self) -> None:
        if time.process_time() > self.deadline:
            raise Full

    def add(self, line: int, terms: Terms) -> None:
        terms = tuple(dict.fromkeys(terms))
        if not terms or terms in self.seen:
            return
        if len(self.seen) == MOST_CLUES:
            raise Full
        self.seen.add(terms)
        self.clues.append((line, terms))

    def add_text(self, line: int, text: str) -> None:
        self.texts.append((line, text))

    def take_clues(self) -> list[tuple[int, Terms]]:
        taken, self.clues = self.clues, []
        return taken

    def take_texts(self) -> list[tuple[int, str]]:
        taken, self.texts = self.texts, []
        return taken
