"""Runs a task's source on FakeTensors, which have shapes and no values.

It records the shapes of inputs, weights and outputs, the model's attributes, its operations and their work.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from . import data_dependent, effects, failure, source, structure, varying
from .expression import Sizes
from .observed import Input, Law, Observed, Output, Step, Weight

warnings.filterwarnings("ignore")
# a size that does not run is an expected result here
logging.getLogger("torch").setLevel(logging.CRITICAL + 1)
logging.disable(logging.CRITICAL)

VIEWS = tuple(
    """view reshape expand transpose permute t unsqueeze squeeze slice select detach alias as_strided
unfold split unbind _unsafe_view chunk""".split()
)
REMEMBERED = 1024  # FakeTensors of a run
ATTRIBUTES = tuple(
    """kernel_size stride padding output_padding dilation groups num_groups num_heads num_layers""".split()
)


def _of_a_recurrent_layer(
    x: torch.Tensor, of_inputs: torch.Tensor, of_states: torch.Tensor, *_: Any, **__: Any
) -> int:
    """Returns the work of a recurrent layer: two operations for each weight at each step of each sequence. x is
    [steps, batch, width]."""
    return 2 * (x.numel() // x.shape[-1]) * (of_inputs.numel() + of_states.numel())


def _of_distances(a: torch.Tensor, b: torch.Tensor, *_: Any, **__: Any) -> int:
    """Returns the work of cdist: a difference, its power and a sum for each element of each pair of rows. `a` and `b`
    are [.., rows, width]."""
    return 3 * a.numel() * b.shape[-2]


# Operations that torch's own counter (2.11 to 2.15) leaves out, such as recurrent layers that are one operation on a
# CPU.
WORK = {
    getattr(torch.ops.aten, name): work
    for name, work in (("mkldnn_rnn_layer", _of_a_recurrent_layer), ("_cdist_forward", _of_distances))
    if hasattr(torch.ops.aten, name)
}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).replace("torch.", "")


DRAWS = set(
    """rand randn randint randperm uniform normal bernoulli exponential random multinomial rand_like
randn_like randint_like log_normal geometric cauchy""".split()
)


class _Watch(TorchDispatchMode):
    """Counts the work of all operations and records the calls that drew each tensor."""

    def __init__(self, observed: Observed) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.observed, self.hash, self.steps = observed, hashlib.sha256(), 0
        self.laws: dict[int, list[Step]] = {}  # by a tensor's id: the calls that made it
        self.kept: list[torch.Tensor] | None = []  # None once get_inputs has returned
        self.roots: dict[int, frozenset[int]] = {}  # by a tensor's id: the draws from which it is computed

    def _law(self, kept: list[torch.Tensor], name: str, func: Any, args: Sequence[Any], out: Any) -> None:
        history: list[Step] = []
        for argument in args:
            history += self.laws.get(id(argument), []) if isinstance(argument, torch.Tensor) else []
        numbers = [a for a in args[1:] if isinstance(a, (int, float)) and not isinstance(a, bool)]
        low, high = 0, 0
        if name == "randint":
            whole = [a for a in args if isinstance(a, int)]
            low, high = (0, whole[0]) if func._overloadname == "default" else whole[:2]
        is_alone = not any(isinstance(a, torch.Tensor) for a in args[1:])
        step = Step(name, numbers if is_alone else None, low, high)
        roots = frozenset[int]().union(*(self.roots.get(id(a), ()) for a in tree_leaves(args)))
        if name.rstrip("_") in DRAWS:
            roots |= {len(kept)}
        for each in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(each, torch.Tensor):
                self.laws[id(each)], self.roots[id(each)] = ([*history, step])[:16], roots
                kept.append(each)  # keeps the id in use

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._opname if hasattr(func, "_opname") else func.__name__.split(".")[0]
        scalars = [a for a in args if isinstance(a, (int, float, bool, str))]
        # torch detaches a new tensor only if its memo has no equal one, so detach is not counted
        if name != "detach":
            self.hash.update(f"{func}{scalars}".encode())
            self.steps += 1
        if self.kept is not None:
            self._law(self.kept, name, func, args, out)
        else:
            self.observed.calls.add(name.rstrip("_"))
        packet = getattr(func, "overloadpacket", None)
        if packet in flop_registry:
            self.observed.flops += flop_registry[packet](*args, **(kwargs or {}), out_val=out)
        elif packet in WORK:
            self.observed.flops += WORK[packet](*args, **(kwargs or {}))
        if name not in VIEWS:
            for tensor in out if isinstance(out, (tuple, list)) else (out,):
                if isinstance(tensor, torch.Tensor):
                    self.observed.elements += tensor.numel()
                    self.observed.largest = max(self.observed.largest, tensor.numel())
        return out


def flatten(value: Any) -> list[torch.Tensor] | None:
    """Returns the tensors in a model's result, in order. Returns None if it contains something else."""
    found = structure.places(value, torch.Tensor)
    return None if found is None else [tensor for _, tensor in found]


def returned(value: Any) -> list[torch.Tensor]:
    """Returns the tensors in forward's result. Raises Failed if there are none or something else."""
    outputs = flatten(value)
    if not outputs:
        inner = (
            [type(v).__name__ for v in value if not isinstance(v, torch.Tensor)]
            if isinstance(value, (tuple, list))
            else []
        )
        kind = type(value).__name__
        what = "None" if value is None else f"a {kind}" + (f" with a {inner[0]}" if inner else "")
        what = f"an empty {kind}" if isinstance(value, (tuple, list, dict)) and not value else what
        raise failure.Failed(
            f"forward returned {what}; a tensor, or a tuple of tensors, was expected", "correct the task"
        )
    return outputs


def _is_plain(value: Any) -> bool:
    """Tells whether NAME.task can hold the value: a number, a text, None, or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str, type(None)))


def _describe_input(number: int, value: Any) -> Input:
    if not isinstance(value, torch.Tensor) and not _is_plain(value):
        raise failure.Failed(
            f"get_inputs gives a {type(value).__name__} as its number {number + 1}; a tensor, a number or a text was "
            "expected",
            "give forward its tensors one by one (torch.from_numpy makes one of an array)",
        )
    if isinstance(value, torch.Tensor):
        return Input(dtype_name(value.dtype), tuple(value.shape), "tensor")
    value = list(value) if isinstance(value, tuple) else value
    return Input(type(value).__name__, (), "value", value)


def weights_of(model: torch.nn.Module) -> list[Weight]:
    """Returns parameters and persistent buffers under their names in the state dict."""
    parameters = dict(model.named_parameters())
    return [
        Weight(dtype_name(t.dtype), tuple(t.shape), name, name in parameters)
        for name, t in model.state_dict(keep_vars=True).items()
        if isinstance(t, torch.Tensor)
    ]


def attributes_of(model: torch.nn.Module) -> str:
    """Returns the modules' attributes for windows, strides, groups and the like, as text."""
    found = []
    for path, module in model.named_modules():
        for name in ATTRIBUTES:
            value = getattr(module, name, None)
            depthwise = name == "groups" and value in (1, getattr(module, "in_channels", None))
            if isinstance(value, (int, tuple, str)) and not depthwise:
                found.append((path, name, value))
    return repr(found)


def _laws_of(watch: _Watch, inputs: list[Any]) -> list[Law]:
    laws = []
    for value in inputs:
        history = watch.laws.get(id(value), []) if isinstance(value, torch.Tensor) else []
        law = Law(history, watch.roots.get(id(value), frozenset()))
        for step in history:
            if step.call == "randint":
                law.bound, law.low = step.high, step.low
        laws.append(law)
    return laws


class _Memo(dict[Any, Any]):
    """The latest FakeTensors of a mode, by the tensors from which they were made.

    The mode's own table has weak references. Then half(), bfloat16(), double() and to(dtype) of a module fail: they
    swap parameters, and torch swaps none with a weak reference.
    """

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if len(self) > REMEMBERED:
            del self[next(iter(self))]


class _Mode(FakeTensorMode):
    """A mode that is not copied with its tensors. nn.TransformerEncoder copies its layer, and the copy stays in the
    same mode."""

    def __deepcopy__(self, memo: Any) -> _Mode:
        return self


def mode() -> _Mode:
    """Returns a FakeTensorMode in which modules may be converted."""
    mode = _Mode(allow_non_fake_inputs=True)
    mode.fake_tensor_converter.meta_converter.tensor_memo = _Memo()  # type: ignore[assignment]
    return mode


def _construct(
    instance: source.Instance, mode: _Mode, cls: Callable[..., Any] | None = None
) -> torch.nn.Module:
    """Constructs the model on FakeTensors. If its constructor reads values of tensors, it runs on real ones, which
    are converted afterwards."""
    try:
        return instance.model(cls)
    except DataDependentOutputException:
        pass
    with _disable_current_modes(), torch.device("cpu"):
        model = instance.model(cls)
    for module in model.modules():
        for table in (module._parameters, module._buffers):
            for key, tensor in table.items():
                if tensor is not None:
                    fake = mode.from_tensor(tensor.detach())
                    is_parameter = table is module._parameters
                    made = torch.nn.Parameter(fake, tensor.requires_grad) if is_parameter else fake
                    table[key] = made  # type: ignore[assignment]  # of either table
    return model


def _really(instance: source.Instance, watch: _Watch, seed: int) -> list[Any]:
    """Draws inputs by get_inputs on real tensors. `watch` records the calls."""
    with _disable_current_modes(), torch.device("cpu"), torch.random.fork_rng(devices=[]), watch:
        torch.manual_seed(seed)
        return instance.inputs()


def _shapes(inputs: list[Any]) -> list[Any]:
    return [tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in inputs]


def _inputs(instance: source.Instance, mode: _Mode, watch: _Watch) -> list[Any]:
    """Returns get_inputs's inputs as FakeTensors.

    If get_inputs reads numbers (tokens per expert), it runs on real tensors and only the shapes are used. Two draws
    must have the same shapes: otherwise these depend on chance.
    """
    try:
        return instance.inputs()
    except failure.HANG_ON_VALUES as error:
        reason = error
    real = _Watch(Observed())
    inputs = _really(instance, real, 1)
    if _shapes(inputs) != _shapes(_really(instance, _Watch(Observed()), 2)):
        raise reason
    fakes = [mode.from_tensor(v) if isinstance(v, torch.Tensor) else v for v in inputs]
    for value, copy in zip(inputs, fakes):
        watch.laws[id(copy)] = real.laws.get(id(value), [])
        watch.roots[id(copy)] = real.roots.get(id(value), frozenset())
    return fakes


def observe(task: source.Source, sizes: Sizes, file: Sizes | None = None) -> Observed:
    """Runs the source on FakeTensors with `sizes`. Raises Failed with the reason if it does not run.

    With `file`, the model's class comes from a file with those other sizes. It learns `sizes` only through its
    constructor's arguments, as a candidate does.
    """
    reason = task.hanging
    is_first = reason is None
    if reason is None:
        try:
            return _observe(task, sizes, file, contextlib.nullcontext())
        except failure.Hanging as hanging:
            reason = task.hanging = hanging
    cause = reason
    extents: set[int] = set()

    def observed(way: data_dependent.Way, total: int | None) -> Observed:
        standing_in = data_dependent.StandIn(way, total)
        try:
            return _observe(task, sizes, file, standing_in)
        except failure.Failed as why:
            if is_first or isinstance(why, failure.Hanging):
                raise cause from why
            raise
        finally:
            extents.update(standing_in.extents)

    return varying.agreed(observed, cause, extents)


def _observe(
    task: source.Source, sizes: Sizes, file: Sizes | None, standing_in: contextlib.AbstractContextManager[Any]
) -> Observed:
    observed = Observed()
    try:
        with mode() as fakes, torch.no_grad():
            cls = getattr(task.instance(file).module, task.entry) if file is not None else None
            instance = task.instance(sizes)
            model = _construct(instance, fakes, cls)
            observed.init = repr((instance.init_args, instance.init_named))
            observed.weights = weights_of(model)
            observed.attributes = attributes_of(model)
            with _Watch(observed) as watch:
                inputs = _inputs(instance, fakes, watch)
                observed.laws = _laws_of(watch, inputs)
                observed.inputs = [_describe_input(i, value) for i, value in enumerate(inputs)]
            watch.kept, watch.laws = None, {}
            observed.flops = observed.elements = 0
            with standing_in, watch:
                left = effects.of_call(model, inputs)
                outputs = left.tensors() if left.written and left.is_plain else returned(left.answer)
            observed.operations, observed.steps = watch.hash.hexdigest(), watch.steps
    except failure.Failed:
        raise
    except Exception as error:
        raise failure.failed(error) from error
    observed.outputs = [Output(dtype_name(t.dtype), tuple(t.shape)) for t in outputs]
    observed.written, observed.ways, observed.same = (
        left.written,
        [way for way, _ in left.returned],
        left.same,
    )
    return observed
