"""Replaces data-dependent sizes and numbers in runs on FakeTensors, such as how many elements a mask picks.

A mixture of experts takes the rows of each expert by torch.where. A loop runs up to seq_lens[b].item(). Inner
shapes of such a forward pass depend on values, while the shapes of its results follow from the sizes.

The pass therefore runs twice, with two different sets of stand-ins. Shapes that are equal in both do not
depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
Way = tuple[Optional[int], int, bool]
# Two sets that share no value: (elements less than half of a mask, whole numbers, booleans).
WAYS = ((0, 1, True), (1, 2, False))
# The same with all elements of a mask: shapes that are equal in both are the greatest possible ones.
MOST = ((None, 1, True), (None, 2, False))
# The same with one element or none, and with numbers that are places in the shortest dimension.
LEAST = ((-1, 0, True), (-2, 1, False))


class StandIn(TorchDispatchMode):
    """Sits between the mode that watches a run and the FakeTensorMode."""

    def __init__(self, way: Way, total: int | None = None) -> None:
        """`total`: the length of what is repeated by counts; None: as the counts' stand-ins say."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.less, self.whole, self.flag = way
        self.total = total
        self.extents: set[int] = set()  # of the tensors that the pass has worked with

    def _picked(self, count: int) -> int:
        if self.less is None:
            return count
        return min(count, 2 + self.less) if self.less < 0 else max(0, count - count // 2 - self.less)

    def _places(self, mask: torch.Tensor) -> torch.Tensor:
        return mask.new_empty((self._picked(mask.numel()), mask.dim()), dtype=torch.int64)

    def _number(self, x: torch.Tensor) -> float:
        return (
            self.flag
            if x.dtype == torch.bool
            else float(self.whole)
            if x.dtype.is_floating_point
            else self.whole
        )

    def _index(
        self, func: Any, x: torch.Tensor, indices: Sequence[torch.Tensor | None], rest: tuple[Any, ...]
    ) -> Any:
        """Replaces a mask by index tensors, one for each of its dimensions."""
        found: list[torch.Tensor | None] = []
        for index in indices:
            if index is not None and index.dtype in (torch.bool, torch.uint8):
                found += self._places(index).unbind(1)
            else:
                found.append(index)
        return func(x, found, *rest)

    def _distinct(
        self, x: torch.Tensor, dim: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns (distinct ones, place of each among them, counts) of elements, or of slices along `dim`."""
        count = x.numel() if dim is None else x.shape[dim]
        kept = self._picked(count)
        shape = (kept,) if dim is None else (*x.shape[:dim], kept, *x.shape[dim:][1:])

        def whole(*extents: int) -> torch.Tensor:
            return x.new_empty(extents, dtype=torch.int64)

        return x.new_empty(shape), whole(*(x.shape if dim is None else (count,))), whole(kept)

    def _split(self, func: Any, x: torch.Tensor, sizes: list[int], dim: int) -> Any:
        """Splits evenly into as many parts if the sizes are stand-ins with a wrong sum."""
        if sum(sizes) != x.shape[dim] and sizes:
            each, rest = divmod(x.shape[dim], len(sizes))
            sizes = [each + (i < rest) for i in range(len(sizes))]
        return func(x, sizes, dim)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        self.extents.update(*(a.shape for a in args if isinstance(a, torch.Tensor)))
        if func is aten._local_scalar_dense.default:
            return self._number(args[0])
        if func is aten.equal.default:
            return self.flag
        if func is aten.nonzero.default:
            return self._places(args[0])
        if func is aten.masked_select.default:
            return args[0].new_empty(self._picked(max(args[0].numel(), args[1].numel())))
        if func in (aten.index.Tensor, aten.index_put.default, aten.index_put_.default):
            return self._index(func, args[0], args[1], args[2:])
        if func is aten.bincount.default:
            least = args[2] if len(args) > 2 else named.get("minlength", 0)
            return args[0].new_empty(max(least, self.whole), dtype=torch.int64)
        if func is aten.repeat_interleave.Tensor and named.get("output_size") is None:
            return args[0].new_empty(args[0].numel() * self.whole if self.total is None else self.total)
        if func in (aten._unique2.default, aten.unique_consecutive.default):
            return self._distinct(args[0], named.get("dim", args[3] if len(args) > 3 else None))
        if func is aten.unique_dim.default:
            return self._distinct(args[0], args[1] % args[0].dim())
        if func is aten.split_with_sizes.default:
            return self._split(func, args[0], args[1], args[2] if len(args) > 2 else 0)
        return func(*args, **named)
