import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, batch, n):
        super().__init__()
        self.batch, self.n = batch, n
        self.register_buffer("_dummy", torch.zeros(1))

    def forward(self, x):
        assert x.shape == (self.batch, self.n)
        return torch.softmax(x, -1)
