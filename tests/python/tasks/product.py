"""A matrix product with weights."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outside, inside) * 0.1)
        self.bias = nn.Parameter(torch.zeros(outside))

    def forward(self, x):
        return torch.relu(x @ self.weight.t() + self.bias)


count = 12
inside = 40
outside = 28


def get_inputs():
    return [torch.rand(count, inside)]


def get_init_inputs():
    return [inside, outside]
