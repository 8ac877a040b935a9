"""The state of one tensor of the graph, and the propagation of errors through one operation.

A `Number` is a tensor in fp64 together with two bounds and a few perturbed copies:

    v     the value, evaluated in fp64
    r     the radius, rigorous: |v - exact| <= r. Every operation errs by its own rounding at u = 2^-53
    b     the bound: an honest implementation in the declared arithmetic deviates by at most b. The same rule at its own u
    runs  the same graph with independent errors injected after every operation: how errors really add up

r and b are None if they are zero everywhere. Exact whole numbers and booleans have neither. A comparison has a mask
`open` of its ambiguous elements: an honest implementation may decide them either way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional, Union

import torch

from . import pieces
from .bounds import Bound, Error, Expanded, Function, Local, OfRun, Propagated, Runs, Sides, Ways

if TYPE_CHECKING:
    from . import sides as open_sides
    from .returned import Signs

# what an index points into: values, dimension, and FIRST, APART, STABLE or ANY
Names = tuple["Number", Optional[int], int]
Operand = Union["Number", int, float, bool]

U64 = 2.0**-53
U32 = 2.0**-24
UNIT = {torch.float32: U32, torch.float64: U64, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
LARGEST = {dtype: torch.finfo(dtype).max for dtype in (torch.float32, torch.bfloat16, torch.float16)}
SMALLEST = {torch.float32: 2.0**-126, torch.bfloat16: 2.0**-126, torch.float16: 2.0**-14}
# significant bits, exponent of the smallest normal number
EIGHT_BITS = {torch.float8_e4m3fn: (4, -6), torch.float8_e5m2: (3, -14)}
WHOLE = 2.0**24  # fp32 represents all whole numbers up to here
SUBNORMAL = 2.0**23  # number of fp32 magnitudes below the smallest normal one
# elements of a run, at most, for all runs to be computed as one tensor (host, GPU)
TOGETHER, ON_A_GPU = 1 << 14, 1 << 18
TABLED = 4  # unit roundoffs by which two constructors' tables may differ: two units in the last place
FEW = 16  # one element in so many may be anything, or lie beside a jump
CALIBRATED = 8.0  # times the spread of the runs: doc/results/oracle.md
# Radii are themselves computed in fp64, from nonnegative terms. This factor covers their rounding.
OUTWARD = 1 + 2.0**-20


class Unsupported(Exception):
    """The graph holds something that no rule covers. The text names it."""


# Rules for an index among equal values (ANY: no rule). PyTorch promises the first one of several maxima or minima. A
# sort or a topk names no place twice, and a stable sort keeps the order.
ANY, FIRST, APART, STABLE = range(4)


class Number:
    __slots__ = tuple(
        "v r b runs open names whole there exponents taken parts terms count nested expanded".split()
        + "sides beside signs ways held unmasked".split()
    )

    def __init__(
        self,
        v: torch.Tensor,
        r: Bound = None,
        b: Bound = None,
        runs: Runs = None,
        open: Bound = None,
        names: Names | None = None,
        whole: bool = False,
        there: bool = False,
    ) -> None:
        self.v, self.r, self.b, self.runs, self.open = v, r, b, runs, open
        # whole numbers in any honest arithmetic, even if not the same ones
        self.whole = whole or not v.is_floating_point()
        self.sides: Sides | None = None  # the least and the greatest value of an open index (wholes.py)
        self.beside: Bound = None  # mask of elements beside a jump
        self.held: Bound = None  # mask of elements that a bound of the code surely holds
        self.names = names
        self.exponents: Bound = None  # sizes of exponents (exponents.py)
        self.taken: Bound = None
        self.unmasked: Bound = None  # magnitudes before a mask set elements to 0 (exponents.py)
        self.parts = 1  # number of exponentials that were added up (exponents.py)
        # A sum of products has the sum of its terms' magnitudes (None: |v|), and the number of its terms.
        self.terms: Bound = None
        self.count, self.nested = 1, 0  # nested: number of products with sums within one another (chains.py)
        self.ways: Ways | None = None  # of an index among values that may tie (ties.py)
        self.signs: Signs | None = None  # of the vectors of a factorization (returned.py)
        self.expanded: Expanded | None = None  # sizes of a sum that a power may be expanded to (expanded.py)
        self.there = there  # an open index names the right place, but may be absent (masked_rows.py)

    def run(self, i: int) -> torch.Tensor:
        return self.v if self.runs is None else self.runs[i]

    def size(self) -> torch.Tensor:
        """The sum of the terms' magnitudes, which bounds the intermediate results of every equal form of it."""
        return self.v.double().abs() if self.terms is None else self.terms

    @property
    def is_float(self) -> bool:
        return self.v.is_floating_point()

    def error(self, level: int) -> Bound:
        return self.r if level == 0 else self.b

    @property
    def is_undecided(self) -> bool:
        """True for a mask or an index with ambiguous elements."""
        return not self.is_float and self.open is not None and bool(self.open.any())


def unit_of(dtype: torch.dtype) -> float:
    """The unit roundoff of computations. Narrow formats compute sums and functions in fp32."""
    return U64 if dtype == torch.float64 else U32


def exact(v: torch.Tensor) -> Number:
    """Wraps a tensor of the task or a constant without error, in fp64."""
    return Number(v.double() if v.is_floating_point() else v)


def of_mask(x: Number) -> Number:
    """Converts a mask to 0 and 1. Ambiguous elements have the bound 1."""
    if x.v.dtype != torch.bool:
        raise Unsupported("whole numbers, computed with, that an honest implementation may decide either way")
    assert x.open is not None
    off = x.open.double()
    made = Number(
        x.v.double(), off, off, None if x.runs is None else [p.double() for p in x.runs], whole=True
    )
    made.beside, made.sides = x.open, ((x.v & ~x.open).double(), (x.v | x.open).double())
    return made


def rounded(v: torch.Tensor, *operands: Number) -> Error:
    """Where an operation rounds: 1 everywhere or, for whole operands, where the result exceeds the whole numbers of
    fp32."""
    return v.abs() > WHOLE if all(x.whole for x in operands) else 1.0


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """|a - b| in fp64. The distance of equal values is 0, also for infinities, whose difference is NaN."""
    return torch.where(a == b, 0.0, (a.double() - b.double()).abs())


def half_step(size: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Half the distance between neighbours of `dtype` at magnitudes of up to `size`. Zeros and infinities are stored
    exactly."""
    return torch.where((size == 0) | size.isinf(), 0.0, UNIT[dtype] * size.clamp(min=SMALLEST[dtype]))


def in_eight_bits(v: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The nearest number of an 8-bit format. Beyond the format's range, torch's own conversion decides."""
    bits, least = EIGHT_BITS[dtype]
    exponent = torch.frexp(v)[1].double() - 1
    unit = torch.exp2(exponent.clamp(min=least) - (bits - 1))
    near = torch.where(v.isfinite(), (v / unit).round() * unit, v)
    return torch.where(near.abs() < torch.finfo(dtype).max, near, v.float().to(dtype).double())


def is_exact(x: Number) -> torch.Tensor:
    """Mask of the elements that every honest implementation computes exactly."""
    return torch.ones_like(x.v, dtype=torch.bool) if x.b is None else x.b == 0


def add_bounds(*bounds: Bound) -> Bound:
    total: Bound = None
    for bound in bounds:
        if bound is not None:
            total = bound if total is None else total + bound
    return total


class Context:
    """The settings of an evaluation (runs, seed, device), and the properties of the current operation."""

    def __init__(self, device: Any, runs: int, seed: int, recurrent: bool = False) -> None:
        self.device, self.count = device, runs
        self.gates = 4 if recurrent else 1  # factor of the absolute error of a sigmoid or a tanh
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)
        self.dtype = torch.float32  # declared type of the current operation
        self.sides: open_sides.Sides | None = None  # of open decisions (sides.py)
        self.narrow: torch.dtype | None = None  # a 16-bit format to which its result may be rounded
        self.literal = False  # a difference of exact numbers is computed as it is written (short chains)
        self.name = ""  # of the operation
        self.fixed = False  # its result depends on sizes alone
        self.raised = False  # its result is the exponent of an exponential
        self.listed = False  # the graph has a list of rows that may be missing
        self.wanted: set[int] = set()  # indices of the results that the graph uses, if there are several
        # its first operand as the task's own tensor: shape, strides, offset
        self.laid: torch.Tensor | None = None

    def noise(self, like: torch.Tensor) -> torch.Tensor:
        """Uniform in [-1, 1], independent for each element."""
        return pieces.noise(like.shape, self.generator)

    def disturbed(self, p: torch.Tensor, amplitude: Error) -> torch.Tensor:
        """p with an independent error of up to `amplitude` in each element."""
        return pieces.disturbed(p, p.shape, amplitude, self.generator)

    def tabled(self, tensor: torch.Tensor) -> Number:
        """Wraps a table that every constructor computes for itself (cosines of angles). Two libraries' functions differ
        by two units in the last place. Whole numbers, single numbers and 16-bit values are exact."""
        x = exact(tensor)
        if tensor.dtype != torch.float32 or tensor.numel() < 2:
            return x
        own = torch.where(x.v.isfinite() & (x.v != x.v.round()), TABLED * U32 * x.v.abs(), 0.0)
        if not bool(own.any()):
            return x
        return Number(x.v, None, own, [self.disturbed(x.v, own) for _ in range(self.count)] or None)

    def scalar(self, c: Any) -> Number:
        """Wraps a Python number of the graph. Kernels hold it in fp32."""
        v = torch.as_tensor(c, dtype=torch.float64 if isinstance(c, float) else None, device=self.device)
        if not isinstance(c, float):
            return Number(v)
        is_held = bool(v.float().double() == v) or not math.isfinite(c)
        return Number(v, b=None if is_held else v.abs() * U32, whole=c.is_integer())

    def number(self, x: Operand) -> Number:
        return x if isinstance(x, Number) else self.scalar(x)

    def out(
        self,
        v: torch.Tensor,
        propagated: Propagated,
        local: Local,
        runs: OfRun | None = None,
        typical: Local | None = None,
    ) -> Number:
        """The result of an operation.

        v           in fp64
        propagated  level -> bound on the effect of the operands' errors, or None; level 0 is r, level 1 is b
        local       unit -> bound on the operation's own error, a tensor or 0
        runs        i -> the value for the i-th run's operands; None where no operand was perturbed
        typical     unit -> amplitude of the injected error, if it is less than `local`: for sums
        """
        unit = unit_of(self.dtype)
        endless = bool(v.isinf().any())

        def of_numbers(e: Error) -> Any:
            return torch.where(v.isinf(), 0.0, e) if endless and isinstance(e, torch.Tensor) else zero_free(e)

        r = add_bounds(propagated(0), of_numbers(local(U64)))
        r = None if r is None else r * OUTWARD
        own: Any = of_numbers(local(unit))  # no operation rounds an infinity: a mask's -inf stays exact
        b: Any = add_bounds(propagated(1), own)
        # A kernel may flush a result below the smallest normal number to zero.
        if own is not None:
            least = SMALLEST.get(self.dtype, 0.0)
            kept = (b == 0) & ((v == 0) | (v.abs() >= least))
            b = torch.where(kept, 0.0, b + least) if isinstance(b, torch.Tensor) else b + least
        amplitude = own if typical is None else of_numbers(typical(unit))
        b, amplitude = self.stored(v, b, amplitude)
        perturbed = self.perturb(v, runs, amplitude)
        return Number(v, r, b, perturbed)

    def stored(self, v: torch.Tensor, b: Bound, amplitude: Bound) -> tuple[Bound, Bound]:
        """Adds the rounding of a narrow storage format to b and to the amplitude. Beyond the format's range, b is
        infinite."""
        rounding = UNIT.get(self.dtype, 0.0)
        if rounding > U32:
            # The format represents this number, and every honest implementation computes it exactly.
            held = v.to(self.dtype).double() == v
            own = half_step(v.abs(), self.dtype)
            if v.is_floating_point():
                own = torch.where(held if b is None else held & (b == 0), 0.0, own)
            b = own if b is None else torch.where(b == 0, own, b + half_step(v.abs() + b, self.dtype))
            amplitude = own if amplitude is None else amplitude + own
        largest = LARGEST.get(self.dtype)
        if largest is not None and v.numel():
            beyond = v.abs() > largest
            if bool(beyond.any()):
                b = torch.where(beyond & v.isfinite(), math.inf, torch.zeros_like(v) if b is None else b)
        return b, amplitude

    def permitted(self, x: Number, dtype: torch.dtype) -> Number:
        """x with the permission to round every element to a narrower format. The format's subnormal numbers have an
        absolute error, and 0 has none."""
        own = half_step(x.v.abs(), dtype)
        b = own if x.b is None else x.b + own + UNIT[dtype] * x.b
        return Number(x.v, x.r, b, [self.disturbed(x.run(i), own) for i in range(self.count)] or None)

    def perturb(self, v: torch.Tensor, runs: OfRun | None, amplitude: Bound) -> Runs:
        if runs is None and amplitude is None:
            return None
        if self.count and v.numel() <= (TOGETHER if v.device.type == "cpu" else ON_A_GPU):
            return list(self.together(v, runs, amplitude).unbind(0))
        made = []
        for i in range(self.count):
            p = v if runs is None else runs(i)
            p = p if amplitude is None else pieces.disturbed(p, v.shape, amplitude, self.generator)
            made.append(self.in_range(p, i % 2 == 1))
        return made

    def together(self, v: torch.Tensor, runs: OfRun | None, amplitude: Bound) -> torch.Tensor:
        """Computes all runs of a small tensor as one tensor, to save calls. On a host the bits are the same."""
        p = v if runs is None else torch.stack([runs(i) for i in range(self.count)])
        if amplitude is not None:
            p = p + self.noise(v.expand(self.count, *v.shape)) * amplitude
        odd = torch.arange(self.count, device=v.device) % 2 == 1
        return self.in_range(p, odd.reshape(-1, *[1] * v.dim()))

    def in_range(self, p: torch.Tensor, flushed: torch.Tensor | bool) -> torch.Tensor:
        """Limits p to the declared format: infinite beyond its range. Where `flushed`, in every second run, subnormal
        numbers become 0. The other runs round them to a subnormal number. So the runs show results that vanish and
        are divided by afterwards."""
        largest, smallest = LARGEST.get(self.dtype), SMALLEST.get(self.dtype)
        if largest is None or smallest is None or not p.numel():
            return p
        beyond, below = pieces.leaves(p, smallest, largest)
        if beyond:
            p = torch.where(p.abs() > largest, p.sign() * math.inf, p)
        if below:
            small = (p.abs() < smallest) & (p != 0)
            kept = (p * SUBNORMAL / smallest).round() * (smallest / SUBNORMAL)
            if isinstance(flushed, torch.Tensor):
                kept = torch.where(flushed, 0.0, kept)
            p = torch.where(small, 0.0 if flushed is True else kept, p)
        return p


def zero_free(bound: Error) -> Any:
    return None if isinstance(bound, (int, float)) and bound == 0 else bound


def perturbed(*operands: Any) -> bool:
    """True if any run of the operands differs from their values."""
    return any(isinstance(x, Number) and x.runs is not None for x in operands)


def moved(f: Function, *operands: Any) -> OfRun | None:
    """Runs of f(operands), or None."""
    if not perturbed(*operands):
        return None
    return lambda i: f(*[x.run(i) if isinstance(x, Number) else x for x in operands])


def carried(f: Function, x: Number) -> Propagated:
    """The effect of the errors of x, where f turns bounds on x into bounds on the result."""

    def propagated(level: int) -> Bound:
        e = x.error(level)
        return None if e is None else f(e)

    return propagated


def sides_of(f: Function, x: Number) -> Sides | None:
    """The least and the greatest values after a monotone f."""
    return None if x.sides is None else (f(x.sides[0]), f(x.sides[1]))


def lost(cx: Context, x: Number, where: Bound) -> Number:
    """x with the elements `where` marked as lost: they may be anything, since an honest implementation may have chosen
    others."""
    if where is None or not bool(where.any()):
        return x
    where = where.expand(x.v.shape)
    if not x.is_float:
        return Number(x.v, open=where if x.open is None else x.open | where)

    def off(e: Bound) -> torch.Tensor:
        return (torch.zeros_like(x.v) if e is None else e).masked_fill(where, math.inf)

    return Number(
        x.v, off(x.r), off(x.b), [x.run(i).masked_fill(where, math.nan) for i in range(cx.count)], open=x.open
    )


def same(f: Function, x: Any) -> Number:
    """Applies an operation that only moves elements to values, bounds and runs alike."""
    if not isinstance(x, Number):
        raise Unsupported("an element-moving operation on a Python number")

    def lift(t: Bound) -> Bound:
        return None if t is None else f(t)

    made = Number(
        f(x.v),
        lift(x.r),
        lift(x.b),
        None if x.runs is None else [f(t) for t in x.runs],
        lift(x.open),
        whole=x.whole,
        there=x.there,
    )
    for name in ("exponents", "taken", "terms"):
        size = getattr(x, name)
        setattr(made, name, None if size is None else f(size.expand(x.v.shape)))
    made.count, made.parts, made.nested = x.count, x.parts, x.nested
    made.sides = sides_of(f, x)
    made.beside = None if x.beside is None else f(x.beside.expand(x.v.shape))
    made.signs = None if x.signs is None else x.signs.moved(f)
    return made
