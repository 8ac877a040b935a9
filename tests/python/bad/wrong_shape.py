import torch


def softmax(x):
    return torch.softmax(x, -1).flatten()
