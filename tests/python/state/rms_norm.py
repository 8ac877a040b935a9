"""Its weight is a parameter, and an input has the same name and other content in each call."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(cols))

    def forward(self, x, eps):
        wide = x.double()
        scaled = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
        return (scaled * self.weight.double()).to(x.dtype)
