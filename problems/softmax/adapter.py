"""KernelBench-Hard 04: `Model(**sizes)`, `forward(inputs)`."""


def bind(entry, call):
    s = call.scalars
    return call.model(entry, init=(s["rows"], s["cols"]), state={}, forward=("x",))
