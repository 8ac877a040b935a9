"""Finds the class or function of a candidate's module and the arguments of its calls."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Union, cast

if TYPE_CHECKING:
    import torch

    from .calling import Call


Scalar = Union[int, float, bool]  # the value of a parameter that is no tensor


class BadModule(Exception):
    """The module cannot be used at all."""


class BadResult(Exception):
    """The result differs from the expected one."""


SOLUTION = "_unseen_solution"  # the package of all files of a candidate, for relative imports


class Later:
    """A result that is made of a returned `part` after the call. A part that is None is not checked."""

    def __init__(self, part: Any, make: Callable[[], Any]) -> None:
        self.part, self.make = part, make


def kind(value: Any) -> str:
    """Names the type of a value."""
    if value is None:
        return "None"
    name = f"a {type(value).__module__}.{type(value).__qualname__}"
    return name.replace("a builtins.", "a ").replace("a _unseen_solution.", "a ")


def measured(bound: Any, result: Any) -> Any:
    """Returns a call's result. An adapter may add outputs to it: extents that depend on values."""
    further = getattr(bound, "measured", None)
    return further(result) if further else result


def load_module(path: str, root: str | None = None) -> ModuleType:
    """Loads the entry file at `path` of the candidate in the folder `root`.

    Its files are found as a script's are, from its own folder and from `root`, and by relative imports. Modules that
    were loaded before, such as torch's, keep their names.
    """
    folder, _file = os.path.split(path)
    root = root or folder
    sys.path[:0] = [folder] if folder == root else [folder, root]
    sys.modules[SOLUTION] = types.ModuleType(SOLUTION)
    sys.modules[SOLUTION].__path__ = [root]
    *above, name = os.path.relpath(path, root)[: -len(".py")].split(os.sep)
    if above:
        importlib.import_module(".".join([SOLUTION, *above]))  # runs their __init__.py, as Python does
    is_package = name == "__init__"
    plain = "".join(c if c.isalnum() else "_" for c in name)
    full = ".".join([SOLUTION, *above] + [plain] * (not is_package))
    spec = importlib.util.spec_from_file_location(
        full, path, submodule_search_locations=[folder] if is_package else None
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    if not is_package:
        # other files of the candidate may import it under its own name
        sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def shadowed(error: BaseException, root: str | None) -> str | None:
    """Returns the candidate's file that has the name of an already loaded module, if that caused `error`. Else
    returns None."""
    of = getattr(error, "obj", None)
    name = getattr(error, "name", None) if isinstance(error, ImportError) else getattr(of, "__name__", None)
    top = name.split(".")[0] if type(name) is str else ""
    loaded = getattr(sys.modules.get(top), "__file__", None) or "built in"
    if not root or not top.isidentifier() or top not in sys.modules or loaded.startswith(root + os.sep):
        return None
    for folder, _, files in os.walk(root):
        if top + ".py" in files:
            return os.path.relpath(os.path.join(folder, top + ".py"), root)
        if os.path.basename(folder) == top and folder != root:
            return os.path.relpath(folder, root) + os.sep
    return None


def functions_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Returns the module's own public functions, except those of a benchmark's file."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and is_own(value.__module__, module)
        and not name.startswith("_")
        and name not in ("get_inputs", "get_init_inputs")
    }


def is_own(name: str, module: ModuleType) -> bool:
    """Tells whether a name is that of the module, or of a file of the package."""
    return name == module.__name__ or (
        hasattr(module, "__path__") and str(name).startswith(module.__name__ + ".")
    )


def find_entry(module: ModuleType, problem: str, entry: str, known: Sequence[str] = ()) -> Callable[..., Any]:
    """Returns the candidate's class or function. `known` are names of the task's form, which count first."""
    if entry:
        found = getattr(module, entry, None)
        if callable(found):
            return cast("Callable[..., Any]", found)
        public = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise BadModule(
            f"the module has no class or function '{entry}'; it has {', '.join(public[:20]) or 'none'}\n"
            "---> --entry NAME names one of these"
        )
    for name in (*known, "ModelNew", "Model", problem):
        if callable(getattr(module, name, None)):
            return cast("Callable[..., Any]", getattr(module, name))
    functions = functions_of(module)
    if len(functions) == 1:
        return next(iter(functions.values()))
    found = f"the module has no class ModelNew or Model and no function {problem}, and "
    if functions:
        raise BadModule(
            f"{found}several others: {', '.join(sorted(functions))}\n---> --entry NAME says which one is meant"
        )
    taken = next((n for n in ("ModelNew", "Model", problem) if hasattr(module, n)), None)
    if taken:
        raise BadModule(
            f"the module's {taken} is a {type(getattr(module, taken)).__name__}; a class or a function was expected\n"
            "---> define it, or name another with --entry"
        )
    raise BadModule(
        f"{found}no other function; one of these was expected\n---> write it, or name another class with --entry NAME"
    )


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Returns the parameters that can be passed, or None if the signature is unknown."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return None
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


class Matching:
    """Chooses a function's arguments. They go by name if all required parameters are known, else by position:
    tensors, then scalars."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: list[str],
        outputs: list[str],
        scalars: dict[str, Scalar],
        destination: bool | None = None,
    ) -> None:
        parameters = parameters_of(function)
        known = set(inputs) | set(outputs) | set(scalars)
        self.named, self.positional = [], []
        names = [p.name for p in parameters or []]
        if parameters is not None and all(p.name in known for p in parameters if is_required(p)):
            self.positional = [
                n for p, n in zip(parameters, names) if p.kind == p.POSITIONAL_ONLY and n in known
            ]
            self.named = [p.name for p in parameters if p.kind != p.POSITIONAL_ONLY and p.name in known]
            if not self.named and not self.positional and parameters:
                self.positional = list(inputs)
            self.destination = bool(outputs) and all(n in names for n in outputs)
            return
        self.destination = bool(destination)
        order = list(inputs) + (list(outputs) if destination else []) + list(scalars)
        if parameters is None:
            self.positional = list(inputs) + (list(outputs) if destination else [])
            return
        least = sum(is_required(p) for p in parameters)
        if least > len(order):
            raise BadResult(
                f"{getattr(function, '__name__', 'it')} takes {least} arguments; there are {len(order)}: "
                f"{', '.join(order)}\n---> name its parameters so, or take as many by position"
            )
        self.positional = order[: max(least, min(len(parameters), len(inputs)))]

    def values(self, table: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        return [table[n] for n in self.positional], {n: table[n] for n in self.named}


class Function:
    """A plain function."""

    def __init__(self, function: Callable[..., Any], call: Call) -> None:
        self.function, self.call = function, call
        self.matching = Matching(function, call.inputs, call.outputs, call.scalars, call.destination)

    def rebind(self, tensors: dict[str, torch.Tensor]) -> None:
        table = {**tensors, **self.call.scalars}
        self.args, self.kwargs = self.matching.values(table)

    def __call__(self) -> Any:
        result = self.function(*self.args, **self.kwargs)
        return None if self.matching.destination else result


def takes(entry: Callable[..., Any], values: Sequence[Any], module: type[torch.nn.Module]) -> bool:
    """Tells whether a class can be constructed from so many values. A class without its own constructor takes none,
    which its signature does not show."""
    if getattr(entry, "__init__", None) is module.__init__:
        return not values
    try:
        inspect.signature(entry).bind(*values)
    except TypeError:
        return False
    except ValueError:
        pass  # the signature is unknown
    return True


def fingerprint(torch: ModuleType, tensors: Iterable[torch.Tensor]) -> list[list[int]]:
    """Returns sums over the bits of all tensors, weighted by place. Different contents give different sums."""
    sums = []
    for tensor in tensors:
        bits = tensor.detach().contiguous().view(torch.uint8).flatten()
        if bits.numel() % 4 == 0 and bits.storage_offset() % 4 == 0:
            bits = bits.view(torch.int32)  # needs a quarter of the sums
        for part in bits.split(1 << 24):
            wide = part.to(torch.int64)
            place = torch.arange(wide.numel(), device=wide.device) % 65521
            sums.append(torch.stack([wide.sum(), (wide * place).sum()]))
    return torch.cat(sums).tolist() if sums else []


class Model:
    """A class with state, constructed once for each configuration and content of its state. The state consists of the
    problem's tensors under the names of the state dict."""

    def __init__(
        self,
        entry: type[Any],
        call: Call,
        init: Sequence[Any] | None = None,
        state: dict[str, str] | None = None,
        forward: Sequence[str] | None = None,
    ) -> None:
        self.entry, self.call, self.init, self.state = entry, call, init, state
        self.forward = forward
        self.instance: Any = None
        self.print: list[list[int]] | None = None
        self.held: dict[str, torch.Tensor] = {}

    def construct(self, tensors: dict[str, torch.Tensor]) -> Any:
        torch = self.call.torch
        with torch.device(self.call.device):
            if self.init is not None and takes(self.entry, self.init, torch.nn.Module):
                instance = self.entry(*self.init)
            else:
                matching = Matching(self.entry, [], [], self.call.scalars)
                args, kwargs = matching.values(self.call.scalars)
                instance = self.entry(*args, **kwargs)
        if isinstance(instance, torch.nn.Module):
            instance = instance.to(self.call.device)
            self.load_state(instance, tensors)
        return instance

    def load_state(self, instance: torch.nn.Module, tensors: dict[str, torch.Tensor]) -> None:
        own = instance.state_dict()
        names = self.state if self.state is not None else {n: n for n in own if n in tensors}
        given = {key: tensors[name] for key, name in names.items()}
        for key, value in given.items():
            if key in own and tuple(own[key].shape) != tuple(value.shape):
                raise ValueError(
                    f"its {key} has the shape {tuple(own[key].shape)}; expected {tuple(value.shape)}"
                )
        with self.call.torch.no_grad():
            missing = instance.load_state_dict(given, strict=False).unexpected_keys if given else []
        if self.state is None:
            self.held = {name: own[name] for name in names if type(own[name]) is self.call.torch.Tensor}
        if missing:
            raise BadResult(
                f"its state dict lacks {', '.join(missing)}; it has {', '.join(own) or 'nothing'}\n"
                "---> keep the names of the published reference"
            )

    def fingerprint(self, tensors: dict[str, torch.Tensor]) -> list[list[int]]:
        return fingerprint(
            self.call.torch, [tensors[name] for name in sorted(set((self.state or {}).values()))]
        )

    def renew(self, tensors: dict[str, torch.Tensor]) -> None:
        """Copies inputs into state that has the name of a tensor, if no adapter declares state. Each call has other
        inputs. No method of the candidate sees them before the call."""
        copy = self.call.torch._C.TensorBase.copy_
        for name, held in self.held.items():
            copy(held, tensors[name])

    def rebind(self, tensors: dict[str, torch.Tensor]) -> None:
        mark = self.fingerprint(tensors)
        if self.instance is not None:
            self.renew(tensors)
        if self.instance is None or mark != self.print:
            self.instance, self.print = self.construct(tensors), mark
            loaded = set(self.state.values()) if self.state is not None else set()
            inputs = [n for n in self.call.inputs if n not in loaded]
            target = getattr(self.instance, "forward", self.instance)
            self.matching = Matching(
                target, inputs, self.call.outputs, self.call.scalars, self.call.destination
            )
        table = {**tensors, **self.call.scalars}
        if self.forward is not None:
            self.args: list[Any] = [table[n] for n in self.forward]
            self.kwargs: dict[str, Any] = {}
        else:
            self.args, self.kwargs = self.matching.values(table)

    def __call__(self) -> Any:
        result = self.instance(*self.args, **self.kwargs)
        return None if self.forward is None and self.matching.destination else result


def bind(entry: Callable[..., Any], call: Call) -> Model | Function:
    bound = Model(entry, call) if inspect.isclass(entry) else Function(entry, call)
    return bound
