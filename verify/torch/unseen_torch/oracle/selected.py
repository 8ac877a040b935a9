"""Rules of operations that select, count or place elements. Their results' sizes may depend on values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from .bounds import Bound, Function
from .choices import choose
from .discontinuous import copysign
from .elementwise import RULES, by_rule, extreme_by, mul, or_zero, rule
from .number import ANY, U64, UNIT, Context, Number, Operand, Unsupported, lost, moved, same
from .scatter_sort import _added, _placed
from .shape import factory, index, move, of_no_operand, operator, plain_index

COPIES = """expand_copy permute_copy transpose_copy.int t_copy unsqueeze_copy squeeze_copy squeeze_copy.dim squeeze_copy.dims unbind_copy.int alias_copy
unfold_copy split_with_sizes_copy split_copy.Tensor slice_copy.Tensor select_copy.int detach_copy narrow_copy view_copy""".split()
for name in COPIES:
    RULES["aten." + (name if "." in name else name + ".default")] = move
for name in (
    "eye.m",
    "empty_strided.default",
    "empty_permuted.default",
    "new_empty_strided.default",
    "logspace.default",
):
    RULES["aten." + name] = factory


RULES["aten.copysign.Scalar"] = copysign


def decided(cx: Context, mask: Number, what: str = "values picked by a mask") -> torch.Tensor:
    if mask.is_undecided:
        raise Unsupported(f"{what} that an honest implementation may decide either way")
    return mask.v


def nonzero_mask(cx: Context, x: Number) -> torch.Tensor:
    """Where x is not 0. Refuses computed numbers that may be 0."""
    if x.is_float and x.b is not None and bool(((x.v.abs() <= x.b) & (x.b > 0)).any()):
        raise Unsupported(f"{cx.name} of computed numbers that may be 0")
    return decided(cx, x, f"{cx.name} of what") != 0


@rule("aten.nonzero.default")
def nonzero(cx: Context, x: Number) -> Number:
    return Number(torch.nonzero(nonzero_mask(cx, x)))


@rule("aten.nonzero_static.default")
def nonzero_of_size(cx: Context, x: Number, *, size: int, fill_value: int = -1) -> Number:
    return Number(torch.nonzero_static(nonzero_mask(cx, x), size=size, fill_value=fill_value))


@rule("aten.count_nonzero.default", "aten.count_nonzero.dim_IntList")
def count_nonzero(cx: Context, x: Number, dims: Any = None) -> Number:
    mask = nonzero_mask(cx, x)
    return Number(torch.count_nonzero(mask) if dims is None else torch.count_nonzero(mask, dims))


@rule("aten.masked_select.default")
def masked_select(cx: Context, x: Number, mask: Number) -> Number:
    kept = decided(cx, mask)
    return same(lambda t: t.expand(torch.broadcast_shapes(t.shape, kept.shape)).masked_select(kept), x)


@rule("aten.masked_scatter.default")
def masked_scatter(cx: Context, x: Number, mask: Number, source: Number) -> Number:
    x = same(lambda t: t.expand(torch.broadcast_shapes(t.shape, mask.v.shape)), x)
    kept = decided(cx, mask).expand(x.v.shape)
    place = (kept.reshape(-1).cumsum(0) - 1).clamp(min=0).reshape(kept.shape)
    return choose(cx, Number(kept), same(lambda t: t.reshape(-1)[place], source), x)


@rule("aten.view.dtype")
def bits(cx: Context, x: Number, dtype: torch.dtype) -> Number:
    """Reinterprets the bits of exact numbers as another type."""
    if x.b is not None or x.is_undecided or cx.laid is None:
        raise Unsupported("the bits of computed numbers")
    made = x.v.to(cx.laid.dtype).view(dtype)
    return Number(made.double() if made.is_floating_point() else made)


@rule("aten.take.default")
def take(cx: Context, x: Number, at: Number) -> Number:
    flat = same(lambda t: t.reshape(-1), x)
    return index(cx, flat, [at])


@rule("aten.put.default")
def put(cx: Context, x: Number, at: Number, source: Number, accumulate: bool = False) -> Number:
    if not x.is_float and accumulate:
        return Number(torch.ops.aten.put(x.v, at.v, source.v, True))
    flat = same(lambda t: t.reshape(-1), x)
    places, values = (same(lambda t: t.reshape(-1), n) for n in (at, source))
    made = by_rule(cx, "index_put.default", flat, [places], values, accumulate)
    return same(lambda t: t.reshape(x.v.shape), made)


@rule(*[f"aten.{kind}_scatter.default" for kind in ("as_strided", "diagonal", "select", "slice")])
def scatter_view(cx: Context, x: Number, source: Number, *where: Any, **named: Any) -> Number:
    op: Function = operator(cx.name)
    return _placed(cx, x, source, lambda t, s: op(t.contiguous(), s, *where, **named))


@rule("aten.linspace.Tensor_Tensor", "aten.linspace.Tensor_Scalar", "aten.linspace.Scalar_Tensor")
def line(cx: Context, first: Operand, last: Operand, steps: int, **named: Any) -> Number:
    """A linspace between computed ends. Each end counts with its share."""
    if not cx.dtype.is_floating_point:
        raise Unsupported(
            "a linspace of whole numbers between computed ends, which libraries round differently"
        )
    ends = [t if isinstance(t, Number) else cx.scalar(float(t)) for t in (first, last)]
    share = torch.linspace(0, 1, steps, dtype=torch.float64, device=cx.device)

    def f(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a.double() + share * (b.double() - a.double())

    def propagated(level: int) -> Bound:
        errors = [None if (e := x.error(level)) is None else e.expand(share.shape) for x in ends]
        return None if all(e is None for e in errors) else torch.maximum(*[or_zero(e, share) for e in errors])

    size = torch.maximum(*[x.v.double().abs() for x in ends]).expand(share.shape)
    step = UNIT.get(cx.dtype, 0.0)  # the distance between two places may be rounded as well
    return cx.out(
        f(*[x.v for x in ends]),
        propagated,
        lambda u: (4 * u if u == U64 else 4 * max(u, step)) * size,
        moved(f, *ends),
    )


WINDOWS = ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")


@rule(
    *[
        f"aten.{name}.{overload}"
        for name in WINDOWS
        for overload in ("default", "periodic", "beta", "periodic_alpha", "periodic_alpha_beta")
    ]
)
def window(cx: Context, *args: Any, **_: Any) -> Number:
    """Sums of cosines, of at most 1. Two libraries' results differ by some units of that."""
    v = operator(cx.name)(*args, dtype=torch.float64).to(cx.device)
    return of_no_operand(cx, v, 8 * torch.ones_like(v))


@rule("aten.fft_fftfreq.default", "aten.fft_rfftfreq.default")
def frequencies(cx: Context, n: int, d: float = 1.0, **_: Any) -> Number:
    """Whole numbers over n d. Libraries divide, or multiply by the rounded 1 / (n d)."""
    v = operator(cx.name)(n, d, dtype=torch.float64).to(cx.device)
    return of_no_operand(cx, v, 3 * v.abs())


@rule("aten.max_unpool2d.default", "aten.max_unpool3d.default")
def max_unpool(cx: Context, x: Number, at: Number, size: Sequence[int], *_: Any) -> Number:
    """Puts each element at its place in a plane of zeros."""
    rank = 2 if "2d" in cx.name else 3
    flat = same(lambda t: t.flatten(-rank), x)
    blank = Number(torch.zeros(*flat.v.shape[:-1], math.prod(size), dtype=torch.float64, device=x.v.device))
    places = same(lambda t: t.flatten(-rank), at)
    made = by_rule(cx, "scatter.src", blank, blank.v.dim() - 1, places, flat)
    return same(lambda t: t.reshape(*x.v.shape[:-rank], *size), made)


@rule("aten.special_entr.default")
def entropy(cx: Context, x: Number) -> Number:
    """-x log x, which is 0 at 0."""
    if bool((x.v - or_zero(x.b, x.v) < 0).any()) and x.b is not None:
        raise Unsupported("the entropy of a computed number that may be negative")
    f = torch.special.entr
    v = f(x.v)

    def propagated(level: int) -> Bound:
        e = x.error(level)
        if e is None:
            return None
        slope = (torch.log((x.v - e).clamp(min=0)) + 1).abs() + (torch.log(x.v + e) + 1).abs()
        return torch.where(
            x.v > e, slope * e, (v - f(x.v + e)).abs() + (v - f((x.v - e).clamp(min=0))).abs() + e
        )

    return cx.out(v, propagated, lambda u: u * (6 * v.abs() + 8 * x.v.abs()), moved(f, x))


@rule("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def is_in(
    cx: Context, elements: Any, among: Any, *, assume_unique: bool = False, invert: bool = False
) -> Number:
    for x in (elements, among):
        if isinstance(x, Number) and (x.b is not None or x.is_undecided):
            raise Unsupported("isin of computed numbers")
    plain = [x.v if isinstance(x, Number) else x for x in (elements, among)]
    return Number(torch.isin(*plain, invert=invert))


@rule("aten.signbit.default")
def signbit(cx: Context, x: Number) -> Number:
    if x.is_float and x.b is not None and bool((x.v.abs() <= x.b).any()):
        raise Unsupported("the sign of a computed number that lies so near 0 that kernels may differ")
    return Number(torch.signbit(x.v))


@rule("aten.histc.default")
def histogram(cx: Context, x: Number, bins: int = 100, low: float = 0, high: float = 0) -> Number:
    """A histogram of exact numbers. A number at a bin's edge may be counted on either side, since a kernel computes its
    bin by a product."""
    if x.b is not None:
        raise Unsupported("a histogram of computed numbers")
    v = x.v.double().reshape(-1)
    low, high = (float(v.min()), float(v.max())) if low == high and v.numel() else (float(low), float(high))
    low, high = (low - 1, high + 1) if low == high else (low, high)
    inside = v[(v >= low) & (v <= high)]
    place = (inside - low) / (high - low) * bins
    near = (place - place.round()).abs() <= 8 * 2.0**-24 * (place.abs() + bins * abs(low) / (high - low))
    near &= (place.round() > 0) & (place.round() < bins)

    def counted(p: torch.Tensor) -> torch.Tensor:
        return torch.bincount(p.long().clamp(0, bins - 1), minlength=bins).double()

    made = counted(place.floor())
    off = counted(place[near].round()) + counted(place[near].round() - 1)
    if not bool(near.any()):
        return Number(made, whole=True)
    return Number(
        made, None, off, [made + off * (0, 1, 0, -1)[i % 4] for i in range(cx.count)] or None, whole=True
    )


@rule("aten.bincount.default")
def bincount(cx: Context, x: Number, weights: Number | None = None, minlength: int = 0) -> Number:
    plain_index(x)
    if weights is None or not weights.is_float:
        if weights is not None:
            return Number(torch.bincount(x.v, weights.v, minlength))
        return Number(torch.bincount(x.v, minlength=minlength))
    n = max(minlength, int(x.v.max()) + 1 if x.v.numel() else 0)
    return _added(
        cx,
        Number(torch.zeros(n, dtype=torch.float64, device=x.v.device)),
        weights,
        lambda t, s: t.index_add(0, x.v, s),
    )


@rule("aten.mode.default")
def mode(cx: Context, x: Number, dim: int = -1, keep: bool = False) -> tuple[Number, Number]:
    """The most frequent value of exact numbers. If several are equally frequent, any of them is right."""
    if x.b is not None or x.is_undecided:
        raise Unsupported("the most frequent one of computed numbers")
    v, at = torch.mode(x.v, dim, keep)
    rows = x.v.movedim(dim, -1)
    counts = (rows.unsqueeze(-1) == rows.unsqueeze(-2)).sum(-1)
    value = v.movedim(dim, -1) if keep else v.unsqueeze(-1)
    most = counts.amax(-1, keepdim=True)
    other = ((counts == most) & (rows != value)).any(-1, keepdim=True)
    tied = other.movedim(-1, dim) if keep else other.squeeze(-1)
    index = Number(at, names=(x, dim, ANY), open=tied)
    if not x.is_float:
        return Number(v, open=tied if bool(tied.any()) else None), index
    return lost(cx, Number(v), tied), index


@rule("aten.clamp_min.Tensor", "aten.clamp_max.Tensor")
def clamp_to(cx: Context, x: Number, edge: Operand) -> Number:
    return extreme_by(cx, torch.maximum if "min" in cx.name else torch.minimum, x, edge)


@rule("aten.angle.default")
def angle(cx: Context, x: Number) -> Number:
    """The angle of a real number: 0 or pi."""
    zero = Number(torch.zeros_like(x.v))
    negative = by_rule(cx, "lt.Scalar", x, 0.0)
    return choose(
        cx,
        negative,
        cx.out(
            torch.full_like(x.v.double(), math.pi), lambda level: None, lambda u: 2 * u * torch.ones_like(x.v)
        ),
        zero,
    )


@rule("aten.special_xlog1py.default")
def xlog1py(cx: Context, x: Operand, y: Operand) -> Number:
    x, y = (t if t.is_float else Number(t.v.double(), whole=True) for t in map(cx.number, (x, y)))
    made = mul(cx, x, by_rule(cx, "log1p.default", y))
    zero = (x.v == 0) & ~y.v.isnan()  # 0, whatever y is

    def off(e: Bound) -> Bound:
        return None if e is None else torch.where(zero, 0.0, e)

    exact = is_zero = zero if x.b is None else zero & (x.b == 0)
    runs = None if made.runs is None else [torch.where(is_zero, 0.0, t) for t in made.runs]
    return Number(torch.where(exact, 0.0, made.v), off(made.r), off(made.b), runs)


@rule("aten.vdot.default")
def vdot(cx: Context, a: Number, b: Number) -> Number:
    made: Number = by_rule(cx, "dot.default", a, b)
    return made


@rule("aten.zero.default", "aten.zero_.default")
def zero(cx: Context, x: Number) -> Number:
    return Number(torch.zeros_like(x.v))


@rule("aten._ctc_loss.default", "aten._ctc_loss.Tensor")
def ctc_loss(
    cx: Context,
    logs: Number,
    targets: Any,
    lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Number, None]:
    """-log of a sum over paths of products of probabilities, step by step. A path takes one log-probability a step. So
    the loss moves by at most the sum of the steps' greatest errors. A step's log-sum-exp of three errs by some units
    of its size."""

    def plain(x: Any) -> Any:
        return x.v if isinstance(x, Number) else x

    targets, lengths, target_lengths = (plain(x) for x in (targets, lengths, target_lengths))
    if 1 in cx.wanted:
        raise Unsupported("the gradient of a CTC loss")

    def f(t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made: tuple[torch.Tensor, torch.Tensor] = torch.ops.aten._ctc_loss(
            t.double(), targets, lengths, target_lengths, blank, zero_infinity
        )
        return made

    def written(alpha: torch.Tensor) -> Iterator[torch.Tensor]:
        """The paths within the lengths. PyTorch leaves the others as the memory is."""
        for dim, ends in ((1, torch.as_tensor(lengths)), (2, 2 * torch.as_tensor(target_lengths) + 1)):
            at = torch.arange(alpha.shape[dim], device=alpha.device)
            yield (at < ends.reshape(-1, 1).to(alpha.device)).unsqueeze(3 - dim)

    v, alpha = f(logs.v)
    in_time, in_target = written(alpha)
    steps = logs.v.shape[0]
    size = torch.where(alpha.isfinite() & in_time & in_target, alpha.abs(), 0.0).flatten(1).amax(1) + 16

    def propagated(level: int) -> Bound:
        e = logs.error(level)
        return None if e is None else torch.where(v.isinf(), 0.0, e.amax(-1).sum(0).expand(v.shape))

    return cx.out(
        v,
        propagated,
        lambda u: steps * u * size.expand(v.shape),
        moved(lambda t: f(t)[0], logs),
        lambda u: math.sqrt(steps) * u * size.expand(v.shape),
    ), None
