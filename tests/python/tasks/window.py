"""A convolution: its window, stride and padding are attributes."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, planes_in, planes_out, window):
        super().__init__()
        self.conv = nn.Conv2d(planes_in, planes_out, window, stride=2, padding=1)

    def forward(self, image):
        return self.conv(image)


images = 3
planes_in = 4
planes_out = 6
window = 3
high, wide = 20, 17


def get_inputs():
    return [torch.randn(images, planes_in, high, wide)]


def get_init_inputs():
    return [planes_in, planes_out, window]
