import torch


def normalize(values, dim=-1):
    return torch.nn.functional.softmax(values, dim)
