"""Rules of linear algebra with a unique answer: triangular and general systems, inverses, determinants, Cholesky
factors, singular values.

A computed solution is the exact solution of a nearby system: (A + D) x = b. For a triangular A, |D| <= n u |A| in
any order of substitution. By elimination with pivots, |D| <= 3 n u |L||U| (N. J. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., theorems 8.5 and 9.4). With P = |A^-1|, the answer is off by at most P D P |b|. This
bound also holds if blocks are inverted and multiplied. Errors of the operands count as parts of D and of b. If P D
is not below 1, the bound is infinite: no solution can be determined.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from .bounds import Bound, Function
from .elementwise import or_zero, rule
from .number import U64, Context, Number, Unsupported, carried, same, unit_of

MORE = 8  # roundings beside those of the sums: a reciprocal, a scaled row, a block's product


def turned(t: torch.Tensor) -> torch.Tensor:
    return t.transpose(-1, -2)


def infinite_where(hopeless: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    return torch.where(hopeless, math.inf, e)


def endless(e: torch.Tensor) -> torch.Tensor:
    """Bounds that could not be computed are infinite."""
    return e.nan_to_num(nan=math.inf, posinf=math.inf)


def amplified(P: torch.Tensor, D: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """An upper bound of (I - P D)^-1 e for e >= 0: a column's greatest element grows by at most 1 / (1 - |P D|)."""
    rate = (P @ D).sum(-1).amax(-1)[..., None, None]
    room = 1 - rate
    made = e + P @ D @ (e.amax(-2, keepdim=True) / room.clamp(min=2.0**-20)).expand_as(e)
    return infinite_where(room <= 2.0**-20, made * (1 + 2.0**-20))


class System:
    """The linear system A X = B, with the exact solution X of the values. |D| <= `terms` * unit * backward(A)."""

    def __init__(
        self,
        cx: Context,
        A: Number,
        B: Number,
        solve: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
        backward: Callable[[torch.Tensor], torch.Tensor],
        terms: int,
    ) -> None:
        self.cx, self.A, self.B, self.solve, self.backward, self.terms = cx, A, B, solve, backward, terms
        self.v = solve(A.v, B.v)
        self.inverse = solve(
            A.v, torch.eye(A.v.shape[-1], dtype=torch.float64, device=A.v.device).expand(A.v.shape)
        )
        self.P = self.inverse.abs()
        self.size = backward(A.v)

    def bound(self, e_A: torch.Tensor, e_B: torch.Tensor, u: float) -> torch.Tensor:
        D = e_A + self.terms * u * self.size
        off = self.P @ (e_B + D @ torch.maximum(self.v.abs(), self.P @ self.B.v.abs() if u else self.v.abs()))
        return amplified(self.P, D, off)

    def errors(self, level: int) -> tuple[torch.Tensor, torch.Tensor]:
        return or_zero(self.A.error(level), self.A.v), or_zero(self.B.error(level), self.B.v)

    def result(self) -> Number:
        unit = unit_of(self.cx.dtype)
        if not bool(self.v.isfinite().all()):
            raise Unsupported("a system without a single solution")
        full = {level: self.bound(*self.errors(level), U64 if level == 0 else unit) for level in (0, 1)}

        # A run is the solution of a nearby system, as the theorem has it.
        def run(i: int) -> torch.Tensor:
            A = self.A.run(i) + self.cx.noise(self.size) * math.sqrt(self.terms) * unit * self.size
            return self.solve(A, self.B.run(i))

        return self.cx.out(
            self.v, full.get, lambda u: 0, run if self.cx.count else None, lambda u: u * self.v.abs()
        )


def triangle(x: Number, upper: bool, unit: int) -> Number:
    """The triangle as a matrix of its own. A unit diagonal is exact, but its products with the solution round
    like all others."""

    def part(t: torch.Tensor, diagonal: int) -> torch.Tensor:
        t = t.triu(unit) if upper else t.tril(-unit)
        return t + diagonal * torch.eye(*t.shape[-2:], dtype=t.dtype, device=t.device)

    made = same(lambda t: part(t, 0), x)
    made.v, made.runs = part(x.v, unit), None if x.runs is None else [part(t, unit) for t in x.runs]
    return made


def of_matrix(x: Number) -> Number:
    return x if x.is_float else Number(x.v.double(), whole=True)


def batched(A: Number, B: Number) -> list[Number]:
    """Expands both operands to the same leading dimensions."""
    lead = torch.broadcast_shapes(A.v.shape[:-2], B.v.shape[:-2])
    return [same(lambda t: t.expand(*lead, *t.shape[-2:]), x) for x in (A, B)]


def solve_triangle(
    cx: Context, A: Number, B: Number, upper: bool, left: bool = True, unit: bool = False
) -> Number:
    A, B = of_matrix(A), of_matrix(B)
    if not left:
        return same(turned, solve_triangle(cx, same(turned, A), same(turned, B), not upper, True, unit))
    A, B = batched(A, B)

    def solve(M: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        solution: torch.Tensor = torch.linalg.solve_triangular(M, b, upper=upper)
        return solution

    n = A.v.shape[-1]
    return System(cx, triangle(A, upper, int(unit)), B, solve, torch.abs, n + MORE).result()


@rule("aten.linalg_solve_triangular.default")
def triangular(
    cx: Context, A: Number, B: Number, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Number:
    return solve_triangle(cx, A, B, upper, left, unitriangular)


@rule("aten.triangular_solve.default")
def triangular_with_copy(
    cx: Context,
    B: Number,
    A: Number,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Number, Number]:
    of = same(turned, A) if transpose else A
    return solve_triangle(cx, of, B, upper != transpose, True, unitriangular), A


@rule("aten.cholesky_solve.default")
def solve_by_factor(cx: Context, B: Number, L: Number, upper: bool = False) -> Number:
    """Solves A X = B by two triangular systems, where A = L L^T or U^T U."""
    L = same(turned, L) if upper else L
    return solve_triangle(cx, same(turned, L), solve_triangle(cx, L, B, False), True)


@rule("aten.cholesky_inverse.default")
def inverse_by_factor(cx: Context, L: Number, upper: bool = False) -> Number:
    n = L.v.shape[-1]
    return solve_by_factor(
        cx, Number(torch.eye(n, dtype=torch.float64, device=L.v.device).expand(L.v.shape)), L, upper
    )


def elimination(A: torch.Tensor) -> torch.Tensor:
    """|L||U| of elimination with pivots, with its rows in the order of A."""
    P, L, U = torch.linalg.lu(A)
    size: torch.Tensor = P @ (L.abs() @ U.abs())
    return size


def general(cx: Context, A: Number, B: Number, left: bool = True) -> Number:
    A, B = of_matrix(A), of_matrix(B)
    if not left:
        return same(turned, general(cx, same(turned, A), same(turned, B)))
    A, B = batched(A, B)
    return System(cx, A, B, torch.linalg.solve, elimination, 3 * A.v.shape[-1] + MORE).result()


def regular(x: Number) -> torch.Tensor:
    """Returns the inverse of x. A singular matrix is refused."""
    found, info = torch.linalg.inv_ex(x.v)
    if bool((info != 0).any()):
        raise Unsupported("a singular matrix")
    made: torch.Tensor = found
    return made


def none_wrong(x: Number) -> Number:
    """The result `info`: zeros, since every matrix was regular."""
    return Number(torch.zeros(x.v.shape[:-2], dtype=torch.int32, device=x.v.device))


def unwanted(cx: Context, *results: int) -> None:
    if cx.wanted & set(results):
        raise Unsupported(f"no rule for the factors of {cx.name}: which rows are pivots is a choice")


@rule("aten._linalg_solve_ex.default")
def solve_general(
    cx: Context, A: Number, B: Number, *, left: bool = True, check_errors: bool = False
) -> tuple[Number, None, None, Number]:
    unwanted(cx, 1, 2)
    of = of_matrix(A)
    regular(of)
    vector = B.v.dim() == 1 or (B.v.dim() == A.v.dim() - 1 and B.v.shape == A.v.shape[:-1])
    column = same(lambda t: t.unsqueeze(-1), B) if vector else B
    made = general(cx, of, column, left or vector)
    return same(lambda t: t.squeeze(-1), made) if vector else made, None, None, none_wrong(A)


@rule("aten.linalg_inv_ex.default")
def inverse(cx: Context, A: Number, *, check_errors: bool = False) -> tuple[Number, Number]:
    of = of_matrix(A)
    regular(of)
    return general(
        cx, of, Number(torch.eye(A.v.shape[-1], dtype=torch.float64, device=A.v.device).expand(A.v.shape))
    ), none_wrong(A)


def log_determinant(cx: Context, A: Number) -> tuple[Number, Number]:
    """Returns (sign, log |det|). The logarithm moves by the trace of A^-1 D and by terms of higher order."""
    A = of_matrix(A)
    P, size, n = regular(A).abs(), elimination(A.v), A.v.shape[-1]
    sign, v = torch.linalg.slogdet(A.v)

    def bound(level: int, u: float) -> torch.Tensor:
        D = or_zero(A.error(level), A.v) + (3 * n + MORE) * u * size
        moved = P @ D
        rate, first = moved.sum(-1).amax(-1), moved.diagonal(dim1=-2, dim2=-1).sum(-1)
        rest = moved.sum((-2, -1)) * rate / (2 * (1 - rate).clamp(min=2.0**-20))
        return infinite_where(rate >= 1 - 2.0**-20, first + rest + (n + 4) * u * (1 + v.abs()))

    unit = unit_of(cx.dtype)
    full = {0: bound(0, U64), 1: bound(1, unit)}

    def run(i: int) -> torch.Tensor:
        nearby = A.run(i) + cx.noise(size) * math.sqrt(3 * n + MORE) * unit * size
        logarithm: torch.Tensor = torch.linalg.slogdet(nearby)[1]
        return logarithm

    logarithm = cx.out(
        v, full.get, lambda u: 4 * u, run if cx.count else None, lambda u: 2 * u * (1 + v.abs())
    )
    return Number(sign), logarithm


@rule("aten._linalg_slogdet.default")
def sign_and_log(cx: Context, A: Number) -> tuple[Number, Number, None, None]:
    unwanted(cx, 2, 3)
    sign, logarithm = log_determinant(cx, A)
    if logarithm.b is not None and bool(logarithm.b.isinf().any()):
        raise Unsupported("the sign of a determinant that may be 0")
    return sign, logarithm, None, None


@rule("aten._linalg_det.default")
def determinant(cx: Context, A: Number) -> tuple[Number, None, None]:
    unwanted(cx, 1, 2)
    sign, logarithm = log_determinant(cx, A)
    v = torch.linalg.det(of_matrix(A).v)
    off = carried(lambda e: v.abs() * torch.expm1(e), logarithm)
    runs = None if logarithm.runs is None else lambda i: sign.v * torch.exp(logarithm.run(i))
    return cx.out(v, off, lambda u: 4 * u * v.abs(), runs), None, None


@rule("aten.linalg_cholesky_ex.default")
def cholesky(
    cx: Context, A: Number, *, upper: bool = False, check_errors: bool = False
) -> tuple[Number, Number]:
    """The Cholesky factor: L L^T = A + D with |D| <= (n + 1) u |L||L^T| (Higham, theorem 10.3). With G =
    |L^-1||D||L^-T|, the factor is off by at most |L| tril(G (I - G)^-1) (J.-G. Sun, BIT 31, 1991)."""
    A = of_matrix(A)
    A = same(turned, A) if upper else A

    def mirrored(t: torch.Tensor) -> torch.Tensor:
        return t.tril() + turned(t.tril(-1))

    v, info = torch.linalg.cholesky_ex(mirrored(A.v))
    if bool((info != 0).any()):
        raise Unsupported("the Cholesky factor of a matrix that is not positive definite")
    n, size, inverse = v.shape[-1], v.abs() @ turned(v.abs()), torch.linalg.inv(v).abs()

    def bound(level: int, u: float) -> torch.Tensor:
        D = mirrored(or_zero(A.error(level), A.v)) + (n + MORE) * u * size
        G = inverse @ D @ turned(inverse)
        rate = G.sum(-1).amax(-1)[..., None, None]
        series = G + G @ G / (1 - rate).clamp(min=2.0**-20).expand_as(G)
        series = torch.where(rate < 0.25, torch.maximum(series, G + 2 * (G @ G)), math.inf)
        off: torch.Tensor = (v.abs() @ series.tril()).tril().nan_to_num(nan=math.inf)
        return off

    unit = unit_of(cx.dtype)
    full = {0: bound(0, U64), 1: bound(1, unit)}
    if bool(full[1].isinf().any()):
        raise Unsupported("the Cholesky factor of a matrix that is not positive definite, or nearly so")

    def run(i: int) -> torch.Tensor:
        noise = mirrored(cx.noise(size)) * math.sqrt(n + MORE) * unit * size
        factor: torch.Tensor = torch.linalg.cholesky_ex(mirrored(A.run(i)) + noise)[0]
        return factor

    made = cx.out(v, full.get, lambda u: 2 * u * v.abs(), run if cx.count else None, lambda u: u * v.abs())
    return same(turned, made) if upper else made, none_wrong(A)


def values_of(cx: Context, A: Number, f: Function) -> Number:
    """Singular values, and eigenvalues of symmetric matrices: they move by at most the norm of the perturbation
    (Weyl)."""
    A = of_matrix(A)
    v, n = f(A.v), max(A.v.shape[-2:])
    norm = torch.linalg.matrix_norm(A.v)[..., None]

    def off(level: int) -> Bound:
        return (
            None
            if A.error(level) is None
            else torch.linalg.matrix_norm(A.error(level))[..., None].expand(v.shape)
        )

    return cx.out(
        v,
        off,
        lambda u: (8 * n * u * norm).expand(v.shape),
        (lambda i: f(A.run(i))) if A.runs is not None else None,
        lambda u: (4 * math.sqrt(n) * u * norm).expand(v.shape),
    )


class Factored(Number):
    """A factorization whose pivots are a choice, and whose elements may therefore be anything. `of` is the
    matrix."""

    __slots__ = ("of",)

    def __init__(self, cx: Context, v: torch.Tensor, of: Number) -> None:
        anything = torch.full_like(v, math.inf)
        super().__init__(v, anything, anything, [v * math.nan] * cx.count or None)
        self.of = of


@rule("aten.linalg_ldl_factor_ex.default")
def ldl_factor(
    cx: Context, A: Number, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Number, Number, Number]:
    """Solutions of a symmetric system are judged, but not its factors."""
    A = of_matrix(A)
    v, pivots, _ = torch.linalg.ldl_factor_ex(A.v)
    of = same(lambda t: t.tril() + turned(t.tril(-1)), A)
    return Factored(cx, v, of), Number(pivots), none_wrong(A)


@rule("aten.linalg_ldl_solve.default")
def ldl_solve(cx: Context, LD: Number, pivots: Number, B: Number, *, hermitian: bool = False) -> Number:
    if not isinstance(LD, Factored):
        raise Unsupported("a solution by given factors with pivots")
    return general(cx, LD.of, B)
