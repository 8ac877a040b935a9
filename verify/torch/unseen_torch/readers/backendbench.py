"""Reads a file of BackendBench: calls of one operator of ATen.

A text file has lines `Operator: aten.NAME.OVERLOAD` and `cnt: COUNT, ((T([4, 8], f32), 2), {})`. A file of
JSON lines has objects with op_name, args and count. T has a shape, a type and, if it is not contiguous,
strides. A candidate has NAME_kernel_impl or NAME__OVERLOAD_kernel_impl."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
from typing import Any

from . import calls, composed, recorder
from .reading import Reading, error, text_of

_NAMES = """bf16 bfloat16 f64 float64 f32 float32 f16 float16 c64 complex64 c128 complex128 i8 int8 i16 int16
i32 int32 i64 int64 b8 bool u8 uint8""".split()
_TYPES = dict(zip(_NAMES[::2], _NAMES[1::2]))
Row = tuple[int, str, float]  # the line's number, the arguments, the count


def is_one(path: str) -> bool:
    """Tells whether a text file or a file of JSON lines is of this form."""
    if not path.endswith((".txt", ".jsonl")) or not os.path.isfile(path):
        return False
    first = text_of(path).lstrip().split("\n")[0]
    return first.startswith("Operator:") or '"op_name"' in first


def _rows(path: str) -> dict[str, list[Row]]:
    """Returns the rows by operator. Raises SourceError."""
    found: dict[str, list[Row]] = {}
    name = None
    for number, line in enumerate(text_of(path).splitlines(), 1):
        if path.endswith(".jsonl") and line.strip():
            try:
                value = json.loads(line)
                found.setdefault(value["op_name"], []).append(
                    (number, value["args"], float(value.get("count") or 1))
                )
            except (json.JSONDecodeError, KeyError, TypeError, ValueError) as failure:
                expected = "an object with op_name, args and count was"
                raise error(f"{path}, line {number}: {failure}", expected, "correct it") from failure
        elif operator := re.fullmatch(r"Operator:\s*(\S+)\s*", line):
            name = operator[1]
        elif counted := re.fullmatch(r"cnt:\s*(\d+),\s*(.*)", line):
            if name is None:
                raise error(f"{path}, line {number} has no operator", "'Operator: NAME' was", "add it above")
            found.setdefault(name, []).append((number, counted[2], float(int(counted[1]) or 1)))
    return found


def _tensor(shape: list[int], dtype: Any, strides: list[int] | None = None, device: str = "") -> Any:
    """Returns a tensor of that shape, whose one element is repeated."""
    import torch

    return torch.zeros((), dtype=dtype).expand(shape)


def _value(node: ast.AST) -> Any:
    """Returns the value of a row's expression. Raises ValueError."""
    import torch

    if isinstance(node, ast.Constant):
        return getattr(torch, _TYPES[node.value]) if node.value in _TYPES else node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        return (tuple if isinstance(node, ast.Tuple) else list)(_value(each) for each in node.elts)
    if isinstance(node, ast.Dict):
        return {_value(k): _value(v) for k, v in zip(node.keys, node.values) if k is not None}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Name) and node.id in _TYPES:
        return getattr(torch, _TYPES[node.id])
    if isinstance(node, ast.Name) and node.id in ("inf", "nan"):
        return float(node.id)
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("th", "torch")
    ):
        return getattr(torch, node.attr)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "T":
        return _tensor(*map(_value, node.args))
    raise ValueError(ast.unparse(node)[:60])


def _call(path: str, row: Row) -> recorder.Call:
    number, text, _ = row
    try:
        args, named = _value(ast.parse(text.strip().strip("'"), mode="eval").body)
        named = {k: v for k, v in named.items() if k not in ("device", "pin_memory")}
    except (SyntaxError, ValueError, TypeError, AttributeError) as failure:
        expected = "((T([4, 8], f32), ..), {..}) was"
        raise error(f"{path}, line {number}: {failure}", expected, "correct it") from failure
    return recorder.Call(args, named, {id(t): t for t in recorder.tensors([args, named])})


def law(x: Any, shape: str, bound: str | None = None) -> str:
    """Returns the expression that draws a tensor as the benchmark does: real numbers from 0 to 1, and whole
    ones from -9 to 9."""
    import torch

    if x.dtype is torch.bool:
        return f"torch.randint(0, 2, {shape}).to(torch.bool)"
    if x.is_floating_point():
        return f"torch.rand({shape}, dtype={x.dtype})"
    if x.is_complex():
        return f"torch.randn({shape}, dtype={x.dtype})"
    low = 0 if bound or x.dtype is torch.uint8 else -9
    return f"torch.randint({low}, {bound or 10}, {shape}, dtype={x.dtype})"


def _operator(path: str, name: str) -> Any:
    """Returns a function that calls an operator, with the parameters of its schema. Raises SourceError."""
    import torch

    words = name.split(".")
    packet = getattr(torch.ops.aten, words[1], None) if len(words) in (2, 3) and words[0] == "aten" else None
    of = getattr(packet, words[2] if len(words) == 3 else "default", None)
    if of is None:
        raise error(f"{path}: torch has no operator {name}", "aten.NAME.OVERLOAD was", "correct it")

    def function(*args: Any, **named: Any) -> Any:
        return of(*args, **named)

    kinds = inspect.Parameter
    given = [
        kinds(
            "input" if a.name == "self" else a.name,
            kinds.KEYWORD_ONLY if a.kwarg_only else kinds.POSITIONAL_OR_KEYWORD,
            default=a.default_value if a.has_default_value() else kinds.empty,
        )
        for a in of._schema.arguments
    ]
    vars(function).update(__name__=name, __signature__=inspect.Signature(given))
    return function


def read(path: str) -> Reading:
    """Reads a file."""
    rows = _rows(path)
    if len(rows) != 1:
        names = ", ".join(list(rows)[:4]) + (", .." if len(rows) > 4 else "")
        raise error(
            f"{path} has calls of {len(rows)} operators{': ' + names if rows else ''}",
            "calls of one were",
            "write the lines of one operator into a file",
        )
    name, lines = next(iter(rows.items()))
    function = _operator(path, name)
    found = [_call(path, row) for row in lines]
    group, notes, numbers = calls.grouped(function, found, path, law)
    made, _ = group.rows()
    once = composed.merged(made, numbers, [lines[i][2] for i in numbers])
    strided = sum(re.search(r"T\(\[[^]]*\],\s*'?\w+'?,\s*\[", lines[i][1]) is not None for i in numbers)
    if strided:
        notes.append(("inputs", f"{strided} calls have tensors with strides; inputs here are contiguous"))
    texts = [
        law(x, f"({''.join(t + ', ' for t in group.shape(i))})", group.bounds[i])
        for i, (_, x) in enumerate(group.first.leaves)
    ]
    body = f"    return [{', '.join(texts)}]\n"
    words = name.removeprefix("aten.").split(".")
    entries = [f"{'__'.join(words)}_kernel_impl", f"{words[0]}_kernel_impl"]
    parts = composed.Parts("backendbench", f"torch.ops.{name}", body, notes, entries)
    return composed.reading(path, group, once, parts, {})
