"""outsiders.py UNSEEN [--runs N] [--case NAME] [--source FILE.cu]: the same kernels under four clocks on
one GPU, from some 5 us to some 50 ms. The clocks are `unseen check --timing` (started anew each time),
Triton's do_bench, a cold measurement in nvbench's manner, and CUPTI. The cold measurement flushes
caches, blocks the stream by a kernel, and takes the mean of events around one call. CUPTI's kernel time
comes from PyTorch's profiler, of the same cold calls with the same events around each. The interpreter
that runs it needs torch and triton on CUDA.

Prints for each case the median over N runs (20) of each clock and its spread ((greatest - least) /
median). It also prints the events of the profiled calls less CUPTI's times, which is the constant of
events. It prints how much longer profiled calls take than others, both by events. Last are the
distances of unseen and do_bench from CUPTI, in microseconds and as a ratio. Each run is printed on
stderr as it ends."""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile

CANDIDATE = {
    "softmax": "import torch\n\n\ndef softmax(x):\n    return torch.softmax(x, dim=-1)\n",
    "gemm_f32": "import torch\n\n\ndef gemm_f32(a, b, trans_b):\n    return a @ (b.t() if trans_b else b)\n",
}
CASES = {
    "softmax-5us": ("softmax", "rows=32 cols=4096", (32, 4096)),
    "softmax-20us": ("softmax", "rows=1024 cols=8192", (1024, 8192)),
    "softmax-100us": ("softmax", "rows=8192 cols=6144", (8192, 6144)),
    "softmax-1ms": ("softmax", "rows=65536 cols=8000", (65536, 8000)),
    "gemm-5ms": ("gemm_f32", "m=5120 n=5120 k=4096 trans_b=0", (5120, 5120, 4096)),
    "gemm-50ms": ("gemm_f32", "m=12288 n=12288 k=8192 trans_b=0", (12288, 12288, 8192)),
}


def built(source, folder):
    """The path of a shared object."""
    path = os.path.join(folder, "candidate.so")
    subprocess.run(
        ["nvcc", "-O3", "-std=c++17", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", path, source],
        check=True,
    )
    return path


def work_of(torch, problem, sizes, library):
    """A function without arguments that launches the kernel once on inputs like ours."""
    if problem == "softmax" and library:
        x = torch.randn(sizes, device="cuda")
        y = torch.empty_like(x)
        launch = ctypes.CDLL(library).softmax
        given = (
            ctypes.c_void_p(x.data_ptr()),
            ctypes.c_void_p(y.data_ptr()),
            ctypes.c_int64(sizes[0]),
            ctypes.c_int64(sizes[1]),
        )
        launch.keep = x, y
        return lambda: launch(*given, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    if problem == "softmax":
        x = torch.randn(sizes, device="cuda")
        return lambda: torch.softmax(x, dim=-1)
    m, n, k = sizes
    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
    return lambda: a @ b


class Cold:
    """One call at a time on cold caches."""

    def __init__(self, torch, work):
        self.torch, self.work = torch, work
        properties = torch.cuda.get_device_properties(0)
        self.flushed = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        work()
        torch.cuda.synchronize()

    def calls(self, estimate_ms):
        return max(10, min(200, int(200 / max(estimate_ms, 0.01))))

    def estimate(self):
        """Milliseconds of one call."""
        start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self.work()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)

    def between_events(self, calls):
        """Milliseconds of so many cold calls between events, launches hidden behind a stream that is held."""
        torch, times = self.torch, []
        for _ in range(calls):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.flushed.zero_()
            torch.cuda._sleep(400000)  # cycles: 0.2 ms at 2 GHz
            start.record()
            self.work()
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop))
        return times

    def nvbench(self):
        times = self.between_events(self.calls(self.estimate()))
        self.plain = statistics.median(times)
        return statistics.fmean(times)

    def cupti(self):
        """The median of the kernels' own time; several kernels of a call are added up. The events of the
        same calls go into self.profiled."""
        torch = self.torch
        calls = self.calls(self.estimate())
        activities = [torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            self.profiled = statistics.median(self.between_events(calls))
        spans = [
            e.device_time_total for e in profile.events() if e.device_time_total > 0 and not is_flush(e.name)
        ]
        each, rest = divmod(len(spans), calls)
        if rest or not each:
            raise RuntimeError(
                f"{len(spans)} kernels in {calls} calls: which are the candidate's cannot be told"
            )
        return statistics.median(sum(spans[i * each : (i + 1) * each]) for i in range(calls)) / 1e3


def is_flush(name):
    return "Memset" in name or "fill" in name.lower() or "spin" in name.lower()


def unseen_ms(tool, problem, config, folder, library):
    path, out = library or os.path.join(folder, f"{problem}.py"), os.path.join(folder, "result.json")
    if not library:
        with open(path, "w") as file:
            file.write(CANDIDATE[problem])
    done = subprocess.run(
        [
            tool,
            "check",
            problem,
            path,
            config,
            "--timing",
            "--device",
            "cuda",
            "--python",
            sys.executable,
            "--json",
            out,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{tool} check: status {done.returncode}: {done.stderr.strip()[-300:]}")
    with open(out) as file:
        return json.load(file)["result"]["time_ms"]["median"]


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def measure(tool, name, runs, torch, do_bench, folder, library):
    problem, config, sizes = CASES[name]
    library = library if problem == "softmax" else None
    cold = Cold(torch, work_of(torch, problem, sizes, library))
    clock = {
        "unseen": lambda: unseen_ms(tool, problem, config, folder, library),
        "do_bench": lambda: do_bench(cold.work, return_mode="median"),
        "nvbench": cold.nvbench,
        "cupti": cold.cupti,
    }
    taken = {key: [] for key in clock}
    constant, longer = [], []
    for run in range(runs):  # in turns: what the machine does meanwhile, it does to all
        for key, take in clock.items():
            taken[key].append(take())
        constant.append(cold.profiled - taken["cupti"][-1])
        longer.append(cold.profiled / cold.plain)
        print(
            f"{name}, run {run + 1} of {runs}:",
            *(f"{key} {1e3 * taken[key][-1]:.2f}" for key in clock),
            file=sys.stderr,
            flush=True,
        )
    middle = {key: statistics.median(values) for key, values in taken.items()}
    print(
        f"| {name} | "
        + " | ".join(f"{1e3 * middle[k]:.2f} ({100 * spread(taken[k]):.1f}%)" for k in clock)
        + f" | {1e3 * statistics.median(constant):.2f} | {statistics.median(longer):.3f}"
        f" | {1e3 * (middle['unseen'] - middle['cupti']):+.2f} | {middle['unseen'] / middle['cupti']:.3f}"
        f" | {middle['do_bench'] / middle['cupti']:.3f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tool")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    parser.add_argument("--source")
    options = parser.parse_args()
    try:
        import torch
        from triton.testing import do_bench
    except ImportError as error:
        sys.exit(f"outsiders.py: {error}; expected an interpreter with torch and triton")
    if not torch.cuda.is_available():
        sys.exit("outsiders.py: torch sees no CUDA device; run it where there is a GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    print(torch.cuda.get_device_name(0), "| microseconds, median over runs (spread)")
    print(
        "| case | unseen | do_bench | nvbench's way | CUPTI | events - CUPTI, same calls us | profiled / not | unseen - CUPTI us"
        " | unseen / CUPTI | do_bench / CUPTI |\n" + "|---" * 10 + "|"
    )
    with tempfile.TemporaryDirectory() as folder:
        library = built(options.source, folder) if options.source else None
        for name in options.case or CASES:
            measure(options.tool, name, options.runs, torch, do_bench, folder, library)


if __name__ == "__main__":
    main()
