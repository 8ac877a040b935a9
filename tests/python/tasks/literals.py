"""Sizes that stand in get_inputs alone."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.bmm(x, y)


def get_inputs():
    inner = 20
    return [torch.rand(3, 14, inner), torch.rand(3, inner, 10)]


def get_init_inputs():
    return []
