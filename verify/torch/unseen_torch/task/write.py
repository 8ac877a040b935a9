"""Writes a problem's folder from a description: NAME.task, NAME.space, NAME.seen, NAME.host.seen, README.md, the
source."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from . import expression, host_configs
from .description import AxisEntry, Description, Extent, InputEntry, OutputEntry, PowerLaw
from .expression import Sizes
from .source import Source

MOST_ELEMENTS = 31  # a tensor has at most 2^31 elements
MOST_SCRATCH = 33  # an intermediate tensor has at most 2^33


def _tiles(axis: AxisEntry) -> list[int]:
    tiles = {
        t
        for t in (8, 32, 64, 128, 256, axis["value"])
        if axis["low"] < t <= axis["high"] and t % axis["step"] == axis["rest"]
    }
    return sorted(tiles)


def _elements(shape: list[Extent]) -> str | None:
    """Returns the product of extents as a text, or None if it is constant."""
    parts = [str(e) if isinstance(e, int) or e.isidentifier() else f"({e})" for e in shape if e != 1]
    return "*".join(parts) if any(not isinstance(e, int) for e in shape) else None


def _steps(text: str) -> int:
    return sum(text.count(c) for c in "+-*/%^<>=") * 2


def bounds(task: Description) -> list[str]:
    """Returns limits that keep tensors and intermediate results in memory."""
    lines = []
    for tensor in (
        task["inputs"] + task["outputs"] + [w for w in task["weights"] if w["kind"] != "constructed"]
    ):
        text = _elements(tensor.get("shape", []))
        if text and not text.isidentifier() and text not in lines and _steps(text) < 56:
            lines.append(text)
    lines = [f"{text} <= 2^{MOST_ELEMENTS}" for text in lines[:12]]
    powers = {n: round(p) for n, p in task["scratch"]["powers"].items() if round(p) > 0}
    factor = max(1, int(task["scratch"]["coefficient"]))
    if len(powers) > 1 or any(p > 1 for p in powers.values()):
        text = "*".join(
            [str(factor)] * (factor > 1) + [n if p == 1 else f"{n}^{p}" for n, p in powers.items()]
        )
        if f"{text} <= 2^{MOST_ELEMENTS}" not in lines:
            lines.append(f"{text} <= 2^{MOST_SCRATCH}")
    published = {a["name"]: a["value"] for a in task["axes"]}
    return [line for line in lines if expression.evaluate(line, published)]


def space(task: Description) -> str:
    """Returns the text of the contract."""
    lines = [
        f"# {task['name']}: imported from {task['source']['file']}; what each line says was found by running it"
    ]
    width = max([len(a["name"]) for a in task["axes"]] + [5])
    for ring, title in ((1, "# change inputs only"), (2, "# change weights"), (3, "# attributes")):
        axes = [a for a in task["axes"] if a["ring"] == ring]
        lines += [title] * bool(axes)
        for axis in axes:
            tiles = _tiles(axis)
            lines.append(
                f"{axis['name']:<{width}}  {axis['low']}..{axis['high']}"
                + (f"  tile {' '.join(map(str, tiles))}" if tiles else "")
            )
    lines.append(f"{'input':<{width}}  {' '.join(c['name'] for c in task['classes'])}")
    steps = [
        f"limit {a['name']} % {a['step']} == {a['rest']}  # only these values run"
        for a in task["axes"]
        if a["step"] > 1
    ]
    named = [f"limit {text}  # others did not run" for text in task["limits"]]
    most = [f"limit {text}" for text in bounds(task)]
    reason = {a["name"]: a["why"].removeprefix("fixed: ") for a in task["fixed"] if a["why"]}
    fixed = [
        f"# {s['name']} = {s['value']} stays: {reason.get(s['name'], s['why'])[:100]} (line {s['line']})"
        for s in task["sizes"]
        if s["axis"] is None
    ]
    return "\n".join(lines + (steps + named + most)[:32] + fixed) + "\n"


def _legal(task: Description, sizes: Sizes) -> bool:
    inside = all(
        a["low"] <= sizes[a["name"]] <= a["high"] and sizes[a["name"]] % a["step"] == a["rest"]
        for a in task["axes"]
    )
    return inside and all(expression.evaluate(t, sizes) for t in task["limits"] + bounds(task))


def seen(task: Description) -> str:
    """Returns the text of the published configurations."""
    lines = {f"# {task['name']}: as published": ""}
    for published, note in zip(task["published"], task["published_notes"]):
        sizes = {a["name"]: published[a["sizes"][0]] for a in task["axes"]}
        stays = [s["name"] for s in task["sizes"] if s["axis"] is None and published[s["name"]] != s["value"]]
        line = host_configs.written(task, sizes)
        if stays or not _legal(task, sizes):
            line = (
                "# left out: "
                + " ".join(f"{n}={published[n]}" for n in stays or published)
                + (", which stays as it is" if stays else ", outside of the contract")
            )
        lines.setdefault(line, note)
    if all(line.startswith("#") for line in lines):
        lines[host_configs.written(task, {a["name"]: a["value"] for a in task["axes"]})] = ""
    return "".join(f"{line}  # {note}\n" if note else f"{line}\n" for line, note in lines.items())


def law_at(law: PowerLaw, sizes: Sizes) -> float:
    """Evaluates a power law of extents.py at these sizes."""
    sizes = {name: max(1, value) for name, value in sizes.items()}  # a power of 0 may be infinite
    value: float = law["coefficient"] * math.prod(sizes[n] ** p for n, p in law["powers"].items())
    for name, power in law["below"].items():
        if sizes[name] < law["base"][name]:
            value *= (sizes[name] / law["base"][name]) ** (power - law["powers"].get(name, 0))
    return value


def cost(task: Description, sizes: Sizes) -> float:
    """Estimates the work for the right answers of a configuration on a CPU.

    An element of the greatest intermediate tensor counts as a thousand operations. Each answer takes several
    evaluations; in these a matrix product uses the caches and a row sum does not.
    """
    return law_at(task["flops"], sizes) + 1000 * law_at(task["scratch"], sizes)


def host_seen(task: Description) -> str:
    """Returns the published configurations for a CPU: unchanged if affordable, else smaller ones."""
    published = [line for line in seen(task).splitlines() if not line.startswith("#")]
    noted = {line.split("  #")[0]: line for line in published}
    stand_ins = [host_configs.line(task, sizes, _legal, cost, len(published)) for sizes in map(_sizes, noted)]
    lines = [noted.get(line, line) for line in dict.fromkeys(line for line, _ in stand_ins)]
    small = any(stands for _, stands in stand_ins)
    title = (
        "smaller for a CPU, with the published sizes' arithmetic"
        if small
        else "as published: a CPU can pay for it"
    )
    return "\n".join([f"# {task['name']}: {title}", *lines]) + "\n"


def _sizes(line: str) -> Sizes:
    return {
        word.split("=")[0]: int(word.split("=")[1]) for word in line.split() if not word.startswith("input=")
    }


def _scalar(entry: InputEntry) -> Any:
    """Describes an input that is no tensor."""
    if "form" in entry:
        return f"{entry['factor']:g} * {entry['form']}({entry['of']})"
    if "table" in entry:
        words = ", ".join(str(v) for v in entry["table"][:6]) + (", .." if len(entry["table"]) > 6 else "")
        return f"{words} by {entry['of']}"
    return entry.get("expression", entry["value"])


def _shape(tensor: InputEntry | OutputEntry) -> str:
    """Describes a shape. Extents that depend on values have a greatest one."""
    dims: Any = tensor.get("varying", ())
    words = [f"up to {n}" if d in dims else str(n) for d, n in enumerate(tensor["shape"])]
    of = tensor.get("length_of")
    return f"[{', '.join(words)}]" + (f", extents of {of}" if of else "")


def readme(task: Description) -> str:
    """Returns the text of the folder's page."""
    stays = {a["name"]: f"stays: {a['why'].removeprefix('fixed: ')}" for a in task["fixed"] if a["why"]}
    rows = "\n".join(
        f"| `{s['name']}` | {s['value']} | {s['ring'] or '-'} | {s['line']} | {stays.get(s['name'], s['why'])[:120]} |"
        for s in task["sizes"]
    )
    shapes = "\n".join(
        f"| `{t['name']}` | {t.get('dtype', 'number')} | "
        f"{_shape(t) if 'shape' in t else _scalar(t)} | {'in-out' if t.get('written') else what} |"
        for what, tensors in (("input", task["inputs"]), ("output", task["outputs"]))
        for t in tensors
    )
    notes = "".join(f"- **{n['kind']}**: {n['text']}\n" for n in task["notes"]) or "None.\n"
    classes = "\n".join(f"- `{c['name']}`: {c['shows']}" for c in task["classes"])
    drawn = sum(w["kind"] != "constructed" for w in task["weights"])
    return (
        f"# {task['name']}\n\nImported by `unseen import`; `{task['name']}.space` may be edited.\n\n"
        f"## Sizes\n\nRing 1 changes inputs only, ring 2 weights, ring 3 attributes (fixed); - does not vary.\n\n"
        f"| size | published | ring | line | why |\n|---|---|---|---|---|\n{rows}\n\n"
        f"## Tensors\n\n| name | type | shape | |\n|---|---|---|---|\n{shapes}\n\n"
        f"{drawn} weights are drawn, {len(task['weights']) - drawn} are as the constructor makes them.\n\n"
        f"## Input classes\n\n{classes}\n\n## Notes\n\n{notes}"
    )


def write(task: Description, source: Source, directory: str) -> None:
    """Writes all files of the folder. The directory exists."""
    name = task["name"]
    texts = {
        f"{name}.task": json.dumps(task, indent=1) + "\n",
        f"{name}.space": space(task),
        f"{name}.seen": seen(task),
        f"{name}.host.seen": host_seen(task),
        "README.md": readme(task),
        "source.py": source.text,
    }
    for file, text in texts.items():
        with open(os.path.join(directory, file), "w", encoding="utf-8") as out:
            out.write(text)
