"""It returns a view, whose columns are dense and rows are not."""
import torch


def softmax(x):
    return torch.softmax(x.t().contiguous(), 0).t()
