"""Traces a task's forward pass to one graph of ATen operations, with the declared type of every result."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import torch
from torch._decomp import decomposition_table
from torch.func import functional_call, functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from ..task import effects, structure
from . import gradients, recurrent
from .number import U32, UNIT, Unsupported

# elements of an operation's result, and its floating-point operations
SMALL_ELEMENTS, SMALL_WORK = 1 << 12, 1 << 20
RANDOM = (
    "bernoulli",
    "rand",
    "randn",
    "randint",
    "normal",
    "multinomial",
    "native_dropout",
    "rand_like",
    "randn_like",
    "randperm",
    "uniform",
    "exponential",
    "randint_like",
    "geometric",
    "cauchy",
    "log_normal",
    "normal_functional",
    "rrelu_with_noise",
    "random",
    "binomial",
    "poisson",
)
# Operations without a rule that are decomposed to operations with a rule.
APART = (
    "glu",
    "im2col",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "std",
    "std_mean",
    "logit",
    "addcdiv",
    "addcmul",
    "lerp",
    "clamp_min_",
    "addr",
    "trace",
    "dist",
    "index_copy",
    "binary_cross_entropy",
    "soft_margin_loss",
    "log_sigmoid_forward",
    "prelu",
    "_prelu_kernel",
    "celu",
    "hardshrink",
    "softshrink",
    "threshold",
    "aminmax",
    "linalg_cross",
    "renorm",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_trilinear3d",
    "grid_sampler_2d",
    "deg2rad",
    "rad2deg",
    "sgn",
    "col2im",
    "affine_grid_generator",
    "diagonal_copy",
    "multi_margin_loss",
    "multilabel_margin_loss_forward",
    "_weight_norm_interface",
    "logaddexp2",
    "ldexp",
    "index_fill",
    "block_diag",
    "nansum",
    "mvlgamma",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "_fused_rms_norm",
    "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
    "rot90",
    "logaddexp",
    "nan_to_num",
    "heaviside",
    "sinc",
    "frac",
)

Mode = Literal["fake", "real"]  # how a graph is traced: without or with the values of tensors


def trilinear(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    expand_a: list[int],
    expand_b: list[int],
    expand_c: list[int],
    sum_dim: list[int],
    unroll_dim: int = 1,
) -> torch.Tensor:
    """Sums of products of three factors, as in a bilinear layer."""

    def wide(t: torch.Tensor, dims: list[int]) -> torch.Tensor:
        for d in dims:
            t = t.unsqueeze(d)
        return t

    return (wide(a, expand_a) * wide(b, expand_b) * wide(c, expand_c)).sum(sum_dim)


def fake_quantize(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, least: int, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (x rounded to steps of `scale`, a mask of the elements within the limits)."""
    steps = torch.round(x / scale) + zero_point
    return (steps.clamp(least, most) - zero_point) * scale, (steps >= least) & (steps <= most)


def between_pixels(decomposed: Callable[..., Any]) -> Callable[..., Any]:
    """Decomposes a grid sample, except in the bilinear mode. That mode has a rule of its own, which uses its
    continuity."""

    def sample(x: torch.Tensor, grid: torch.Tensor, mode: int = 0, *how: Any) -> Any:
        return NotImplemented if mode == 0 else decomposed(x, grid, mode, *how)

    return sample


@functools.cache
def apart() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operation."""
    known = {
        op: function
        for op, function in decomposition_table.items()
        if isinstance(op, torch._ops.OpOverload) and op._schema.name.removeprefix("aten::") in APART
    }
    sampler = torch.ops.aten.grid_sampler_2d.default
    return {
        **known,
        **gradients.apart(),
        sampler: between_pixels(known[sampler]),
        torch.ops.aten._trilinear.default: trilinear,
        torch.ops.aten.fake_quantize_per_tensor_affine_cachemask.default: fake_quantize,
    }


@contextlib.contextmanager
def plainly() -> Iterator[None]:
    """Disables fused library kernels, so that attention and recurrent layers are decomposed."""
    with (
        warnings.catch_warnings(),
        torch.no_grad(),
        torch.backends.mkldnn.flags(enabled=False),
        torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    ):
        warnings.simplefilter("ignore")
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)


class Graph:
    """The nodes in order, and the values of their placeholders: parameters and buffers by name, then inputs by place."""

    def __init__(
        self,
        module: torch.fx.GraphModule,
        names: list[str],
        inputs: list[int],
        of_values: bool,
        recurrent: bool = False,
    ) -> None:
        self.module, self.names, self.inputs = module, names, inputs
        self.of_values = of_values  # numbers that the model's Python code read are constants of the graph
        self.recurrent = recurrent  # holds a library's recurrent layers, step by step
        self.nodes = list(module.graph.nodes)
        self.last_use: dict[torch.fx.Node, torch.fx.Node] = {}
        for node in self.nodes:
            for used in node.all_input_nodes:
                self.last_use[used] = node

    def is_small(self) -> bool:
        """True if the average operation is so small that its launch on a GPU takes longer than a processor needs to
        compute it."""
        count = elements = work = 0

        def made(n: torch.fx.Node) -> Any:
            return getattr(self.module, target_name(n.target)) if n.op == "get_attr" else n.meta.get("val")

        for node in self.nodes:
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
                operands = [made(n) for n in [node, *node.all_input_nodes]]
                tensors = [t for t in tree_leaves(operands) if isinstance(t, torch.Tensor)]
                if any(o is None for o in operands) or any(not isinstance(t.numel(), int) for t in tensors):
                    return False  # sizes are unknown or depend on values
                out, count = operands[0], count + 1
                elements += sum(t.numel() for t in tree_leaves(out) if isinstance(t, torch.Tensor))
                if node.target.overloadpacket in flop_registry:
                    work += flop_registry[node.target.overloadpacket](
                        *torch.fx.node.map_arg(node.args, made), out_val=out
                    )
        return elements <= SMALL_ELEMENTS * count and work <= SMALL_WORK * count

    def random(self) -> str | None:
        """The first operation that draws random numbers, or None."""
        for node in self.nodes:
            name = packet(node)
            if name and name.rstrip("_") in RANDOM:
                if name == "native_dropout" and (node.args[1] == 0.0 or node.args[2] is False):
                    continue
                return name
        return None


@functools.cache
def target_name(target: Any) -> str:
    """The name of a node's target. torch takes long to print it, and a graph has few distinct targets."""
    return str(target)


def packet(node: torch.fx.Node) -> str:
    return (
        target_name(node.target).split(".")[1]
        if node.op == "call_function" and target_name(node.target).startswith("aten.")
        else ""
    )


def state_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers. A shared one has its first name."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def untraceable(failure: BaseException | None) -> Unsupported:
    """The error of a model that itself raises an exception. verify/session/expected_values.c looks for these words."""
    return Unsupported(f"the forward pass cannot be traced: {type(failure).__name__}: {str(failure)[:200]}")


def made_by(function: Callable[..., Any], mode: Mode, given: Sequence[Any]) -> torch.fx.GraphModule:
    return make_fx(
        function, tracing_mode=mode, decomposition_table=apart(), _error_on_data_dependent_ops=False
    )(*given)


def settled(made: torch.fx.GraphModule, mode: Mode, given: Sequence[Any]) -> torch.fx.GraphModule:
    """Removes mutations within composite library operations that build a result part by part (circular padding, a
    Vandermonde matrix). They become visible only when the graph is traced again."""

    # True if the module mutates more than its placeholders. A batch norm mutates only those: its running statistics.
    def mutates(module: torch.fx.GraphModule) -> bool:
        return any(
            node.op == "call_function"
            and isinstance(node.target, torch._ops.OpOverload)
            and node.target._schema.is_mutable
            and [getattr(a, "op", "") for a in node.args[:1]] != ["placeholder"]
            for node in module.graph.nodes
        )

    if not mutates(made):
        return made
    try:
        again = made_by(functionalize(made, remove="mutations"), mode, given)
    # the graph stays unchanged; the comparison with the module's own answer shows whether it is right
    except Exception:
        return made
    return made if mutates(again) else again


def trace(model: torch.nn.Module, inputs: Sequence[Any], written: Sequence[int] = ()) -> Graph:
    """The graph of model(*inputs). Inputs that are not tensors are constants of it. For the inputs at the places
    `written`, the graph's first outputs are their contents after the call."""
    state = state_of(model)
    names = list(state)
    places = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor)]

    def forward(values: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> Any:
        given = list(inputs)
        for place, tensor in zip(places, tensors):
            given[place] = tensor.clone() if place in written else tensor
        with recurrent.Whole():
            result = functional_call(model, dict(zip(names, values)), tuple(given))
        if written:
            return tuple(effects.Effects(result, given, list(written)).tensors())
        found = structure.places(result, torch.Tensor)
        return (
            result if isinstance(result, torch.Tensor) or not found else tuple(tensor for _, tensor in found)
        )

    failure = None
    for mode, function in attempts(forward):
        try:
            with plainly():
                held = dict(model.__dict__)
                given_now = [state[k].detach() for k in names], [inputs[i] for i in places]
                made = settled(made_by(function, mode, given_now), mode, given_now)
                model.__dict__.update(held)
            recurrent.spread(made)
            return Graph(
                made,
                names,
                places,
                mode == "real",
                any(isinstance(m, torch.nn.RNNBase) for m in model.modules()),
            )
        except Exception as error:  # a model's own code may raise any exception
            failure = error
    raise untraceable(failure)


def attempts(forward: Callable[..., Any]) -> Iterator[tuple[Mode, Callable[..., Any]]]:
    """The tracing attempts in order: without values, then with values. Each is tried with mutations turned into
    results, then with mutations."""
    modes: tuple[Mode, Mode] = ("fake", "real")
    for mode in modes:
        yield mode, functionalize(forward, remove="mutations")
        yield mode, forward


def declared(node: torch.fx.Node) -> torch.dtype:
    """The declared type of a node's first result."""
    value = node.meta.get("val", node.meta.get("tensor_meta"))
    if isinstance(value, (tuple, list)) and not hasattr(value, "dtype"):
        value = next((v for v in value if v is not None), None)
    return getattr(value, "dtype", torch.float32)


def narrowed(node: torch.fx.Node) -> torch.dtype | None:
    """The 16-bit format to which attention over tensors of that format may round its probabilities, or None.

    PyTorch's own decomposition keeps the probabilities in fp32. Beside the second product it stores an unused copy
    in the tensors' format. There is no copy for fp32 tensors. A cast that the task itself writes has a user.
    """
    if packet(node) != "_safe_softmax":
        return None
    return next(
        (
            declared(u)
            for u in node.users
            if packet(u) == "_to_copy" and not u.users and declared(u) in (torch.float16, torch.bfloat16)
        ),
        None,
    )


EXPONENTIALS = (
    "exp",
    "exp2",
    "_softmax",
    "_safe_softmax",
    "softmax",
    "logsumexp",
    "_log_softmax",
    "log_softmax",
)
PASSED_ON = (
    "view",
    "_unsafe_view",
    "reshape",
    "transpose",
    "permute",
    "unsqueeze",
    "squeeze",
    "expand",
    "slice",
    "select",
    "cat",
    "clone",
    "alias",
    "where",
    "masked_fill",
    "neg",
    "_to_copy",
)


def is_exponent(node: torch.fx.Node) -> bool:
    """True if an exponential uses the result, either directly or after moves and masks."""
    if "exponent" not in node.meta:
        node.meta["exponent"] = any(
            packet(u) in EXPONENTIALS or (packet(u) in PASSED_ON and is_exponent(u)) for u in node.users
        )
    found: bool = node.meta["exponent"]
    return found


def coarsest(graph: Graph) -> list[float]:
    """For every output, the greatest unit roundoff of the operations that it depends on, at least that of fp32."""
    units: dict[torch.fx.Node, float] = {}
    for node in graph.nodes:
        before = max((units[n] for n in node.all_input_nodes), default=U32)
        units[node] = max(before, UNIT.get(declared(node), U32)) if node.op == "call_function" else before
    (given,) = next(n for n in graph.nodes if n.op == "output").args
    return [units[n] for n in (given if isinstance(given, (tuple, list)) else [given])]
