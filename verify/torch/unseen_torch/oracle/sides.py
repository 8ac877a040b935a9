"""Both sides of few open decisions that change the length of a result, such as a mask that picks.

An honest implementation may pick an element whose comparison is closer than its bound, or leave it out. The graph
is evaluated once for each way that these decisions can fall, and a result is held against the nearest answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import evaluate
from .graph import Graph
from .number import Number, Unsupported, distance

FEW = 3  # most open elements of an evaluation, all masks together


class Sides:
    """The sides that one evaluation takes. Bit k of `way` changes the k-th open element."""

    def __init__(self, way: int) -> None:
        self.way, self.asked = way, 0
        self.known: dict[int, tuple[Number, Number]] = {}

    def of(self, mask: Number) -> Number:
        """The mask with a decision for each element, or the mask itself if too many are open."""
        if mask.open is None:
            return mask
        if id(mask.open) not in self.known:
            places = mask.open.expand(mask.v.shape).reshape(-1).nonzero()[:, 0].tolist()
            if self.asked + len(places) > FEW:
                return mask
            v = mask.v.reshape(-1).clone()
            for k, place in enumerate(places, self.asked):
                if self.way >> k & 1:
                    v[place] = ~v[place]
            self.asked += len(places)
            self.known[id(mask.open)] = mask, Number(v.reshape(mask.v.shape))  # the mask keeps its id
        return self.known[id(mask.open)][1]


def answers(
    graph: Graph,
    state: dict[str, torch.Tensor],
    inputs: Sequence[Any],
    seed: int = 1,
    device: str = "cpu",
    tables: frozenset[str] = frozenset(),
) -> list[list[evaluate.Judged]]:
    """The references of all outputs, for each way that open decisions can fall."""
    first = Sides(0)
    found = [evaluate.answer(graph, state, inputs, seed, device, tables, first)]
    for way in range(1, 1 << first.asked):
        sides = Sides(way)
        found.append(evaluate.answer(graph, state, inputs, seed, device, tables, sides))
        if sides.asked != first.asked:
            raise Unsupported("a choice of elements that depends on another choice which rounding may change")
    return found


def _wrong(judged: Sequence[evaluate.Judged], got: Sequence[torch.Tensor]) -> int:
    """How many elements of the memory are wrong. Those beyond the answer are 0."""
    count = 0
    for j, g in zip(judged, got):
        whole = torch.zeros(g.shape, dtype=torch.float64, device=j.want.device)
        allowed, inside = whole.clone(), tuple(slice(n) for n in j.want.shape)
        whole[inside], allowed[inside] = j.want, j.allowed
        count += int((~(distance(g.to(whole.device), whole) <= allowed)).sum())
    return count


def nearest(ways: Sequence[Any], got: Sequence[torch.Tensor]) -> Any:
    """The one of several references that has the fewest wrong elements of the returned memory."""
    return min(ways, key=lambda judged: _wrong(judged, got))
