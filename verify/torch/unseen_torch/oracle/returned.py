"""Answers that depend on what was returned: where several are right, the returned one decides which is
expected.

Indices may name any of equal values. The vectors of a factorization may have either sign, as long as
all factors agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .number import APART, FIRST, STABLE, Number, distance

if TYPE_CHECKING:
    from .evaluate import Judged


class Signs:
    """The elements of a factor that change their sign together. Factors of one matrix have a common
    `group`."""

    def __init__(self, group: object, ids: torch.Tensor, bound: torch.Tensor) -> None:
        self.group, self.ids, self.bound = group, ids, bound

    def moved(self, f: Callable[[torch.Tensor], torch.Tensor]) -> Signs:
        """The same for a result that moves elements by f."""
        return Signs(self.group, f(self.ids), f(self.bound))

    def settled(self, x: Number) -> Number:
        """x with the signs of its value in every run, and with the bound of one choice of signs."""
        runs = [p * chosen([(self, p, x.v)], self) for p in x.runs or ()]
        runs = [torch.where(self.bound.isinf(), math.nan, p) for p in runs]  # these may be anything
        return Number(x.v, x.r, self.bound, runs or None)


# Operations whose result changes its sign with their operand.
ODD = ("neg", "_to_copy", "mul", "div")


def follow(kind: str, args: Sequence[Any], result: Any, again: Callable[[Number], Number]) -> None:
    """Keeps the signs of a factor that is negated, scaled or cast."""
    x = args[0] if args else None
    if kind not in ODD or not isinstance(x, Number) or x.signs is None or result is x:
        return
    if isinstance(result, Number) and not any(isinstance(a, Number) for a in args[1:]):
        bound = again(x.signs.settled(x)).b
        result.signs = Signs(x.signs.group, x.signs.ids, x.signs.bound * 0 if bound is None else bound)


def chosen(factors: Sequence[tuple[Signs, torch.Tensor, torch.Tensor]], own: Signs) -> torch.Tensor:
    """For each element of the factor `own`, 1 or -1: the signs with which the expected factors are
    nearest to the returned ones. `factors` are (Signs, expected, returned)."""
    total = own.ids.new_zeros(max(int(s.ids.max()) for s, _, _ in factors) + 1)
    for signs, want, got in factors:
        total.index_add_(0, signs.ids.reshape(-1).long(), (want * got.double()).nan_to_num(0.0).reshape(-1))
    return torch.where(total < 0, -1.0, 1.0)[own.ids.long()]


def wanted(judged: Sequence[Judged], got: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
    """The expected values of all outputs, given the returned ones."""
    groups: dict[object, Any] = {}
    for j, g in zip(judged, got):
        if j.signs is not None and g is not None and g.shape == j.want.shape and g.numel():
            groups.setdefault(j.signs.group, []).append((j.signs, j.want, g.to(j.want.device)))
    found = []
    for j, g in zip(judged, got):
        factors = groups.get(j.signs.group) if j.signs is not None else None
        if g is not None and not j.number.is_float and not g.is_floating_point():
            found.append(judge_index(j, g))
        elif factors and j.signs is not None:
            found.append(j.want * chosen(factors, j.signs))
        else:
            found.append(j.want)
    return found


def judge_index(judged: Judged, got: torch.Tensor) -> torch.Tensor:
    """Judges indices. An index is right if the value that it names is within the bounds of the best
    one. Among equal values without error (elements of an input), it must name the one that PyTorch's
    documentation promises.

    Returns `want`, with every right index of the candidate in its place.
    """
    number = judged.number
    want: torch.Tensor = judged.want
    if number.names is None:
        return want
    values, along, ties = number.names
    dim = 0 if along is None else along
    x, b = values.v, values.b
    if along is None:
        x, b = x.reshape(-1), None if b is None else b.reshape(-1)

    def widen(t: torch.Tensor) -> torch.Tensor:
        if along is None:
            return t.reshape(-1)
        return t if number.v.dim() == values.v.dim() else t.unsqueeze(dim)

    best, named = widen(number.v), widen(got)
    inside = (named >= 0) & (named < x.shape[dim])
    at = torch.where(inside, named, best)
    gap = distance(x.gather(dim, at), x.gather(dim, best))
    reach = torch.zeros_like(gap) if b is None else b.gather(dim, at) + b.gather(dim, best)
    right = inside & (gap <= reach)
    if ties in (FIRST, STABLE):
        right &= (reach > 0) | (at == best)
    if ties in (APART, STABLE):
        right &= ~named_twice(named, dim)
    return torch.where(right.reshape(got.shape), got, number.v).double()


def named_twice(index: torch.Tensor, dim: int) -> torch.Tensor:
    order = index.argsort(dim=dim, stable=True)
    same = index.gather(dim, order).diff(dim=dim) == 0
    edge = torch.zeros_like(order.narrow(dim, 0, min(1, order.shape[dim])), dtype=torch.bool)
    return torch.zeros_like(order, dtype=torch.bool).scatter(
        dim, order, torch.cat([edge, same], dim) | torch.cat([same, edge], dim)
    )
