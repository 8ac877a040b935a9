"""The result of reading a task: a module in KernelBench's form and the published configurations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


class SourceError(Exception):
    """Its text says what was found, what was expected and, after '--->', what to do."""


@dataclasses.dataclass
class Config:
    """A published configuration.

    `values` are sizes by name; a size that is missing has the value of the module's text. `weight` is the
    number of calls in production, or 1. `workload` is its name in the task's benchmark, if there is one."""

    name: str
    values: dict[str, int]
    weight: float = 1.0
    workload: str = ""

    def note(self) -> str:
        """Returns the comment of its line: words that the reader of seen sets knows."""
        words = [f"workload={self.workload}"] if self.workload else []
        return " ".join([*words, f"calls={self.weight:.0f}"] if self.weight > 1 else words)


@dataclasses.dataclass
class Reading:
    """A task as its reader found it.

    `text` has Model, get_inputs, get_init_inputs and module-level integers for the sizes. It may define
    `unseen_solution(entry, writes)`, which turns a candidate of the form into a class or function with
    Model's arguments. `writes` tells whether the candidate writes into given outputs; None: that is unknown.
    """

    path: str  # the file that messages name
    text: str
    form: str = "kernelbench"
    modules: dict[str, str] = dataclasses.field(default_factory=dict)  # text by path below the task's folder
    configs: list[Config] = dataclasses.field(default_factory=list)  # empty: the text's own sizes
    tolerance: dict[str, float] = dataclasses.field(default_factory=dict)
    notes: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # kind and text
    entries: list[str] = dataclasses.field(
        default_factory=list
    )  # names of a candidate's function, the first first
    constant: list[str] = dataclasses.field(default_factory=list)  # sizes that vary on request only
    has_own_buffers: bool = True  # buffers of the constructor are loaded into the candidate
    # Reads the task again with these variants only. None: the form has no variants.
    restrict: Callable[[list[int]], Reading] | None = None
    variants: int = 1


def error(found: str, expected: str, hint: str) -> SourceError:
    """Returns an error in the tool's form."""
    return SourceError(f"{found}; {expected} expected\n---> {hint}")


def text_of(path: str) -> str:
    """Returns a text file's content. Raises SourceError."""
    try:
        with open(path, encoding="utf-8") as opened:
            return opened.read()
    except OSError as failure:
        raise error(f"{path}: {failure.strerror}", "a task's source was", "check the path") from failure
    except UnicodeDecodeError as failure:
        raise error(
            f"{path} is no UTF-8: byte {failure.start} is 0x{failure.object[failure.start]:02x}",
            "a task's source was",
            "save it as UTF-8",
        ) from failure


def whole(value: Any) -> bool:
    """Tells whether a value can be a size: an integer that is not negative."""
    return type(value) is int and value >= 0
