"""Tests of unseen_torch/oracle: algebraically equal forms of short elementwise chains; part of test_oracle.py.

Each case is the task's form, honest others, and wrong ones, over thousands of elements of one size and of many sizes.
"""

import oracle_equal_forms
import torch
from oracle_asked import drawn
from oracle_exponents import judged_of, worst

COUNT = 20000
B1, B2, RATE, DECAY, EPS = 0.9, 0.99, 1e-3, 0.1, 1e-8


def even(seed):
    return drawn(COUNT, seed=seed)


def uneven(seed):
    powers = torch.randint(-12, 6, (COUNT,), generator=torch.Generator().manual_seed(seed)).float()
    return drawn(COUNT, seed=seed + 100) * torch.exp2(powers)


def step(p, m, v, rate=RATE, eps=EPS):
    return p - rate * (m / 0.1) / ((v / 0.01).sqrt() + eps)


# p, g, m of any sign, v > 0
OPTIMIZERS = {
    "first moment": (
        lambda p, g, m, v: m * B1 + g * (1 - B1),
        [lambda p, g, m, v: m + (1 - B1) * (g - m), lambda p, g, m, v: torch.lerp(m, g, 1 - B1)],
        [lambda p, g, m, v: m * B1 + g * (1 - B1 + 1e-4), lambda p, g, m, v: m * B1],
    ),
    "second moment": (
        lambda p, g, m, v: v * B2 + (1 - B2) * g * g,
        [
            lambda p, g, m, v: v + (1 - B2) * (g * g - v),
            lambda p, g, m, v: B2 * v + ((1 - B2) * g) * g,
            lambda p, g, m, v: torch.lerp(v, g * g, 1 - B2),
        ],
        [lambda p, g, m, v: v * B2 + (1 - B2) * g.abs(), lambda p, g, m, v: v * 0.9901 + (1 - B2) * g * g],
    ),
    "decay of Lion": (
        lambda p, g, m, v: p * (1 - RATE * DECAY) - RATE * torch.sign(g),
        [
            lambda p, g, m, v: p - RATE * (DECAY * p + torch.sign(g)),
            lambda p, g, m, v: p - RATE * DECAY * p - RATE * torch.sign(g),
        ],
        [lambda p, g, m, v: p - RATE * torch.sign(g), lambda p, g, m, v: p * (1 - RATE * DECAY) - RATE],
    ),
    "decay": (
        lambda p, g, m, v: p * (1 - RATE * DECAY) - RATE * g,
        [lambda p, g, m, v: p - RATE * (DECAY * p + g), lambda p, g, m, v: p - RATE * DECAY * p - RATE * g],
        [lambda p, g, m, v: p - RATE * g, lambda p, g, m, v: p * (1 - RATE * DECAY) - RATE * g * 1.001],
    ),
    "Adam": (
        lambda p, g, m, v: step(p, m, v),
        [
            lambda p, g, m, v: p - (RATE / 0.1) * (m / (v.sqrt() * 10 + EPS)),
            lambda p, g, m, v: p - RATE * (m * 10) * (1 / ((v * 100).sqrt() + EPS)),
            lambda p, g, m, v: p - (RATE / 0.1 * 0.1) * m * torch.rsqrt(v),
        ],
        [lambda p, g, m, v: step(p, m, v, eps=1e-3), lambda p, g, m, v: step(p, m, v, rate=RATE * 1.001)],
    ),
    "Nesterov": (
        lambda p, g, m, v: p - RATE * (g + B1 * (B1 * m + g)),
        [
            lambda p, g, m, v: p - RATE * g - RATE * B1 * (B1 * m + g),
            lambda p, g, m, v: p - (RATE * 1.9) * g - (RATE * 0.81) * m,
        ],
        [lambda p, g, m, v: p - RATE * (B1 * (B1 * m + g))],
    ),
}
MIXTURES = {
    "average": (
        lambda p, g, m, v: (p + g) / 2,
        [lambda p, g, m, v: p + (g - p) / 2, lambda p, g, m, v: p * 0.5 + g * 0.5],
        [lambda p, g, m, v: p / 2 + g * 0.50001],
    ),
    "mean of three": (
        lambda p, g, m, v: (p + g + m) / 3,
        [lambda p, g, m, v: p / 3 + g / 3 + m / 3, lambda p, g, m, v: (m + g + p) * (1 / 3)],
        [lambda p, g, m, v: (p + g + m) * 0.33333],
    ),
    "gate": (
        lambda p, g, m, v: (1 - m.sigmoid()) * p + m.sigmoid() * g,
        [
            lambda p, g, m, v: p + m.sigmoid() * (g - p),
            lambda p, g, m, v: torch.lerp(p, g, m.sigmoid()),
            lambda p, g, m, v: g + torch.sigmoid(-m) * (p - g),
        ],
        [lambda p, g, m, v: m.sigmoid() * p + (1 - m.sigmoid()) * g],
    ),
    "shift": (
        lambda p, g, m, v: p * m + g * (1 - m),
        [lambda p, g, m, v: g + (p - g) * m],
        [lambda p, g, m, v: g + p * m],
    ),
    "guidance": (
        lambda p, g, m, v: p + 7.5 * (g - p),
        [lambda p, g, m, v: 7.5 * g - 6.5 * p],
        [lambda p, g, m, v: 7.5 * (g - p)],
    ),
    "guidance of two": (
        lambda p, g, m, v: 7.5 * g - 6.5 * p,
        [lambda p, g, m, v: p + 7.5 * (g - p), lambda p, g, m, v: g + 6.5 * (g - p)],
        [lambda p, g, m, v: p + 7.501 * (g - p)],
    ),
}
AFFINE = {
    "product of a sum": (
        lambda p, g, m, v: (p + g) * m,
        [lambda p, g, m, v: p * m + g * m],
        [lambda p, g, m, v: p * m + g * m * 1.0001],
    ),
    "sum of products": (
        lambda p, g, m, v: p * m + g * m,
        [lambda p, g, m, v: (p + g) * m],
        [lambda p, g, m, v: p * m],
    ),
    "scaled sum": (
        lambda p, g, m, v: (p - g) * 0.3,
        [lambda p, g, m, v: p * 0.3 - g * 0.3],
        [lambda p, g, m, v: (p - g) * 0.30001],
    ),
    "quotient of a sum": (
        lambda p, g, m, v: (p - g) / v,
        [lambda p, g, m, v: p * (1 / v) - g * (1 / v), lambda p, g, m, v: p / v - g / v],
        [lambda p, g, m, v: (p - g) / (v + 1e-5)],
    ),
    "norm": (
        lambda p, g, m, v: (p - 0.7) * 0.3 * m + g,
        [lambda p, g, m, v: p * (0.3 * m) + (g - 0.7 * (0.3 * m))],
        [lambda p, g, m, v: (p - 0.7) * 0.3 * m],
    ),
    "modulation": (
        lambda p, g, m, v: p * (1 + m) + g,
        [lambda p, g, m, v: p + p * m + g, lambda p, g, m, v: p * m + (p + g)],
        [lambda p, g, m, v: p * m + g],
    ),
    "gated modulation": (
        lambda p, g, m, v: p + v * (p * (1 + m) + g),
        [lambda p, g, m, v: p + (v * p) * (1 + m) + v * g, lambda p, g, m, v: p * (1 + v * (1 + m)) + v * g],
        [lambda p, g, m, v: p + v * (p * m + g)],
    ),
    "scaled residual": (
        lambda p, g, m, v: p + v * (g + m),
        [lambda p, g, m, v: p + v * g + v * m],
        [lambda p, g, m, v: p + v * g],
    ),
    "half residual": (
        lambda p, g, m, v: p + 0.5 * (g + m),
        [lambda p, g, m, v: p + 0.5 * g + 0.5 * m],
        [lambda p, g, m, v: p + 0.5 * g + 0.5001 * m],
    ),
    "four": (
        lambda p, g, m, v: p + g + m + v,
        [lambda p, g, m, v: v + m + g + p, lambda p, g, m, v: (p + v) + (m + g)],
        [lambda p, g, m, v: p + g + m + v * 1.0001],
    ),
    "polynomial": (
        lambda p, g, m, v: ((0.2 * p + 0.3) * p + 0.5) * p + 1,
        [lambda p, g, m, v: 1 + p * 0.5 + p * p * 0.3 + p**3 * 0.2],
        [lambda p, g, m, v: ((0.2 * p + 0.3) * p + 0.5) * p],
    ),
    "powers": (
        lambda p, g, m, v: 1 + p * 0.5 + p * p * 0.3 + p**3 * 0.2,
        [lambda p, g, m, v: ((0.2 * p + 0.3) * p + 0.5) * p + 1],
        [lambda p, g, m, v: 1 + p * 0.5 + p * p * 0.3001 + p**3 * 0.2],
    ),
    "reciprocal": (
        lambda p, g, m, v: p / g / m,
        [lambda p, g, m, v: p / (g * m), lambda p, g, m, v: p * (1 / g) * (1 / m)],
        [lambda p, g, m, v: p / g / m * 1.00001],
    ),
    "root": (
        lambda p, g, m, v: p / v.sqrt(),
        [lambda p, g, m, v: p * torch.rsqrt(v), lambda p, g, m, v: p * (1 / v.sqrt())],
        [lambda p, g, m, v: p / (v + 1e-5).sqrt()],
    ),
    "reciprocal root": (
        lambda p, g, m, v: p * torch.rsqrt(v + 1e-5),
        [lambda p, g, m, v: p / (v + 1e-5).sqrt()],
        [lambda p, g, m, v: p * torch.rsqrt(v + 1e-6)],
    ),
    "quantized": (
        lambda p, g, m, v: p / (v / 127),
        [
            lambda p, g, m, v: p * (127 / v),
            lambda p, g, m, v: p * 127 / v,
            lambda p, g, m, v: (p * (1 / v)) * 127,
        ],
        [lambda p, g, m, v: p * (128 / v)],
    ),
}


def checked(cases):
    for name, (task, honest, wrong) in cases.items():
        for draw in (even, uneven):
            inputs = [draw(1), draw(2), draw(3), draw(4).abs() + 1e-3]
            judged = judged_of(task, inputs)
            assert not judged[0].dropped, (name, judged[0].dropped)
            for number, form in enumerate([task, *honest]):
                found = worst(judged, form(*inputs))
                assert found <= 1, (name, draw.__name__, number, found)
            for number, form in enumerate(wrong):
                found = worst(judged, form(*inputs))
                assert found > 1, (name, draw.__name__, number, found)


def an_optimizers_step_may_take_any_form():
    checked(OPTIMIZERS)


def a_mixture_may_be_a_difference_that_is_weighed():
    checked(MIXTURES)


def products_may_be_distributed():
    checked(AFFINE)


def whole_numbers_may_be_distributed_too():
    """A sum of whole numbers is exact, and the products of its terms with another number are not."""
    a, c = (
        torch.randint(-9, 10, (COUNT,), generator=torch.Generator().manual_seed(s)).float() for s in (1, 2)
    )
    for factor in (0.3, 1 / 3):
        judged = judged_of(lambda p, q: (p + q) * factor, [a, c])
        assert worst(judged, (a + c) * factor) <= 1 and worst(judged, a * factor + c * factor) <= 1
        assert worst(judged, a * factor + c * (factor + 1e-6)) > 1
    exact = judged_of(lambda p, q: (p + q) * 0.5 - q, [a, c])[0]
    assert float(exact.allowed.max()) == 0  # of few bits and powers of two every form is exact


def terms_that_cancel_may_be_added_in_another_order():
    """A diagonal that outweighs its row, with runs that decide: a + |a| is exact where a < 0, and |a| + 1 is not."""
    a = (uneven(5) * 1000).reshape(-1, 1, 1)
    b = drawn(COUNT, seed=6).reshape(-1, 1, 1)
    judged = judged_of(lambda t, s: torch.linalg.solve(t + t.abs() + 1, s), [a, b])
    assert worst(judged, b / (a + (a.abs() + 1))) <= 1
    assert worst(judged, b / (a + a.abs() + 1.001)) > 1


def gravity(pos, mass, soft=1e-8):
    d = pos[None] - pos[:, None]
    inverse = ((d * d).sum(-1) + soft) ** -1.5
    return torch.einsum("ijc,ij,j->ic", d, inverse, mass)


def by_coordinate(pos, mass):
    d = [pos[None, :, c] - pos[:, None, c] for c in range(3)]
    root = torch.rsqrt(d[0].square() + d[1].square() + d[2].square() + 1e-8)
    return torch.stack([((root * root) * (root * mass) * x).sum(1) for x in d], 1)


def a_difference_is_literal_where_an_expanded_square_leaves_nothing():
    """x - x is 0 on the diagonal. The error of |x|^2 + |x|^2 - 2 x x exceeds the softening."""
    pos, mass = drawn(40, 3), drawn(40, seed=2).abs()
    judged = judged_of(gravity, [pos, mass])
    assert judged[0].dropped is None and worst(judged, gravity(pos, mass)) <= 1
    assert worst(judged, by_coordinate(pos, mass)) <= 1
    assert worst(judged, gravity(pos, mass, 1e-4)) > 1 and worst(judged, gravity(pos, mass * 1.0001)) > 1


TESTS = [
    a_difference_is_literal_where_an_expanded_square_leaves_nothing,
    terms_that_cancel_may_be_added_in_another_order,
    an_optimizers_step_may_take_any_form,
    a_mixture_may_be_a_difference_that_is_weighed,
    products_may_be_distributed,
    whole_numbers_may_be_distributed_too,
    *oracle_equal_forms.TESTS,
]
