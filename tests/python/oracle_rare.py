"""Calls that few tasks make, each by its name: (function, operands), for test_oracle.py."""

import torch
from oracle_asked import F, drawn, x

image = drawn(2, 6, 9, 9)


def WITHIN(t):
    return 0.9 * t.tanh()


RARE = {  # what few tasks use: of exact operands, and of products
    "asin": WITHIN,
    "acos": WITHIN,
    "atanh": WITHIN,
    "erfinv": WITHIN,
    "acosh": lambda t: t.abs() + 1.01,
    "lgamma": lambda t: t.abs() + 0.1,
    "digamma": lambda t: t.abs() + 0.1,
    "mvlgamma": lambda t: t.abs() + 3,
    "sinh": None,
    "cosh": None,
    "tan": lambda t: 1.2 * t.tanh(),
    "erfc": None,
    "deg2rad": None,
    "rad2deg": None,
    "sgn": lambda t: t + 0.25,
}
RARE = {
    "rare_" + name: (
        lambda a, c, f=getattr(torch, name), of=of, more=(2,) if name == "mvlgamma" else (): f(  # noqa: B008
            *[of(a @ c) if of else a @ c], *more
        ),
        [drawn(6, 8), drawn(8, 50, seed=2)],
    )
    for name, of in RARE.items()
}
PLACES, GRAPH = torch.tensor([0, 2, 1, 0, 2, 3]), torch.tensor([0, 2, 1, 0, 2, 3])[:, None].expand(6, 40)


def MASKED(t):
    return (t * 3).masked_fill(torch.ones(6, 40).triu(3).bool(), -float("inf"))


def COMBINED(t):
    # as partial results of attention are combined, where some keys belong to no part at all
    share = (t - t.logsumexp(0)).exp()
    return torch.where(share.isinf() | share.isnan(), 0.0, share)


WITHOUT_PARTS = torch.arange(40) < 3

RARE.update(
    {
        "parts of nothing": (lambda t: COMBINED((t * 3).masked_fill(WITHOUT_PARTS, -float("inf"))), [x]),
        "masked by hand": (lambda t: MASKED(t).exp() / MASKED(t).exp().sum(1, keepdim=True), [x]),
        "a gate that is shut": (lambda t: torch.sigmoid(MASKED(t)), [x]),
        "powers of 2 that are 0": (lambda t: torch.exp2(MASKED(t)), [x]),
        "less 1": (lambda t: torch.expm1(MASKED(t)), [x]),
        "hypot": (lambda a, c: torch.hypot(a * 3, c), [x, drawn(6, 40, seed=4)]),
        "fmax": (lambda a, c: torch.fmax(a * 3, c), [x, drawn(6, 40, seed=4)]),
        "copysign": (torch.copysign, [x, drawn(6, 40, seed=4)]),
        "ldexp": (lambda a: torch.ldexp(a, torch.tensor(3)), [x]),
        "logaddexp2": (torch.logaddexp2, [x, drawn(6, 40, seed=4)]),
        "nansum": (lambda a: a.nansum(1), [x]),
        "addbmm": (torch.addbmm, [drawn(4, 6), drawn(3, 4, 5), drawn(3, 5, 6)]),
        "bilinear": (F.bilinear, [drawn(5, 4), drawn(5, 3), drawn(2, 4, 3)]),
        "fold": (lambda t: F.fold(t, (5, 5), 3), [drawn(2, 18, 9)]),
        "circular": (lambda t: F.pad(t, (1, 2, 3, 1), mode="circular"), [image]),
        "vander": (lambda t: torch.vander(t[0, :5]), [x]),
        "quantile": (lambda t: torch.quantile(t, 0.25, dim=1), [x]),
        "affine_grid": (lambda t: F.affine_grid(t, (2, 4, 5, 5), align_corners=False), [drawn(2, 2, 3)]),
        "trace": (torch.trace, [drawn(7, 7)]),
        "adaptive_most": (lambda t: F.adaptive_max_pool2d(t, 3), [image]),
        "block_diag": (torch.block_diag, [x, drawn(3, 4)]),
        "multi_margin": (lambda t: F.multi_margin_loss(t, torch.arange(6)), [x]),
        "cov": (torch.cov, [x]),
        "index_fill": (lambda t: t.index_fill(0, torch.tensor([1, 2]), 3.0), [x]),
        "bucketize": (lambda t: torch.bucketize(t, torch.linspace(-2, 2, 9)), [x]),
        "quantized": (lambda t: torch.fake_quantize_per_tensor_affine(t, 0.125, 3, -20, 20), [x]),
        "fftfreq": (lambda t: t * torch.fft.fftfreq(40, 0.3, dtype=t.dtype), [x]),
        "rfftfreq": (lambda t: t[:, :21] * torch.fft.rfftfreq(40, dtype=t.dtype), [x]),
        "range": (lambda t: t * torch.range(0, 39, dtype=t.dtype), [x]),
        "range of tenths": (lambda t: t * torch.arange(0, 3.95, 0.1, dtype=t.dtype), [x]),
        "weight_norm": (lambda v, g: torch._weight_norm(v, g, 0), [x, drawn(6, 1)]),
        **{
            "reduced_" + how: (
                lambda t, how=how: t.new_zeros(4, 40).scatter_reduce(
                    0, GRAPH, t * 3, how, include_self=how != "mean"
                ),
                [x],
            )
            for how in ("sum", "mean", "amax", "amin")
        },
        "where nothing is put": (
            lambda t: (
                (t[:4] * 99.1).sin().scatter_reduce(0, GRAPH[:3], t[:3] * 3, "mean", include_self=False)
            ),
            [x],
        ),
        "index_reduced": (lambda t: t.new_ones(4, 40).index_reduce(0, PLACES, t * 3, "mean"), [x]),
    }
)
