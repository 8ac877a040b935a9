"""Rows made normal, then scaled and shifted by parameters that begin as the identity."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x)


lines = 6
width = 48


def get_inputs():
    return [torch.randn(lines, width)]


def get_init_inputs():
    return [width]
