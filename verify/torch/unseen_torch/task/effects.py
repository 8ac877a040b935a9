"""The outputs of a model's call: inputs that it has written into, and its results.

An optimizer's step or a cache's update is in-out: the inputs hold the answer afterwards. A result that is such an
input is not counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from . import structure

if TYPE_CHECKING:
    from .description import Description


class Effects:
    """The outputs of one call.

    - `written`: places of the inputs that changed.
    - `returned`: `[(path, tensor)]` of the other results.
    - `same`: `[(path, place)]` of results that are written inputs.
    - `answer`: forward's result.
    """

    def __init__(self, answer: Any, given: Sequence[Any], written: list[int]) -> None:
        self.answer, self.written = answer, written
        self.returned: list[tuple[structure.Way, torch.Tensor]] = []
        self.same: list[tuple[structure.Way, int]] = []
        self.inputs = [given[i] for i in written]
        self.is_plain = True  # only tensors were returned
        found = structure.places(answer, torch.Tensor)
        if found is None:
            self.is_plain, found = False, []
        for way, tensor in found:
            place = next((i for i in written if tensor is given[i]), None)
            if place is None:
                self.returned.append((way, tensor))
            else:
                self.same.append((way, place))

    def tensors(self) -> list[torch.Tensor]:
        """Returns all outputs: the written inputs, then the other results."""
        return [*self.inputs, *(tensor for _, tensor in self.returned)]


def _version(value: Any) -> int:
    return value._version if isinstance(value, torch.Tensor) else 0


def of_call(model: Callable[..., Any], given: Sequence[Any]) -> Effects:
    """Calls the model on `given`, which it may write into."""
    before = [_version(v) for v in given]
    answer = model(*given)
    return Effects(answer, given, [i for i, (v, was) in enumerate(zip(given, before)) if _version(v) != was])


def outputs(model: Callable[..., Any], given: Sequence[Any]) -> list[torch.Tensor] | None:
    """Returns the outputs of a call, or None if forward returns something other than tensors."""
    effects = of_call(model, given)
    return effects.tensors() if effects.is_plain else None


def tensors(model: Callable[..., Any], given: Sequence[Any]) -> list[torch.Tensor]:
    """Returns the outputs of a call. Raises TypeError if forward returns something other than tensors."""
    found = outputs(model, given)
    if found is None:
        raise TypeError("forward returns something other than tensors")
    return found


def written_in(description: Description) -> list[int]:
    """Returns the places of the inputs that NAME.task marks as written."""
    return [i for i, entry in enumerate(description["inputs"]) if entry.get("written")]
