"""What is known of one tensor of the graph, and how one operation's errors join those of its operands.

A `Number` is a tensor in fp64 together with two bounds and a few perturbed copies:

    v     the value, evaluated in fp64
    r     |v - exact| <= r, rigorous: every operation errs by its own rounding at u = 2^-53
    b     an honest implementation in the declared arithmetic deviates by at most b: the same rule at its own u
    runs  the same graph with independent errors injected after every operation: how errors really add up

r and b are None where they are zero everywhere. A comparison has `open`: where an honest implementation may decide
either way. Whole numbers and booleans have neither.
"""
import math

import torch

U64 = 2.0 ** -53
U32 = 2.0 ** -24
UNIT = {torch.float32: U32, torch.float64: U64, torch.bfloat16: 2.0 ** -8, torch.float16: 2.0 ** -11}
LARGEST = {torch.float32: 3.4028234663852886e38, torch.bfloat16: 3.3895313892515355e38, torch.float16: 65504.0}
SMALLEST = {torch.float32: 2.0 ** -126, torch.bfloat16: 2.0 ** -126, torch.float16: 2.0 ** -14}
EIGHT_BITS = {torch.float8_e4m3fn: (4, -6), torch.float8_e5m2: (3, -14)}  # significant bits, exponent of the smallest normal number
WHOLE = 2.0 ** 24  # up to here fp32 has all whole numbers
SUBNORMAL = 2.0 ** 23  # subnormal numbers below the smallest normal one, of fp32
TOGETHER, ON_A_GPU = 1 << 14, 1 << 18  # runs of up to so many elements each are computed as one tensor
TABLED = 4  # units of what a constructor computes that two of them may differ by
FEW = 16  # one element in so many may be anything, or lie beside a jump
CALIBRATED = 8.0  # times the spread of the runs: doc/results/oracle.md
# Radii are computed in fp64 themselves, from nonnegative terms: this much covers their own rounding.
OUTWARD = 1 + 2.0 ** -20


class Unsupported(Exception):
    """The graph holds something that no rule covers; the text says what."""


# Which of equal values an index may name: PyTorch promises the first one for the greatest and the least, and nothing for what
# sorts, but that no place is named twice.
ANY, FIRST, APART, STABLE = range(4)


class Number:
    __slots__ = ("v", "r", "b", "runs", "open", "names", "whole", "there", "exponents", "taken", "terms", "count", "sides", "beside")

    def __init__(self, v, r=None, b=None, runs=None, open=None, names=None, whole=False, there=False):
        self.v, self.r, self.b, self.runs, self.open = v, r, b, runs, open
        self.whole = whole or not v.is_floating_point()  # whole numbers in any honest arithmetic, whichever they are
        self.sides = None  # of an open index: the least and the greatest that it may be (wholes.py)
        self.beside = None  # of what jumps: the elements that lie beside a jump
        self.names = names  # of indices: (the values they point into, the dimension, FIRST, APART, STABLE or ANY of equal ones)
        self.exponents = self.taken = None  # sizes of what exponentials are taken of (exponents.py)
        self.terms, self.count = None, 1  # of a sum of products: the sum of their magnitudes (None: |v|), and how many they are
        self.there = there  # an open index names the right place, and is not there with everybody (listed.py)

    def run(self, i):
        return self.v if self.runs is None else self.runs[i]

    def size(self):
        """What any sum may reach that an algebraically equal form of it has on the way: the sum of its terms' magnitudes."""
        return self.v.double().abs() if self.terms is None else self.terms

    @property
    def is_float(self):
        return self.v.is_floating_point()

    def error(self, level):
        return self.r if level == 0 else self.b

    @property
    def is_undecided(self):
        """A mask or an index, some of whose elements an honest implementation may decide either way?"""
        return not self.is_float and self.open is not None and bool(self.open.any())


def unit_of(dtype):
    """The unit roundoff of what is computed: sums and functions of narrow formats are formed in fp32."""
    return U64 if dtype == torch.float64 else U32


def exact(v, dtype=None):
    """A tensor of the task or a constant in it, upcast: nothing is wrong with it."""
    return Number(v.double() if v.is_floating_point() else v)


def of_mask(x):
    """0 and 1 to be computed with: what may be decided either way is off by one."""
    if x.v.dtype != torch.bool:
        raise Unsupported("whole numbers, computed with, that an honest implementation may decide either way")
    off = x.open.double()
    made = Number(x.v.double(), off, off, None if x.runs is None else [p.double() for p in x.runs], whole=True)
    made.beside, made.sides = x.open, ((x.v & ~x.open).double(), (x.v | x.open).double())
    return made


def rounded(v, *operands):
    """Where an operation rounds: sums and products of whole numbers are whole, and exact as long as fp32 has them all."""
    return v.abs() > WHOLE if all(x.whole for x in operands) else 1.0


def distance(a, b):
    """|a - b| in fp64. Equal values are 0 apart, infinities too, whose difference is NaN."""
    return torch.where(a == b, 0.0, (a.double() - b.double()).abs())


def half_step(size, dtype):
    """Half the distance between neighbours of `dtype` at magnitudes of up to `size`. Zeros and infinities are stored exactly."""
    return torch.where((size == 0) | size.isinf(), 0.0, UNIT[dtype] * size.clamp(min=SMALLEST[dtype]))


def in_eight_bits(v, dtype):
    """The nearest number of an 8-bit format; beyond the format it is what torch makes of it."""
    bits, least = EIGHT_BITS[dtype]
    exponent = torch.frexp(v)[1].double() - 1
    unit = torch.exp2(exponent.clamp(min=least) - (bits - 1))
    near = torch.where(v.isfinite(), (v / unit).round() * unit, v)
    return torch.where(near.abs() < torch.finfo(dtype).max, near, v.float().to(dtype).double())


SHORT, GRID, BELOW = 2.0 ** 12, 2.0 ** 10, 2.0 ** 12


def is_exact(x):
    """Which elements no honest implementation errs in."""
    return torch.ones_like(x.v, dtype=torch.bool) if x.b is None else x.b == 0


def is_short(v):
    """Numbers of at most 12 significant bits: fp32 has the product of any two."""
    mantissa = torch.frexp(v.double())[0] * SHORT
    return mantissa == mantissa.round()


def is_gridded(v):
    """Multiples of 2^-10 below 2^12: fp32 has the sums of any of them that stay there, in whatever order."""
    scaled = v.double() * GRID
    return (scaled == scaled.round()) & (v.abs() < BELOW)


def is_power(v):
    """Powers of two: to multiply or to divide by one is exact."""
    return torch.frexp(v.double())[0].abs() == 0.5


def add_bounds(*bounds):
    total = None
    for bound in bounds:
        if bound is not None:
            total = bound if total is None else total + bound
    return total


class Context:
    """How the graph is evaluated: so many runs, with this generator, on this device."""

    def __init__(self, device, runs, seed, recurrent=False):
        self.device, self.count = device, runs
        self.gates = 4 if recurrent else 1  # times what else a sigmoid or a tanh may err absolutely
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)
        self.dtype = torch.float32  # of the operation at hand, as declared
        self.narrow = None  # a format of 16 bits that its result may be rounded to, though it is declared wider
        self.fixed = False  # it follows from the sizes alone
        self.raised = False  # its result is the exponent of an exponential
        self.listed = False  # some rows are listed that may be missing
        self.wanted = set()  # which of its results the graph takes, where it has several
        self.laid = None  # its first operand as the task's own tensor: shape, strides, offset

    def noise(self, like):
        """Uniform in [-1, 1], independent for each element."""
        return torch.rand(like.shape, generator=self.generator, dtype=torch.float64, device=like.device) * 2 - 1

    def tabled(self, tensor):
        """What a constructor has computed, and others compute for themselves (cosines of angles): two libraries' functions differ by two
        units in the last place. Whole numbers, single ones and what is stored in 16 bits are as they are."""
        x = exact(tensor)
        if tensor.dtype != torch.float32 or tensor.numel() < 2:
            return x
        own = torch.where(x.v.isfinite() & (x.v != x.v.round()), TABLED * U32 * x.v.abs(), 0.0)
        if not bool(own.any()):
            return x
        return Number(x.v, None, own, [x.v + self.noise(own) * own for _ in range(self.count)] or None)

    def scalar(self, c, like=None):
        """A Python number in the graph. Kernels hold it in fp32."""
        v = torch.as_tensor(c, dtype=torch.float64 if isinstance(c, float) else None, device=self.device)
        if not isinstance(c, float):
            return Number(v)
        single = v.float().double()
        return Number(v, b=None if bool(single == v) or not math.isfinite(c) else v.abs() * U32, whole=c.is_integer())

    def number(self, x):
        return x if isinstance(x, Number) else self.scalar(x)

    def out(self, v, propagated, local, runs=None, typical=None):
        """The result of an operation.

        v           in fp64
        propagated  level -> bound on what the operands' errors do to it, or None; level 0 is r, level 1 is b
        local       unit -> bound on what the operation itself adds, a tensor or 0
        runs        i -> its value for the i-th run's operands; None where no operand was perturbed
        typical     unit -> amplitude of the error injected, where that is less than `local`: of sums
        """
        unit = unit_of(self.dtype)
        endless = bool(v.isinf().any())
        of_numbers = lambda e: torch.where(v.isinf(), 0.0, e) if endless and isinstance(e, torch.Tensor) else zero_free(e)
        r = add_bounds(propagated(0), of_numbers(local(U64)))
        r = None if r is None else r * OUTWARD
        own = of_numbers(local(unit))  # no operation rounds what is infinite: a mask's -inf stays one
        b = add_bounds(propagated(1), own)
        if own is not None:  # a result below the smallest normal number may be flushed to zero
            least = SMALLEST.get(self.dtype, 0.0)
            b = torch.where((b == 0) & ((v == 0) | (v.abs() >= least)), 0.0, b + least) if isinstance(b, torch.Tensor) else b + least
        amplitude = own if typical is None else of_numbers(typical(unit))
        b, amplitude = self.stored(v, b, amplitude)
        perturbed = self.perturb(v, runs, amplitude)
        return Number(v, r, b, perturbed)

    def stored(self, v, b, amplitude):
        """What is stored in a narrow format is rounded once more; beyond the format nothing is known."""
        rounding = UNIT.get(self.dtype, 0.0)
        if rounding > U32:
            held = v.to(self.dtype).double() == v  # the format has this number, and every honest implementation computes it
            own = half_step(v.abs(), self.dtype)
            own = torch.where(held if b is None else held & (b == 0), 0.0, own) if v.is_floating_point() else own
            b = own if b is None else torch.where(b == 0, own, b + half_step(v.abs() + b, self.dtype))
            amplitude = own if amplitude is None else amplitude + own
        largest = LARGEST.get(self.dtype)
        if largest is not None and v.numel():
            beyond = v.abs() > largest
            if bool(beyond.any()):
                b = torch.where(beyond & v.isfinite(), math.inf, torch.zeros_like(v) if b is None else b)
        return b, amplitude

    def permitted(self, x, dtype):
        """x, of which an honest implementation may round every element to a narrower format: its subnormal numbers have an
        absolute error, and 0 has none."""
        own = half_step(x.v.abs(), dtype)
        b = own if x.b is None else x.b + own + UNIT[dtype] * x.b
        return Number(x.v, x.r, b, [x.run(i) + self.noise(own) * own for i in range(self.count)] or None)

    def perturb(self, v, runs, amplitude):
        if runs is None and amplitude is None:
            return None
        if self.count and v.numel() <= (TOGETHER if v.device.type == "cpu" else ON_A_GPU):
            return list(self.together(v, runs, amplitude).unbind(0))
        made = []
        for i in range(self.count):
            p = v if runs is None else runs(i)
            made.append(self.in_range(p if amplitude is None else p + self.noise(v) * amplitude, i % 2 == 1))
        return made

    def together(self, v, runs, amplitude):
        """All runs of few elements as one tensor, where the calls are what takes time: the same numbers, on a host bit for bit."""
        p = v if runs is None else torch.stack([runs(i) for i in range(self.count)])
        if amplitude is not None:
            p = p + self.noise(v.expand(self.count, *v.shape)) * amplitude
        odd = torch.arange(self.count, device=v.device) % 2 == 1
        return self.in_range(p, odd.reshape(-1, *[1] * v.dim()))

    def in_range(self, p, flushed):
        """As the format has it: infinite beyond it, and below its smallest normal number 0 where `flushed`, in every second run (the
        others keep what a subnormal number keeps), so that runs tell of what vanishes and is divided by afterwards."""
        largest, smallest = LARGEST.get(self.dtype), SMALLEST.get(self.dtype)
        if largest is None or not p.numel():
            return p
        size = p.abs()
        if bool((size > largest).any()):
            p = torch.where(size > largest, p.sign() * math.inf, p)
        small = (size < smallest) & (size > 0)
        if bool(small.any()):
            kept = (p * SUBNORMAL / smallest).round() * (smallest / SUBNORMAL)
            p = torch.where(small, torch.where(flushed, 0.0, kept) if isinstance(flushed, torch.Tensor) else 0.0 if flushed else kept, p)
        return p


def zero_free(bound):
    return None if isinstance(bound, (int, float)) and bound == 0 else bound


def perturbed(*operands):
    """Does any run of these differ from their values?"""
    return any(isinstance(x, Number) and x.runs is not None for x in operands)


def moved(f, *operands):
    """Runs of f(operands), or None."""
    if not perturbed(*operands):
        return None
    return lambda i: f(*[x.run(i) if isinstance(x, Number) else x for x in operands])


def lost(cx, x, where):
    """x, of which the elements `where` may be anything, since an honest implementation may have chosen others."""
    if where is None or not bool(where.any()):
        return x
    where = where.expand(x.v.shape)
    if not x.is_float:
        return Number(x.v, open=where if x.open is None else x.open | where)
    off = lambda e: (torch.zeros_like(x.v) if e is None else e).masked_fill(where, math.inf)
    return Number(x.v, off(x.r), off(x.b), [x.run(i).masked_fill(where, math.nan) for i in range(cx.count)], open=x.open)


def same(f, x, zero_fill=True):
    """An operation that only moves elements: of values, bounds and runs alike."""
    if not isinstance(x, Number):
        raise Unsupported("an element-moving operation on a Python number")
    lift = lambda t: None if t is None else f(t)
    made = Number(f(x.v), lift(x.r), lift(x.b), None if x.runs is None else [f(t) for t in x.runs], lift(x.open), whole=x.whole, there=x.there)
    for name in ("exponents", "taken", "terms"):
        size = getattr(x, name)
        setattr(made, name, None if size is None else f(size.expand(x.v.shape)))
    made.count = x.count
    made.sides = None if x.sides is None else tuple(f(t) for t in x.sides)
    made.beside = None if x.beside is None else f(x.beside.expand(x.v.shape))
    return made
