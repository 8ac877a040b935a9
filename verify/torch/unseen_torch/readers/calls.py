"""Composes a module in KernelBench's form from recorded calls of a function (recorder.py).

Calls whose tensors have the same types and ranks are one group. Its extents become sizes (places.py), and its
other arguments columns of the table (compose.py). The calls of torch that made one call's tensors draw the
inputs; tensors of literals are drawn like their values (by_value.py)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from . import by_value, places, recorder
from .compose import VARIANT, Value
from .places import Place, Raised, Sizes
from .reading import error

Leaf = tuple[str, Any]  # name and tensor
Law = Callable[..., str]  # by_value.text or another: from a tensor, a shape and a bound to an expression
_RAISED = 2  # factor of an index input's numbers, less than BEYOND
_KINDS = inspect.Parameter


def plain(value: Any) -> str:
    """Returns the text of an argument that holds no tensor. Raises TypeError."""
    import torch

    text = repr(tuple(value) if isinstance(value, torch.Size) else value)
    try:
        same = eval(text, {"torch": torch, "inf": float("inf"), "nan": float("nan")})
    except Exception as failure:
        raise TypeError(type(value).__name__) from failure
    return text if repr(same) == text else repr(None)


class Arguments:
    """The arguments of one call by parameter, those without tensors apart."""

    def __init__(self, function: Callable[..., Any], call: recorder.Call) -> None:
        self.call, self.positional = call, len(call.args)
        bound = inspect.signature(function).bind(*call.args, **call.kwargs).arguments
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is _KINDS.VAR_KEYWORD:
                bound.update(bound.pop(parameter.name, {}))
        self.plain = {n: v for n, v in bound.items() if not list(recorder.tensors(v))}
        self.held = {n: v for n, v in bound.items() if n not in self.plain}
        for value in self.plain.values():
            plain(value)
        self.leaves: list[Leaf] = []
        self.given: list[Any] = []  # the tensors themselves, which the call may have changed
        self.texts = {n: self._text(v, n) for n, v in self.held.items()}
        self.key = repr((self.texts, [(x.dtype, x.dim()) for _, x in self.leaves]))

    def _text(self, value: Any, name: str) -> str:
        """Returns the text of an argument, in which its tensors stand by name."""
        import torch

        if isinstance(value, torch.Tensor):
            self.leaves.append((name, self.call.copies[id(value)]))
            self.given.append(value)
            return name
        if isinstance(value, (tuple, list)):
            inner = [self._text(each, f"{name}_{i}") for i, each in enumerate(value)]
            return (
                f"[{', '.join(inner)}]"
                if isinstance(value, list)
                else f"({''.join(i + ', ' for i in inner)})"
            )
        if isinstance(value, dict):
            return f"dict({', '.join(f'{k}={self._text(v, str(k))}' for k, v in value.items())})"
        return plain(value)


class Group:
    """Calls of one structure, and the texts of the module that stands for them."""

    def __init__(
        self, function: Callable[..., Any], calls: list[Arguments], law: Law = by_value.text
    ) -> None:
        self.law = law
        self.function, self.calls, self.first = function, calls, calls[0]
        defaults = {n: p.default for n, p in inspect.signature(function).parameters.items()}
        names = list(dict.fromkeys(n for call in calls for n in call.plain))
        self.plain: dict[str, list[Any]] = {
            n: [c.plain.get(n, defaults.get(n)) for c in calls] for n in names
        }
        distinct = {repr([v[i] for v in self.plain.values()]): i for i in range(len(calls))}
        small = [i for i in distinct.values() if self._elements(i) <= places.MOST_ELEMENTS]
        self.tried = (small or [min(range(len(calls)), key=self._elements)])[:6]
        self.sizes = Sizes(self._places(), lambda raised: all(self._runs(i, raised) for i in self.tried))
        self.bounds = {i: self._bound(i) for i in range(len(self.first.leaves))}

    def _elements(self, i: int) -> int:
        return places.elements(x.shape for _, x in self.calls[i].leaves)

    def _places(self) -> list[Place]:
        found = []
        for i, (name, first) in enumerate(self.first.leaves):
            shapes = [c.leaves[i][1].shape for c in self.calls]
            found += [Place(name, d, tuple(int(s[d]) for s in shapes), True) for d in range(first.dim())]
        for name, values in self.plain.items():
            if all(type(v) is int and v > 1 for v in values):
                found.append(Place(name, None, tuple(values), False))
            elif all(isinstance(v, (tuple, list)) and len(v) == len(values[0]) for v in values):
                for at, series in enumerate(zip(*values)):
                    if all(type(n) is int and n > 1 for n in series):
                        found.append(Place(name, at, tuple(series), False))
        return found

    def _runs(self, i: int, raised: Raised, indices: dict[int, int] | None = None) -> bool:
        """Tells whether call `i` runs with its places raised, and with the farthest numbers below the bounds
        `indices`, by leaf."""
        import torch

        call = self.calls[i]
        shapes = [
            [int(n * raised.get((name, d), 1)) for d, n in enumerate(x.shape)] for name, x in call.leaves
        ]
        if places.elements(shapes) > places.MOST_ELEMENTS:
            return False
        made = []
        for j, ((_, x), shape) in enumerate(zip(call.leaves, shapes)):
            farthest = indices[j] - 1 if indices and j in indices else None
            try:
                if farthest is not None:
                    made.append(torch.full(shape, farthest, dtype=x.dtype))
                else:
                    made.append(eval(self.law(x, repr(tuple(shape))), {"torch": torch}))
            except RuntimeError:  # symmetric and not square, or beyond the type
                return False
        return self.accepts(i, raised, made)

    def accepts(self, i: int, raised: Raised, made: list[Any]) -> bool:
        """Tells whether the function runs with these tensors and with the other arguments of call `i`."""
        import torch

        given = {n: _raised(v[i], n, raised) for n, v in self.plain.items()}
        names = {"function": self.function, "given": given}
        names.update(zip((name for name, _ in self.first.leaves), made))
        try:
            with torch.no_grad():
                eval(f"function({self.arguments(lambda name: f'given[{name!r}]')})", names)
        except Exception:  # raised by the task's own code
            return False
        return True

    def _bound(self, leaf: int) -> str | None:
        """Returns the size that bounds an input of indices."""
        import torch

        x = self.first.leaves[leaf][1]
        if x.dtype is torch.bool or x.is_floating_point() or x.is_complex() or not x.numel():
            return None
        most = [int(c.leaves[leaf][1].max()) for c in self.calls]

        def runs(size: str | None, bounds: Sequence[int]) -> bool:
            factors = {at: places.BEYOND for at, of in self.sizes.of.items() if of == size}
            return all(self._runs(i, factors, {leaf: _RAISED * bounds[i]}) for i in self.tried)

        known = self.sizes.series
        if not known or runs(None, [max(series[i] for series in known.values()) for i in range(len(most))]):
            return None
        fitting = [s for s, series in known.items() if all(n > m for n, m in zip(series, most))]
        return next((s for s in fitting if runs(s, known[s]) and not runs(None, known[s])), None)

    @property
    def sized(self) -> set[str]:
        """The arguments without tensors that are sizes or hold one."""
        return {key for key, _ in self.sizes.of if key in self.plain}

    def arguments(self, text: Callable[[str], str]) -> str:
        """Returns the text of a call's arguments. `text` gives that of an argument without tensors."""
        parameters = inspect.signature(self.function).parameters
        positional = min(c.positional for c in self.calls)
        given = {**self.first.held, **self.plain}
        parts = []
        for place, name in enumerate([*parameters, *(n for n in given if n not in parameters)]):
            if name not in given:
                continue
            one = self.first.texts[name] if name in self.first.held else text(name)
            kind = parameters[name].kind if name in parameters else _KINDS.KEYWORD_ONLY
            if kind is _KINDS.VAR_POSITIONAL:
                parts.append(f"*{one}")
            else:
                parts.append(f"{name}={one}" if kind is _KINDS.KEYWORD_ONLY or place >= positional else one)
        return ", ".join(parts)

    def _sized(self, name: str) -> str | None:
        """Returns the text of an argument that is a size, or a list with a size."""
        if (name, None) in self.sizes.of:
            return self.sizes.of[name, None]
        values = self.plain[name]
        if name not in self.sized:
            return None
        parts = []
        for at, series in enumerate(zip(*values)):
            if (name, at) not in self.sizes.of and any(n != series[0] for n in series):
                return None
            parts.append(self.sizes.of.get((name, at)) or plain(series[0]))
        return (
            f"[{', '.join(parts)}]"
            if isinstance(values[0], list)
            else f"({''.join(p + ', ' for p in parts)})"
        )

    def rows(self) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Returns `(rows of the table, texts of the arguments without tensors)`."""
        rows: list[dict[str, Any]] = [{} for _ in self.calls]
        for size, series in self.sizes.series.items():
            for row, number in zip(rows, series):
                row[size] = number
        texts = {}
        for name, values in self.plain.items():
            written = [plain(v) for v in values]
            texts[name] = self._sized(name) or (
                written[0] if len(set(written)) == 1 else f"VARIANTS[{VARIANT} - 1][{name!r}]"
            )
            if texts[name].startswith("VARIANTS"):
                for row, text in zip(rows, written):
                    row[name] = Value(text)
        return rows, texts

    def shape(self, leaf: int) -> list[str]:
        """Returns the text of each extent of a tensor."""
        name, x = self.first.leaves[leaf]
        return [self.sizes.of.get((name, d), str(n)) for d, n in enumerate(x.shape)]


def _raised(value: Any, name: str, raised: Raised) -> Any:
    """Returns an argument without tensors with its sizes raised."""
    if (name, None) in raised:
        return int(value * raised[name, None])
    if any(key == name and at is not None for key, at in raised):
        return type(value)(int(n * raised.get((name, at), 1)) for at, n in enumerate(value))
    return value


def grouped(
    function: Callable[..., Any], recorded: Sequence[recorder.Call], path: str, law: Law = by_value.text
) -> tuple[Group, list[tuple[str, str]], list[int]]:
    """Returns the group with the most calls, notes on the others, and the numbers of its calls. Raises
    SourceError."""
    left: dict[str, list[int]] = {}
    found: dict[str, list[tuple[int, Arguments]]] = {}
    for i, call in enumerate(recorded):
        why = _unread(function, call)
        try:
            one = None if why else Arguments(function, call)
        except TypeError as failure:
            why = f"an argument is a {failure}"
        if why or one is None:
            left.setdefault(why or "", []).append(i + 1)
        else:
            found.setdefault(one.key, []).append((i, one))
    words = [f"{_numbered(numbers)}: {why}" for why, numbers in left.items()]
    if not found:
        why = "; ".join(words) or "none runs"
        raise error(
            f"{path}: no call of {function.__name__} in its tests can be read: {why}",
            "a call that runs on a CPU, takes tensors and draws no random numbers was",
            "pass such arguments in its tests, or write the task in KernelBench's form",
        )
    best = max(found.values(), key=len)
    for others in found.values():
        if others is not best:
            numbers = _numbered([i + 1 for i, _ in others])
            words.append(f"{numbers}: their tensors have other types or ranks")
    notes = [("variant", f"left out of the published configurations: {word}") for word in words]
    return Group(function, [one for _, one in best], law), notes, [i for i, _ in best]


def _numbered(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (", .." if len(numbers) > 8 else "")
    return f"call{'s' if len(numbers) > 1 else ''} {shown}"


def _is_random(function: Callable[..., Any], call: recorder.Call) -> bool:
    """Tells whether a call gives other numbers with another seed."""
    import torch
    from torch.utils._pytree import tree_map

    def result(seed: int) -> list[Any]:
        args, kwargs = tree_map(
            lambda x: call.copies[id(x)].clone() if id(x) in call.copies else x, (call.args, call.kwargs)
        )
        torch.manual_seed(seed)
        with torch.no_grad():
            return list(recorder.tensors(function(*args, **kwargs)))

    try:
        return any(
            a.shape != b.shape or not torch.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True)
            for a, b in zip(result(1), result(2))
        )
    except Exception:  # raised by the task's own code
        return False


def _unread(function: Callable[..., Any], call: recorder.Call) -> str | None:
    """Returns why a call cannot be a configuration."""
    if call.failure:
        return call.failure.split("\n")[0][:200]
    if not call.copies:
        return "it passes no tensor"
    if call.kwargs.get("out") is not None:
        return "it passes a tensor as out"
    if any(x.is_quantized or x.is_sparse for x in call.copies.values()):
        return "a tensor is quantized or sparse"
    if any(0 in x.shape for x in call.copies.values()):
        return "a tensor is empty"
    is_small = places.elements(x.shape for x in call.copies.values()) <= places.MOST_ELEMENTS
    if is_small and _is_random(function, call):
        return "it draws random numbers"
    return None
