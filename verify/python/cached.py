"""Memory of a device that torch has freed and keeps for later: overwritten before each call, so that what an earlier call left there
is no answer, and nothing that is taken for cleared is.

Left alone: blocks in use, those that a stream still has, and private pools, in which captured graphs keep what their replays read
and write while torch takes it for free. Whatever is used of torch here was taken before the candidate was loaded."""
import sys

EVERY = (((0, 0, False),), ((0, 0),), ())  # arguments of the snapshot: without traces, before that existed, before pools


def free_blocks(segments, device):
    """(address, bytes) of what is free in a snapshot's segments on one device, outside of private pools."""
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
    def __init__(self, torch, library):
        self.library, self.snapshot = library, getattr(torch._C, "_cuda_memorySnapshot", None)
        self.ways = list(EVERY)

    def segments(self):
        while self.ways:
            try:
                return self.snapshot(*self.ways[0])["segments"]
            except (TypeError, ValueError, RuntimeError):
                self.ways.pop(0)  # another version's
        raise NotImplementedError("torch says nothing of what it keeps")

    def poison(self, plan):
        """Before a call, the device at rest. Where it cannot be done the candidate's log says so, once."""
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
