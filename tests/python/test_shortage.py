"""Errors that show a lack of memory (unseen_torch/oom.py). Needs no torch; ends with 1 where a
sentence fails."""

import importlib.util
import io
import os
import sys
import unittest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../verify/torch/unseen_torch/oom.py")
spec = importlib.util.spec_from_file_location("shortage", PATH)
shortage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shortage)


class OutOfMemoryError(RuntimeError):
    """Replaces torch's class."""


class AcceleratorError(RuntimeError):
    """As newer versions of torch raise it."""


class Forged(Exception):
    def __str__(self):
        return "CUDA out of memory"


class Changing(RuntimeError):
    ran = 0

    def __str__(self):
        Changing.ran += 1
        return "CUDA out of memory"


class Posing(Exception):
    __class__ = MemoryError


def named(name):
    return type(name, (Exception,), {})("CUDA out of memory. Tried to allocate 2.00 GiB.")


SHORT = (
    OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    OutOfMemoryError(),
    MemoryError(),
    MemoryError("std::bad_alloc"),
    MemoryError("Unable to allocate 7 GiB for an array"),
    RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79 GiB"),
    RuntimeError(
        "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call"
    ),
    AcceleratorError(
        "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://docs.nvidia.com"
    ),
    RuntimeError("kernel.cu:31: cudaErrorMemoryAllocation: out of memory"),
    RuntimeError("\ncuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY"),
    RuntimeError("Triton Error [CUDA]: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 400000000000000 bytes. Error code 12 (Cannot allocate memory)"
    ),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:116] . DefaultCPUAllocator: not enough memory: you tried to allocate 4 bytes."
    ),
)
OTHER = (
    RuntimeError(),
    RuntimeError("out of memory"),
    RuntimeError(MemoryError()),
    RuntimeError(7),
    ValueError("CUDA out of memory"),
    RuntimeError("CUDA error: an illegal memory access was encountered\nCUDA out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`"),
    RuntimeError("CUDA error: too many resources requested for launch"),
    RuntimeError("out of resource: shared memory, Required: 270336, Hardware limit: 232448"),
    RuntimeError("no CUDA out of memoryless path"),
    RuntimeError("MyCUDA out of memory"),
    RuntimeError("x" * (1 << 20) + " CUDA out of memory"),
    Forged(),
    Changing("wrong answer"),
    Posing("?"),
    named("OutOfMemoryError"),
    named("MemoryError"),
    KeyboardInterrupt(),
)


class Shortage(unittest.TestCase):
    def test_want_of_memory_is_told_by_kind_or_by_words_of_who_allocates(self):
        for error in SHORT:
            self.assertTrue(shortage.is_short(error, OutOfMemoryError), repr(error)[:100])

    def test_any_other_error_is_none(self):
        for error in OTHER:
            self.assertFalse(shortage.is_short(error, OutOfMemoryError), repr(error)[:100])
        self.assertEqual(Changing.ran, 0)

    def test_without_torchs_class_there_are_the_others(self):
        self.assertTrue(shortage.is_short(MemoryError()))
        self.assertFalse(shortage.is_short(OutOfMemoryError("no words")))


if __name__ == "__main__":
    said = io.StringIO()
    result = unittest.TextTestRunner(stream=said, verbosity=0).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Shortage)
    )
    if not result.wasSuccessful():
        print(said.getvalue())
    sys.exit(not result.wasSuccessful())
