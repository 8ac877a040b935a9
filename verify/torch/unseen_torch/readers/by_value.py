"""Texts that draw tensors like a given one, at other extents."""

from __future__ import annotations

from typing import Any


def _structured(x: Any, shape: str) -> str | None:
    """Returns the text for square matrices of one structure. Other tensors have none."""
    import torch

    if x.dim() < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
        return None
    drawn = f"torch.randn({shape}, dtype={x.dtype})"
    is_diagonal = torch.equal(x, torch.diag_embed(x.diagonal(dim1=-2, dim2=-1)))
    if torch.equal(x, x.mT.conj()) and not is_diagonal:
        wide = torch.complex128 if x.is_complex() else torch.float64
        if bool((torch.linalg.eigvalsh(x.to(wide)) > 0).all()):
            return f"(lambda x: x @ x.mT.conj() + torch.eye(x.shape[-1], dtype=x.dtype))({drawn})"
        return f"(lambda x: x + x.mT.conj())({drawn})"
    if not is_diagonal and torch.equal(x, x.triu()):
        return f"{drawn}.triu()"
    if not is_diagonal and torch.equal(x, x.tril()):
        return f"{drawn}.tril()"
    return None


def text(x: Any, shape: str, bound: str | None = None) -> str:
    """Returns the expression that draws a tensor of `shape`. Whole numbers are indices below a `bound`."""
    import torch

    if x.dtype is torch.bool:
        return f"torch.randint(0, 2, {shape}).to(torch.bool)"
    if not (x.is_floating_point() or x.is_complex()):
        low, high = (int(x.min()), int(x.max())) if x.numel() else (0, 1)
        return f"torch.randint({0 if bound else min(low, 0)}, {bound or high + 1}, {shape}, dtype={x.dtype})"
    finite = x[x.isfinite()]
    if x.is_complex() or not finite.numel():
        return _structured(x, shape) or f"torch.randn({shape}, dtype={x.dtype})"
    wide = finite.double()
    if x.numel() > 1 and bool((wide == wide[0]).all()):
        return f"torch.full({shape}, {wide[0].item()!r}, dtype={x.dtype})"
    if x.element_size() == 1:
        return f"torch.randn({shape}).to({x.dtype})"
    made = _structured(x, shape)
    if made is None and bool((wide >= 0).all()):
        most = float(f"{wide.max().item():.2g}")
        return f"torch.rand({shape}, dtype={x.dtype})" + (f" * {most}" if most > 1 else "")
    return made or f"torch.randn({shape}, dtype={x.dtype})"
