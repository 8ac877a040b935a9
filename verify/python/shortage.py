"""Was it for want of memory that a candidate raised this? Then it is asked again when nobody else holds any; what counts
afterwards is what the judge measures, and not these words: see doc/threat-model.md."""
import re

# Of whoever reports by RuntimeError (torch's own checks, extensions, drivers' wrappers), in its first line.
WORDS = (
    r"CUDA out of memory\b",  # torch's allocator, passed on by an extension as an error of no kind
    r"CUDA error: out of memory\b",  # torch's check of a call of the CUDA runtime
    r"cudaErrorMemoryAllocation\b",  # an extension's own check, by the runtime's name of it
    r"CUDA_ERROR_OUT_OF_MEMORY\b",  # the same of the driver: cuMemAlloc, cuModuleLoad
    r"Triton Error \[CUDA\]: out of memory\b",  # Triton's check of a call of the driver
    r"(?:CUBLAS|CUDNN|CUFFT|CUSPARSE|CUSOLVER)_STATUS_ALLOC_FAILED\b",  # a library's workspace or handle
    r"DefaultCPUAllocator: (?:can't allocate memory|not enough memory)\b",  # torch's allocator of main memory
)
PATTERN = re.compile(r"(?<![\w-])(?:" + "|".join(WORDS) + ")")
LONGEST = 4096  # characters of a first line


def is_short(error, out_of_memory=()):
    """`out_of_memory`: torch's class for it, or (), as it was before the candidate was loaded. By the real type and the
    words that the error was made with: nothing of the candidate's runs here."""
    kind = type(error)
    if issubclass(kind, (MemoryError, out_of_memory)):  # Python's own, NumPy's, std::bad_alloc through pybind11
        return True
    words = error.args[0] if issubclass(kind, RuntimeError) and error.args else None
    if type(words) is not str:
        return False
    first = words[:LONGEST].strip().partition("\n")[0]
    return PATTERN.search(first) is not None
