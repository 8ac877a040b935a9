"""Tests of operations that the oracle has a rule for since its first ones: complex numbers, Fourier transforms, gradients, linear
algebra, products with scales, selections. Each has honest variants that pass and a faulty one that does not."""

import math

import oracle_algebra
import torch
from oracle_asked import F, Plain, drawn, passes, positive, told
from oracle_variants import variants_pass
from unseen_torch.oracle import coverage, returned

x, image = drawn(6, 40), drawn(2, 6, 9, 9)
CLASSES, WEIGHTS = torch.arange(6), positive(40)


# --- gradients ---


def gradient(function):
    """The gradients of the sum of squares of a function, or of the function where it is a single number."""

    def of(*tensors):
        with torch.enable_grad():
            taken = [t.detach().requires_grad_(t.is_floating_point()) for t in tensors]
            made = function(*taken)
            total = made if made.dim() == 0 else (made * made).sum()
            return torch.autograd.grad(total, [t for t in taken if t.requires_grad])

    return of


GRADIENTS = {
    "layer_norm": (lambda a, w, b: F.layer_norm(a, (40,), w, b), [x, drawn(40), drawn(40, seed=2)]),
    "group_norm": (lambda a, w, b: F.group_norm(a, 2, w, b), [image, drawn(6), drawn(6, seed=4)]),
    "batch_norm": (
        lambda a, w, b: (F.batch_norm(a, None, None, w, b, True) - 0.3) ** 3,
        [image, drawn(6), drawn(6, seed=4)],
    ),
    "rms_norm": (lambda a, w: F.rms_norm(a, (40,), w), [x, drawn(40)]),
    "softmax": (lambda a: a.softmax(1), [x]),
    "log_softmax": (lambda a: a.log_softmax(1), [x]),
    "attention": (F.scaled_dot_product_attention, [drawn(2, 3, 8, 16, seed=s) for s in (1, 2, 3)]),
    "cross_entropy": (lambda a: F.cross_entropy(a, CLASSES), [x]),
    "weighed": (lambda a: F.cross_entropy(a, CLASSES, WEIGHTS, ignore_index=3), [x]),
    "of_pixels": (lambda a: F.cross_entropy(a, torch.ones(2, 9, 9, dtype=torch.int64)), [image]),
    "embedding": (lambda w: F.embedding(torch.tensor([1, 2, 2, 5]), w, padding_idx=1), [x]),
    "conv2d": (lambda a, w, b: F.conv2d(a, w, b, padding=1), [image, drawn(8, 6, 3, 3), drawn(8)]),
    "conv_grouped": (lambda a, w: F.conv1d(a, w, groups=2), [drawn(2, 4, 9), drawn(6, 2, 3)]),
    "conv_transposed": (lambda a, w: F.conv_transpose2d(a, w, stride=2), [image, drawn(6, 4, 3, 3)]),
    "max_pool": (lambda a: F.max_pool2d(a, 2), [image]),
    "max_pool3d": (lambda a: F.max_pool3d(a, 2), [drawn(1, 3, 6, 6, 6)]),
    "avg_pool": (lambda a: F.avg_pool2d(a, 3, 2, 1), [image]),
    "adaptive": (lambda a: F.adaptive_avg_pool2d(a, 4), [image]),
    "bilinear": (lambda a: F.interpolate(a, scale_factor=2, mode="bilinear"), [image]),
    "bicubic": (lambda a: F.interpolate(a, scale_factor=2, mode="bicubic"), [image]),
    "nearest": (lambda a: F.interpolate(a, scale_factor=2), [image]),
    "replicated": (lambda a: F.pad(a, (1, 2, 1, 1), mode="replicate"), [image]),
    "mirrored": (lambda a: F.pad(a, (1, 2, 1, 1), mode="reflect"), [image]),
    "cdist": (torch.cdist, [x, drawn(5, 40, seed=3)]),
    "cumprod": (lambda a: a.cumprod(1), [positive(6, 12)]),
    "weight_norm": (lambda v, g: torch._weight_norm(v, g, 0) ** 3, [x, drawn(6, 1)]),
    "solve": (
        lambda a, b: torch.linalg.solve_triangular(a.tril() + 5 * torch.eye(5), b, upper=False),
        [drawn(5, 5), drawn(5, 3)],
    ),
    "spectrum": (lambda a: torch.fft.rfft(a).abs(), [x]),
    "kl": (
        lambda a, b: F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean"),
        [x, drawn(6, 40, seed=5)],
    ),
    **{
        name: (function, [x])
        for name, function in {
            "gelu": F.gelu,
            "gelu_tanh": lambda t: F.gelu(t, approximate="tanh"),
            "silu": F.silu,
            "mish": F.mish,
            "tanh": torch.tanh,
            "sigmoid": torch.sigmoid,
            "softplus": F.softplus,
            "elu": F.elu,
            "leaky": F.leaky_relu,
            "hardswish": F.hardswish,
            "hardsigmoid": F.hardsigmoid,
            "glu": F.glu,
            "relu6": F.relu6,
            "hardshrink": F.hardshrink,
            "softshrink": F.softshrink,
            "logsumexp": lambda t: t.logsumexp(1),
        }.items()
    },
}


def gradients_within_a_forward_pass_are_judged():
    for name, (function, inputs) in GRADIENTS.items():
        variants_pass(name, Plain(gradient(function)), inputs)


def gradients_may_be_written_out_and_faults_of_theirs_show():
    def of_softmax(a, centred=True):
        y = a.softmax(1)
        g = 2 * y
        return (y * (g - ((g * y).sum(1, keepdim=True) if centred else 0)),)

    variants_pass(
        "softmax",
        Plain(gradient(lambda a: a.softmax(1))),
        [x],
        [of_softmax],
        [lambda a: of_softmax(a, False)],
    )

    def of_entropy(a, smaller=0):
        return ((a.softmax(1) - F.one_hot(CLASSES, 40)) / (6 - smaller),)

    variants_pass(
        "cross_entropy",
        Plain(gradient(lambda a: F.cross_entropy(a, CLASSES))),
        [x],
        [of_entropy],
        [lambda a: of_entropy(a, 1)],
    )

    def of_norm(a, moved=True):
        rstd = 1 / torch.sqrt(a.var(1, correction=0, keepdim=True) + 1e-5)
        hat = (a - a.mean(1, keepdim=True)) * rstd
        g = 3 * (hat + 0.5) ** 2
        return (
            rstd * (g - g.mean(1, keepdim=True) - (hat * (g * hat).mean(1, keepdim=True) if moved else 0)),
        )

    norm = gradient(lambda a: ((F.layer_norm(a, (40,)) + 0.5) ** 3).sum())
    variants_pass("layer_norm", Plain(norm), [x], [of_norm], [lambda a: of_norm(a, False)])

    def of_weight(a, w, rows=9):
        y = F.conv2d(a, w, padding=1)
        whole = torch.autograd.functional.vjp(lambda s: F.conv2d(a, s, padding=1), w, 2 * y)[1]
        cut = F.unfold(a, 3, padding=1).reshape(2, 54, 9, 9)[:, :, :rows]
        made = torch.einsum("nkhw,nohw->ok", cut, 2 * y[:, :, :rows]).reshape(w.shape)
        return (
            torch.autograd.functional.vjp(lambda s: F.conv2d(s, w, padding=1), a, 2 * y)[1],
            made,
        ), whole

    conv = Plain(gradient(lambda a, w: F.conv2d(a, w, padding=1)))
    weight = drawn(8, 6, 3, 3)
    variants_pass(
        "conv2d",
        conv,
        [image, weight],
        [lambda a, w: of_weight(a, w)[0]],
        [lambda a, w: of_weight(a, w, 8)[0]],
    )


def a_gradient_of_equal_elements_may_go_to_any_of_them():
    """Where no element of a window is greater than all others; elsewhere it is told."""
    level = torch.ones(1, 1, 4, 4)
    level[0, 0, 2:, 2:] = torch.arange(4.0).reshape(2, 2)
    made = Plain(gradient(lambda a: F.max_pool2d(a, 2).sum()))
    j = told(made, [torch.cat([level, drawn(1, 15, 4, 4)], 1)])[2][0]
    assert (
        bool(j.allowed[0, 0, :2].isinf().all())
        and not bool(j.allowed[0, 0, 2:, 2:].isinf().any())
        and not bool(j.allowed[0, 1:].isinf().any())
    )


# --- complex numbers and Fourier transforms ---


def turned_by_pairs(q, angles):
    """A rotary embedding as LLaMA's own code has it."""
    pairs = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def turned_by_cosines(q, angles, sign=1):
    a, b = q[..., ::2], q[..., 1::2]
    c, s = angles.cos(), sign * angles.sin()
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)


def complex_products_may_be_written_out():
    variants_pass(
        "rotary",
        Plain(turned_by_pairs),
        [drawn(3, 5, 16), 3 * drawn(5, 8)],
        [turned_by_cosines],
        [lambda q, a: turned_by_cosines(q, a, -1)],
    )


class Rotary(torch.nn.Module):
    """Whose table is a complex buffer that the constructor computes."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(5.0), 10000 ** (-torch.arange(8.0) / 8))
        self.register_buffer("table", torch.polar(torch.ones_like(angles), angles), persistent=False)
        self.angles = angles

    def forward(self, q):
        return torch.view_as_real(
            torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2)) * self.table
        ).flatten(-2)


def complex_tables_are_known():
    model = Rotary()
    variants_pass(
        "table",
        model,
        [drawn(3, 5, 16)],
        [lambda q: turned_by_cosines(q, model.angles)],
        [lambda q: turned_by_cosines(q, 1.01 * model.angles)],
    )


def by_matrix(t, n, terms=None, dtype=torch.float32):
    """A real transform as two products."""
    place = torch.outer(torch.arange(t.shape[-1]), torch.arange(n // 2 + 1)).double() * (-2 * math.pi / n)
    real, imaginary = (f(place).to(dtype).float() for f in (torch.cos, torch.sin))
    t = t if terms is None else torch.cat([t[..., :terms], torch.zeros_like(t[..., terms:])], -1)
    return torch.stack([t @ real, t @ imaginary], -1)


def by_halves(t):
    """Complex, [n, 2] of a power of two, by halves, all in fp32."""
    n = t.shape[-2]
    if n == 1:
        return t
    even, odd = by_halves(t[..., ::2, :]), by_halves(t[..., 1::2, :])
    angle = torch.arange(n // 2) * (-2 * math.pi / n)
    c, s = angle.cos(), angle.sin()
    a, b = odd[..., 0] * c - odd[..., 1] * s, odd[..., 0] * s + odd[..., 1] * c
    turned = torch.stack([a, b], -1)
    return torch.cat([even + turned, even - turned], -2)


def fourier_transforms_may_be_products_or_fast():
    for n in (8, 40, 64, 53, 128, 331):
        t = drawn(4, n, seed=n)
        spectrum = Plain(lambda a: torch.view_as_real(torch.fft.rfft(a)))
        variants_pass(
            f"rfft of {n}",
            spectrum,
            [t],
            [lambda a, n=n: by_matrix(a, n)],
            [
                lambda a, n=n: by_matrix(a, n, n - 1),
                lambda a, n=n: by_matrix(a, n, dtype=torch.bfloat16),
                lambda a: spectrum(a.flip(-1)),
            ],
        )
    for n in (16, 256):
        whole = Plain(lambda a: torch.view_as_real(torch.fft.fft(torch.view_as_complex(a))))
        variants_pass(
            f"fft of {n}",
            whole,
            [drawn(3, n, 2)],
            [by_halves],
            [lambda a: by_halves(a).flip(-1), lambda a: by_halves(a) / n],
        )


def long_convolutions_by_spectra_are_judged():
    """As Hyena has them; a direct sum is as right."""

    def by_spectra(u, k):
        n = 2 * u.shape[-1]
        return torch.fft.irfft(torch.fft.rfft(u, n=n) * torch.fft.rfft(k, n=n), n=n)[..., : u.shape[-1]]

    def direct(u, k, last=None):
        kernel = (k if last is None else k[..., :last]).flip(-1).unsqueeze(1)
        return F.conv1d(F.pad(u, (kernel.shape[-1] - 1, 0)), kernel, groups=u.shape[1])

    inputs = [drawn(2, 3, 50), drawn(3, 50, seed=2)]
    variants_pass("fftconv", Plain(by_spectra), inputs, [direct], [lambda u, k: direct(u, k, 49)])
    window = torch.hann_window(16)
    spectrogram = Plain(lambda a: torch.stft(a, 16, 4, window=window, return_complex=True).abs())
    variants_pass(
        "stft", spectrogram, [drawn(2, 100)], [], [lambda a: torch.stft(a, 16, 4, return_complex=True).abs()]
    )
    made = Plain(lambda a: torch.stft(a, 16, 4, window=torch.hann_window(16), return_complex=True).abs())
    angle = torch.arange(16).double() * (2 * math.pi / 16)

    def by_hand(a):
        return torch.stft(a, 16, 4, window=(0.5 - 0.5 * torch.cos(angle)).float(), return_complex=True).abs()

    variants_pass(
        "window",
        made,
        [drawn(2, 100)],
        [by_hand],
        [
            lambda a: torch.stft(
                a, 16, 4, window=torch.hann_window(16, periodic=False), return_complex=True
            ).abs()
        ],
    )
    variants_pass(
        "fft2",
        Plain(lambda a: torch.fft.fft2(a).abs()),
        [drawn(2, 12, 10)],
        [lambda a: torch.fft.fft(torch.fft.fft(a, dim=-2)).abs()],
    )
    variants_pass(
        "ihfft",
        Plain(lambda a: torch.view_as_real(torch.fft.ihfft(a, norm="ortho").resolve_conj())),
        [drawn(3, 14)],
    )


# --- products with scales, by groups and of 8 bits ---


def products_with_scales_and_by_groups_are_judged():
    a, b = (drawn(s, 32, seed=s).to(torch.float8_e4m3fn) for s in (16, 48))
    one = torch.tensor(0.5)
    scaled = Plain(lambda p, q, s, t: torch._scaled_mm(p, q.t(), s, t, out_dtype=torch.bfloat16))

    def by_hand(p, q, s, t):
        return ((p.float() @ q.float().t()) * s * t).bfloat16()

    variants_pass("scaled", scaled, [a, b, one, 3 * one], [by_hand], [lambda p, q, s, t: by_hand(p, q, s, s)])
    p, q = (torch.randint(-9, 9, s, dtype=torch.int8) for s in ((32, 16), (16, 24)))
    _, _, judged = told(Plain(torch._int_mm), [p, q])
    assert passes(judged, p.int() @ q.int()) and not passes(judged, (p.int() @ q.int()) + 1)
    tokens, weights, ends = (
        drawn(24, 16).bfloat16(),
        drawn(3, 16, 32).bfloat16(),
        torch.tensor([8, 8, 24], dtype=torch.int32),
    )
    grouped = Plain(lambda t, w, e: torch._grouped_mm(t, w, offs=e))

    def of(t, w, e):
        return torch.cat([t[:8] @ w[0], t[8:] @ w[2]])

    variants_pass(
        "grouped",
        grouped,
        [tokens, weights, ends],
        [of],
        [lambda t, w, e: torch.cat([t[:8] @ w[0], t[8:] @ w[1]])],
    )


# --- selections ---


def what_values_select_is_judged():
    values = torch.tensor([[3.0, 1.0, 3.0, 2.0], [0.0, 5.0, 5.0, 0.0], [7.0, 7.0, 7.0, 1.0]])
    for function, inputs in (
        (lambda t: t[t > 1.5] * 2, [values]),
        (lambda t: t.masked_select(t > 1.5) * 2, [values]),
        (torch.nonzero, [values]),
        (lambda t: torch.count_nonzero(t, 1), [values]),
        (lambda t: torch.take(t * 2, torch.tensor([0, 5])), [values]),
        (lambda t: torch.isin(t, torch.tensor([3.0, 7.0])), [values]),
        (torch.unique, [values]),
        (lambda t: torch.histc(t, 4, 0.1, 7.1), [values]),
        (lambda t: torch.repeat_interleave(t, torch.tensor([2, 0, 1]), 0) * 3, [values]),
        (lambda t: F.max_unpool2d(*F.max_pool2d(t[None], 2, return_indices=True), 2), [drawn(6, 8)]),
        (lambda t: t.view(torch.int32) & 255, [values]),
        (lambda t: t.new_zeros(2, 3).masked_scatter(torch.ones(2, 3).bool(), t * 2), [values]),
    ):
        model = Plain(function)
        _, _, judged = told(model, inputs)
        out = model(*inputs)
        assert not judged[0].dropped and passes(judged, out), function
        assert not passes(judged, out + 1 if out.dtype != torch.bool else ~out), function
    model = Plain(lambda t: torch.mode(t, 1))
    _, _, judged = told(model, [values[[0, 2]]])
    got = torch.tensor([2, 0])
    assert passes(judged[:1], model(values[[0, 2]])[0]) and bool(
        (returned.judge_index(judged[1], got) == got).all()
    )
    assert told(model, [values[1:2]])[2][0].dropped  # 0 and 5 occur as often
    # 2 and 0 are edges of bins, and 0 is the first one's
    edge = told(Plain(lambda t: torch.histc(t, 4, 0, 8)), [values])[2][0]
    assert edge.allowed.tolist() == [1, 1, 0, 0], edge.allowed


def losses_over_lengths_do_not_read_what_memory_holds():
    """PyTorch leaves the paths beyond the lengths as the memory is, which has large numbers here."""
    targets = torch.tensor([[1, 2, 3], [2, 0, 0], [4, 1, 0]])
    loss = Plain(lambda t: F.ctc_loss(t.log_softmax(-1), targets, (12, 5, 7), (3, 1, 2), reduction="none"))
    for _ in range(20):
        held = [torch.full((3, 12, 7), 1e30, dtype=torch.float64) for _ in range(256)]
        del held
        _, _, (judged,) = told(loss, [drawn(12, 3, 6)])
        assert judged.dropped is None and bool((judged.allowed < 1e-3).all()), judged.allowed
    assert passes([judged], loss(drawn(12, 3, 6))) and not passes([judged], loss(drawn(12, 3, 6)) + 0.01)


def whole_numbers_have_one_right_result():
    a, b = torch.tensor([[7, -7, 1 << 40], [3, 0, -1]]), torch.tensor([2, 5, 1 << 41])
    for function in (
        torch.minimum,
        torch.maximum,
        lambda s, t: s**3,
        lambda s, t: torch.clamp(s, max=t),
        lambda s, t: F.hardtanh(s.int()),
        lambda s, t: s.prod(1),
        lambda s, t: s @ t,
        lambda s, t: (s > 0) + (t > 3),
        lambda s, t: s.cumsum(1),
        lambda s, t: s // t,
    ):
        _, _, (j,) = told(Plain(function), [a, b])
        want = function(a, b)
        assert torch.equal(j.want.to(want.dtype), want) and not bool(j.allowed.any()), function


def nothing_and_single_numbers_have_answers():
    one, none = torch.tensor(3.0), torch.zeros(0, 4)
    for function, given in (
        (lambda t: t.softmax(0), one),
        (lambda t: t.sort()[0] * 2, one),
        (lambda t: t.cumsum(0), one),
        (lambda t: t.logsumexp(0), one),
        (lambda t: t.max(0)[0] * 2, one),
        (lambda t: t.softmax(1), none),
        (lambda t: t.sum(0), none),
        (lambda t: t.prod(), none),
        (lambda t: F.layer_norm(t, (4,)), none),
        (lambda t: t @ torch.ones(4, 2), none),
        (lambda t: torch.histogramdd(t, [3, 3, 3, 3])[1][0], none),  # thirds, which fp32 rounds
    ):
        model = Plain(function)
        _, _, judged = told(model, [given])
        assert passes(judged, model(given)) and not judged[0].dropped, (function, given)
        assert not judged[0].want.numel() or not passes(judged, model(given) + 1e-5), (function, given)


def importing_names_what_has_no_rule():
    """Before any value is evaluated; what no answer hangs on is no matter."""
    curve = Plain(lambda t: torch.special.i0(t) + torch.special.i1(t))
    beside = Plain(lambda t: (torch.special.i0(t), t * 2)[1])
    assert coverage.refusal(curve, [x]) == "no rule for aten.i0.default; no rule for aten.special_i1.default"
    assert coverage.refusal(beside, [x]) is None and "randn" in coverage.refusal(
        Plain(lambda t: t + torch.randn_like(t)), [x]
    )
    for function, inputs in [
        *GRADIENTS.values(),
        (turned_by_pairs, [drawn(3, 5, 16), drawn(5, 8)]),
        (lambda t: t.argmax(1) // 2, [x]),
    ]:
        assert (
            coverage.refusal(
                Plain(gradient(function) if (function, inputs) in GRADIENTS.values() else function), inputs
            )
            is None
        )
    assert coverage.note(curve, [x])[0]["kind"] == "unjudged" and coverage.note(beside, [x]) == []


TESTS = [
    gradients_within_a_forward_pass_are_judged,
    gradients_may_be_written_out_and_faults_of_theirs_show,
    a_gradient_of_equal_elements_may_go_to_any_of_them,
    complex_products_may_be_written_out,
    complex_tables_are_known,
    fourier_transforms_may_be_products_or_fast,
    long_convolutions_by_spectra_are_judged,
    *oracle_algebra.TESTS,
    products_with_scales_and_by_groups_are_judged,
    what_values_select_is_judged,
    losses_over_lengths_do_not_read_what_memory_holds,
    whole_numbers_have_one_right_result,
    importing_names_what_has_no_rule,
    nothing_and_single_numbers_have_answers,
]

if __name__ == "__main__":
    import sys
    import traceback

    for test in TESTS:
        if not sys.argv[1:] or test.__name__ in sys.argv[1:]:
            try:
                test()
            except Exception:
                print(test.__name__)
                traceback.print_exc(limit=-2)
