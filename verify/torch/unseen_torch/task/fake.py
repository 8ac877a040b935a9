"""Runs a task's source on FakeTensors, which have shapes and no values.

It records the shapes of inputs, weights and outputs, the model's attributes, its operations and their work.
"""

import contextlib
import errno
import hashlib
import logging
import resource
import socket
import warnings
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from . import data_dependent, effects, source, structure, varying

warnings.filterwarnings("ignore")
# a size that does not run is an expected result here
logging.getLogger("torch").setLevel(logging.CRITICAL + 1)
logging.disable(logging.CRITICAL)

VIEWS = (
    "view",
    "reshape",
    "expand",
    "transpose",
    "permute",
    "t",
    "unsqueeze",
    "squeeze",
    "slice",
    "select",
    "detach",
    "alias",
    "as_strided",
    "unfold",
    "split",
    "unbind",
    "_unsafe_view",
    "chunk",
)
REMEMBERED = 1024  # FakeTensors of a run
ATTRIBUTES = (
    "kernel_size",
    "stride",
    "padding",
    "output_padding",
    "dilation",
    "groups",
    "num_groups",
    "num_heads",
    "num_layers",
)


class Observed:
    """The record of one run. Shapes are tuples; dtypes have torch's names without 'torch.'."""

    def __init__(self):
        self.inputs, self.weights, self.outputs = [], [], []
        self.init = self.attributes = self.operations = ""
        self.flops = self.elements = self.largest = self.steps = 0
        self.laws, self.ways = [], []
        # effects.py: places of written inputs, and results that are such inputs
        self.written, self.same = [], []
        self.calls = set()  # names of the operations that forward calls

    def dims(self, results=True):
        """Returns all extents in a fixed order, of outputs only with `results`."""
        flat = []
        for tensors in (self.inputs, self.weights, self.outputs if results else []):
            for tensor in tensors:
                flat += list(tensor["shape"])
        return flat + [law["bound"] for law in self.laws if law.get("bound") is not None]

    def structure(self):
        """Returns all facts that must be equal in two runs that differ in their sizes only."""
        return (
            [(t["kind"], t["dtype"], len(t["shape"])) for t in self.inputs],
            [(t["name"], t["dtype"], len(t["shape"])) for t in self.weights],
            [(t["dtype"], len(t["shape"])) for t in self.outputs],
            self.written,
        )


HINT = "run it with its own check first"
NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


class Failed(Exception):
    """The source does not run with these sizes. `stage` is its function that was running, `hint` says what to do."""

    def __init__(self, reason, hint=HINT, stage=""):
        super().__init__(reason)
        self.hint, self.stage = hint, stage


HANG_ON_VALUES = (DataDependentOutputException, DynamicOutputShapeException)


class Hanging(Failed):
    """The task's operations or shapes depend on values of tensors."""


def _place(error):
    """Returns `(function called from here, line that was running)` in the task's source. It is `("", 0)` if the error
    arose elsewhere."""
    stage, line, trace = "", 0, error.__traceback__
    while trace:
        if trace.tb_frame.f_globals.get("__name__") == source.MODULE:
            stage, line = stage or trace.tb_frame.f_code.co_name, trace.tb_lineno
        trace = trace.tb_next
    return stage, line


def failed(error):
    """Returns Failed for an exception of the task. The text explains errors that the sandbox causes."""
    stage, line = _place(error)
    chain, each = [], error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    lines = str(error).strip().splitlines()
    text = type(error).__name__ + (f": {lines[0]}" if lines else "")
    text += (
        f" (line {line}, in {stage})" if stage not in ("", "<module>") else f" (line {line})" if line else ""
    )
    if any(
        isinstance(e, socket.gaierror) or (isinstance(e, OSError) and e.errno in NO_NETWORK) for e in chain
    ):
        return Failed(
            f"it asks for the network, which is not there when a task is imported ({text})",
            "put what it fetches into the file",
        )
    if any(isinstance(e, DataDependentOutputException) for e in chain):
        if stage == "get_inputs":
            return Failed(
                f"get_inputs reads numbers from its tensors ({text}); inputs whose shapes follow from the source's sizes "
                "were expected",
                "take chance out of the shapes",
            )
        return Hanging(
            f"forward reads numbers from its tensors ({text}), on which its graph hangs; operations that follow from "
            "the sizes alone were expected",
            "write it without .item(), or as a problem of its own (unseen new)",
        )
    if any(isinstance(e, DynamicOutputShapeException) for e in chain):
        return Hanging(
            f"{stage or 'it'} makes tensors whose shapes hang on values ({text}); shapes that follow from the sizes alone "
            "were expected",
            "let it compute with a mask, or write it as a problem of its own (unseen new)",
        )
    if isinstance(error, source.NoTask):
        return Failed(str(error), error.hint)
    if isinstance(error, ModuleNotFoundError):
        return Failed(
            f"{text} in the interpreter that runs it", "install it there, or name another with --python"
        )
    if (
        "NVIDIA driver" in text
        or "not compiled with CUDA" in text
        or type(error).__name__ == "FakeTensorDeviceMismatchError"
    ):
        return Failed(
            f"it names a device ({text}); tensors and a Model without one, which are moved to where they run, were expected",
            "take .cuda() and device='cuda' out of it",
        )
    if isinstance(error, MemoryError) or "allocate memory" in text:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        has = f"the {limit >> 30} GiB that importing has" if limit > 0 else "there is"
        return Failed(f"it takes more memory than {has} ({text})", "give it smaller sizes")
    return Failed(text, stage=stage)


def _of_a_recurrent_layer(x, of_inputs, of_states, *_, **__):
    """Returns the work of a recurrent layer: two operations for each weight at each step of each sequence. x is
    [steps, batch, width]."""
    return 2 * (x.numel() // x.shape[-1]) * (of_inputs.numel() + of_states.numel())


def _of_distances(a, b, *_, **__):
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


def dtype_name(dtype):
    return str(dtype).replace("torch.", "")


DRAWS = {
    "rand",
    "randn",
    "randint",
    "randperm",
    "uniform",
    "normal",
    "bernoulli",
    "exponential",
    "random",
    "multinomial",
    "rand_like",
    "randn_like",
    "randint_like",
    "log_normal",
    "geometric",
    "cauchy",
}


class _Watch(TorchDispatchMode):
    """Counts the work of all operations and records the calls that drew each tensor."""

    def __init__(self, observed):
        super().__init__()
        self.observed, self.hash, self.laws, self.kept, self.steps = observed, hashlib.sha256(), {}, [], 0
        self.roots = {}  # by a tensor's id: the draws from which it is computed

    def _law(self, name, func, args, out):
        history = []
        for argument in args:
            history += self.laws.get(id(argument), []) if isinstance(argument, torch.Tensor) else []
        step = {
            "call": name,
            "numbers": [a for a in args[1:] if isinstance(a, (int, float)) and not isinstance(a, bool)],
        }
        if any(isinstance(a, torch.Tensor) for a in args[1:]):
            step["numbers"] = None  # the operand is another tensor
        if name == "randint":
            numbers = [a for a in args if isinstance(a, int)]
            step["low"], step["high"] = (0, numbers[0]) if func._overloadname == "default" else numbers[:2]
        roots = frozenset().union(*(self.roots.get(id(a), ()) for a in tree_leaves(args)))
        if name.rstrip("_") in DRAWS:
            roots |= {len(self.kept)}
        for each in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(each, torch.Tensor):
                self.laws[id(each)], self.roots[id(each)] = ([*history, step])[:16], roots
                self.kept.append(each)  # keeps the id in use

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func._opname if hasattr(func, "_opname") else func.__name__.split(".")[0]
        scalars = [a for a in args if isinstance(a, (int, float, bool, str))]
        # torch detaches a new tensor only if its memo has no equal one, so detach is not counted
        if name != "detach":
            self.hash.update(f"{func}{scalars}".encode())
            self.steps += 1
        if self.kept is not None:
            self._law(name, func, args, out)
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


def flatten(value):
    """Returns the tensors in a model's result, in order. Returns None if it contains something else."""
    found = structure.places(value, torch.Tensor)
    return None if found is None else [tensor for _, tensor in found]


def returned(value):
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
        raise Failed(
            f"forward returned {what}; a tensor, or a tuple of tensors, was expected", "correct the task"
        )
    return outputs


def _describe_input(number, value):
    if not isinstance(value, (torch.Tensor, bool, int, float, str, type(None))):
        raise Failed(
            f"get_inputs gives a {type(value).__name__} as its number {number + 1}; a tensor, a number or a text was "
            "expected",
            "give forward its tensors one by one (torch.from_numpy makes one of an array)",
        )
    if isinstance(value, torch.Tensor):
        return {"kind": "tensor", "dtype": dtype_name(value.dtype), "shape": tuple(value.shape)}
    return {"kind": "value", "dtype": type(value).__name__, "shape": (), "value": value}


def weights_of(model):
    """Returns parameters and persistent buffers under their names in the state dict."""
    parameters = dict(model.named_parameters())
    return [
        {"name": name, "dtype": dtype_name(t.dtype), "shape": tuple(t.shape), "parameter": name in parameters}
        for name, t in model.state_dict(keep_vars=True).items()
        if isinstance(t, torch.Tensor)
    ]


def attributes_of(model):
    """Returns the modules' attributes for windows, strides, groups and the like, as text."""
    found = []
    for path, module in model.named_modules():
        for name in ATTRIBUTES:
            value = getattr(module, name, None)
            depthwise = name == "groups" and value in (1, getattr(module, "in_channels", None))
            if isinstance(value, (int, tuple, str)) and not depthwise:
                found.append((path, name, value))
    return repr(found)


def _laws_of(watch, inputs):
    laws = []
    for value in inputs:
        history = watch.laws.get(id(value), []) if isinstance(value, torch.Tensor) else []
        law = {
            "calls": [step["call"] for step in history],
            "steps": history,
            "roots": watch.roots.get(id(value), frozenset()),
        }
        for step in history:
            if step["call"] == "randint":
                law["bound"], law["low"] = step["high"], step["low"]
        laws.append(law)
    return laws


class _Memo(dict[Any, Any]):
    """The latest FakeTensors of a mode, by the tensors from which they were made.

    The mode's own table has weak references. Then half(), bfloat16(), double() and to(dtype) of a module fail: they
    swap parameters, and torch swaps none with a weak reference.
    """

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if len(self) > REMEMBERED:
            del self[next(iter(self))]


class _Mode(FakeTensorMode):
    """A mode that is not copied with its tensors. nn.TransformerEncoder copies its layer, and the copy stays in the
    same mode."""

    def __deepcopy__(self, memo):
        return self


def _mode():
    """Returns a FakeTensorMode in which modules may be converted."""
    mode = _Mode(allow_non_fake_inputs=True)
    mode.fake_tensor_converter.meta_converter.tensor_memo = _Memo()
    return mode


def _construct(instance, mode, cls=None):
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
                    table[key] = (
                        torch.nn.Parameter(fake, tensor.requires_grad)
                        if table is module._parameters
                        else fake
                    )
    return model


def _really(instance, watch, seed):
    """Draws inputs by get_inputs on real tensors. `watch` records the calls."""
    with _disable_current_modes(), torch.device("cpu"), torch.random.fork_rng(devices=[]), watch:
        torch.manual_seed(seed)
        return instance.inputs()


def _shapes(inputs):
    return [tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in inputs]


def _inputs(instance, mode, watch):
    """Returns get_inputs's inputs as FakeTensors.

    If get_inputs reads numbers (tokens per expert), it runs on real tensors and only the shapes are used. Two draws
    must have the same shapes: otherwise these depend on chance.
    """
    try:
        return instance.inputs()
    except HANG_ON_VALUES as error:
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


def observe(task, sizes, file=None):
    """Runs the source on FakeTensors with `sizes`. Raises Failed with the reason if it does not run.

    With `file`, the model's class comes from a file with those other sizes. It learns `sizes` only through its
    constructor's arguments, as a candidate does.
    """
    first = task.hanging is None
    if first:
        try:
            return _observe(task, sizes, file, contextlib.nullcontext())
        except Hanging as hanging:
            task.hanging = hanging
    failure = task.hanging

    def observed(way):
        try:
            return _observe(task, sizes, file, data_dependent.StandIn(way))
        except Failed as why:
            if first or isinstance(why, Hanging):
                raise failure from why
            raise

    return varying.agreed(observed, failure)


def _observe(task, sizes, file, standing_in):
    observed = Observed()
    try:
        with _mode() as mode, torch.no_grad():
            cls = getattr(task.instance(file).module, task.entry) if file is not None else None
            instance = task.instance(sizes)
            model = _construct(instance, mode, cls)
            observed.init = repr((instance.init_args, instance.init_named))
            observed.weights = weights_of(model)
            observed.attributes = attributes_of(model)
            with _Watch(observed) as watch:
                inputs = _inputs(instance, mode, watch)
                observed.laws = _laws_of(watch, inputs)
                observed.inputs = [_describe_input(i, value) for i, value in enumerate(inputs)]
            watch.kept, watch.laws = None, {}
            observed.flops = observed.elements = 0
            with standing_in, watch:
                left = effects.of_call(model, inputs)
                outputs = left.tensors() if left.written and left.is_plain else returned(left.answer)
            observed.operations, observed.steps = watch.hash.hexdigest(), watch.steps
    except Failed:
        raise
    except Exception as error:
        raise failed(error) from error
    observed.outputs = [{"dtype": dtype_name(t.dtype), "shape": tuple(t.shape)} for t in outputs]
    observed.written, observed.ways, observed.same = (
        left.written,
        [way for way, _ in left.returned],
        left.same,
    )
    return observed
