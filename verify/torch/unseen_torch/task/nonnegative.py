"""Inputs that are nonnegative by construction, as rates and means of squares: `rand`, or a positive multiple.

`rand` alone says little: many tasks draw all inputs so. Beside an input of both signs it says that negative
numbers have no meaning. Such an input gets zeros and other magnitudes, as far as the outputs grow no faster than
it does. A state that is multiplied by 1 - beta in each step is bounded only for beta up to 2. Honest
implementations that combine steps differ beyond that.

An input that is only added to others is a bias, which may have either sign.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import effects, input_domain, overflow_inputs
from .description import Fill
from .observed import Draw, Law

DOMAIN = "nonnegative"
MAGNITUDES = (128, 64, 16, 4)  # greatest ones to try
LEAST = -6  # exponent of the least magnitude, relative to the greatest published one
GROWTH = 4.0


def _is_signed(found: Draw | None) -> bool:
    return found is not None and (found[0] == "normal" or found[1] < 0 < found[2])


def found(domains: Sequence[str], laws: Sequence[Law]) -> list[str]:
    """Returns the domains, with `nonnegative` for a real input that is drawn from 0 on beside one of both signs."""
    ranges = [input_domain.drawn_range(law.steps) for law in laws]
    if not any(_is_signed(one) for one in ranges):
        return list(domains)
    return [
        DOMAIN if d == "real" and one is not None and one[0] == "uniform" and one[1] == 0 else d
        for d, one in zip(domains, ranges)
    ]


class _Uses(TorchDispatchMode):
    """Finds whether a tensor is only added to other tensors, or subtracted."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.moved = [tensor]  # the tensor and its views and copies
        self.is_added, self.is_changed = False, False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        mine = [any(a is each for each in self.moved) for a in tree_leaves((args, kwargs))]
        if any(mine):
            name = func._opname.rstrip("_")
            if func._opname in input_domain.MOVES or name in input_domain.MOVES:
                self.moved += [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
            elif name in ("add", "sub") and all(isinstance(a, torch.Tensor) for a in args[:2]):
                self.is_added = self.is_added or not all(mine[:2])
            else:
                self.is_changed = True
        return out


def _is_only_added(model: torch.nn.Module, inputs: list[Any], i: int) -> bool:
    given = [input_domain.copied(v) for v in inputs]
    try:
        with torch.no_grad(), _Uses(given[i]) as uses:
            effects.tensors(copy.deepcopy(model), given)
    except Exception:  # raised by the task's own code
        return False
    return uses.is_added and not uses.is_changed


def without_biases(
    model: torch.nn.Module, inputs: list[Any], before: Sequence[str], domains: list[str]
) -> list[str]:
    """Returns the domains with `before`'s for inputs that are only added to others. A bias has no magnitude
    of its own, and a sum may have either sign. Numbers below 0 have to give finite answers, too."""
    for i, domain in enumerate(domains):
        if domain == DOMAIN and _is_only_added(model, inputs, i):
            other = [*domains[:i], before[i], *domains[i + 1 :]]
            if input_domain.one_sided(model, inputs, other)[i] == before[i]:
                domains = other
    return domains


def _most(outputs: list[torch.Tensor]) -> float:
    return max((float(o.double().abs().max()) for o in outputs if o.numel()), default=0.0)


def _is_calm(model: torch.nn.Module, inputs: list[Any], i: int, most: float, high: float) -> bool:
    """Tells whether the outputs are known, and grow no faster than input i, near `most`."""
    changed = [input_domain.copied(v) for v in inputs]
    changed[i] = (most * (1 - torch.rand(inputs[i].shape) / 16)).to(inputs[i].dtype)
    published, outputs = (input_domain.outputs_at(model, of) for of in (inputs, changed))
    if published is None or outputs is None or not input_domain.is_told(outputs, published):
        return False
    if not _most(outputs) <= GROWTH * most / high * max(_most(published), 1e-30):
        return False
    return overflow_inputs.told_at(copy.deepcopy(model).double(), changed, outputs, published)


def _greatest(model: torch.nn.Module, inputs: list[Any], i: int, high: float) -> float:
    """Returns the greatest magnitude that input i may have, or the published one."""
    for most in MAGNITUDES:
        try:
            if most > high and _is_calm(model, inputs, i, most, high):
                return most
        except Exception:  # raised by the task's own code
            continue
    return high


def fills(
    model: torch.nn.Module, inputs: list[Any], domains: Sequence[str], published: dict[int, Fill]
) -> dict[int, dict[str, Fill]]:
    """Returns `{input: {class: fill}}` of the nonnegative inputs. Other classes draw them as published.

    `published` has the fills of get_inputs's draw.
    """
    torch.manual_seed(17)
    made: dict[int, dict[str, Fill]] = {}
    for i, domain in enumerate(domains):
        if domain == DOMAIN and inputs[i].numel() and published[i]["kind"] == "uniform":
            high = float(published[i]["b"])
            most = _greatest(model, inputs, i, high)
            low, top = (math.floor(math.log2(n)) for n in (high, most))
            made[i] = {
                "wide": {"kind": "powers", "a": low + LEAST, "b": top, "density": 1},
                "integers": {"kind": "levels", "a": 0, "b": min(8, max(1, int(most))) + 1, "density": 0.25},
            }
            if high < 1 and most == high:
                made[i]["integers"] = {"kind": "constant", "a": 0}
    return made
