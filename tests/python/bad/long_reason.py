class CompilationError(Exception):
    """Like Triton's: the source first, the error last."""


def softmax(x):
    source = "".join(f"    step_{i} = tl.load(x + {i} * stride)\n" for i in range(20))
    raise CompilationError(f"at 24:8:\n@triton.jit\ndef kernel(x):\n{source}    a = tl.arange(0, 3)\n        ^\n"
                           "arange's range must be a power of 2")
