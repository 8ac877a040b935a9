import torch


def softmax(x):
    image = x.view(x.shape[0], x.shape[1], 1, 1).to(memory_format=torch.channels_last)
    return torch.softmax(image, 1).view(x.shape)
