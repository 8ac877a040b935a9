"""PyTorch's own table of operations against the oracle, on the host.

    python tests/python/opinfo.py [--seed S] [--share N] [--rotation R] [--samples M] [--only NAME..] [--types T..] [--page] [-v]

Each operation of `op_db` is called with sample inputs of its own generator, in every type of TYPES that it supports. Each call
is a task: it is traced, evaluated by the oracle, and PyTorch's own answer is held against what is allowed. Two things are
faults: an exception other than `Unsupported`, and an answer of PyTorch that is rejected. `--share N --rotation R` takes one
operation in N. `--page` prints the lists of doc/operations.md, and `--held FILE` holds that page against what is found.
"""

import argparse
import collections
import itertools
import random
import re
import sys
import time
import traceback
import types
import unittest
import zlib

import oracle_asked  # noqa: F401  (finds the package)
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten
from unseen_torch.oracle import constant, coverage, eager, evaluate, returned
from unseen_torch.oracle import graph as graphs
from unseen_torch.oracle.number import Unsupported, distance
from unseen_torch.task import structure

TYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int64": torch.int64,
    "int32": torch.int32,
    "bool": torch.bool,
}
MOST_ELEMENTS = 1 << 16  # of all inputs of a call
# what is in memory
NO_ANSWER = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")
# of numbers of the code, as their type holds them
MADE = ("scalar_tensor", "linspace", "arange", "full", "fill", "logspace")
FAULTS = ("crash", "rejected", "radius", "unruled")


def op_db():
    """PyTorch's table. Its module imports a package for tests of text, of which it uses a base class alone."""
    if "expecttest" not in sys.modules:
        try:
            import expecttest  # noqa: F401
        except ImportError:
            stand_in = types.ModuleType("expecttest")
            stand_in.TestCase = unittest.TestCase
            sys.modules["expecttest"] = stand_in
    from torch.testing._internal.common_methods_invocations import op_db as table

    return table


class Call(torch.nn.Module):
    """One call of an operation: the tensors among its operands are the inputs."""

    def __init__(self, operation, sample):
        super().__init__()
        leaves, self.layout = tree_flatten((sample.input, sample.args, sample.kwargs))
        self.operation = operation
        self.leaves = [None if isinstance(x, torch.Tensor) else x for x in leaves]
        self.places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        self.inputs = [leaves[i].detach().clone() for i in self.places]

    def forward(self, *tensors):
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        first, args, named = tree_unflatten(leaves, self.layout)
        result = self.operation(first, *args, **named)
        return tuple(
            torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
            for _, t in structure.places(result, torch.Tensor) or []
        )


def seeded(*parts):
    """The same draws for one operation, whichever others are swept."""
    seed = zlib.crc32(" ".join(map(str, parts)).encode())
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    return random.Random(seed)


def title(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def samples_of(op, dtype, seed, most):
    """At most so many of an operation's samples, and their number."""
    chosen = seeded(seed, title(op), dtype)
    try:
        found = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    except Exception:  # a generator may need a package that is not installed
        return []
    return found if most is None or len(found) <= most else chosen.sample(found, most)


def as_list(out):
    return [out] if isinstance(out, torch.Tensor) else list(out)


def is_coarse(call, judged, eager):
    """Is the host's own kernel what is off? In fp32, rounded at the end, the operation is right."""
    if not any(t.dtype in (torch.float16, torch.bfloat16) for t in call.inputs + eager):
        return False
    wide, leaves = [t.float() if t.is_floating_point() else t for t in call.inputs], call.leaves
    call.leaves = [
        torch.float32 if x in (torch.float16, torch.bfloat16) and isinstance(x, torch.dtype) else x
        for x in leaves
    ]
    try:
        made = as_list(call(*wide))
    except Exception:  # it may be there for 16 bits alone
        return False
    finally:
        call.leaves = leaves
    return rejected(judged, [m.to(e.dtype) for m, e in zip(made, eager)]) is None


def rejected(judged, eager):
    """Why PyTorch's own answer does not pass, or None."""
    if len(judged) != len(eager):
        return f"{len(judged)} outputs; {len(eager)} were expected"
    for k, (j, got, want) in enumerate(zip(judged, eager, returned.wanted(judged, eager))):
        if got.shape != j.want.shape:
            return f"output {k} has shape {list(j.want.shape)}; {list(got.shape)} was expected"
        error = distance(got, want)
        right = (error <= j.allowed) | (got.isnan() & want.isnan())
        if not bool(right.all()):
            worst = torch.where(right, 0.0, (error / j.allowed).nan_to_num(nan=float("inf"))).max()
            return f"output {k}: {float(worst):.3g} times what is allowed, in {int((~right).sum())} of {right.numel()}"
    return None


def as_declared(node, args, named):
    """A tensor that is made of the code's own numbers has its own type's values, in fp64 too."""
    if graphs.packet(node) not in MADE or (graphs.packet(node) != "fill" and node.all_input_nodes):
        return None
    dtype = graphs.declared(node)
    if not dtype.is_floating_point:
        return None
    if graphs.packet(node) == "fill":
        return (
            torch.full_like(args[0], float(torch.tensor(args[1], dtype=dtype)), dtype=torch.float64)
            if not isinstance(args[1], torch.Tensor)
            else None
        )
    named = {k: v for k, v in named.items() if k != "dtype"}
    return node.target(*args, **named, dtype=dtype).double()


def radius_broken(call, graph, judged):
    """Where the graph's operations themselves, in fp64, are further off than twice the radius; None: nowhere, or they do not run."""
    if not any(t.is_floating_point() for t in call.inputs):
        return None  # what is made of whole numbers alone has its own type there
    try:
        found = eager.run(graph, {}, call.inputs, as_declared, double=True)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return None
    for k, (j, v) in enumerate(zip(judged, found)):
        if j.number.is_float and j.enclosed and v.dtype == torch.float64:
            near = (distance(v, j.want) <= 2 * j.radius + 1e-300) | (v.isnan() & j.want.isnan())
            if not bool(near.all()):
                return f"output {k}: {float((distance(v, j.want) / j.radius)[~near].max()):.3g} radii from its own graph in fp64"
    return None


def outcome(call, seed):
    """(what became of one call, why)."""
    try:
        with torch.no_grad():
            eager = as_list(call(*[x.clone() for x in call.inputs]))
    except Exception:  # PyTorch itself refuses the sample
        return "skipped", "PyTorch does not run it"
    if not eager or any(t.layout != torch.strided or t.is_quantized for t in eager + call.inputs):
        return "skipped", "no dense tensors"
    if any(t.is_complex() for t in call.inputs):
        return "skipped", "complex inputs"
    try:
        with torch.no_grad():
            graph = graphs.trace(call, call.inputs)
            if graph.random():
                return "refused", "draws random numbers"
            judged = evaluate.answer(graph, {}, call.inputs, seed)
            constant.is_constant(judged, graph, {}, call.inputs, seed)
            missing = coverage.unruled(graph)
            if missing:
                return "unruled", f"it is judged, and importing would say: {missing[0]}"
            dropped = next((j.dropped for j in judged if j.dropped), None)
            if dropped:
                return "dropped", dropped
            if rejected(judged, eager) and is_coarse(call, judged, eager):
                return "coarse", "the host's kernel computes in 16 bits"
            for fault, why in (
                ("rejected", rejected(judged, eager)),
                ("radius", radius_broken(call, graph, judged)),
            ):
                if why:
                    return fault, why
    except Unsupported as why:
        return "refused", " ".join(str(why).split())
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            "crash",
            f"{type(error).__name__}: {' '.join(str(error).split())[:200]} ({where.name}:{where.lineno})",
        )
    if not any(t.numel() for t in eager) or not any(t.numel() for t in call.inputs or eager):
        return "skipped", "nothing is computed"
    return (
        "ensemble"
        if any(j.ensemble for j in judged)
        else "enclosed"
        if all(j.enclosed for j in judged)
        else "fp64"
    ), ""


def sweep(ops, dtypes, seed, samples, tell=None, first=False):
    """[(operation, type, outcome, why, number of the sample)]; with `first` of the first type alone that an operation supports."""
    rows = []
    for op in ops:
        for name in [n for n in dtypes if TYPES[n] in op.dtypes][: 1 if first else None]:
            dtype = TYPES[name]
            for number, sample in enumerate(samples_of(op, dtype, seed, samples)):
                try:
                    call = Call(op.op, sample)
                except Exception:  # a tensor subclass without a copy
                    continue
                if sum(t.numel() for t in call.inputs) > MOST_ELEMENTS:
                    continue
                row = (title(op), name, *outcome(call, seed), number)
                rows.append(row)
                if tell:
                    tell(row)
    return rows


def taken(table, rotation, share, only=()):
    """One operation in `share`, or those with one of the names."""
    table = [op for op in table if op.name not in NO_ANSWER]
    if only:
        return [op for op in table if op.name in only or title(op) in only]
    if share <= 1:
        return list(table)
    return [op for op in table if (zlib.crc32(title(op).encode()) + rotation) % share == 0]


# --- the page ---

JUDGED = ("enclosed", "fp64", "ensemble")
HEADINGS = {
    "enclosed": "## Enclosed",
    "fp64": "## fp64",
    "ensemble": "## Ensemble",
    "partly": "## Refused for some operands",
    "dropped": "## Not judged in these samples",
    "refused": "## Refused",
}
TABLES = ("partly", "dropped", "refused")


def classes_of(rows):
    """{operation: (class, why)}: of the first type that anything is known of. An operation is refused where no sample of it is judged."""
    found = {}
    for name in dict.fromkeys(r[0] for r in rows):
        own = [r for r in rows if r[0] == name and r[2] != "skipped"]
        first = next((t for t in TYPES if any(r[1] == t for r in own)), None)
        own = [(kind, why) for _, t, kind, why, _ in own if t == first]
        kinds = {kind for kind, _ in own}
        refusals = [why for kind, why in own if kind == "refused"]
        if kinds & set(JUDGED):
            judged = next(k for k in reversed(JUDGED) if k in kinds)
            found[name] = ("partly", min(refusals)) if refusals else (judged, "")
        elif kinds:
            kind = "refused" if "refused" in kinds else "dropped"
            found[name] = (kind, min((why for k, why in own if k == kind), default=""))
    return found


def page_of(text):
    """{operation: class} of doc/operations.md, and the version of torch that it was made with."""
    found, kind = {}, None
    for line in text.splitlines():
        kind = next((k for k, h in HEADINGS.items() if line == h), None if line.startswith("## ") else kind)
        if kind:
            names = [] if not line.startswith("|") else line.split("|")[1:2]
            found.update({name: kind for cell in names for name in re.findall(r"`([^`]+)`", cell)})
    version = re.search(r"torch (\d+\.\d+)", text)
    return found, version.group(1) if version else ""


def page_sections(found):
    lines = []
    for kind, heading in HEADINGS.items():
        names = sorted(name for name, (k, _) in found.items() if k == kind)
        lines += [heading, ""]
        if not names:
            lines += ["None.", ""]
        elif kind in TABLES:
            lines += [
                "| operation | why |",
                "|---|---|",
                *(f"| `{name}` | {found[name][1]} |" for name in names),
                "",
            ]
        else:
            initials = [list(some) for _, some in itertools.groupby(names, lambda name: name[0].lower())]
            lines += [
                "| operations |",
                "|---|",
                *("| " + ", ".join(f"`{name}`" for name in some) + " |" for some in initials),
                "",
            ]
    return "\n".join(lines)


def off_the_page(rows, text, table):
    """[what the page says otherwise]."""
    page, version = page_of(text)
    here = classes_of(rows)
    same = torch.__version__.startswith(version + ".")
    wrong = []
    for name, (kind, why) in here.items():
        told = page.get(name)
        if told is None:
            wrong += [f"{name} is {kind} and not on the page"] if same else []
        elif (kind in JUDGED) != (told in JUDGED) and not {"dropped", "partly"} & {kind, told}:
            wrong.append(f"{name} is {kind} ({why}); the page says {told}")
    if same:
        wrong += [
            f"{name} is on the page, and torch has no such operation"
            for name in set(page) - {title(op) for op in table}
        ]
    return wrong


def summary(rows):
    counts = collections.Counter((dtype, kind) for _, dtype, kind, _, _ in rows)
    kinds = ["enclosed", "fp64", "ensemble", "dropped", "refused", "coarse", "skipped", *FAULTS]
    lines = ["type      " + " ".join(f"{k:>9}" for k in kinds)]
    for dtype in TYPES:
        if any(d == dtype for d, _ in counts):
            lines.append(f"{dtype:9} " + " ".join(f"{counts[dtype, k]:9}" for k in kinds))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--rotation", type=int, default=0)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--types", nargs="*", default=list(TYPES))
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--held", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    start = time.time()

    def tell(row):
        if options.v or row[2] in FAULTS:
            print("\t".join(map(str, row)), flush=True)

    table = op_db()
    rows = sweep(
        taken(table, options.rotation, options.share, options.only),
        options.types,
        options.seed,
        options.samples,
        tell,
        options.page,
    )
    print(summary(rows))
    faults = sum(kind in FAULTS for _, _, kind, _, _ in rows)
    if options.page:
        print(page_sections(classes_of(rows)))
    if options.held:
        with open(options.held, encoding="utf-8") as file:
            wrong = off_the_page(rows, file.read(), table)
        print("\n".join(wrong))
        faults += len(wrong)
    operations, seconds = len({r[0] for r in rows}), time.time() - start
    print(f"{len(rows)} calls of {operations} operations, {faults} faults, {seconds:.0f} s")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
