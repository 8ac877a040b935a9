"""Tells whether a candidate raised an exception for lack of memory.

It is then retried while no other process holds memory. Only the judge's own measurement counts afterwards, not these
words: see doc/threat-model.md.
"""

from __future__ import annotations

import re

# First lines of RuntimeErrors, as raised by torch's checks, extensions and wrappers of drivers.
WORDS = (
    r"CUDA out of memory\b",  # torch's allocator, passed on by an extension as a plain error
    r"CUDA error: out of memory\b",  # torch's check of a call of the CUDA runtime
    r"cudaErrorMemoryAllocation\b",  # an extension's own check, with the runtime's name for it
    r"CUDA_ERROR_OUT_OF_MEMORY\b",  # the same for the driver: cuMemAlloc, cuModuleLoad
    r"Triton Error \[CUDA\]: out of memory\b",  # Triton's check of a call of the driver
    r"(?:CUBLAS|CUDNN|CUFFT|CUSPARSE|CUSOLVER)_STATUS_ALLOC_FAILED\b",  # a library's workspace or handle
    # torch's allocator of main memory
    r"DefaultCPUAllocator: (?:can't allocate memory|not enough memory)\b",
)
PATTERN = re.compile(r"(?<![\w-])(?:" + "|".join(WORDS) + ")")
LONGEST = 4096  # characters of a first line


def is_short(error: BaseException, out_of_memory: type[BaseException] | tuple[()] = ()) -> bool:
    """Tells whether an exception means lack of memory.

    `out_of_memory` is torch's class for it, taken before the candidate was loaded, or (). Only the real type and the
    original words count, so no code of the candidate runs here.
    """
    kind = type(error)
    # Python's own, NumPy's, std::bad_alloc through pybind11
    if issubclass(kind, (MemoryError, out_of_memory)):
        return True
    words = error.args[0] if issubclass(kind, RuntimeError) and error.args else None
    if type(words) is not str:
        return False
    first = words[:LONGEST].strip().partition("\n")[0]
    return PATTERN.search(first) is not None
