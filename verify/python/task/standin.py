"""Stands in for what hangs on values where tensors have none: how many elements a mask picks, what a number is.

A mixture of experts that takes the rows of each expert by torch.where, or a loop up to seq_lens[b].item(), has a forward pass whose
inner shapes nobody knows before its inputs are there; those of what it returns follow from the sizes all the same. So it runs on
FakeTensors with a stand-in for each, and once more with another: shapes that are the same with both do not hang on them.
"""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
# (how many less than half of what might be picked, whole numbers, booleans): two that have nothing in common
WAYS = ((0, 1, True), (1, 2, False))


class StandIn(TorchDispatchMode):
    """Between what watches a run and the mode of FakeTensors."""

    def __init__(self, way):
        super().__init__()
        self.less, self.whole, self.flag = way

    def _picked(self, count):
        return max(0, count - count // 2 - self.less)

    def _places(self, mask):
        return mask.new_empty((self._picked(mask.numel()), mask.dim()), dtype=torch.int64)

    def _number(self, x):
        return self.flag if x.dtype == torch.bool else float(self.whole) if x.dtype.is_floating_point else self.whole

    def _index(self, func, x, indices, rest):
        """A mask is as many indices, one for each of its dimensions."""
        found = []
        for index in indices:
            if index is not None and index.dtype in (torch.bool, torch.uint8):
                found += self._places(index).unbind(1)
            else:
                found.append(index)
        return func(x, found, *rest)

    def _distinct(self, x, dim=None):
        """(distinct ones, where each is among them, how often): of elements, or of slices along `dim`."""
        count = x.numel() if dim is None else x.shape[dim]
        kept = self._picked(count)
        shape = (kept,) if dim is None else (*x.shape[:dim], kept, *x.shape[dim:][1:])
        whole = lambda *extents: x.new_empty(extents, dtype=torch.int64)
        return x.new_empty(shape), whole(*(x.shape if dim is None else (count,))), whole(kept)

    def _split(self, func, x, sizes, dim):
        """Sizes that are stand-ins add up to nothing in particular: as many parts."""
        if sum(sizes) != x.shape[dim] and sizes:
            each, rest = divmod(x.shape[dim], len(sizes))
            sizes = [each + (i < rest) for i in range(len(sizes))]
        return func(x, sizes, dim)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        named = kwargs or {}
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
            return args[0].new_empty(args[0].numel() * self.whole)
        if func in (aten._unique2.default, aten.unique_consecutive.default):
            return self._distinct(args[0], named.get("dim", args[3] if len(args) > 3 else None))
        if func is aten.unique_dim.default:
            return self._distinct(args[0], args[1] % args[0].dim())
        if func is aten.split_with_sizes.default:
            return self._split(func, args[0], args[1], args[2] if len(args) > 2 else 0)
        return func(*args, **named)
