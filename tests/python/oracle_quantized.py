"""Tests of unseen_torch/oracle: whole and 8-bit results of computed numbers that lie beside a jump; part of test_oracle.py."""

import torch
from oracle_asked import F, drawn
from oracle_exponents import judged_of

HALVES = torch.tensor([[127.0, 0.5, 1.5, -2.5, 3.25, 63.5, -126.5, 7.0]]).repeat(9, 1)


def accepts(judged, out):
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    return all(bool(((g.double() - j.want).abs() <= j.allowed).all()) for j, g in zip(judged, out))


def share_open(judged):
    return float((judged.allowed > 0).double().mean())


def rows_to_int8(x, step=None, away=False, floor=1e-8):
    """Dynamic quantization by rows."""
    s = x.abs().amax(-1, keepdim=True).clamp(min=floor) / 127
    q = x / s if step is None else step(x, s)
    q = torch.sign(q) * (q.abs() + 0.5).floor() if away else q.round()
    return q.clamp(-128, 127).to(torch.int8), s


def by_reciprocal(x, s):
    return x * (1 / s)


def both_neighbours_of_a_half_are_right():
    """And nothing else: at a half one step more or less, elsewhere the number itself."""
    drawings = [drawn(64, 512, seed=s) for s in range(4)] + [
        HALVES,
        torch.randint(-9, 10, (40, 64)).float(),
        drawn(3, 40, size=1e-6),
    ]
    for x in drawings:
        judged = judged_of(rows_to_int8, [x])
        assert not any(j.dropped for j in judged), [j.dropped for j in judged]
        assert accepts(judged, rows_to_int8(x)) and accepts(judged, rows_to_int8(x, by_reciprocal))
        q, s = rows_to_int8(x)
        assert float(judged[0].allowed.max()) < 2  # one step, and what the judge itself does not know
        assert not accepts(
            judged, (q + (torch.arange(q.numel()).reshape(q.shape) == 5).to(torch.int8) * 2, s)
        )
        # a step of 128, truncation, a scale for all rows
        if x is not HALVES:  # most of whose elements have two neighbours
            assert not accepts(judged, ((x / s * (128 / 127)).round().clamp(-128, 127).to(torch.int8), s))
            assert not accepts(judged, ((x / s).trunc().clamp(-128, 127).to(torch.int8), s))
        if not torch.equal(s, s.amax().expand_as(s)):
            assert not accepts(judged, ((x / s.amax()).round().to(torch.int8), s.amax().expand_as(s)))
    assert share_open(judged_of(rows_to_int8, [drawn(64, 512)])[0]) < 0.01
    assert share_open(judged_of(rows_to_int8, [HALVES])[0]) > 0.5


def halves_of_exact_numbers_go_to_even():
    """Where no honest implementation errs nothing is open."""
    x = torch.arange(-40, 40).reshape(8, 10) / 2
    judged = judged_of(lambda t: (t * 0.5).round().to(torch.int8), [x])
    assert float(judged[0].allowed.max()) == 0 and accepts(judged, (x * 0.5).round().to(torch.int8))
    assert not accepts(judged, torch.sign(x) * (x.abs() * 0.5 + 0.5).floor())


def quantized_products(x, w, step=None):
    q, s = rows_to_int8(x, step)
    p, t = rows_to_int8(w, step)
    return (q.float() @ p.float().t()) * (s * t.t())


def a_product_of_what_was_quantized_is_judged():
    for count in (24, 200):
        x, w = drawn(17, count, seed=count), drawn(13, count, seed=count + 1)
        x[3, :8], w[2, -8:] = HALVES[0] / 7, HALVES[0]  # rows with halves
        judged = judged_of(quantized_products, [x, w])
        assert not judged[0].dropped, judged[0].dropped
        assert accepts(judged, quantized_products(x, w)) and accepts(
            judged, quantized_products(x, w, by_reciprocal)
        )
        assert not accepts(judged, quantized_products(x[:, :-1], w[:, :-1])) and not accepts(
            judged, x @ w.t()
        )


def packed(x):
    """Two numbers of 4 bits in a byte."""
    s = x.abs().amax(-1, keepdim=True) / 7
    q = ((x / s).round().clamp(-8, 7) + 8).to(torch.uint8)
    return q[:, 0::2] | (q[:, 1::2] << 4), s


def bytes_of_two_numbers_are_judged():
    for seed in range(4):
        x = drawn(30, 64, seed=seed)
        x[seed, :8] = torch.tensor([7.0, 0.5, 1.5, -2.5, 3.0, 4.5, -6.5, 2.0])  # halves of a step
        judged = judged_of(packed, [x])
        assert not judged[0].dropped, judged[0].dropped
        assert accepts(judged, packed(x)) and 0 < judged[0].untold * 16 < x.numel()
        assert not accepts(judged, packed(x.roll(1, 1)))


def faked(x, levels=7, zero=0.0):
    """Quantized and taken back, a few levels."""
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    s = (high - low) / levels
    return ((x - low) / s + zero).round() * s + low


def few_levels_are_judged():
    """One element of some hundreds at a half is a sixth of a few levels' size."""
    for seed in range(6):
        x = drawn(9, 33, seed=seed)
        x[0, :] = torch.linspace(0, 1, 33)
        x[1, :16] = torch.linspace(0, 7, 15 + 1) + 0.5
        judged = judged_of(faked, [x])
        assert not judged[0].dropped, judged[0].dropped
        assert (
            accepts(judged, faked(x))
            and not accepts(judged, faked(x, zero=0.02))
            and not accepts(judged, faked(x, levels=8))
        )


def blocks_to_fp8(x, dtype=torch.float8_e4m3fn, most=448.0, step=None):
    b = x.reshape(x.shape[0], -1, 16)
    s = b.abs().amax(-1, keepdim=True).clamp(min=1e-4) / most
    y = b / s if step is None else step(b, s)
    return y.clamp(-most, most).to(dtype), s.squeeze(-1)


def eight_bit_numbers_have_two_neighbours_at_a_tie():
    for dtype, most in ((torch.float8_e4m3fn, 448.0), (torch.float8_e5m2, 57344.0)):

        def task(x):
            return blocks_to_fp8(x, dtype, most)

        for x in (drawn(32, 64), torch.randint(-9, 10, (16, 32)).float(), drawn(4, 32, size=1e-7)):
            judged = judged_of(task, [x])
            assert not judged[0].dropped, judged[0].dropped
            assert accepts(judged, task(x)) and accepts(judged, blocks_to_fp8(x, dtype, most, by_reciprocal))
            q, s = task(x)
            assert not accepts(judged, (q.float() * 1.125, s))
            assert not accepts(judged, (blocks_to_fp8(x, dtype, most / 2)[0], s))
        assert share_open(judged_of(task, [drawn(32, 64)])[0]) < 0.02

    def back(x):
        return (blocks_to_fp8(x)[0].float() * blocks_to_fp8(x)[1][..., None]).sum(-1)

    judged = judged_of(back, [drawn(32, 64)])
    assert not judged[0].dropped and accepts(judged, back(drawn(32, 64)))
    assert not accepts(judged, drawn(32, 64).reshape(32, 4, 16).sum(-1))  # not quantized at all


def through_sixteen_bits():
    """Quantization of what was computed in bf16: every element may be off by a step, and the task is judged."""
    x = drawn(64, 128).bfloat16()
    judged = judged_of(rows_to_int8, [x])
    assert not judged[0].dropped, judged[0].dropped
    q, s = rows_to_int8(x)
    assert accepts(judged, (q, s)) and accepts(judged, rows_to_int8(x.float()))
    assert not accepts(judged, (q.roll(1, 1), s)) and not accepts(judged, (torch.zeros_like(q), s))


def what_goes_beyond_its_type_is_not_told():
    """A square of 8 bits wraps where an element may be one of two; 16 bits hold it."""
    x = drawn(12, 32)
    x[0, :8] = HALVES[0]
    narrow, wide = lambda t: rows_to_int8(t)[0] ** 2, lambda t: rows_to_int8(t)[0].to(torch.int16) ** 2
    assert "may be anything" in judged_of(narrow, [x])[0].dropped
    judged = judged_of(wide, [x])
    assert not judged[0].dropped and accepts(judged, [wide(x)]) and not accepts(judged, [wide(x.roll(1, 1))])


def a_cache_of_quantized_rows_is_judged():
    rows = torch.arange(5, 17)

    def task(t):
        return torch.zeros(20, 32, dtype=torch.int8).index_copy(0, rows, rows_to_int8(t)[0])

    x = drawn(12, 32)
    x[0, :8] = HALVES[0]
    judged = judged_of(task, [x])
    assert not judged[0].dropped and accepts(judged, [task(x)]) and float(judged[0].allowed.max()) < 2
    assert not accepts(judged, [task(x.roll(1, 0))]) and not accepts(judged, [task(x * 0)])


def bins(x, weigh, how=torch.floor):
    """A histogram: how many of each, and what they weigh."""
    at = how((x - x.amin()) / (x.amax() - x.amin()) * 10).clamp(0, 9).long().reshape(-1)
    return torch.zeros(10).scatter_add(0, at, weigh.reshape(-1)), torch.zeros(10).index_add(
        0, at, torch.ones_like(x).reshape(-1)
    )


def bins_beside_an_edge_are_either():
    """Of a bin that an element may be in or not the sum is one of two; every other bin is what it is."""
    for seed in range(3):
        x, weigh = drawn(8, 40, seed=seed), drawn(8, 40, seed=seed + 9)
        low, width = x.amin(), x.amax() - x.amin()
        x[2, 3] = low + 0.3 * width  # at an edge
        judged = judged_of(bins, [x, weigh])
        assert not any(j.dropped for j in judged), [j.dropped for j in judged]
        assert accepts(judged, bins(x, weigh)) and accepts(
            judged, bins(x, weigh, lambda t: torch.floor(t * 1.0000002))
        )
        assert (judged[0].allowed < 1e-4).sum() >= 8 and float(judged[1].allowed.max()) < 1.5
        assert not accepts(judged, bins(x, weigh, torch.ceil)) and not accepts(
            judged, bins(x[:, :-1], weigh[:, :-1])
        )


def looked_up(x, table, scaled=lambda t: t * 0.3):
    at = scaled(x).floor().clamp(-4, 4).long() + 4
    return (
        table[at],
        F.embedding(at, table.unsqueeze(1)),
        torch.bucketize(scaled(x), torch.tensor([-0.6, 0.0, 0.3, 3.0])),
    )


def what_is_looked_up_beside_a_jump_is_either():
    x, table = drawn(6, 40, size=5.0), drawn(9, seed=4)
    x[1, :4] = torch.tensor([10.0, -10.0, 1.0, 20.0])
    judged = judged_of(looked_up, [x, table])
    assert not any(j.dropped for j in judged), [j.dropped for j in judged]
    assert accepts(judged, looked_up(x, table)) and accepts(
        judged, looked_up(x, table, lambda t: t / 3.3333335)
    )
    assert looked_up(x, table, lambda t: t / 3.3333335)[0][1, 0] != looked_up(x, table)[0][1, 0]
    assert share_open(judged[2]) < 0.05 and not accepts(judged, looked_up(x + 0.2, table))
    assert not accepts(judged, looked_up(x, table.flip(0)))


TESTS = [
    both_neighbours_of_a_half_are_right,
    halves_of_exact_numbers_go_to_even,
    a_product_of_what_was_quantized_is_judged,
    bytes_of_two_numbers_are_judged,
    few_levels_are_judged,
    eight_bit_numbers_have_two_neighbours_at_a_tie,
    through_sixteen_bits,
    what_goes_beyond_its_type_is_not_told,
    a_cache_of_quantized_rows_is_judged,
    bins_beside_an_edge_are_either,
    what_is_looked_up_beside_a_jump_is_either,
]
