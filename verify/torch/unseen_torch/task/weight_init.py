"""Places drawn weights into a model while its constructor runs.

A task's own check constructs its Model and the candidate's from one seed and compares their answers. There the
candidate's constructor may derive tensors from its parameters: a transposed copy, a parameter of another shape and
name. Weights loaded after the construction would not reach these.

So each tensor that the candidate's constructor draws or registers gets its drawn weight as soon as it exists. The
order is that of the task's own Model. Later initializations leave it alone. Tensors that the constructor computes are
skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from typing_extensions import Self

Weights = dict[str, torch.Tensor]
Expected = list[tuple[str, str, tuple[int, ...]]]  # name in the state dict, kind and shape of each parameter
Construct = Callable[[], torch.nn.Module]
Place = tuple[int, int]  # address and number of elements
Way = tuple[bool, bool]  # by_hand and wide of Following

# INITIALIZES draws or fills in place. EMPTY returns tensors to be filled, DRAWN returns drawn ones.
INITIALIZES = tuple(
    getattr(torch.Tensor, name)
    for name in """uniform_ normal_ fill_ zero_ exponential_ cauchy_ log_normal_ geometric_ random_ bernoulli_""".split()
)
EMPTY = (
    torch.empty,
    torch.zeros,
    torch.ones,
    torch.full,
    torch.empty_like,
    torch.zeros_like,
    torch.ones_like,
    torch.full_like,
    torch.tensor,
)
DRAWN = (torch.randn, torch.rand, torch.randn_like, torch.rand_like, torch.normal)


class _Watching(torch.overrides.TorchFunctionMode):
    """While active, calls `take` for each drawn tensor, and for each registered parameter that was not drawn.

    The kind of a parameter is `empty` for new memory and `made` for a computed tensor. Initializers skip each tensor
    for which `take` returned True.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[Place | None, bool] = {}
        self.kinds: dict[Place, tuple[str, torch.Tensor]] = {}
        self.seen: dict[int, torch.nn.Parameter] = {}

    def take(self, tensor: torch.Tensor, kind: str) -> bool:
        raise NotImplementedError

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tensor = args[0] if args else kwargs.get("tensor")
        if (self.is_initializer(function) and self.keeps(tensor)) or self.leaves_out(function, tensor):
            return tensor
        result = function(*args, **kwargs)
        if function in EMPTY or function in DRAWN:
            self.note(result, "drawn" if function in DRAWN else "empty")
        elif not getattr(function, "__name__", "").startswith("new_"):  # these only read a shape
            self.look((args, kwargs), result)
        return result

    @staticmethod
    def is_initializer(function: Any) -> bool:
        return function in INITIALIZES or getattr(function, "__module__", None) == "torch.nn.init"

    def keeps(self, tensor: Any) -> bool:
        """Tells whether the tensor holds its placed weight, so that no initializer may change it."""
        return self.held.get(self.place_of(tensor), False)

    def leaves_out(self, function: Any, tensor: Any) -> bool:
        """Tells whether an operation that is no initializer has to be skipped."""
        return False

    def look(self, operands: Any, result: Any) -> None:
        """A hook after each operation."""

    @staticmethod
    def place_of(tensor: Any) -> Place | None:
        """Returns the address and number of elements. Returns None for tensors without memory (lazy modules, meta
        tensors)."""
        try:
            with torch._C.DisableTorchFunction():
                return (
                    (tensor.data_ptr(), tensor.numel())
                    if tensor.numel() and tensor.device.type != "meta"
                    else None
                )
        except (AttributeError, RuntimeError, ValueError):
            return None

    def note(self, tensor: Any, kind: str) -> None:
        place = self.place_of(tensor)
        if place is None:
            return
        self.kinds[place] = kind, tensor  # the reference keeps the address in use
        if kind == "drawn":
            self.held[place] = self.take(tensor, kind)

    def register_one(self, parameter: torch.nn.Parameter) -> None:
        place = self.place_of(parameter)
        if place is None:
            return
        kind = self.kinds.get(place, ("made",))[0]
        self.kinds.setdefault(place, (kind, parameter))
        if kind != "drawn":
            self.held[place] = self.take(parameter, kind)

    def __enter__(self) -> Self:
        self.register = torch.nn.Module.register_parameter

        def register(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None) -> None:
            if parameter is not None and id(parameter) not in self.seen:
                self.seen[id(parameter)] = parameter
                self.register_one(parameter)
            self.register(module, name, parameter)

        torch.nn.Module.register_parameter = register  # type: ignore[method-assign, assignment]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        torch.nn.Module.register_parameter = self.register  # type: ignore[method-assign]
        super().__exit__(*error)  # type: ignore[no-untyped-call]


class Order(_Watching):
    """Records how a model's parameters were made, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[torch.Tensor, str, Place | None]] = []

    def take(self, tensor: torch.Tensor, kind: str) -> bool:
        self.events.append((tensor, kind, self.place_of(tensor)))
        return False

    def of(self, model: torch.nn.Module) -> Expected:
        """Returns `[(name in the state dict, kind, shape)]`."""
        names = {self.place_of(parameter): name for name, parameter in model.named_parameters()}
        return [
            (names[place], kind, tuple(tensor.shape)) for tensor, kind, place in self.events if place in names
        ]


class Following(_Watching):
    """Matches tensors with the order of `expected` and leaves them unchanged.

    - `by_hand`: any initialized memory counts as a parameter. It serves classes that register none or make their
      tensors unobserved.
    - `wide`: extents of 1 are ignored, as between a linear layer and a convolution with a window of 1.
    """

    def __init__(self, expected: Expected, by_hand: bool = False, wide: bool = False) -> None:
        super().__init__()
        self.expected, self.by_hand, self.wide = expected, by_hand, wide
        self.found: list[tuple[str, torch.Tensor]] = []
        self.places: dict[Place | None, str] = {}  # names by place

    def take(self, tensor: torch.Tensor, kind: str) -> bool:
        if len(self.found) == len(self.expected) or not tensor.dtype.is_floating_point:
            return False
        name, wanted, shape = self.expected[len(self.found)]
        fits = kind == wanted or (self.by_hand and (kind, wanted) == ("empty", "drawn"))
        if not fits or self.extents(tensor.shape) != self.extents(shape):
            return False
        self.found.append((name, tensor))
        self.places[self.place_of(tensor)] = name
        return self.give(name, tensor)

    def give(self, name: str, tensor: torch.Tensor) -> bool:
        """Handles a match. Returns whether initializers have to skip the tensor."""
        return False

    def extents(self, shape: Sequence[int]) -> list[int]:
        return [extent for extent in shape if extent != 1 or not self.wide]

    def keeps(self, tensor: Any) -> bool:
        place = self.place_of(tensor)
        if self.by_hand and place is not None and place not in self.places:
            self.held[place] = self.take(tensor, "empty")
        return super().keeps(tensor)

    def register_one(self, parameter: torch.nn.Parameter) -> None:
        if self.place_of(parameter) not in self.places:
            super().register_one(parameter)

    def has_all(self) -> bool:
        return len(self.found) == len(self.expected) > 0

    def values(self) -> Weights:
        """Returns the present contents by name."""
        return {name: tensor.detach() for name, tensor in self.found}


class Placing(Following):
    """Places into each matched tensor its entry of `weights`. `bare` has the names of parameters whose initialization
    continues with operations in place, which are skipped too."""

    def __init__(
        self,
        expected: Expected,
        weights: Weights,
        by_hand: bool = False,
        wide: bool = False,
        bare: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(expected, by_hand, wide)
        self.weights, self.bare = weights, bare
        self.given: set[int | None] = set()  # memories of placed weights
        self.read: set[int | None] = set()  # those from which another tensor was computed
        self.rewritten: set[Place | None] = set()
        self.registered: dict[int, Place | None] = {}

    def give(self, name: str, tensor: torch.Tensor) -> bool:
        self.given.add(_memory_of(tensor))
        with torch.no_grad(), torch._C.DisableTorchFunction():
            tensor.copy_(self.weights[name].reshape(tensor.shape))
        return True

    def keeps(self, tensor: Any) -> bool:
        return super().keeps(tensor) and not self.is_moved(tensor)

    def leaves_out(self, function: Any, tensor: Any) -> bool:
        if not _is_in_place(function) or self.place_of(tensor) not in self.places:
            return False
        return not self.is_moved(tensor) and self.places[self.place_of(tensor)] in self.bare

    def is_moved(self, tensor: Any) -> bool:
        """Tells whether another tensor was computed from the placed weight. Then the weight is used there, and later
        writes to this tensor are allowed."""
        if _memory_of(tensor) not in self.read:
            return False
        self.rewritten.add(self.place_of(tensor))
        return True

    def look(self, operands: Any, result: Any) -> None:
        made = {_memory_of(t) for t in tree_leaves(result) if isinstance(t, torch.Tensor)}
        if made:
            self.read |= {
                _memory_of(t) for t in tree_leaves(operands) if isinstance(t, torch.Tensor)
            } & self.given - made

    def register_one(self, parameter: torch.nn.Parameter) -> None:
        self.registered[id(parameter)] = self.place_of(parameter)
        super().register_one(parameter)

    def moved(self, model: torch.nn.Module) -> set[str]:
        """Returns the names of parameters that were written after another tensor was computed from them."""
        return {name for name, p in model.named_parameters() if self.registered.get(id(p)) in self.rewritten}


def _is_in_place(function: Any) -> bool:
    """Tells whether a function changes its tensor in place, as mul_ (also called by *=). `__mul__` and requires_grad_
    do not."""
    name = getattr(function, "__name__", "")
    return name.endswith("_") and not name.endswith("__") and name != "requires_grad_"


def _memory_of(tensor: Any) -> int | None:
    try:
        with torch._C.DisableTorchFunction():
            address: int = tensor.untyped_storage().data_ptr()
            return address
    except (AttributeError, NotImplementedError, RuntimeError):
        return None


def _changed(model: torch.nn.Module, weights: Weights) -> set[str]:
    """Returns the names of parameters that hold neither their own weight nor another one."""
    own = {
        name: p for name, p in model.named_parameters() if name in weights and p.shape == weights[name].shape
    }
    return {name for name, p in own.items() if not any(_equal(p, w) for w in weights.values())}


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one.detach(), other.detach().to(one))


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Tells whether they are equal except for a few roundings."""
    few = 8 * torch.finfo(one.dtype).eps
    one, other = (t.detach().double().cpu().reshape(-1) for t in (one, other))
    return one.shape == other.shape and bool(
        ((one - other).abs() <= few * (other.abs() + other.abs().max())).all()
    )


WAYS = ((False, False), (True, False), (True, True))  # by_hand and wide: the strictest first


def _placed(
    construct: Construct,
    expected: Expected,
    weights: Weights,
    way: Way = WAYS[0],
    bare: frozenset[str] = frozenset(),
) -> tuple[torch.nn.Module, Placing]:
    with Placing(expected, weights, *way, bare) as placed:
        return construct(), placed


def _values(construct: Construct, expected: Expected, way: Way = WAYS[0]) -> Weights:
    """Returns the values with which a constructor initializes the expected parameters."""
    with Following(expected, *way) as followed:
        construct()
    return followed.values()


def _tried(
    construct: Construct, expected: Expected, weights: Weights
) -> tuple[torch.nn.Module, Placing, Way]:
    """Returns `(model, its Placing, the way)` for the first way in which all weights are placed."""
    tried = []
    for way in WAYS if expected else WAYS[:1]:
        tried.append((*_placed(construct, expected, weights, way), way))
        if tried[-1][1].has_all():
            return tried[-1]
    return tried[0]


def _initialized(
    construct: Construct, own: Construct, expected: Expected, weights: Weights, placed: Placing, way: Way
) -> frozenset[str]:
    """Returns the names of parameters whose initialization changes the placed weight, such as a draw that is
    multiplied afterwards.

    Such a parameter passes two tests. From the same seed the constructor alone gives the task's own initial values.
    With these values placed as weights it gives other ones, or it ignores placed weights. A weight into which
    something is folded fails the first test.
    """
    values = placed.values()
    if all(_equal(value, weights[name].reshape(value.shape)) for name, value in values.items()):
        return frozenset()
    task, alone = _values(own, expected), _values(construct, expected, way)
    again, others = (
        _placed(construct, expected, given, way)[1].values()
        for given in ({**weights, **task}, _others(weights))
    )
    return frozenset(
        n
        for n, value in values.items()
        if n in task
        and n in alone
        and _near(alone[n], task[n])
        and (not _near(again[n], task[n]) or _equal(others[n], value))
        and not _equal(value, weights[n].reshape(value.shape))
    )


def _others(weights: Weights) -> Weights:
    return {name: w * 0.5 + 0.25 if w.is_floating_point() else w for name, w in weights.items()}


def constructed(
    construct: Construct, own: Construct, expected: Expected, weights: Weights
) -> tuple[torch.nn.Module, bool, frozenset[str]]:
    """Returns `(model, whether all weights were placed, names of folded parameters)`.

    `construct` and the task's `own` start from the same seed. A folded parameter satisfies one of two conditions, and
    `own` leaves it alone:

    - Its content depends on the weights, such as a layer's weight divided by a later divisor.
    - It was written after another tensor was computed from it, such as a bias added to another one.

    A parameter that is drawn anew, unobserved, depends on no weight.
    """
    expected = expected if all(name in weights for name, _, _ in expected) else []
    model, placed, way = _tried(construct, expected, weights)
    bare = _initialized(construct, own, expected, weights, placed, way)
    if bare:
        model, placed = _placed(construct, expected, weights, way, bare)
    changed, moved = (_changed(model, weights), placed.moved(model)) if expected else (set(), set())
    if not changed:
        return model, placed.has_all(), frozenset()
    again = dict(_placed(construct, expected, _others(weights), way, bare)[0].named_parameters())
    now, (task, of_task) = dict(model.named_parameters()), _placed(own, expected, weights, bare=bare)
    hanging = {n for n in changed if n in again and not _equal(now[n], again[n])}
    return (
        model,
        placed.has_all(),
        frozenset((hanging | moved) - _changed(task, weights) - of_task.moved(task)),
    )
