"""Tests of unseen_torch/oracle: sums of exponents in the place of products of exponentials; part of test_oracle.py."""

import math

import torch
from oracle_asked import F, Plain, drawn, told


def worst(judged, out):
    """The greatest error in units of what is allowed."""
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    off = [(g.double() - j.want).abs() for j, g in zip(judged, out)]
    return max(
        float(torch.where(e == 0, 0.0, e / j.allowed).nan_to_num(math.inf).max()) for j, e in zip(judged, off)
    )


def judged_of(function, inputs):
    return told(Plain(lambda *t: function(*t)), inputs)[2]


def running_sum(g, how):
    """Running sums along the last dimension, as scans form them."""
    if how == "one by one":
        made = [g[..., 0]]
        for t in range(1, g.shape[-1]):
            made.append(made[-1] + g[..., t])
        return torch.stack(made, -1)
    if how == "doubling":
        reach = 1
        while reach < g.shape[-1]:
            g = torch.cat([g[..., :reach], g[..., reach:] + g[..., :-reach]], -1)
            reach *= 2
        return g
    if how == "product":
        return g @ torch.ones(g.shape[-1], g.shape[-1]).triu()
    return g.cumsum(-1)


SCANS = ("one by one", "doubling", "product", "library")


def gated(q, k, v, g):
    """Linear attention with one decay for a head and step."""
    h, out = q.new_zeros(q.shape[0], q.shape[2], v.shape[2]), []
    for t in range(q.shape[1]):
        h = h * g[:, t, None, None].exp() + k[:, t, :, None] * v[:, t, None, :]
        out.append((q[:, t, :, None] * h).sum(-2))
    return torch.stack(out, 1), h


def gated_at_once(q, k, v, g, how="library", chunk=None, lag=0, cut=0):
    """The same by differences of running sums, `chunk` steps at a time. Wrong ones: `lag` shifts the decays, `cut` leaves keys out."""
    steps = q.shape[1]
    chunk = chunk or steps
    h, out = q.new_zeros(q.shape[0], q.shape[2], v.shape[2]), []
    for first in range(0, steps, chunk):
        at = slice(first, min(first + chunk, steps))
        b = running_sum(g[:, at], how)
        n = b.shape[1]
        d = b[:, :, None] - (F.pad(b, (1, 0))[:, :-1] if lag else b)[:, None, :]
        d = d.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -math.inf).exp()
        weights = (q[:, at] @ k[:, at].transpose(1, 2)) * d
        weights[:, :, :cut] = 0
        out.append(weights @ v[:, at] + (q[:, at] * b.exp()[..., None]) @ h)
        h = (
            h * b[:, -1, None, None].exp()
            + (k[:, at] * (b[:, -1:] - b).exp()[..., None]).transpose(1, 2) @ v[:, at]
        )
    return torch.cat(out, 1), h


def heads(steps, seed, size=1.0):
    q, k, v = (drawn(8, steps, 6, seed=seed + i) for i in range(3))
    return [q, k, v, F.logsigmoid(size * drawn(8, steps, seed=seed + 3))]


def a_recurrence_may_be_computed_by_chunks():
    """Each scan of the logarithms, of all steps or of some; faults of the same form are found."""
    for steps in (5, 12, 33):
        for size in (1.0, 4.0):
            inputs = heads(steps, 7 * steps, size)
            judged = judged_of(gated, inputs)
            for how in SCANS:
                for chunk in (None, 4, 16):
                    found = worst(judged, gated_at_once(*inputs, how, chunk))
                    assert found <= 0.9, (steps, size, how, chunk, found)
            assert worst(judged, gated(*inputs)) <= 0.9
            q, k, v, g = inputs
            for name, out in {
                "lag": gated_at_once(*inputs, lag=1),
                "cut": gated_at_once(*inputs, cut=1),
                "decays in bf16": gated_at_once(q, k, v, g.bfloat16().float()),
                "a decay less": gated_at_once(q, k, v, torch.where(torch.arange(steps) == steps - 1, 0, g)),
                "another base": gated_at_once(q, k, v, g * 1.0001),
            }.items():
                assert worst(judged, out) > 1, (steps, size, name)


def per_channel(k, v, g, x):
    """A decay for every channel, from a sigmoid, of which others take the logarithm."""
    h, out = k.new_zeros(k.shape[0], k.shape[2], v.shape[2]), []
    for t in range(k.shape[1]):
        h = torch.einsum("bk,bkv->bkv", torch.sigmoid(g[:, t]), h) + torch.einsum(
            "bk,bv->bkv", k[:, t], v[:, t]
        )
        out.append(torch.einsum("bk,bkv->bv", x[:, t], h))
    return torch.stack(out, 1)


def per_channel_at_once(k, v, g, x, how, factor=1.0):
    b = running_sum(factor * F.logsigmoid(g).transpose(1, 2), how).transpose(1, 2)
    steps = k.shape[1]
    d = (
        (b[:, :, None] - b[:, None])
        .masked_fill(~torch.ones(steps, steps, dtype=torch.bool).tril()[..., None], -math.inf)
        .exp()
    )
    return torch.einsum("btk,btsk,bsk,bsv->btv", x, d, k, v)


def a_gate_may_be_an_exponent():
    for steps in (6, 24):
        k, v, g, x = (drawn(6, steps, 5, seed=steps + i) for i in range(4))
        judged = judged_of(per_channel, [k, v, g, x])
        for how in SCANS:
            found = worst(judged, per_channel_at_once(k, v, g, x, how))
            assert found <= 0.9, (steps, how, found)
        assert worst(judged, per_channel_at_once(k, v, g, x, "library", 1.0001)) > 1, steps


def selective(u, delta, a, b, c):
    """A state-space model with a decay for every channel and state."""
    decay = torch.exp(delta[..., None] * a)
    h, out = u.new_zeros(u.shape[0], *a.shape), []
    for t in range(u.shape[1]):
        h = decay[:, t] * h + (delta[:, t] * u[:, t])[..., None] * b[:, t, None]
        out.append((h * c[:, t, None]).sum(-1))
    return torch.stack(out, 1)


def selective_at_once(u, delta, a, b, c, how):
    sums = running_sum(delta.transpose(1, 2), how).transpose(1, 2)[..., None] * a
    steps = u.shape[1]
    below = torch.ones(steps, steps, dtype=torch.bool).tril()[..., None, None]
    d = (sums[:, :, None] - sums[:, None]).masked_fill(~below, -math.inf).exp()
    return torch.einsum("btn,btsdn,bsd,bsn->btd", c, d, delta * u, b)


def a_state_space_model_may_be_a_product():
    """Whichever of the two the task writes."""
    for steps in (7, 30):
        u, delta = drawn(3, steps, 4, seed=steps), F.softplus(drawn(3, steps, 4, seed=steps + 1))
        a = -torch.exp(drawn(4, 5, seed=steps + 2))
        b, c = drawn(3, steps, 5, seed=steps + 3), drawn(3, steps, 5, seed=steps + 4)
        inputs = [u, delta, a, b, c]
        judged = judged_of(selective, inputs)
        for how in SCANS:
            found = worst(judged, selective_at_once(*inputs, how))
            assert found <= 0.9, (steps, how, found)
        assert worst(judged, selective_at_once(u, delta, a * 1.0001, b, c, "library")) > 1
        other = judged_of(lambda *t: selective_at_once(*t, "library"), inputs)
        assert worst(other, selective(*inputs)) <= 0.9
        assert worst(other, selective(u, delta, a * 1.0001, b, c)) > 1


def segment_sums(a):
    """The sums of a over s < k <= t, each by itself, as exponents of weights."""
    steps = a.shape[-1]
    below = torch.ones(steps, steps, dtype=torch.bool).tril(-1)
    total = a[..., None].expand(*a.shape, steps).masked_fill(~below, 0.0).cumsum(-2)
    return total.masked_fill(~below & ~torch.eye(steps, dtype=torch.bool), -math.inf).exp()


def differences(a):
    sums, steps = a.cumsum(-1), a.shape[-1]
    upper = torch.ones(steps, steps, dtype=torch.bool).triu(1)
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(upper, -math.inf).exp()


def sums_of_segments_may_be_differences():
    """Large exponents cancel in a difference, while the sum of a segment has only its own."""
    for steps in (16, 64):
        a, x = -20 * F.softplus(drawn(6, steps, seed=steps)), drawn(6, steps, 3, seed=1)
        a[:, -3:] *= 1e-3
        judged = judged_of(lambda a, x: segment_sums(a) @ x, [a, x])
        assert worst(judged, differences(a) @ x) <= 0.9
        assert worst(judged, segment_sums(a * 1.001) @ x) > 1


def stabilized(w, u, k, v):
    """Weights that decay with time, by a running maximum that starts at the least number there is."""
    a, b, most, out = (
        torch.zeros_like(k[:, 0]),
        torch.zeros_like(k[:, 0]),
        torch.full_like(k[:, 0], -1e38),
        [],
    )
    for t in range(k.shape[1]):
        top = torch.maximum(most, u + k[:, t])
        old, new = torch.exp(most - top), torch.exp(u + k[:, t] - top)
        out.append((old * a + new * v[:, t]) / (old * b + new))
        top = torch.maximum(most + w, k[:, t])
        old, new = torch.exp(most + w - top), torch.exp(k[:, t] - top)
        a, b, most = old * a + new * v[:, t], old * b + new, top
    return torch.stack(out, 1)


def stabilized_at_once(w, u, k, v):
    """The same as one softmax."""
    at = torch.arange(k.shape[1])
    e = (at[:, None] - 1 - at).unsqueeze(-1) * w + k[:, None]
    e = e.masked_fill((at >= at[:, None]).unsqueeze(-1), -math.inf)
    e = torch.where(torch.eye(len(at), dtype=torch.bool).unsqueeze(-1), (u + k)[:, None], e)
    return torch.einsum("btsc,bsc->btc", e.softmax(2), v)


def a_running_maximum_may_be_left_out():
    w, u, v = -torch.exp(drawn(5, seed=2)), drawn(5, seed=3), drawn(4, 18, 5, seed=4)
    for size in (1.0, 6.0):
        k = drawn(4, 18, 5, seed=5, size=size)
        judged = judged_of(stabilized, [w, u, k, v])
        assert not judged[0].dropped, judged[0].dropped
        assert worst(judged, stabilized(w, u, k, v)) <= 0.9
        found = worst(judged, stabilized_at_once(w, u, k, v))
        assert found <= 0.9, (size, found)
        assert (
            worst(judged, stabilized_at_once(w * 1.001, u, k, v)) > 1
            and worst(judged, stabilized_at_once(w, u * 0, k, v)) > 1
        )


def by_log_sum(s, v, base=math.e):
    """Probabilities as exponentials less the logarithm of their sum."""
    if base == 2:
        scaled = s * math.log2(math.e)
        most = scaled.amax(-1, keepdim=True)
        return torch.exp2(scaled - (most + torch.log2(torch.exp2(scaled - most).sum(-1, keepdim=True)))) @ v
    return torch.exp(s - s.logsumexp(-1, keepdim=True)) @ v


def sinks(s, v, sink):
    """A logit of its own in the sum, which nothing is taken of; the greatest one is taken off first."""
    wide = torch.cat([s, sink.expand(*s.shape[:-1], 1)], -1)
    wide = wide - wide.max(-1, keepdim=True).values
    return F.softmax(wide, -1)[..., :-1] @ v


def sinks_at_once(s, v, sink, off=0.0):
    lse = torch.logaddexp(s.logsumexp(-1, keepdim=True), sink + off)
    return torch.exp(s - lse) @ v


def merged(parts, lse):
    """Parts of attention, weighed by the logarithms of their sums."""
    weights = torch.exp(lse - lse.max(0, keepdim=True).values)
    return (weights[..., None] * parts).sum(0) / weights.sum(0)[..., None]


def merged_at_once(parts, lse, off=0.0):
    return (torch.exp(lse - torch.logsumexp(lse, 0, keepdim=True) + off)[..., None] * parts).sum(0)


def probabilities_may_be_exponentials_less_a_log_sum():
    """Of small scores and of large ones, whose difference is off by their own size."""
    for size, shift in ((1.0, 0.0), (8.0, 0.0), (8.0, -700.0), (3.0, 3000.0), (200.0, 0.0)):
        for count in (3, 40):
            s, v = drawn(40, count, seed=count, size=size) + shift, drawn(count, 16, seed=2)
            judged = judged_of(lambda s, v: s.softmax(-1) @ v, [s, v])
            for base in (math.e, 2):
                assert worst(judged, by_log_sum(s, v, base)) <= 0.9, (
                    size,
                    shift,
                    count,
                    base,
                    worst(judged, by_log_sum(s, v, base)),
                )
            assert (
                size > 100 or worst(judged, by_log_sum(torch.cat([s[:, :-1], s[:, -1:] + 0.01], 1), v)) > 1
            ), (size, shift, count)
            sink = drawn(40, 1, seed=5, size=size) + shift
            judged = judged_of(sinks, [s, v, sink])
            assert worst(judged, sinks_at_once(s, v, sink)) <= 0.9, (
                size,
                shift,
                count,
                worst(judged, sinks_at_once(s, v, sink)),
            )
            assert worst(judged, sinks_at_once(s, v, sink, 0.01)) > 1
            parts, lse = drawn(count, 40, 16, seed=3), s.t().contiguous()
            judged = judged_of(merged, [parts, lse])
            found = worst(judged, merged_at_once(parts, lse))
            assert found <= 0.9, (size, shift, count, found)
            assert worst(judged, merged_at_once(parts, lse, 0.01)) > 1
            assert worst(judged, merged(parts[1:], lse[1:])) > 1


def states(parts, lse):
    """Partial states of attention: their mean, weighed, and the logarithm of the sum of all."""
    most = lse.max(0, keepdim=True).values
    weights = torch.exp(lse - most)
    total = weights.sum(0)
    return (weights[..., None] * parts).sum(0) / total.clamp(min=1e-30)[..., None], torch.log(total) + most[0]


def states_in_turn(parts, lse):
    """The same states, one after another. Each step rounds the logarithm of the sum so far."""
    out, log = parts[0], lse[0]
    for part, own in zip(parts[1:], lse[1:]):
        new = torch.logaddexp(log, own)
        out = out * torch.exp(log - new)[..., None] + part * torch.exp(own - new)[..., None]
        log = new
    return out, log


def partial_states_may_be_merged_in_turn():
    """A running logarithm errs once a step, at its own size. A lost state or a wrong weight is found."""
    several = ((2, 1.0, 0.0), (3, 5.0, 40.0), (11, 3.0, 130.0), (48, 3.0, -130.0), (48, 0.01, 138.0))
    for count, size, shift in several:
        parts, lse = drawn(count, 40, 16, seed=3), drawn(count, 40, seed=count, size=size) + shift
        forms = (states, lambda parts, lse: (states(parts, lse)[0], torch.logsumexp(lse, 0)))
        for number, task in enumerate(forms):
            judged = judged_of(task, [parts, lse])
            found = worst(judged, states_in_turn(parts, lse))
            assert found <= 0.9, (count, size, shift, number, found)
            cooler = torch.cat([lse[:1] - 0.01, lse[1:]])
            for fault in ((parts[1:], lse[1:]), (parts, cooler), (parts, lse.bfloat16().float())):
                assert worst(judged, states_in_turn(*fault)) > 1, (count, size, shift, number)


def scalings(z, steps):
    """Sinkhorn's iterations as two vectors of factors of exp(z)."""
    weights = torch.exp(z)
    b = torch.ones_like(z[..., :1, :]).transpose(-1, -2)
    for _ in range(steps):
        a = 1 / (weights @ b)
        b = 1 / (weights.transpose(-1, -2) @ a)
    return a * weights * b.transpose(-1, -2)


def potentials(z, steps):
    """The same as two vectors of logarithms."""
    v = torch.zeros_like(z[..., :1, :])
    for _ in range(steps):
        u = torch.logsumexp(z - v, -1, keepdim=True)
        v = torch.logsumexp(z - u, -2, keepdim=True)
    return torch.exp(z - u - v)


def normalizations(z, steps):
    weights = torch.exp(z)
    for _ in range(steps):
        weights = weights / weights.sum(-1, keepdim=True)
        weights = weights / weights.sum(-2, keepdim=True)
    return weights


def log_normalizations(z, steps):
    for _ in range(steps):
        z = z - torch.logsumexp(z, -1, keepdim=True)
        z = z - torch.logsumexp(z, -2, keepdim=True)
    return torch.exp(z)


def normalizations_may_be_computed_in_logarithms():
    """And the other way round, with exponents whose exponentials fp32 still holds."""
    forms = (scalings, potentials, normalizations, log_normalizations)
    for size, shift, shape in (
        (1.0, 0.0, (4, 4)),
        (5.0, 30.0, (12, 20)),
        (20.0, 0.0, (4, 4)),
        (20.0, 0.0, (12, 20)),
    ):
        z = drawn(3, *shape, seed=sum(shape), size=size) + shift
        for task in forms:
            judged = judged_of(lambda z, task=task: task(z, 5), [z])
            assert not judged[0].dropped, (task.__name__, judged[0].dropped)
            for form in forms:
                found = worst(judged, form(z, 5))
                assert found <= 0.9, (task.__name__, form.__name__, size, shape, found)
            faults = (task(z, 4), task(z.bfloat16().float(), 5), task(z + 0.001 * drawn(*z.shape), 5))
            for number, out in enumerate(faults):
                assert worst(judged, out) > 1, (task.__name__, size, shift, shape, number)


TESTS = [
    a_recurrence_may_be_computed_by_chunks,
    partial_states_may_be_merged_in_turn,
    a_gate_may_be_an_exponent,
    a_state_space_model_may_be_a_product,
    sums_of_segments_may_be_differences,
    a_running_maximum_may_be_left_out,
    probabilities_may_be_exponentials_less_a_log_sum,
    normalizations_may_be_computed_in_logarithms,
]
