"""Tests of unseen_torch.oracle: powers of a sum may be expanded before a second sum; part of test_oracle.py."""

import math

import torch
from oracle_asked import drawn, told
from oracle_exponents import judged_of, worst
from torch import nn


def features(x, degree):
    """All products of `degree` elements of the last dimension."""
    made = x
    for _ in range(degree - 1):
        made = (made[..., :, None] * x[..., None, :]).flatten(-2)
    return made


def below(steps):
    return torch.ones(steps, steps, dtype=torch.bool).tril()


def powered(degree, normalized=False, by="pow"):
    """Causal attention whose weights are powers of the scores."""

    def task(q, k, v):
        s = q @ k.transpose(-1, -2)
        p = s**degree if by == "pow" else math.prod([s] * (degree - 1), start=s)
        p = p.masked_fill(~below(q.shape[-2]), 0)
        return p @ v / (p.sum(-1, keepdim=True) + 1e-6) if normalized else p @ v

    return task


def taylor(q, k, v):
    """The exponential's first terms as weights."""
    s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return (1 + s + s * s / 2).masked_fill(~below(q.shape[-2]), 0) @ v


def with_weighted_terms(q, k, v):
    """A polynomial by other operations: sums with a factor, a mask with a number, a mean."""
    s = torch.add(q @ k.transpose(-1, -2), torch.ones(()), alpha=0.5)
    s = torch.rsub(torch.zeros(()), s).masked_fill(~below(q.shape[-2]), -0.5)
    return (s.square()[..., None] * v[..., None, :, :]).mean(-2)


def with_weighted_features(q, k, v):
    one = torch.ones_like(q[..., :1])
    q, k = (features(torch.cat([t, one * 0.5**0.5], -1), 2) for t in (q, k))
    state, out, rest = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1]), [], v.sum(-2)
    for t in range(q.shape[-2]):
        state, rest = state + k[:, t, :, None] * v[:, t, None, :], rest - v[:, t]
        out.append(((q[:, t, :, None] * state).sum(-2) + rest / 4) / q.shape[-2])
    return torch.stack(out, -2)


def with_state(degree, normalized=False, map_of=features):
    """The same by a state that sums the features of the keys, one step after the other."""

    def solution(q, k, v):
        q, k = map_of(q, degree), map_of(k, degree)
        state, total, out = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1]), 0, []
        for t in range(q.shape[-2]):
            state = state + k[:, t, :, None] * v[:, t, None, :]
            total = total + k[:, t]
            y = (q[:, t, :, None] * state).sum(-2)
            out.append(y / ((q[:, t] * total).sum(-1, keepdim=True) + 1e-6) if normalized else y)
        return torch.stack(out, -2)

    return solution


def taylor_features(x, _):
    scaled = x * x.shape[-1] ** -0.25
    return torch.cat([torch.ones_like(x[..., :1]), scaled, features(scaled, 2) / math.sqrt(2)], -1)


def at_once(degree):
    """The same by one product with the summed features, without a mask."""
    return lambda q, k, v: features(q, degree) @ (features(k, degree).transpose(-1, -2) @ v)


def unmasked(degree):
    return lambda q, k, v: (q @ k.transpose(-1, -2)) ** degree @ v


def rounded(t, bits=10):
    """To TF32's precision."""
    mantissa, exponent = torch.frexp(t)
    return torch.ldexp((mantissa * 2.0 ** (bits + 1)).round(), exponent - bits - 1)


def given(steps, width, seed):
    return [drawn(4, steps, n, seed=seed + i) for i, n in enumerate((width, width, 6))]


CASES = [
    ("square", powered(2), with_state(2)),
    ("product with itself", powered(2, by="mul"), with_state(2)),
    ("cube", powered(3), with_state(3)),
    ("polynomial", taylor, with_state(2, map_of=taylor_features)),
    ("other operations", with_weighted_terms, with_weighted_features),
    ("at once", unmasked(2), at_once(2)),
    ("normalized", powered(2, normalized=True), with_state(2, normalized=True)),
]


def a_power_of_scores_may_be_a_product_of_features():
    for name, task, form in CASES:
        for steps, width, seed in ((5, 4, 1), (5, 4, 20), (40, 8, 1), (17, 16, 1)):
            q, k, v = inputs = given(steps, width, seed)
            judged = judged_of(task, inputs)
            assert not judged[0].dropped, (name, judged[0].dropped)
            for solution in (task, form):
                found = worst(judged, solution(*inputs))
                assert found <= 0.5, (name, steps, width, seed, found)
            faults = {
                "rounded operands": task(rounded(q), rounded(k), v),
                "a key left out": form(q, torch.cat([torch.zeros_like(k[:, :1]), k[:, 1:]], 1), v),
                "values": form(q, k, v * 1.0001),
            }
            for fault, out in faults.items():
                found = worst(judged, out)
                assert found > 1, (name, steps, width, seed, fault, found)


class Gate(nn.Module):
    """Two products with weights that are multiplied by each other, and a third one."""

    def __init__(self):
        super().__init__()
        self.first, self.second = (nn.Parameter(drawn(8, 24, seed=s)) for s in (5, 6))

    def forward(self, x, w):
        return ((x @ self.first) * (x @ self.second)) @ w


def products_with_weights_are_not_expanded():
    x, w = drawn(30, 8), drawn(24, 6, seed=2)
    gate = Gate()
    judged, expanded = (
        told(gate, [x, w])[2],
        judged_of(
            lambda x, w, first, second: ((x @ first) * (x @ second)) @ w, [x, w, gate.first, gate.second]
        ),
    )
    assert worst(judged, gate(x, w).detach()) <= 0.5
    assert float(judged[0].bound.sum()) < 0.5 * float(expanded[0].bound.sum())


TESTS = [a_power_of_scores_may_be_a_product_of_features, products_with_weights_are_not_expanded]
