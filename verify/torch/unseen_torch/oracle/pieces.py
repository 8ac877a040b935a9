"""Element-wise work on the runs of a tensor. On a host a large tensor is taken piece by piece.

Intermediate results then stay in a processor's cache. The results have the same bits as those of whole tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .bounds import Error

PIECE = 1 << 15  # elements


def _are_cut(shape: torch.Size, tensors: Sequence[torch.Tensor]) -> bool:
    """True for large fp64 tensors of this shape on a host, without gaps."""
    return shape.numel() > PIECE and all(
        t.device.type == "cpu" and t.dtype == torch.float64 and t.shape == shape and t.is_contiguous()
        for t in tensors
    )


def noise(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Uniform in [-1, 1], independent for each element."""
    made = torch.rand(shape, generator=generator, dtype=torch.float64, device=generator.device)
    return made.mul_(2).sub_(1)


def disturbed(
    p: torch.Tensor, shape: torch.Size, amplitude: Error, generator: torch.Generator
) -> torch.Tensor:
    """p + amplitude times noise of that shape."""
    sizes = [amplitude] if isinstance(amplitude, torch.Tensor) else []
    if not _are_cut(shape, [p, *sizes]):
        return p + noise(shape, generator) * amplitude
    made = torch.empty(shape, dtype=torch.float64)
    of = [t.view(-1).split(PIECE) for t in (made, p, *sizes)]
    for k, piece in enumerate(of[0]):
        torch.rand(piece.shape, generator=generator, dtype=torch.float64, out=piece)
        piece.mul_(2).sub_(1).mul_(of[2][k] if sizes else amplitude).add_(of[1][k])
    return made


def leaves(p: torch.Tensor, smallest: float, largest: float) -> tuple[bool, bool]:
    """Returns (a magnitude exceeds the largest number, a magnitude is below the smallest one and not 0)."""
    beyond = below = False
    is_cut = _are_cut(p.shape, [p])
    buffer = torch.empty(PIECE, dtype=torch.float64) if is_cut else None
    for piece in p.view(-1).split(PIECE) if is_cut else [p]:
        size = piece.abs() if buffer is None else torch.abs(piece, out=buffer[: piece.numel()])
        low, high = torch.stack(torch.aminmax(size)).tolist()
        if not high <= largest:  # or NaN
            beyond = beyond or bool((size > largest).any())
        if not low >= smallest:
            below = below or bool(((size < smallest) & (size > 0)).any())
    return beyond, below


def mean_square(runs: Sequence[torch.Tensor], want: torch.Tensor) -> torch.Tensor:
    """The mean over the runs of the squared distance from `want`. The distance of equal values is 0."""
    if any(p.shape != want.shape or p.dtype != want.dtype for p in runs):
        return torch.stack([torch.where(p == want, 0.0, (p - want) ** 2) for p in runs]).mean(0)
    made = torch.empty((len(runs), *want.shape), dtype=want.dtype, device=want.device)
    endless = not bool(want.isfinite().all())  # the difference of equal infinities is NaN
    cut = _are_cut(want.shape, [want, *runs])
    wanted = want.view(-1).split(PIECE) if cut else [want]
    for row, run in zip(made.unbind(0), runs):
        of = zip(row.view(-1).split(PIECE), run.view(-1).split(PIECE), wanted) if cut else [(row, run, want)]
        for off, p, w in of:
            torch.sub(p, w, out=off).mul_(off)
            if endless:
                off.masked_fill_(p == w, 0.0)
    return made.mean(0)
