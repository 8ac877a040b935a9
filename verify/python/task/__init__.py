"""Imported tasks: a KernelBench file or a KernelBench-Hard directory as a problem.

`Task(description, source)` is what a process that runs one needs: sizes of axes become sizes of the source, the packed
weights become the tensors of the state dict, and the model is constructed as the source constructs it.
"""
import json
import os

CONSTRUCTION_SEED = 20260101


def number_of(entry, sizes):
    """What forward gets for an input that is no tensor: where that follows axes, what they say."""
    from . import scalar
    found = scalar.value(entry, sizes)
    return entry["value"] if found is None else found


class Task:
    """A description (NAME.task) and its source."""

    def __init__(self, description, source):
        self.description, self.source = description, source
        self.ways = [output.get("way", [i]) for i, output in enumerate(description["outputs"])]
        self.same = description.get("same", [])  # results that are inputs which forward writes into
        self.nested = any(len(way) > 1 or isinstance(key, str) for way in self.ways for key in way)  # not a plain tuple

    @classmethod
    def read(cls, path):
        """From NAME.task; the source lies beside it, with the hash that is written there."""
        from . import source
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        beside = os.path.join(os.path.dirname(path), description["source"]["file"])
        loaded = source.load_imported(os.path.dirname(path), description)
        if loaded.sha256 != description["source"]["sha256"]:
            raise source.SourceError(f"{beside} is not the source that was imported: found SHA-256 {loaded.sha256}, "
                                     f"expected {description['source']['sha256']}\n---> import the task again")
        return cls(description, loaded)

    def instance(self, sizes):
        """The source executed where axes have `sizes`: init_args, model(cls, device, weights), input_names."""
        replaced = {name: int(sizes[axis["name"]]) for axis in self.description["axes"] for name in axis["sizes"]}
        return self.source.instance(replaced)

    def weights(self, packed, sizes):
        """Tensors by name of the state dict from the packed vector `weights` (float32, any device)."""
        from . import weight
        return weight.unpack(self.description["weights"], packed, sizes)

    def constructed(self, instance):
        """What is not drawn, and a candidate is given: buffers as the source's own constructor makes them, by name. Those that it makes
        the same of every seed a candidate's makes by itself, as where both are only seeded alike: a wrong table would be put right."""
        import torch
        names = [w["name"] for w in self.description["weights"] if w["kind"] == "constructed" and w.get("loaded", True)]
        if not names:
            return {}
        torch.manual_seed(CONSTRUCTION_SEED)
        state = instance.model().state_dict()
        return {name: state[name].detach().clone() for name in names}

    def arguments(self, tensors, sizes):
        """forward's arguments: the tensors by name, and what is no tensor, in their order."""
        return [tensors[e["name"]] if "shape" in e else number_of(e, sizes) for e in self.description["inputs"]]
