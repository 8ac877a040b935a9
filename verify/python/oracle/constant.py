"""Detects reference outputs that do not depend on the inputs. A match with such an output says nothing about a
candidate."""

import torch

from .evaluate import evaluate
from .executed import run


def is_constant(judged, graph, state, inputs, seed=1, device="cpu"):
    """True if other random inputs give the same reference outputs within the allowed error."""
    generator = torch.Generator(device=device).manual_seed(seed + 1)

    def other(x):
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
        again = [number.v for number, _ in evaluate(graph, state, others, seed, runs=0, device=device)]
    if any(v.shape != j.want.shape for j, v in zip(judged, again)):
        return False  # the output's length depends on values
    return all(bool(((v.double() - j.want).abs() <= j.allowed).all()) for j, v in zip(judged, again))
