"""KernelBench-Hard 02: `Model(**sizes)`, `forward(inputs)`."""


def bind(entry, call):
    s = call.scalars
    return call.model(entry, init=(s["batch"], s["t"], s["heads"], s["dk"], s["dv"], 64), state={},
                      forward=("q", "k", "v", "g", "beta"))
