"""Evaluates a graph: value, radius, bound and runs of every operation. Derives the allowed error of each output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import complexes, expanded, masked_rows, pieces, returned, routes, rules, wholes  # noqa: F401  (registered)
from .bounds import Bound
from .eager import computed
from .elementwise import RULES
from .graph import Graph, coarsest, declared, is_exponent, narrowed, packet, target_name
from .not_numbers import keep as keep_not_numbers
from .number import (
    CALIBRATED,
    EIGHT_BITS,
    FEW,
    SMALLEST,
    UNIT,
    Context,
    Number,
    Unsupported,
    exact,
    of_mask,
)

if TYPE_CHECKING:
    from .sides import Sides

Env = dict[torch.fx.Node, Any]  # results of nodes
RUNS = 12
TIGHT = 64.0  # the bound decides if it is at most this many times the spread of the runs
UNTELLABLE = 2.0**-8
STEPPED = 2.0**-4  # limit of the relative spread of an output that jumps contribute to
# If more than one element in four lies beside a jump, the other elements cannot show the spread of the runs.
JUMPING = 4
# The limit is at least 8 units of the coarsest format: 2^-8 for fp16, and 2^-5 for bf16, whose unit is 2^-8.
UNITS_UNTELLABLE = 8


def evaluate(
    graph: Graph,
    state: dict[str, torch.Tensor],
    inputs: Sequence[Any],
    seed: int = 1,
    runs: int = RUNS,
    device: str = "cpu",
    tables: frozenset[str] = frozenset(),
    sides: Sides | None = None,
    literal: bool = False,
) -> list[tuple[Number, torch.dtype]]:
    """Returns the outputs as Numbers. `state` maps names to tensors, and `inputs` are the arguments of forward.
    `tables` names the tensors of the state that every implementation's constructor computes for itself.
    `sides` decides few open elements of masks that pick (sides.py)."""
    cx = Context(device, runs, seed, graph.recurrent)
    cx.sides, cx.literal = sides, literal
    given = [state[name] for name in graph.names] + [inputs[i] for i in graph.inputs]
    places = iter(zip(given, [name in tables for name in graph.names] + [False] * len(graph.inputs)))
    env: Env = {}
    holders = [node for node in graph.nodes if node.op == "placeholder"]
    expanded.mark(graph.nodes, holders[len(graph.names) :])
    for node in graph.nodes:
        if node.op == "placeholder":
            tensor, is_table = next(places)
            env[node] = complexes.given(cx, tensor.detach().to(device), cx.tabled if is_table else exact)
        elif node.op == "get_attr":  # a plain attribute (no buffer), or a constant of the code
            env[node] = complexes.given(cx, getattr(graph.module, node.target).detach().to(device), cx.tabled)
        elif node.op == "output":
            return routes.outputs_of(node, env)
        elif (
            node.users
            or packet(node) in READ
            or getattr(getattr(node.target, "_schema", None), "is_mutable", True)
        ):
            env[node] = call(cx, node, env)
        for used in node.all_input_nodes:
            if graph.last_use.get(used) is node:
                env.pop(used, None)
    raise Unsupported("the graph has no output")


def is_fixed(node: torch.fx.Node) -> bool:
    """True if the node depends on sizes alone, and on neither inputs nor weights."""
    if "fixed" not in node.meta:
        node.meta["fixed"] = node.op == "call_function" and all(is_fixed(n) for n in node.all_input_nodes)
    return bool(node.meta["fixed"])


# Operations by which Python reads a value. They count even if no other node uses their result.
READ = ("_local_scalar_dense", "nonzero", "equal")
# Operations whose rules handle ambiguous masks and indices themselves.
CHOOSING = (
    "where",
    "masked_fill",
    "masked_fill_",
    "index",
    "_unsafe_index",
    "index_put",
    "index_put_",
    "gather",
    "index_select",
    "embedding",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "index_add",
    "index_add_",
    "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward",
    "max_unpool2d",
    "max_unpool3d",
)


# Operations that read only their operand's shape.
BLANK = (
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
    "new_zeros",
    "new_ones",
    "new_full",
    "new_empty",
)


def call(cx: Context, node: torch.fx.Node, env: Env) -> Any:
    """Evaluates one operation by its rule."""
    args: Any = torch.fx.node.map_arg(node.args, env.__getitem__)
    named: Any = torch.fx.node.map_arg(node.kwargs, env.__getitem__)
    name = target_name(node.target)
    if name == "<built-in function getitem>":
        return args[0][args[1]]
    plain = name.replace("_.", ".", 1)
    cx.name, cx.dtype = (name if name in RULES else plain), declared(node)
    cx.narrow, cx.fixed = narrowed(node), is_fixed(node)
    items = [u for u in node.users if u.users and target_name(u.target) == "<built-in function getitem>"]
    cx.wanted = {i for i in (u.args[1] for u in items) if isinstance(i, int)}
    cx.raised = is_exponent(node)
    cx.laid = next((n.meta.get("val") for n in node.args[:1] if isinstance(n, torch.fx.Node)), None)
    # An in-place operation has the same rule. Its operand's node gets the result afterwards.
    function = RULES.get(name) or RULES.get(plain)
    args, named = with_indices(cx, node, env, args, named)
    kind = packet(node)
    kind = kind[:-1] if kind.endswith("_") and not kind.endswith("__") else kind
    args = masked_rows.with_sides(cx, node, args)
    undecided = packet(node) not in BLANK and has_undecided((args, named))
    counted = kind in wholes.COUNTING and undecided and args[0].v.dtype == torch.bool
    if undecided and packet(node) not in CHOOSING and (cx.dtype.is_floating_point or counted):
        args, named = tree_map(
            lambda a: of_mask(a) if isinstance(a, Number) and a.is_undecided else a, (args, named)
        )
    if undecided and packet(node) == "nonzero":
        return masked_rows.nonzero(cx, node, args[0])
    if undecided and kind in wholes.BY_ELEMENT and not cx.dtype.is_floating_point and cx.dtype != torch.bool:
        return wholes.by_element(node, args, named)
    try:
        result = routes.result(cx, node, function, args, named, exactly)
    except (RuntimeError, IndexError) as error:
        if not cx.listed:
            raise
        raise Unsupported(
            f"{cx.name} of as many rows as an honest implementation may find, or fewer"
        ) from error
    if undecided and all(
        n.open is None and n.b is None for n in tree_leaves(result) if isinstance(n, Number)
    ):
        raise Unsupported(f"{cx.name} of what an honest implementation may decide either way")
    if wholes.is_computed(result, cx.dtype):
        result = wholes.within_type(cx, result, cx.dtype)
    keep_beside(kind, result, args)
    keep_not_numbers(kind, result, args)
    expanded.follow(cx, node, args, result)
    if function is not None:
        returned.follow(kind, args, result, lambda x: function(cx, x, *args[1:], **named))
    if packet(node).endswith("_") and not packet(node).endswith("__"):
        target: Any = node.args[0]
        env[target] = result
    return result


# Element-wise operations that pass on the mark `beside`: if an operand lies beside a jump, so does the result.
BESIDE = frozenset(
    "add sub rsub mul div neg abs clamp clamp_min clamp_max maximum minimum where relu hardtanh _to_copy".split()
)


def keep_beside(kind: str, result: Any, args: Any) -> None:
    if kind not in BESIDE or not isinstance(result, Number):
        return
    for x in args:
        if isinstance(x, Number) and x.beside is not None and x.beside is not result.beside:
            result.beside = (
                x.beside.expand(result.v.shape) if result.beside is None else result.beside | x.beside
            )


def has_undecided(tree: Any) -> bool:
    return any(isinstance(x, Number) and x.is_undecided for x in tree_leaves(tree))


def with_indices(cx: Context, node: torch.fx.Node, env: Env, args: Any, named: Any) -> Any:
    """Converts computed whole numbers to indices, unless the operation does arithmetic with them."""
    if packet(node) in wholes.COMPUTED:
        return args, named
    held = {id(env[n]): declared(n) for n in node.all_input_nodes if wholes.is_computed(env[n], declared(n))}
    if not held:
        return args, named
    places = wholes.MOVED.get(packet(node).removeprefix("_unsafe_").rstrip("_"), ())
    moved = [d for d in places if d < len(args) and isinstance(args[d], Number)]
    found = [tree_map(lambda a: wholes.as_index(cx, a, held[id(a)]) if id(a) in held else a, x) for x in args]
    if any(id(args[d]) in held for d in moved):
        for d in moved:
            found[d] = args[d] if args[d].is_float else Number(args[d].v.double(), whole=True)
    return found, tree_map(lambda a: wholes.as_index(cx, a, held[id(a)]) if id(a) in held else a, named)


def exactly(node: torch.fx.Node, args: Any, named: Any) -> Number:
    """Evaluates an operation on whole numbers and booleans with PyTorch itself, without a rule."""
    operands = [a for a in [*args, *named.values()] if isinstance(a, Number)]
    if any(a.is_undecided for a in operands):
        raise Unsupported(f"{node.target} of what an honest implementation may decide either way")
    if any(a.is_float for a in operands) or any(isinstance(a, (list, tuple)) for a in args):
        raise Unsupported(f"no rule for {node.target}")

    def plain(a: Any) -> Any:
        return a.v if isinstance(a, Number) else a

    made = computed(node, [plain(a) for a in args], {k: plain(a) for k, a in named.items()})
    if not isinstance(made, torch.Tensor) or made.is_floating_point():
        raise Unsupported(f"no rule for {node.target}")
    return Number(made)


class Judged:
    """The reference of one output: `want`, `allowed` and `radius` (a double for each element), and its label. `dropped`
    says why it is not judged."""

    def __init__(self, number: Number, dtype: torch.dtype, coarsest: float) -> None:
        # A few roundings of bf16 are not an ill condition.
        self.untellable = max(UNTELLABLE, UNITS_UNTELLABLE * coarsest)
        self.signs, number = number.signs, number if number.signs is None else number.signs.settled(number)
        self.number, self.dtype, self.ensemble, self.enclosed = number, dtype, False, True
        self.dropped: str | None = None
        self.want = number.v.double()
        self.beside = self.jumping(number)
        # A jump's step is the task's own resolution.
        if number.beside is not None and bool(number.beside.any()):
            self.untellable = max(self.untellable, STEPPED)

        def known(e: Bound) -> torch.Tensor:
            return torch.zeros_like(self.want) if e is None else e.nan_to_num(nan=math.inf, posinf=math.inf)

        self.radius, self.bound = known(number.r), known(number.b)
        # untold: elements without a reference, not judged
        self.spread: Bound = None
        self.relative, self.untold = 0.0, 0
        if number.is_float:
            self.settle()
        else:
            self.tell()

    def jumping(self, number: Number) -> Bound:
        """The elements beside a jump. Either side is right there, and they say nothing about the other elements. None:
        there are none, or more than a quarter of all are."""
        if number.beside is None or not number.is_float or not bool(number.beside.any()):
            return None
        near = number.beside.expand(number.v.shape)
        return None if int(near.sum()) * JUMPING > near.numel() else near

    def tell(self) -> None:
        """Sets the allowed error of masks and whole numbers. Either value of an ambiguous mask is right. An ambiguous
        whole number may be anything, unless it is an index that names a value."""
        number, none = self.number, torch.zeros_like(self.want)
        if number.open is None or number.names is not None:
            self.allowed = none
        elif number.v.dtype == torch.bool:
            self.allowed = number.open.double()
        else:
            self.allowed = none.masked_fill(number.open.expand(none.shape), math.inf)
        self.leave_out()

    def leave_out(self) -> None:
        """Counts elements that may be anything, which are not judged. If they are more than one in 16, the output is
        dropped."""
        self.untold = int(self.allowed.isinf().sum())
        self.is_lost = self.untold * FEW > self.allowed.numel()
        if self.is_lost:
            self.dropped = (
                f"{self.untold} of {self.allowed.numel()} results may be anything in the declared arithmetic"
            )

    def measure(self) -> torch.Tensor:
        """The spread of the runs: max(RMS of the runs at this element, RMS over the tensor)."""
        if self.number.runs is None:
            return torch.zeros_like(self.want)
        square = pieces.mean_square(self.number.runs, self.want)
        # NaN in a run means that the element may be anything.
        square = square.nan_to_num(nan=math.inf, posinf=math.inf)
        plain = square.isfinite() if self.beside is None else square.isfinite() & ~self.beside
        whole = square[plain].mean().sqrt() if bool(plain.any()) else square.new_tensor(math.inf)
        size = self.want[self.want.isfinite()].square().mean().sqrt()
        self.relative = float(whole / size) if float(size) > 0 else (math.inf if float(whole) > 0 else 0.0)
        return torch.maximum(square.sqrt(), whole)

    def settle(self) -> None:
        spread = self.spread = self.measure()
        near = self.bound <= TIGHT * spread + 4 * self.rounding()
        # Either side of a step is right. A function of the step may be continuous there, and the runs show that.
        self.ensemble = not bool(
            (near | self.beside if self.beside is not None and self.is_quantized() else near).all()
        )
        self.allowed = self.bound
        if self.ensemble:
            self.allowed = torch.minimum(self.bound, CALIBRATED * spread + self.rounding())
        self.enclosed = bool((self.radius <= self.allowed / 8).all())
        # The candidate is not blamed for the uncertainty of the reference itself.
        self.allowed = self.allowed + torch.minimum(self.radius, self.allowed / 8)
        # A NaN or an infinity must match.
        self.allowed = torch.where(self.want.isfinite(), self.allowed, 0.0)
        # An ambiguous choice may have made an infinity of a number: both are right.
        if self.number.open is not None:
            self.allowed = torch.where(
                self.number.open.expand(self.want.shape) & self.want.isinf(), math.inf, self.allowed
            )
        unnamed = int(self.want.isnan().sum())
        if unnamed:
            self.dropped = (
                f"{unnamed} of {self.want.numel()} right answers are NaN, for which kernels have other conventions (a "
                "row of which everything is masked)"
            )
        self.leave_out()
        # An output of zeros has no size to compare the spread with. It is judged if its value is proved.
        proved = self.enclosed and not bool(self.want.any())
        if self.is_quantized():
            self.judge_steps()
        elif self.relative > self.untellable and not proved and self.dropped is None:
            self.dropped = (
                f"the right answer cannot be told: honest errors reach {self.relative:.2g} of the output's "
                f"size, more than {self.untellable:.2g}"
            )

    def is_quantized(self) -> bool:
        """True for a whole or 8-bit output with elements beside a jump."""
        return self.number.beside is not None and (
            not self.dtype.is_floating_point or self.dtype in EIGHT_BITS
        )

    def judge_steps(self) -> None:
        """Judges a quantized output. A difference of one step is still informative, however many elements are
        ambiguous. The output is dropped if more than one element in 16 may be off by more than a quarter of the greatest,
        and in a whole type by more than 1."""
        most = (
            float(self.want[self.want.isfinite()].abs().amax()) if bool(self.want.isfinite().any()) else 0.0
        )
        wide = int((self.allowed > max(most / 4, 0.0 if self.dtype.is_floating_point else 1.0)).sum())
        if wide * FEW > self.allowed.numel() and self.dropped is None:
            self.dropped = f"{wide} of {self.allowed.numel()} results may be off by several steps in the declared arithmetic"

    @property
    def label(self) -> str:
        """Says whether the proved bound or the calibrated ensemble decides, and whether the value is enclosed."""
        return f"{'ensemble' if self.ensemble else 'bound'}, {'enclosed' if self.enclosed else 'fp64'}"

    def rounding(self) -> torch.Tensor:
        """Half a unit in the last place of the output's format."""
        unit, least = UNIT.get(self.dtype, 0.0), SMALLEST.get(self.dtype, 0.0)
        return unit * self.want.abs().clamp(min=least)


def answer(
    graph: Graph,
    state: dict[str, torch.Tensor],
    inputs: Sequence[Any],
    seed: int = 1,
    device: str = "cpu",
    tables: frozenset[str] = frozenset(),
    sides: Sides | None = None,
) -> list[Judged]:
    """Returns the reference of every output. If the freedoms of short chains leave nothing to judge of an output,
    differences count as they are written."""

    def judged(literal: bool) -> list[Judged]:
        told = evaluate(graph, state, inputs, seed, RUNS, device, tables, sides, literal)
        return [Judged(number, dtype, unit) for (number, dtype), unit in zip(told, coarsest(graph))]

    found = judged(False)
    if not any(j.is_lost for j in found):
        return found
    return [b if a.is_lost and b.dropped is None else a for a, b in zip(found, judged(True))]
