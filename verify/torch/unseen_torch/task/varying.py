"""Results whose extents depend on values: rows that a mask picks, places that are not 0, distinct elements.

The memory of such a result has its greatest shape, and elements beyond the result are 0. A further output,
NAME_length, holds the extents that vary. Both are compared like any other output, the extents exactly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch

from . import data_dependent
from . import failure as failed
from .description import OutputEntry
from .observed import Observed, Output

MOST_TOTALS = 16  # extents that are tried as the number of all rows


def entries(outputs: Sequence[OutputEntry], taken: set[str]) -> list[OutputEntry]:
    """Returns the entries of the further outputs. `taken` are names that they must not have."""
    found: list[OutputEntry] = []
    for output in outputs:
        dims = output.get("varying")
        if dims:
            name = output["name"] + "_length"
            while name in taken:
                name += "_out"
            taken = taken | {name}
            found.append({"name": name, "dtype": "int64", "shape": [len(dims)], "length_of": output["name"]})
    return found


def fits(shape: Sequence[int], greatest: Sequence[int], dims: Sequence[int]) -> bool:
    """Tells whether `shape` is the greatest shape, apart from smaller extents of the dimensions that vary."""
    return len(shape) == len(greatest) and all(
        n <= most if d in dims else n == most for d, (n, most) in enumerate(zip(shape, greatest))
    )


def are_fit(tensors: Sequence[torch.Tensor], outputs: Sequence[Output]) -> bool:
    """The same for all outputs of a run."""
    return len(tensors) == len(outputs) and all(
        fits(t.shape, told.shape, told.varying) for t, told in zip(tensors, outputs)
    )


Observing = Callable[[data_dependent.Way, Optional[int]], Observed]


def agreed(observed: Observing, failure: Exception, extents: set[int]) -> Observed:
    """Returns the record of a run with stand-ins for what depends on values. It raises
    `failure` if other records differ.

    They may differ in extents of outputs alone, whose greatest ones are known. The record has these, and the
    dimensions that vary. Lengths of groups of rows may add up to one of the `extents`.
    """

    def pair(ways: Sequence[data_dependent.Way], total: int | None = None) -> tuple[Observed, Observed]:
        one, two = (observed(way, total) for way in ways)
        return one, two

    try:
        one, two = pair(data_dependent.WAYS)
    except failed.Failed:  # half of what every mask may pick is too much together, or a place beyond the end
        one, two = _steady(pair, failure, extents)
    if one.structure() != two.structure() or one.dims(False) != two.dims(False):
        raise failure
    if one.dims() == two.dims():
        return one
    most, again = pair(data_dependent.MOST)
    if one.structure() != most.structure() or most.dims() != again.dims():
        raise failure
    outputs = []
    for a, b, greatest in zip(one.outputs, two.outputs, most.outputs):
        dims = tuple(d for d, n in enumerate(a.shape) if n != b.shape[d])
        if not fits(a.shape, greatest.shape, dims):
            raise failure
        outputs.append(Output(a.dtype, greatest.shape, dims))
    one.outputs = outputs
    return one


def _steady(
    pair: Callable[..., tuple[Observed, Observed]], failure: Exception, extents: set[int]
) -> tuple[Observed, Observed]:
    """Returns two records with the same extents everywhere."""
    totals = [(data_dependent.WAYS, n) for n in sorted(extents, reverse=True)[:MOST_TOTALS]]
    for ways, total in ((data_dependent.LEAST, None), *totals):
        try:
            one, two = pair(ways, total)
        except failed.Failed:
            continue
        if one.dims() == two.dims():
            return one, two
    raise failure


def placed(value: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Returns a tensor of zeros of the greatest shape, with `value` in its first corner."""
    whole = value.new_zeros(tuple(shape))
    whole[tuple(slice(n) for n in value.shape)] = value
    return whole


def extents(value: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    return torch.tensor([value.shape[d] for d in dims], device=value.device)


def measured(
    result: Any,
    outputs: Sequence[OutputEntry],
    shapes: dict[str, tuple[int, ...]],
    later: Callable[[Any, Callable[[], torch.Tensor]], Any],
) -> Any:
    """Returns a candidate's result with each varying tensor in its greatest shape, followed by their extents.

    Tensors are made `later(part, make)`, when no clock runs. A result of other values is returned as it is, so
    that the caller says what was expected.
    """
    results = [o for o in outputs if "length_of" not in o]
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(values) != len(results):
        return result
    lengths: list[Any] = []
    for i, (value, output) in enumerate(zip(values, results)):
        dims, shape = output.get("varying"), shapes[output["name"]]
        if dims:
            if type(value) is not torch.Tensor or not fits(value.shape, shape, dims):
                lengths.append(None)
                continue  # the caller refuses this value
            values[i] = later(value, functools.partial(placed, value, shape))
            lengths.append(later(None, functools.partial(extents, value, dims)))
    return (*values, *lengths)
