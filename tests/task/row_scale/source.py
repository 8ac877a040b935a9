"""Rows scaled by a learned factor of each column, then by their greatest magnitude."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        y = x * self.scale
        return y / (1 + y.abs().amax(dim=-1, keepdim=True))


rows = 128
cols = 4096


def get_inputs():
    return [torch.rand(rows, cols)]


def get_init_inputs():
    return [cols]
