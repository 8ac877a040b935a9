"""Rules of activation functions."""

from __future__ import annotations

import math

import torch

from . import exponents
from .bounds import Bound, Function
from .elementwise import Curve, far, monotone, piecewise, rule
from .number import Context, Number, carried, moved

F = torch.nn.functional


@rule("aten.relu.default", "aten.relu_.default")
def relu(cx: Context, x: Number) -> Number:
    return piecewise(cx, x, torch.relu, 1.0, 0.0, math.inf)


# Gates of a library's recurrent layers get four times the absolute error of other sigmoids and tanhs (`gates`). The
# library cuDNN uses fast exponentials and fast divisions, and its errors have one sign. On an H200 with TF32 off they
# were 3.3e-6 after six LSTM layers of 32 steps. An additional error of 2^-20 in each gate adds up to that. So does a
# random error of 2^-19. PyTorch on a CPU errs by 9e-8 there, and TF32 by 1e-4.


@rule("aten.sigmoid.default", "aten.sigmoid_.default")
def sigmoid(cx: Context, x: Number) -> Number:
    # (1 + tanh(x / 2)) / 2 has an absolute error: half of that of tanh.
    made = monotone(
        cx,
        x,
        torch.sigmoid,
        lambda u, x, v: ((4 + 2.4 * far(x)) * torch.sigmoid(-x) + 4) * u * v + 4 * cx.gates * u,
    )
    return exponents.of_function(made, x, F.softplus(-x.v))  # the magnitude of the sigmoid's logarithm


@rule("aten.tanh.default", "aten.tanh_.default")
def tanh(cx: Context, x: Number) -> Number:
    # 2 sigmoid(2x) - 1 and similar forms have an absolute error near 0.
    return monotone(cx, x, torch.tanh, lambda u, x, v: 8 * cx.gates * u * torch.ones_like(v))


@rule("aten.softplus.default")
def softplus(cx: Context, x: Number, beta: float = 1.0, threshold: float = 20.0) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return F.softplus(t, beta, threshold)

    return monotone(cx, x, f, lambda u, x, v: u * (4 * v + 6 / beta))


@rule("aten.elu.default", "aten.elu_.default")
def elu(cx: Context, x: Number, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return scale * torch.where(t > 0, t, alpha * torch.expm1(input_scale * t.clamp(max=0)))

    return monotone(
        cx, x, f, lambda u, x, v: u * (4 * v.abs() + torch.where(x > 0, 0.0, 8 * abs(alpha * scale)))
    )


@rule("aten.leaky_relu.default", "aten.leaky_relu_.default")
def leaky_relu(cx: Context, x: Number, slope: float = 0.01) -> Number:
    return piecewise(
        cx,
        x,
        lambda t: F.leaky_relu(t, slope),
        max(1.0, abs(slope)),
        -math.inf,
        math.inf,
        lambda u, x, v: torch.where(x < 0, 2 * u * v.abs(), 0.0),
    )


@rule("aten.hardsigmoid.default")
def hardsigmoid(cx: Context, x: Number) -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return ((t + 3).clamp(0, 6)) / 6

    return piecewise(cx, x, f, 1 / 6, -3.0, 3.0, lambda u, x, v: 4 * u * (v + 1) * (x.abs() <= 3.001))


def bounded_slope(cx: Context, x: Number, f: Function, slope: Function, bend: float, local: Curve) -> Number:
    """Bounds |f(x + d) - f(x)| by |f'(x)| d + bend d^2 / 2, where `bend` is the greatest |f''|."""
    v = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return (
            None if e is None else slope(x.v).abs() * (1 + 2.0**-40) * e + 2.0**-50 * e + 0.5 * bend * e * e
        )

    return cx.out(v, propagated, lambda u: local(u, x.v, v), moved(f, x))


@rule("aten.silu.default", "aten.silu_.default")
def silu(cx: Context, x: Number) -> Number:
    def slope(t: torch.Tensor) -> torch.Tensor:
        s = torch.sigmoid(t)
        return s * (1 + t * (1 - s))

    return bounded_slope(
        cx,
        x,
        F.silu,
        slope,
        0.51,
        lambda u, x, v: v.abs() * u * ((4 + 2.4 * x.abs()) * torch.sigmoid(-x) + 5) + 4 * u * x.abs(),
    )


@rule("aten.gelu.default")
def gelu(cx: Context, x: Number, approximate: str = "none") -> Number:
    def f(t: torch.Tensor) -> torch.Tensor:
        return F.gelu(t, approximate=approximate)

    if approximate == "tanh":

        def slope(t: torch.Tensor) -> torch.Tensor:
            k = math.sqrt(2 / math.pi)
            h = torch.tanh(k * (t + 0.044715 * t**3))
            return 0.5 * (1 + h) + 0.5 * t * (1 - h * h) * k * (1 + 3 * 0.044715 * t * t)
    else:

        def slope(t: torch.Tensor) -> torch.Tensor:
            return 0.5 * (1 + torch.erf(t / math.sqrt(2))) + t * torch.exp(-t * t / 2) / math.sqrt(
                2 * math.pi
            )

    return bounded_slope(cx, x, f, slope, 1.2, lambda u, x, v: u * (5 * v.abs() + 6 * x.abs()))


@rule("aten.mish.default")
def mish(cx: Context, x: Number) -> Number:
    def slope(t: torch.Tensor) -> torch.Tensor:
        w = torch.tanh(F.softplus(t))
        return w + t * (1 - w * w) * torch.sigmoid(t)

    return bounded_slope(cx, x, F.mish, slope, 1.0, lambda u, x, v: u * (6 * v.abs() + 10 * x.abs()))


@rule("aten.hardswish.default", "aten.hardswish_.default")
def hardswish(cx: Context, x: Number) -> Number:
    v = F.hardswish(x.v)

    def slope(e: torch.Tensor) -> torch.Tensor:
        return torch.where(x.v.abs() > 3 + e, (x.v > 0).double(), 0.5 + (x.v.abs() + e).clamp(max=3) / 3)

    return cx.out(
        v,
        carried(lambda e: slope(e) * e, x),
        lambda u: torch.where(x.v < -3.001, 0.0, 5 * u * x.v.abs()),
        moved(F.hardswish, x),
    )
