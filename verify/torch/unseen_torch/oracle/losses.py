"""Rules of losses."""

from __future__ import annotations

import torch

from .bounds import Bound
from .elementwise import div, mul, neg, power, rule, sub
from .number import Context, Number, Operand, moved, same
from .sums import reduce


@rule("aten.mse_loss.default")
def mse(cx: Context, a: Operand, b: Operand, reduction: int = 1) -> Number:
    each = power(cx, sub(cx, a, b), 2)
    return each if reduction == 0 else reduce(cx, each, None, False, mean=reduction == 1)


@rule("aten.smooth_l1_loss.default", "aten.huber_loss.default")
def smooth_l1(cx: Context, a: Operand, b: Operand, reduction: int = 1, beta: float = 1.0) -> Number:
    d = sub(cx, a, b)
    scale = 1.0 if "huber" in cx.name else 1.0 / beta

    def f(t: torch.Tensor) -> torch.Tensor:
        return scale * torch.where(t.abs() < beta, 0.5 * t * t, beta * (t.abs() - 0.5 * beta))

    v = f(d.v)

    def propagated(level: int) -> Bound:
        e = d.error(level)
        return None if e is None else scale * (d.v.abs() + e).clamp(max=beta) * e

    each = cx.out(
        v, propagated, lambda u: 4 * u * (v + scale * beta * 0.5 * beta * (d.v.abs() >= beta)), moved(f, d)
    )
    return each if reduction == 0 else reduce(cx, each, None, False, mean=reduction == 1)


@rule("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def nll(
    cx: Context, x: Number, target: Number, weight: Number | None, reduction: int, ignore: int
) -> tuple[Number, Number | None]:
    """Returns (loss, total weight of the counted elements). Classes are along dimension 1, or the only one."""
    kept = target.v != ignore
    at = torch.where(kept, target.v, 0)
    dim = 1 if x.v.dim() > 1 else 0
    each = neg(cx, same(lambda t: t.gather(dim, at.unsqueeze(dim)).squeeze(dim), x))
    total = Number(kept.sum().double(), whole=True) if weight is None else None
    if weight is None and bool(kept.all()):
        return (each if reduction == 0 else reduce(cx, each, None, False, mean=reduction == 1)), total

    def counted(t: torch.Tensor) -> torch.Tensor:
        return torch.where(kept, t, torch.zeros_like(t))

    if weight is not None:
        weight = same(lambda t: counted(t[at]), weight)
        each = mul(cx, each, weight)
        total = reduce(cx, weight, None, False)
    each = same(counted, each)
    if reduction != 1:
        return (each if reduction == 0 else reduce(cx, each, None, False)), total
    # The mean of no elements is NaN.
    assert total is not None
    return div(cx, reduce(cx, each, None, False), float(total.v) if weight is None else total), total
