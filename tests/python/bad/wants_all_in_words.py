"""More than there ever is: torch's own words for main memory."""
import torch


def softmax(x):
    return torch.empty(1 << 50, dtype=torch.uint8)
