"""Null outputs of a task, which need no honest work.

Each is a function of a case and the inputs of one trial that returns outputs. It returns None if there is no such
output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import checks, variants
from .case import Case, Make, Outputs

TILE = 32


def constant(value: float | Callable[[torch.Tensor], float]) -> Make:
    return lambda case, inputs, right: [
        torch.full_like(t, value(t) if callable(value) else value) for t in right
    ]


def mean_of(t: torch.Tensor) -> float:
    return float(t.double().mean()) if t.is_floating_point() else int(t.double().mean().round())


def middle_of(t: torch.Tensor) -> float:
    low, high = float(t.double().min()), float(t.double().max())
    return (low + high) / 2 if t.is_floating_point() else int((low + high) // 2)


def not_a_number(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    return [
        torch.full_like(t, float("nan")) if t.is_floating_point() else torch.full_like(t, -1) for t in right
    ]


def poison(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    """Unwritten memory: bytes of 0xA5."""
    return [
        torch.full((t.numel() * t.element_size(),), 0xA5, dtype=torch.uint8, device=t.device)
        .view(t.dtype)
        .reshape(t.shape)
        if t.numel()
        else t
        for t in right
    ]


def copied(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs | None:
    """An input of the output's shape."""
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    same = [next((x for x in tensors if x.shape == t.shape and x.dtype == t.dtype), None) for t in right]
    found = [x.clone() for x in same if x is not None]
    return found if len(found) == len(same) else None


def repeated(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs | None:
    """The first row in place of every row."""
    if any(t.dim() < 2 or t.shape[0] < 2 for t in right):
        return None
    return [t[:1].expand_as(t).clone() for t in right]


def noise(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    """Right outputs plus noise of half the published tolerance."""
    generator = torch.Generator().manual_seed(case.seed)
    out = []
    for t in right:
        size = checks.constant(t.dtype, case.subject.own)
        sign = (torch.rand(t.shape, generator=generator) - 0.5).sign().to(t.device)
        out.append(t + 0.5 * size * (1 + t.abs()) * sign if t.is_floating_point() else t.clone())
    return [t.to(r.dtype) for t, r in zip(out, right)]


def first_part(share: float) -> Make:
    def make(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        out = []
        for t in right:
            flat = t.clone().reshape(-1)
            flat[int(flat.numel() * share) :] = 0
            out.append(flat.reshape(t.shape))
        return out

    return make


def random_like(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    generator = torch.Generator().manual_seed(case.seed)
    return [
        (
            t.double().mean()
            + (t.double().std() if t.numel() > 1 else 0)
            * torch.randn(t.shape, generator=generator).double().to(t.device)
        ).to(t.dtype)
        for t in right
    ]


def stale(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    """The answer to the previous call's inputs."""
    return case.run(inputs=case.moved(case.draw(case.seed + 1)))


def whole_tiles(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    """A kernel that computes whole tiles only: elements behind the last whole tile stay zero."""
    out = [t.clone() for t in right]
    for t in out:
        for dim in range(max(t.dim() - 2, 0), t.dim()):
            keep = t.shape[dim] // TILE * TILE
            t.narrow(dim, keep, t.shape[dim] - keep).zero_()
    return out


def operands(bits: int) -> Make:
    def make(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
        if variants.has_products(case.graph):
            return case.run(variants.operands_rounded(bits), inputs)
        return case.run(inputs=[variants.rounded(x, bits) for x in inputs])

    return make


def accumulated(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs | None:
    """Products that are accumulated in bf16, 32 terms at a time."""
    return (
        case.run(variants.accumulated_narrow(torch.bfloat16), inputs)
        if variants.has_products(case.graph)
        else None
    )


def all_but_last(case: Case, inputs: list[Any], right: list[torch.Tensor]) -> Outputs:
    out = [t.clone() for t in right]
    for t in out:
        if t.numel() > 1:
            t.view(-1)[-1] = 0
    return out


NULLS = {
    "all zeros": constant(0),
    "all ones": constant(1),
    "NaN": not_a_number,
    "memory that nobody wrote": poison,
    "the input copied": copied,
    "the mean of the output": constant(mean_of),
    "a constant fitted to the output": constant(middle_of),
    "the first row repeated": repeated,
    "random, right mean and spread": random_like,
    "expected, noise of half the tolerance": noise,
    "the first half right, the rest zero": first_part(0.5),
    "all but the last element right": all_but_last,
    "whole tiles of 32 right, the rest zero": whole_tiles,
    "the previous call's output": stale,
    "operands rounded to TF32": operands(10),
    "operands rounded to bf16": operands(7),
    "products summed up in bf16": accumulated,
}
