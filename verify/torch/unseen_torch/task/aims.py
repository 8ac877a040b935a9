"""Finds input values at which an operation of a task's graph decides: rounds, compares, clamps, casts.

The graph is walked once, from its results to its inputs. A deciding operation adds its thresholds as aims at its
operands. An operation with an inverse translates aims at its result into aims at its operands.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Union

import torch
from torch.utils._pytree import tree_leaves

from ..oracle import eager
from ..oracle import graph as graphs
from . import fake

Value = Union[int, float, Fraction]
Place = Union[str, int]  # a weight's name in the state dict, or the number of an input
Aimed = dict[Fraction, bool]  # aimed values: is the path to the decision exact?
Decision = Union[torch.fx.Node, tuple[str, "Decision"]]  # the deciding node; ("beside", node) is no threshold

AIMS = 400  # values for one decision at one operation
UNIQUE = 24  # values of a constant tensor that are tried
PEAK = 8  # the greatest element, where the task divides by it
HALF = Fraction(1, 2)
FEW_WHOLE = [k for n in range(9) for k in ((n, -n) if n else (0,))]
ENDS = [127, 128, -127, -128, -129, 255, 256, 2**22, -(2**22) - 1, 2**23 + 1]
WHOLE = FEW_WHOLE + ENDS + [k for n in range(9, 300) for k in (n, -n) if k not in ENDS]
# values for another input that keep the operation exact
BESIDE: dict[str, tuple[Value, ...]] = {"add": (0, 1, -1, HALF), "mul": (1, 2, HALF), "div": (1, 2, HALF)}
PARTS = (
    *"""amax amin max min topk sort gather index index_select cummax cummin max_pool2d_with_indices
max_pool3d_with_indices max_pool1d where maximum minimum fmax fmin cat stack masked_fill clone
_to_copy copy copy_ flip roll tril triu contiguous lift_fresh_copy constant_pad_nd index_put
scatter slice_scatter select_scatter diagonal pixel_shuffle split_with_sizes embedding repeat""".split(),
    *fake.VIEWS,
)
DECIDES = {
    "clamp_min": "clamp",
    "clamp_max": "clamp",
    "div": "division",
    "gt": ">",
    "ge": ">=",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
    "_to_copy": "a cast",
    "floor_divide": "division",
    "hardtanh": "clamp",
}


def _fraction(x: Any) -> Fraction | None:
    """Returns a finite number as a fraction, else None."""
    if isinstance(x, (bool, int, float)) and math.isfinite(x):
        return Fraction(x)
    return None


def is_single(x: Fraction) -> bool:
    """Tells whether fp32 holds this fraction exactly."""
    try:
        return Fraction(torch.tensor(float(x)).item()) == x
    except OverflowError:
        return False


class _Aims:
    """The aimed values of each node, by the decision that aims: `{fraction: is the path to the decision exact?}`."""

    def __init__(self) -> None:
        self.of: dict[torch.fx.Node, dict[Decision, Aimed]] = {}

    def beside(self, node: Any, source: Decision, values: Iterable[Value]) -> None:
        """Adds values for another input that keep the path exact. They are no thresholds."""
        self.add(node, ("beside", source), values)

    def add(self, node: Any, source: Decision, values: Iterable[Value | None], exact: bool = True) -> None:
        if not isinstance(node, torch.fx.Node):
            return
        kept = self.of.setdefault(node, {}).setdefault(source, {})
        for v in values:
            if v is not None and len(kept) < AIMS:
                kept.setdefault(Fraction(v), exact)


class Walk:
    """A graph with the values that its nodes have for given inputs. A class of inputs fills the placeholders in
    `free`."""

    def __init__(
        self, graph: graphs.Graph, state: dict[str, torch.Tensor], inputs: list[Any], free: Collection[Place]
    ) -> None:
        self.graph, self.aims, self.peak = graph, _Aims(), False
        self.values: dict[torch.fx.Node, Any] = {}
        self.depends: dict[torch.fx.Node, frozenset[Place]] = {}  # the free placeholders behind a node
        self.decides: list[str] = []
        eager.run(graph, state, inputs, self._record)
        known: list[Place] = [*graph.names, *graph.inputs]
        places = iter(known)
        for node in graph.nodes:
            if node.op == "placeholder":
                place = next(places)
                self.depends[node] = frozenset([place] if place in free else ())
            else:
                self.depends[node] = frozenset().union(*(self.depends[n] for n in node.all_input_nodes))
                if node.op == "get_attr":
                    self.values[node] = getattr(graph.module, node.target).detach()
        self.place = dict(zip((n for n in graph.nodes if n.op == "placeholder"), known))
        given: dict[Place, Any] = {i: inputs[i] for i in graph.inputs}
        given.update(state)
        self.values.update({n: given[p].detach() for n, p in self.place.items()})

    def _record(self, node: torch.fx.Node, args: list[Any], named: dict[str, Any]) -> Any:
        target: Any = torch.reshape if graphs.packet(node) in ("view", "_unsafe_view") else node.target
        self.values[node] = target(*args, **named)
        return self.values[node]

    def constants(self, arg: Any) -> tuple[list[Fraction], bool] | None:
        """Returns `(values, does fp32 hold them?)` of an operand that depends on no free input. Returns None for
        other operands and for operands without numbers."""
        if isinstance(arg, torch.fx.Node):
            value = self.values.get(arg)
            if self.depends[arg] or not isinstance(value, torch.Tensor) or not value.numel():
                return None
            found = value.detach().double().flatten().unique()
            found = found[found.isfinite()]
            step = max(1, -(-found.numel() // UNIQUE))
            return [Fraction(v) for v in found[::step].tolist()], True
        number = _fraction(arg)
        return None if number is None else ([number], is_single(number))

    def is_whole(self, arg: Any) -> bool:
        value = self.values.get(arg) if isinstance(arg, torch.fx.Node) else arg
        return not (
            value.dtype.is_floating_point if isinstance(value, torch.Tensor) else isinstance(value, float)
        )

    # --- what decides ---

    def decide(self, node: torch.fx.Node) -> None:
        """Adds the thresholds of a deciding operation as aims at its operands."""
        name, args = graphs.packet(node).rstrip("_"), node.args
        method = getattr(self, "_at_" + self.KINDS.get(name, "none"))
        before = len(self.aims.of)
        had = sum(len(s) for s in self.aims.of.values())
        method(node, name, args, node.kwargs)
        if before != len(self.aims.of) or had != sum(len(s) for s in self.aims.of.values()):
            self.decides.append(DECIDES.get(name, name))

    KINDS: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("floor", "ceil", "trunc"), "whole"),
        "round": "half",
        "_to_copy": "cast",
        **dict.fromkeys(("sign", "sgn", "relu", "leaky_relu", "elu", "heaviside"), "zero"),
        **dict.fromkeys(("hardswish", "hardsigmoid"), "three"),
        **dict.fromkeys(("clamp", "clamp_min", "clamp_max", "hardtanh"), "bounds"),
        **dict.fromkeys(("gt", "ge", "lt", "le", "eq", "ne", "maximum", "minimum", "fmax", "fmin"), "equal"),
        **dict.fromkeys(("bucketize", "searchsorted"), "edges"),
        "div": "quotient",
        **dict.fromkeys(("floor_divide", "remainder", "fmod"), "quotient"),
        "copysign": "sign",
    }

    def _at_none(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        pass

    def _at_whole(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        self.aims.add(args[0], node, WHOLE)

    def _at_half(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        steps = Fraction(10) ** int(named.get("decimals", args[1] if len(args) > 1 else 0))
        self.aims.add(args[0], node, [(k + HALF) / steps for k in WHOLE], steps == 1)

    def _at_cast(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        to = graphs.declared(node)
        if self.is_whole(args[0]) or to.is_floating_point:
            return
        if to == torch.bool:
            self.aims.add(args[0], node, [0])
            return
        least, most = torch.iinfo(to).min, min(torch.iinfo(to).max, 2**31 - 1)
        self.aims.add(args[0], node, [k for k in WHOLE if max(least, -(2**31)) <= k <= most])

    def _at_zero(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        self.aims.add(args[0], node, [0])

    def _at_sign(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        self.aims.add(args[1], node, [0])

    def _at_three(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        self.aims.add(args[0], node, [-3, 3, 0])

    def _at_bounds(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        low, high = (
            named.get("min", args[1] if len(args) > 1 else None),
            named.get("max", args[2] if len(args) > 2 else None),
        )
        if name == "hardtanh":
            low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
        for bound in (low, high):
            if isinstance(bound, torch.fx.Node):
                self._meet(node, args[0], bound)
            elif bound is not None:
                edge = _fraction(bound)
                self.aims.add(args[0], node, [] if edge is None else [edge, edge - 1, edge + 1])

    def _at_equal(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        # two equal inputs give the same result either way
        is_continuous = name in ("maximum", "minimum", "fmax", "fmin")
        if len(args) > 1 and not (
            is_continuous and all(isinstance(a, torch.fx.Node) and self.depends[a] for a in args[:2])
        ):
            self._meet(node, args[0], args[1])

    def _meet(self, node: torch.fx.Node, a: Any, b: Any) -> None:
        """Adds aims at which `a` and `b` are equal."""
        for one, other in ((a, b), (b, a)):
            known = self.constants(other)
            if known and isinstance(one, torch.fx.Node) and self.depends[one]:
                near = known[0] if known[1] else [Fraction(torch.tensor(float(v)).item()) for v in known[0]]
                self.aims.add(one, node, near, known[1])
                if self.is_whole(one):
                    self.aims.add(one, node, [v + d for v in near for d in (-1, 1)])
                return
        for one in (a, b):
            self.aims.add(one, node, BESIDE["add"] + (2, -3))

    def _at_edges(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        edges, x = args[:2] if name == "searchsorted" else args[1::-1]
        known = self.constants(edges)
        self.aims.add(x, node, known[0] if known else range(-8, 9))
        if not known:
            self.aims.add(edges, node, range(-8, 9))

    def _at_quotient(self, node: torch.fx.Node, name: str, args: Any, named: dict[str, Any]) -> None:
        if name == "div" and named.get("rounding_mode") is None:
            return
        self._divided(node, args[0], args[1], dict.fromkeys(map(Fraction, WHOLE), True))

    # --- from aims at a result to aims at its operands ---

    def pass_on(self, node: torch.fx.Node) -> None:
        """Translates the aims at a node into aims at its operands."""
        for source, aims in list(self.aims.of.get(node, {}).items()):
            self._one(node, source, aims)

    def _one(self, node: torch.fx.Node, source: Decision, aims: Aimed) -> None:
        name, args = graphs.packet(node).rstrip("_"), node.args
        if node.target is operator.getitem or name in PARTS or graphs.packet(node) in PARTS:
            for operand in tree_leaves(args):
                if isinstance(operand, torch.fx.Node) and graphs.declared(operand) != torch.bool:
                    self._add(operand, source, aims)
        elif name in ("add", "sub", "rsub"):
            self._sum(node, source, aims)
        elif name == "mul":
            self._product(node, source, aims)
        elif name == "div" and node.kwargs.get("rounding_mode") is None:
            self._divided(source, args[0], args[1], aims)
        else:
            operand = args[0] if args else None
            for v, exact in aims.items():
                self.aims.add(operand, source, self._before(name, node, v), exact and name in self.EXACT)

    def _add(self, operand: Any, source: Decision, aims: Aimed) -> None:
        for v, exact in aims.items():
            self.aims.add(operand, source, [v], exact)

    EXACT = (
        "neg",
        "abs",
        "relu",
        "leaky_relu",
        "floor",
        "ceil",
        "trunc",
        "round",
        "sign",
        "clamp",
        "clamp_min",
        "clamp_max",
        "hardtanh",
    )

    def _before(self, name: str, node: torch.fx.Node, v: Fraction) -> Sequence[Value]:
        """Returns the operands at which a function of one operand has the value v."""
        if name in ("floor", "ceil", "trunc", "relu", "clamp", "clamp_min", "clamp_max", "hardtanh"):
            return [v]
        if name == "round":
            return [v, v - HALF, v + HALF]
        if name == "leaky_relu":
            return [v] if v >= 0 else []
        if name == "sign":
            return [v] if abs(v) <= 1 else []
        if name == "sqrt":
            return [v * v] if v >= 0 else []
        if name == "reciprocal":
            return [1 / v] if v else []
        if name == "rsqrt":
            return [1 / (v * v)] if v > 0 else []
        if name == "pow" and node.args[1:] and node.args[1] == 2:
            return self._square_roots(v)
        known: dict[str, list[Value]] = {
            "neg": [-v],
            "abs": [v, -v] if v >= 0 else [],
            "exp": [0] if v == 1 else [],
            "log": [1] if v == 0 else [],
            "sigmoid": [0] if v == HALF else [],
            "tanh": [0] if v == 0 else [],
            "log1p": [0] if v == 0 else [],
        }
        return known.get(name, [])

    def _apart(self, a: Any, b: Any) -> bool:
        """Tells whether both operands depend on free inputs, but on no common one."""
        return all(isinstance(x, torch.fx.Node) for x in (a, b)) and not self.depends[a] & self.depends[b]

    def _pairs(
        self, a: Any, b: Any, beside: Sequence[Value], source: Decision
    ) -> list[tuple[Any, list[Fraction], bool]]:
        """Returns `[(operand that gets the aim, values of the other operand, are these exact?)]`."""
        found: list[tuple[Any, list[Fraction], bool]] = []
        for one, other in ((a, b), (b, a)):
            known = self.constants(other)
            if known and isinstance(one, torch.fx.Node) and self.depends[one]:
                return [(one, *known)]
        if self._apart(a, b):
            self.aims.beside(b, source, beside)
            found = [(a, [Fraction(v) for v in beside], True)]
        return found

    def _sum(self, node: torch.fx.Node, source: Decision, aims: Aimed) -> None:
        a, b = node.args[:2]
        by = _fraction(node.kwargs.get("alpha", node.args[2] if len(node.args) > 2 else 1)) or Fraction(1)
        name = graphs.packet(node).rstrip("_")
        if name == "rsub":
            a, b = b, a
        sign = 1 if name == "add" else -1
        for one, others, held in self._pairs(a, b, BESIDE["add"], source):
            for c in others:
                for v, exact in aims.items():
                    self.aims.add(
                        one, source, [v - sign * by * c if one is a else sign * (v - c) / by], exact and held
                    )

    def _product(self, node: torch.fx.Node, source: Decision, aims: Aimed) -> None:
        a, b = node.args[:2]
        if a is b:
            for v, exact in aims.items():
                self.aims.add(a, source, self._square_roots(v), exact)
            return
        for one, others, held in self._pairs(a, b, BESIDE["mul"], source):
            for c in others:
                for v, exact in aims.items():
                    self.aims.add(one, source, [v / c] if c else [], exact and held)

    def _square_roots(self, v: Fraction) -> list[Fraction]:
        root = Fraction(math.isqrt(v.numerator), math.isqrt(v.denominator)) if v >= 0 else Fraction(0)
        return [root, -root] if root * root == v else []

    def _divided(self, source: Decision, a: Any, b: Any, aims: Aimed) -> None:
        known_a, known_b = self.constants(a), self.constants(b)
        if known_b:
            for c in known_b[0]:
                for v, exact in aims.items():
                    self.aims.add(a, source, [v * c], exact and known_b[1])
        elif known_a and isinstance(b, torch.fx.Node):
            for c in known_a[0]:
                for v, exact in aims.items():
                    self.aims.add(b, source, [c / v] if v else [], exact and known_a[1])
        elif self._apart(a, b):
            self.aims.beside(b, source, BESIDE["div"])
            for by in BESIDE["div"]:
                self._add(a, source, {v * Fraction(by): exact for v, exact in aims.items()})
        # division by its own greatest element
        elif isinstance(b, torch.fx.Node) and isinstance(a, torch.fx.Node):
            self.peak = True
            self.aims.add(b, source, [PEAK])
            self._add(a, source, {v * PEAK: exact for v, exact in aims.items()})


def walked(
    graph: graphs.Graph, state: dict[str, torch.Tensor], inputs: list[Any], free: Collection[Place]
) -> Walk:
    """Returns the walk with the aims of all decisions of a graph. A class of inputs fills the placeholders in `free`."""
    walk = Walk(graph, state, inputs, free)
    for node in reversed(graph.nodes):
        if node.op == "call_function":
            walk.pass_on(node)
            walk.decide(node)
    return walk
