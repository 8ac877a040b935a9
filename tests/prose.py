#!/usr/bin/env python3
"""Measures how easy the tree's prose is to read. The rule is in doc/writing.md.

Usage: prose.py [--check] [--list N] [--each] [--paths FILE] [PATH ...]

PATH is a .md, .c, .h, .cu, .cuh, .cpp or .py file, or a folder of them.
FILE lists paths or patterns, one a line.
Documents are read without headings, tables and code. Code is read for its comments and docstrings.
For each kind the figures are: words per sentence (median, p90, maximum) and the share of clause subjects.
A clause subject is a clause where a noun should stand, as in "What is drawn is ..".

--check exits with 1 where a limit is exceeded, and lists the sentences that exceed it.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn


@dataclass(frozen=True)
class Limits:
    p90: int  # words in nine of ten sentences
    most: int  # words in any sentence
    clauses: float  # share of sentences with a clause as their subject


@dataclass(frozen=True)
class Sentence:
    path: Path
    line: int
    words: int
    clause: bool
    text: str


LIMITS = {"documents": Limits(25, 45, 0.003), "comments": Limits(22, 45, 0.003)}
SUFFIXES = {".md": "documents"} | dict.fromkeys((".c", ".h", ".cu", ".cuh", ".cpp", ".py"), "comments")
SKIPPED = {".git", "corpus", "__pycache__"}
OUTPUT = "build"  # skipped at the top of the tree; verify/build is source
FEWEST_WORDS = 4  # fewer are a label and no sentence
CLAUSE = re.compile(
    r"(what|whatever|whoever|who|those (that|who)|that (which|of)|of (what|those|the others)|where what"
    r"|which of|how long what)\b(?![^.]*\?)",
    re.IGNORECASE,
)
ITEM = re.compile(r"^\s*([-*]|\d+\.)\s+")
# Literals come first: a string may hold the mark of a comment.
C_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|/\*(?P<block>.*?)\*/|//(?P<line>[^\n]*)",
    re.DOTALL,
)

Block = tuple[int, str]  # the first line's number, and a paragraph's text


def paragraphs(lines: list[Block], is_break: re.Pattern[str]) -> Iterator[Block]:
    """Joins lines up to the next empty one. A line that matches is_break starts a new paragraph."""
    first, text = 0, ""
    for number, line in lines:
        if not line.strip() or is_break.match(line):
            if text:
                yield first, text
            first, text = number, ""
        first = first if text else number
        text = f"{text} {ITEM.sub('', line, count=1).strip()}".strip()
    if text:
        yield first, text


def read_markdown(text: str) -> Iterator[Block]:
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced, line = not fenced, ""
        lines.append((number, "" if fenced or re.match(r" {4}|\s*\||#", line) else line))
    return paragraphs(lines, ITEM)


def read_c(text: str) -> Iterator[Block]:
    for token in C_TOKEN.finditer(text):
        number = text.count("\n", 0, token.start()) + 1
        if token["line"]:
            yield number, token["line"].strip()
        elif token["block"]:
            lines = [re.sub(r"^[ \t]*\*? ?", "", line) for line in token["block"].split("\n")]
            yield from paragraphs(list(enumerate(lines, number)), re.compile(f"{ITEM.pattern}|\\s{{2,}}\\S"))


def read_python(text: str) -> Iterator[Block]:
    run: list[Block] = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*#(?!!)\s?(.*)", line)
        run.append((number, comment[1] if comment else ""))
    yield from paragraphs(run, ITEM)
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a candidate that is broken on purpose
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0].lineno if node.body else 1
            docstring = ast.get_docstring(node) or ""
            yield from paragraphs(list(enumerate(docstring.splitlines(), first)), ITEM)


def sentences(path: Path) -> Iterator[Sentence]:
    text = path.read_text(errors="replace")
    read = {".md": read_markdown, ".py": read_python}.get(path.suffix, read_c)
    for line, block in read(text):
        block = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block)  # a link is its text
        block = re.sub(r"`[^`]*`", "CODE", block)
        for sentence in re.split(r"(?<=[.!?;])\s+(?=[A-Z`*(\[])|:\s*$", block):
            words = len(re.findall(r"[A-Za-z][A-Za-z'_-]*", sentence))
            if words >= FEWEST_WORDS:
                yield Sentence(path, line, words, bool(CLAUSE.match(sentence)), sentence.strip())


def stop(message: str) -> NoReturn:
    print(f"prose.py: {message}", file=sys.stderr)
    sys.exit(2)


def files(paths: list[str], listed: str | None) -> Iterator[Path]:
    for name in paths:
        path = Path(name)
        if not path.exists():
            stop(f"{name} does not exist; a file or folder was expected\n---> correct the path")
        yield from sorted(path.rglob("*")) if path.is_dir() else [path]
    if listed:
        for pattern in Path(listed).read_text().split("\n"):
            pattern = pattern.split("#")[0].strip()
            found = sorted(Path().glob(pattern)) if pattern else []
            if pattern and not found:
                stop(f"{listed}: nothing matches {pattern}\n---> correct the line, or take it out")
            for path in found:
                yield from sorted(path.rglob("*")) if path.is_dir() else [path]


def is_skipped(path: Path) -> bool:
    return path.parts[0] == OUTPUT or bool(SKIPPED & set(path.parts))


def percentile(words: list[int], tenths: int) -> int:
    return sorted(words)[min(len(words) * tenths // 10, len(words) - 1)]


def figures(title: str, found: list[Sentence]) -> str:
    words = [s.words for s in found]
    share = sum(s.clause for s in found) / len(found)
    return (
        f"{title}: {len(found)} sentences; words {percentile(words, 5)} median, {percentile(words, 9)} p90, "
        f"{max(words)} max; {share:.1%} with a clause as subject"
    )


def offenders(found: list[Sentence], limits: Limits) -> list[Sentence]:
    """The sentences to shorten so that all limits hold; empty where they hold already."""
    bad = [s for s in found if s.words > limits.most]
    if sum(s.clause for s in found) > limits.clauses * len(found):
        bad += [s for s in found if s.clause]
    if percentile([s.words for s in found], 9) > limits.p90:
        bad += [s for s in found if limits.p90 < s.words <= limits.most]
    return bad


def show(chosen: list[Sentence]) -> None:
    for s in sorted(set(chosen), key=lambda s: (-s.clause, -s.words)):
        clause = ", a clause as subject" if s.clause else ""
        print(f"  {s.path}:{s.line}: {s.words} words{clause}: {s.text[:160]}")


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--each", action="store_true", help="figures of every file, too")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="the N worst sentences of a kind")
    parser.add_argument("--paths", metavar="FILE", help="read paths and patterns from FILE")
    parser.add_argument("path", nargs="*")
    options = parser.parse_args()
    kinds: dict[str, list[Sentence]] = {kind: [] for kind in LIMITS}
    for path in dict.fromkeys(files(options.path, options.paths)):
        if path.suffix in SUFFIXES and path.is_file() and not is_skipped(path):
            found = list(sentences(path))
            kinds[SUFFIXES[path.suffix]] += found
            if options.each and found:
                print(figures(str(path), found))
    bad = False
    for kind, found in kinds.items():
        if not found:
            continue
        print(figures(kind, found))
        show(sorted(found, key=lambda s: (-s.clause, -s.words))[: options.list])
        wrong = offenders(found, LIMITS[kind]) if options.check else []
        bad |= bool(wrong)
        if wrong:
            limits = LIMITS[kind]
            print(
                f"{kind}: expected at most {limits.p90} words at p90, {limits.most} in any sentence, and "
                f"{limits.clauses:.1%} with a clause as subject\n"
                "---> split these sentences; see doc/writing.md"
            )
            show(wrong)
    return int(bad)


sys.exit(main())
