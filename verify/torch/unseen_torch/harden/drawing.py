"""Draws inputs and weights of a hardened configuration.

`unseen harden` copies these functions verbatim behind the task's source in the file that it writes. They may use
torch only.
"""

from __future__ import annotations

import torch


def drawn(x: torch.Tensor, kind: str) -> torch.Tensor:
    """Draws an input of x's shape and type as the class `kind` says. `published` returns x itself."""
    if kind == "published":
        return x
    normal = torch.randn(x.shape)
    if kind == "wide":
        normal = normal.sign() * torch.exp2(torch.rand(x.shape) * 12 - 6)
    elif kind == "needle" and normal.numel():
        normal[..., -1] = 30.0
    elif kind == "integers":
        normal = torch.randint(-8, 9, x.shape).float()
    elif kind == "small":
        normal = normal * 2.0**-10
    elif kind in ("large", "beyond"):  # exponentials overflow
        normal = normal * 2.0**7
    return normal.to(x.dtype)


def vary_weights(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Changes scales, shifts and running statistics so that they are not the identity. Other weights stay as drawn."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if not tensor.is_floating_point() or not tensor.numel():
                continue
            noise = torch.randn(tensor.shape, generator=generator).to(tensor)
            if name.endswith("running_mean"):
                tensor.copy_(0.25 * noise)
            elif name.endswith("running_var"):
                tensor.copy_(0.5 + 0.5 * noise.abs())
            elif isinstance(tensor, torch.nn.Parameter) and bool((tensor == tensor.reshape(-1)[0]).all()):
                tensor.add_(0.25 * (tensor.abs().clamp(max=1.0) + (tensor == 0)) * noise)
    return model
