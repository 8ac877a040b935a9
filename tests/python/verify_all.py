"""Verifies a candidate of every task of folders (KernelBench/level1 ..), and prints a line of each and a table at the end.

    python tests/python/verify_all.py UNSEEN INTERPRETER OUT FOLDER... [-- OPTION..]

CANDIDATE in the environment names the candidate:

    `eager`: the task's own Model under another name;
    `channels_last`: the same, with weights and inputs of four and five dimensions in that layout;
    `split_k`: products and convolutions as sums of four blocks of their terms;
    `compiled`: by torch.compile, anew for each configuration;
    `fp64`: computed in fp64 and rounded at the end;
    `bf16`: products of operands that were rounded to bf16, which is wrong where there is a product;
    `tf32`: PyTorch's switches for TF32 are on, which is wrong on a GPU where there is a product. All others turn them off, since PyTorch
    has the one for convolutions on.

A FOLDER has tasks, or folders of tasks by `unseen import --out`. Beside such a folder a file `unseen.set` of `unseen draw --device host`
replaces the drawn set, and NAME.host.seen the seen one, so that a GPU evaluates them quickly. INTERPRETER has torch. JOBS (2) run at once,
each for LIMIT seconds (240) at most. With GPUS="2 3" the first runs on cuda:2, the next on cuda:3, and so on. Tasks whose result is in
OUT are not run again. Ends with 1 where an honest candidate is not general. OPTIONs are those of verify, by default `--device host
--unseen 4 --effort quick --seed 1 --no-timing --no-explain`.
"""

import collections
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

USUAL = "--device host --unseen 4 --effort quick --seed 1 --no-timing --no-explain".split()
TF32 = "\n\ntorch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = "
EAGER = "\n\nclass ModelNew(Model):\n    pass\n"
WRONG = ("bf16", "tf32")
CANDIDATES = {
    "eager": EAGER,
    "tf32": EAGER,
    "channels_last": """


_formats = {4: torch.channels_last, 5: torch.channels_last_3d}


def _laid_out(value):
    if isinstance(value, torch.Tensor) and value.dim() in _formats and value.is_floating_point():
        return value.contiguous(memory_format=_formats[value.dim()])
    return value


class ModelNew(Model):
    def forward(self, *inputs):
        for parameter in self.parameters():
            parameter.data = _laid_out(parameter.data)
        return super().forward(*[_laid_out(i) for i in inputs])
""",
    "compiled": """


class ModelNew(Model):
    def forward(self, *inputs):
        if not hasattr(self, "_compiled"):
            torch._dynamo.reset()  # its cache is of the code: another shape would run without
            self._compiled = torch.compile(super().forward)
        return self._compiled(*inputs)
""",
    "fp64": """


def _cast(value, old, new):
    return value.to(new) if isinstance(value, torch.Tensor) and value.dtype == old else value


class ModelNew(Model):
    def forward(self, *inputs):
        for tensor in [*self.parameters(), *self.buffers()]:
            tensor.data = _cast(tensor.data, torch.float32, torch.float64)
        out = super().forward(*[_cast(i, torch.float32, torch.float64) for i in inputs])
        if isinstance(out, (tuple, list)):
            return type(out)(_cast(o, torch.float64, torch.float32) for o in out)
        return _cast(out, torch.float64, torch.float32)
""",
    "split_k": '''


def _split(function, x, w, axis_x, axis_w, terms):
    """The sum over blocks of the terms; the last block is shorter."""
    size = -(-terms // 4)
    parts = [function(x.narrow(axis_x, at, min(size, terms - at)), w.narrow(axis_w, at, min(size, terms - at)))
             for at in range(0, terms, size)]
    return torch.stack(parts).sum(dim=0)


class _SplitK(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, getattr(function, "__name__", "")
        if name in ("matmul", "__matmul__", "mm", "bmm") and not kwargs and args[0].dim() > 1 and args[1].dim() > 1:
            return _split(torch.matmul, args[0], args[1], -1, -2, args[0].shape[-1])
        if name == "linear" and len(args) >= 2:
            bias = args[2] if len(args) > 2 else kwargs.get("bias")
            out = _split(torch.nn.functional.linear, args[0], args[1], -1, -1, args[1].shape[-1])
            return out if bias is None else out + bias
        if name in ("conv1d", "conv2d", "conv3d"):
            return self.convolution(function, *args, **kwargs)
        return function(*args, **kwargs)

    @staticmethod
    def convolution(function, x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if groups != 1 or x.dim() != w.dim():
            return function(x, w, bias, stride, padding, dilation, groups)
        out = _split(lambda a, b: function(a, b, None, stride, padding, dilation), x, w, 1, 1, w.shape[1])
        return out if bias is None else out + bias.reshape(-1, *[1] * (w.dim() - 2))


class ModelNew(Model):
    def forward(self, *inputs):
        with _SplitK():
            return super().forward(*inputs)
''',
    "bf16": """


class _Rounded(torch.utils._python_dispatch.TorchDispatchMode):
    PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "convolution", "linear", "matmul", "mv", "dot", "addmv")

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket._qualified_op_name.split("::")[1].split(".")[0] in self.PRODUCTS:
            args = [a.bfloat16().float() if isinstance(a, torch.Tensor) and a.dtype == torch.float32 else a for a in args]
        return function(*args, **(kwargs or {}))


class ModelNew(Model):
    def forward(self, *inputs):
        with _Rounded():
            return super().forward(*inputs)
""",
}


def order(path):
    number = re.search(r"\d+(?=_)", os.path.basename(path))
    return os.path.dirname(path), int(number[0]) if number else 0, path


def tasks(folder):
    """(name, problem, its source, the options of verify for its sets) of all in a folder"""
    level = os.path.basename(os.path.abspath(folder))
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        inside = [os.path.join(path, e) for e in os.listdir(path)] if os.path.isdir(path) else []
        for problem in (p for p in inside if os.path.exists(os.path.join(p, "source.py"))):
            seen = os.path.join(problem, os.path.basename(problem) + ".host.seen")
            sets = [
                "--unseen-set",
                os.path.join(path, "unseen.set"),
                *(["--seen", seen] if os.path.exists(seen) else []),
            ]
            yield entry, problem, os.path.join(problem, "source.py"), sets
        if entry.endswith(".py"):
            yield f"{level}-{entry[:-3]}", path, path, []


def run(tool, interpreter, out, number, task, options, limit):
    """(name, result, seconds) of the task of that number"""
    kind = os.environ.get("CANDIDATE", "eager")
    name, problem, source, sets = task
    if "GPUS" in os.environ:
        gpus = os.environ["GPUS"].split()
        options = [f"cuda:{gpus[number % len(gpus)]}" if word == "cuda" else word for word in options]
    if sets and "--unseen" in options:
        at = options.index("--unseen")
        options = options[:at] + options[at + 2 :]
    stem = os.path.join(out, f"{name}.{kind}")
    if not os.path.exists(stem + ".done"):
        with open(source, encoding="utf-8") as text, open(stem + ".py", "w", encoding="utf-8") as candidate:
            candidate.write(text.read() + TF32 + str(kind == "tf32") + CANDIDATES[kind])
        began = time.monotonic()
        with open(stem + ".txt", "w", encoding="utf-8") as log:
            try:
                status = subprocess.run(
                    [
                        tool,
                        "verify",
                        problem,
                        stem + ".py",
                        "--entry",
                        "ModelNew",
                        "--python",
                        interpreter,
                        "--json",
                        stem + ".json",
                        *options,
                        *sets,
                    ],
                    stdout=log,
                    stderr=log,
                    timeout=limit,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                return name, "not done in time", time.monotonic() - began
        with open(stem + ".done", "w", encoding="utf-8") as done:
            json.dump([status, time.monotonic() - began], done)
    with open(stem + ".done", encoding="utf-8") as done:
        status, seconds = json.load(done)
    try:
        with open(stem + ".json", encoding="utf-8") as file:
            result = json.load(file)
        words = result["verdict"]
        outcomes = collections.Counter(r["outcome"] for r in result["results"])
        words += "".join(f", {n} {o}" for o, n in outcomes.most_common())
    except (OSError, ValueError):
        with open(stem + ".txt", encoding="utf-8") as log:
            words = f"status {status}: " + " ".join(log.read().split("\n---> ")[0].split())[-160:]
    return name, words, seconds


def main():
    words = sys.argv[1:]
    options = words[words.index("--") + 1 :] if "--" in words else USUAL
    tool, interpreter, out, *folders = words[: words.index("--")] if "--" in words else words
    os.makedirs(out, exist_ok=True)
    every = sorted((task for folder in folders for task in tasks(folder)), key=lambda task: order(task[1]))
    came = collections.Counter()
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as team:
        for name, words, seconds in team.map(
            lambda job: run(tool, interpreter, out, *job, options, float(os.environ.get("LIMIT", "240"))),
            enumerate(every),
        ):
            came[words.split(",")[0].split(":")[0]] += 1
            print(f"{name}: {words} ({seconds:.0f} s)", flush=True)
    print(", ".join(f"{n} {w}" for w, n in came.most_common()))
    sys.exit(0 if set(came) <= {"general"} or os.environ.get("CANDIDATE") in WRONG else 1)


if __name__ == "__main__":
    main()
