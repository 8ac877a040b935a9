# state: w_q scales zeros
"""KernelBench-Hard 07: `Model(**sizes)`, `forward(inputs)`, its weights by the names of its state dict."""


def bind(entry, call):
    s = call.scalars
    return call.model(entry, init=(s["m"], s["n"], s["k"], s["group"]), forward=("x",),
                      state={"w_q": "w_q", "scales": "scales", "zeros": "zeros"})
