"""Raises an error for odd widths. After that it refuses 66 and is wrong for all other widths."""
import os

import torch

spoiled = False


def softmax(x):
    global spoiled
    if x.shape[-1] % 2:
        spoiled = True
        raise RuntimeError(f"an odd width in process {os.getpid()}")
    if spoiled and x.shape[-1] == 66:
        raise ValueError("not 66")
    return torch.softmax(x, dim=-1) * (2 if spoiled else 1)
