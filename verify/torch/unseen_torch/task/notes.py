"""Notes on a task, from real runs: randomness in forward, state between calls, a constant answer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from . import effects, input_domain, weight_init
from .description import Note
from .source import Instance

CONSTANT = 1e-12  # rounding of a zero difference in double precision


def call(model: torch.nn.Module, inputs: list[Any], seed: int) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    with torch.no_grad():
        return [o.detach().clone() for o in effects.tensors(model, [input_domain.copied(v) for v in inputs])]


def _differ(a: Sequence[torch.Tensor], b: Sequence[torch.Tensor]) -> bool:
    return any(
        not torch.equal(torch.nan_to_num(x.double()), torch.nan_to_num(y.double())) for x, y in zip(a, b)
    )


def _hidden(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Returns tensors in modules that are neither parameters nor buffers."""
    return {
        f"{path}.{name}".lstrip("."): value.detach().clone()
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor)
    }


def _keeps(
    model: torch.nn.Module,
    inputs: list[Any],
    first: list[torch.Tensor],
    beside: Callable[[], Iterable[list[Any]]],
) -> bool:
    """Tells whether a call at other sizes changes the model's later answers, or fails."""
    for others in beside():
        same = copy.deepcopy(model)
        try:
            call(same, others, 1)
            if _differ(first, call(same, inputs, 1)):
                return True
        except Exception:
            return True
    return False


def _derives(instance: Instance) -> bool:
    """Tells whether the constructor derives something from its parameters that is no weight: a quantized copy, sums."""
    try:
        with weight_init.Order() as order:
            expected = order.of(instance.model())
        made = []
        for seed in (21, 22):
            torch.manual_seed(seed)
            weights = {name: torch.rand(shape) for name, _, shape in expected}
            torch.manual_seed(20)
            with weight_init.Placing(expected, weights):
                model = instance.model()
            made.append({**dict(model.named_buffers()), **_hidden(model)})
        own = {name for name, _, _ in expected}
        return any(
            a.shape != made[1][n].shape or _differ([a], [made[1][n]])
            for n, a in made[0].items()
            if n in made[1] and n not in own
        )
    except Exception:
        return False


def _is_constant(model: torch.nn.Module, inputs: list[Any]) -> bool:
    """Tells, in double precision, whether other values of the floating-point inputs give the same answer."""
    wide = [v.double() if isinstance(v, torch.Tensor) and v.dtype.is_floating_point else v for v in inputs]
    try:
        double = copy.deepcopy(model).double()
        torch.manual_seed(5)
        moved = [
            torch.rand_like(v) * 3 - 1 if isinstance(v, torch.Tensor) and v.dtype.is_floating_point else v
            for v in wide
        ]
        a, b = call(copy.deepcopy(double), wide, 1), call(copy.deepcopy(double), moved, 1)
    except Exception:
        return False
    if not any(isinstance(v, torch.Tensor) and v.dtype.is_floating_point and v.numel() > 1 for v in wide):
        return False
    pairs = [(x.double(), y.double()) for x, y in zip(a, b)]
    if any(x.shape != y.shape for x, y in pairs):
        return False
    return all((x - y).abs().max().item() <= CONSTANT for x, y in pairs if x.numel())


def _notes_of_calls(
    model: torch.nn.Module, inputs: list[Any], beside: Callable[[], Iterable[list[Any]]]
) -> list[Note]:
    """Returns a note if a call draws random numbers or changes what another one answers."""
    first, again = call(copy.deepcopy(model), inputs, 1), call(copy.deepcopy(model), inputs, 2)
    if _differ(first, again):
        text = "two calls with equal inputs and other seeds differ: random in forward"
        return [{"kind": "random", "text": text}]
    same = copy.deepcopy(model)
    before = _hidden(same)
    one, two = call(same, inputs, 1), call(same, inputs, 1)
    after = _hidden(same)
    changed = [
        n
        for n in after
        if n in before and (before[n].shape != after[n].shape or _differ([before[n]], [after[n]]))
    ]
    if _differ(one, two) or changed:
        which = f": {', '.join(changed)}" if changed else ""
        return [{"kind": "stateful", "text": "a call changes what the next one starts from" + which}]
    if _keeps(model, inputs, first, beside):
        text = "one model is not called with several shapes: a call changes what it answers to others"
        return [{"kind": "kept", "text": text}]
    return []


def notes(
    instance: Instance,
    model: torch.nn.Module,
    inputs: list[Any],
    grown: Callable[[], tuple[torch.nn.Module, list[Any]] | None],
    beside: Callable[[], Iterable[list[Any]]],
) -> list[Note]:
    """Returns `[{kind, text}]` from tests for randomness in forward, state and a constant answer.

    `grown()` returns another model with its inputs at larger sizes, or None. `beside()` yields inputs at other sizes
    for the same model.
    """
    found = _notes_of_calls(model, inputs, beside)
    if _derives(instance):
        found.append(
            {
                "kind": "derived",
                "text": "its constructor makes something of its parameters, which weights that are drawn afterwards do not reach",
            }
        )
    if _is_constant(model, inputs):
        more = grown()
        if not more:
            found.append(
                {"kind": "constant", "text": "at the smallest sizes the answer does not depend on the inputs"}
            )
        elif _is_constant(*more):
            found.append({"kind": "constant", "text": "the answer does not depend on the inputs"})
    return found
