"""Rules of factorizations: QR, singular vectors, eigenvectors of symmetric matrices, LU with pivots.

A computed factorization is that of a nearby matrix A + E. Its factors are those of A within the bounds
below. The vectors of QR, singular and eigenvalue factorizations may have either sign. Runs draw the
signs at random: a result that does not depend on them has a small spread (Q R, a projection), and any
other result cannot be told. A factor that is returned as it is gets the signs that were returned
(returned.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .algebra import (
    MORE,
    endless,
    infinite_where,
    none_wrong,
    of_matrix,
    solve_triangle,
    triangle,
    turned,
    values_of,
)
from .elementwise import or_zero, rule
from .number import CALIBRATED, OUTWARD, U64, Context, Number, Unsupported, same, unit_of
from .returned import Signs

Tensor = torch.Tensor
Bounds = dict[int, torch.Tensor]  # by level
Factors = tuple[Any, ...]
NORMWISE = 8  # units by which each dimension may add to a matrix's relative error in norm
TINY = 2.0**-100


def norms(t: Tensor, dim: int) -> Tensor:
    found: Tensor = torch.linalg.vector_norm(t, dim=dim, keepdim=True)
    return found


def identity(t: Tensor, n: int) -> Tensor:
    return torch.eye(n, dtype=torch.float64, device=t.device)


def beyond(t: Tensor, count: int) -> Tensor:
    """Bounds of all vectors of a complete basis: every basis of the rest is right."""
    return torch.nn.functional.pad(t, (0, count - t.shape[-1]), value=math.inf)


def turned_rest(cx: Context, t: Tensor, known: int) -> Tensor:
    """A complete basis of a run, with another basis of the rest."""
    rest = t[..., known:]
    if not rest.shape[-1]:
        return t
    basis, _ = torch.linalg.qr(cx.noise(turned(rest) @ rest))
    return torch.cat([t[..., :known], rest @ basis], -1)


class Vectors:
    """Vectors that may have either sign, and one sign for each vector in every run."""

    def __init__(self, cx: Context, shape: Sequence[int], count: int) -> None:
        self.cx, self.group = cx, object()
        lead = math.prod(shape[:-2])
        self.ids = torch.arange(float(lead * count), device=cx.device, dtype=torch.float64)
        self.ids = self.ids.reshape(*shape[:-2], count)
        self.sign = [torch.where(cx.noise(self.ids) < 0, -1.0, 1.0) for _ in range(cx.count)]

    def number(
        self, v: Tensor, full: Bounds, runs: Sequence[Tensor], dim: int, is_unit: bool = False
    ) -> Number:
        """One factor, whose vectors are numbered along `dim`. `full` are its bounds by level, for one
        choice of signs."""

        def along(t: Tensor) -> Tensor:
            return t[..., : v.shape[dim]].unsqueeze(-1 if dim == -2 else -2)

        made = self.cx.out(
            v,
            full.get,
            lambda u: 2 * u * v.abs(),
            (lambda i: runs[i] * along(self.sign[i])) if runs else None,
            lambda u: u * v.abs(),
        )
        bound = or_zero(made.b, v)
        bound = infinite_where(bound >= 1, bound) if is_unit else bound
        made.signs = Signs(self.group, along(self.ids).expand(v.shape).clone(), bound)
        made.b = or_zero(made.b, v) + 2 * v.abs()
        return made

    def units(self, v: Tensor, full: Bounds, runs: Sequence[Tensor], dim: int) -> Number:
        """The same for vectors of length 1. A bound of 1 says nothing of their elements."""
        return self.number(v, {k: e.clamp(max=2) for k, e in full.items()}, runs, dim, True)


def levels(cx: Context) -> tuple[tuple[int, float], ...]:
    return ((0, U64), (1, unit_of(cx.dtype)))


# --- QR ---


class Orthogonal:
    """Bounds of the factors of A + E, where column j of E is at most e_j.

    With F = E R^-1, the new R is (I + X) R. X is the upper triangle of W - X^T X, where W = Q^T F + F^T
    Q + F^T F, with half of its diagonal. So |X| <= x in norm, the smaller root of x^2 - sqrt(2) x + |W|
    = 0. The new Q is (Q + F)(I + X)^-1. (J.-G. Sun, BIT 31, 1991; X.-W. Chang, C. C. Paige and G. W.
    Stewart, SIAM J. Matrix Anal. Appl. 18, 1997.)
    """

    def __init__(self, A: Tensor, Q: Tensor, R: Tensor, e: Tensor) -> None:
        k = Q.shape[-1]
        own = R[..., :k]
        inverse = torch.linalg.solve_triangular(own, identity(R, k).expand(own.shape), upper=True).abs()
        f = endless(e[..., :k] @ inverse)  # norms of the columns of F
        phi = torch.linalg.vector_norm(f, dim=-1, keepdim=True)
        w = 2 * phi + phi * phi
        root = (2 - 4 * w).clamp(min=0).sqrt()
        x = 2 * w / (math.sqrt(2) + root)  # the root, without cancellation
        W = turned(f) + f + turned(f) * f
        X = (W.triu() - torch.diag_embed(W.diagonal(dim1=-2, dim2=-1) / 2)) + (x * x).expand(W.shape)
        tail = (x * x / (1 - x).clamp(min=0.25)).expand(W.shape)
        hopeless = w >= 0.5
        self.of_Q = infinite_where(hopeless, f + (Q.abs() + f) @ (X + tail).triu()) * OUTWARD
        first = (X @ own.abs()).triu()
        moved = norms(self.of_Q, -2)
        size = norms(A, -2)[..., k:] + e[..., k:]
        rest = turned(moved) @ size + e[..., k:]
        self.of_R = endless(infinite_where(hopeless, torch.cat([first, rest], -1))) * OUTWARD


@rule("aten.linalg_qr.default")
def qr(cx: Context, A: Number, mode: str = "reduced") -> tuple[Number, Number]:
    """Each column of A may be off by its norm times 8 units a dimension (Higham, theorem 19.4, has that
    form)."""
    A = of_matrix(A)
    m, n = A.v.shape[-2:]
    k, unit, rows = min(m, n), unit_of(cx.dtype), m if mode == "complete" else min(m, n)
    mode = mode if 0 in cx.wanted else "reduced"
    whole, _ = torch.linalg.qr(A.v, mode)
    Q, R = torch.linalg.qr(A.v)
    full_Q: Bounds = {}
    full_R: Bounds = {}
    for level, u in levels(cx):
        e = norms(or_zero(A.error(level), A.v), -2) + NORMWISE * max(m, n) * u * norms(A.v, -2)
        bounds = Orthogonal(A.v, Q, R, e)
        full_Q[level], full_R[level] = beyond(bounds.of_Q, whole.shape[-1]), bounds.of_R
    # Each of k reflections rounds a column. One of zeros may have any vector.
    size = (unit * 2 * math.sqrt(k) * norms(A.v, -2)).clamp(min=TINY)
    runs = [torch.linalg.qr(A.run(i) + cx.noise(A.v) * size, mode) for i in range(cx.count)]
    vectors = Vectors(cx, A.v.shape, m)
    made_R = vectors.number(R, full_R, [r[..., :k, :] for _, r in runs], -2)
    made_R = same(lambda t: torch.nn.functional.pad(t, (0, 0, 0, rows - k)), made_R)
    return vectors.units(whole, full_Q, [turned_rest(cx, q, k) for q, _ in runs], -1), made_R


# --- singular values and eigenvalues ---


def rotated(gap: Tensor, e: Tensor) -> Tensor:
    """How far a vector may turn: by at most e / (gap - e), the sine of its angle (C. Davis and W. M.
    Kahan, SIAM J. Numer. Anal. 7, 1970)."""
    room = (gap - e).clamp(min=0)
    return torch.where(room > e, 2 * e / room, 2.0)


def gaps(values: Tensor) -> Tensor:
    """The distance of each value to the nearest other one."""
    apart = (values.unsqueeze(-1) - values.unsqueeze(-2)).abs()
    return (apart + torch.diag_embed(torch.full_like(values, math.inf))).amin(-1)


def error_in_norm(A: Number, level: int, u: float) -> Tensor:
    size, off = (torch.linalg.matrix_norm(t) for t in (A.v, or_zero(A.error(level), A.v)))
    found: Tensor = off + NORMWISE * max(A.v.shape[-2:]) * u * size
    return found


def nearby(cx: Context, A: Number, i: int) -> Tensor:
    """A run of the matrix whose factors are computed. As many rotations as it has columns round it,
    each by some units of its norm."""
    least, most = sorted(A.v.shape[-2:])
    size = 8 * math.sqrt(least / most) * unit_of(cx.dtype) * torch.linalg.matrix_norm(A.v, 2)
    found: Tensor = A.run(i) + cx.noise(A.v) * size.clamp(min=TINY)[..., None, None]
    return found


@rule("aten._linalg_svd.default")
def singular(
    cx: Context, A: Number, full_matrices: bool = False, compute_uv: bool = True, **_: Any
) -> Factors:
    """Singular vectors are eigenvectors of the symmetric matrix (0 A; A^T 0), whose eigenvalues are the
    singular values, their negatives, and 0 where A is not square."""
    values = values_of(cx, A, torch.linalg.svdvals)
    if not compute_uv or not cx.wanted & {0, 2}:
        return None, values, None
    A = of_matrix(A)
    m, n = A.v.shape[-2:]
    U, s, Vh = torch.linalg.svd(A.v, full_matrices)
    gap = torch.minimum(gaps(s), s if m != n else 2 * s)
    turn = {level: rotated(gap, error_in_norm(A, level, u)[..., None]) for level, u in levels(cx)}
    runs = [torch.linalg.svd(nearby(cx, A, i), full_matrices) for i in range(cx.count)]
    vectors = Vectors(cx, A.v.shape, max(m, n))

    def factor(v: Tensor, which: int) -> Number:
        """Vectors in columns, first those of the singular values."""
        full = {level: beyond(t, v.shape[-1]).unsqueeze(-2).expand(v.shape) for level, t in turn.items()}
        found = [run[which] if which == 0 else turned(run[which]) for run in runs]
        return vectors.units(v, full, [turned_rest(cx, t, s.shape[-1]) for t in found], -1)

    return factor(U, 0), values, same(turned, factor(turned(Vh), 2))


@rule("aten._linalg_eigh.default")
def symmetric(cx: Context, A: Number, uplo: str = "L", compute_v: bool = True) -> Factors:
    values = values_of(cx, A, lambda t: torch.linalg.eigvalsh(t, UPLO=uplo))
    if not compute_v or 1 not in cx.wanted:
        return values, None
    A = of_matrix(A)
    v, Q = torch.linalg.eigh(A.v, UPLO=uplo)
    full = {
        level: rotated(gaps(v), error_in_norm(A, level, u)[..., None]).unsqueeze(-2).expand(Q.shape)
        for level, u in levels(cx)
    }
    runs = [torch.linalg.eigh(nearby(cx, A, i), UPLO=uplo)[1] for i in range(cx.count)]
    return values, Vectors(cx, A.v.shape, v.shape[-1]).units(Q, full, runs, -1)


# --- LU ---


def square(L: Tensor, U: Tensor) -> tuple[Tensor, Tensor]:
    """The factors of a square matrix that contains A: unit rows and columns beyond it."""
    n = max(L.shape[-2], U.shape[-1])

    def within(t: Tensor) -> Tensor:
        k = min(t.shape[-2:])
        rest = torch.cat([t.new_zeros(k), t.new_ones(n - k)])
        return torch.nn.functional.pad(t, (0, n - t.shape[-1], 0, n - t.shape[-2])) + torch.diag_embed(rest)

    return within(L), within(U)


def moved_factors(L: Tensor, U: Tensor, E: Tensor) -> tuple[Tensor, Tensor]:
    """Bounds of the change of L and U, where L U changes by at most E. With G = |L^-1||E||U^-1| and S = G
    (I - G)^-1, they are |L| S below the diagonal, and S |U| on it and above (J.-G. Sun, BIT 32,
    1992)."""
    m, n, k = L.shape[-2], U.shape[-1], L.shape[-1]
    L, U = square(L, U)
    E = torch.nn.functional.pad(E, (0, L.shape[-1] - E.shape[-1], 0, L.shape[-1] - E.shape[-2]))
    one = identity(L, L.shape[-1]).expand(L.shape)
    lower = torch.linalg.solve_triangular(L, one, upper=False).abs()
    upper = torch.linalg.solve_triangular(U, one, upper=True).abs()
    G = endless(lower @ E @ upper)
    rate = G.sum(-1).amax(-1)[..., None, None]
    hopeless = ~(rate < 0.5)
    known = torch.where(hopeless, 0.0, G)
    S = torch.linalg.solve(one - known, known).clamp(min=0)
    off_L = infinite_where(hopeless, L.abs() @ S.tril(-1))[..., :m, :k].tril(-1)
    off_U = infinite_where(hopeless, S.triu() @ U.abs())[..., :k, :n].triu()
    return off_L * OUTWARD, off_U * OUTWARD


class Elimination:
    """The factors P, L and U with pivots. Computed ones are those of A + E with |E| <= k u |L||U|."""

    def __init__(self, cx: Context, A: Number, pivot: bool = True) -> None:
        if not pivot:
            raise Unsupported("a factorization without pivots")
        self.cx, self.A = cx, of_matrix(A)
        self.P, self.L, self.U = torch.linalg.lu(self.A.v)
        self.k = min(A.v.shape[-2:])
        self.full_L: Bounds = {}
        self.full_U: Bounds = {}
        for level, u in levels(cx):
            self.bounds(level, u)
        noise = math.sqrt(self.k + MORE) * unit_of(cx.dtype) * (self.P @ self.size())
        self.runs = [torch.linalg.lu(self.A.run(i) + cx.noise(noise) * noise) for i in range(cx.count)]
        self.check()

    def size(self) -> Tensor:
        found: Tensor = self.L.abs() @ self.U.abs()
        return found

    def bounds(self, level: int, u: float) -> None:
        E = turned(self.P) @ or_zero(self.A.error(level), self.A.v) + (self.k + MORE) * u * self.size()
        self.full_L[level], self.full_U[level] = moved_factors(self.L, self.U, E)

    def check(self) -> None:
        """Refuses pivots that rounding may choose otherwise: another row's factor is 1 within its
        error. The error is bounded, or 8 times the spread of the runs if that is less."""
        off = self.full_L[1]
        if self.runs:
            spread = torch.stack([(run[1] - self.L).square() for run in self.runs]).mean(0)
            off = torch.minimum(off, CALIBRATED * torch.maximum(spread, spread.mean()).sqrt())
        if bool(((self.L.abs() + off).tril(-1) >= 1).any()):
            raise Unsupported("a factorization whose pivots rounding may choose otherwise")

    def factor(self, v: Tensor, full: Bounds, which: int) -> Number:
        return self.cx.out(
            v,
            full.get,
            lambda u: 0,
            (lambda i: self.runs[i][which]) if self.cx.count else None,
            lambda u: u * v.abs().tril(-1) if which == 1 else u * v.abs(),
        )

    def factors(self) -> tuple[Number, Number]:
        return self.factor(self.L, self.full_L, 1), self.factor(self.U, self.full_U, 2)


@rule("aten.linalg_lu.default")
def lu(cx: Context, A: Number, *, pivot: bool = True) -> Factors:
    made = Elimination(cx, A, pivot)
    return Number(made.P), *made.factors()


@rule("aten.linalg_lu_factor_ex.default")
def packed(cx: Context, A: Number, *, pivot: bool = True, check_errors: bool = False) -> Factors:
    """L below the diagonal and U on it and above, in one matrix."""
    made = Elimination(cx, A, pivot)
    m, n = A.v.shape[-2:]

    def whole(t: Tensor) -> Tensor:
        return torch.nn.functional.pad(t, (0, n - t.shape[-1], 0, m - t.shape[-2]))

    L, U = (same(whole, x) for x in made.factors())

    v = L.v.tril(-1) + U.v
    runs = [L.run(i).tril(-1) + U.run(i) for i in range(cx.count)] or None
    pivots = torch.linalg.lu_factor(made.A.v)[1]
    both_r, both_b = (or_zero(L.error(k), v).tril(-1) + or_zero(U.error(k), v) for k in (0, 1))
    return Number(v, both_r, both_b, runs), Number(pivots), none_wrong(A)


def order_of(pivots: Tensor, m: int) -> Tensor:
    """The row of A at each row of L U."""
    rows = torch.arange(m, device=pivots.device).expand(*pivots.shape[:-1], m).clone()
    for k in range(pivots.shape[-1]):
        other = pivots[..., k : k + 1].long() - 1
        here, there = rows[..., k : k + 1].clone(), rows.gather(-1, other)
        rows.scatter_(-1, other, here)
        rows[..., k : k + 1] = there
    return rows


@rule("aten.lu_unpack.default")
def unpacked(
    cx: Context, LU: Number, pivots: Number, unpack_data: bool = True, unpack_pivots: bool = True
) -> Factors:
    m, n = LU.v.shape[-2:]
    k = min(m, n)
    rows = order_of(pivots.v, m)
    P = turned(torch.nn.functional.one_hot(rows, m)).double()
    L = triangle(same(lambda t: t[..., :k], LU), False, 1)
    return Number(P), L, triangle(same(lambda t: t[..., :k, :], LU), True, 0)


@rule("aten.linalg_lu_solve.default")
def solve_by_lu(
    cx: Context, LU: Number, pivots: Number, B: Number, *, left: bool = True, adjoint: bool = False
) -> Number:
    """Solves P L U X = B, its transpose, or X P L U = B, by two triangular systems."""
    if not left:
        return same(turned, solve_by_lu(cx, LU, pivots, same(turned, B), adjoint=not adjoint))
    rows = order_of(pivots.v, LU.v.shape[-1])
    lead = torch.broadcast_shapes(LU.v.shape[:-2], B.v.shape[:-2])
    shape = (*lead, *B.v.shape[-2:])
    B = same(lambda t: t.expand(shape), of_matrix(B))

    def moved(x: Number, at: Tensor) -> Number:
        return same(lambda t: t.gather(-2, at.unsqueeze(-1).expand(shape)), x)

    found: Number
    if not adjoint:
        found = solve_triangle(cx, LU, solve_triangle(cx, LU, moved(B, rows), False, unit=True), True)
        return found
    T = same(turned, LU)
    found = solve_triangle(cx, T, solve_triangle(cx, T, B, False), True, unit=True)
    return moved(found, rows.argsort(-1))
