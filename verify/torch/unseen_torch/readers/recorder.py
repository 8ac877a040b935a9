"""Runs tests of a function and records its calls: the arguments, and the calls of torch that made them."""

from __future__ import annotations

import ast
import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import Any

from ..task import devices

MOST_CALLS = 256
SIZED = {  # functions with extents, and the place of the first among the positional arguments
    **dict.fromkeys(("rand", "randn", "zeros", "ones", "eye", "randperm", "full", "randint", "arange"), 0),
    **dict.fromkeys(("view", "reshape", "expand", "__getitem__"), 1),
}


@dataclasses.dataclass
class Step:
    """One call of torch. `result` are the tensors that it returned."""

    name: str  # the function's dotted name
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: list[Any]

    @property
    def last(self) -> str:
        """The last part of its name that says what it does."""
        return self.name.removesuffix(".__get__").split(".")[-1]


@dataclasses.dataclass
class Call:
    """One call of the function: its arguments as given, and copies of its tensors by their ids."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    copies: dict[int, Any]
    failure: str | None = None


def tensors(value: Any) -> Iterator[Any]:
    """Yields the tensors in nested tuples, lists and dictionaries."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from tensors(each)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def _is_placed(value: Any) -> bool:
    import torch

    return isinstance(value, torch.device) or (
        isinstance(value, str) and value.split(":")[0] in ("cpu", "cuda")
    )


class Recorder:
    """`steps` are all calls of torch in their order, `calls` those of the function."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.calls: list[Call] = []
        self.is_inside = False

    def watch(self) -> Any:
        """Returns a mode under which the calls of torch are recorded."""
        from torch.overrides import TorchFunctionMode, resolve_name

        recorder = self

        class Watch(TorchFunctionMode):
            def __torch_function__(
                self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
            ) -> Any:
                kwargs = kwargs or {}
                result = func(*args, **kwargs)
                if not recorder.is_inside:
                    recorder._record(str(resolve_name(func)), args, kwargs, result)
                return result

        return Watch()

    def _record(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        found = list(tensors(result))
        if not found or name.endswith("__.set"):
            return
        given = tuple(a for a in args if not _is_placed(a))
        named = {k: v for k, v in kwargs.items() if k not in ("device", "generator", "pin_memory")}
        self.steps.append(Step(name, given, named, found))

    def recording(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that records its calls and passes them on."""

        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self.is_inside or len(self.calls) >= MOST_CALLS:
                return function(*args, **kwargs)
            copies = {id(t): t.detach().clone() for t in tensors([args, kwargs])}
            call = Call(args, kwargs, copies)
            self.calls.append(call)
            self.is_inside = True
            try:
                return function(*args, **kwargs)
            except Exception as failure:
                call.failure = f"{type(failure).__name__}: {failure}"
                raise
            finally:
                self.is_inside = False

        return recorded

    def slice(self, wanted: list[Any]) -> list[Step]:
        """Returns the steps that made these tensors, in their order."""
        waiting = {id(t) for t in wanted}
        kept = []
        for step in reversed(self.steps):
            if any(id(t) in waiting for t in step.results):
                kept.append(step)
                if not step.last.endswith("_"):
                    waiting -= {id(t) for t in step.results}
                waiting |= {id(t) for t in tensors([step.args, step.kwargs])}
        return kept[::-1]


def run(text: str, path: str, names: dict[str, Any], name: str) -> tuple[Recorder, str | None]:
    """Executes tests in a copy of the namespace `names`. In both, a recording function replaces `name`.

    Returns `(recorder, failure)`. A test that raises an exception ends; those behind it run."""
    recorder = Recorder()
    tree = ast.parse(text, filename=os.path.basename(path))
    devices.replace(tree)
    ast.fix_missing_locations(tree)
    names[name] = recorder.recording(names[name])
    names = {**names, devices.NAME: devices.here}
    failure = None
    with recorder.watch():
        for statement in tree.body:
            code = compile(ast.Module([statement], []), os.path.basename(path), "exec")
            try:
                exec(code, names)
            except Exception as raised:
                failure = failure or f"{type(raised).__name__}: {raised}"
        if not recorder.calls and failure is None:
            for test in [v for k, v in names.items() if k.startswith("test_") and callable(v)]:
                try:
                    test()
                except Exception as raised:
                    failure = failure or f"{type(raised).__name__}: {raised}"
    return recorder, failure
