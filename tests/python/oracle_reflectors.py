"""Tests of the oracle's rules of reflectors, polar factors, roots, eigenvalues and pseudoinverses.

test_oracle.py runs them. Each has honest variants that pass and faulty ones that do not.
"""

import torch
from oracle_asked import Plain, drawn, refusal
from oracle_variants import variants_pass

product = torch.linalg.householder_product


def one_by_one(A):
    """geqrf by one reflection after another, with LAPACK's signs."""
    A, taus = A.clone(), []
    for k in range(min(A.shape)):
        x = A[k:, k].clone()
        beta = x[0] if len(x) == 1 else -torch.sign(x[0]) * x.norm()
        v = torch.cat([torch.ones(1), x[1:] / (x[0] - beta)])
        taus.append((beta - x[0]) / beta)
        A[k:, k:] -= taus[-1] * torch.outer(v, v @ A[k:, k:])
        A[k + 1 :, k] = v[1:]
    return A, torch.stack(taus)


def by_blocks(a, tau):
    """The product of all reflectors as I - V T V^T."""
    V = a.tril(-1)[:, : len(tau)] + torch.eye(len(a), len(tau))
    T = torch.zeros(len(tau), len(tau))
    for i in range(len(tau)):
        T[:i, i] = -tau[i] * T[:i, :i] @ (V[:, :i].mT @ V[:, i])
        T[i, i] = tau[i]
    return torch.eye(len(a)) - V @ T @ V.mT


def reflectors_have_lapacks_signs():
    for shape in ((40, 12), (9, 9), (5, 8)):
        variants_pass(
            f"geqrf {shape}",
            Plain(torch.geqrf),
            [drawn(*shape)],
            [one_by_one],
            [
                lambda A: (-torch.geqrf(A)[0], torch.geqrf(A)[1]),
                lambda A: (torch.geqrf(A)[0].triu(), torch.geqrf(A)[1]),
                lambda A: torch.geqrf(A.bfloat16().float()),
            ],
        )
    variants_pass(
        "geqrf and its product",
        Plain(lambda A: product(*torch.geqrf(A))),
        [drawn(40, 12)],
        [lambda A: torch.linalg.qr(A)[0], lambda A: by_blocks(*one_by_one(A))[:, :12]],
        [lambda A: -torch.linalg.qr(A)[0]],
    )
    level = torch.tensor([[0.0, 1.0], [1.0, 2.0], [3.0, 1.0]])
    assert "signs" in refusal(Plain(torch.geqrf), [level])


def products_of_reflectors_are_judged():
    a, tau, C = *torch.geqrf(drawn(20, 6)), drawn(20, 4, seed=3)
    variants_pass(
        "product",
        Plain(product),
        [a, tau],
        [lambda a, tau: by_blocks(a, tau)[:, :6]],
        [lambda a, tau: by_blocks(a, tau).mT[:, :6], lambda a, tau: product(a, tau[:5])],
    )
    variants_pass(
        "any vectors", Plain(product), [drawn(7, 5), drawn(4)], [lambda a, t: by_blocks(a, t)[:, :5]]
    )
    for left in (True, False):
        for transposed in (True, False):
            Q = by_blocks(a, tau).mT if transposed else by_blocks(a, tau)
            right, wrong = (Q @ C, Q.mT @ C) if left else (C.mT @ Q, C.mT @ Q.mT)
            variants_pass(
                f"ormqr {left} {transposed}",
                Plain(lambda a, t, C, how=(left, transposed): torch.ormqr(a, t, C, *how)),
                [a, tau, C if left else C.mT],
                [lambda *_, right=right: right],
                [lambda *_, wrong=wrong: wrong],
            )


def by_newton(A):
    """The polar factors by Newton and Schulz."""
    U = A / torch.linalg.matrix_norm(A, 2)
    for _ in range(40):
        U = 1.5 * U - 0.5 * U @ (U.mT @ U)
    return U, U.mT @ A


def by_denman_and_beavers(A):
    Y, Z = A, torch.eye(len(A))
    for _ in range(16):
        Y, Z = (Y + torch.linalg.inv(Z)) / 2, (Z + torch.linalg.inv(Y)) / 2
    return Y


def polar_factors_and_roots_are_judged():
    polar, root = torch.linalg.polar, torch.linalg.matrix_sqrth

    def by_svd(A):
        U, s, Vh = torch.linalg.svd(A, full_matrices=False)
        return U @ Vh, Vh.mT @ torch.diag(s) @ Vh

    for name, function in (("polar", polar), ("polar by svd", by_svd)):
        for shape in ((30, 8), (12, 12)):
            variants_pass(
                f"{name} {shape}",
                Plain(function),
                [drawn(*shape)],
                [by_newton, by_svd],
                [
                    lambda A: (torch.linalg.qr(A)[0], polar(A)[1]),
                    lambda A: (polar(A)[0], torch.linalg.qr(A)[1]),
                    lambda A: polar(A.bfloat16().float()),
                ],
            )
    A = drawn(9, 9)
    A = A @ A.mT + torch.eye(9)
    variants_pass(
        "root",
        Plain(root),
        [A],
        [by_denman_and_beavers],
        [torch.linalg.cholesky, lambda A: root(A.bfloat16().float()), lambda A: A.sqrt().nan_to_num()],
    )
    assert "positive definite" in refusal(Plain(root), [A - 9 * torch.eye(9)])


def pseudoinverses_of_lower_rank_are_judged_where_the_rank_is_sure():
    def cut(A):
        return torch.linalg.pinv(A, rtol=1e-3)

    def by_svd(A, least=1e-3):
        U, s, Vh = torch.linalg.svd(A, full_matrices=False)
        return Vh.mT @ torch.diag(torch.where(s > least * s[0], 1 / s, torch.zeros(()))) @ U.mT

    low = drawn(20, 3) @ drawn(3, 9, seed=2)
    for name, A in (("low", low), ("wide", low.mT), ("noisy", low + 1e-5 * drawn(20, 9, seed=5))):
        faulty = [lambda A: by_svd(A, 0.9), lambda A: cut(A.bfloat16().float())]
        if name == "noisy":
            faulty.append(torch.linalg.pinv)
        variants_pass(f"pinv of {name}", Plain(cut), [A], [by_svd], faulty)
    variants_pass("pinv of the greatest", Plain(lambda A: torch.linalg.pinv(A, rtol=0.45)), [drawn(12, 6)])
    assert not refusal(Plain(cut), [torch.stack([low, torch.zeros(20, 9)])])
    assert "rank" in refusal(Plain(torch.linalg.pinv), [low])
    assert "rank" in refusal(Plain(cut), [torch.diag(torch.tensor([1.0, 1e-3, 0.5]))])


def eigenvalues_are_judged_where_their_order_does_not_matter():
    values = torch.linalg.eigvals

    def turned(f):
        return lambda A: f(A.mT.double()).float()

    A = drawn(3, 12, 12)
    for f in (
        lambda A: values(A).abs().amax(-1),
        lambda A: values(A).real.amax(-1),
        lambda A: values(A).sum(-1).real,
        lambda A: values(A).abs().sort(-1)[0],
        lambda A: torch.linalg.eig(A)[0].abs().amax(-1),
    ):
        variants_pass("eigvals", Plain(f), [A], [turned(f)], [lambda A, f=f: f(A.bfloat16().float())])
    for f in (lambda A: values(A).real, lambda A: torch.view_as_real(values(A))):
        assert "cannot be told" in refusal(Plain(f), [A])
    block = torch.eye(5) + torch.diag(torch.ones(4), 1)  # one eigenvalue, of which little is known
    assert "cannot be told" in refusal(Plain(lambda A: values(A).abs().amax()), [block])
    assert "eigenvectors" in refusal(Plain(lambda A: torch.linalg.eig(A)[1].abs()), [A])


def symmetric_systems_are_judged_but_not_their_factors():
    def solved(A, B):
        return torch.linalg.ldl_solve(*torch.linalg.ldl_factor(A), B)

    A, B = drawn(12, 12), drawn(12, 3, seed=2)
    A = A + A.mT
    faulty = [lambda A, B: torch.linalg.solve(A.bfloat16().float(), B)]
    variants_pass("ldl", Plain(solved), [A, B], [torch.linalg.solve], faulty)
    assert "may be anything" in refusal(Plain(lambda A: torch.linalg.ldl_factor(A)[0]), [A])
    assert "factors" in refusal(Plain(torch.linalg.ldl_solve), [*torch.linalg.ldl_factor(A), B])


TESTS = [
    eigenvalues_are_judged_where_their_order_does_not_matter,
    symmetric_systems_are_judged_but_not_their_factors,
    reflectors_have_lapacks_signs,
    products_of_reflectors_are_judged,
    polar_factors_and_roots_are_judged,
    pseudoinverses_of_lower_rank_are_judged_where_the_rank_is_sure,
]

if __name__ == "__main__":
    import traceback

    for test in TESTS:
        try:
            test()
        except Exception:
            print(test.__name__)
            traceback.print_exc(limit=-2)
