"""Lowers operations of ATen to the primitives of ir.py, by their mathematical definition and regardless of
rounding."""

import math

import torch

from .ir import Ref, lower
from .number import Unsupported
from .resized import arguments, weights_of
from .sampling import NEAREST_NAMES, nearest_dimensions
from .shape import MOVES, operator

F = torch.nn.functional


def move(low, x, *args, **named):
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
def nearest(low, x, size, *scales):
    for dim, least, _ in nearest_dimensions(low.name, list(x.shape), size, scales):
        x = low.moved(x, lambda t, dim=dim, least=least: t.index_select(dim, least))
    return x


@lower("upsample_bicubic2d", "upsample_bicubic2d.vec")
def bicubic(low, x, size, align, *scales):
    size, scales = arguments(x.shape, size, scales)
    rows, columns = weights_of(x.shape, size, align, scales, "cpu")
    for weights in (columns, rows):  # along the last dimension, then with the last two exchanged
        width = x.shape[-1]
        flat = low.moved(x, lambda t, width=width: t.reshape(1, -1, width))
        made = product(low, flat, low.input(weights.value.t().contiguous()[None]))
        shape = (*x.shape[:-1], weights.value.shape[0])
        x = low.moved(made, lambda t, shape=shape: t.reshape(shape).transpose(-1, -2))
    return x


@lower("cat", "stack")
def join(low, operands, dim=0):
    f = torch.stack if "stack" in low.name else torch.cat
    operands = [o for o in operands if o.count]
    starts = [0]
    for o in operands:
        starts.append(starts[-1] + o.count)
    index = f([torch.arange(s, s + o.count).reshape(o.shape) for s, o in zip(starts, operands)], dim)
    return low.emit("join", index.shape, at=low.store(index), of=[o.node for o in operands], starts=starts)


@lower("constant_pad_nd")
def pad(low, x, widths, value=0.0):
    return low.moved(x, lambda t: F.pad(t, widths), float(value))


@lower("add.Tensor", "add.Scalar")
def add(low, a, b, alpha=1):
    return low.add(as_ref(low, a), as_ref(low, b) if alpha == 1 else low.mul(as_ref(low, b), alpha))


@lower("sub.Tensor", "sub.Scalar")
def sub(low, a, b, alpha=1):
    return low.sub(as_ref(low, a), as_ref(low, b) if alpha == 1 else low.mul(as_ref(low, b), alpha))


@lower("rsub.Scalar", "rsub.Tensor")
def rsub(low, a, b, alpha=1):
    return low.sub(as_ref(low, b), a if alpha == 1 else low.mul(a, alpha))


def as_ref(low, x):
    """Converts whole numbers and booleans in arithmetic (masks, targets) to numbers."""
    return low.input(x) if isinstance(x, torch.Tensor) else x


@lower("mul.Tensor", "mul.Scalar")
def mul(low, a, b):
    return low.mul(as_ref(low, a), as_ref(low, b))


@lower("div.Tensor", "div.Scalar")
def div(low, a, b):
    return low.div(as_ref(low, a), as_ref(low, b))


@lower("neg")
def neg(low, x):
    return low.sub(0.0, x)


@lower("abs", "exp", "log", "sqrt", "tanh", "erf", "sin", "cos")
def unary(low, x):
    return low.unary(low.name.split(".")[1], x)


@lower("rsqrt")
def rsqrt(low, x):
    return low.div(1.0, low.unary("sqrt", x))


@lower("reciprocal")
def reciprocal(low, x):
    return low.div(1.0, x)


@lower("pow.Tensor_Scalar")
def power(low, x, n):
    if n == int(n) and 1 <= n <= 8:
        made = x
        for _ in range(int(n) - 1):
            made = low.mul(made, x)
        return made
    return low.unary("exp", low.mul(low.unary("log", x), n))


@lower("maximum", "minimum")
def extreme(low, a, b):
    return low.binary("max" if "maximum" in low.name else "min", a, b)


@lower("relu")
def relu(low, x):
    return low.binary("max", x, 0.0)


@lower("clamp", "clamp_min", "clamp_max", "hardtanh")
def clamp(low, x, least=None, most=None, **named):
    if "hardtanh" in low.name:
        least, most = (-1.0 if least is None else least), (1.0 if most is None else most)
    if "clamp_max" in low.name:
        least, most = None, least
    least, most = named.get("min", least), named.get("max", most)
    x = x if least is None else low.binary("max", x, float(least))
    return x if most is None else low.binary("min", x, float(most))


@lower("leaky_relu")
def leaky_relu(low, x, slope=0.01):
    return low.add(low.binary("max", x, 0.0), low.mul(low.binary("min", x, 0.0), slope))


@lower("elu")
def elu(low, x, alpha=1.0, scale=1.0, input_scale=1.0):
    below = low.sub(low.unary("exp", low.mul(low.binary("min", x, 0.0), input_scale)), 1.0)
    return low.mul(low.add(low.binary("max", x, 0.0), low.mul(below, alpha)), scale)


@lower("sigmoid")
def sigmoid(low, x):
    return low.div(1.0, low.add(low.unary("exp", low.sub(0.0, x)), 1.0))


@lower("silu")
def silu(low, x):
    return low.mul(x, sigmoid(low, x))


@lower("softplus")
def softplus(low, x, beta=1.0, threshold=20.0):
    if threshold != 20.0:
        raise Unsupported("softplus with another threshold")
    return low.div(low.unary("log", low.add(low.unary("exp", low.mul(x, beta)), 1.0)), beta)


@lower("mish")
def mish(low, x):
    return low.mul(x, low.unary("tanh", softplus(low, x)))


@lower("gelu")
def gelu(low, x, approximate="none"):
    if approximate == "tanh":
        cube = low.mul(low.mul(x, x), x)
        inner = low.mul(low.add(x, low.mul(cube, 0.044715)), math.sqrt(2 / math.pi))
        return low.mul(low.mul(x, 0.5), low.add(low.unary("tanh", inner), 1.0))
    inner = low.div(x, low.unary("sqrt", low.constant(2.0)))
    return low.mul(low.mul(x, 0.5), low.add(low.unary("erf", inner), 1.0))


@lower("hardsigmoid")
def hardsigmoid(low, x):
    return low.div(low.binary("min", low.binary("max", low.add(x, 3.0), 0.0), 6.0), 6.0)


@lower("hardswish")
def hardswish(low, x):
    return low.mul(x, hardsigmoid(low, x))


@lower("xlogy.Tensor")
def xlogy(low, x, y):
    return low.mul(x, low.unary("log", y))  # operands of a loss are positive here


@lower("mm", "bmm")
def product(low, a, b):
    batch = a.shape[0] if len(a.shape) == 3 else 1
    shape = (*a.shape[:-1], b.shape[-1])
    return low.emit("mm", shape, a=a.node, b=b.node, sizes=[batch, a.shape[-2], b.shape[-1], a.shape[-1]])


@lower("addmm", "baddbmm")
def addmm(low, bias, a, b, beta=1, alpha=1):
    made = product(low, a, b)
    made = made if alpha == 1 else low.mul(made, alpha)
    return low.add(made, bias if beta == 1 else low.mul(bias, beta))


@lower("convolution")
def convolution(low, x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    zeros = [torch.zeros(t.shape, device="meta") for t in (x, w)]
    shape = torch.ops.aten.convolution(
        *zeros, None, stride, padding, dilation, transposed, output_padding, groups
    ).shape
    rank = len(shape) - 2

    def wide(t):
        return list(t) * (rank if len(t) == 1 else 1)

    made = low.emit(
        "conv",
        shape,
        a=x.node,
        b=w.node,
        x=list(x.shape),
        w=list(w.shape),
        y=list(shape),
        stride=wide(stride),
        padding=wide(padding),
        dilation=wide(dilation),
        transposed=int(transposed),
        groups=groups,
    )
    return made if bias is None else low.add(made, low.moved(bias, lambda t: t.reshape(-1, *[1] * rank)))


@lower("sum.dim_IntList", "sum", "mean.dim", "mean")
def total(low, x, dims=None, keep=False, **_):
    dims = list(range(len(x.shape))) if dims is None or dims == [] else dims
    return (low.mean if "mean" in low.name else lambda *a: low.reduced("sum", *a))(x, dims, keep)


@lower("amax", "amin", "max", "min", "max.dim", "min.dim")
def extreme_of(low, x, dim=None, keep=False):
    dims = list(range(len(x.shape))) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    made = low.reduced("most" if "max" in low.name else "least", x, dims, keep)
    return (made, None) if low.name.endswith(".dim") else made


@lower("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(low, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    if ceil_mode:
        raise Unsupported("single elements of a pooling with ceil_mode are not evaluated")
    taken, dims = windows(low, x, kernel, stride, padding, dilation, -math.inf)
    return low.reduced("most", taken, dims), None


@lower("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(low, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor=None):
    if ceil_mode or divisor is not None or (not count_include_pad and set(wide(padding, 1)) != {0}):
        raise Unsupported("single elements of such a pooling are not evaluated")
    taken, dims = windows(low, x, kernel, stride, padding, 1, 0.0)
    return low.mean(taken, dims)


def windows(low, x, kernel, stride, padding, dilation, fill):
    """The elements of every window, in new dimensions behind the others."""
    rank = int(low.name.split("pool")[1][0])
    kernel, padding, dilation = wide(kernel, rank), wide(padding, rank), wide(dilation, rank)
    stride = wide(stride, rank) if len(wide(stride, 1)) else kernel

    def taken(t):
        t = F.pad(t, [p for p in reversed(padding) for _ in (0, 1)])
        for d in range(rank):
            t = t.unfold(len(x.shape) - rank + d, (kernel[d] - 1) * dilation[d] + 1, stride[d])[
                ..., :: dilation[d]
            ]
        return t

    return low.moved(x, taken, fill), list(range(len(x.shape), len(x.shape) + rank))


def wide(t, rank):
    t = [t] if isinstance(t, int) else list(t)
    return t * (rank if len(t) == 1 else 1)


@lower("cumsum", "cumprod")
def scan(low, x, dim, **_):
    rows = low.moved(x, lambda t: t.movedim(dim, -1))
    made = low.emit(low.name.split(".")[1], rows.shape, a=rows.node, terms=rows.shape[-1])
    return low.moved(made, lambda t: t.movedim(-1, dim))


@lower("_softmax", "_safe_softmax")
def softmax(low, x, dim, *_, **__):
    e = low.unary("exp", low.sub(x, low.reduced("most", x, [dim], True)))
    return low.div(e, low.reduced("sum", e, [dim], True))


@lower("logsumexp")
def logsumexp(low, x, dims, keep=False):
    most = low.reduced("most", x, dims, True)
    log = low.unary("log", low.reduced("sum", low.unary("exp", low.sub(x, most)), dims, True))
    made = low.add(log, most)
    return made if keep else low.moved(made, lambda t: t.squeeze(dims))


@lower("_log_softmax")
def log_softmax(low, x, dim, *_, **__):
    return low.sub(x, logsumexp(low, x, [dim], True))


@lower("linalg_vector_norm", "norm.ScalarOpt_dim", "norm.Scalar")
def norm(low, x, order=2, dims=None, keep=False, **_):
    dims = (
        list(range(len(x.shape))) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    )
    if order in (2, None):
        return low.unary("sqrt", low.reduced("sum", low.mul(x, x), dims, keep))
    if order == 1:
        return low.reduced("sum", low.unary("abs", x), dims, keep)
    raise Unsupported("single elements of such a norm are not evaluated")


def normalized(low, x, dims, eps, weight, bias):
    centered = low.sub(x, low.mean(x, dims, True))
    variance = low.mean(low.mul(centered, centered), dims, True)
    made = low.div(centered, low.unary("sqrt", low.add(variance, eps)))
    made = made if weight is None else low.mul(made, weight)
    return made if bias is None else low.add(made, bias)


def column(low, t, x, channel=1):
    shape = [-1 if d == channel else 1 for d in range(len(x.shape))]
    return None if t is None else low.moved(t, lambda s: s.reshape(shape))


@lower("native_batch_norm")
def batch_norm(low, x, weight, bias, mean, variance, training, momentum, eps):
    if not training:
        scale = low.div(
            column(low, weight, x) or 1.0, low.unary("sqrt", low.add(column(low, variance, x), eps))
        )
        made = low.mul(low.sub(x, column(low, mean, x)), scale)
        return (made if bias is None else low.add(made, column(low, bias, x))), None, None
    dims = [d for d in range(len(x.shape)) if d != 1]
    return normalized(low, x, dims, eps, column(low, weight, x), column(low, bias, x)), None, None


@lower("native_layer_norm")
def layer_norm(low, x, shape, weight, bias, eps):
    return (
        normalized(low, x, list(range(len(x.shape) - len(shape), len(x.shape))), eps, weight, bias),
        None,
        None,
    )


@lower("native_group_norm")
def group_norm(low, x, weight, bias, batch, channels, inner, groups, eps):
    split = low.moved(x, lambda t: t.reshape(batch, groups, channels // groups, -1))

    def part(t):
        return None if t is None else low.moved(t, lambda s: s.reshape(1, groups, channels // groups, 1))

    made = normalized(low, split, [2, 3], eps, part(weight), part(bias))
    return low.moved(made, lambda t: t.reshape(x.shape)), None, None


@lower("mse_loss", "smooth_l1_loss", "huber_loss")
def loss(low, a, b, reduction=1, beta=1.0):
    d = low.unary("abs", low.sub(a, b))
    if "mse" in low.name:
        each = low.mul(d, d)
    else:  # with m = min(d, beta): m^2 / 2 + beta (d - m), and smooth_l1 divides it by beta
        m = low.binary("min", d, beta)
        each = low.add(low.mul(low.mul(m, m), 0.5), low.mul(low.sub(d, m), beta))
        each = each if "huber" in low.name else low.div(each, beta)
    dims = list(range(len(each.shape)))
    return (
        each if reduction == 0 else low.mean(each, dims) if reduction == 1 else low.reduced("sum", each, dims)
    )


@lower("nll_loss_forward")
def nll(low, x, target, weight, reduction, ignore):
    if weight is not None:
        raise Unsupported("nll_loss with weights")
    if bool((target == ignore).any()):
        raise Unsupported("nll_loss with ignored targets")
    picked = low.moved(x, lambda t: t.gather(1, target.cpu().unsqueeze(1)).squeeze(1))
    each = low.sub(0.0, picked)
    return (
        each if reduction == 0 else low.mean(each, [0]) if reduction == 1 else low.reduced("sum", each, [0])
    ), None


@lower("zeros_like", "zeros", "ones", "full", "ones_like", "scalar_tensor", "empty.memory_format")
def factory(low, *args, **named):
    named.pop("device", None)
    args = [torch.zeros(a.shape) if isinstance(a, Ref) else a for a in args]
    made = operator(low.name)(*args, **{k: v for k, v in named.items() if k in ("dtype", "fill_value")})
    return low.input(torch.zeros_like(made) if "empty" in low.name else made)


@lower("copy_")
def copy(low, target, source, *_):
    return source


@lower("_to_copy")
def cast(low, x, *_, **__):
    return as_ref(low, x)
