"""KernelBench-Hard 05: `Model(**sizes)`, `forward(inputs)`."""


def bind(entry, call):
    s = call.scalars
    return call.model(entry, init=(s["rows"], s["n"], s["k"]), state={}, forward=("x",))
