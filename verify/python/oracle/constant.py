"""Is a right answer the same whatever the inputs are? Then it says nothing about who computed it."""
import torch

from .evaluate import evaluate

FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def _tensor(x, device):
    """In fp64, to be written to."""
    return x.detach().to(device, torch.float64 if x.is_floating_point() else x.dtype, copy=True)


def _option(x, device):
    """A type that is made of fp64 instead, a device that is this one."""
    return torch.float64 if x in FLOATS else torch.device(device) if isinstance(x, torch.device) else x


def values(graph, state, inputs, device="cpu"):
    """The outputs as the graph's own operations compute them in fp64: no bounds, no runs, a tenth of what `evaluate` takes. What an
    operation does not do in fp64 raises whatever it raises."""
    given = iter([state[name] for name in graph.names] + [inputs[i] for i in graph.inputs])
    env = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            env[node] = _tensor(next(given), device)
        elif node.op == "get_attr":
            env[node] = _tensor(getattr(graph.module, node.target), device)
        else:
            args, named = torch.fx.node.map_aggregate((node.args, node.kwargs), lambda a: env[a] if isinstance(a, torch.fx.Node) else
                                                      _option(a, device))
            if node.op == "output":
                return list(args[0]) if isinstance(args[0], (tuple, list)) else [args[0]]
            env[node] = node.target(*args, **named)
        for used in node.all_input_nodes:
            if graph.last_use.get(used) is node:
                env.pop(used, None)


def is_constant(judged, graph, state, inputs, seed=1, device="cpu"):
    """Is the right answer the same, within what is allowed, for quite other inputs?"""
    generator = torch.Generator(device=device).manual_seed(seed + 1)
    def other(x):
        if not isinstance(x, torch.Tensor) or not x.is_floating_point() or not x.numel():
            return x
        low, high = float(x.min()), float(x.max())
        return low + (high - low) * torch.rand(x.shape, generator=generator, device=x.device).to(x.dtype)
    if not any(isinstance(inputs[i], torch.Tensor) and inputs[i].is_floating_point() for i in graph.inputs):
        return False
    others = [other(x) for x in inputs]
    try:
        again = values(graph, state, others, device)
    except (RuntimeError, TypeError, ValueError, IndexError):  # an operation that is not there for fp64
        again = [number.v for number, _ in evaluate(graph, state, others, seed, runs=0, device=device)]
    return all(bool(((v.double() - j.want).abs() <= j.allowed).all()) for j, v in zip(judged, again))
