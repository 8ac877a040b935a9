"""Discrete Fourier transforms, as a library computes them or as products with a matrix of cosines and sines.

Let y = F x over n places, |F_jk| = 1. The error of an honest transform has two bounds. The larger one is allowed:

- As a sum (doc/error-model.md, T1): each part of y_k is a sum of n products for each part of x. It errs by
  (n + 8) u sum|x|.
- As a fast transform: F is a product of stages. Each stage sums p terms at a time, where p is a prime factor of n. Its
  error in the Euclidean norm is sqrt(p) (p + 4) u, relative to its result. This covers a sum of p terms, a rotation and
  its rounded coefficient. Stages keep the norm up to sqrt(p). So y errs by STAGES(n) u sqrt(n) |x| in the norm, hence
  in each element (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 24.2, for p = 2).
- A prime factor above LARGEST is transformed by a convolution with a chirp of m >= 2p - 1 places, m a power of 2. This
  takes three transforms of length m, amplified by at most CHIRP.

Several dimensions are transformed one after the other: lengths and stages add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .bounds import Bound
from .complexes import Complex, as_complex, complex_rule
from .elementwise import or_zero
from .number import U64, Context, Number, moved
from .sums import MORE_TERMS, THREE_TF32

LARGEST = 13
CHIRP = 12


def stages(n: int) -> float:
    """The error of a fast transform of n places, in units and in the norm, relative to its result."""
    total, p = 4.0, 2
    while n > 1:
        while n % p == 0:
            total += (
                math.sqrt(p) * (p + 4)
                if p <= LARGEST
                else CHIRP * math.sqrt(2) * 6 * math.ceil(math.log2(2 * p))
            )
            n //= p
        p = p + 1 if p * p <= n else max(n, p + 1)
    return total


class Spectrum:
    """The terms of a transform over `dims`, whose extents are `sizes`. `weights` say how often an element counts."""

    def __init__(
        self, parts: Sequence[Number], dims: list[int], sizes: list[int], scale: float, weights: Bound = None
    ) -> None:
        self.parts, self.dims, self.sizes, self.scale, self.weights = parts, dims, sizes, scale, weights

    def total(self, get: Callable[[Number], torch.Tensor]) -> torch.Tensor:
        """The sum of |re| + |im| over the transformed dimensions."""
        size: Any = sum(get(part).abs() for part in self.parts)
        return self.summed(size) * self.scale

    def summed(self, t: torch.Tensor) -> torch.Tensor:
        return (t if self.weights is None else t * self.weights).sum(self.dims, keepdim=True)

    def norm(self) -> torch.Tensor:
        square: Any = sum(part.v**2 for part in self.parts)
        return self.summed(square).sqrt() * self.scale

    def error(self, level: int) -> Bound:
        if all(part.error(level) is None for part in self.parts):
            return None
        return self.total(lambda part: or_zero(part.error(level), part.v))

    def local(self, u: float, v: torch.Tensor, walk: bool = False) -> torch.Tensor:
        n, norm = sum(self.sizes), self.norm()
        fast = sum(map(stages, self.sizes)) * u * math.sqrt(math.prod(self.sizes)) * norm
        if walk:
            return (math.sqrt(n) * u + 2.0**-22) * norm + 2 * u * v.abs()
        direct = ((n + MORE_TERMS * len(self.sizes)) * u + (0 if u == U64 else THREE_TF32)) * self.total(
            lambda part: part.v
        )
        return torch.maximum(direct, fast) + 2 * u * v.abs()


def transformed(cx: Context, f: Callable[..., Sequence[torch.Tensor]], spectrum: Spectrum) -> list[Number]:
    """Makes Numbers of the tensors f(parts): the real part and, of a complex result, the imaginary part."""
    made = f(*[part.v for part in spectrum.parts])
    results = []
    for k, v in enumerate(made):

        def spread(e: Bound) -> Bound:
            return None if e is None else e.expand(v.shape)

        runs = moved(lambda *parts, k=k: f(*parts)[k], *spectrum.parts)
        results.append(
            cx.out(
                v,
                lambda level: spread(spectrum.error(level)),
                lambda u: spectrum.local(u, v).expand(v.shape),
                runs,
                lambda u: spectrum.local(u, v, True).expand(v.shape),
            )
        )
    return results


def scale_of(normalization: int, sizes: Sequence[int]) -> float:
    """The factor of ATen's normalization: 1, one over the root of the number of places, or one over that number."""
    n = math.prod(sizes)
    return {0: 1.0, 1: 1 / math.sqrt(n), 2: 1.0 / n}[int(normalization)]


def split(t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return t.real.contiguous(), t.imag.contiguous()


@complex_rule("_fft_r2c")
def of_real(cx: Context, x: Number, dims: Sequence[int], normalization: int, onesided: bool) -> Complex:
    dims = [d % x.v.dim() for d in dims]
    sizes = [x.v.shape[d] for d in dims]

    def f(t: torch.Tensor) -> Sequence[torch.Tensor]:
        return split(torch.ops.aten._fft_r2c(t.double(), dims, normalization, onesided))

    return Complex(*transformed(cx, f, Spectrum([x], dims, sizes, scale_of(normalization, sizes))))


@complex_rule("_fft_c2c")
def of_complex(cx: Context, operand: Any, dims: Sequence[int], normalization: int, forward: bool) -> Complex:
    x = as_complex(cx, operand)
    dims = [d % x.re.v.dim() for d in dims]
    if not dims:
        return x
    sizes = [x.re.v.shape[d] for d in dims]

    def f(a: torch.Tensor, b: torch.Tensor) -> Sequence[torch.Tensor]:
        return split(torch.ops.aten._fft_c2c(torch.complex(a, b), dims, normalization, forward))

    return Complex(*transformed(cx, f, Spectrum(list(x.parts), dims, sizes, scale_of(normalization, sizes))))


@complex_rule("_fft_c2r")
def to_real(cx: Context, x: Any, dims: Sequence[int], normalization: int, last: int) -> Number:
    """The transform of half a spectrum, whose other half is its mirror image. All places count twice but the first and,
    for an even length, the last."""
    x = as_complex(cx, x)
    dims = [d % x.re.v.dim() for d in dims]
    sizes = [x.re.v.shape[d] for d in dims[:-1]] + [last]
    half = x.re.v.shape[dims[-1]]
    weights = torch.full((half,), 2.0, dtype=torch.float64, device=x.re.v.device)
    weights[0] = 1.0
    if last % 2 == 0 and half == last // 2 + 1:
        weights[-1] = 1.0
    weights = weights.reshape([-1 if d == dims[-1] else 1 for d in range(x.re.v.dim())])

    def f(a: torch.Tensor, b: torch.Tensor) -> Sequence[torch.Tensor]:
        return (torch.ops.aten._fft_c2r(torch.complex(a, b), dims, normalization, last),)

    return transformed(cx, f, Spectrum(list(x.parts), dims, sizes, scale_of(normalization, sizes), weights))[
        0
    ]
