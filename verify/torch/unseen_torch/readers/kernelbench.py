"""Reads KernelBench files and KernelBench-Hard directories.

A file has Model, get_inputs, get_init_inputs and module-level constants. A directory has reference.py,
shapes.py whose SHAPES are the published configurations, and problem.yaml whose lines below `tolerance:` are
the check's constants."""

from __future__ import annotations

import os
import re
from typing import Any

from ..task import own_modules
from .reading import Config, Reading, SourceError, text_of


def _shapes(folder: str) -> list[Config]:
    path = os.path.join(folder, "shapes.py")
    if not os.path.exists(path):
        return []
    namespace: dict[str, Any] = {}
    try:
        exec(compile(text_of(path), "shapes.py", "exec"), namespace)
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(
            f"shapes.py does not run: {type(error).__name__}: {error}; SHAPES, a list of dictionaries, was "
            "expected\n---> correct it"
        ) from error
    return [Config(str(i), dict(shape)) for i, shape in enumerate(namespace.get("SHAPES", []))]


def tolerance(folder: str) -> tuple[dict[str, float], list[str]]:
    """Reads tolerances from problem.yaml. Returns `({dtype: atol and rtol}, unreadable lines)`.

    It reads lines `dtype: number` below `tolerance:`, which needs no YAML parser.
    """
    found: dict[str, float] = {}
    unread: list[str] = []
    inside = False
    try:
        with open(os.path.join(folder, "problem.yaml"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError) as error:
        return {}, [f"problem.yaml: {error}"]
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].rstrip()
        if text and not text[0].isspace():
            inside = text.split(":")[0] == "tolerance"
            if not inside or text == "tolerance:":
                continue
        if not inside or not text:
            continue
        match = re.fullmatch(
            r"\s+[\"']?(?:torch\.)?(\w+)[\"']?\s*:\s*[\"']?([0-9.]+(?:[eE][-+]?[0-9]+)?)[\"']?", text
        )
        try:
            if match is None:
                raise ValueError(text)
            found[match[1]] = float(match[2])
        except ValueError:
            unread.append(
                f"problem.yaml, line {number}: '{text.strip()[:60]}'; a dtype and a number were expected"
            )
    return found, unread


def read_file(path: str) -> Reading:
    """Reads a KernelBench file."""
    return Reading(path, text_of(path), has_own_buffers=False)


def read_directory(folder: str) -> Reading:
    """Reads a KernelBench-Hard directory."""
    path = os.path.join(folder, "reference.py")
    text = text_of(path)
    numbers, unread = tolerance(folder)
    return Reading(
        path,
        text,
        form="kernelbench-hard",
        modules=own_modules.read(folder, text),
        configs=_shapes(folder),
        tolerance=numbers,
        notes=[("tolerance", f"{line}; the published check's default stands") for line in unread],
    )
