"""Error bounds for products of exponentials. An honest implementation may use the exponential of a sum instead.

A recurrence h = exp(g_t) h + x_t gives every term the weight exp(g_{s+1}) .. exp(g_t). Chunked kernels compute that
weight as exp(b_t - b_s) of running sums b. Each running sum is off by some units at its own size, which may be far
above that of the difference. A quotient exp(x - m) / sum(exp(x - m)) may be exp(x - l), where l is the logarithm of
the sum of exp(x). It is rounded at its own size as well. doc/error-model.md derives both bounds.

Exponents that a mask sets to 0 before they are added may be those of a difference of running sums, too, which have
no mask.

A `Number` carries three sizes for this purpose. Each is None or has a shape that broadcasts to that of the value:

    exponents   of a product of exponentials: the sum of the exponents' magnitudes
    taken       of an exponent, or of a result of exponentials: the greatest number that was subtracted from the exponent
    unmasked    of numbers of which a mask has set some to 0: their magnitudes before

Partial results of a sum of exponentials may be merged one after another by the logarithms of their sums. So a
`Number` carries the number of exponentials that were added up, `parts`, which is at most MERGED.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .bounds import Bound, Function
from .number import SMALLEST, U32, U64, Context, Number

SCANNED = 4  # the joint error of two running sums, in units at the size of the greater one
MOST = 1000.0  # an exponential of a larger number is 0 or infinite
MERGED = 64  # steps of a running logarithm, at most: longer sums keep a maximum and a sum
PARTS, FACTOR = (
    3,
    2.0**32,
)  # terms of an exponent, and the greatest factor that follows a product of the others


def _combined(f: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], a: Bound, b: Bound) -> Bound:
    return b if a is None else a if b is None else f(a, b)


def _of(x: Any, name: str) -> Bound:
    return getattr(x, name) if isinstance(x, Number) else None


def _greater(made: Number, a: Any, b: Any, name: str) -> None:
    setattr(made, name, _combined(torch.maximum, _of(a, name), _of(b, name)))
    made.parts = max(x.parts for x in (made, a, b) if isinstance(x, Number))


def _perturbed(cx: Context, made: Number, relative: torch.Tensor) -> Number:
    """Multiplies every run by a random factor that all elements of a row share."""
    made.runs = [made.run(i) * (1 + cx.noise(relative) * relative) for i in range(cx.count)] or None
    return made


def of_function(made: Number, x: Number, size: torch.Tensor) -> Number:
    """Marks `made` as an exponential of x. `size` is the magnitude of its logarithm. An exponential that is 0 has no
    size."""
    made.exponents = torch.where(made.v > 0, size.clamp(max=MOST), 0.0)
    made.taken = None if x.taken is None else torch.where(made.v > 0, x.taken, 0.0)
    made.parts = x.parts
    return made


def in_parts(cx: Context, made: Number, x: Number) -> Number:
    """Adds the error of a product of exponentials in the place of the exponential of x, a sum of several terms. A partial
    product may be below the smallest normal number, and a factor of up to FACTOR may follow."""
    if x.count < PARTS or cx.dtype == torch.float64:
        return made
    lost = torch.where(x.v.isinf(), 0.0, SMALLEST[torch.float32] * x.size().exp().clamp(max=FACTOR))
    made.b = lost if made.b is None else made.b + lost
    made.runs = [made.run(i) + cx.noise(lost).abs() * lost for i in range(cx.count)] or None
    return made


def added(cx: Context, made: Number, a: Number, b: Number, larger: torch.Tensor) -> Number:
    """Sets the exponents of a sum: the greater ones of both operands."""
    _greater(made, a, b, "exponents")
    _greater(made, a, b, "taken")
    if cx.raised and not made.whole:
        made.taken = _combined(torch.maximum, made.taken, torch.where(larger.isfinite(), larger, 0.0))
    return made


def multiplied(cx: Context, made: Number, a: Number, b: Number) -> Number:
    """Sets the exponents of `made`, the product of a and b. If both are products of exponentials, the sum of exponents
    may be rounded at its own size."""
    _greater(made, a, b, "taken")
    return _joined(cx, made, a.exponents, b.exponents)


def _joined(cx: Context, made: Number, ours: Bound, theirs: Bound) -> Number:
    joint = _combined(torch.add, ours, theirs)
    made.exponents = joint
    if joint is None or ours is None or theirs is None or cx.dtype == torch.float64:
        return made
    relative = U32 * joint
    size = made.v.abs() if made.b is None else made.v.abs() + made.b
    own = torch.where(size.isinf(), 0.0, SCANNED * relative * size)
    made.b = own if made.b is None else made.b + own
    return _perturbed(cx, made, relative)


def contracted(cx: Context, made: Number, a: Number, b: Number) -> Number:
    """Sets the exponents of a matrix product. The terms of a sum with the greatest exponents count."""
    if a.v.dim() < 2 or b.v.dim() < 2:
        return made

    def of(x: Number, name: str, dim: int) -> Bound:
        size = getattr(x, name)
        return None if size is None else size.expand(x.v.shape).amax(dim, True)

    made.taken = _combined(torch.maximum, of(a, "taken", -1), of(b, "taken", -2))
    return _joined(cx, made, of(a, "exponents", -1), of(b, "exponents", -2))


def summed(made: Number, x: Number, f: Function) -> Number:
    """Sets the exponents of `made`, the sum of x over dimensions. f takes the greatest element over these
    dimensions."""
    for name in ("exponents", "taken"):
        size = getattr(x, name)
        setattr(made, name, None if size is None or not x.v.numel() else f(size.expand(x.v.shape)))
    made.parts = max(x.parts, min(MERGED, x.v.numel() // max(made.v.numel(), 1)))
    return made


def steps_of_merging(level: float, walk: bool, parts: int, size: torch.Tensor) -> torch.Tensor:
    """The error of a running logarithm of a sum. Each step rounds a logarithm of at most `size`. The errors
    add up like a random walk in the runs (`walk`)."""
    steps = min(MERGED, parts) - 1
    return torch.zeros_like(size) if level == U64 else (math.sqrt(steps) if walk else steps) * level * size


def log_of_sum(cx: Context, made: Number, x: Number) -> Number:
    """Adds the error of a running logarithm to `made`, the logarithm of a sum of exponentials. No maximum is
    subtracted there. So each step is rounded at the size of the maximum and the result together."""
    if x.taken is None or cx.dtype == torch.float64:
        return made
    size = torch.where(made.v.isfinite(), made.v.abs() + x.taken, 0.0)
    lost = steps_of_merging(U32, False, x.parts, size)
    made.b = lost if made.b is None else made.b + lost
    walked = steps_of_merging(U32, True, x.parts, size)
    made.runs = [made.run(i) + cx.noise(size) * walked for i in range(cx.count)] or None
    return made


def divided(cx: Context, made: Number, a: Number, b: Number) -> Number:
    """A quotient by a sum of exponentials. An implementation may hold both as logarithms, so that a quotient of
    exponentials has the exponents of a product. The bounds of both operands include the error of the subtracted number.
    In the runs this error may cancel, so it is added once more."""
    if b.exponents is not None:
        log = torch.where(b.v == 0, 0.0, b.v.abs().log().abs()).clamp(max=MOST)
        made = _joined(cx, made, a.exponents, log)
    size = _combined(torch.maximum, a.taken, b.taken)
    if size is None or cx.dtype == torch.float64:
        return made
    parts = 1 if b.taken is None else b.parts
    off = torch.where(made.v.isfinite(), made.v.abs(), 0.0) * steps_of_merging(U32, False, parts, size)
    made.b = off if made.b is None else made.b + off
    return _perturbed(cx, made, math.sqrt(parts) * U32 * size)


def normalized(cx: Context, made: Number, x: Number, dim: int) -> Number:
    """Adds the same error to the runs of a softmax."""
    if x.taken is None:
        return made
    return _perturbed(cx, made, U32 * torch.where(made.v > 0, x.taken, 0.0).amax(dim, True))


def chosen(made: Number, a: Any, b: Any) -> Number:
    """Sets the exponents of a choice between a and b, element by element."""
    for name in ("exponents", "taken"):
        _greater(made, a, b, name)
    return made


def masked(made: Number, a: Number, b: Number) -> Number:
    """Sets the magnitudes of `made`, a choice between numbers and a single 0."""
    for zero, x in ((a, b), (b, a)):
        if x.is_float and zero.v.numel() == 1 and not bool(zero.v) and zero.b is None:
            made.unmasked = torch.where(x.v.isfinite(), x.size(), 0.0)
    return made


def running_sum(cx: Context, made: Number, x: Number, f: Function) -> Number:
    """Adds the error of a difference of running sums to `made`, a running sum f of masked exponents x."""
    if x.unmasked is None or not cx.raised or cx.dtype == torch.float64:
        return made
    size = U32 * f(x.unmasked.expand(x.v.shape))
    made.b = SCANNED * size if made.b is None else made.b + SCANNED * size
    made.runs = [made.run(i) + cx.noise(size) * size for i in range(cx.count)] or None
    return made
