"""The records of NAME.task, as JSON holds them. doc/formats.md describes the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Union

from .expression import Sizes

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Extent = Union[int, str]  # a number, or an expression of axes
Marker = Union[float, str]  # a number, or "-inf", "inf", "nan"
_As = TypedDict("_As", {"as": str}, total=False)


class ImportError_(Exception):
    """Its text says what was found, what was expected and, after '--->', what to do."""


class Fill(_As, total=False):
    """How a class draws an input. The kind decides which of the other keys there are."""

    kind: str
    a: float
    b: float
    density: float
    at: list[float]
    step: int
    along: int
    start: Extent
    steps: list[Extent]
    value: float
    low: Extent
    high: Extent
    marker: Marker
    tails: bool
    rates: list[str]
    changes: list[str]


class InputEntry(TypedDict, total=False):
    """A parameter of forward: a tensor, which has a shape, or another value.

    A number that follows axes has an expression, or is `factor * form(of)`. Any value may follow one axis by
    a table, whose first row is for the value `first` of the axis."""

    name: str
    dtype: str
    shape: list[Extent]
    law: str
    domain: str
    low: Extent
    bound: Extent
    written: bool
    marker: Marker
    value: Any
    expression: Extent
    of: Extent
    form: str
    factor: float
    table: list[Any]
    first: int


class WeightEntry(TypedDict):
    """A tensor of the state dict. `scale` is a number or "fan"."""

    name: str
    dtype: str
    shape: list[Extent]
    kind: str
    scale: float | str
    shift: float
    loaded: NotRequired[bool]


class OutputEntry(TypedDict):
    """A result of forward, or the extents of another one that depend on values (`length_of`)."""

    name: str
    dtype: str
    shape: list[Extent]
    varying: NotRequired[list[int]]
    way: NotRequired[list[int | str]]
    length_of: NotRequired[str]


class ClassEntry(TypedDict):
    """A class of inputs."""

    name: str
    shows: str
    discriminating: NotRequired[int]
    fill: dict[str, Fill]


class AxisEntry(TypedDict):
    name: str
    value: int
    ring: int
    low: int
    high: int
    step: int
    rest: int
    sizes: list[str]
    why: str


class SizeEntry(TypedDict):
    """A size of the source, and the axis with which it varies."""

    name: str
    value: int
    ring: int
    why: str
    line: int
    where: str
    axis: str | None


class FixedEntry(TypedDict):
    name: str
    value: int
    why: str


class SourceEntry(TypedDict):
    file: str
    sha256: str
    modules: NotRequired[dict[str, str]]


class SameEntry(TypedDict):
    """A result that is a written input."""

    way: list[int | str]
    input: str


class Note(TypedDict):
    kind: str
    text: str


class PowerLaw(TypedDict):
    """coefficient * a^p * b^q; sizes below `base` have the exponents `below`."""

    coefficient: float
    powers: dict[str, float]
    below: dict[str, float]
    base: Sizes


class SameKey(TypedDict, total=False):
    """The key of a description that only tasks with such results have."""

    same: list[SameEntry]


class Description(SameKey):
    task: int
    name: str
    entry: str
    form: str
    candidates: list[str]
    source: SourceEntry
    torch: str
    sizes: list[SizeEntry]
    axes: list[AxisEntry]
    fixed: list[FixedEntry]
    inputs: list[InputEntry]
    weights: list[WeightEntry]
    outputs: list[OutputEntry]
    limits: list[str]
    classes: list[ClassEntry]
    tolerance: dict[str, float]
    notes: list[Note]
    flops: PowerLaw
    scratch: PowerLaw
    small: Sizes
    published: list[Sizes]
    published_notes: list[str]  # comments of their lines; empty: none
    runs: int
