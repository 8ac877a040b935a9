"""Tests of unseen_torch/oracle: counts of what a comparison says, and what is picked by them; part of test_oracle.py."""

import torch
from oracle_asked import F, Plain, drawn, passes, told
from oracle_exponents import judged_of, worst


def sparsemax(x):
    """The nearest point of the simplex: by a sort, running sums, and the size of the support."""
    z = torch.sort(x, dim=-1, descending=True).values
    sums = z.cumsum(-1) - 1
    k = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    size = (k * z > sums).sum(-1, keepdim=True)
    return torch.clamp(x - sums.gather(-1, size - 1) / size.to(x.dtype), min=0)


def by_bisection(x):
    low, high = x.amax(-1, keepdim=True) - 1, x.amax(-1, keepdim=True)
    for _ in range(40):
        middle = (low + high) / 2
        above = (x - middle).clamp(min=0).sum(-1, keepdim=True) >= 1
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    size = (x > low).sum(-1, keepdim=True)
    return (x - ((x * (x > low)).sum(-1, keepdim=True) - 1) / size).clamp(min=0)


def of_the_greatest(x, most=16):
    """Wrong where the support is larger."""
    z = torch.topk(x, min(most, x.shape[-1]), -1).values
    sums = z.cumsum(-1) - 1
    k = torch.arange(1, z.shape[-1] + 1, dtype=x.dtype)
    size = (k * z > sums).sum(-1, keepdim=True)
    return torch.clamp(x - sums.gather(-1, size - 1) / size.to(x.dtype), min=0)


def whole(*shape, seed=1, most=3):
    return torch.randint(-most, most + 1, shape, generator=torch.Generator().manual_seed(seed)).float()


def a_support_that_may_be_counted_either_way_is_judged():
    """Rows of many equal numbers, whose next ones lie just at the threshold, and rows of small differences."""
    drawings = {
        "whole": whole(24, 60),
        "few": whole(24, 60, most=1),
        "near": drawn(24, 60, size=0.02),
        "normal": drawn(24, 60),
        "tenths": whole(24, 60, most=9) / 10,
        "steps": torch.arange(60.0).repeat(24, 1) / 16,
    }
    for name, x in drawings.items():
        (j,) = judged = judged_of(sparsemax, [x])
        assert not j.dropped, (name, j.dropped)
        assert worst(judged, sparsemax(x)) <= 1 and worst(judged, by_bisection(x)) <= 1, (
            name,
            worst(judged, by_bisection(x)),
        )
        assert float(j.allowed.max()) < 1e-3, (name, float(j.allowed.max()))
        if bool((sparsemax(x) > 0).sum(-1).gt(16).any()):
            assert worst(judged, of_the_greatest(x)) > 1, name
        assert worst(judged, sparsemax(x * 1.0001)) > 1 or name in ("whole", "few"), name


def counts_of_comparisons_are_numbers():
    """Of a count each open element is off by one: what is divided by it is not dropped."""
    x = drawn(8, 50)
    x[0, :3] = torch.tensor([1.0, 1.0, 0.999])

    def masked_mean(t):
        return (t * (t * 0.3 > 0.3)).sum(-1) / (t * 0.3 > 0.3).sum(-1).clamp(min=1)

    (count,) = judged_of(lambda t: (t * 0.3 > 0.3).sum(-1), [x])
    assert not count.dropped and count.allowed[1:].max() == 0 and 1.9 < float(count.allowed[0]) < 2.4, (
        count.allowed
    )
    (mean,) = judged_of(masked_mean, [x])
    assert not mean.dropped, mean.dropped
    assert worst([mean], masked_mean(x)) <= 1 and worst([mean], masked_mean(x + 0.01)) > 1
    running = judged_of(lambda t: (t * 0.3 > 0.3).cumsum(-1), [x])
    assert worst(running, (x > 1).cumsum(-1)) <= 1 and worst(running, (x > 0.9).cumsum(-1)) > 1


def rows_by_bin(x):
    """One-hot rows of whole numbers that were computed, added up; and what a running count of them picks."""
    at = (x * 0.3).floor().clamp(0, 4).long()
    return F.one_hot(at, 5).sum(0), torch.arange(61.0)[(x * 0.3 > 0.3).long().cumsum(0)]


def counts_are_indices_as_well():
    """Before an element that may be counted or not every place is what it is, behind it either of two."""
    x = drawn(60, size=4.0)
    x[50:] = torch.tensor([-1.0, 10.0, 2.0, 1.0, 7.0, -3.0, 2.0, 5.0, 8.0, 0.5])
    rows, running = judged = judged_of(rows_by_bin, [x])
    assert not rows.dropped and not running.dropped, (rows.dropped, running.dropped)
    assert worst(judged, rows_by_bin(x)) <= 1
    assert float(running.allowed[:53].max()) == 0 and 0.9 < float(running.allowed[53:].max()) < 2.5
    assert worst(judged, rows_by_bin(x + 0.5)) > 1 and worst([rows], rows_by_bin(x)[0].roll(1, 0)) > 1


def kept_above_a_share(x, share=0.05):
    p = x.softmax(-1)
    p = torch.where(p >= share * p.amax(-1, keepdim=True), p, torch.zeros(()))
    return p / p.sum(-1, keepdim=True)


def what_the_bound_decides_no_run_decides_otherwise():
    """Scores about 89, whose greatest probabilities have far greater errors than those beside the threshold."""
    for seed in (5, 6, 7):
        x = drawn(16, 299, seed=seed) + 89
        judged = judged_of(kept_above_a_share, [x])
        assert not judged[0].dropped, judged[0].dropped
        assert worst(judged, kept_above_a_share(x)) <= 1
        assert worst(judged, kept_above_a_share(x, 0.0501)) > 1
        assert worst(judged, kept_above_a_share(x.bfloat16().float())) > 1


def a_sum_of_equal_terms_is_rounded_in_one_direction():
    places, first = torch.zeros(4000, dtype=torch.int64), torch.full((1, 3), 0.7891)
    one_after_the_other = torch.zeros(1, 3)
    for _ in places:
        one_after_the_other = one_after_the_other + first
    judged = told(Plain(lambda t: torch.zeros(1, 3).index_add(0, places, t[places])), [first])[2]
    assert passes(judged, one_after_the_other) and not passes(judged, 0.999 * one_after_the_other)


def an_infinity_behind_a_mask_is_no_error():
    a, masked = drawn(3, 8), torch.zeros(8, dtype=torch.bool)
    a[:, 0], masked[0] = float("-inf"), True
    judged = judged_of(lambda a: a.masked_fill(masked, 0.0).cumsum(-1).exp(), [a])
    assert not judged[0].dropped and bool(judged[0].allowed.isfinite().all()), judged[0].dropped


TESTS = [
    an_infinity_behind_a_mask_is_no_error,
    a_sum_of_equal_terms_is_rounded_in_one_direction,
    what_the_bound_decides_no_run_decides_otherwise,
    a_support_that_may_be_counted_either_way_is_judged,
    counts_of_comparisons_are_numbers,
    counts_are_indices_as_well,
]
