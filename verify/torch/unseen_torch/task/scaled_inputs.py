"""The classes `uneven` and `tiny`, for tasks that divide by a result or take its root or logarithm.

`uneven` has parts of different magnitude, some of them 0. A row of zeros occurs as padding. In a sample a
hundred times smaller than others, `eps` is a large share. A candidate may guard its division differently from the
task, or not at all. Inputs of one magnitude do not show that.

In `tiny` all numbers are near 0. A bound of a whole tensor's norm or mean acts only there.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import effects, input_domain, overflow_inputs
from .description import Fill

# Lower magnitudes are ambiguous: an epsilon of 1e-8 for a product of two norms differs there from one for each norm.
LOW, HIGH = -13, 6
HALF = -6  # for fp16, whose smallest normal number is 2^-14
NEAR = 2.0**-4
SHARE = 0.875  # share of nonzero parts
TINY_DRAWS = 3
NARROW = ("div", "reciprocal", "rsqrt", "sqrt", "log", "log2", "log10", "atan2", "hypot", "std", "std_mean")


class _Narrow(TorchDispatchMode):
    """Detects operations that are steep or undefined at 0 and have an operand near 0. Norms always count."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(function).split(".")[1].rstrip("_")
        of = args[1] if name == "div" else args[0] if args else None
        root = name == "pow" and len(args) > 1 and not isinstance(args[1], torch.Tensor) and args[1] < 1
        if (
            (name in NARROW or root)
            and isinstance(of, torch.Tensor)
            and of.is_floating_point()
            and of.numel()
        ):
            self.found |= float(of.double().abs().min()) < NEAR
        self.found |= "norm" in name and "normal" not in name
        return function(*args, **(kwargs or {}))


def _ways(rank: int) -> list[tuple[int, int]]:
    """Returns (first dimension, last dimension) pairs along which parts are counted. A scalar gets one pair."""
    return [(first, at) for at in range(max(rank, 1)) for first in dict.fromkeys((0, at))]


def _made(value: torch.Tensor, way: int, with_zeros: bool) -> torch.Tensor:
    """Returns an input of that shape as the class draws it. With `with_zeros` its first part is 0."""
    ways = _ways(value.dim())
    first, at = ways[way % len(ways)]
    extents = [n if first <= d <= at else 1 for d, n in enumerate(value.shape)]
    size = torch.exp2(torch.randint(_low(value.dtype), HIGH + 1, extents).float())
    if with_zeros and size.numel():
        size.view(-1)[0] = 0
    return (size * torch.randn(value.shape)).to(value.dtype)


def _low(dtype: torch.dtype) -> int:
    return HALF if dtype == torch.float16 else LOW


def _told(
    model: torch.nn.Module, inputs: list[Any], domains: list[str], draws: Iterable[Callable[[Any], Any]]
) -> bool:
    """Tells whether the answer is known wherever one of `draws` replaces the real inputs."""
    wide, published = copy.deepcopy(model).double(), input_domain.outputs_at(model, inputs)
    for draw in draws:
        changed = [draw(v) if d == "real" else v for v, d in zip(inputs, domains)]
        if not overflow_inputs.told_at(
            wide,
            changed,
            effects.tensors(copy.deepcopy(model), [input_domain.copied(v) for v in changed]),
            published,
        ):
            return False
    return True


def _unevenly(inputs: list[Any], domains: list[str], with_zeros: bool) -> Iterator[Callable[[Any], Any]]:
    for way in range(max(len(_ways(v.dim())) for v, d in zip(inputs, domains) if d == "real")):
        yield functools.partial(_made, way=way, with_zeros=with_zeros)


def _near_zero(value: torch.Tensor, exponent: int) -> torch.Tensor:
    return (torch.randn(value.shape) * 2.0**exponent).to(value.dtype)


def is_narrow(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> bool:
    """Tells whether the task has an operation that is steep or undefined at 0, and tiny inputs reach it."""
    if "real" not in domains:
        return False
    torch.manual_seed(13)
    try:
        with torch.no_grad(), _Narrow() as narrow:
            copy.deepcopy(model)(
                *[
                    _near_zero(v, LOW) if d == "real" else input_domain.copied(v)
                    for v, d in zip(inputs, domains)
                ]
            )
        return bool(narrow.found)
    except Exception:  # raised by the task's own code; the other classes still judge it
        return False


def uneven(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> list[Fill] | None:
    """Returns the fills of the real inputs in order, for a task with a narrow operation. Returns None if the
    task's answer is not known there."""
    torch.manual_seed(14)
    try:
        for with_zeros in (True, False):
            if _told(model, inputs, domains, _unevenly(inputs, domains, with_zeros)):
                return [
                    {"kind": "uneven", "a": _low(v.dtype), "b": HIGH, "density": SHARE if with_zeros else 1}
                    for v, d in zip(inputs, domains)
                    if d == "real"
                ]
    except Exception:  # raised by the task's own code; the other classes still judge it
        pass
    return None


def tiny(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> int | None:
    """Returns the power of two of the real inputs' deviation, for a task with a narrow operation. Returns
    None if the task's answer is not known there."""
    torch.manual_seed(18)
    for exponent in (LOW, HALF):
        try:
            if _told(model, inputs, domains, [functools.partial(_near_zero, exponent=exponent)] * TINY_DRAWS):
                return exponent
        except Exception:  # raised by the task's own code; the other classes still judge it
            continue
    return None
