"""Finds the structure of the nested value that a composed task passes to its function (Data in
unseen_support.py)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Union

from .reading import Reading, error

Structure = tuple[str, Any]
Key = Union[int, str]


class _Leaves:
    """Numbers leaves and names them by their place."""

    def __init__(self, names: list[str]) -> None:
        self.top, self.names = names, list[str]()

    def _name(self, path: tuple[Key, ...]) -> str:
        words = list(path)
        if words and isinstance(words[0], int):
            words[0] = self.top[words[0]] if words[0] < len(self.top) else f"x{words[0]}"
        elif not words:
            words = [self.top[0] if self.top else "x"]
        name = re.sub(r"\W", "_", "_".join(map(str, words)))
        name = name if name[:1].isalpha() else f"x{name}"
        return name if name not in self.names else f"{name}_{len(self.names)}"

    def structure(self, value: Any, path: tuple[Key, ...] = ()) -> Structure:
        """Returns the structure of a value. Raises TypeError for a part that is no tensor and no plain
        value."""
        import torch

        if isinstance(value, torch.Tensor) or type(value) in (int, float):
            self.names.append(self._name(path))
            return "leaf", len(self.names) - 1
        if value is None or type(value) in (bool, str) or isinstance(value, torch.dtype):
            return "value", value
        if type(value) in (tuple, list):
            parts = [self.structure(each, (*path, i)) for i, each in enumerate(value)]
            return type(value).__name__, parts
        if isinstance(value, dict):
            return "dict", {key: self.structure(each, (*path, key)) for key, each in value.items()}
        raise TypeError(type(value).__name__)


def _run(reading: Reading, call: Callable[[Any], Any]) -> Any:
    """Executes the reading's module on FakeTensors, or on real ones if it reads values of tensors. Returns
    the result of `call(module)`."""
    import torch

    from ..task import failure, fake
    from ..task.source import Source

    source = Source(reading)
    try:
        with fake.mode(), torch.no_grad():
            return call(source.execute({}))
    except failure.HANG_ON_VALUES:
        return call(source.execute({}))


def of(reading: Reading, call: Callable[[Any], Any], names: list[str]) -> tuple[Structure, list[str]]:
    """Returns `(structure, names of its leaves)` of the value that `call(module)` returns. `names` are those
    of the outermost parts. Raises SourceError."""
    from ..task import failure

    try:
        value = _run(reading, call)
    except Exception as raised:
        failed = failure.failed(raised)
        raise error(
            f"{reading.path} does not run as it is: {failed}",
            "inputs at its first published sizes were",
            failed.hint,
        ) from raised
    leaves = _Leaves(names)
    try:
        return leaves.structure(value), leaves.names
    except TypeError as wrong:
        raise error(
            f"{reading.path}: its inputs hold a {wrong}",
            "tensors, numbers, texts, None, and tuples, lists and dictionaries of these were",
            "pass the parts of it one by one",
        ) from wrong
