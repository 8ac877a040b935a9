"""Tests of unseen_torch/oracle: bicubic resizing, samples at pixels, pieces that floor chooses; part of test_oracle.py."""

import json

import torch
from oracle_asked import F, Plain, drawn
from oracle_exponents import judged_of, worst
from unseen_torch.oracle import graph as graphs
from unseen_torch.oracle import ir


def cubic(d, a=-0.75):
    d = d.abs()
    return torch.where(
        d <= 1,
        (a + 2) * d**3 - (a + 3) * d**2 + 1,
        torch.where(d < 2, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a, torch.zeros_like(d)),
    )


def weights(extent, made, align, dtype=torch.float32, a=-0.75, shift=0.0):
    """Of every pixel for every place, by the kernel as published."""
    at = torch.arange(made, dtype=dtype)
    place = at * ((extent - 1) / (made - 1)) if align else (at + 0.5) * (extent / made) - 0.5
    place = place + shift
    base = place.floor()
    w = torch.zeros(made, extent, dtype=dtype)
    for k in range(-1, 3):
        w.scatter_add_(
            1, (base.long() + k).clamp(0, extent - 1)[:, None], cubic(place - base - k, a)[:, None]
        )
    return w.float()


def by_products(x, size, align, **how):
    return torch.einsum(
        "yh,nchw,xw->ncyx",
        weights(x.shape[2], size[0], align, **how),
        x,
        weights(x.shape[3], size[1], align, **how),
    )


def a_bicubic_place_may_lie_at_a_pixel():
    for shape, size, align in (
        ((2, 3, 9, 12), (16, 34), True),
        ((2, 3, 9, 9), (17, 25), True),
        ((1, 2, 8, 6), (16, 24), False),
        ((1, 2, 9, 12), (5, 4), False),
        ((1, 1, 7, 5), (7, 5), True),
    ):

        def task(x):
            return F.interpolate(x, size=size, mode="bicubic", align_corners=align)

        for x in (drawn(*shape), torch.randint(-9, 10, shape).float(), 30 + drawn(*shape, size=1e-3)):
            (j,) = judged = judged_of(task, [x])
            assert not j.dropped and not j.ensemble and j.enclosed, j.dropped
            assert worst(judged, task(x)) <= 0.9 and worst(judged, by_products(x, size, align)) <= 0.9
            assert worst(judged, by_products(x, size, align, dtype=torch.float64)) <= 0.9
            if size != shape[2:] and float(x.std()) > 0.1:
                assert worst(judged, by_products(x, size, align, a=-0.5)) > 1, (shape, size)
                assert worst(judged, by_products(x, size, align, shift=1e-3)) > 1, (shape, size)
                assert worst(judged, by_products(x, size, not align)) > 1, (shape, size)


def a_bicubic_place_has_a_witness():
    x = drawn(1, 2, 5, 6)
    graph = graphs.trace(Plain(lambda t: F.interpolate(t * 2, scale_factor=2, mode="bicubic")), [x])
    text, _ = ir.lowered(graph, {}, [x])
    assert json.loads(text)["outputs"][0] >= 0
    twice = judged_of(lambda t: F.interpolate(t * 2, scale_factor=2, mode="bicubic"), [x])
    assert worst(twice, by_products(x * 2, (10, 12), False)) <= 0.9


def at_pixels(extent, made):
    """A grid of which most places are pixels, computed in fp32."""
    y, x = torch.meshgrid(torch.linspace(-1, 1, made), torch.linspace(-1, 1, 2 * extent - 1), indexing="ij")
    return torch.stack([x, y], -1)[None]


def samples_at_pixels_are_judged():
    x, grid = drawn(1, 3, 9, 9), at_pixels(9, 17)
    for mode in ("bilinear", "bicubic"):
        for padding in ("zeros", "border"):

            def task(t, g):
                return F.grid_sample(t, g * 1.0000001, mode=mode, padding_mode=padding, align_corners=True)

            (j,) = judged = judged_of(task, [x, grid])
            assert not j.dropped, (mode, padding, j.dropped)
            inner = j.allowed[:, :, 1:-1, 1:-1]
            assert worst(judged, task(x, grid)) <= 1 and float(inner.max()) < 1e-2, (
                mode,
                padding,
                float(inner.max()),
            )
            assert (
                worst(
                    judged,
                    F.grid_sample(x, grid * 0.999, mode=mode, padding_mode=padding, align_corners=True),
                )
                > 1
            )


def piecewise(x, table, nudge=0.0):
    """A table's values, and between two of them a straight line."""
    place = (x.sigmoid() * 0.999) * 8
    low = (place + nudge).floor()
    t = place - low
    at = low.long().clamp(0, 7)
    return table[at] * (1 - t) + table[at + 1] * t


def pieces_that_meet_are_judged_closely():
    """At an edge either piece is right, and both have one value there."""
    table = drawn(9, seed=3)
    edges = torch.logit(torch.arange(1, 8) / 8 / 0.999)
    x = drawn(20, 50)
    x[0, :7] = edges
    (j,) = judged = judged_of(piecewise, [x, table])
    assert not j.dropped and float(j.allowed.max()) < 1e-4, (j.dropped, float(j.allowed.max()))
    assert worst(judged, piecewise(x, table)) <= 1
    assert worst(judged, piecewise(x, table, 1e-7)) <= 1 and worst(judged, piecewise(x, table, -1e-7)) <= 1
    assert worst(judged, piecewise(x + 1e-3, table)) > 1 and worst(judged, piecewise(x, table.flip(0))) > 1


TESTS = [
    a_bicubic_place_may_lie_at_a_pixel,
    a_bicubic_place_has_a_witness,
    samples_at_pixels_are_judged,
    pieces_that_meet_are_judged_closely,
]
