"""Indices among values that tie within their errors: each of the tied places is right.

An index of a sort, a top-k, an argmax or an argmin names values. An honest implementation may name any
place whose value is within both bounds of the best one. Each run takes one way through the ties, the
same for everything that is picked by the index. So a sum over sorted elements does not depend on the
order of equal ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from .bounds import Ways
from .elementwise import or_zero
from .number import Context, Number, distance

MOST = 1 << 22  # elements of a table of ambiguous elements and the places that they may name


def ways(
    cx: Context, x: Number, f: Callable[[torch.Tensor], torch.Tensor], open_: torch.Tensor | None
) -> Ways:
    """The index f of x in each run. Values within twice their errors may change places."""
    kept: list[torch.Tensor] = []

    def found() -> list[torch.Tensor]:
        if not kept and open_ is not None:
            reach = 2 * or_zero(x.b, x.v.double()).nan_to_num(nan=0.0, posinf=0.0)
            v = f(x.v)
            for _ in range(cx.count):
                kept.append(torch.where(open_, f(x.v.double() + cx.noise(reach) * reach), v))
        return kept

    return found


class Tied:
    """The ambiguous elements of an index, row by row, and the places that each may name."""

    def __init__(self, index: Number) -> None:
        assert index.names is not None and index.open is not None
        self.index, (self.x, self.along, _) = index, index.names
        self.dim = 0 if self.along is None else self.along % max(self.x.v.dim(), 1)
        values, off = (
            self.rows(t.expand(self.x.v.shape)) for t in (self.x.v, or_zero(self.x.b, self.x.v.double()))
        )
        self.at = self.rows(index.v)
        self.row, self.place = self.rows(index.open.expand(index.v.shape)).nonzero(as_tuple=True)
        self.own, row = self.at[self.row, self.place], self.row
        self.is_known = row.numel() * values.shape[-1] <= MOST and not bool(off.isnan().any())
        if self.is_known:
            gap = distance(values[row], values[row, self.own].unsqueeze(-1))
            self.near = gap <= off[row] + off[row, self.own].unsqueeze(-1)

    def rows(self, t: torch.Tensor) -> torch.Tensor:
        """Row by row, with the index's dimension last."""
        if self.along is None:
            return t.reshape(1, -1)
        wide = t if t.dim() == self.x.v.dim() else t.unsqueeze(self.dim)
        return wide.movedim(self.dim, -1).reshape(-1, wide.shape[self.dim])

    def naming(self, places: torch.Tensor) -> torch.Tensor:
        """The index with other places at its ambiguous elements."""
        other, shape = self.at.clone(), self.index.v.shape
        other[self.row, self.place] = places
        if self.along is None:
            return other.reshape(shape)
        rest = [n for d, n in enumerate(self.x.v.shape) if d != self.dim]
        return other.reshape(*rest, other.shape[-1]).movedim(-1, self.dim).reshape(shape)


def candidates(index: Number, most: int) -> list[torch.Tensor] | None:
    """The places that the ambiguous elements of an index may name: `most` tensors at most, of the index's
    shape. None: there are more, or it is not known."""
    tied = Tied(index)
    count = int(tied.near.sum(-1).max()) if tied.is_known and tied.row.numel() else 0
    if not tied.is_known or count > most:
        return None
    named = tied.near.double().topk(count, -1)[1]
    is_near = tied.near.gather(-1, named)
    return [tied.naming(torch.where(is_near[:, k], named[:, k], tied.own)) for k in range(count)]


def ends(index: Number, x: Number, made: torch.Tensor) -> list[torch.Tensor] | None:
    """The places of the least and of the greatest element that each ambiguous element of an index may pick
    from x. None: `made` was not picked from x along the dimension of the index."""
    if index.names is None or index.ways is None or x.v.shape != index.names[0].v.shape or not x.is_float:
        return None
    tied = Tied(index)
    flat, dim = (x.v.reshape(-1), 0) if tied.along is None else (x.v, tied.dim)
    if not tied.is_known or index.v.dim() != flat.dim() or not torch.equal(made, flat.gather(dim, index.v)):
        return None
    values = tied.rows(x.v)[tied.row]
    least = torch.where(tied.near, values, math.inf).argmin(-1)
    return [tied.naming(least), tied.naming(torch.where(tied.near, values, -math.inf).argmax(-1))]
