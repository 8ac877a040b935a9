"""Tests of the oracle's rules of linear algebra: systems, determinants, pseudoinverses, exponentials.

test_oracle.py runs them. Each has honest variants that pass and faulty ones that do not.
"""

import oracle_factors
import oracle_reflectors
import torch
from oracle_asked import Plain, drawn, refusal
from oracle_variants import variants_pass


def forward_substitution(A, B):
    rows = []
    for i in range(A.shape[-1]):
        known = sum((A[..., i, j, None] * rows[j] for j in range(i)), torch.zeros_like(B[..., 0, :]))
        rows.append((B[..., i, :] - known) / A[..., i, i, None])
    return torch.stack(rows, -2)


def cholesky_by_columns(A):
    n = A.shape[-1]
    L = torch.zeros_like(A)
    for j in range(n):
        rest = A[..., j:, j] - (L[..., j:, :j] @ L[..., j, :j, None])[..., 0]
        L[..., j:, j] = rest / torch.sqrt(rest[..., :1])
    return L


def linear_systems_may_be_solved_in_any_order():
    lower = drawn(3, 12, 12).tril(-1) * 0.3 + torch.eye(12) * 2
    solve = Plain(lambda A, B: torch.linalg.solve_triangular(A, B, upper=False))
    variants_pass(
        "triangular",
        solve,
        [lower, drawn(3, 12, 5)],
        [forward_substitution, lambda A, B: torch.linalg.inv(A) @ B],
        [
            lambda A, B: torch.linalg.solve_triangular(A, B, upper=False, unitriangular=True),
            lambda A, B: torch.linalg.solve_triangular(A.mT, B, upper=True),
        ],
    )
    variants_pass(
        "from the right",
        Plain(lambda A, B: torch.linalg.solve_triangular(A.mT, B, upper=True, left=False)),
        [lower, drawn(3, 5, 12)],
        [lambda A, B: forward_substitution(A, B.mT).mT],
    )
    square = drawn(10, 10) + 4 * torch.eye(10)
    general = Plain(torch.linalg.solve)
    variants_pass(
        "solve",
        general,
        [square, drawn(10, 4)],
        [lambda A, B: torch.linalg.inv(A) @ B],
        [lambda A, B: torch.linalg.solve(A.mT, B)],
    )
    variants_pass(
        "inverse", Plain(torch.linalg.inv), [square], [lambda A: torch.linalg.solve(A, torch.eye(10))]
    )
    variants_pass(
        "determinant",
        Plain(torch.linalg.det),
        [square],
        [lambda A: torch.linalg.qr(A)[1].diagonal().prod() * torch.linalg.det(torch.linalg.qr(A)[0])],
    )
    variants_pass(
        "logdet",
        Plain(torch.logdet),
        [square @ square.mT],
        [lambda A: 2 * torch.linalg.cholesky(A).diagonal().log().sum()],
    )
    assert "singular" in refusal(Plain(torch.linalg.inv), [torch.ones(3, 3)])


def a_unit_triangle_rounds_at_the_size_of_the_result():
    unit = drawn(2, 64, 64) * 0.01  # sums round at the size of the right side, which is that of the result
    variants_pass(
        "unit triangle",
        Plain(lambda A, B: torch.linalg.solve_triangular(A, B, upper=True, left=False, unitriangular=True)),
        [unit, drawn(2, 60, 64, seed=2)],
        [lambda A, B: forward_substitution(A.triu(1).mT + torch.eye(64), B.mT).mT],
        [lambda A, B: B, lambda A, B: torch.linalg.solve_triangular(A, B, upper=True, left=False)],
    )


def cholesky_factors_and_singular_values_are_judged():
    A = drawn(2, 9, 9)
    A = A @ A.mT + 3 * torch.eye(9)
    variants_pass(
        "cholesky",
        Plain(torch.linalg.cholesky),
        [A],
        [cholesky_by_columns],
        [lambda A: torch.linalg.cholesky(A).mT],
    )
    whole = Plain(lambda A, B: torch.cholesky_solve(B, torch.linalg.cholesky(A)))
    variants_pass("cholesky_solve", whole, [A, drawn(2, 9, 4)], [torch.linalg.solve], [lambda A, B: B])
    variants_pass(
        "svdvals",
        Plain(torch.linalg.svdvals),
        [drawn(7, 5)],
        [lambda A: torch.linalg.svdvals(A.mT)],
        [lambda A: torch.linalg.svdvals(A).flip(0)],
    )
    variants_pass(
        "eigvalsh",
        Plain(torch.linalg.eigvalsh),
        [A],
        [lambda A: torch.linalg.svdvals(A).flip(-1)],
        [lambda A: A.diagonal(dim1=-2, dim2=-1)],
    )
    assert "positive definite" in refusal(Plain(torch.linalg.cholesky), [A - 9 * torch.eye(9)])


def pseudoinverses_and_least_squares_are_judged():
    tall, wide, B = drawn(20, 6), drawn(6, 20), drawn(20, 3, seed=2)
    for name, A in (("tall", tall), ("wide", wide)):
        variants_pass(
            f"pinv, {name}",
            Plain(torch.linalg.pinv),
            [A],
            [
                lambda A: torch.linalg.lstsq(A, torch.eye(A.shape[0]))[0],
                lambda A: (
                    torch.linalg.inv(A.mT @ A) @ A.mT if len(A) > 6 else A.mT @ torch.linalg.inv(A @ A.mT)
                ),
            ],
            [lambda A: A.mT, lambda A: torch.linalg.pinv(A.bfloat16().float())],
        )

    def solve(A, B):
        return torch.linalg.lstsq(A, B)[0]

    def by_qr(A, B):
        Q, R = torch.linalg.qr(A)
        return torch.linalg.solve_triangular(R, Q.mT @ B, upper=True)

    variants_pass("lstsq", Plain(solve), [tall, B], [by_qr], [lambda A, B: A.mT @ B])
    variants_pass("least norm", Plain(solve), [wide, B[:6]], [lambda A, B: torch.linalg.pinv(A) @ B], [])
    residuals = Plain(lambda A, B: torch.linalg.lstsq(A, B, driver="gelsd")[:2])

    def left(A, B):
        return by_qr(A, B), (B - A @ by_qr(A, B)).square().sum(0)

    variants_pass(
        "residuals", residuals, [tall, B], [left], [lambda A, B: (left(A, B)[0], left(A, B)[1].sqrt())]
    )
    single = tall.clone()
    single[:, 1] = single[:, 0]
    for function in (torch.linalg.pinv, lambda A: torch.linalg.lstsq(A, torch.ones(20, 1))[0]):
        assert "rank" in refusal(Plain(function), [single])


def exponentials_of_matrices_are_judged():
    def by_taylor(A):
        A = A / 16
        term = total = torch.eye(A.shape[-1])
        for k in range(1, 12):
            term = term @ A / k
            total = total + term
        for _ in range(4):
            total = total @ total
        return total

    def by_eigenvalues(A):
        values, Q = torch.linalg.eigh(A)
        return Q @ torch.diag(values.exp()) @ Q.mT

    A = drawn(12, 12) * 0.4
    for name, given, honest in (
        ("exp", A, [by_taylor]),
        ("exp of a rotation", A - A.mT, [by_taylor]),
        ("exp of a symmetric matrix", A + A.mT, [by_eigenvalues]),
    ):
        faulty = [lambda A: torch.matrix_exp(A).mT + 0.01 * A, torch.exp]
        variants_pass(name, Plain(torch.matrix_exp), [given], honest, faulty)


TESTS = [
    *oracle_factors.TESTS,
    *oracle_reflectors.TESTS,
    linear_systems_may_be_solved_in_any_order,
    a_unit_triangle_rounds_at_the_size_of_the_result,
    cholesky_factors_and_singular_values_are_judged,
    pseudoinverses_and_least_squares_are_judged,
    exponentials_of_matrices_are_judged,
]

if __name__ == "__main__":
    import traceback

    for test in TESTS:
        try:
            test()
        except Exception:
            print(test.__name__)
            traceback.print_exc(limit=-2)
