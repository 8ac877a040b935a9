"""The outputs of a call of a model: the inputs that it has written into, and its results.

An optimizer's step and a cache's update are in-out: the inputs hold their answer afterwards. A result that is such an input is the same
answer once more.
"""
import torch

from . import structure


class Effects:
    """`written`: places of the inputs that changed. `returned`: [(way, tensor)] of the other results. `same`: [(way, place)] of results that are
    one of the written inputs. `answer`: what forward returned."""

    def __init__(self, answer, given, written):
        self.answer, self.written, self.returned, self.same = answer, written, [], []
        self.inputs = [given[i] for i in written]
        self.is_plain = True  # nothing but tensors was returned
        found = structure.places(answer, torch.Tensor)
        if found is None:
            self.is_plain, found = False, []
        for way, tensor in found:
            place = next((i for i in written if tensor is given[i]), None)
            if place is None:
                self.returned.append((way, tensor))
            else:
                self.same.append((way, place))

    def tensors(self):
        """All outputs: what the written inputs hold, then what is returned beside them."""
        return [*self.inputs, *(tensor for _, tensor in self.returned)]


def _version(value):
    return value._version if isinstance(value, torch.Tensor) else 0


def of_call(model, given):
    """Calls the model on `given`, which it may write into."""
    before = [_version(v) for v in given]
    answer = model(*given)
    return Effects(answer, given, [i for i, (v, was) in enumerate(zip(given, before)) if _version(v) != was])


def outputs(model, given):
    """The tensors that a call leaves; None where forward returns something else."""
    effects = of_call(model, given)
    return effects.tensors() if effects.is_plain else None


def written_in(description):
    """Places of the inputs that forward writes into, by NAME.task."""
    return [i for i, entry in enumerate(description["inputs"]) if entry.get("written")]
