"""Writes get_inputs for a group of calls: the calls of torch that made one call's tensors, with sizes for
extents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from . import places, recorder
from .calls import Group, plain
from .recorder import SIZED, Step

_UNREAD = ("tensor", "as_tensor", "empty", "empty_like")  # the values of these tensors came from elsewhere
_FACTORS = (3, 4, 5, 7)  # of the sizes in a trial


class _Lines:
    """The statements that stand for the steps of one call's tensors."""

    def __init__(self, group: Group, call: int, steps: list[Step]) -> None:
        self.group, self.lines = group, list[str]()
        self.leaves = group.calls[call].leaves
        self.given = group.calls[call].given
        self.names: dict[int, str] = {}
        self.fed = [self._fed(steps, i) for i in range(len(steps))]
        for i, step in enumerate(steps):
            self._add(i, step)

    def _fed(self, steps: list[Step], first: int) -> list[int]:
        """Returns the leaves that a step is part of."""
        known = {id(t) for t in steps[first].results}
        for step in steps[first + 1 :]:
            if any(id(t) in known for t in recorder.tensors([step.args, step.kwargs])):
                known |= {id(t) for t in step.results}
        return [i for i, x in enumerate(self.given) if id(x) in known]

    def _extents(self, step: Step, number: int) -> dict[int, str]:
        """Returns texts by extent of the leaves that the step is part of, then of the others."""
        found: dict[int, str] = {}
        order = [*self.fed[number], *(i for i in range(len(self.leaves)) if i not in self.fed[number])]
        for leaf in order:
            for n, text in zip(self.leaves[leaf][1].shape, self.group.shape(leaf)):
                found.setdefault(int(n), text)
        return found

    def _sized(self, value: Any, step: Step, number: int) -> str:
        """Returns the text of extents."""
        if isinstance(value, (tuple, list)):
            shape = tuple(value)
            for leaf in self.fed[number]:
                if shape == tuple(self.leaves[leaf][1].shape):
                    return f"({''.join(t + ', ' for t in self.group.shape(leaf))})"
            return f"({''.join(self._sized(v, step, number) + ', ' for v in value)})"
        if isinstance(value, slice):
            ends = [self._sized(v, step, number) for v in (value.start, value.stop, value.step)]
            return f"slice({', '.join(ends)})"
        if type(value) is int and value > 1:
            return self._extents(step, number).get(value, str(value))
        return self._text(value)

    def _text(self, value: Any) -> str:
        import torch

        if isinstance(value, torch.Tensor):
            return self.names[id(value)]
        if isinstance(value, (tuple, list)):
            return f"({''.join(self._text(v) + ', ' for v in value)})"
        return plain(value)

    def _arguments(self, step: Step, number: int) -> list[str]:
        args = list(step.args)
        if step.last not in SIZED:
            return [self._text(a) for a in args] + [f"{k}={self._text(v)}" for k, v in step.kwargs.items()]
        sized = {"size", "high"} if step.last == "randint" else {"size", "n", "end"}
        named = [
            f"{k}={self._sized(v, step, number) if k in sized else self._text(v)}"
            for k, v in step.kwargs.items()
        ]
        start = SIZED[step.last]
        if step.last == "full":
            return [
                self._sized(a, step, number) if i == 0 else self._text(a) for i, a in enumerate(args)
            ] + named
        if step.last == "randint":
            place = len(args) - (1 if "size" in step.kwargs else 2)
            texts = [self._sized(a, step, number) if i > place else self._text(a) for i, a in enumerate(args)]
            bound = next((b for i in self.fed[number] if (b := self.group.bounds[i])), None)
            if bound and place >= 0:
                texts[place] = bound
            return texts + [f"high={bound}" if bound and n.startswith("high=") else n for n in named]
        if start == 0 and len(args) > 1 and all(type(a) is int for a in args):
            return [*_unpacked(self._sized(tuple(args), step, number)), *named]
        return [
            self._text(a) if i < start else self._sized(a, step, number) for i, a in enumerate(args)
        ] + named

    def _add(self, number: int, step: Step) -> None:
        if step.last in _UNREAD or step.name == "None":
            raise TypeError(step.name)
        moved = list(recorder.tensors(step.args))
        if step.last in ("to", "cuda", "cpu") and len(step.args) == 1 and not step.kwargs:
            self.names[id(step.results[0])] = self.names[id(moved[0])]
            return
        arguments = self._arguments(step, number)
        call = f"{step.name}({', '.join(arguments)})"
        if step.name.startswith("torch.Tensor.") and not step.last.startswith("__"):
            call = f"{arguments[0]}.{step.last}"
            call += "" if step.name.endswith("__get__") else f"({', '.join(arguments[1:])})"
        name = f"made{len(self.lines)}"
        self.lines.append(f"{name} = {call}")
        for i, each in enumerate(step.results):
            self.names[id(each)] = name if len(step.results) == 1 else f"{name}[{i}]"

    def returned(self) -> str:
        """Returns the list of inputs."""
        return f"[{', '.join(self.names[id(x)] for x in self.given)}]"


def _unpacked(text: str) -> list[str]:
    return [part for part in text.strip("()").split(", ") if part.strip(", ")]


def _makes(group: Group, body: str, call: int, factors: dict[str, int]) -> bool:
    """Tells whether a body of get_inputs makes what the function takes in a call with its sizes raised."""
    import torch

    series = group.sizes.series
    sizes = {name: series[name][call] * factor for name, factor in factors.items()}
    wanted = [[int(eval(t, dict(sizes))) for t in group.shape(i)] for i in range(len(group.first.leaves))]
    if places.elements(wanted) > places.MOST_ELEMENTS:
        return True
    names: dict[str, Any] = {"torch": torch, "inf": float("inf"), "nan": float("nan"), **sizes}
    try:
        exec(f"def get_inputs():\n{body}", names)
        made = names["get_inputs"]()
    except Exception:  # raised by the recorded calls
        return False
    if [(list(x.shape), x.dtype) for x in made] != [
        (shape, x.dtype) for shape, (_, x) in zip(wanted, group.first.leaves)
    ]:
        return False
    return group.accepts(call, {at: Fraction(factors[name]) for at, name in group.sizes.of.items()}, made)


def _is_right(group: Group, body: str) -> bool:
    """Tells whether a body of get_inputs makes what the function takes, in all calls and at greater sizes."""
    names = list(group.sizes.series)
    published = all(_makes(group, body, i, dict.fromkeys(names, 1)) for i in group.tried)
    greater = {name: _FACTORS[i % len(_FACTORS)] for i, name in enumerate(names)}
    return published and _makes(group, body, group.tried[0], greater)


def body(group: Group, recorded: recorder.Recorder) -> tuple[str, str]:
    """Returns `(body of get_inputs, a note on it)`."""
    for number in range(len(group.calls) - 1, -1, -1):
        try:
            made = _Lines(group, number, recorded.slice(group.calls[number].given))
            lines = [*made.lines, f"return {made.returned()}"]
        except (TypeError, KeyError):
            continue
        text = "".join(f"    {line}\n" for line in lines)
        if _is_right(group, text):
            return text, "inputs are drawn by the calls of torch that the tests make"
    texts = []
    for i, (_, x) in enumerate(group.first.leaves):
        shape = f"({''.join(t + ', ' for t in group.shape(i))})"
        texts.append(group.law(x, shape, group.bounds[i]))
    return (
        f"    return [{', '.join(texts)}]\n",
        "inputs are drawn like the numbers in the tests, which are literals or follow from values",
    )
