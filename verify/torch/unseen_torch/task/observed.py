"""Records of one run of a task's source (fake.py): its inputs, weights, outputs and work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union

from .expression import Sizes
from .structure import Way

Number = Union[int, float]
Shape = tuple[int, ...]
Draw = tuple[str, float, float]  # ("uniform", low, high) or ("normal", mean, deviation)
Centre = tuple[int, list[int]]  # where real inputs are drawn about: a magnitude, and a sign for each


@dataclass(frozen=True)
class Shaped:
    """A type and extents. dtypes have torch's names without 'torch.'."""

    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Output(Shaped):
    """An output of forward, in its greatest shape, and the dimensions whose extents depend on values."""

    varying: tuple[int, ...] = ()


@dataclass(frozen=True)
class Input(Shaped):
    """An input of forward. It is a `tensor`, or another `value` of Python with the shape ()."""

    kind: str
    value: Any = None


@dataclass(frozen=True)
class Weight(Shaped):
    """A tensor of the state dict."""

    name: str
    parameter: bool


@dataclass(frozen=True)
class Step:
    """A call that drew or changed a tensor. `numbers` is None if an operand is another tensor."""

    call: str
    numbers: list[Number] | None
    low: Number = 0  # the bounds of randint
    high: Number = 0


@dataclass
class Law:
    """How get_inputs made an input: its calls in order, the draws behind it, the bounds of a whole number."""

    steps: list[Step] = field(default_factory=list)
    roots: frozenset[int] = frozenset()
    bound: Any = None  # a whole number, unless the task gives randint another one
    low: Any = 0

    @property
    def calls(self) -> list[str]:
        return [step.call for step in self.steps]


class Observed:
    """The record of one run."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.weights: list[Weight] = []
        self.outputs: list[Output] = []
        self.init = self.attributes = self.operations = ""
        self.flops = self.elements = self.largest = self.steps = 0
        self.laws: list[Law] = []
        self.ways: list[Way] = []
        # effects.py: places of written inputs, and results that are such inputs
        self.written: list[int] = []
        self.same: list[tuple[Way, int]] = []
        self.calls: set[str] = set()  # names of the operations that forward calls

    def dims(self, results: bool = True) -> list[int]:
        """Returns all extents in a fixed order, of outputs only with `results`."""
        outputs = self.outputs if results else []
        flat = [n for tensors in (self.inputs, self.weights, outputs) for t in tensors for n in t.shape]
        return flat + [law.bound for law in self.laws if law.bound is not None]

    def structure(self) -> Any:
        """Returns all facts that must be equal in two runs that differ in their sizes only."""
        return (
            [(t.kind, t.dtype, len(t.shape)) for t in self.inputs],
            [(t.name, t.dtype, len(t.shape)) for t in self.weights],
            [(t.dtype, len(t.shape)) for t in self.outputs],
            self.written,
        )


class Point(NamedTuple):
    """Sizes by axis and the run at these."""

    sizes: Sizes
    observed: Observed
