"""Tests of unseen_torch/oracle: equal infinities, whole numbers in extremes, subnormal results, 8-bit inputs; part of test_oracle.py."""

import math

import torch
from oracle_asked import Plain, drawn, passes, refusal, told
from unseen_torch.oracle import constant, evaluate, returned
from unseen_torch.oracle import graph as graphs

INF = math.inf
ROW = torch.tensor([[-INF, 2.0, -INF, 1.0, -INF, -INF]])


def accepts(judged, *index):
    got = torch.tensor([index])
    return bool((returned.judge_index(judged, got) == got).all())


def equal_infinities_are_ties():
    """An index may name any of equal elements, masked scores included, but a finite element is no tie of an infinite one."""

    def scaled(t):
        return t * 0.3  # every element has an error bound now

    for prepare in (lambda t: t, scaled):
        _, _, (_, best) = told(Plain(lambda t: prepare(t).topk(4, 1)), [ROW])
        assert accepts(best, 1, 3, 0, 2) and accepts(best, 1, 3, 5, 4)
        assert (
            not accepts(best, 1, 3, 0, 0) and not accepts(best, 0, 3, 1, 2) and not accepts(best, 3, 1, 0, 2)
        )
        _, _, (_, order) = told(Plain(lambda t: torch.sort(prepare(t), dim=1, descending=True)), [ROW])
        assert accepts(order, 1, 3, 5, 4, 2, 0) and not accepts(order, 1, 3, 5, 4, 2, 2)
        _, _, (stable,) = told(Plain(lambda t: torch.sort(prepare(t), dim=1, stable=True).indices), [ROW])
        assert accepts(stable, 0, 2, 4, 5, 3, 1) and not accepts(stable, 2, 0, 4, 5, 3, 1)
    for function, values in (
        (torch.argmax, torch.full((1, 5), -INF)),
        (torch.argmin, torch.full((1, 5), INF)),
    ):
        _, _, (first,) = told(Plain(lambda t: function(t, 1)), [values])
        assert bool((returned.judge_index(first, torch.tensor([0])) == 0).all())
        # PyTorch documents the first
        assert not bool((returned.judge_index(first, torch.tensor([1])) == 1).all())


def comparisons_of_equal_infinities_are_decided():
    """A row with infinities does not hide which finite comparisons may go either way."""
    near = torch.tensor([[1.0, -INF, 2.0, INF]])
    (judged,) = told(Plain(lambda t: t * 0.3 > 0.3), [near])[2]
    assert judged.allowed.tolist() == [[1.0, 0.0, 0.0, 0.0]], judged.allowed
    (chosen,) = told(
        Plain(lambda t: torch.where(t * 0.3 > 0.3, t.clamp(max=1.0) * 0 - INF, torch.full_like(t, -INF))),
        [near[:, [0, 2]]],
    )[2]
    assert chosen.dropped is None and not bool(chosen.allowed.isnan().any())


def numbers_that_a_bound_holds_are_not_below_it():
    """Most ratios are clipped. Only those within a rounding of the bound may go either way."""
    x = drawn(4, 60)
    (judged,) = told(Plain(lambda t: ((t * 3.3).clamp(max=1.0) < 1.0).float().mean(-1)), [x])[2]
    assert judged.dropped is None and float(judged.allowed.max()) < 1e-5, (judged.dropped, judged.allowed)


def rows_of_one_number_have_a_known_softmax():
    """A padded row holds the least number throughout, so its weights are equal."""
    hidden = torch.ones(3, 40, dtype=torch.bool)
    hidden[0, 5:] = False
    for least in (torch.finfo(torch.float32).min, -1e9):
        (judged,) = told(Plain(lambda t: t.masked_fill(hidden, least).softmax(-1)), [drawn(3, 40)])[2]
        assert judged.dropped is None, judged.dropped
        assert bool((judged.allowed[1:] < 1e-4 / 40).all()), judged.allowed[1:].max()


def extremes_of_whole_numbers_are_whole():
    """The smaller of two whole numbers is an index, of one type and of two, and beside a number."""
    table, at = drawn(9, 4), torch.tensor([0, 5, 12, 8, 3])
    for limit in (
        lambda i: torch.min(i, torch.full_like(i, 8)),
        lambda i: torch.minimum(i, torch.tensor(8, dtype=torch.int32)),
        lambda i: torch.clamp(i, max=torch.full_like(i, 8)),
        lambda i: torch.maximum(torch.minimum(i, torch.tensor(8)), torch.tensor(1)),
    ):
        model = Plain(lambda t, i: t[limit(i)] * 3)
        assert refusal(model, [table, at]) == ""
        (judged,) = told(model, [table, at])[2]
        assert bool(((model(table, at).double() - judged.want).abs() <= judged.allowed).all())


def subnormal_results_may_be_off_by_half_a_step():
    """Below the smallest normal number neighbours of a 16-bit format lie equally far apart."""
    for dtype, step, factor in ((torch.float16, 2.0**-24, 2.0**-17), (torch.bfloat16, 2.0**-133, 2.0**-126)):
        t = drawn(64)
        (judged,) = told(Plain(lambda t: (t * factor).to(dtype)), [t])[2]
        exact = t.double() * factor
        for rounded in ((exact / step).floor() * step, (exact / step).ceil() * step):
            nearest = (rounded - exact).abs() <= step / 2
            assert bool(((rounded - judged.want).abs() <= judged.allowed)[nearest].all()), dtype
        (zeros,) = told(Plain(lambda t: (t * 0).to(dtype)), [t])[2]
        assert float(zeros.want.abs().max()) == 0


def eight_bit_inputs_are_judged():
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        model = Plain(lambda a, c: (a.float() @ c.float().T).to(torch.bfloat16))
        inputs = [drawn(8, 32).to(dtype), drawn(6, 32, seed=2).to(dtype)]
        graph = graphs.trace(model, inputs)
        judged = evaluate.answer(graph, {}, inputs)
        assert judged[0].dropped is None and bool(
            ((model(*inputs).double() - judged[0].want).abs() <= judged[0].allowed).all()
        )
        assert not constant.is_constant(judged, graph, {}, inputs)
        same = Plain(lambda a: a.float() * 0)
        graph = graphs.trace(same, inputs[:1])
        assert constant.is_constant(evaluate.answer(graph, {}, inputs[:1]), graph, {}, inputs[:1])


def distinct_numbers_are_judged_where_they_are_certain_to_differ():
    x = drawn(6, 40)
    for f in (
        lambda t: torch.unique(t * 0.3),
        lambda t: torch.unique(t.exp(), return_inverse=True)[1],
        lambda t: torch.unique_consecutive(t * 0.3, return_counts=True),
    ):
        judged = told(Plain(f), [x])[2]
        assert not any(j.dropped for j in judged) and passes(judged, f(x))
    whole = torch.unique(x)
    assert not passes(told(Plain(lambda t: torch.unique(t * 0.3)), [x])[2], whole * 0.301)
    for f, t in (
        (torch.unique, torch.ones(6, 40)),
        (torch.unique_consecutive, torch.ones(9)),
        (torch.unique, torch.tensor([1.0, 2.0, 1.0 + 2.0**-23])),
    ):
        assert "may make equal" in refusal(Plain(lambda t, f=f: f(t * 0.3)), [t])


def router(x, k=4, f=torch.sigmoid):
    """Weights of the k greatest scores, by a mask."""
    scores = f(x)
    mask = torch.zeros_like(x).scatter_(1, scores.topk(k, -1)[1], 1.0)
    return scores * mask / (scores * mask).sum(-1, keepdim=True)


def what_ties_in_an_index_may_be_picked():
    """A code as near as another one, a label in the place of an equal error, an expert of the same score."""
    x, t = drawn(200), (drawn(200, seed=2) > 0).float()
    x[t.argmin()] = -x[t.argmax()]

    def lovasz(x, t):
        errors, order = torch.sort(1 - x * (2 * t - 1), descending=True)
        t = t[order]
        union = t.sum() + (1 - t).cumsum(0)
        loss = 1 - (t.sum() - t.cumsum(0)) / union
        return (errors.relu() * torch.cat([loss[:1], loss.diff()])).sum()

    judged = told(Plain(lovasz), [x, t])[2]
    mixed = torch.randperm(200, generator=torch.Generator().manual_seed(3))
    assert (
        not judged[0].dropped and passes(judged, lovasz(x, t)) and passes(judged, lovasz(x[mixed], t[mixed]))
    )
    assert not passes(judged, lovasz(x * 1.0001, t))

    def coded(x, codes):
        found = codes[((x**2).sum(1, True) + (codes**2).sum(1) - 2 * x @ codes.T).argmin(1)]
        return found, ((found - x) ** 2).mean()

    x, codes = drawn(64, 1), drawn(16, 1, seed=3)
    x[0] = (codes[4] + codes[9]) / 2
    judged = told(Plain(coded), [x, codes])[2]
    found, mean = coded(x, codes)
    other = torch.cat([codes[4:5] if found[0] == codes[9] else codes[9:10], found[1:]])
    wrong = torch.cat([found[:1], codes[:1], found[2:]])
    nearest = {float(c) for c in codes[[4, 9]].reshape(-1)}
    if float(found[0]) in nearest:  # no third code lies between them
        assert passes(judged, (other, mean))
    assert passes(judged, (found, mean)) and not passes(judged, (wrong, mean))
    assert not passes(judged, (found, mean * 1.001))

    x = drawn(40, 12)
    x[0, :4], x[3, 4:8] = 2.0, 1.0
    judged = told(Plain(router), [x])[2]
    assert not judged[0].dropped and passes(judged, router(x))
    assert passes(judged, router(x, f=lambda t: 1 / (1 + torch.exp(-t))))
    assert not passes(judged, router(x, 3)) and not passes(judged, router(x, 5))
    assert not passes(judged, router(x, f=lambda t: torch.sigmoid(t.bfloat16()).float()))


TESTS = [
    what_ties_in_an_index_may_be_picked,
    distinct_numbers_are_judged_where_they_are_certain_to_differ,
    numbers_that_a_bound_holds_are_not_below_it,
    rows_of_one_number_have_a_known_softmax,
    equal_infinities_are_ties,
    comparisons_of_equal_infinities_are_decided,
    extremes_of_whole_numbers_are_whole,
    subnormal_results_may_be_off_by_half_a_step,
    eight_bit_inputs_are_judged,
]
