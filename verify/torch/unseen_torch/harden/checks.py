"""Three checks of outputs: the task's own, the oracle's, and the one of a hardened list."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from ..oracle import evaluate, returned

# else 1e-4: KernelBench's atol and rtol by precision
PUBLISHED = {torch.float16: 1e-2, torch.bfloat16: 1e-2}
TRIALS = 5  # trials in KernelBench's scripts
# two honest implementations differ by up to twice the allowed error; other draws have slightly larger errors
ROOM = 2.5
STEPS = range(-23, -5)


def constant(dtype: torch.dtype, own: dict[str, float]) -> float:
    """Returns the published check's atol and rtol, which are one number. It is the task's own for this dtype (`own`,
    by name), else KernelBench's."""
    return float(own.get(str(dtype)[6:], PUBLISHED.get(dtype, 1e-4)))


def published(reference: Sequence[torch.Tensor], out: Sequence[torch.Tensor], own: dict[str, float]) -> bool:
    """Applies the task's own check: equal shapes and allclose."""
    for want, got in zip(reference, out):
        tolerance = constant(want.dtype, own)
        if want.shape != got.shape or not torch.allclose(
            want, got.to(want.dtype), atol=tolerance, rtol=tolerance
        ):
            return False
    return len(reference) == len(out)


def ours(judged: Sequence[evaluate.Judged], out: Sequence[torch.Tensor]) -> float:
    """Returns the greatest ratio of error to allowed error. It is infinite if a finite number is expected and the
    output is not."""
    worst = 0.0
    for j, got in zip(judged, out):
        if not j.number.is_float:
            want = returned.judge_index(j, got) if got.dtype == torch.int64 else j.want
            worst = max(worst, float("inf") if bool(((got.double() - want).abs() > j.allowed).any()) else 0.0)
            continue
        error = (got.double() - j.want).abs()
        ratio = torch.where(
            error <= j.allowed, (error / j.allowed).nan_to_num(0.0).clamp(max=1.0), error / j.allowed
        )
        worst = max(worst, float(ratio.nan_to_num(float("inf")).max()) if ratio.numel() else 0.0)
    return worst


def upwards(x: float) -> float:
    """Rounds up to two digits."""
    if x <= 0 or not math.isfinite(x):
        return x
    unit = 10.0 ** (math.floor(math.log10(x)) - 1)
    return float(f"{math.ceil(x / unit - 1e-9) * unit:.2g}")


def tolerance(judged: Sequence[evaluate.Judged]) -> tuple[float, float]:
    """Returns the narrowest (atol, rtol) with which allclose accepts any two honest implementations."""
    floats = [j for j in judged if j.number.is_float]
    if not floats:
        return 0.0, 0.0
    room = ROOM * torch.cat([j.allowed.reshape(-1) for j in floats])
    size = torch.cat([j.want.abs().reshape(-1) for j in floats])
    best: tuple[float, float, float] | None = None
    for rtol in [0.0] + [2.0**e for e in STEPS]:
        atol = float((room - rtol * size).max().clamp(min=0))
        mean = atol + rtol * float(size.mean())
        if best is None or mean < best[0]:
            best = mean, atol, rtol
    assert best
    return upwards(best[1]), upwards(best[2])


def hardened(
    reference: Sequence[torch.Tensor],
    out: Sequence[torch.Tensor],
    judged: Sequence[evaluate.Judged],
    pair: tuple[float, float],
) -> bool:
    """Applies allclose with the pair. Whole numbers must be right; indices are judged by the elements to which they
    point."""
    atol, rtol = pair
    for want, got, j in zip(reference, out, judged):
        if want.shape != got.shape:
            return False
        if not j.number.is_float:
            right = returned.judge_index(j, got) if got.dtype == torch.int64 else j.want
            if bool((got.double() != right).any()):
                return False
        elif not torch.allclose(want.double(), got.double(), atol=atol, rtol=rtol):
            return False
    return True
