# state: weight scale
"""KernelBench-Hard 01: `Model(**sizes)`, `forward(inputs)`, its weights by the names of its state dict."""


def bind(entry, call):
    s = call.scalars
    return call.model(entry, init=(s["m"], s["n"], s["k"]), forward=("x",),
                      state={"weight": "weight", "weight_scale": "scale"})
