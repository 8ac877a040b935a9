"""Composes a module in KernelBench's form from the arguments of published configurations.

An integer argument is a size, and a list of integers has a size for each element. Lists of several lengths
have two sizes: a count and the greatest element. All other arguments that differ between configurations are
in a table, and the size `variant` counts its rows from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .reading import Config, whole

VARIANT = "variant"
PUBLISHED = "unseen_published.py"  # the module that holds VARIANTS and LENGTHS; its integers are no sizes


class Value:
    """A value in the table that is no size, whatever its type. `text` is its expression."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Argument:
    """One argument of all configurations. `values` are its values in their order."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name, self.values = name, values
        self.first = values[0]

    def of(self, value: Any) -> dict[str, int]:
        """Returns the sizes of a value."""
        return {}

    def text(self) -> str:
        """Returns the expression that stands for it."""
        return repr(self.first)


class Whole(Argument):
    def of(self, value: Any) -> dict[str, int]:
        return {self.name: value}

    def text(self) -> str:
        return self.name


class Listed(Argument):
    """Lists of one length."""

    def of(self, value: Any) -> dict[str, int]:
        return {f"{self.name}_{i}": n for i, n in enumerate(value)}

    def text(self) -> str:
        return f"[{', '.join(self.of(self.first))}]"


class Ragged(Argument):
    """Lists of several lengths. A drawn list repeats its greatest element; a published one is as
    published."""

    def of(self, value: Any) -> dict[str, int]:
        return {f"{self.name}_count": len(value), f"{self.name}_most": max(value)}

    def text(self) -> str:
        return f"published_list({self.name!r}, {', '.join(self.of(self.first))})"


class Varied(Argument):
    """Neither a size nor constant: a column of the table."""

    def text(self) -> str:
        return f"VARIANTS[{VARIANT} - 1][{self.name!r}]"


def argument(name: str, values: Sequence[Any]) -> Argument:
    """Returns the argument of the right kind for these values."""
    if all(whole(v) for v in values):
        return Whole(name, values)
    lists = all(isinstance(v, (list, tuple)) and v and all(map(whole, v)) for v in values)
    if lists:
        return (Listed if len({len(v) for v in values}) == 1 else Ragged)(name, values)
    is_same = all(type(v) is type(values[0]) and v == values[0] for v in values)
    return (Argument if is_same else Varied)(name, values)


class Table:
    """The arguments of published configurations.

    `rows` are the values by name, one dictionary a configuration. `wanted` are indices of the variants that
    remain, in the order of their first configurations; None: all. A value that is missing from a row is None.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        names: Sequence[str],
        weights: Sequence[float],
        wanted: list[int] | None = None,
    ) -> None:
        keys = list(dict.fromkeys(key for row in rows for key in row))
        probe = [argument(key, [row.get(key) for row in rows]) for key in keys]
        varied = [a.name for a in probe if isinstance(a, Varied)]
        variants = list(dict.fromkeys(repr([row.get(n) for n in varied]) for row in rows))
        self.count = len(variants)
        if wanted is not None:
            kept = {variants[i] for i in wanted}
            places = [i for i, row in enumerate(rows) if repr([row.get(n) for n in varied]) in kept]
            rows, names = [rows[i] for i in places], [names[i] for i in places]
            weights = [weights[i] for i in places]
        self.arguments = [argument(key, [row.get(key) for row in rows]) for key in keys]
        self.columns = [a.name for a in self.arguments if isinstance(a, Varied)]
        self.variants: list[dict[str, Any]] = []
        self.configs: list[Config] = []
        for row, name, weight in zip(rows, names, weights):
            self.configs.append(Config(name, self._sizes(row), weight))

    def _sizes(self, row: dict[str, Any]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for each in self.arguments:
            sizes.update(each.of(row.get(each.name)))
        variant = {name: row.get(name) for name in self.columns}
        if self.columns:
            if variant not in self.variants:
                self.variants.append(variant)
            sizes[VARIANT] = self.variants.index(variant) + 1
        return sizes

    def constants(self) -> str:
        """Returns the lines that define all sizes, with the values of the first configuration."""
        return "".join(f"{name} = {value}\n" for name, value in self.configs[0].values.items())

    def call(self, names: Sequence[str] | None = None) -> str:
        """Returns keyword arguments: `batch=batch, dtype='bf16'`. `names` selects some."""
        return ", ".join(f"{a.name}={a.text()}" for a in self.arguments if names is None or a.name in names)

    def published(self) -> str:
        """Returns the text of the module PUBLISHED."""
        lists = {
            (a.name, *a.of(v).values()): list(v)
            for a in self.arguments
            if isinstance(a, Ragged)
            for v in reversed(a.values)
        }
        return (
            f"VARIANTS = {self.variants!r}\nLISTS = {lists!r}\n\n\n"
            "def published_list(name, count, most):\n"
            "    return list(LISTS.get((name, count, most), [most] * count))\n"
        )
