"""What forward returns: a tensor, or tuples, lists and dictionaries of them, as a list of tensors with the way to each."""


def places(value, tensor, way=()):
    """[(way, tensor)] in order, the way as keys and numbers; None where there is something else. None itself is nothing."""
    if isinstance(value, tensor):
        return [(way, value)]
    if value is None and way:
        return []
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, (tuple, list)):
        items = enumerate(value)
    else:
        return None if value is not None else []
    result = []
    for key, item in items:
        inner = places(item, tensor, (*way, key))
        if inner is None:
            return None
        result += inner
    return result


def name_of(way):
    """'stats_0' for the first of what is called stats; '' where no dictionary names it."""
    return "_".join(str(key) for key in way) if any(isinstance(key, str) for key in way) else ""


def at(value, ways):
    """What lies at `ways` as a tuple, or at the only one itself; `value` as it is where it is built in another way."""
    found = []
    for way in ways:
        one = value
        for key in way:
            if type(one) is dict and key in one or isinstance(one, (tuple, list)) and isinstance(key, int) and key < len(one):
                one = one[key]
            else:
                return value
        found.append(one)
    return found[0] if len(found) == 1 else tuple(found)
