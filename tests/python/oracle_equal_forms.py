"""Tests of unseen_torch/oracle: equal forms of filters and rows; part of oracle_chains.py."""

import torch
from oracle_asked import F, drawn
from oracle_exponents import judged_of, worst

FILTER = (0.0976, 0.1953, 0.0976, -0.9428, 0.3333)  # of poles inside the unit circle


def filtered(x, taps=FILTER):
    """A recursive filter of second order, with both delays of its results."""
    b0, b1, b2, a1, a2 = taps
    x1 = x2 = y1 = y2 = torch.zeros_like(x[..., 0])
    out = []
    for t in range(x.shape[-1]):
        y = b0 * x[..., t] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        out.append(y)
        x1, x2, y1, y2 = x[..., t], x1, y, y1
    return torch.stack(out, -1).clamp(-1, 1)


def filtered_by_states(x, block=None):
    """The transposed form, with two states. Wrong one: states are lost after each block."""
    b0, b1, b2, a1, a2 = FILTER
    out = []
    for t in range(x.shape[-1]):
        if t % (block or x.shape[-1]) == 0:
            s1 = s2 = torch.zeros_like(x[..., 0])
        y = b0 * x[..., t] + s1
        s1, s2 = b1 * x[..., t] - a1 * y + s2, b2 * x[..., t] - a2 * y
        out.append(y)
    return torch.stack(out, -1).clamp(-1, 1)


def filtered_at_once(x):
    """A product with the matrix of the filter's answer to an impulse."""
    n = x.shape[-1]
    impulse = torch.zeros(n, dtype=torch.float64)
    impulse[0] = 1
    answer, at = filtered(impulse), torch.arange(n)
    away = at[:, None] - at
    matrix = torch.where(away >= 0, answer[away.clamp(min=0)], 0.0)
    return (x @ matrix.T.float()).clamp(-1, 1)


def a_stable_recurrence_of_many_steps_is_judged():
    """The terms of the fully expanded recurrence grow without limit, and no implementation adds them up."""
    for x in (drawn(3, 96), drawn(3, 96, size=8.0)):
        (judged,) = told = judged_of(filtered, [x])
        assert judged.dropped is None, judged.dropped
        assert max(worst(told, filtered_by_states(x)), worst(told, filtered_at_once(x))) <= 1
        assert float(judged.allowed.max()) < 1e-4
        assert worst(told, filtered_by_states(x, 64)) > 1
        assert worst(told, filtered(x, (*FILTER[:4], 0.3334))) > 1


def standardized(x, g, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    hat = (x - mean) * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + eps)
    return (g * hat).sum(0)


def standardized_by_quotients(x, g):
    return (g * ((x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt())).sum(
        0
    )


def with_a_folded_mean(x, g, eps=1e-5):
    """A fused multiply-add, with the product of the mean as its addend."""
    mean, rstd = x.mean(-1, keepdim=True), torch.rsqrt(x.var(-1, keepdim=True, correction=0) + eps)
    return (g * (x.double() * rstd.double() - (mean * rstd).double()).float()).sum(0)


def a_mean_may_be_multiplied_by_itself():
    """x s - m s for (x - m) s: what cancels exactly in one form is rounded in the other."""
    for columns in (1, 2, 40):
        x, g = drawn(50, columns, size=3.0) + 3.0, drawn(50, columns, seed=2)
        for task in (standardized, standardized_by_quotients):
            told = judged_of(task, [x, g])
            assert told[0].dropped is None
            assert worst(told, with_a_folded_mean(x, g)) <= 1
            assert worst(told, with_a_folded_mean(x, g * 1.001)) > 1 or columns == 1
            assert worst(told, with_a_folded_mean(x, g) + 0.1) > 1


def causal(x, h):
    n = x.shape[-1]
    return F.conv1d(F.pad(x, (n - 1, 0)), h.flip(-1).unsqueeze(1), groups=h.shape[0])


def causal_cut(x, h):
    n = x.shape[-1]
    return F.conv1d(x, h.flip(-1).unsqueeze(1), padding=n - 1, groups=h.shape[0])[..., :n]


def by_transforms(x, h, places=None):
    n = x.shape[-1]
    places = places or 2 * n
    return torch.fft.irfft(torch.fft.rfft(x, n=places) * torch.fft.rfft(h, n=places), n=places)[..., :n]


def a_filter_as_long_as_its_signal_may_be_transformed():
    """Small results beside large ones err by the size of the large ones. Too few places wrap around."""
    powers = torch.exp2(torch.randint(-6, 7, (7, 6, 48), generator=torch.Generator().manual_seed(3)).float())
    for n in (3, 11, 48):
        for x in (drawn(7, 6, n), drawn(7, 6, n) * powers[..., :n], torch.ones(7, 6, n)):
            h = drawn(6, n, seed=5) * powers[0, :, :n] * torch.exp(-torch.linspace(0, 4, n))
            for task in (causal, causal_cut):
                told = judged_of(task, [x, h])
                assert told[0].dropped is None
                for places in (2 * n, 3 * n, 2048):
                    assert worst(told, by_transforms(x, h, places)) <= 0.5
                assert worst(told, by_transforms(x, h, 2 * n - 2)) > 1
                assert worst(told, causal(x, h * 1.0001)) > 1
    x = torch.ones(2, 6, 48)
    x[..., 0] = 2.0**20
    (short,) = judged_of(F.conv1d, [x, drawn(4, 6, 5, seed=5)])
    assert float(short.allowed[..., 5:].max()) < 2.0**-10


TESTS = [
    a_stable_recurrence_of_many_steps_is_judged,
    a_mean_may_be_multiplied_by_itself,
    a_filter_as_long_as_its_signal_may_be_transformed,
]
