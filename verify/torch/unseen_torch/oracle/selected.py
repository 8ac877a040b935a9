"""Rules of operations that select, count or place elements. Their results' sizes may depend on values."""

import math

import torch

from .discontinuous import copysign
from .elementwise import RULES, mul, or_zero, rule
from .number import ANY, U64, UNIT, Number, Unsupported, lost, moved, same
from .shape import choose, compare, factory, index, move, operator, plain_index

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


def decided(cx, mask, what="values picked by a mask"):
    if mask.is_undecided:
        raise Unsupported(f"{what} that an honest implementation may decide either way")
    return mask.v


def nonzero_mask(cx, x):
    """Where x is not 0. Refuses computed numbers that may be 0."""
    if x.is_float and x.b is not None and bool(((x.v.abs() <= x.b) & (x.b > 0)).any()):
        raise Unsupported(f"{cx.name} of computed numbers that may be 0")
    return decided(cx, x, f"{cx.name} of what") != 0


@rule("aten.nonzero.default")
def nonzero(cx, x):
    return Number(torch.nonzero(nonzero_mask(cx, x)))


@rule("aten.nonzero_static.default")
def nonzero_of_size(cx, x, *, size, fill_value=-1):
    return Number(torch.nonzero_static(nonzero_mask(cx, x), size=size, fill_value=fill_value))


@rule("aten.count_nonzero.default", "aten.count_nonzero.dim_IntList")
def count_nonzero(cx, x, dims=None):
    mask = nonzero_mask(cx, x)
    return Number(torch.count_nonzero(mask) if dims is None else torch.count_nonzero(mask, dims))


@rule("aten.masked_select.default")
def masked_select(cx, x, mask):
    kept = decided(cx, mask)
    return same(lambda t: t.expand(torch.broadcast_shapes(t.shape, kept.shape)).masked_select(kept), x)


@rule("aten.masked_scatter.default")
def masked_scatter(cx, x, mask, source):
    x = same(lambda t: t.expand(torch.broadcast_shapes(t.shape, mask.v.shape)), x)
    kept = decided(cx, mask).expand(x.v.shape)
    place = (kept.reshape(-1).cumsum(0) - 1).clamp(min=0).reshape(kept.shape)
    return choose(cx, Number(kept), same(lambda t: t.reshape(-1)[place], source), x)


@rule("aten.view.dtype")
def bits(cx, x, dtype):
    """Reinterprets the bits of exact numbers as another type."""
    if x.b is not None or x.is_undecided or cx.laid is None:
        raise Unsupported("the bits of computed numbers")
    made = x.v.to(cx.laid.dtype).view(dtype)
    return Number(made.double() if made.is_floating_point() else made)


@rule("aten.take.default")
def take(cx, x, at):
    flat = same(lambda t: t.reshape(-1), x)
    return index(cx, flat, [at])


@rule("aten.put.default")
def put(cx, x, at, source, accumulate=False):
    if not x.is_float and accumulate:
        return Number(torch.ops.aten.put(x.v, at.v, source.v, True))
    flat = same(lambda t: t.reshape(-1), x)
    kept, cx.name = cx.name, "aten.index_put.default"
    made = RULES[cx.name](
        cx, flat, [same(lambda t: t.reshape(-1), at)], same(lambda t: t.reshape(-1), source), accumulate
    )
    cx.name = kept
    return same(lambda t: t.reshape(x.v.shape), made)


@rule(*[f"aten.{kind}_scatter.default" for kind in ("as_strided", "diagonal", "select", "slice")])
def scatter_view(cx, x, source, *where, **named):
    from .scatter_sort import _placed

    op = operator(cx.name)
    return _placed(cx, x, source, lambda t, s: op(t.contiguous(), s, *where, **named))


@rule("aten.linspace.Tensor_Tensor", "aten.linspace.Tensor_Scalar", "aten.linspace.Scalar_Tensor")
def line(cx, first, last, steps, **named):
    """A linspace between computed ends. Each end counts with its share."""
    if not cx.dtype.is_floating_point:
        raise Unsupported(
            "a linspace of whole numbers between computed ends, which libraries round differently"
        )
    first, last = (t if isinstance(t, Number) else cx.scalar(float(t)) for t in (first, last))
    share = torch.linspace(0, 1, steps, dtype=torch.float64, device=cx.device)

    def f(a, b):
        return a.double() + share * (b.double() - a.double())

    def propagated(level):
        ends = [None if x.error(level) is None else x.error(level).expand(share.shape) for x in (first, last)]
        return (
            None if ends[0] is None and ends[1] is None else torch.maximum(*[or_zero(e, share) for e in ends])
        )

    size = torch.maximum(first.v.double().abs(), last.v.double().abs()).expand(share.shape)
    step = UNIT.get(cx.dtype, 0.0)  # the distance between two places may be rounded as well
    return cx.out(
        f(first.v, last.v),
        propagated,
        lambda u: (4 * u if u == U64 else 4 * max(u, step)) * size,
        moved(f, first, last),
    )


WINDOWS = ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")


@rule(
    *[
        f"aten.{name}.{overload}"
        for name in WINDOWS
        for overload in ("default", "periodic", "beta", "periodic_alpha", "periodic_alpha_beta")
    ]
)
def window(cx, *args, **_):
    """Sums of cosines, of at most 1. Two libraries' results differ by some units of that."""
    own = cx.dtype if cx.dtype.is_floating_point else torch.float32
    v = operator(cx.name)(*args, dtype=torch.float64).to(cx.device)
    made = cx.out(v, lambda level: None, lambda u: 8 * u * torch.ones_like(v))
    return cx.permitted(made, own) if UNIT.get(own, 0.0) > UNIT[torch.float32] else made


@rule("aten.max_unpool2d.default", "aten.max_unpool3d.default")
def max_unpool(cx, x, at, size, *_):
    """Puts each element at its place in a plane of zeros."""
    rank = 2 if "2d" in cx.name else 3
    flat = same(lambda t: t.flatten(-rank), x)
    blank = Number(torch.zeros(*flat.v.shape[:-1], math.prod(size), dtype=torch.float64, device=x.v.device))
    kept, cx.name = cx.name, "aten.scatter.src"
    made = RULES[cx.name](cx, blank, blank.v.dim() - 1, same(lambda t: t.flatten(-rank), at), flat)
    cx.name = kept
    return same(lambda t: t.reshape(*x.v.shape[:-rank], *size), made)


@rule("aten.special_entr.default")
def entropy(cx, x):
    """-x log x, which is 0 at 0."""
    if bool((x.v - or_zero(x.b, x.v) < 0).any()) and x.b is not None:
        raise Unsupported("the entropy of a computed number that may be negative")
    f = torch.special.entr
    v = f(x.v)

    def propagated(level):
        e = x.error(level)
        if e is None:
            return None
        slope = (torch.log((x.v - e).clamp(min=0)) + 1).abs() + (torch.log(x.v + e) + 1).abs()
        return torch.where(
            x.v > e, slope * e, (v - f(x.v + e)).abs() + (v - f((x.v - e).clamp(min=0))).abs() + e
        )

    return cx.out(v, propagated, lambda u: u * (6 * v.abs() + 8 * x.v.abs()), moved(f, x))


@rule("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def is_in(cx, elements, among, *, assume_unique=False, invert=False):
    for x in (elements, among):
        if isinstance(x, Number) and (x.b is not None or x.is_undecided):
            raise Unsupported("isin of computed numbers")
    plain = [x.v if isinstance(x, Number) else x for x in (elements, among)]
    return Number(torch.isin(*plain, invert=invert))


@rule("aten.signbit.default")
def signbit(cx, x):
    if x.is_float and x.b is not None and bool((x.v.abs() <= x.b).any()):
        raise Unsupported("the sign of a computed number that lies so near 0 that kernels may differ")
    return Number(torch.signbit(x.v))


@rule("aten.histc.default")
def histogram(cx, x, bins=100, low=0, high=0):
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

    def counted(p):
        return torch.bincount(p.long().clamp(0, bins - 1), minlength=bins).double()

    made = counted(place.floor())
    off = counted(place[near].round()) + counted(place[near].round() - 1)
    if not bool(near.any()):
        return Number(made, whole=True)
    return Number(
        made, None, off, [made + off * (0, 1, 0, -1)[i % 4] for i in range(cx.count)] or None, whole=True
    )


@rule("aten.bincount.default")
def bincount(cx, x, weights=None, minlength=0):
    plain_index(x)
    if weights is None or not weights.is_float:
        if weights is not None:
            return Number(torch.bincount(x.v, weights.v, minlength))
        return Number(torch.bincount(x.v, minlength=minlength))
    from .scatter_sort import _added

    n = max(minlength, int(x.v.max()) + 1 if x.v.numel() else 0)
    return _added(
        cx,
        Number(torch.zeros(n, dtype=torch.float64, device=x.v.device)),
        weights,
        lambda t, s: t.index_add(0, x.v, s),
    )


@rule("aten.mode.default")
def mode(cx, x, dim=-1, keep=False):
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
def clamp_to(cx, x, edge):
    from .elementwise import extreme_by

    return extreme_by(cx, torch.maximum if "min" in cx.name else torch.minimum, x, edge)


@rule("aten.angle.default")
def angle(cx, x):
    """The angle of a real number: 0 or pi."""
    zero = Number(torch.zeros_like(x.v))
    negative = compare_zero(cx, x)
    return choose(
        cx,
        negative,
        cx.out(
            torch.full_like(x.v.double(), math.pi), lambda level: None, lambda u: 2 * u * torch.ones_like(x.v)
        ),
        zero,
    )


def compare_zero(cx, x):
    kept, cx.name = cx.name, "aten.lt.Scalar"
    made = compare(cx, x, 0.0)
    cx.name = kept
    return made


@rule("aten.special_xlog1py.default")
def xlog1py(cx, x, y):
    x, y = cx.number(x), cx.number(y)
    x, y = (t if t.is_float else Number(t.v.double(), whole=True) for t in (x, y))
    kept, cx.name = cx.name, "aten.log1p.default"
    made = mul(cx, x, RULES[cx.name](cx, y))
    cx.name = kept
    zero = (x.v == 0) & ~y.v.isnan()  # 0, whatever y is

    def off(e):
        return None if e is None else torch.where(zero, 0.0, e)

    exact = is_zero = zero if x.b is None else zero & (x.b == 0)
    runs = None if made.runs is None else [torch.where(is_zero, 0.0, t) for t in made.runs]
    return Number(torch.where(exact, 0.0, made.v), off(made.r), off(made.b), runs)


@rule("aten.vdot.default")
def vdot(cx, a, b):
    return RULES["aten.dot.default"](cx, a, b)


@rule("aten.zero.default", "aten.zero_.default")
def zero(cx, x):
    return Number(torch.zeros_like(x.v))


@rule("aten._ctc_loss.default", "aten._ctc_loss.Tensor")
def ctc_loss(cx, logs, targets, lengths, target_lengths, blank=0, zero_infinity=False):
    """-log of a sum over paths of products of probabilities, step by step. A path takes one log-probability a step. So
    the loss moves by at most the sum of the steps' greatest errors. A step's log-sum-exp of three errs by some units
    of its size."""

    def plain(x):
        return x.v if isinstance(x, Number) else x

    targets, lengths, target_lengths = (plain(x) for x in (targets, lengths, target_lengths))
    if 1 in cx.wanted:
        raise Unsupported("the gradient of a CTC loss")

    def f(t):
        return torch.ops.aten._ctc_loss(t.double(), targets, lengths, target_lengths, blank, zero_infinity)

    def written(alpha):
        """The paths within the lengths. PyTorch leaves the others as the memory is."""
        for dim, ends in ((1, torch.as_tensor(lengths)), (2, 2 * torch.as_tensor(target_lengths) + 1)):
            at = torch.arange(alpha.shape[dim], device=alpha.device)
            yield (at < ends.reshape(-1, 1).to(alpha.device)).unsqueeze(3 - dim)

    v, alpha = f(logs.v)
    in_time, in_target = written(alpha)
    steps = logs.v.shape[0]
    size = torch.where(alpha.isfinite() & in_time & in_target, alpha.abs(), 0.0).flatten(1).amax(1) + 16

    def propagated(level):
        e = logs.error(level)
        e = None if e is None else e.amax(-1).sum(0)
        return None if e is None else torch.where(v.isinf(), 0.0, e.expand(v.shape))

    return cx.out(
        v,
        propagated,
        lambda u: steps * u * size.expand(v.shape),
        moved(lambda t: f(t)[0], logs),
        lambda u: math.sqrt(steps) * u * size.expand(v.shape),
    ), None
