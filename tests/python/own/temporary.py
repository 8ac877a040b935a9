"""Right in every checked place. The row sums go through a temporary of its own, which is written in whole
blocks. With 700 rows, blocks of 1024 end beyond the padding of torch's alignment, and blocks of 256 end
within it."""
import torch
import triton
import triton.language as tl


@triton.jit
def move(source, target, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + i, tl.load(source + i, mask=i < count, other=1.0))


def in_blocks(x, block):
    terms = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    sums = terms.sum(dim=-1)
    own = torch.empty_like(sums)
    move[(triton.cdiv(sums.numel(), block),)](sums, own, sums.numel(), BLOCK=block)
    return terms / own[:, None]


def past(x):
    return in_blocks(x, 1024)


def beside(x):
    return in_blocks(x, 256)
