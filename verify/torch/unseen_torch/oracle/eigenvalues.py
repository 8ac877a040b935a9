"""Eigenvalues of matrices that need not be symmetric.

They have no order, so each run has them in an order of its own. A result that does not depend on it has
a small spread (the greatest magnitude, a sum, a product), and any other one cannot be told.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .algebra import infinite_where, of_matrix
from .bounds import Function
from .complexes import Complex, complex_rule
from .factors import Bounds, Tensor, error_in_norm, levels, nearby, norms
from .number import OUTWARD, Context, Number, Unsupported


def radii(A: Number, level: int, u: float, values: Tensor, V: Tensor) -> Tensor:
    """How far each eigenvalue may move. The i-th disk of Gershgorin for V^-1 (A + E) V has the radius
    sqrt(n) |y_i||E||V|, where y_i is the i-th row of V^-1. It has one eigenvalue if it meets no other
    disk."""
    left, info = torch.linalg.inv_ex(V)
    size = norms(left, -1).squeeze(-1) * torch.linalg.matrix_norm(V, 2)[..., None]
    r = math.sqrt(V.shape[-1]) * size * error_in_norm(A, level, u)[..., None] * OUTWARD
    apart = (values.unsqueeze(-1) - values.unsqueeze(-2)).abs()
    apart = apart + torch.diag_embed(torch.full_like(r, math.inf))
    alone = (apart > r.unsqueeze(-1) + r.unsqueeze(-2)).all(-1) & (info == 0).unsqueeze(-1)
    return infinite_where(~alone, r)


@complex_rule("linalg_eig", "linalg_eigvals", "_linalg_eigvals")
def eigenvalues(cx: Context, A: Any) -> Any:
    if isinstance(A, Complex):
        raise Unsupported("eigenvalues of a complex matrix")
    if "linalg_eig." in cx.name and 1 in cx.wanted:
        raise Unsupported(
            "eigenvectors of a matrix that need not be symmetric: they have no order and no phase"
        )
    A = of_matrix(A)
    values, V = torch.linalg.eig(A.v)
    other = (values.unsqueeze(-1) - values.unsqueeze(-2)).abs().amax(-1)  # any other place
    full: Bounds = {}
    for level, u in levels(cx):
        full[level] = radii(A, level, u, values, V) + (other if level == 1 else 0)

    def mixed(i: int) -> Tensor:
        found = torch.linalg.eigvals(nearby(cx, A, i))
        there: Tensor = found.gather(-1, cx.noise(found.real).argsort(-1))
        return there

    runs = [mixed(i) for i in range(cx.count)]

    def part(of: Function) -> Number:
        run = (lambda i: of(runs[i])) if runs else None
        return cx.out(of(values), full.get, lambda u: 0, run, lambda u: u * values.abs())

    made = Complex(part(torch.real), part(torch.imag))
    return (made, None) if "linalg_eig." in cx.name else made
