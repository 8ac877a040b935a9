"""Tests of unseen_torch/oracle/pieces.py: pieces have the bits of whole tensors; part of test_oracle.py."""

import math

import torch
from unseen_torch.oracle import pieces

SHAPES = [(5, 1), (pieces.PIECE + 1, 1), (360, 107), (3, pieces.PIECE)]
LARGEST, SMALLEST = 1e30, 1e-30


def generator():
    return torch.Generator().manual_seed(3)


def drawn(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def same(a, b):
    return a.shape == b.shape and torch.equal(a.view(torch.int64), b.view(torch.int64))


def noise_has_the_bits_of_whole_tensors():
    for shape in SHAPES:
        for p, size in (drawn(shape, 1), drawn(shape, 2).abs()), (drawn(shape, 1).T, drawn(shape, 2).abs().T):
            whole = torch.rand(p.shape, generator=generator(), dtype=torch.float64) * 2 - 1
            for amplitude in (size, 0.25, size[..., :1]):
                found = pieces.disturbed(p, p.shape, amplitude, generator())
                assert same(found.contiguous(), (p + whole * amplitude).contiguous()), shape


def mean_squares_have_the_bits_of_whole_tensors():
    for shape in SHAPES:
        want, runs = drawn(shape, 1), [drawn(shape, seed) for seed in range(2, 14)]
        for special in (1.0, math.inf, math.nan):
            want.view(-1)[-1] = special
            runs[3].view(-1)[-1], runs[4].view(-1)[0] = special, math.nan
            plain = torch.stack([torch.where(p == want, 0.0, (p - want) ** 2) for p in runs]).mean(0)
            assert same(pieces.mean_square(runs, want).nan_to_num(nan=-1.0), plain.nan_to_num(nan=-1.0)), (
                shape
            )


def elements_beyond_a_format_are_seen():
    for shape in SHAPES[:2]:
        for place in (0, -1):
            for value in (0.0, math.nan, SMALLEST, LARGEST, -LARGEST, 2 * LARGEST, -math.inf, -SMALLEST / 2):
                for beside in (1.0, math.nan, 0.0):
                    p = torch.ones(shape, dtype=torch.float64)
                    p.view(-1)[2], p.view(-1)[place] = beside, value
                    beyond, below = pieces.leaves(p, SMALLEST, LARGEST)
                    assert beyond == (abs(value) > LARGEST), (shape, value)
                    assert below == (0 < abs(value) < SMALLEST), (shape, value)


TESTS = (
    noise_has_the_bits_of_whole_tensors,
    mean_squares_have_the_bits_of_whole_tensors,
    elements_beyond_a_format_are_seen,
)
