"""Overwrites device memory that torch's caching allocator has freed and keeps.

This happens before each call. Then remains of an earlier call are no answer, and memory that the candidate assumes to
be zero is not.

Some memory is left alone: blocks in use, blocks that a stream still has, and private pools. Captured graphs keep the
operands of their replays in these pools, while torch regards the blocks as free. All functions of torch used here
were taken before the candidate was loaded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ctypes
    from types import ModuleType

    from .serve import Plan

# arguments of the snapshot by version: without traces, before traces existed, before pools
EVERY = (((0, 0, False),), ((0, 0),), ())


def free_blocks(segments: list[dict[str, Any]], device: int) -> list[tuple[int, int]]:
    """Returns (address, bytes) of the free blocks of one device in a snapshot, except in private pools."""
    found = []
    for segment in segments:
        if segment["device"] != device or tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0):
            continue
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                found.append((address, block["size"]))
            address += block["size"]
    return found


class Cached:
    def __init__(self, torch: ModuleType, library: ctypes.CDLL) -> None:
        self.library = library
        self.snapshot: Any = getattr(torch._C, "_cuda_memorySnapshot", None)
        self.ways: list[tuple[Any, ...]] = list(EVERY)

    def segments(self) -> list[dict[str, Any]]:
        while self.ways:
            try:
                segments: list[dict[str, Any]] = self.snapshot(*self.ways[0])["segments"]
                return segments
            except (TypeError, ValueError, RuntimeError):
                self.ways.pop(0)  # belongs to another version of torch
        raise NotImplementedError("torch says nothing of what it keeps")

    def poison(self, plan: Plan) -> None:
        """Overwrites free memory before a call, while the device is idle. If that is impossible, the candidate's log
        says so once."""
        if plan.backend != 1 or self.snapshot is None:
            return
        try:
            for address, size in free_blocks(self.segments(), plan.device):
                done = self.library.unseen_poison(address, size)
                if done < 0:
                    raise NotImplementedError(f"the driver does not take {size} bytes at {address:#x}")
                if done == 0:
                    break
        except Exception as error:
            self.snapshot = None
            print(f"unseen: memory that torch keeps is not overwritten: {error}", file=sys.stderr)
