"""Memory is short at its first call, and an extension says so by words alone: asked again when others hold none, it is right."""
import torch

calls = 0


def softmax(x):
    global calls
    calls += 1
    if calls == 1:
        raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
    return torch.softmax(x, dim=-1)
