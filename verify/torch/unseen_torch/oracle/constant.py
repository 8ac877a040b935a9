"""Detects reference outputs that do not depend on the inputs. A match with such an output says nothing about a
candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from .eager import run
from .evaluate import evaluate
from .number import Unsupported

if TYPE_CHECKING:
    from .evaluate import Judged
    from .graph import Graph


def is_constant(
    judged: Sequence[Judged],
    graph: Graph,
    state: dict[str, torch.Tensor],
    inputs: list[Any],
    seed: int = 1,
    device: str = "cpu",
) -> bool:
    """True if other random inputs give the same reference outputs within the allowed error."""
    generator = torch.Generator(device=device).manual_seed(seed + 1)

    def other(x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or not x.is_floating_point() or not x.numel():
            return x
        wide = x.double()  # 8-bit types support neither minima nor products
        low, high = float(wide.min()), float(wide.max())
        return (low + (high - low) * torch.rand(x.shape, generator=generator, device=x.device)).to(x.dtype)

    if not any(isinstance(inputs[i], torch.Tensor) and inputs[i].is_floating_point() for i in graph.inputs):
        return False
    others = [other(x) for x in inputs]
    try:
        again = run(graph, state, others, double=True)
    # an operation may lack an fp64 implementation
    except (RuntimeError, TypeError, ValueError, IndexError):
        try:
            again = [number.v for number, _ in evaluate(graph, state, others, seed, runs=0, device=device)]
        except Unsupported:
            return False  # others are not in its domain, such as matrices that are not positive definite
    if any(v.shape != j.want.shape for j, v in zip(judged, again)):
        return False  # the output's length depends on values
    return all(bool(((v.double() - j.want).abs() <= j.allowed).all()) for j, v in zip(judged, again))
