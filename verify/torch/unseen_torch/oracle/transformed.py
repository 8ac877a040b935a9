"""Convolutions along one dimension by fast Fourier transforms.

A filter as long as its signal may be applied by three transforms of n >= N + K - 1 places:
y = F^-1 (F x  F w). Each errs by S u in the Euclidean norm, relative to its result, where S is about
STAGE log2 n (fourier.py). An element of y is therefore off by at most S u (2 |x| |w| + |y|), where |y| is the
norm of the whole convolution. The errors are spread over all places: a run is off by about
sqrt(log2 n / n) u of the same norms.
"""

from __future__ import annotations

import math
from typing import Any

import torch

STAGE = 6 * math.sqrt(2)  # of a transform by two terms at a time


class Transformed:
    """The norms of a convolution, of shape (batch, results, 1)."""

    def __init__(self, x: torch.Tensor, w: torch.Tensor, groups: int) -> None:
        self.places = 1 << (x.shape[2] + w.shape[2] - 2).bit_length()
        signal, taps = x.unflatten(1, (groups, -1)), w.unflatten(0, (groups, -1))

        def through(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return torch.einsum("bgcf,gocf->bgof", a, b).flatten(1, 2)

        factors = through(signal.norm(dim=-1, keepdim=True), taps.norm(dim=-1, keepdim=True))
        spectrum = through(*[torch.fft.fft(t, self.places).abs() for t in (signal, taps)])
        norm = 2 * factors + spectrum.norm(dim=-1, keepdim=True) / math.sqrt(self.places)
        # No transform keeps an infinity apart.
        self.norm: torch.Tensor = torch.where(norm.isfinite(), norm, 0.0)

    def most(self, u: float) -> torch.Tensor:
        return self.norm * ((STAGE * math.log2(self.places) + 4) * u)

    def typical(self, u: float) -> torch.Tensor:
        return self.norm * (math.sqrt((math.log2(self.places) + 4) / self.places) * u)


def of_long_filter(
    x: torch.Tensor, w: torch.Tensor, stride: Any, padding: Any, dilation: Any, transposed: bool, groups: int
) -> Transformed | None:
    """None: the filter is shorter than the signal, which no implementation transforms."""
    if x.dim() != 3 or {*stride, *dilation} != {1} or transposed or not x.numel() or not w.numel():
        return None
    length, taps = x.shape[2], w.shape[2]
    if taps < 2 or (taps < length and 2 * taps < length + 2 * padding[0]):
        return None
    return Transformed(x, w, groups)
