# slow
from torch.utils.cpp_extension import load_inline

module = load_inline("broken_softmax", "torch::Tensor own(torch::Tensor x) { return nothere + torch::softmax(x, -1); }",
                     functions=["own"])


def softmax(x):
    return module.own(x)
