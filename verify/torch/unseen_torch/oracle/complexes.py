"""Rules of complex numbers. A complex tensor is a pair of `Number`s, so that every bound holds for each part by itself.

A rule here is composed of rules of real numbers, as a kernel may compute it. A kernel may also use another form:
three products instead of four, or a magnitude with or without scaling. The bound of the real form covers these forms
as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .bounds import Bound, Function
from .choices import choose
from .elementwise import R, by_rule, or_zero
from .number import Context, Number, Unsupported, moved, same
from .shape import MOVES, joined, operator

COMPLEX: dict[str, Callable[..., Any]] = {}
PART = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}


def complex_rule(*names: str) -> Callable[[R], R]:
    def keep(function: R) -> R:
        for name in names:
            COMPLEX["aten." + (name if "." in name else name + ".default")] = function
        return function

    return keep


class Complex:
    """A complex tensor: the real part `re` and the imaginary part `im` have the same shape."""

    __slots__ = ("re", "im")

    def __init__(self, re: Number, im: Number) -> None:
        self.re, self.im = re, im

    @property
    def parts(self) -> tuple[Number, Number]:
        return self.re, self.im

    def value(self, get: Function) -> torch.Tensor:
        """Combines one tensor of each part, get(part), to a complex tensor."""
        return torch.complex(get(self.re).double(), get(self.im).double())


def is_complex(x: Any) -> bool:
    return isinstance(x, (Complex, complex)) or (isinstance(x, torch.Tensor) and x.is_complex())


def concerns(cx: Context, args: Sequence[Any], named: Any) -> bool:
    """True if the current operation has a complex operand or a complex result."""
    return cx.dtype in PART or any(is_complex(x) for x in leaves((args, named)))


def leaves(tree: Any) -> list[Any]:
    return tree_leaves(tree, is_leaf=lambda x: isinstance(x, Complex))


def exact_complex(cx: Context, tensor: torch.Tensor) -> Complex:
    """Wraps a complex tensor of the task, or a complex constant of its code, without error."""
    parts = torch.view_as_real(tensor.resolve_conj()).double()
    return Complex(Number(parts[..., 0]), Number(parts[..., 1]))


def given(cx: Context, tensor: torch.Tensor, known: Callable[[torch.Tensor], Number]) -> Number | Complex:
    """Wraps a tensor of the task. `known` makes a Number of a real tensor, or of each part of a complex one."""
    if not tensor.is_complex():
        return known(tensor)
    parts = torch.view_as_real(tensor.resolve_conj())
    return Complex(known(parts[..., 0]), known(parts[..., 1]))


def as_complex(cx: Context, x: Any) -> Complex:
    """Converts a real or complex operand to a pair."""
    if isinstance(x, Complex):
        return x
    if isinstance(x, torch.Tensor):
        return exact_complex(cx, x)
    if isinstance(x, complex):
        return Complex(cx.scalar(x.real), cx.scalar(x.imag))
    real = cx.number(x)
    real = real if real.is_float else Number(real.v.double(), whole=True)
    return Complex(real, Number(torch.zeros_like(real.v)))


def call(cx: Context, name: str, args: Sequence[Any], named: Any) -> Any:
    """Evaluates the operation by its rule for complex numbers."""
    function = COMPLEX.get(name) or COMPLEX.get(name.replace("_.", ".", 1))
    if function is None:
        raise Unsupported(f"no rule for {name} of complex numbers")
    cx.dtype = PART.get(cx.dtype, cx.dtype)
    return function(cx, *args, **named)


def real(cx: Context, name: str, *args: Any, **named: Any) -> Number:
    """Evaluates the rule of real numbers of the operation `name`."""
    made: Number = by_rule(cx, name, *args, **named)
    return made


def each(cx: Context, function: Callable[[Number], Number], x: Any) -> Complex:
    return Complex(*[function(part) for part in as_complex(cx, x).parts])


@complex_rule(*MOVES, "clone", "alias", "detach", "resolve_conj", "resolve_neg", "view_copy", "alias_copy")
def move(cx: Context, x: Any, *args: Any, **named: Any) -> Any:
    if cx.name in ("aten.resolve_conj.default", "aten.resolve_neg.default"):
        return x
    op = operator(cx.name)
    op = torch.reshape if cx.name in ("aten.view.default", "aten._unsafe_view.default") else op
    named.pop("memory_format", None)
    made = next(op(part.v, *args, **named) for part in x.parts[:1])
    if isinstance(made, torch.Tensor):
        return each(cx, lambda part: same(lambda t: op(t, *args, **named), part), x)
    return [
        each(cx, lambda part: same(lambda t: op(t, *args, **named)[k], part), x) for k in range(len(made))
    ]


@complex_rule(
    "gather",
    "index_select",
    "index.Tensor",
    "_unsafe_index.Tensor",
    "constant_pad_nd",
    "sum",
    "sum.dim_IntList",
    "mean",
    "mean.dim",
    "cumsum",
    "index_add",
    "scatter_add",
    "slice_scatter",
    "select_scatter",
)
def by_parts(cx: Context, *args: Any, **named: Any) -> Complex:
    """Applies a linear operation with real coefficients to each part separately."""
    named.pop("dtype", None)
    name = cx.name.removeprefix("aten.")
    operands = [x for x in leaves((args, named)) if isinstance(x, (Complex, complex))]
    pairs = {id(x): as_complex(cx, x) for x in operands}

    def of(part: int) -> Any:
        def take(x: Any) -> Any:
            return pairs[id(x)].parts[part] if id(x) in pairs else x

        def lift(tree: Any) -> Any:
            return tree_map(take, tree, is_leaf=lambda x: isinstance(x, Complex))

        return real(cx, name, *lift(args), **lift(named))

    return Complex(of(0), of(1))


@complex_rule("cat", "stack")
def join(cx: Context, operands: Sequence[Any], dim: int = 0) -> Complex:
    f = torch.stack if "stack" in cx.name else torch.cat
    pairs = [as_complex(cx, x) for x in operands]
    return Complex(*[joined(cx, [p.parts[k] for p in pairs], lambda ts: f(ts, dim)) for k in (0, 1)])


@complex_rule("view_as_real", "view_as_real_copy")
def as_real(cx: Context, x: Complex) -> Number:
    made: Number = joined(cx, list(x.parts), lambda ts: torch.stack(ts, -1))
    return made


@complex_rule("view_as_complex", "view_as_complex_copy")
def of_pairs(cx: Context, x: Number) -> Complex:
    return Complex(*[same(lambda t, k=k: t[..., k], x) for k in (0, 1)])


@complex_rule("complex")
def compose(cx: Context, re: Number, im: Number) -> Complex:
    shape = torch.broadcast_shapes(re.v.shape, im.v.shape)
    return Complex(*[same(lambda t: t.expand(shape), part) for part in (re, im)])


@complex_rule("polar")
def polar(cx: Context, size: Number, angle: Number) -> Complex:
    return Complex(
        *[real(cx, "mul.Tensor", size, real(cx, name, angle)) for name in ("cos.default", "sin.default")]
    )


@complex_rule("real")
def real_part(cx: Context, x: Complex) -> Number:
    return x.re


@complex_rule("imag")
def imaginary_part(cx: Context, x: Complex) -> Number:
    return x.im


@complex_rule("_to_copy", "to.dtype", "copy")
def cast(cx: Context, x: Any, *args: Any, **named: Any) -> Complex:
    if "copy" in cx.name and cx.name != "aten._to_copy.default":
        return as_complex(cx, args[0])
    return each(
        cx, lambda part: cx.out(part.v, part.error, lambda u: 0, None if part.runs is None else part.run), x
    )


@complex_rule("_conj", "_conj_physical", "conj_physical", "conj")
def conjugate(cx: Context, x: Complex) -> Complex:
    return Complex(x.re, real(cx, "neg.default", x.im))


@complex_rule("neg", "_neg_view")
def negative(cx: Context, x: Any) -> Complex:
    return each(cx, lambda part: real(cx, "neg.default", part), x)


@complex_rule("add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar", "rsub.Scalar", "rsub.Tensor")
def add(cx: Context, a: Any, b: Any, alpha: Any = 1) -> Complex:
    if isinstance(alpha, complex):
        raise Unsupported(f"no rule for {cx.name} with a complex factor")
    a, b = as_complex(cx, a), as_complex(cx, b)
    name = cx.name.split(".")[1] + ".Tensor"
    return Complex(*[real(cx, name, p, q, alpha=alpha) for p, q in zip(a.parts, b.parts)])


def product_of_sums(cx: Context, a: Number, b: Number, c: Number, d: Number, sign: int) -> Number:
    """a b + sign c d. The products may be fused into the sum."""
    name = "add.Tensor" if sign > 0 else "sub.Tensor"
    return real(cx, name, real(cx, "mul.Tensor", a, b), real(cx, "mul.Tensor", c, d))


@complex_rule("mul.Tensor", "mul.Scalar")
def multiply(cx: Context, a: Any, b: Any) -> Complex:
    """A complex product. The bound also covers the form with three products, such as (a + b) c. It errs at the size of
    the sum of both parts."""
    if not is_complex(a) or not is_complex(b):
        z, factor = (a, b) if is_complex(a) else (b, a)
        return each(cx, lambda part: real(cx, "mul.Tensor", part, factor), z)
    a, b = as_complex(cx, a), as_complex(cx, b)
    return Complex(
        product_of_sums(cx, a.re, b.re, a.im, b.im, -1), product_of_sums(cx, a.re, b.im, a.im, b.re, 1)
    )


@complex_rule("div.Tensor", "div.Scalar")
def divide(cx: Context, a: Any, b: Any) -> Complex:
    """a conj(b) / |b|^2, with or without scaling."""
    if not is_complex(b):
        return each(cx, lambda part: real(cx, "div.Tensor", part, b), a)
    a, b = as_complex(cx, a), as_complex(cx, b)
    square = product_of_sums(cx, b.re, b.re, b.im, b.im, 1)
    over = multiply(cx, a, conjugate(cx, b))
    return each(cx, lambda part: real(cx, "div.Tensor", part, square), over)


@complex_rule("reciprocal")
def reciprocal(cx: Context, x: Any) -> Complex:
    return divide(cx, 1.0, x)


@complex_rule("square")
def square(cx: Context, x: Any) -> Complex:
    return multiply(cx, x, x)


@complex_rule("pow.Tensor_Scalar")
def power(cx: Context, x: Complex, n: float) -> Complex:
    if n == int(n) and 1 <= n <= 8:
        made = x
        for _ in range(int(n) - 1):
            made = multiply(cx, made, x)
        return made
    raise Unsupported(f"no rule for the power {n} of complex numbers")


@complex_rule("abs")
def magnitude(cx: Context, x: Complex) -> Number:
    """sqrt(re^2 + im^2). It moves by at most the operands' errors."""
    v = torch.hypot(x.re.v, x.im.v)

    def propagated(level: int) -> Bound:
        a, b = x.re.error(level), x.im.error(level)
        return None if a is None and b is None else torch.hypot(or_zero(a, v), or_zero(b, v))

    return cx.out(v, propagated, lambda u: 4 * u * v, moved(torch.hypot, x.re, x.im))


@complex_rule("angle")
def angle(cx: Context, x: Complex) -> Number:
    return real(cx, "atan2.default", x.im, x.re)


@complex_rule("exp")
def exponential(cx: Context, x: Complex) -> Complex:
    size = real(cx, "exp.default", x.re)
    return polar(cx, size, x.im)


@complex_rule("mm", "bmm", "mv", "dot")
def product(cx: Context, a: Any, b: Any) -> Complex:
    """A product by four real products or by three. Either form adds two sums of the same length for each part."""
    a, b = as_complex(cx, a), as_complex(cx, b)
    name = cx.name.removeprefix("aten.")

    def of(p: Number, q: Number) -> Number:
        return real(cx, name, p, q)

    return Complex(
        real(cx, "sub.Tensor", of(a.re, b.re), of(a.im, b.im)),
        real(cx, "add.Tensor", of(a.re, b.im), of(a.im, b.re)),
    )


@complex_rule("where.self", "masked_fill.Scalar")
def where(cx: Context, first: Any, second: Any, third: Any) -> Complex:
    condition, a, b = (first, second, third) if "where" in cx.name else (second, third, first)
    a, b = as_complex(cx, a), as_complex(cx, b)
    return Complex(*[choose(cx, condition, p, q) for p, q in zip(a.parts, b.parts)])


@complex_rule(
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "full",
    "full_like",
    "scalar_tensor",
    "new_zeros",
    "new_ones",
    "new_full",
)
def constant(cx: Context, *args: Any, **named: Any) -> Complex:
    plain = [
        torch.empty(x.re.v.shape, dtype=torch.complex128)
        if isinstance(x, Complex)
        else x.v
        if isinstance(x, Number)
        else x
        for x in args
    ]
    named.update(dtype=torch.complex128, device=cx.device)
    named.pop("pin_memory", None)
    return exact_complex(cx, operator(cx.name)(*plain, **named))
