"""How the oracle judges stand-ins for candidates on KernelBench's tasks, at small sizes on a CPU.

    python tests/python/oracle_table.py KERNELBENCH LEVEL.. [--only N..] [--seed S] [--part odd|even] [--device cuda]

KERNELBENCH is the folder of level1, level2, level3. Prints one line a task, then the sums.
"""

import argparse
import glob
import logging
import os
import sys
import time
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "verify", "torch"), here]

import candidates
import small_tasks
import torch
from unseen_torch.oracle import constant as constants
from unseen_torch.oracle import evaluate, returned
from unseen_torch.oracle import graph as graphs
from unseen_torch.oracle.number import Unsupported

HONEST = ("eager", "compiled", "channels-last", "double", "split-k", "one-k")
WRONG = ("tf32", "tf32-unit", "bf16", "tail", "tile", "strides", "zeros", "mean", "noise")


def listed(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


def worst_of(judged, out):
    """Greatest error over the allowed error; infinite where a number is expected and missing."""
    worst = 0.0
    for j, got in zip(judged, out):
        if not j.number.is_float:
            want = returned.judge_index(j, got) if got.dtype == torch.int64 else j.want
            worst = max(worst, float("inf") if bool(((got.double() - want).abs() > j.allowed).any()) else 0.0)
            continue
        error = (got.double() - j.want).abs()
        ratio = torch.where(
            error <= j.allowed, (error / j.allowed).nan_to_num(0.0).clamp(max=1.0), error / j.allowed
        )
        worst = max(worst, float(ratio.nan_to_num(float("inf")).max()))
    return worst


def spread_of(judged, out):
    """Greatest error over the spread of the runs, on which the factor is calibrated."""
    worst = 0.0
    for j, got in zip(judged, out):
        if j.spread is not None and j.ensemble:
            error = (got.double() - j.want).abs() - j.rounding()
            worst = max(worst, float(torch.where(error > 0, error / j.spread, 0.0).max()))
    return worst


def published(reference, out):
    """KernelBench's own check."""
    return all(torch.allclose(a.double(), b.double(), atol=1e-4, rtol=1e-4) for a, b in zip(reference, out))


def channels_last(model, inputs):
    layout = {4: torch.channels_last, 5: torch.channels_last_3d}
    ranks = {x.dim() for x in inputs if isinstance(x, torch.Tensor)}
    rank = 4 if 4 in ranks else 5 if 5 in ranks else None
    if rank is None:
        return None

    def move(x):
        return (
            x.contiguous(memory_format=layout[rank]) if isinstance(x, torch.Tensor) and x.dim() == rank else x
        )

    for weight in model.parameters():
        weight.data = move(weight.data)
    try:
        return listed(model(*[move(x) for x in inputs]))
    except RuntimeError:  # a view that this layout does not allow
        return None


def compiled(model, inputs):
    """torch.compile's answer, on a GPU."""
    torch.manual_seed(0)
    return listed(torch.compile(model)(*inputs))


def matrix_units(allow):
    """Whether eager products of singles may use TF32 units. PyTorch's convolutions use them by default."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allow


def honest(task, device):
    model, graph, state, inputs = task
    if device != "cpu":
        yield "compiled", compiled(model, inputs)
    yield (
        "double",
        [
            t.float() if t.is_floating_point() else t
            for t in candidates.run(graph, state, inputs, double=True)
        ],
    )
    yield "split-k", candidates.run(graph, state, inputs, candidates.reordered(4))
    yield "one-k", candidates.run(graph, state, inputs, candidates.reordered(1 << 20))
    out = channels_last(model, inputs)
    if out is not None:
        yield "channels-last", out


def wrong(task, judged, reference, device):
    model, graph, state, inputs = task
    for name, bits in (("tf32", 10), ("bf16", 7)):
        if candidates.has_products(graph):
            yield name, candidates.run(graph, state, inputs, candidates.operands_rounded(bits))
        else:
            yield name, candidates.run(graph, state, [candidates.rounded(x, bits) for x in inputs])
    if device != "cpu" and candidates.has_products(graph):
        matrix_units(True)
        yield "tf32-unit", listed(model(*inputs))
        matrix_units(False)
    tail = candidates.tail_left_out(graph)
    if tail:
        yield "tail", candidates.run(graph, state, inputs, tail)
    yield "tile", candidates.tile_left_out(reference)
    yield "strides", candidates.run(graph, state, candidates.wrong_strides(inputs, graph.inputs))
    yield "zeros", [torch.zeros_like(t) for t in reference]
    if all(t.numel() > 1 for t in reference):
        yield "mean", [torch.full_like(t, t.mean()) if t.is_floating_point() else t * 0 for t in reference]
    noise = torch.Generator().manual_seed(1)
    yield (
        "noise",
        [
            t
            + 0.5 * (1e-4 + 1e-4 * t.abs()) * (torch.rand(t.shape, generator=noise) - 0.5).sign().to(t.device)
            if t.is_floating_point()
            else t * 0
            for t in reference
        ],
    )


def one(path, seed, device):
    """A row: label, worst honest ratio, which wrong ones each check accepts."""
    start = time.time()
    model, inputs, cap = small_tasks.instance(path, seed)
    small_tasks.loud(model, seed)
    graph = graphs.trace(model, inputs)
    if graph.random():
        raise Unsupported(f"random in forward: {graph.random()}")
    model = model.to(device)
    inputs = [x.to(device) if isinstance(x, torch.Tensor) else x for x in inputs]
    state = {k: v.detach().clone() for k, v in graphs.state_of(model).items()}
    matrix_units(False)
    torch.manual_seed(seed)
    with torch.no_grad():
        begun = time.time()
        judged = evaluate.answer(graph, state, inputs, seed=seed, device=device)
        seconds = time.time() - begun
        constant = None
        for size in (8.0, 0.02):  # where inputs tell nothing, larger or smaller ones of both signs may
            if not constants.is_constant(judged, graph, state, inputs, seed, device):
                break
            constant = "for the published inputs"
            inputs = [
                size * torch.randn(x.shape, device=device)
                if isinstance(x, torch.Tensor) and x.is_floating_point()
                else x
                for x in inputs
            ]
            judged = evaluate.answer(graph, state, inputs, seed=seed, device=device)
        if constant and constants.is_constant(judged, graph, state, inputs, seed, device):
            constant = "always"
        reference = listed(model(*inputs))
        row = {
            "cap": cap,
            "labels": sorted({j.label for j in judged}),
            "honest": {},
            "spread": {},
            "wrong": {},
            "kb": {},
            "dropped": next((j.dropped for j in judged if j.dropped), None),
            "oracle": seconds,
            "constant": constant,
            "elements": sum(j.want.numel() for j in judged),
        }
        task = (model, graph, state, inputs)
        for name, out in [("eager", reference), *honest(task, device)]:
            row["honest"][name], row["spread"][name] = worst_of(judged, out), spread_of(judged, out)
            row["kb"][name] = published(reference, out)
        for name, out in wrong(task, judged, reference, device):
            row["wrong"][name] = worst_of(judged, out)
            row["kb"][name] = published(reference, out)
    row["seconds"] = time.time() - start
    return row


def line(name, row):
    ratios = " ".join(f"{k}={v:.2g}" for k, v in row["honest"].items())
    missed = [k for k, v in row["wrong"].items() if v <= 1]
    theirs = [k for k in row["wrong"] if row["kb"][k]]
    return (
        f"{name:8} cap {row['cap']} {'+'.join(row['labels']):18} {ratios} spread={max(row['spread'].values()):.2g}"
        f" | accepted: {','.join(missed) or '-'} | 1e-4 accepts: {','.join(theirs) or '-'}"
        f"{' CONSTANT ' + row['constant'] if row['constant'] else ''}{' DROPPED ' + row['dropped'] if row['dropped'] else ''} [{row['oracle']:.1f} of {row['seconds']:.1f} s]"
    )


def sums(rows):
    judged = {n: r for n, r in rows.items() if r and not r["dropped"]}
    print(
        f"{len(rows)} tasks, {len(judged)} judged; the right answer is a constant: "
        f"{[(n, r['constant']) for n, r in judged.items() if r['constant']]}"
    )
    judged = {n: r for n, r in judged.items() if r["constant"] != "always"}
    for label in ("bound, enclosed", "bound, fp64", "ensemble, enclosed", "ensemble, fp64"):
        print(f"  {label}: {sum(label in r['labels'] for r in judged.values())}")
    print(
        f"  greatest error over the spread, where the ensemble decides: "
        f"{max([max(r['spread'].values()) for r in judged.values()] or [0]):.3g}"
    )
    for name in HONEST:
        of = {n: r["honest"][name] for n, r in judged.items() if name in r["honest"]}
        out = [n for n, v in of.items() if not v <= 1]
        theirs = [n for n in of if not judged[n]["kb"][name]]
        print(
            f"  honest {name:14} {len(of):4} tasks, rejected {len(out)} {out}, greatest {max(of.values(), default=0):.2g}"
            f"; 1e-4 rejects {len(theirs)} {theirs}"
        )
    for name in WRONG:
        of = {n: r["wrong"][name] for n, r in judged.items() if name in r["wrong"]}
        missed = [n for n, v in of.items() if v <= 1]
        print(
            f"  wrong  {name:14} {len(of):4} tasks, detected {len(of) - len(missed)}, not on {missed}"
            f"; 1e-4 detects {sum(not judged[n]['kb'][name] for n in of)}"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("levels", nargs="+")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=("odd", "even"))
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = {}
    for level in options.levels:
        paths = glob.glob(os.path.join(options.root, f"level{level}", "*.py"))
        for path in sorted(paths, key=lambda p: int(os.path.basename(p).split("_")[0])):
            number = os.path.basename(path).split("_")[0]
            if (options.only and number not in options.only) or (
                options.part and (int(number) % 2 == 1) != (options.part == "odd")
            ):
                continue
            name = f"{level}/{number}"
            try:
                rows[name] = one(path, options.seed, options.device)
                print(line(name, rows[name]), flush=True)
            except (Unsupported, ValueError) as why:
                rows[name] = None
                print(f"{name:8} not judged: {why}", flush=True)
    sums(rows)


if __name__ == "__main__":
    main()
