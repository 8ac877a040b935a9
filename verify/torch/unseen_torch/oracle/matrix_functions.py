"""Rules of pseudoinverses, least squares and exponentials of matrices.

Let X be the pseudoinverse of a matrix A of full rank, and Y that of A + E. Then exactly

    Y - X = -Y E X + (Y Y^T) E^T (I - A X)     if the columns are independent,
    |Y| <= |X| / (1 - |X||E|),   |Y - X| <= sqrt(2) |X||Y||E|     in norm

(P.-A. Wedin, BIT 13, 1973; for least squares Higham, theorem 20.1). Solutions are those of a matrix and
a right side close by: each may be off by 8 units a dimension of its norm. A matrix whose rank rounding
may decide is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .algebra import MORE, endless, infinite_where, of_matrix, turned, values_of
from .elementwise import or_zero, rule
from .factors import NORMWISE, Bounds, Factors, Tensor, error_in_norm, levels, nearby, norms
from .number import OUTWARD, Context, Number, Unsupported, same, unit_of

WEDIN = 1.5  # above sqrt(2)


def kept(cx: Context, A: Number, cut: Callable[[Tensor], Tensor]) -> Tensor:
    """Mask of the singular values above cut(greatest). A matrix is refused if one may be on either side
    within its error."""
    s = torch.linalg.svdvals(A.v)
    if not s.numel():
        raise Unsupported(f"{cx.name} of an empty matrix")
    off = error_in_norm(A, 1, unit_of(cx.dtype))[..., None]
    most = s.amax(-1, keepdim=True)
    high: Tensor = s - off > cut(most + off) * OUTWARD
    if not bool((high | (s + off <= cut(most - off))).all()):
        raise Unsupported(f"{cx.name} of a matrix whose rank rounding may decide")
    return high


def full_rank(cx: Context, A: Number, cut: Callable[[Tensor], Tensor]) -> None:
    if not bool(kept(cx, A, cut).all()):
        raise Unsupported(f"{cx.name} of a matrix of less than full rank")


def default_cut(cx: Context, A: Number) -> float:
    return int(max(A.v.shape[-2:])) * 2 * unit_of(cx.dtype)


class Inverse:
    """The pseudoinverse X of a tall matrix and bounds of its change, by products of absolute values and
    of norms."""

    def __init__(self, A: Number, level: int, u: float) -> None:
        self.A, self.X = A.v, torch.linalg.pinv(A.v, rtol=0.0)
        self.e = or_zero(A.error(level), A.v)
        self.own = NORMWISE * max(A.v.shape[-2:]) * u * torch.linalg.matrix_norm(A.v)[..., None, None]
        size = torch.linalg.matrix_norm(self.X, 2)[..., None, None]
        self.eta = torch.linalg.matrix_norm(self.e)[..., None, None] + self.own
        self.hopeless = ~(size * self.eta < 0.5)
        self.greatest = size / (1 - size * self.eta).clamp(min=0.5)
        self.Y = self.X.abs() + WEDIN * size * self.greatest * self.eta  # bounds |Y|
        self.G = self.Y @ turned(self.Y)

    def moved(self, x: Tensor, r: Tensor) -> Tensor:
        """Bounds Y E x and (Y Y^T) E^T r, for columns x and r."""
        first = self.Y @ (self.e @ x.abs()) + norms(self.Y, -1) * self.own * norms(x, -2)
        rest = self.G @ (turned(self.e) @ r.abs()) + norms(self.G, -1) * self.own * norms(r, -2)
        return endless(infinite_where(self.hopeless, first + rest)) * OUTWARD


def pseudoinverse(cx: Context, A: Number) -> Number:
    if A.v.shape[-2] < A.v.shape[-1]:
        return same(turned, pseudoinverse(cx, same(turned, A)))
    full: Bounds = {}
    for level, u in levels(cx):
        of = Inverse(A, level, u)
        rest = torch.eye(A.v.shape[-2], dtype=torch.float64, device=A.v.device) - A.v @ of.X
        product = (A.v.shape[-1] + MORE) * u * norms(of.X, -1) * norms(of.X, -2)  # V S^-1 U^T is a product
        full[level] = of.moved(of.X, rest) + product / torch.linalg.matrix_norm(of.X, 2)[..., None, None]
    v = torch.linalg.pinv(A.v, rtol=0.0)
    return cx.out(
        v,
        full.get,
        lambda u: 0,
        (lambda i: torch.linalg.pinv(nearby(cx, A, i), rtol=0.0)) if cx.count else None,
        lambda u: 2 * u * v.abs(),
    )


def of_lower_rank(cx: Context, A: Number, high: Tensor) -> Number:
    """The pseudoinverse X of the part of A with the singular values `high`, which are the greatest r. That
    part moves by some D in norm, and X by 1.62 |X||Y||D|, since the ranks are equal (Wedin). |D| is at
    most 2 |E| + 2 s, where s is the next singular value. It is also at most |E| + |E| |A| / (gap -
    |E|), since the vectors turn (Davis and Kahan)."""

    def of(t: Tensor) -> Tensor:
        U, s, Vh = torch.linalg.svd(t, full_matrices=False)
        found: Tensor = turned(Vh) @ (torch.where(high, 1 / s, 0.0).unsqueeze(-1) * turned(U))
        return found

    s = torch.linalg.svdvals(A.v)
    least = torch.where(high, s, math.inf).amin(-1)
    rest = torch.where(high, 0.0, s).amax(-1)

    def full(level: int) -> Tensor:
        off = error_in_norm(A, level, dict(levels(cx))[level])
        turning = endless(off + off * s[..., 0] / (least - rest - off).clamp(min=0))
        rate = torch.minimum(2 * (off + rest), turning) / least
        moved = infinite_where(~(rate < 0.5), 1.62 * rate / (1 - rate) / least) * OUTWARD
        return moved[..., None, None].expand(v.shape)

    v = of(A.v)
    product = (s.shape[-1] + MORE) / least[..., None, None]
    return cx.out(
        v,
        full,
        lambda u: (u * product).expand(v.shape),
        (lambda i: of(nearby(cx, A, i))) if cx.count else None,
        lambda u: 2 * u * v.abs(),
    )


@rule("aten.linalg_pinv.atol_rtol_tensor")
def pinv(cx: Context, A: Number, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Number:
    A = of_matrix(A)
    if hermitian:
        A = same(lambda t: t.tril() + turned(t.tril(-1)), A)

    def plain(x: Any) -> Any:
        return x.v.double().unsqueeze(-1) if isinstance(x, Number) else x

    atol, rtol = plain(atol), plain(rtol)
    if rtol is None:
        rtol = default_cut(cx, A) if atol is None or not bool(torch.as_tensor(atol > 0).any()) else 0.0
    least = 0.0 if atol is None else atol
    high = kept(cx, A, lambda most: torch.maximum(rtol * most, torch.as_tensor(least).to(most)))
    return pseudoinverse(cx, A) if bool(high.all()) else of_lower_rank(cx, A, high)


@rule("aten.linalg_lstsq.default")
def least_squares(
    cx: Context, A: Number, B: Number, rcond: float | None = None, *, driver: str | None = None
) -> Factors:
    A, B = of_matrix(A), of_matrix(B)
    full_rank(cx, A, lambda most: (default_cut(cx, A) if rcond is None else rcond) * most)
    _, rests, rank, values = torch.linalg.lstsq(A.v, B.v, rcond=rcond, driver=driver or "gelsy")
    of = LeastSquares(cx, A, B)
    values = values_of(cx, A, torch.linalg.svdvals) if values.numel() else Number(values)
    return of.solution(), of.rest() if rests.numel() else Number(rests), Number(rank), values


class LeastSquares:
    """The solution of least squares (or of least norm), and the sum of squares of what it leaves."""

    def __init__(self, cx: Context, A: Number, B: Number) -> None:
        self.cx, self.A, self.B = cx, A, B
        self.wide = A.v.shape[-2] < A.v.shape[-1]
        self.x = torch.linalg.pinv(A.v, rtol=0.0) @ B.v
        self.r = B.v - A.v @ self.x
        many = math.sqrt(min(A.v.shape[-2:]) / A.v.shape[-2])
        noise = 2 * many * unit_of(cx.dtype) * norms(B.v, -2)
        given = [(nearby(cx, A, i), B.run(i) + cx.noise(B.v) * noise) for i in range(cx.count)]
        self.runs = [(M, b, torch.linalg.pinv(M, rtol=0.0) @ b) for M, b in given]
        self.of: dict[int, Inverse] = {}
        self.e_B: Bounds = {}
        for level, u in levels(cx):
            self.of[level] = Inverse(same(turned, A) if self.wide else A, level, u)
            own = NORMWISE * max(A.v.shape[-2:]) * u * norms(B.v, -2)
            self.e_B[level] = or_zero(B.error(level), B.v) + own

    def solution(self) -> Number:
        def full(level: int) -> Tensor:
            of, e_B = self.of[level], self.e_B[level]
            if self.wide:
                return of_least_norm(of, self.A.v, self.x, e_B)
            found: Tensor = of.moved(self.x, self.r) + of.Y @ e_B
            return found

        runs = (lambda i: self.runs[i][2]) if self.runs else None
        return self.cx.out(self.x, full, lambda u: 0, runs, lambda u: 2 * u * self.x.abs())

    def rest(self) -> Number:
        """The projection of B moves by at most |e_B| + |E||x| + |Y||E||r| in norm."""

        def squares(r: Tensor) -> Tensor:
            return r.square().sum(-2)

        def full(level: int) -> Tensor:
            of, size = self.of[level], norms(self.r, -2)
            moved = norms(self.e_B[level], -2) + of.eta * norms(self.x, -2) + of.greatest * of.eta * size
            off = 2 * size * moved + moved * moved
            return infinite_where(of.hopeless, off).squeeze(-2) * OUTWARD

        v = squares(self.r)
        runs = (lambda i: squares(self.runs[i][1] - self.runs[i][0] @ self.runs[i][2])) if self.runs else None
        return self.cx.out(v, full, lambda u: (self.r.shape[-2] + MORE) * u * v, runs, lambda u: 4 * u * v)


def of_least_norm(of: Inverse, A: Tensor, x: Tensor, e_B: Tensor) -> Tensor:
    """Bounds -Y E x + (I - Y B) E^T (X^T x) + Y e_B for a wide matrix, whose transposed pseudoinverse
    is `of`."""
    Y, e, y = turned(of.Y), turned(of.e), of.X @ x
    rest = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device) - turned(of.X) @ A
    rest = rest.abs() + of.greatest * of.eta
    first = Y @ (e @ x.abs()) + norms(Y, -1) * of.own * norms(x, -2)
    second = rest @ (turned(e) @ y.abs()) + norms(rest, -1) * of.own * norms(y, -2)
    return endless(infinite_where(of.hopeless, first + second + Y @ e_B)) * OUTWARD


@rule("aten.linalg_matrix_exp.default")
def exponential(cx: Context, A: Number) -> Number:
    """exp(A + E) and exp(A) differ by at most exp(|A| + |E|) - exp(|A|), term by term of their series.
    Scaling by 2^-s and squaring rounds 2^s times (Higham, Functions of Matrices, theorem 10.21)."""
    A = of_matrix(A)
    n, size = A.v.shape[-1], A.v.abs()
    v, most = torch.matrix_exp(A.v), torch.matrix_exp(size)
    norm = torch.linalg.matrix_norm(A.v, 1)[..., None, None]
    squarings = torch.ceil(torch.log2(norm.clamp(min=1))) + 1

    def propagated(level: int) -> Tensor | None:
        e = A.error(level)
        return None if e is None else (torch.matrix_exp(size + e) - most).clamp(min=0) * OUTWARD

    def run(i: int) -> Tensor:
        """Scaling and squaring, with an error after every product."""
        unit, steps = math.sqrt(n) * unit_of(cx.dtype), int(squarings.max())
        scaled, part = A.run(i) / 2**steps, torch.matrix_exp(size / 2**steps)
        made: Tensor = torch.matrix_exp(scaled) + cx.noise(v) * unit * part
        for _ in range(steps):
            made = made @ made + cx.noise(v) * unit * (made.abs() @ made.abs())
        return made

    return cx.out(
        v,
        propagated,
        lambda u: (n + MORE) * (MORE + 2**squarings) * u * most,
        run if cx.count else None,
        lambda u: u * v.abs(),
    )


@rule("aten.linalg_polar.default")
def polar(cx: Context, A: Number) -> Factors:
    """A = U H. In norm, U moves by at most (2 / (s + s') + 1 / s) |E|, where s and s' are the least
    singular values of A and A + E (R.-C. Li, SIAM J. Matrix Anal. Appl. 16, 1995), and H by sqrt(2) |E|
    (Higham, Functions of Matrices, theorem 8.9)."""
    A = of_matrix(A)
    terms = max(A.v.shape[-2:]) + MORE

    def factors(t: Tensor) -> tuple[Tensor, Tensor]:
        U, s, Vh = torch.linalg.svd(t, full_matrices=False)
        return U @ Vh, turned(Vh) @ (s.unsqueeze(-1) * Vh)

    s = torch.linalg.svdvals(A.v)
    least, most = s[..., -1:, None], s[..., :1, None]
    off = {level: error_in_norm(A, level, u)[..., None, None] for level, u in levels(cx)}
    runs = [factors(nearby(cx, A, i)) for i in range(cx.count)]

    def of_U(level: int) -> Tensor:
        room = (least - off[level]).clamp(min=0)
        moved = off[level] * (2 / (least + room) + 1 / least)
        return endless(infinite_where(room == 0, moved)) * OUTWARD

    def factor(k: int, bound: Callable[[int], Tensor], size: Tensor) -> Number:
        v = factors(A.v)[k]
        return cx.out(
            v,
            lambda level: bound(level).expand(v.shape),
            lambda u: (terms * u * size).expand(v.shape),
            (lambda i: runs[i][k]) if runs else None,
            lambda u: 2 * u * v.abs(),
        )

    return factor(0, of_U, torch.ones_like(most)), factor(1, lambda level: WEDIN * off[level], most)


@rule("aten.linalg_matrix_sqrth.default")
def root(cx: Context, A: Number) -> Number:
    """The square root of a symmetric matrix moves by at most |E| / (sqrt(l) + sqrt(l')) in norm, where l
    and l' are the least eigenvalues of A and A + E (Higham, Functions of Matrices, theorem 6.2)."""
    A = of_matrix(A)
    A = same(lambda t: t.tril() + turned(t.tril(-1)), A)

    def of(t: Tensor) -> Tensor:
        values, Q = torch.linalg.eigh(t)
        found: Tensor = (Q * values.clamp(min=0).sqrt().unsqueeze(-2)) @ turned(Q)
        return found

    values = torch.linalg.eigvalsh(A.v)
    least, most = values[..., :1, None], values[..., -1:, None]
    off = {level: error_in_norm(A, level, u)[..., None, None] for level, u in levels(cx)}
    if bool((least <= off[1]).any()):
        raise Unsupported("the root of a matrix that is not positive definite, or nearly so")
    v, terms = of(A.v), A.v.shape[-1] + MORE
    return cx.out(
        v,
        lambda level: (off[level] / (least.sqrt() + (least - off[level]).sqrt()) * OUTWARD).expand(v.shape),
        lambda u: (terms * u * most.sqrt()).expand(v.shape),
        (lambda i: of(nearby(cx, A, i))) if cx.count else None,
        lambda u: 2 * u * v.abs(),
    )
