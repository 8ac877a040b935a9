"""Flattens forward's result into tensors, each with the path to it. A result is a tensor, or nested tuples, lists and
dictionaries of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Union

Way = tuple[Union[int, str], ...]  # indices and keys that lead from a result to a part of it


def places(value: Any, tensor: type[Any], way: Way = ()) -> list[tuple[Way, Any]] | None:
    """Returns `[(path, tensor)]` in order. A path consists of keys and numbers. An inner None is skipped; any other
    object makes the result None."""
    if isinstance(value, tensor):
        return [(way, value)]
    if value is None and way:
        return []
    if isinstance(value, dict):
        items: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, (tuple, list)):
        items = enumerate(value)
    else:
        return None if value is not None else []
    result: list[tuple[Way, Any]] = []
    for key, item in items:
        inner = places(item, tensor, (*way, key))
        if inner is None:
            return None
        result += inner
    return result


def name_of(way: Way) -> str:
    """Returns a path as a name, 'stats_0' for the first of `stats`. It is empty without a dictionary's key."""
    return "_".join(str(key) for key in way) if any(isinstance(key, str) for key in way) else ""


def at(value: Any, ways: Sequence[Sequence[int | str]]) -> Any:
    """Returns the elements at `ways` as a tuple, or the element itself if there is one. A `value` of another
    structure is returned unchanged."""
    found = []
    for way in ways:
        one: Any = value
        for key in way:
            if (type(one) is dict and key in one) or (
                isinstance(one, (tuple, list)) and isinstance(key, int) and key < len(one)
            ):
                one = one[key]  # type: ignore[index]  # a dictionary may have any key
            else:
                return value
        found.append(one)
    return found[0] if len(found) == 1 else tuple(found)
