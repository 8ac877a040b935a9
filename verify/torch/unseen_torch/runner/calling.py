"""Callbacks of the C runner: they make views of tensors, call the candidate and inspect its result.

All functions of torch used here were taken before the candidate was loaded, from types that it cannot patch. The
builtins are copied as well, since a function keeps the builtins that its module has when it is defined.

No code of the candidate runs after the clock has stopped. Its result is inspected by type, and by methods of the
permitted types.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

__builtins__ = dict(vars(builtins))  # type: ignore[assignment]  # CPython takes a dict, too

import ctypes
import importlib.util
import os
import types

from .. import close, error_text, oom
from . import allocator_poison, binding

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from .binding import Scalar
    from .serve import Plan

DONE, REFUSED, RAISED, SHORT = 0, 1, 2, 3
FAILURE_LOAD, FAILURE_SYMBOL, FAILURE_MEMORY = 1, 2, 3
INPUT, OUTPUT, INOUT = 0, 1, 2
TEXT = 511


Key = tuple[Any, ...]  # shapes of the tensors and values of the scalars of a configuration


class Bound(Protocol):
    """A candidate bound to a configuration, by an adapter or by binding.py."""

    def rebind(self, tensors: dict[str, torch.Tensor]) -> None: ...

    def __call__(self) -> Any: ...


class Call:
    """The argument of an adapter (see doc/candidate.md)."""

    def __init__(self, torch: ModuleType, device: torch.device, destination: bool | None) -> None:
        self.torch, self.device, self.destination = torch, device, destination
        self.tensors: dict[str, Tensor] = {}
        self.scalars: dict[str, Scalar] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.model = lambda entry, **how: binding.Model(entry, self, **how)
        self.later = binding.Later
        self.fingerprint = lambda tensors: binding.fingerprint(torch, tensors)
        self.last: Bound | None = (
            None  # the previous binding, whose model may serve this configuration as well
        )


class Caller:
    def __init__(self, torch: ModuleType, library: ctypes.CDLL, plan: Plan) -> None:
        self.torch, self.library, self.plan = torch, library, plan
        self.out_of_memory = getattr(torch, "OutOfMemoryError", ())
        self.path, self.root = "", os.environ.get("UNSEEN_SOLUTION")
        base = torch._C.TensorBase
        self.tensor_type = torch.Tensor
        self.get = types.SimpleNamespace(
            data_ptr=base.data_ptr,
            stride=base.stride,
            contiguous=base.contiguous,
            is_neg=base.is_neg,
            is_conj=base.is_conj,
            shape=base.shape.__get__,
            dtype=base.dtype.__get__,
            layout=base.layout.__get__,
            device=base.device.__get__,
            nested=base.is_nested.__get__,
            zero=base._is_zerotensor,
        )
        self.wrapped = getattr(torch._C._functorch, "is_functorch_wrapped_tensor", lambda x: False)
        self.bare = torch._C.DisableTorchFunction
        self.no_grad, self.strided = torch.no_grad, torch.strided
        self.from_dlpack, self.capsule = torch._C._from_dlpack, ctypes.pythonapi.PyCapsule_New
        self.capsule.restype = ctypes.py_object
        self.capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        t = torch
        # in the order of enum dtype
        names = "float32 bfloat16 float8_e4m3fn int32 int64 uint8 float64 float16 float8_e5m2 int8 bool"
        self.formats = [getattr(t, n, t.uint8) for n in (*names.split(), "float4_e2m1fn_x2")]
        self.as_bytes = {t.float8_e4m3fn, t.float8_e5m2, t.bool, self.formats[-1]}
        self.empty_cache = getattr(torch._C, "_cuda_emptyCache", None)
        self.cached = allocator_poison.Cached(torch, library)
        self.bound: dict[Key, Bound] = {}
        self.keys: dict[int, Key] = {}
        self.last: Bound | None = None
        self.current: Any = None  # a Bound
        self.views: dict[str, Tensor] | None = None
        self.packed: dict[int, Any] = {}
        self.entry: Callable[..., Any]
        self.adapter: ModuleType | None = None

    # --- words ---

    def say(self, text: str) -> None:
        self.plan.text = text.encode("ascii", "replace")[:TEXT]

    def explain(self, error: BaseException) -> int:
        """Reports an exception. Some types, and lack of memory, mean that the candidate refuses; all others are
        errors."""
        if isinstance(error, binding.BadResult):
            self.say(str(error))
            return RAISED
        self.say(f"raised {error_text.describe(error)}{self.line_of(error)}")
        if oom.is_short(error, self.out_of_memory):
            return SHORT
        return REFUSED if isinstance(error, (NotImplementedError, ValueError, AssertionError)) else RAISED

    # --- loading ---

    def load(self, path: bytes, symbol: bytes, entry: bytes, adapter: bytes | None) -> int:
        try:
            if self.plan.own:
                self.guard_own()
            if self.plan.backend == 1:
                self.torch.cuda.set_device(int(self.plan.device))
            self.path = path.decode()
            found = self.load_adapter(adapter)  # first: the candidate may have modules of any name
            close()
            module = binding.load_module(self.path, self.root)
            name, self.destination = entry.decode(), None
            if name.endswith("!"):  # a solution that writes into given outputs
                name, self.destination = name[:-1], True
            known: list[str] = getattr(found, "entries", list)()
            self.entry = binding.find_entry(module, symbol.decode(), name, known)
            self.adapter = (
                found if isinstance(self.entry, type) or getattr(found, "FUNCTIONS", False) else None
            )
            return 0
        except binding.BadModule as error:
            self.say(str(error))
            return FAILURE_SYMBOL
        except BaseException as error:
            short = oom.is_short(error, self.out_of_memory)
            hidden = binding.shadowed(error, self.root)
            advice = (
                f"{hidden} has the name of a module that is loaded before it: rename it, or import it relatively (from . import ..)"
                if hidden
                else error_text.advice(error, short)
            )
            self.say(
                f"the module cannot be imported: {error_text.describe(error)}{self.line_of(error)}\n---> {advice}"
            )
            return FAILURE_MEMORY if short else FAILURE_LOAD

    @staticmethod
    def load_adapter(path: bytes | None) -> ModuleType | None:
        if not path:
            return None
        spec = importlib.util.spec_from_file_location("_unseen_adapter", path.decode())
        assert spec and spec.loader
        adapter = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(adapter)
        return adapter

    def guard_own(self) -> None:
        """Makes torch allocate from the runner, each block between guards. It must precede all allocations."""
        memory = self.torch.cuda.memory
        memory.change_current_allocator(
            memory.CUDAPluggableAllocator(self.library._name, "unseen_own_alloc", "unseen_own_free")
        )

    def line_of(self, error: BaseException) -> str:
        """Returns the innermost line of the candidate that was running. For a file other than its entry it adds the
        file's name."""
        found, trace = "", error.__traceback__
        while trace:
            file = trace.tb_frame.f_code.co_filename
            if file == self.path:
                found = f" (line {trace.tb_lineno})"
            elif self.root and file.startswith(self.root + "/"):
                found = f" ({file[len(self.root) + 1 :]}, line {trace.tb_lineno})"
            trace = trace.tb_next
        return found

    # --- before a call ---

    def view(self, i: int) -> torch.Tensor:
        tensor = self.plan.tensor[i]
        view: Tensor = self.from_dlpack(self.capsule(self.library.unseen_view(i), b"dltensor", None))
        wanted = self.formats[tensor.dtype]
        return view.view(wanted) if wanted in self.as_bytes else view

    def scalars(self) -> dict[str, Scalar]:
        kinds = (int, int, bool, float, float)
        found = {}
        for i in range(self.plan.arguments):
            a = self.plan.argument[i]
            kind = kinds[a.type]
            found[a.name.decode()] = kind(a.real if kind is float else a.whole)
        return found

    def make_call(self, scalars: dict[str, Scalar]) -> Call:
        plan = self.plan
        device = f"cuda:{plan.device}" if plan.backend == 1 else "cpu"
        call = Call(self.torch, self.torch.device(device), self.destination)
        call.scalars = scalars
        for i in range(plan.tensors):
            tensor = plan.tensor[i]
            (call.outputs if tensor.role == OUTPUT else call.inputs).append(tensor.name.decode())
            call.shapes[tensor.name.decode()] = tuple(tensor.dim[: tensor.rank])
        return call

    def prepare(self) -> int:
        plan = self.plan
        try:
            if plan.backend == 1:
                cuda = self.torch.cuda
                cuda.set_stream(cuda.ExternalStream(plan.stream, device=int(plan.device)))
            self.views, self.packed = None, {}
            views = {plan.tensor[i].name.decode(): self.view(i) for i in range(plan.tensors)}
            scalars = self.scalars()
            key = (tuple((n, tuple(v.shape)) for n, v in views.items()), tuple(scalars.items()))
            if key not in self.bound:
                call = self.make_call(scalars)
                call.tensors, call.last, self.last = views, self.last, None
                with self.no_grad():
                    bind = self.adapter.bind if self.adapter else binding.bind
                    self.bound[key] = bind(self.entry, call)
            self.keys[plan.set] = key
            self.current = self.bound[key]
            with self.no_grad():
                self.current.rebind(views)
            self.views = views
            if not plan.own:
                self.cached.poison(plan)
            return DONE
        except BaseException as error:
            return self.explain(error)

    def forget(self, number: int, keep: int) -> None:
        self.views = self.current = self.last = None
        self.packed = {}
        for each in [s for s in self.keys if number == 16 or s == number]:
            self.keys.pop(each)
        for key in [k for k in self.bound if k not in self.keys.values()]:
            gone = self.bound.pop(key)
            self.last = gone if keep else None
        if not self.bound and not self.last and self.empty_cache:
            try:  # another process may need the allocator's memory between two configurations
                self.empty_cache()
            except BaseException:
                pass  # the next call reports the device's error

    # --- the call ---

    def call(self) -> int:
        try:
            with self.no_grad():
                result = self.current()
            self.library.unseen_ended()
            self.take(binding.measured(self.current, result))
            return DONE
        except BaseException as error:
            return self.explain(error)

    def written(self) -> list[int]:
        return [i for i in range(self.plan.tensors) if self.plan.tensor[i].role != INPUT]

    def wanted(self) -> tuple[list[int], list[int]]:
        """Returns the tensors for which a result may stand: outputs, and outputs with in-out tensors."""
        outputs = [i for i in self.written() if self.plan.tensor[i].role == OUTPUT]
        return outputs, self.written()

    def take(self, result: Any) -> None:
        outputs, written = self.wanted()
        self.packed = {}
        for i in written:
            self.plan.tensor[i].returned = 0
        if getattr(self.current, "matching", None) is not None and self.current.matching.destination:
            return
        if result is None and not outputs:
            return
        if type(result) is dict:
            result = self.by_name(result, outputs)
        if len(written) > 1 and self.is_sequence(result):
            result = self.elements(result)
            numbers = outputs if len(result) == len(outputs) and outputs else written
            if len(result) != len(numbers):
                raise binding.BadResult(
                    f"returned {len(result)} values; expected {self.describe(outputs or written)}"
                )
            pairs = list(zip(numbers, result))
        elif len(outputs or written) == 1:
            pairs = [((outputs or written)[0], result)]
        else:
            raise binding.BadResult(
                f"returned {binding.kind(result)}; expected {self.describe(outputs or written)}"
            )
        for i, value in pairs:
            self.take_one(i, value)

    @staticmethod
    def is_sequence(value: Any) -> bool:
        kinds = type.mro(type(value))  # isinstance would ask the value for its class
        return tuple in kinds or list in kinds

    @staticmethod
    def elements(value: Any) -> tuple[Any, ...]:
        """Returns the elements, even of a named tuple, without calling its own methods."""
        return tuple(tuple.__iter__(value) if tuple in type.mro(type(value)) else list.__iter__(value))

    def by_name(self, result: dict[Any, Any], outputs: list[int]) -> Any:
        names = [self.plan.tensor[i].name.decode() for i in outputs]
        if any(type(key) is not str for key in result):
            raise binding.BadResult("returned a dict with keys that are no str; expected the outputs' names")
        if any(n not in result for n in names):
            missing = ", ".join(n for n in names if n not in result)
            raise binding.BadResult(f"returned a dict without {missing}; expected {self.describe(outputs)}")
        values = tuple(result[n] for n in names)
        return values if len(values) > 1 else values[0]

    def describe(self, numbers: list[int]) -> str:
        words = []
        for i in numbers:
            t = self.plan.tensor[i]
            words.append(f"{t.name.decode()} {str(self.formats[t.dtype])[6:]} {list(t.dim[: t.rank])}")
        return ("a torch.Tensor, " if len(words) == 1 else "a tuple of tensors: ") + ", ".join(words)

    def complaint(self, i: int, value: Any, is_part: bool = False) -> str | None:
        """Returns the reason why a value is no valid result, or None. A part may have smaller extents."""
        t, get = self.plan.tensor[i], self.get
        if type(value) is not self.tensor_type:
            inherits = self.tensor_type in type.mro(type(value))
            return binding.kind(value) + (", a subclass" if inherits else "")
        if (
            get.nested(value)
            or get.layout(value) is not self.strided
            or self.wrapped(value)
            or get.zero(value)
        ):
            return "a tensor without memory of its own (sparse, nested or lazy)"
        shape, dims = tuple(get.shape(value)), tuple(t.dim[: t.rank])
        if get.device(value).type != ("cuda" if self.plan.backend == 1 else "cpu") or (
            self.plan.backend == 1 and get.device(value).index != self.plan.device
        ):
            return f"a tensor on {get.device(value)}"
        if get.dtype(value) is not self.formats[t.dtype]:
            return f"a tensor of {str(get.dtype(value))[6:]}"
        if shape != dims and not (shape == () and dims == (1,)) and not is_part:
            return f"a tensor of the shape {list(shape)}"
        if get.is_neg(value) or get.is_conj(value):
            return "a tensor whose sign is still to be applied"
        return None

    def take_one(self, i: int, value: Any) -> None:
        t = self.plan.tensor[i]
        later = type(value) is binding.Later
        with self.bare():
            part = value.part if later else value
            wrong = None if part is None else self.complaint(i, part, later)
            if wrong:
                raise binding.BadResult(f"returned {wrong}; expected {self.describe([i])}")
            if later and self.plan.backend == 1:  # made once no clock of the device runs
                self.packed[i], t.returned = value, 1
                return
            value = value.make() if later else value
            t.back = self.get.data_ptr(value)
            for d, stride in enumerate(self.get.stride(value) or (1,)):
                t.back_stride[d] = stride
        self.packed[i] = value  # keeps it alive until it is copied
        t.returned = int(bool(t.back) and t.back != t.data)

    def pack(self, i: int) -> int:
        try:
            with self.bare(), self.no_grad():
                value = self.packed[i]
                dense = self.get.contiguous(value.make() if type(value) is binding.Later else value)
                self.packed[i] = dense
                self.plan.tensor[i].back = self.get.data_ptr(dense)
            return DONE
        except BaseException as error:
            return self.explain(error)
