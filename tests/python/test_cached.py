"""Tests how much of a device's free memory is overwritten before a call (unseen_torch/runner/allocator_poison.py). Needs
no torch; ends with 1 where a sentence fails."""

import contextlib
import importlib.util
import io
import os
import sys
import types
import unittest

PATH = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../verify/torch/unseen_torch/runner/allocator_poison.py"
)
spec = importlib.util.spec_from_file_location("cached", PATH)
cached = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cached)

CUDA, HOST = types.SimpleNamespace(backend=1, device=0), types.SimpleNamespace(backend=0, device=0)


def segment(address, *blocks, device=0, **more):
    return {
        "device": device,
        "address": address,
        "blocks": [{"state": s, "size": n} for s, n in blocks],
        **more,
    }


SEGMENTS = [
    segment(
        0x1000, ("inactive", 512), ("active_allocated", 1024), ("inactive", 2048), segment_pool_id=(0, 0)
    ),
    # before pools were told
    segment(0x8000, ("active_pending_free", 512), ("active_awaiting_free", 512), ("inactive", 1024)),
    segment(0x20000, ("inactive", 4096), segment_pool_id=(0, 1)),  # a graph's own
    segment(0x30000, ("inactive", 4096), segment_pool_id=(7, 0)),  # torch.cuda.MemPool's
    segment(0x40000, ("inactive", 4096), device=1, segment_pool_id=(0, 0)),
]


class Library:
    def __init__(self, answer=1):
        self.answer, self.seen = answer, []

    def unseen_poison(self, address, size):
        self.seen.append((address, size))
        return self.answer


def made(library, snapshot):
    return cached.Cached(
        types.SimpleNamespace(_C=types.SimpleNamespace(_cuda_memorySnapshot=snapshot)), library
    )


class Cached(unittest.TestCase):
    def said(self, it, plan=CUDA):
        with contextlib.redirect_stderr(io.StringIO()) as out:
            it.poison(plan)
        return out.getvalue()

    def test_free_blocks_are_overwritten_and_private_pools_left_alone(self):
        library = Library()
        self.assertEqual(self.said(made(library, lambda *_: {"segments": SEGMENTS})), "")
        self.assertEqual(library.seen, [(0x1000, 512), (0x1000 + 1536, 2048), (0x8000 + 1024, 1024)])

    def test_every_version_of_torch_is_asked_in_its_own_way(self):
        def pools(pool):
            if len(pool) != 2:
                raise RuntimeError("a pair was expected")
            return {"segments": SEGMENTS}

        for snapshot in (pools, lambda: {"segments": SEGMENTS}, lambda triple: {"segments": SEGMENTS}):
            library = Library()
            it = made(library, snapshot)
            for _ in range(2):
                self.assertEqual(self.said(it), "")
            self.assertEqual(len(library.seen), 6)

    def test_nothing_is_asked_for_on_the_host_or_without_the_defence(self):
        library = Library(0)
        self.said(made(library, lambda *_: self.fail("asked")), HOST)
        self.said(made(library, lambda *_: {"segments": SEGMENTS}))
        self.assertEqual(len(library.seen), 1)

    def test_what_cannot_be_done_is_said_once(self):
        refused = made(Library(-1), lambda *_: {"segments": SEGMENTS})
        self.assertIn("is not overwritten: the driver does not take 512 bytes at 0x1000", self.said(refused))
        self.assertEqual(self.said(refused), "")

        def silent(*_):
            raise RuntimeError("another allocator")

        self.assertIn("torch says nothing of what it keeps", self.said(made(Library(), silent)))
        self.assertEqual(self.said(cached.Cached(types.SimpleNamespace(_C=None), Library())), "")


if __name__ == "__main__":
    told = io.StringIO()
    result = unittest.main(exit=False, testRunner=unittest.TextTestRunner(stream=told)).result
    if not result.wasSuccessful():
        sys.exit(told.getvalue())
