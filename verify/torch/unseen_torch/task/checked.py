"""Operations of torch that read or write beyond a tensor on a CPU if an index is out of range.

A task runs with drawn indices and with other sizes than published, so that an index may be out of range. Such
a run has to fail by itself and must not damage the process. The operations here run as others that check each
index."""

from __future__ import annotations

import warnings

import torch

_library: torch.library.Library | None = None


def _embedding_dense_backward(
    grad: torch.Tensor, indices: torch.Tensor, rows: int, padding: int, by_frequency: bool
) -> torch.Tensor:
    """Returns the gradient of an embedding's table, [rows, width], from grad, [.., width]. Raises
    IndexError."""
    if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < rows:
        raise IndexError(f"an index of embedding_dense_backward is out of range for {rows} rows")
    flat, at = grad.reshape(-1, grad.shape[-1]), indices.reshape(-1).long()
    if by_frequency and at.numel():
        flat = flat / torch.bincount(at, minlength=rows)[at][:, None].to(flat.dtype)
    flat = flat.masked_fill((at == padding)[:, None], 0)
    return flat.new_zeros(rows, flat.shape[-1]).index_add(0, at, flat)


def install() -> None:
    """Replaces these operations on the CPU for the rest of the process."""
    global _library
    if _library is None:
        _library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch says that a kernel is replaced
            _library.impl("embedding_dense_backward", _embedding_dense_backward, "CPU")
