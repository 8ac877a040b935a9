"""Rules of Householder's reflectors: H_i = I - tau_i v_i v_i^T, where v_i is 0 above its place i and 1
there.

A kernel may apply them one after another, or several as I - V T V^T. LAPACK's own sign of each
reflector is part of PyTorch's definition of `geqrf`: the diagonal element becomes the column's norm
with the opposite sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from .algebra import MORE, of_matrix, turned
from .elementwise import or_zero, rule
from .factors import NORMWISE, TINY, Bounds, Orthogonal, Tensor, identity, levels, moved_factors, norms
from .number import CALIBRATED, OUTWARD, Context, Number, Unsupported, same, unit_of

TURNS = 2.0**-6  # |tau v^T v - 2| up to here: a reflection, in any arithmetic


def lower(a: Tensor, count: int) -> Tensor:
    """The vectors v_i in columns."""
    v = a[..., :count].tril(-1)
    found: Tensor = v + torch.eye(*v.shape[-2:], dtype=v.dtype, device=v.device)
    return found


def reflected(vectors: Tensor, tau: Tensor, C: Tensor, order: Sequence[int], noise: object = None) -> Tensor:
    """Applies reflectors to the columns of C, one after another."""
    for i in order:
        v, t = vectors[..., i : i + 1], tau[..., i, None, None]
        made = C - t * v @ (turned(v) @ C)
        if callable(noise):
            made = made + noise(C.abs() + 2 * t.abs() * v.abs() * (norms(v, -2) * norms(C, -2)))
        C = made
    return C


class Applied:
    """A product of reflectors with C, and bounds by norms. |H_i| <= 1 for a reflection; for any other
    vectors |H_i| <= 1 + |tau_i||v_i|^2. H_i rounds by m u |tau_i||v_i|^2, beside the errors of tau and
    v."""

    def __init__(self, cx: Context, a: Number, tau: Number, C: Number, backwards: bool) -> None:
        a, tau, C = of_matrix(a), of_matrix(tau), of_matrix(C)
        self.cx, self.a, self.tau, self.C = cx, a, tau, C
        self.count = tau.v.shape[-1]
        self.order = range(self.count - 1, -1, -1) if backwards else range(self.count)

    def grown(self, level: int, u: float) -> tuple[Tensor, Tensor]:
        """(product of all |H_i|, the same with their errors)"""
        v, t = lower(self.a.v, self.count), self.tau.v.abs()
        e_v = norms(or_zero(self.a.error(level), self.a.v)[..., : self.count].tril(-1), -2).squeeze(-2)
        e_t, size = or_zero(self.tau.error(level), t), norms(v, -2).squeeze(-2)
        whole = t * size * size
        most = torch.where(((whole - 2).abs() < TURNS) | (t == 0), 1.0, 1 + whole)
        off = e_t * (size + e_v) ** 2 + t * e_v * (2 * size + e_v)
        off = off + (v.shape[-2] + MORE) * u * (1 + 2 * whole)
        return most.prod(-1)[..., None, None], (most + off).prod(-1)[..., None, None]

    def result(self) -> Number:
        cx, unit = self.cx, unit_of(self.cx.dtype)
        v = reflected(lower(self.a.v, self.count), self.tau.v, self.C.v, self.order)
        full: Bounds = {}
        for level, u in levels(cx):
            plain, most = self.grown(level, u)
            e = norms(or_zero(self.C.error(level), self.C.v), -2)
            full[level] = (((most - plain) * norms(self.C.v, -2) + most * e) * OUTWARD).expand(v.shape)

        def run(i: int) -> Tensor:
            vectors = lower(self.a.run(i), self.count)
            return reflected(
                vectors, self.tau.run(i), self.C.run(i), self.order, lambda size: cx.noise(size) * unit * size
            )

        return cx.out(v, full.get, lambda u: 0, run if cx.count else None, lambda u: u * v.abs())


@rule("aten.linalg_householder_product.default")
def householder_product(cx: Context, a: Number, tau: Number) -> Number:
    m, n = a.v.shape[-2:]
    columns = identity(tau.v, m)[:, :n].expand(a.v.shape)
    return Applied(cx, a, tau, Number(columns, whole=True), True).result()


@rule("aten.ormqr.default")
def apply(
    cx: Context, a: Number, tau: Number, C: Number, left: bool = True, transpose: bool = False
) -> Number:
    if not left:
        return same(turned, apply(cx, a, tau, same(turned, of_matrix(C)), True, not transpose))
    return Applied(cx, a, tau, C, not transpose).result()


class Reflectors:
    """The result of geqrf. Its first p columns of Q give V and tau: Q - I = V U is a factorization without
    pivots, and U has the diagonal -tau (G. Ballard et al., IPDPS 2014). So a change of Q bounds that of
    V and tau."""

    def __init__(self, cx: Context, A: Number) -> None:
        self.cx, self.A = cx, of_matrix(A)
        m, n = A.v.shape[-2:]
        # the last row of a matrix has nothing below to reflect
        self.k, self.p = min(m, n), min(m - 1, n)
        self.a, self.tau = torch.geqrf(self.A.v)
        self.off_a: Bounds = {}
        self.off_tau: Bounds = {}
        for level, u in levels(cx):
            self.bounds(level, u)
        size = (unit_of(cx.dtype) * 2 * math.sqrt(self.k) * norms(self.A.v, -2)).clamp(min=TINY)
        self.runs = [torch.geqrf(self.A.run(i) + cx.noise(self.A.v) * size) for i in range(cx.count)]
        self.check()

    def bounds(self, level: int, u: float) -> None:
        A, k, p, m = self.A, self.k, self.p, self.a.shape[-2]
        e = norms(or_zero(A.error(level), A.v), -2) + NORMWISE * max(A.v.shape[-2:]) * u * norms(A.v, -2)
        columns = identity(self.a, m)[:, :k].expand(*self.a.shape[:-1], k)
        Q = reflected(lower(self.a, k), self.tau, columns, range(k - 1, -1, -1))
        of = Orthogonal(A.v, Q, self.a.triu()[..., :k, :], e)
        V = lower(self.a, p)
        above = (Q - columns)[..., :p, :p]
        U = torch.linalg.solve_triangular(V[..., :p, :], above, upper=False, unitriangular=True).triu()
        off_V, off_U = moved_factors(V, U, of.of_Q[..., :p])
        off = torch.zeros_like(self.a)
        off[..., :k, :] = of.of_R.triu()
        off[..., :p] += off_V
        self.off_a[level] = off
        off_tau = off_U.diagonal(dim1=-2, dim2=-1)
        self.off_tau[level] = torch.nn.functional.pad(off_tau, (0, k - p))

    def check(self) -> None:
        """Refuses a sign that rounding may choose: the element on the diagonal is (tau - 1) |r| before its
        step, and may be 0. Its error is bounded, or 8 times the spread of the runs if that is less."""
        off = self.off_tau[1]
        if self.runs:
            spread = torch.stack([(tau - self.tau).square() for _, tau in self.runs]).mean(0)
            off = torch.minimum(off, CALIBRATED * torch.maximum(spread, spread.mean()).sqrt())
        if bool((self.tau - 1 <= off)[..., : self.p].any()):
            raise Unsupported("reflectors of a QR factorization whose signs rounding may choose otherwise")

    def part(self, v: Tensor, full: Bounds, which: int) -> Number:
        runs = (lambda i: self.runs[i][which]) if self.cx.count else None
        return self.cx.out(v, full.get, lambda u: 2 * u * v.abs(), runs, lambda u: u * v.abs())


@rule("aten.geqrf.default")
def geqrf(cx: Context, A: Number) -> tuple[Number, Number]:
    made = Reflectors(cx, A)
    return made.part(made.a, made.off_a, 0), made.part(made.tau, made.off_tau, 1)
