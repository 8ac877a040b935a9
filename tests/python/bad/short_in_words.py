"""Memory is short at its first call, which an extension says in words alone. Run again later, it is right."""
import torch

calls = 0


def softmax(x):
    global calls
    calls += 1
    if calls == 1:
        raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
    return torch.softmax(x, dim=-1)
