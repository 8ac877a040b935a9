"""Faults of normalizations: moments over too few elements or with a wrong divisor; wrong epsilon, scale or shift."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from ..oracle.eager import Change, computed
from ..oracle.graph import packet
from .op_mutations import Absent, Keep, Mutation, lengths, power_above, stored


class Parts(NamedTuple):
    """x with a normalized group per row, the inverse reshape, and the other operands."""

    rows: torch.Tensor
    back: Callable[[torch.Tensor], torch.Tensor]
    weight: torch.Tensor | None
    bias: torch.Tensor | None
    eps: float


def parts(node: torch.fx.Node, args: list[Any]) -> Parts:
    name = packet(node)
    x: torch.Tensor = args[0]
    if name == "native_layer_norm":
        width = 1
        for extent in args[1]:
            width *= extent

        def flat(t: torch.Tensor | None) -> torch.Tensor | None:
            return None if t is None else t.reshape(1, -1)

        return Parts(
            x.reshape(-1, width), lambda y: y.reshape(x.shape), flat(args[2]), flat(args[3]), args[4]
        )
    if name == "native_group_norm":
        count, channels, groups = x.shape[0], args[3 + 1], args[6]
        rows = x.reshape(count * groups, -1)

        def wide(t: torch.Tensor | None) -> torch.Tensor | None:
            return (
                None
                if t is None
                else t.reshape(1, groups, channels // groups, 1)
                .expand(count, groups, channels // groups, rows.shape[1] // (channels // groups))
                .reshape(rows.shape)
            )

        return Parts(rows, lambda y: y.reshape(x.shape), wide(args[1]), wide(args[2]), args[7])
    if not args[5]:
        raise Absent  # with running statistics it is an affine map
    moved = x.transpose(0, 1)
    rows = moved.reshape(x.shape[1], -1)

    def column(t: torch.Tensor | None) -> torch.Tensor | None:
        return None if t is None else t.reshape(-1, 1)

    return Parts(
        rows,
        lambda y: y.reshape(moved.shape).transpose(0, 1).contiguous(),
        column(args[1]),
        column(args[2]),
        args[7],
    )


def normalized(
    kept: Keep | None = None,
    count: Keep | None = None,
    eps: float | None = None,
    scaled: bool = True,
    shifted: bool = True,
    one_less: bool = False,
) -> Change:
    def change(node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        rows, back, weight, bias, given = parts(node, args)
        n = rows.shape[1]
        keep = n if kept is None else kept(n)
        by = keep if count is None else count(n)
        if one_less:
            by = n - 1
        if by <= 0:
            raise Absent
        if (keep, by) == (n, n) and eps is None and scaled and shifted:
            raise Absent
        if (not scaled and weight is None and shifted) or (not shifted and bias is None and scaled):
            raise Absent
        some = rows[:, :keep]
        mean = some.sum(1, True) / (n if one_less else by)
        variance = ((some - mean) ** 2).sum(1, True) / by
        made = (rows - mean) * torch.rsqrt(variance + (given if eps is None else eps))
        if weight is not None and scaled:
            made = made * weight
        if bias is not None and shifted:
            made = made + bias
        first = back(made)
        rest = computed(node, args, named)[1:]
        return (first, *rest)

    return change


def norms(node: torch.fx.Node) -> Iterator[Mutation]:
    for text, kept in lengths():
        yield f"moments: elements {text}", normalized(kept)
    yield "moments divided by the next power of two", normalized(count=power_above)
    yield "variance divided by one less", normalized(one_less=True)
    yield "epsilon left out", normalized(eps=0.0)
    yield "epsilon of 1e-3", normalized(eps=1e-3)
    yield "scale left out", normalized(scaled=False)
    yield "shift left out", normalized(shifted=False)
    yield "stored as bf16", stored(torch.bfloat16)
