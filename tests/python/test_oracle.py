"""Tests of unseen_torch/oracle: run by the suite oracle_task, or by hand with any Python that has torch.

With a FOLDER the small cases' lowered graphs are written there.
"""

import json
import math
import sys

import candidates
import oracle_chains
import oracle_expanded
import oracle_exponents
import oracle_operations
import oracle_places
import oracle_quantized
import oracle_recurrent
import oracle_resized
import oracle_served
import oracle_supports
import oracle_ties
import torch
from oracle_asked import F, Plain, b, drawn, passes, positive, refusal, told, traced, w, x
from oracle_rare import RARE
from torch import nn
from unseen_torch.oracle import constant, evaluate, ir, returned, task_session
from unseen_torch.oracle import graph as graphs
from unseen_torch.oracle.number import Unsupported

MASK = torch.ones(6, 40).triu(3).bool()
w40, b40, w6, b6, p6 = drawn(40), drawn(40, seed=9), drawn(6), drawn(6, seed=9), positive(6)
BAGS, OFFSETS = torch.tensor([5, 0, 2, 2, 1, 4, 3, 0]), torch.tensor([0, 3, 3, 8])
image, kernel = drawn(2, 6, 9, 9), drawn(8, 6, 3, 3, seed=2)
SMALL = {
    "mm": (lambda a, c: a @ c, [x, w]),
    "addmm": (lambda a, c, d: torch.addmm(d, a, c), [x, w, b]),
    "bmm": (torch.bmm, [drawn(3, 4, 5), drawn(3, 5, 6)]),
    "linear": (F.linear, [x, drawn(7, 40)]),
    "conv1d": (F.conv1d, [drawn(2, 4, 20), drawn(6, 4, 3)]),
    "conv2d": (F.conv2d, [image, kernel]),
    "conv3d": (F.conv3d, [drawn(1, 3, 6, 6, 6), drawn(4, 3, 3, 3, 3)]),
    "transposed": (lambda a, c: F.conv_transpose2d(a, c, stride=2, padding=1), [image, drawn(6, 5, 3, 3)]),
    "grouped": (lambda a, c: F.conv2d(a, c, groups=2, dilation=2), [image, drawn(8, 3, 3, 3)]),
    "sum": (lambda a: a.sum(1), [x]),
    "mean": (lambda a: a.mean((0, 1)), [x]),
    "all": (torch.sum, [x]),
    "max": (lambda a: a.max(1)[0], [x]),
    "amin": (lambda a: a.amin(0), [x]),
    "norm": (lambda a: a / a.norm(dim=1, keepdim=True), [x]),
    "powers": (lambda a: 0.9**a * (a.abs() + 0.5) ** (a * 0.3), [x]),
    "power of a number": (lambda a: a / (1.5 - 0.9 ** a.abs()), [x]),
    "cumsum": (lambda a: a.cumsum(1), [x]),
    "nothing summed": (lambda a: torch.cat([a[:, :1] * 2, a[:, :0].cumsum(1)], 1), [x]),
    "cumprod": (lambda a: a.cumprod(1), [x]),
    "avg_pool": (lambda a: F.avg_pool2d(a, 3, 2, 1), [image]),
    "max_pool": (lambda a: F.max_pool2d(a, 2), [image]),
    "adaptive": (lambda a: F.adaptive_avg_pool2d(a, 2), [image]),
    "softmax": (lambda a: a.softmax(1), [8 * x]),
    "log_softmax": (lambda a: a.log_softmax(1), [8 * x]),
    "logsumexp": (lambda a: a.logsumexp(1), [x]),
    "masked": (lambda a: a.masked_fill(MASK, -math.inf).softmax(1), [x]),
    "layer_norm": (lambda a: F.layer_norm(a, (40,), w40, b40), [x + 3]),
    "group_norm": (lambda a: F.group_norm(a, 2, w6, b6), [image]),
    "batch_norm": (lambda a: F.batch_norm(a, None, None, w6, b6, training=True), [image]),
    "stored_norm": (lambda a: F.batch_norm(a, b6, p6, w6, b6), [image]),
    "instance_norm": (F.instance_norm, [image]),
    "attention": (
        F.scaled_dot_product_attention,
        [drawn(2, 3, 8, 16), drawn(2, 3, 8, 16, seed=2), drawn(2, 3, 8, 16, seed=3)],
    ),
    "cross_entropy": (F.cross_entropy, [x, torch.arange(6)]),
    "mse": (F.mse_loss, [x, drawn(6, 40, seed=4)]),
    "huber": (F.smooth_l1_loss, [x, drawn(6, 40, seed=4)]),
    "hinge": (lambda a: (1 - a).clamp(min=0).mean(), [x]),
    "triplet": (F.triplet_margin_loss, [x, drawn(6, 40, seed=4), drawn(6, 40, seed=5)]),
    "kl": (
        lambda a, c: F.kl_div(a.log(), c, reduction="batchmean"),
        [positive(4, 9).softmax(1), positive(4, 9).softmax(1).tril(3)],
    ),
    "where": (lambda a: torch.where(a * 3 > 1, a * a, -a), [x]),
    "cat": (lambda a: torch.cat([a, a * 3], 1), [x]),
    "gather": (lambda a: a.gather(1, torch.zeros(6, 2, dtype=torch.int64)), [x]),
    "floor": (lambda a: torch.floor(a * 3), [x]),
    "decimals": (lambda a: torch.round(a / 7, decimals=2), [x]),
    "trunc": (lambda a: torch.trunc(a * 3), [x]),
    "sign": (lambda a: torch.sign(a - 0.3), [x]),
    "frac": (lambda a: torch.frac(a * 3), [x]),
    "divided": (lambda a, c: a // c, [x, positive(6, 40)]),
    "of_both": (lambda a, c: (a * 3) // (c * 3), [x, positive(6, 40)]),
    "remainder": (lambda a: (a * 3) % 0.75, [x]),
    "fmod": (lambda a, c: torch.fmod(a * 3, c), [x, positive(6, 40)]),
    "of_two": (lambda a, c: torch.remainder(a * 3, -c), [x, positive(6, 40)]),
    "atan2": (lambda a, c: torch.atan2(a * 3, c * 3), [x, drawn(6, 40, seed=4)]),
    "atan": (lambda a: torch.atan(a * 3), [x]),
    "cummax": (lambda a: torch.cummax(a * 3, 1)[0], [x]),
    "cummin": (lambda a: torch.cummin(a * 3, 0)[0], [x]),
    "median": (lambda a: (a * 3).median(1)[0], [x]),
    "median_of_all": (lambda a: (a * 3).median(), [x]),
    "kthvalue": (lambda a: (a * 3).kthvalue(5, 0, keepdim=True)[0], [x]),
    "logcumsumexp": (lambda a: torch.logcumsumexp(a * 3, 1), [x]),
    "cdist": (torch.cdist, [x, drawn(5, 40, seed=4)]),
    "cdist_of_many": (torch.cdist, [drawn(2, 30, 7), drawn(2, 28, 7, seed=4)]),
    "cdist_1": (lambda a, c: torch.cdist(a, c, p=1), [x, drawn(5, 40, seed=4)]),
    "cdist_most": (lambda a, c: torch.cdist(a * 3, c, p=math.inf), [x, drawn(5, 40, seed=4)]),
    "pdist": (F.pdist, [x]),
    "bag": (lambda t: F.embedding_bag(BAGS, t * 3, OFFSETS, mode="sum"), [x]),
    "bag_mean": (lambda t: F.embedding_bag(BAGS, t * 3, OFFSETS, mode="mean", include_last_offset=True), [x]),
    "bag_most": (lambda t: F.embedding_bag(BAGS, t * 3, OFFSETS, mode="max", padding_idx=2), [x]),
    "bag_weighed": (
        lambda t, k: F.embedding_bag(BAGS.reshape(2, 4), t, per_sample_weights=k, mode="sum"),
        [x, drawn(2, 4, seed=4)],
    ),
    "strided": (lambda a: (a * 3).t().as_strided((5, 7), (2, 8), 3), [x]),
}
SMALL.update(oracle_recurrent.LAYERS)
CURVES = {
    name: getattr(F, name)
    for name in "relu leaky_relu gelu silu mish elu selu softplus hardswish hardsigmoid hardtanh softsign sigmoid tanh".split()
}
CURVES.update(
    exp=torch.exp,
    log=lambda t: torch.log(t.abs()),
    sqrt=lambda t: torch.sqrt(t.abs()),
    rsqrt=lambda t: torch.rsqrt(t.abs() + 1),
    erf=torch.erf,
    sin=torch.sin,
    cube=lambda t: t**3,
    root=lambda t: (t.abs() + 0.5) ** 0.3,
    gelu_tanh=lambda t: F.gelu(t, approximate="tanh"),
    divide=lambda t: t / (t * t + 0.5),
)


OF_PRODUCTS = {
    "curve_" + name: (lambda a, c, curve=curve: curve(a @ c), [drawn(6, 8, size=2.0), drawn(8, 50, seed=2)])
    for name, curve in CURVES.items()
}  # of inexact operands


def wider(t):
    return t.double() if isinstance(t, torch.Tensor) and t.is_floating_point() else t


def every_rule_encloses_and_admits_eager():
    """The exact value, by the same module in fp64, is within twice the radius; eager fp32 is right and in the bound."""
    for name, (function, inputs) in {**SMALL, **OF_PRODUCTS, **RARE}.items():
        _, _, judged = told(Plain(function), inputs)
        with torch.no_grad():
            eager, double = function(*inputs), None
            # whose places are in its own type
            if ("norm" not in name or name == "norm") and name != "affine_grid":
                double = function(*[wider(t) for t in inputs])
        j = judged[0]
        assert passes(judged, eager), f"{name}: eager is rejected"
        assert bool(((eager.double() - j.want).abs() <= j.bound + j.radius).all()), (
            f"{name}: eager exceeds the bound"
        )
        if double is not None and double.dtype == torch.float64:
            assert bool(((double - j.want).abs() <= 2 * j.radius + 1e-300).all()), (
                f"{name}: the radius does not hold"
            )
        assert j.enclosed, f"{name}: radius {float(j.radius.max()):.3g}"
        assert name not in RARE or math.isfinite(j.relative), f"{name}: cannot be told"


def radii_hold_at_a_unit_that_can_be_checked():
    """The rules of the radius, with fp32's unit in its place, enclose the results of fp32 by other means."""
    from unseen_torch.oracle import norms, number, sums

    kept = number.U64
    for name, (function, inputs) in SMALL.items():
        graph, state, _ = told(Plain(function), inputs)
        try:
            for module in (number, norms, sums):
                module.U64 = number.U32
            with torch.no_grad():
                (value, _), *_rest = evaluate.evaluate(graph, state, inputs, runs=0)
        finally:
            for module in (number, norms, sums):
                module.U64 = kept
        with torch.no_grad():
            got = candidates.run(graph, state, inputs, candidates.reordered(3))[0]
        error = (got.double() - value.v).abs()
        radius = torch.zeros_like(error) if value.r is None else value.r
        # no plain sums
        if name not in ("stored_norm", "attention", "masked", "softmax", "log_softmax", "logsumexp"):
            assert bool((error <= radius + 2.0**-126).all()), f"{name}: {float((error / radius).max()):.3g}"


def operands_errors_are_carried():
    """Inputs are off by up to e: for all values within it, the result is within its bound."""
    generator = torch.Generator().manual_seed(3)
    kept = evaluate.exact

    def inexact(v):
        number = kept(v)
        if number.is_float and number.v.numel() > 1:
            number.b = number.r = 1e-3 * number.v.abs() + 1e-4
        return number

    for name, (function, inputs) in {**SMALL, **OF_PRODUCTS}.items():
        if name in ("cross_entropy", "stored_norm", "kl"):  # weights, statistics, shares are constants
            continue
        try:
            evaluate.exact = inexact
            graph = traced(Plain(function), inputs)
            (value, _), *_rest = evaluate.evaluate(graph, {}, inputs, runs=0)
        finally:
            evaluate.exact = kept
        for _ in range(6):
            signs = [torch.randint(0, 2, t.shape, generator=generator) * 2 - 1 for t in inputs]
            moved = [
                wider(t) + s * (1e-3 * t.double().abs() + 1e-4) if t.is_floating_point() else t
                for t, s in zip(inputs, signs)
            ]
            with torch.no_grad():
                out = candidates.run(graph, {}, moved, double=True)[0].double()
            error = (out - value.v).abs()
            for bound in (value.b, value.r):
                assert bool((error <= bound + 1e-12 * value.v.abs()).all()), (
                    f"{name}: {float((error / bound).max()):.3g}"
                )


def deep_graphs_are_judged_by_their_runs():
    """Bounds multiply worst cases. The calibrated factor still separates rounded operands and half of 1e-4
    from honest work."""
    torch.manual_seed(1)
    deep = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(48, 48), nn.GELU(), nn.LayerNorm(48))])
    graph, state, judged = told(deep, [x @ torch.eye(40, 48)])
    j = judged[0]
    assert j.ensemble and float((j.allowed / j.bound).max()) < 0.01
    with torch.no_grad():
        inputs = [x @ torch.eye(40, 48)]
        right = deep(*inputs)
        assert passes(judged, right) and passes(
            judged, candidates.run(graph, state, inputs, candidates.reordered(5))
        )
        assert not passes(judged, candidates.run(graph, state, inputs, candidates.operands_rounded(10)))
        assert not passes(judged, right + 0.5e-4 * (1 + right.abs()) * torch.sign(drawn(*right.shape)))


def planted_faults_show():
    """Rounded operands, a dropped last term, an output tile left out, a wrong row pitch."""
    chosen = [
        "mm",
        "addmm",
        "bmm",
        "conv1d",
        "conv2d",
        "conv3d",
        "transposed",
        "grouped",
        "layer_norm",
        "softmax",
        "sum",
        "attention",
    ]
    for name in chosen:
        function, inputs = SMALL[name]
        graph, state, judged = told(Plain(function), inputs)
        with torch.no_grad():
            right = candidates.run(graph, state, inputs)
            faults = {
                "tail": candidates.run(graph, state, inputs, candidates.tail_left_out(graph)),
                "tile": candidates.tile_left_out(right),
                "zeros": [torch.zeros_like(t) for t in right],
                "strides": candidates.run(graph, state, candidates.wrong_strides(inputs, graph.inputs)),
            }
            if candidates.has_products(graph):
                faults["tf32"] = candidates.run(graph, state, inputs, candidates.operands_rounded(10))
        assert passes(judged, right) and passes(
            judged, candidates.run(graph, state, inputs, candidates.reordered(4))
        )
        for fault, out in faults.items():
            assert not passes(judged, out), f"{name}: {fault} passes"


def casts_are_permitted_roundings():
    """bf16 inside an fp32 module is optional: fp32 throughout is right, too."""
    model = Plain(lambda a, c: (a.bfloat16() @ c.bfloat16()).float() * 2)
    _, _, judged = told(model, [x, w])
    assert passes(judged, model(x, w)) and passes(judged, (x @ w) * 2)
    assert not passes(judged, (x @ w) * 2.2)
    half = Plain(lambda a, c: torch.relu(a @ c))
    _, _, judged = told(half, [x.half(), w.half()])
    assert passes(judged, half(x.half(), w.half())) and judged[0].dtype == torch.float16
    wrong = half(x.half(), w.half())
    wrong[0, 0] += 0.5
    assert not passes(judged, wrong)


def flash(q, k, v, narrow, scaled=lambda q: q, normalized=False):
    """Attention whose probabilities are rounded to `narrow`, before they are divided by their sum or behind."""
    s = scaled(q.float() * q.shape[-1] ** -0.5) @ k.float().transpose(-1, -2)
    p = torch.exp(s - s.amax(-1, keepdim=True))
    total = p.sum(-1, keepdim=True)
    p, total = (p / total, 1.0) if normalized else (p, total)
    return (p.to(narrow).float() @ v.float() / total).to(q.dtype)


def attention_may_round_its_probabilities():
    """Probabilities may have the 16 bits of the tensors. Scores may not, and in fp32 neither may."""
    inputs = [drawn(2, 3, 48, 24, seed=s) for s in (1, 2, 3)]
    for narrow in (torch.bfloat16, torch.float16):
        of = [t.to(narrow) for t in inputs]
        attention = Plain(lambda q, k, v: F.scaled_dot_product_attention(q, k, v))
        _, _, judged = told(attention, of)
        assert passes(judged, attention(*of)) and passes(judged, flash(*of, torch.float32)), narrow
        assert passes(judged, flash(*of, narrow)) and passes(judged, flash(*of, narrow, normalized=True)), (
            narrow
        )
        sharp = [4 * of[0], 4 * of[1], of[2]]
        _, _, judged = told(attention, sharp)
        assert passes(judged, flash(*sharp, narrow)) and not passes(
            judged, flash(*sharp, narrow, lambda q: q.to(narrow).float())
        ), narrow
        cut = [of[0], of[1][:, :, :-1], of[2][:, :, :-1]]
        assert not passes(told(attention, of)[2], flash(*cut, narrow)), narrow
    _, _, judged = told(Plain(lambda q, k, v: F.scaled_dot_product_attention(q, k, v)), inputs)
    assert passes(judged, flash(*inputs, torch.float32)) and not passes(judged, flash(*inputs, torch.float16))


def a_sigmoid_may_be_a_tanh():
    """It has an absolute error where the sigmoid is next to nothing."""
    far = torch.linspace(-30, 30, 200).reshape(4, 50)

    def half(z):
        return 0.5 * torch.tanh(0.5 * z) + 0.5

    for function, other in ((torch.sigmoid, half), (F.silu, lambda z: z * half(z))):
        _, _, judged = told(Plain(function), [far])
        assert passes(judged, function(far)) and passes(judged, other(far)), function
        assert not passes(judged, other(far) + 2e-6), function


class Gated(torch.nn.Module):
    """An LSTM: the library's, or its cells written out, with gates that are off by `off` and operands by `cast`."""

    def __init__(self, library, off=0.0, cast=lambda t: t):
        super().__init__()
        torch.manual_seed(5)
        self.library, self.off, self.cast = library, off, cast
        lstm = torch.nn.LSTM(24, 32, 2, batch_first=True)
        self.lstm = lstm if library else None
        self.weights = [[p.detach() for p in layer] for layer in lstm.all_weights]

    def forward(self, x):
        return self.lstm(x)[0] if self.library else self.steps(x)

    def steps(self, x):
        for wi, wh, bi, bh in self.weights:
            h = c = x.new_zeros(x.shape[0], 32)
            out = []
            for t in range(x.shape[1]):
                i, f, g, o = (
                    self.cast(x[:, t]) @ self.cast(wi).T + self.cast(h) @ self.cast(wh).T + bi + bh
                ).chunk(4, 1)
                c = (torch.sigmoid(f) + self.off) * c + (torch.sigmoid(i) + self.off) * (
                    torch.tanh(g) + self.off
                )
                h = (torch.sigmoid(o) + self.off) * (torch.tanh(c) + self.off)
                out.append(h)
            x = torch.stack(out, 1)
        return x


def gates_of_a_librarys_recurrent_layers_may_be_fast():
    """Gates of a library may be as fast as cuDNN's, and gates that a task writes out may not. TF32 shows
    in both."""
    inputs = [drawn(4, 12, 24, seed=3)]
    for library in (True, False):
        _, _, judged = told(Gated(library), inputs)
        with torch.no_grad():
            assert passes(judged, Gated(True)(*inputs)) and passes(judged, Gated(False)(*inputs)), library
            assert passes(judged, Gated(False, 2.0**-20)(*inputs)) == library
            assert not passes(judged, Gated(False, cast=lambda t: candidates.rounded(t, 10))(*inputs)), (
                library
            )


def nobody_is_held_to_what_the_module_itself_does_not_do():
    """In each configuration, not only in the first one. A NaN where the graph has none is such an answer."""
    task = type("Known", (), {"stateless": True})()
    _, _, judged = told(Plain(lambda t: t * 2), [x])
    task_session.check(task, [judged], lambda t: t * 2, [x])
    for other in (lambda t: t * 2 + 0.01, lambda t: torch.where(t == t[0, 0], torch.nan, t * 2)):
        try:
            task_session.check(task, [judged], other, [x])
        except Unsupported as error:
            assert "beyond what its declared arithmetic allows" in str(error)
        else:
            raise AssertionError("the module's own answer is not looked at")


def a_constant_may_be_folded_into_a_bias():
    """x + (b - c) for (x + b) - c: two roundings at the result's size, where one of the task's own is at a smaller one."""
    wide = torch.rand(4000, generator=torch.Generator().manual_seed(5)) * 0.4 - 0.2
    b, c = torch.tensor(-0.33), torch.tensor(2.07)
    _, _, (j,) = told(Plain(lambda t: torch.minimum(t + b, c) - c), [wide])
    error = ((wide + (b - c)).double() - j.want).abs()
    assert bool((error <= j.allowed).all()) and not bool((error <= j.allowed / 2).all())


def masks_of_what_cannot_be_told_are_open_where_that_matters():
    # after a product nobody can tell whether the first one is above 0.3
    near = torch.tensor([1.0, 2.0, 0.5])
    other = torch.tensor([True, True, False])
    for f, want in (
        (lambda t: (t * 0.3 > 0.3) & other, [1, 0, 0]),
        (lambda t: ~((t * 0.3 > 0.3) | other), [0, 0, 0]),
        (lambda t: (t * 0.3 > 0.3) ^ other, [1, 0, 0]),
        (lambda t: torch.logical_and(t * 0.3 > 0.3, ~other), [0, 0, 0]),
    ):
        _, _, (j,) = told(Plain(f), [near])
        assert j.allowed.tolist() == want and j.want.tolist() == f(near.double()).double().tolist(), want
    # whole numbers stay what they are
    packed, mask = torch.tensor([0x5A, 0x0F, 0xF0]), torch.tensor([0x0F])
    for f in (
        lambda t, q: t * (q & mask),
        lambda t, q: t * (q | mask),
        lambda t, q: t * (q ^ mask),
        lambda t, q: t * ~q,
        lambda t, q: t * torch.logical_and(q, mask),
        lambda t, q: t * torch.logical_not(q),
    ):
        _, _, (j,) = told(Plain(f), [near, packed])
        assert j.want.tolist() == f(near.double(), packed).tolist() and not j.dropped


def indices_are_right_by_what_they_name():
    ties = torch.tensor([[1.0, 3.0, 3.0, 2.0]])
    _, _, (j,) = told(Plain(lambda t: t.argmax(1)), [ties])
    # among equal values without rounding the first is right, as PyTorch promises
    for index, right in (
        (1, True),
        (2, False),
        (0, False),
        (3, False),
        (-1, False),
        (4, False),
        (1 << 40, False),
    ):
        got = torch.tensor([index])
        assert bool((returned.judge_index(j, got) == got).all()) == right, index

    def takes(j, *got):
        got = torch.tensor([got])
        return bool((returned.judge_index(j, got) == got).all())

    for largest, greatest in ((True, (1, 2)), (False, (0, 3))):
        _, _, (_, j) = told(Plain(lambda t: torch.topk(t, 2, 1, largest)), [ties])
        assert (
            takes(j, *greatest)
            and not takes(j, greatest[0], greatest[0])
            and not takes(j, greatest[1], greatest[1])
        )
        assert takes(j, *greatest[::-1]) == largest  # equal ones in any order, each once
    for stable in (False, True):
        _, _, (_, j) = told(Plain(lambda t: torch.sort(t, dim=1, stable=stable)), [ties])
        assert (
            takes(j, 0, 3, 1, 2)
            and takes(j, 0, 3, 2, 1) != stable
            and not takes(j, 0, 3, 2, 2)
            and not takes(j, 0, 3, 1, 1)
        )

    def marked(stable):
        return Plain(
            lambda t: torch.zeros_like(t).scatter(
                1, torch.sort(t, dim=1, descending=True, stable=stable).indices[:, :1], 1.0
            )
        )

    assert told(marked(True), [ties])[2][0].want.tolist() == [[0, 1, 0, 0]] and "may be anything" in refusal(
        marked(False), [ties]
    )
    _, _, (_, j) = told(Plain(lambda t: t.cummax(1)), [ties])  # names a place again and again
    assert takes(j, 0, 1, 2, 2) and takes(j, 0, 1, 1, 1)
    _, _, (j,) = told(Plain(lambda t: t.argmin()), [ties])
    assert returned.judge_index(j, torch.tensor(0)) == 0 and returned.judge_index(j, torch.tensor(3)) == 0
    near = torch.tensor([[1.0, 1.0 + 2.0**-23]])  # after a product nobody can tell which is greater
    _, _, (j,) = told(Plain(lambda t: (t * 0.3).argmax(1)), [near])
    assert returned.judge_index(j, torch.tensor([0])) == 0
    _, _, judged = told(Plain(lambda t: t * 0.3 > 0.3), [near])
    assert judged[0].allowed.tolist() == [[1.0, 1.0]]
    for factor in (0.3, torch.full((2, 2), 0.15)):  # a bound decides, and the runs
        branches = Plain(
            lambda t, k=factor: torch.where(
                (t * k if isinstance(k, float) else (t @ k).tanh())
                > (0.3 if isinstance(k, float) else math.tanh(0.3)),
                t + 1,
                -t,
            )
        )
        _, _, judged = told(branches, [near])
        assert passes(judged, near + 1) and passes(judged, -near) and not passes(judged, near + 9)
    rare = near[:, 1:]  # no run decides otherwise by itself
    _, _, judged = told(Plain(lambda t: torch.where(t * 0.3 > 0.3, t + 1, -t)), [rare])
    assert passes(judged, rare + 1) and passes(judged, -rare)


def what_cannot_be_told_is_said():
    norm = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6, eps=1e-30))
    close = 100 + drawn(3, 8, size=1e-5)  # three samples that differ by less than what the sums may err
    assert "cannot be told" in refusal(norm, [close])
    assert refusal(nn.Sequential(nn.Linear(8, 6), nn.Dropout(0.5)), [drawn(3, 8)]) in (
        "bernoulli",
        "native_dropout",
    )
    assert "no rule" in refusal(Plain(torch.special.zeta), [positive(3) + 2, positive(3)])
    assert refusal(Plain(lambda t: torch.exp(t)), [torch.tensor([1000.0, 1.0])]) == ""


def a_few_roundings_of_a_coarse_format_can_be_told():
    """Each rounding of bf16 is as large as the allowed error of an answer in fp32."""
    for narrow, limit in ((torch.bfloat16, 2.0**-5), (torch.float16, 2.0**-8), (torch.float32, 2.0**-8)):
        of = [x.to(narrow), w.to(narrow)]
        model = Plain(lambda a, c: F.silu(a @ c) * (a @ c) * (a @ c))
        (j,) = told(model, of)[2]
        assert j.untellable == limit and (narrow != torch.bfloat16 or j.relative > 2.0**-8), (
            narrow,
            j.relative,
        )
        assert not j.dropped and passes([j], model(*of)), j.dropped
    # only what goes through the format has its limit
    widened = Plain(lambda a: (a.float() * 3, (a * 3).float()))
    assert [j.untellable for j in told(widened, [x.bfloat16()])[2]] == [2.0**-8, 2.0**-5]
    close = Plain(lambda a: (a * 3 - a * 2.984375).float())
    assert "cannot be told" in refusal(close, [x.bfloat16()])


def what_is_0_everywhere_is_told_where_a_bound_is_proved():
    for function in (
        lambda t: F.log_softmax(t, 1),
        lambda t: F.layer_norm(t, (1,)),
        lambda t: t.var(1, unbiased=False),
    ):
        model = Plain(function)
        for size in (1.0, 30.0):
            inputs = [drawn(9, 1, size=size)]
            judged = told(model, inputs)[2]
            assert judged[0].dropped is None and not judged[0].want.any(), judged[0].dropped
            assert passes(judged, model(*inputs)) and passes(judged, judged[0].want)
            assert not passes(judged, torch.full_like(judged[0].want, 0.05))
            assert not passes(judged, torch.full_like(judged[0].want, torch.nan))


def what_is_0_everywhere_is_told_behind_other_operations():
    """A loss over one class, the square of a probability less 1, weights less their mean: of one number each."""
    one = drawn(40, 1, seed=7)
    for function, far in (
        (lambda t: F.cross_entropy(t @ one, torch.zeros(6, dtype=torch.int64)), 1e-3),
        (lambda t: (1 - (t @ one).softmax(1)) ** 2, 1e-3),
        (lambda t: (t[:, :1] - t[:, :1].mean(1, True)) / (t[:, :1].std(1, False, keepdim=True) + 1e-5), 0.05),
    ):
        judged, right = told(Plain(function), [x])[2], function(x)
        assert judged[0].dropped is None and not judged[0].want.any(), judged[0].dropped
        assert passes(judged, right) and passes(judged, judged[0].want)
        assert not passes(judged, torch.full_like(right, far))


def constants_are_found():
    for function, same in (
        (lambda t: (t - t.mean(1, True)).sum(1) * 0, True),
        (lambda t: F.relu(t - 100), True),
        (lambda t: torch.cat([t, t * 0]), False),
        (lambda t: t * 2, False),
    ):
        graph, state, judged = told(Plain(function), [x])
        with torch.no_grad():
            assert constant.is_constant(judged, graph, state, [x]) == same


def what_the_graph_computes_by_itself_is_the_right_answer():
    """Almost all operations have an fp64 version."""
    failed = []
    for name, (function, inputs) in {**SMALL, **OF_PRODUCTS, **RARE}.items():
        graph, state, judged = told(Plain(function), inputs)
        try:
            found = candidates.run(graph, state, inputs, double=True)
        except RuntimeError:
            failed.append(name)
            continue
        for v, j in zip(found, judged):
            near = (v.double() - j.want).abs() <= 2 * j.radius + 1e-300
            # whose places are in its own type
            assert name == "affine_grid" or bool((near | (v.double() == j.want)).all()), name
    assert not failed, failed


def the_same_seed_gives_the_same_answer():
    function, inputs = SMALL["conv3d"]
    first, second = (told(Plain(function), inputs, seed=5)[2][0] for _ in range(2))
    assert torch.equal(first.allowed, second.allowed) and torch.equal(first.want, second.want)


def what_vanishes_and_is_divided_by_cannot_be_told():
    """In fp32 the product of the decays is 0 at the end, and a quotient by it is infinite. The bound knows
    this, and the runs must."""
    decay, x = torch.full((1, 300), 0.7), drawn(1, 300)

    def weighed(x, decay):
        d = decay.cumprod(1)
        return (x / d).cumsum(1) * d

    for length, is_told in ((60, True), (300, False)):
        inputs = [x[:, :length], decay[:, :length]]
        judged = evaluate.answer(graphs.trace(Plain(weighed), inputs), {}, inputs)[0]
        assert (judged.dropped is None) == is_told, (length, judged.dropped)


def a_right_answer_that_is_nan_is_no_answer():
    mask = torch.tensor([[True, False], [False, False]])
    inputs = [drawn(2, 2), mask]
    masked = Plain(lambda x, m: x.masked_fill(~m, float("-inf")).softmax(-1))
    judged = evaluate.answer(graphs.trace(masked, inputs), {}, inputs)[0]
    assert judged.dropped and judged.dropped.startswith("2 of 4 right answers are NaN"), judged.dropped


def what_hangs_on_a_choice_has_no_single_elements():
    """PReLU is `where(x > 0, x, a x)` in a graph. MPFR cannot evaluate that mask, and later operations
    have no witness either. The part beside it has one."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.PReLU(), torch.nn.Linear(4, 2))
    both = Plain(lambda x: (model(x), x * 2))
    graph = graphs.trace(both, [drawn(5, 3)])
    text, _ = ir.lowered(graph, dict(both.named_parameters()), [drawn(5, 3)])
    first, second = json.loads(text)["outputs"]
    assert first == -1 and second >= 0, text


TESTS = [
    every_rule_encloses_and_admits_eager,
    radii_hold_at_a_unit_that_can_be_checked,
    operands_errors_are_carried,
    deep_graphs_are_judged_by_their_runs,
    planted_faults_show,
    casts_are_permitted_roundings,
    a_sigmoid_may_be_a_tanh,
    gates_of_a_librarys_recurrent_layers_may_be_fast,
    nobody_is_held_to_what_the_module_itself_does_not_do,
    attention_may_round_its_probabilities,
    a_constant_may_be_folded_into_a_bias,
    masks_of_what_cannot_be_told_are_open_where_that_matters,
    indices_are_right_by_what_they_name,
    what_cannot_be_told_is_said,
    a_few_roundings_of_a_coarse_format_can_be_told,
    what_is_0_everywhere_is_told_where_a_bound_is_proved,
    what_is_0_everywhere_is_told_behind_other_operations,
    constants_are_found,
    what_the_graph_computes_by_itself_is_the_right_answer,
    the_same_seed_gives_the_same_answer,
    what_vanishes_and_is_divided_by_cannot_be_told,
    a_right_answer_that_is_nan_is_no_answer,
    what_hangs_on_a_choice_has_no_single_elements,
    *oracle_places.TESTS,
    *oracle_served.TESTS,
    *oracle_recurrent.TESTS,
    *oracle_ties.TESTS,
    *oracle_exponents.TESTS,
    *oracle_expanded.TESTS,
    *oracle_chains.TESTS,
    *oracle_quantized.TESTS,
    *oracle_supports.TESTS,
    *oracle_resized.TESTS,
    *oracle_operations.TESTS,
]


def main():
    failed = 0
    for test in TESTS:
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"{test.__name__}: {type(error).__name__}: {error}")
    if len(sys.argv) > 1:  # for tests/verify/torch/test_exact.c
        sys.modules["test_oracle"] = sys.modules[__name__]
        import dump_graphs

        dump_graphs.write_all(sys.argv[1], dump_graphs.cases())
    print(f"{len(TESTS)} tests, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
