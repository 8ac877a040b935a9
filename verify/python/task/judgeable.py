"""Whether a task's right answers can be told, asked of the oracle when the task is imported: on small inputs as get_inputs makes them."""
import copy

from ..oracle import evaluate, graph as graphs
from ..oracle.number import Unsupported

from . import law

SEEDS = (1, 2)


def _why(model, inputs, written):
    """Why the oracle has no answer for these inputs; None: it has one."""
    try:
        graph = graphs.trace(copy.deepcopy(model), inputs, written)
        if graph.random():
            return f"the forward pass draws random numbers ({graph.random()})"
        state = {n: t.detach() for n, t in graphs.state_of(model).items()}
        dropped = [j.dropped for j in evaluate.answer(graph, state, [law.copied(v) for v in inputs])]
        return next((why for why in dropped if why), None)
    except Unsupported as why:
        return str(why)
    except Exception as error:  # whatever the task's own code raises, or the oracle itself
        return f"the oracle cannot evaluate it: {type(error).__name__}: {error}"


def why_not(model, instance, written, grown):
    """The reason, in one line, for which no configuration that was tried has a known answer; None where one has. `grown()` is another model
    with inputs of other sizes, or None."""
    import torch
    reason = None
    for seed in SEEDS:
        torch.manual_seed(seed)
        why = _why(model, instance.inputs(), written)
        if why is None:
            return None
        reason = reason or why
    larger = grown()
    if larger and _why(*larger, written) is None:
        return None
    return " ".join(reason.split())[:300]


def note(why):
    """As the description keeps it: [] or one note of the kind `unjudged`."""
    return [{"kind": "unjudged", "text": "no right answer is known for the inputs that importing tried, so verify may give no verdict: " + why}] if why else []
