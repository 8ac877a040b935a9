"""Indices among values that tie within their errors: each of the tied places is right.

An index of a sort, a top-k, an argmax or an argmin names values. An honest implementation may name any
place whose value is within both bounds of the best one. Each run takes one way through the ties, the
same for everything that is picked by the index. So a sum over sorted elements does not depend on the
order of equal ones.
"""

from __future__ import annotations

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


def candidates(index: Number, most: int) -> list[torch.Tensor] | None:
    """The places that the ambiguous elements of an index may name: `most` tensors at most, of the index's
    shape. None: there are more, or it is not known."""
    if index.names is None or index.open is None:
        return None
    x, along, _ = index.names
    dim = 0 if along is None else along % max(x.v.dim(), 1)

    def rows(t: torch.Tensor) -> torch.Tensor:
        """Row by row, with the index's dimension last."""
        if along is None:
            return t.reshape(1, -1)
        wide = t if t.dim() == x.v.dim() else t.unsqueeze(dim)
        return wide.movedim(dim, -1).reshape(-1, wide.shape[dim])

    values, off, at = rows(x.v), rows(or_zero(x.b, x.v.double()).expand(x.v.shape)), rows(index.v)
    row, place = rows(index.open.expand(index.v.shape)).nonzero(as_tuple=True)
    if row.numel() * values.shape[-1] > MOST or off.isnan().any():
        return None
    own = at[row, place]
    near = distance(values[row], values[row, own].unsqueeze(-1)) <= off[row] + off[row, own].unsqueeze(-1)
    count = int(near.sum(-1).max()) if row.numel() else 0
    if count > most:
        return None
    named = near.double().topk(count, -1)[1]
    found = []
    for k in range(count):
        other = at.clone()
        other[row, place] = torch.where(near.gather(-1, named[:, k : k + 1]).squeeze(-1), named[:, k], own)
        found.append(unrowed(other, index.v.shape, x.v.shape, along, dim))
    return found


def unrowed(t: torch.Tensor, shape: torch.Size, of: torch.Size, along: int | None, dim: int) -> torch.Tensor:
    """The inverse of putting an index row by row."""
    if along is None:
        return t.reshape(shape)
    rest = [n for d, n in enumerate(of) if d != dim]
    return t.reshape(*rest, t.shape[-1]).movedim(-1, dim).reshape(shape)
