"""Lowers operations of ATen to the primitives of ir.py, by their mathematical definition and regardless of
rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .ir import Lowered, Ref, lower
from .lower_layers import product
from .number import Unsupported
from .resized import arguments, weights_of
from .sampling import NEAREST_NAMES, nearest_dimensions
from .shape import MOVES, operator

F = torch.nn.functional
LEAST = 2.0**-1022  # the least normal number of fp64


def move(low: Lowered, x: Any, *args: Any, **named: Any) -> Any:
    op = operator(low.name)
    if op in (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default):
        op = torch.reshape
    if not isinstance(x, Ref):
        return op(x, *args, **named)
    made = op(torch.zeros(x.shape), *args, **named)
    if isinstance(made, torch.Tensor):
        return low.moved(x, lambda t: op(t, *args, **named))
    return [low.moved(x, lambda t, k=k: op(t, *args, **named)[k]) for k in range(len(made))]


for name in MOVES:
    lower(name)(move)


@lower(*NEAREST_NAMES)
def nearest(low: Lowered, x: Ref, size: Sequence[int], *scales: Any) -> Ref:
    for dim, least, _ in nearest_dimensions(low.name, list(x.shape), size, scales):
        x = low.moved(x, lambda t, dim=dim, least=least: t.index_select(dim, least))
    return x


@lower("upsample_bicubic2d", "upsample_bicubic2d.vec")
def bicubic(low: Lowered, x: Ref, size: Any, align: bool, *scales: Any) -> Ref:
    rows, columns = weights_of(x.shape, *arguments(x.shape, size, scales), align, "cpu")
    for weights in (columns, rows):  # along the last dimension, then with the last two exchanged
        width = x.shape[-1]
        flat = low.moved(x, lambda t, width=width: t.reshape(1, -1, width))
        made = product(low, flat, low.input(weights.value.t().contiguous()[None]))
        shape = (*x.shape[:-1], weights.value.shape[0])
        x = low.moved(made, lambda t, shape=shape: t.reshape(shape).transpose(-1, -2))
    return x


@lower("cat", "stack")
def join(low: Lowered, operands: Sequence[Ref], dim: int = 0) -> Ref:
    f = torch.stack if "stack" in low.name else torch.cat
    operands = [o for o in operands if o.count]
    starts = [0]
    for o in operands:
        starts.append(starts[-1] + o.count)
    index = f([torch.arange(s, s + o.count).reshape(o.shape) for s, o in zip(starts, operands)], dim)
    return low.emit("join", index.shape, at=low.store(index), of=[o.node for o in operands], starts=starts)


@lower("constant_pad_nd")
def pad(low: Lowered, x: Ref, widths: Sequence[int], value: float = 0.0) -> Ref:
    return low.moved(x, lambda t: F.pad(t, widths), float(value))


@lower("add.Tensor", "add.Scalar")
def add(low: Lowered, a: Any, b: Any, alpha: float = 1) -> Ref:
    return low.add(as_ref(low, a), as_ref(low, b) if alpha == 1 else low.mul(as_ref(low, b), alpha))


@lower("sub.Tensor", "sub.Scalar")
def sub(low: Lowered, a: Any, b: Any, alpha: float = 1) -> Ref:
    return low.sub(as_ref(low, a), as_ref(low, b) if alpha == 1 else low.mul(as_ref(low, b), alpha))


@lower("rsub.Scalar", "rsub.Tensor")
def rsub(low: Lowered, a: Any, b: Any, alpha: float = 1) -> Ref:
    return low.sub(as_ref(low, b), a if alpha == 1 else low.mul(a, alpha))


def as_ref(low: Lowered, x: Any) -> Any:
    """Converts whole numbers and booleans in arithmetic (masks, targets) to numbers."""
    return low.input(x) if isinstance(x, torch.Tensor) else x


@lower("mul.Tensor", "mul.Scalar")
def mul(low: Lowered, a: Any, b: Any) -> Ref:
    return low.mul(as_ref(low, a), as_ref(low, b))


@lower("div.Tensor", "div.Scalar")
def div(low: Lowered, a: Any, b: Any) -> Ref:
    return low.div(as_ref(low, a), as_ref(low, b))


@lower("neg")
def neg(low: Lowered, x: Ref) -> Ref:
    return low.sub(0.0, x)


@lower("abs", "exp", "log", "sqrt", "tanh", "erf", "sin", "cos")
def unary(low: Lowered, x: Ref) -> Ref:
    return low.unary(low.name.split(".")[1], x)


@lower("rsqrt")
def rsqrt(low: Lowered, x: Ref) -> Ref:
    return low.div(1.0, low.unary("sqrt", x))


@lower("reciprocal")
def reciprocal(low: Lowered, x: Ref) -> Ref:
    return low.div(1.0, x)


@lower("pow.Tensor_Scalar")
def power(low: Lowered, x: Ref, n: float) -> Ref:
    if n == int(n) and 1 <= n <= 8:
        made = x
        for _ in range(int(n) - 1):
            made = low.mul(made, x)
        return made
    return low.unary("exp", low.mul(low.unary("log", x), n))


@lower("maximum", "minimum")
def extreme(low: Lowered, a: Any, b: Any) -> Ref:
    return low.binary("max" if "maximum" in low.name else "min", a, b)


@lower("relu")
def relu(low: Lowered, x: Ref) -> Ref:
    return low.binary("max", x, 0.0)


@lower("clamp", "clamp_min", "clamp_max", "hardtanh")
def clamp(low: Lowered, x: Ref, least: float | None = None, most: float | None = None, **named: Any) -> Ref:
    if "hardtanh" in low.name:
        least, most = (-1.0 if least is None else least), (1.0 if most is None else most)
    if "clamp_max" in low.name:
        least, most = None, least
    least, most = named.get("min", least), named.get("max", most)
    x = x if least is None else low.binary("max", x, float(least))
    return x if most is None else low.binary("min", x, float(most))


@lower("leaky_relu")
def leaky_relu(low: Lowered, x: Ref, slope: float = 0.01) -> Ref:
    return low.add(low.binary("max", x, 0.0), low.mul(low.binary("min", x, 0.0), slope))


@lower("elu")
def elu(low: Lowered, x: Ref, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Ref:
    below = low.sub(low.unary("exp", low.mul(low.binary("min", x, 0.0), input_scale)), 1.0)
    return low.mul(low.add(low.binary("max", x, 0.0), low.mul(below, alpha)), scale)


@lower("sigmoid")
def sigmoid(low: Lowered, x: Ref) -> Ref:
    return low.div(1.0, low.add(low.unary("exp", low.sub(0.0, x)), 1.0))


@lower("silu")
def silu(low: Lowered, x: Ref) -> Ref:
    return low.mul(x, sigmoid(low, x))


@lower("softplus")
def softplus(low: Lowered, x: Ref, beta: float = 1.0, threshold: float = 20.0) -> Ref:
    if threshold != 20.0:
        raise Unsupported("softplus with another threshold")
    return low.div(low.unary("log", low.add(low.unary("exp", low.mul(x, beta)), 1.0)), beta)


@lower("mish")
def mish(low: Lowered, x: Ref) -> Ref:
    return low.mul(x, low.unary("tanh", softplus(low, x)))


@lower("gelu")
def gelu(low: Lowered, x: Ref, approximate: str = "none") -> Ref:
    if approximate == "tanh":
        cube = low.mul(low.mul(x, x), x)
        inner = low.mul(low.add(x, low.mul(cube, 0.044715)), math.sqrt(2 / math.pi))
        return low.mul(low.mul(x, 0.5), low.add(low.unary("tanh", inner), 1.0))
    inner = low.div(x, low.unary("sqrt", low.constant(2.0)))
    return low.mul(low.mul(x, 0.5), low.add(low.unary("erf", inner), 1.0))


@lower("hardsigmoid")
def hardsigmoid(low: Lowered, x: Ref) -> Ref:
    return low.div(low.binary("min", low.binary("max", low.add(x, 3.0), 0.0), 6.0), 6.0)


@lower("hardswish")
def hardswish(low: Lowered, x: Ref) -> Ref:
    return low.mul(x, hardsigmoid(low, x))


@lower("xlogy.Tensor")
def xlogy(low: Lowered, x: Ref, y: Ref) -> Ref:
    # 0 log 0 is 0. A finite answer has no other logarithm of a number at or below 0.
    return low.mul(x, low.unary("log", low.binary("max", y, LEAST)))


@lower("sum.dim_IntList", "sum", "mean.dim", "mean")
def total(low: Lowered, x: Ref, dims: Any = None, keep: bool = False, **_: Any) -> Ref:
    dims = list(range(len(x.shape))) if dims is None or dims == [] else dims
    return (low.mean if "mean" in low.name else lambda *a: low.reduced("sum", *a))(x, dims, keep)


@lower("amax", "amin", "max", "min", "max.dim", "min.dim")
def extreme_of(low: Lowered, x: Ref, dim: Any = None, keep: bool = False) -> Any:
    dims = list(range(len(x.shape))) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    made = low.reduced("most" if "max" in low.name else "least", x, dims, keep)
    return (made, None) if low.name.endswith(".dim") else made


@lower("cumsum", "cumprod")
def scan(low: Lowered, x: Ref, dim: int, **_: Any) -> Ref:
    rows = low.moved(x, lambda t: t.movedim(dim, -1))
    made = low.emit(low.name.split(".")[1], rows.shape, a=rows.node, terms=rows.shape[-1])
    return low.moved(made, lambda t: t.movedim(-1, dim))


@lower("zeros_like", "zeros", "ones", "full", "ones_like", "scalar_tensor", "empty.memory_format")
def factory(low: Lowered, *args: Any, **named: Any) -> Ref:
    named.pop("device", None)
    plain = [torch.zeros(a.shape) if isinstance(a, Ref) else a for a in args]
    made = operator(low.name)(*plain, **{k: v for k, v in named.items() if k in ("dtype", "fill_value")})
    return low.input(torch.zeros_like(made) if "empty" in low.name else made)


@lower("copy_")
def copy(low: Lowered, target: Any, source: Any, *_: Any) -> Any:
    return source


@lower("_to_copy")
def cast(low: Lowered, x: Any, *_: Any, **__: Any) -> Any:
    return as_ref(low, x)
