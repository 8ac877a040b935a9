"""Tests of the oracle's rules of factorizations: QR, singular vectors, eigenvectors, LU.

test_oracle.py runs them. Each has honest variants that pass and faulty ones that do not.
"""

import torch
from oracle_asked import F, Plain, drawn, passes, refusal, told
from oracle_variants import variants_pass


def by_reflections(A):
    """A QR factorization by Householder's reflections, one column after the other."""
    m, n = A.shape
    Q, R = torch.eye(m), A.clone()
    for k in range(min(m, n)):
        v = R[k:, k].clone()
        v[0] += v.norm() if v[0] >= 0 else -v.norm()
        v /= v.norm()
        R[k:, k:] -= 2 * torch.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2 * torch.outer(Q[:, k:] @ v, v)
    return Q[:, :n], R[:n].triu()


def by_projections(A):
    """The same by the modified process of Gram and Schmidt, whose diagonal is positive."""
    Q, R = A.clone(), torch.zeros(A.shape[1], A.shape[1])
    for k in range(A.shape[1]):
        R[k, k] = Q[:, k].norm()
        Q[:, k] /= R[k, k]
        R[k, k + 1 :] = Q[:, k] @ Q[:, k + 1 :]
        Q[:, k + 1 :] -= torch.outer(Q[:, k], R[k, k + 1 :])
    return Q, R


def by_cholesky(A):
    R = torch.linalg.cholesky(A.mT @ A).mT
    return torch.linalg.solve_triangular(R, A, upper=True, left=False), R


def flipped(t, dim, by=-1.0):
    """One row or column times a factor."""
    t = t.clone()
    t.select(dim, 1).mul_(by)
    return t


def a_qr_factorization_may_have_either_sign():
    qr = torch.linalg.qr
    for shape in ((40, 12), (20, 20)):
        variants_pass(
            f"qr {shape}",
            Plain(qr),
            [drawn(*shape)],
            [by_reflections, by_projections, lambda A: [t.float() for t in qr(A.double())]],
            [
                lambda A: (qr(A)[0], flipped(qr(A)[1], 0)),  # Q R is another matrix
                lambda A: (flipped(qr(A)[0], 0, 1.001), qr(A)[1]),
                lambda A: (qr(A)[0], qr(A)[1].mT),
                lambda A: (qr(A)[0][1:], qr(A)[1]),
                lambda A: qr(A.bfloat16().float()),
            ],
        )
    # the Gram matrix squares the condition
    variants_pass("qr, well-conditioned", Plain(qr), [drawn(33, 30)], [by_cholesky])
    columns = qr(drawn(20, 20))[0] * torch.logspace(0, -3, 20) @ qr(drawn(20, 20, seed=2))[0]
    variants_pass("qr, condition 1000", Plain(qr), [columns], [], [by_cholesky])
    variants_pass("r", Plain(lambda A: qr(A, "r")[1]), [drawn(30, 8)], [lambda A: by_projections(A)[1]])
    variants_pass("wide", Plain(lambda A: qr(A)[1][:, 3:]), [drawn(4, 9)], [lambda A: -qr(A)[1][:, 3:]])
    complete = Plain(lambda A: qr(A, "complete"))
    assert "may be anything" in refusal(complete, [drawn(6, 3)]), "every basis of the rest is right"
    part = Plain(lambda A: (lambda Q, R: (Q[:, :3], R))(*qr(A, "complete")))
    faulty = [lambda A: (-qr(A)[0], F.pad(qr(A)[1], (0, 0, 0, 5)))]
    variants_pass(
        "part", part, [drawn(8, 3)], [lambda A: (-qr(A)[0], F.pad(-qr(A)[1], (0, 0, 0, 5)))], faulty
    )
    rest = Plain(lambda A: (lambda Q: Q[:, 3:] @ (Q[:, 3:].mT @ A[:, :1] + 1))(qr(A, "complete")[0]))
    assert "cannot be told" in refusal(rest, [drawn(8, 3)])


def vectors_of_singular_matrices_may_be_any():
    """One matrix of many is singular: nothing is said of it, and the others are judged."""
    A = drawn(40, 6, 3)
    A[7, :, 1], A[7, :, 2] = 2 * A[7, :, 0], 0
    _, _, judged = told(Plain(torch.linalg.qr), [A])
    assert not any(j.dropped for j in judged), [j.dropped for j in judged]
    Q, R = torch.linalg.qr(A)
    other = Q.clone()
    other[7, :, 1:] = Q[7, :, 1:] @ torch.linalg.qr(drawn(2, 2))[0]
    assert passes(judged, (Q, R)) and passes(judged, (other, R))
    other[8, :, 1] = -other[8, :, 1]
    assert not passes(judged, (other, R))
    projection = Plain(lambda A: (lambda Q: Q @ Q.mT)(torch.linalg.qr(A)[0]))
    assert "cannot be told" in refusal(projection, [A])


def svd(A):
    return torch.linalg.svd(A, full_matrices=False)


def by_eigenvectors(A):
    values, V = torch.linalg.eigh(A.mT.double() @ A.double())
    V, s = V.flip(-1), values.flip(-1).sqrt()
    return (A.double() @ V / s).float(), s.float(), V.mT.float()


def singular_vectors_and_eigenvectors_may_have_either_sign():
    variants_pass(
        "svd",
        Plain(svd),
        [drawn(30, 8)],
        [by_eigenvectors, lambda A: (-svd(A)[0], svd(A)[1], -svd(A)[2])],
        [
            lambda A: (-svd(A)[0], svd(A)[1], svd(A)[2]),
            lambda A: (flipped(svd(A)[0], 1), svd(A)[1], svd(A)[2]),
            lambda A: (svd(A)[0].flip(1), *svd(A)[1:]),
            lambda A: (svd(A)[0], flipped(svd(A)[1][None], 1, 1.0001)[0], svd(A)[2]),
        ],
    )
    A = drawn(2, 9, 9)
    A = A @ A.mT + 3 * torch.eye(9)
    variants_pass(
        "eigh",
        Plain(torch.linalg.eigh),
        [A],
        [lambda A: (svd(A)[1].flip(-1), svd(A)[0].flip(-1))],
        [
            lambda A: (torch.linalg.eigh(A)[0], torch.linalg.eigh(A)[1].mT),
            lambda A: (torch.linalg.eigh(A)[0], flipped(torch.linalg.eigh(A)[1], -1, 1.001)),
        ],
    )

    def parts(A):  # of a complete basis
        U, s, Vh = torch.linalg.svd(A)
        return U[:, :8] * s @ Vh, U[:, 8:] @ U[:, 8:].mT, U[:, :4]

    def by_parts(A):
        U = svd(A)[0]
        return A, torch.eye(len(A)) - U @ U.mT, -U[:, :4]

    variants_pass(
        "complete svd", Plain(parts), [drawn(30, 8)], [by_parts], [lambda A: (A, *parts(A.roll(1, 0))[1:])]
    )
    assert "may be anything" in refusal(Plain(lambda A: torch.linalg.svd(A)[0]), [drawn(9, 3)])
    assert "cannot be told" in refusal(Plain(lambda A: svd(A)[0].sum(1)), [drawn(30, 8)])
    assert "may be anything" in refusal(Plain(svd), [torch.eye(6)]), "every basis is right"


def factors_may_be_scaled_and_cast():
    cut = Plain(lambda A: -2 * svd(A)[0][:, :3])
    variants_pass(
        "scaled", cut, [drawn(30, 8)], [lambda A: 2 * svd(A)[0][:, :3]], [lambda A: svd(A)[0][:, :3]]
    )
    half = Plain(lambda A: (lambda U, s, Vh: (U.half(), s.half(), Vh.half()))(*svd(A.float())))
    variants_pass(
        "half",
        half,
        [drawn(30, 8).half()],
        [lambda A: [t.half() for t in by_eigenvectors(A.float())]],
        [lambda A: (half(A)[0], half(A)[1], -half(A)[2])],
    )


def what_does_not_depend_on_signs_is_judged():
    def of_qr(A):
        Q, R = torch.linalg.qr(A)
        return Q @ R, R.diagonal().abs(), Q @ (Q.mT @ A[:, :1])

    variants_pass(
        "products of qr",
        Plain(of_qr),
        [drawn(30, 6)],
        [lambda A: (A, torch.linalg.cholesky(A.mT @ A).diagonal(), A[:, :1])],
        [lambda A: (A + 1e-4 * A.amax(), *of_qr(A)[1:])],
    )

    def of_svd(A):
        U, s, Vh = torch.linalg.svd(A, full_matrices=False)
        return (U[:, :3] * s[:3]) @ Vh[:3], Vh.mT @ torch.diag(1 / s) @ U.mT

    def projection(A):
        V = torch.linalg.eigh(A.mT.double() @ A.double())[1][:, -3:]
        return (V @ V.mT).float()

    variants_pass(
        "products of svd",
        Plain(of_svd),
        [drawn(30, 6)],
        [lambda A: (A @ projection(A), torch.linalg.lstsq(A, torch.eye(30))[0])],
        [lambda A: (A, of_svd(A)[1])],
    )

    def root(A):
        values, Q = torch.linalg.eigh(A)
        return Q @ torch.diag_embed(values.sqrt()) @ Q.mT

    A = drawn(9, 9)
    A = A @ A.mT + torch.eye(9)
    variants_pass("a root", Plain(root), [A], [], [lambda A: torch.linalg.cholesky(A)])


def by_elimination(A):
    A, rows = A.clone(), torch.arange(A.shape[0])
    for k in range(A.shape[0]):
        at = int(A[k:, k].abs().argmax()) + k
        A[[k, at]], rows[[k, at]] = A[[at, k]], rows[[at, k]]
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= torch.outer(A[k + 1 :, k], A[k, k + 1 :])
    P = torch.zeros(A.shape)
    P[rows, torch.arange(A.shape[0])] = 1
    return P, A.tril(-1) + torch.eye(A.shape[0]), A.triu()


def factors_with_pivots_are_judged_where_the_pivots_are_sure():
    A, B = drawn(12, 12), drawn(12, 3, seed=2)
    lu = torch.linalg.lu
    variants_pass(
        "lu",
        Plain(lu),
        [A],
        [by_elimination],
        [
            lambda A: (torch.eye(12), *lu(A)[1:]),
            lambda A: (lu(A)[0].mT, *lu(A)[1:]),
            lambda A: (*lu(A)[:2], flipped(lu(A)[2], 1, 1.0001)),
        ],
    )
    variants_pass("lu, tall", Plain(lambda A: lu(A)[1:]), [drawn(9, 5)], [], [])
    variants_pass("lu, wide", Plain(lambda A: lu(A)[1:]), [drawn(5, 9)], [], [])
    variants_pass(
        "lu_factor",
        Plain(torch.linalg.lu_factor),
        [A],
        [lambda A: (by_elimination(A)[1].tril(-1) + by_elimination(A)[2], torch.linalg.lu_factor(A)[1])],
    )

    def solved(A, B):
        return torch.linalg.lu_solve(*torch.linalg.lu_factor(A), B)

    variants_pass("lu_solve", Plain(solved), [A, B], [torch.linalg.solve], [lambda A, B: solved(A.mT, B)])
    variants_pass(
        "lu_solve of a transpose",
        Plain(lambda A, B: torch.linalg.lu_solve(*torch.linalg.lu_factor(A), B.mT, left=False, adjoint=True)),
        [A, B],
        [lambda A, B: torch.linalg.solve(A, B).mT],
        [lambda A, B: torch.linalg.solve(A.mT, B).mT],
    )
    unpacked = Plain(lambda A: torch.lu_unpack(*torch.linalg.lu_factor(A)))
    variants_pass("lu_unpack", unpacked, [A], [lu, by_elimination])
    assert "pivots" in refusal(Plain(lu), [torch.tensor([[1.0, 2.0], [-1.0, 3.0]])])


TESTS = [
    a_qr_factorization_may_have_either_sign,
    vectors_of_singular_matrices_may_be_any,
    singular_vectors_and_eigenvectors_may_have_either_sign,
    factors_may_be_scaled_and_cast,
    what_does_not_depend_on_signs_is_judged,
    factors_with_pivots_are_judged_where_the_pivots_are_sure,
]

if __name__ == "__main__":
    import traceback

    for test in TESTS:
        try:
            test()
        except Exception:
            print(test.__name__)
            traceback.print_exc(limit=-2)
