"""Changes of get_inputs's own inputs that preserve their structure: markers at other rates, logits at other
temperatures or tied, groups without elements.

A marker is a number that stands for "nothing here": -inf in scores, the id of padding among tokens. A class of inputs
names its change in the fill: {"kind": "computed", "as": "markers", ..}. Importing finds the changes under which a
task's answer is known (marked.py).
"""

from __future__ import annotations

import math

import torch

from .description import Fill, Marker

NONE, SOME, ROWS, ALL = "none", "some", "rows", "all"
RATES = (NONE, SOME, ROWS, ALL)
FEW, HALF = 0.125, 0.5
SCALES = (0.125, 0.5, 4.0)  # factors for logits; 1 is the published temperature
# changes for numbers with bounds on both sides of 0
COLDER = tuple(f"scale {s:g}" for s in SCALES if s < 1)
TEMPERED = (*tuple(f"scale {s:g}" for s in SCALES), "negated", "below", "shift 128", "shift -128", "tied")
SMALLER = (*COLDER, f"scale {2.0**-7:g}")  # changes for numbers at or above 0 that depend on each other
QUIETER = (*SMALLER, "quiet")  # changes for numbers at or above 0
FAINTEST = -30  # exponent of the faintest part
SHARE = f"scale {2.0**-10:g}"  # from pixels to shares of an image
SPARSER = ("zeros", "one-hot")  # changes for probabilities
SHARPER = (*tuple(f"power {s:g}" for s in SCALES), "tied")  # changes for probabilities and their logarithms
# Changes of the starts of groups. "dropped" also lowers the last start, the number of all elements.
DROPPED, MERGED = "dropped", "merged"


def is_marker(x: torch.Tensor, marker: Marker) -> torch.Tensor:
    """Returns a mask of the elements equal to the marker: a number, or "-inf", "inf", "nan" as a text."""
    marker = float(marker)
    return x.isnan() if math.isnan(marker) else x == marker


def _others(x: torch.Tensor, marked: torch.Tensor) -> torch.Tensor:
    """Returns `x` with its markers replaced by other numbers of `x`."""
    kept = x[~marked]
    if not kept.numel() or not bool(marked.any()):
        return x
    return torch.where(marked, kept[torch.randint(kept.numel(), x.shape)], x)


def _places(shape: tuple[int, ...], rate: str) -> torch.Tensor:
    """Returns a random mask: nothing, single elements, whole slices along one dimension, or everything."""
    if rate == NONE or not shape:
        return torch.zeros(shape, dtype=torch.bool)
    if rate == ALL:
        return torch.ones(shape, dtype=torch.bool)
    if rate == SOME:
        return torch.rand(shape) < (FEW if torch.rand(()) < 0.5 else HALF)
    along = int(torch.randint(len(shape), ()))
    return (torch.rand([1 if d == along else n for d, n in enumerate(shape)]) < HALF).expand(shape).clone()


def _tails(shape: tuple[int, ...], rate: str) -> torch.Tensor:
    """Returns a mask of the last elements of each row, as padding has it."""
    length = shape[-1] if shape else 1
    rows = (*shape[:-1], 1)
    kept = {NONE: torch.full(rows, length), ALL: torch.zeros(rows, dtype=torch.int64)}.get(rate)
    if kept is None:
        kept = torch.randint(0 if rate == ROWS else 1, length + 1, rows)
        kept = torch.where(torch.rand(rows) < HALF, 0, kept) if rate == ROWS else kept
    return (torch.arange(length) >= kept).expand(shape).clone()


def _marked(x: torch.Tensor, fill: Fill) -> torch.Tensor:
    rate = fill["rates"][int(torch.randint(len(fill["rates"]), ()))]
    places = (_tails if fill.get("tails") else _places)(tuple(x.shape), rate)
    if rate == SOME and ROWS not in fill["rates"]:  # each row has to keep some other element
        for d in range(x.dim()):
            places = places.scatter(
                d, torch.randint(x.shape[d], [1 if e == d else n for e, n in enumerate(x.shape)]), False
            )
    rest = _others(x, is_marker(x, fill["marker"]))
    return torch.where(places, torch.tensor(float(fill["marker"])).to(x.dtype), rest)


def _quiet(x: torch.Tensor) -> torch.Tensor:
    """Returns numbers with parts along one dimension that are fainter, some of them silent."""
    if not x.dim():
        return x
    along = int(torch.randint(x.dim(), ()))
    extents = [n if d == along else 1 for d, n in enumerate(x.shape)]
    size = torch.exp2(torch.randint(FAINTEST, 1, extents).double())
    return x * torch.where(torch.rand(extents) < FEW, 0.0, size)


def _tied(x: torch.Tensor, are_logits: bool) -> torch.Tensor:
    """Returns numbers of few different values, or rows of probabilities whose logarithms are whole numbers
    before they are normalized."""
    if not are_logits:
        finite = x[x.isfinite()]
        step = float(finite.std()) if finite.numel() > 1 else 0.0
        return torch.where(x.isfinite(), (x / step).round() * step, x) if step > 0 else x
    logs = x.log() if bool((x > 0).any()) else x
    whole = (logs - logs.amax(-1, keepdim=True)).round().log_softmax(-1)
    return whole if logs is x else whole.exp()


def _emptied(x: torch.Tensor, change: str) -> torch.Tensor:
    """Returns starts of groups, of which some have no elements. The first start is 0."""
    lengths = x.diff(dim=-1)
    kept = torch.rand(lengths.shape) >= HALF
    if change == DROPPED:
        ends = (lengths * kept).cumsum(-1)
    else:
        ends = torch.where(kept, x[..., 1:], 0).cummax(-1).values
        ends[..., -1:] = x[..., -1:]
    return torch.cat([x[..., :1], ends], dim=-1).to(x.dtype)


def _sparse(x: torch.Tensor, change: str) -> torch.Tensor:
    """Returns rows of probabilities of which only some are above 0, or only the greatest."""
    greatest = torch.zeros_like(x).scatter(-1, x.argmax(-1, keepdim=True), 1.0)
    if change == "one-hot":
        return greatest
    kept = torch.where((torch.rand(x.shape) < HALF) | (greatest > 0), x, 0.0)
    return kept / kept.sum(-1, keepdim=True)


def _changed(x: torch.Tensor, change: str) -> torch.Tensor:
    """Returns numbers of both signs, or rows of probabilities, at another temperature. Infinities stay."""
    word, _, by = change.partition(" ")
    if word in (DROPPED, MERGED):
        return _emptied(x, word)
    wide = x.double()
    finite = wide.isfinite()
    if word == "scale":
        made = wide * float(by)
    elif word == "shift":
        made = wide + float(by)
    elif word in SPARSER:
        made = _sparse(wide, word)
    elif word == "raised":
        made = wide ** float(by)
    elif word == "quiet":
        made = _quiet(wide)
    elif word == "negated":
        made = torch.where(finite, -wide, wide)
    elif word == "tied":
        made = _tied(wide, are_logits=not bool((wide < 0).any()) or not bool((wide[finite] > 0).any()))
    elif word == "below":
        made = wide - (wide[finite].max() if bool(finite.any()) else 0) - 1
    elif bool((wide[finite] > 0).any()):  # probabilities, else their logarithms
        powers = wide.clamp(min=0) ** float(by)
        made = powers / powers.sum(-1, keepdim=True)
    else:
        made = (wide * float(by)).log_softmax(-1)
    return made.to(x.dtype)


def changed(x: torch.Tensor, fill: Fill) -> torch.Tensor:
    """Returns get_inputs's numbers after the change in `fill`. It draws from torch's generator."""
    if "as" not in fill or not x.numel():
        return x
    if fill["as"] == "markers":
        return _marked(x, fill)
    change = fill["changes"][int(torch.randint(len(fill["changes"]), ()))]
    along = fill.get("along", -1)
    return _changed(x.movedim(along, -1), change).movedim(-1, along) if along != -1 else _changed(x, change)
