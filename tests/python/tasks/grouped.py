"""Channels in groups: only multiples run."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, parts, channels):
        super().__init__()
        self.norm = nn.GroupNorm(parts, channels)

    def forward(self, x):
        return self.norm(x)


samples = 2
parts = 4
channels = 24
points = 30


def get_inputs():
    return [torch.randn(samples, channels, points)]


def get_init_inputs():
    return [parts, channels]
