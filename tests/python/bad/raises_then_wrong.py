"""Raises an error for odd widths, and once it has done so is wrong whatever it is asked."""
import os

import torch

spoiled = False


def softmax(x):
    global spoiled
    if x.shape[-1] % 2:
        spoiled = True
        raise RuntimeError(f"an odd width in process {os.getpid()}")
    return torch.softmax(x, dim=-1) * (2 if spoiled else 1)
