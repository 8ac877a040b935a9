"""Imported tasks: a KernelBench file or a KernelBench-Hard directory as a problem.

`Task(description, source)` serves a process that runs a task. It replaces sizes in the source by the values of axes.
It unpacks the weights into tensors of the state dict. It constructs the model as the source does.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import scalar, source

if TYPE_CHECKING:
    import torch

    from .description import Description
    from .expression import Sizes

CONSTRUCTION_SEED = 20260101


class Task:
    """A description (NAME.task) and its source."""

    def __init__(self, description: Description, source: source.Source) -> None:
        self.description, self.source = description, source
        self.outputs = description["outputs"]
        results = [output for output in self.outputs if "length_of" not in output]
        self.ways = [output.get("way", [i]) for i, output in enumerate(results)]
        self.varying = len(results) < len(self.outputs)
        self.same = description.get("same", [])  # results that are themselves inputs written by forward
        # not a plain tuple
        self.nested = any(len(way) > 1 or isinstance(key, str) for way in self.ways for key in way)

    @classmethod
    def read(cls, path: str) -> Task:
        """Reads NAME.task and the source beside it. The source must have the recorded SHA-256."""
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        beside = os.path.join(os.path.dirname(path), description["source"]["file"])
        loaded = source.load_imported(os.path.dirname(path), description)
        if loaded.sha256 != description["source"]["sha256"]:
            raise source.SourceError(
                f"{beside} is not the source that was imported: found SHA-256 {loaded.sha256}, "
                f"expected {description['source']['sha256']}\n---> import the task again"
            )
        return cls(description, loaded)

    def instance(self, sizes: Sizes) -> source.Instance:
        """Executes the source with these values of axes. The instance has `init_args`, `model(cls, device, weights)`
        and `input_names`."""
        replaced = {
            name: int(sizes[axis["name"]]) for axis in self.description["axes"] for name in axis["sizes"]
        }
        return self.source.instance(replaced)

    def weights(self, packed: torch.Tensor, sizes: Sizes) -> dict[str, torch.Tensor]:
        """Unpacks the vector `weights` (float32, any device) into tensors by their names in the state dict."""
        from . import weight

        return weight.unpack(self.description["weights"], packed, sizes)

    def constructed(self, instance: source.Instance) -> dict[str, torch.Tensor]:
        """Returns buffers that no class draws, as the source's own constructor makes them, by name. The candidate's
        model gets them.

        Entries with `loaded` false are left out. They do not depend on the seed, and the candidate's constructor
        makes them by itself. Loading them would repair a wrong table and hide its fault.
        """
        import torch

        names = [
            w["name"]
            for w in self.description["weights"]
            if w["kind"] == "constructed" and w.get("loaded", True)
        ]
        if not names:
            return {}
        torch.manual_seed(CONSTRUCTION_SEED)
        state = instance.model().state_dict()
        return {name: state[name].detach().clone() for name in names}

    def arguments(self, tensors: dict[str, torch.Tensor], sizes: Sizes) -> list[Any]:
        """Returns forward's arguments in order: tensors by name, and the values of inputs that are no tensors."""
        return [
            tensors[e["name"]] if "shape" in e else scalar.value(e, sizes) for e in self.description["inputs"]
        ]
