import torch


def softmax(x):
    print("y" * 1000000)
    return torch.softmax(x, -1)
