"""Finds the domains of a task's inputs and its weights, by real runs at small sizes.

Domains are:

- real: any number.
- positive, negative: the author keeps it on one side of 0, as a scale or the logarithm of a decay.
- nonnegative: as nonnegative.py finds them.
- index: whole numbers below a bound.
- flag: 0 or 1; sign: -1 or 1.
- simplex: positive, with rows that sum to 1.
- triu, tril, symmetric: matrices of that structure.
- the domains of computed.py.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch

from . import effects
from .observed import Draw, Law, Number, Step
from .source import Instance


def domain(value: torch.Tensor, law: Law) -> str:
    """Returns the domain of an input with real values."""
    if value.dtype == torch.bool:
        return "flag"
    if not value.dtype.is_floating_point:
        return "index"
    x = value.double()
    values = set(x.flatten()[:4096].tolist())
    if x.numel() >= 2 and values <= {-1.0, 1.0}:
        return "sign"
    if x.numel() >= 2 and values <= {0.0, 1.0}:
        return "flag"
    if law.bound is not None and is_drawn_whole(law.calls) and law.calls[0] == "randint":
        return "index"  # whole numbers, held as floats
    if x.dim() >= 2 and x.shape[-1] == x.shape[-2] and x.shape[-1] > 2:
        if torch.equal(x, x.triu()):
            return "triu"
        if torch.equal(x, x.tril()):
            return "tril"
        if torch.equal(x, x.transpose(-1, -2)):
            return "symmetric"
    if is_simplex(law.calls):
        return "simplex"
    kind, low, high = drawn_range(law.steps) or ("none", 0, 0)
    return "real" if kind != "uniform" or low <= 0 < high else "positive" if low > 0 else "negative"


MOVES = set(
    """detach clone alias _to_copy contiguous view reshape expand transpose permute t unsqueeze squeeze
slice select _unsafe_view repeat lift_fresh copy""".split()
)


# operations whose rows sum to 1; rows of log_softmax do not
SIMPLEX = {"softmax", "_softmax", "_safe_softmax"}


def is_simplex(calls: list[str]) -> bool:
    """Tells whether rows sum to 1 after the last call, disregarding calls that only move elements."""
    made = [call.rstrip("_") for call in calls if call.rstrip("_") not in MOVES and call not in MOVES]
    return bool(made) and made[-1] in SIMPLEX


WHOLE = {"randint", "randint_like", "random", "randperm", "sort"}


def is_drawn_whole(calls: list[str]) -> bool:
    """Tells whether these are whole numbers as drawn, at most reordered. Computed ones (tokens per expert, starts of
    sequences) follow rules of their own."""
    return all(call in WHOLE | MOVES or call.rstrip("_") in WHOLE | MOVES for call in calls)


def drawn_range(steps: Sequence[Step]) -> Draw | None:
    """Returns ("uniform", low, high) or ("normal", mean, deviation) of an input from the calls that drew it. Returns
    None for other calls."""
    found: Draw | None = None
    for step in steps:
        call, numbers = step.call.rstrip("_"), step.numbers
        if call in ("rand", "randn", "uniform", "normal"):
            given = (numbers or [])[:2]
            a, b = given if call in ("uniform", "normal") and len(given) == 2 else (0, 1)
            found = "uniform" if call in ("rand", "uniform") else "normal", float(a), float(b)
        elif call in MOVES:
            continue
        elif found is None or (call != "neg" and not numbers):
            return None
        else:
            found = _scaled(found, call, numbers)
            if found is None:
                return None
    return found


MIXING = {
    *"""mm bmm matmul baddbmm addmm log_softmax _log_softmax logcumsumexp prod nansum sum mean cumsum
cumprod sort cat stack index_put linalg_vector_norm norm amax amin var std logsumexp linalg_qr
linalg_cholesky_ex tril triu gather""".split(),
    *SIMPLEX,
}


MARKING = set(
    """arange logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not scatter index_fill
masked_fill""".split()
)


# Functions that keep numbers on one side of 0 or within bounds. Beyond such bounds a decay, for example, grows
# without limit.
SHAPING = set(
    """exp softplus sigmoid log_sigmoid log_sigmoid_forward logsigmoid abs square relu clamp clamp_min
clamp_max tanh sqrt rsqrt log pow""".split()
)


# Draws of other distributions than the uniform and the normal one. Only get_inputs itself draws from them.
OTHER_DRAWS = set("exponential log_normal geometric poisson cauchy _standard_gamma _sample_dirichlet".split())


def is_computed(calls: list[str], domain: str) -> bool:
    """Tells whether get_inputs makes elements depend on each other, bounds them, or draws them, in a way that no
    domain preserves."""
    names = {call.rstrip("_") for call in calls} | set(calls)
    return (
        domain in ("real", "positive", "negative", "simplex")
        and bool(names & (MIXING if domain == "simplex" else MIXING | SHAPING | OTHER_DRAWS))
    ) or (domain == "flag" and bool(names & (MIXING | MARKING)))


RUNS = 24


Steady = list[
    Optional[tuple[torch.Tensor, torch.Tensor]]
]  # numbers, and a mask of those that are in every draw


def steady(instance: Instance) -> Steady:
    """Draws inputs several times. Returns the elements that are equal in every draw."""
    found: Steady = []
    for run in range(RUNS):
        torch.manual_seed(1000 + run)
        values = [v if isinstance(v, torch.Tensor) else None for v in instance.inputs()]
        if run == 0:
            found = [None if v is None else (v, torch.ones_like(v, dtype=torch.bool)) for v in values]
        for one, value in zip(found, values):
            if one is not None and value is not None and one[0].shape == value.shape:
                one[1].logical_and_(one[0] == value)
    return found


def held(found: Steady, has_infinities: bool = True) -> set[int]:
    """Returns the inputs that have some elements equal in every draw and others that vary. get_inputs sets the
    equal ones then. Infinities among them count with `has_infinities` only: they are markers."""
    return {
        i
        for i, one in enumerate(found)
        if one is not None
        and not bool(one[1].all())
        and bool((one[1] if has_infinities else one[1] & ~one[0].isinf()).any())
    }


def linked(laws: list[Law]) -> set[int]:
    """Returns the inputs that share a draw with another input."""
    return {i for i, a in enumerate(laws) for j, b in enumerate(laws) if i != j and a.roots & b.roots}


def separable(laws: list[Law]) -> list[int]:
    """Returns the inputs from which no other one follows: each one that shares a draw has a draw of its
    own, as tokens that are sampled from probabilities."""
    return [
        i
        for i, a in enumerate(laws)
        if all(b.roots - a.roots for j, b in enumerate(laws) if i != j and a.roots & b.roots)
    ]


def _scaled(found: Draw, call: str, numbers: list[Number] | None) -> Draw | None:
    """Returns the range after one operation with a number."""
    kind, a, b = found
    by = numbers[0] if numbers else 0
    if call == "neg" or call == "rsub":
        a, b = (by - b, by - a) if kind == "uniform" else (by - a, b)
    elif call in ("add", "sub"):
        by = by if call == "add" else -by
        a, b = (a + by, b + by) if kind == "uniform" else (a + by, b)
    elif call in ("mul", "div") and by != 0:
        by = by if call == "mul" else 1 / by
        a, b = (a * by, b * by) if kind == "uniform" else (a * by, b * abs(by))
        a, b = (min(a, b), max(a, b)) if kind == "uniform" else (a, b)
    else:
        return None
    return kind, a, b


# Input classes beside the published one, with magnitudes to try. The first magnitude at which nothing overflows is
# used.
CLASSES = {"signed": (5,), "wide": (64, 16, 4), "needle": (30,), "integers": (8,)}


def _variants(value: torch.Tensor, kind: str, most: int) -> torch.Tensor:
    """Draws values of an input class in place of a real input."""
    shape, dtype = value.shape, value.dtype
    if kind == "signed":
        return torch.randn(shape).to(dtype)
    if kind == "wide":
        return (torch.randn(shape).sign() * torch.exp2(torch.rand(shape) * (math.log2(most) + 6) - 6)).to(
            dtype
        )
    if kind == "needle":
        x = torch.randn(shape)
        if x.numel():
            x.view(-1)[-1] = most
        return x.to(dtype)
    return torch.randint(-most, most + 1, shape).to(dtype)


def _ends(value: torch.Tensor, most: int, signs: bool) -> torch.Tensor:
    """Returns values near the class's greatest magnitude, with one sign or with both. Equal ones have no deviation to
    divide by, and no draw of the class has equal ones alone."""
    whole = most * (1 - torch.rand(value.shape) / 16)
    return (whole * torch.where(torch.rand(value.shape) < 0.5, -1.0, 1.0) if signs else whole).to(value.dtype)


def outputs_at(model: torch.nn.Module, inputs: list[Any]) -> list[torch.Tensor] | None:
    """Returns the outputs of a copy of the model, or None if it raises."""
    torch.manual_seed(4)
    try:
        with torch.no_grad():
            return effects.outputs(copy.deepcopy(model), [copied(v) for v in inputs])
    except Exception:
        return None


def is_infinite_alike(outputs: list[torch.Tensor], expected: list[torch.Tensor]) -> bool:
    """Tells whether infinite elements are those of `expected` and none is NaN. A mask of -inf, given by an input,
    stays in the answer."""

    def infinite(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x.isfinite(), 0.0, x)

    return all(
        a.shape == b.shape
        and not bool(a.isnan().any())
        and torch.equal(infinite(a.double()), infinite(b.double()))
        for a, b in zip(outputs, expected)
    )


def _is_masked_alike(outputs: list[torch.Tensor], published: list[torch.Tensor]) -> bool:
    """Tells whether as many elements as in `published` are -inf and all others are finite. A mask that depends on
    values (the best groups) moves with the inputs."""
    masked = [(a == -math.inf, b == -math.inf) for a, b in zip(outputs, published)]
    return all(a.shape == b.shape and int(a.sum()) == int(b.sum()) for a, b in masked) and all(
        bool((o.double().isfinite() | a).all()) for o, (a, _) in zip(outputs, masked)
    )


def is_told(outputs: list[torch.Tensor], published: list[torch.Tensor] | None) -> bool:
    """Tells whether the outputs are finite, except for elements that are also infinite in `published`, the outputs
    for the published inputs."""
    finite = all(bool(o.double().isfinite().all()) for o in outputs)
    return finite or (
        published is not None
        and (is_infinite_alike(outputs, published) or _is_masked_alike(outputs, published))
    )


def _is_finite(model: torch.nn.Module, inputs: list[Any], published: list[Any]) -> bool:
    """Tells whether the outputs are finite, except for elements that the published inputs also make infinite or NaN."""
    outputs, expected = outputs_at(model, inputs), outputs_at(model, published)
    if outputs is None:
        return False
    if expected is not None and all(a.shape == b.shape for a, b in zip(outputs, expected)):
        kept = [~(a.isnan() & b.isnan()) for a, b in zip(outputs, expected)]
        outputs, expected = ([o[k] for o, k in zip(of, kept)] for of in (outputs, expected))
    return is_told(outputs, expected)


def allowed_classes(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> dict[str, int]:
    """Returns `{class: its greatest magnitude}` of the classes on which the outputs stay finite.

    A class is tried on one draw. `wide` is also tried with all elements at its greatest magnitude. Otherwise exp(s) *
    exp(s) would overflow in some draws and exp(2 s) in others.
    """
    allowed: dict[str, int] = {}
    if "real" not in domains:
        return allowed

    def real(make: Callable[[torch.Tensor], torch.Tensor]) -> list[Any]:
        return [make(v) if d == "real" else v for v, d in zip(inputs, domains)]

    for kind, magnitudes in CLASSES.items():
        for most in magnitudes:
            ends = [real(lambda v: _ends(v, most, signs)) for signs in (True, False) if kind == "wide"]
            if all(
                _is_finite(model, given, inputs)
                for given in [real(lambda v: _variants(v, kind, most)), *ends]
            ):
                allowed[kind] = most
                break
    return allowed


def one_sided(model: torch.nn.Module, inputs: list[Any], domains: list[str]) -> list[str]:
    """Returns the domains after replacing `real` by `positive` where negative numbers give no finite answer. Only
    inputs that get_inputs draws at or above 0 qualify, such as a mean of squares under a root."""

    def takes(told: list[str]) -> bool:
        return _is_finite(
            model, [_variants(v, "signed", 1) if d == "real" else v for v, d in zip(inputs, told)], inputs
        )

    if "real" not in domains or takes(domains):
        return domains
    may_be = [
        i
        for i, (v, d) in enumerate(zip(inputs, domains))
        if d == "real" and v.numel() and float(v.min()) >= 0
    ]
    for chosen in [[i] for i in may_be] + [may_be]:
        told = ["positive" if i in chosen else d for i, d in enumerate(domains)]
        if takes(told):
            return told
    return domains


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def weight_law(
    name: str, tensor: torch.Tensor, is_parameter: bool, again: torch.Tensor, is_drawn: bool = False
) -> tuple[str, float | str, float]:
    """Returns (kind, scale, shift) of one weight.

    `again` is the same weight of a second construction with another seed. `is_drawn` tells whether a drawing function
    such as torch.randn returned it, rather than an initializer of a layer filling it.
    """
    last = name.rsplit(".", 1)[-1]
    if not is_parameter and last not in ("running_mean", "running_var"):
        return "constructed", 1.0, 0.0
    if last == "running_mean":
        return "mean", 0.25, 0.0
    if last == "running_var":
        return "variance", 0.5, 0.5
    x = tensor.detach().double()
    if x.numel() and torch.equal(tensor, again):  # equal in every construction: an affine parameter
        constant = x.flatten()[0].item()
        if constant == 0:
            return "bias", 0.25, 0.0
        return "scale", 0.25 * abs(constant), constant
    both = torch.cat([x.flatten(), again.detach().double().flatten()])
    if not both.numel():
        return "weight", 1.0, 0.0
    is_normal = (is_drawn and both.min() < 0) or _is_normal(both)
    if x.dim() >= 2 and not is_normal:
        return "weight", "fan", 0.0
    if x.dim() < 2 and last.startswith("bias") and not is_drawn and x.abs().max() < 1:
        return "bias", 0.1, 0.0
    deviation = both.std().item()
    if is_drawn and is_normal and abs(deviation - 1) < 3 / math.sqrt(2 * both.numel()):
        deviation = 1.0  # torch.randn's deviation, which few elements estimate badly
    return "other", float(f"{max(deviation, 1e-3):.1g}"), 0.0


def _is_normal(x: torch.Tensor) -> bool:
    """Tells whether values exceed the range of a uniform draw with that deviation."""
    return x.numel() > 16 and bool(x.abs().max() > 1.9 * x.std())
