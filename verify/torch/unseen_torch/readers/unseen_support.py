"""Functions of tasks that `unseen import` composes. It stands in NAME.task, so that a folder needs nothing
else."""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Callable
from typing import Any

import torch

Structure = tuple[str, Any]


def _names(forward: Callable[..., Any]) -> list[str]:
    """Returns the names of forward's parameters after self."""
    return [name for name in inspect.signature(forward).parameters if name != "self"]


def in_order(forward: Callable[..., Any], named: dict[str, Any]) -> list[Any]:
    """Returns the arguments `named` as a list in the order of forward's parameters.

    A parameter without an argument has its default, which the task's inputs hold as a constant.
    """
    defaults = {
        name: p.default
        for name, p in inspect.signature(forward).parameters.items()
        if p.default is not p.empty
    }
    unknown = [name for name in named if name not in _names(forward)]
    if unknown:
        raise TypeError(f"there is an input '{unknown[0]}'; forward takes {', '.join(_names(forward))}")
    return [named[name] if name in named else defaults[name] for name in _names(forward)]


def by_name(entry: Any, forward: Callable[..., Any]) -> Any:
    """Returns a candidate that takes forward's arguments by position and passes them on by name."""
    names = _names(forward)
    if not isinstance(entry, type):
        return lambda *arguments: entry(**dict(zip(names, arguments)))
    takes: Callable[..., Any] = getattr(entry, "forward", torch.nn.Module.forward)
    if _names(takes)[: len(names)] == names:
        return entry

    class ByName(entry):  # type: ignore[misc]  # of the candidate's own class
        def forward(self, *arguments: Any) -> Any:
            return takes(self, **dict(zip(names, arguments)))

    return ByName


def with_function(entry: Any, model: Any) -> Any:
    """Returns a candidate that runs `model` with the function `entry` as its parameter `fn`."""
    if isinstance(entry, type):
        return entry

    class WithFunction(model):  # type: ignore[misc]  # of the task's own class
        def forward(self, *arguments: Any) -> Any:
            return super().forward(*arguments, fn=entry)

    return WithFunction


class Data:
    """The nested value that a task passes to its function, as `structure` describes it.

    A structure is ("leaf", number), ("value", constant), ("tuple" or "list", parts) or ("dict", {key: part}).
    Leaves are tensors and numbers."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure

    def leaves(self, value: Any) -> list[Any]:
        """Returns the leaves of a value as a list, in the order of their numbers."""
        found: dict[int, Any] = {}
        self._collect(self.structure, value, found)
        return [found[i] for i in sorted(found)]

    def _collect(self, structure: Structure, value: Any, found: dict[int, Any]) -> None:
        kind, inner = structure
        if kind == "leaf":
            found[inner] = value
        elif kind == "dict":
            for key, part in inner.items():
                self._collect(part, value[key], found)
        elif kind != "value":
            for part, each in zip(inner, value):
                self._collect(part, each, found)

    def packed(self, leaves: list[Any]) -> Any:
        """Returns the value that holds these leaves."""
        return self._build(self.structure, leaves)

    def _build(self, structure: Structure, leaves: list[Any]) -> Any:
        kind, inner = structure
        if kind == "leaf":
            return leaves[inner]
        if kind == "value":
            return inner
        if kind == "dict":
            return {key: self._build(part, leaves) for key, part in inner.items()}
        return {"tuple": tuple, "list": list}[kind](self._build(part, leaves) for part in inner)


def drawn_seed() -> int:
    """Returns a seed that follows the seed with which the tool draws this configuration."""
    return torch.initial_seed() % (1 << 31)


def random(dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Returns a tensor as SOL-ExecBench draws it: normal numbers, or whole numbers of the type's range."""
    kind = getattr(torch, dtype)
    if kind in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        return torch.randn(shape, dtype=kind)
    if dtype.startswith("float8"):
        return torch.randn(shape).clamp(-2.0, 2.0).to(kind)
    if kind is torch.bool:
        return torch.randint(0, 2, shape).to(torch.bool)
    low, high = {"int8": (-128, 128), "uint8": (0, 256)}.get(dtype, (-1024, 1024))
    return torch.randint(low, high, shape, dtype=kind)


def indices(dtype: str, shape: tuple[int, ...], bound: int) -> torch.Tensor:
    """Returns indices below `bound`."""
    return torch.randint(0, bound, shape, dtype=getattr(torch, dtype))


def lengths(dtype: str, shape: tuple[int, ...], most: int) -> torch.Tensor:
    """Returns lengths from 1 to `most`."""
    return torch.randint(1, most + 1, shape, dtype=getattr(torch, dtype))


def offsets(dtype: str, shape: tuple[int, ...], total: int) -> torch.Tensor:
    """Returns ascending offsets from 0 to `total`, between which the parts have random lengths."""
    inner = torch.randint(0, total + 1, (max(shape[0] - 2, 0),)).sort().values
    ends = torch.zeros(1, dtype=torch.int64), torch.full((1,), total, dtype=torch.int64)
    return torch.cat([ends[0], inner, ends[1]])[: shape[0]].to(getattr(torch, dtype))


def destination(
    entry: Any, writes: bool | None, inputs: int, outputs: Callable[[], list[tuple[tuple[int, ...], str]]]
) -> Any:
    """Returns a candidate that takes the inputs and returns the outputs.

    A candidate that writes into given outputs takes them behind the inputs. `writes` tells whether it does;
    None: the number of its parameters tells."""
    if inspect.isclass(entry):
        return entry
    described = outputs()
    if writes is None:
        required = [p for p in inspect.signature(entry).parameters.values() if p.default is p.empty]
        writes = len(required) == inputs + len(described)
    if not writes:
        return entry

    def call(*arguments: Any) -> Any:
        place = next(a.device for a in arguments if isinstance(a, torch.Tensor))
        made = [torch.empty(shape, dtype=getattr(torch, dtype), device=place) for shape, dtype in described]
        entry(*arguments, *made)
        return made[0] if len(made) == 1 else tuple(made)

    return call


def input_group(module: Any, described: dict[str, Any]) -> list[Any]:
    """Returns the inputs that get_input_groups of `module` makes of one described group."""
    text = json.dumps(described) + "\n"
    module.open = lambda *_, **__: io.StringIO(text)
    return list(module.get_input_groups()[0])
