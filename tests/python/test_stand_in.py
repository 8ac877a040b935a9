"""Tests of unseen_torch/task/host_configs.py: which configurations stand in for published ones on a host. Run by the suite task, or by hand."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "verify", "torch"))

from unseen_torch.task import host_configs, write


def task(sizes, power=1, limits=(), low=1, step=1):
    """All extents in one tensor; the greatest one on the way has each to the power `power`."""
    axes = [
        {"name": n, "value": v, "low": low, "high": 1 << 20, "step": step, "rest": 0, "sizes": [n], "ring": 1}
        for n, v in sizes.items()
    ]
    law = {"coefficient": 1.0, "powers": dict.fromkeys(sizes, power), "below": {}, "base": {}}
    tensor = {"name": "x", "shape": list(sizes)}
    return {
        "name": "t",
        "axes": axes,
        "sizes": [{"name": n, "axis": n, "value": v} for n, v in sizes.items()],
        "published": [dict(sizes)],
        "inputs": [tensor],
        "outputs": [tensor],
        "weights": [],
        "limits": list(limits),
        "scratch": law,
        "flops": law,
        "small": dict.fromkeys(sizes, low),
    }


def seen(made):
    """[sizes] of the written set, and its first line."""
    title, *lines = write.host_seen(made).strip().split("\n")
    return title, [
        {w.split("=")[0]: int(w.split("=")[1]) for w in line.split() if not w.startswith("input")}
        for line in lines
    ]


PUBLISHED = (
    {"batch": 8, "seq": 512, "hidden": 1024},
    {"rows": 4096, "cols": 1000},
    {"n": 1},
    {"rows": 16, "cols": 4097},
)
LARGE = (  # and the finest tile by which their remainders are to stay
    ({"rows": 4096, "cols": 393216}, 256),
    ({"n": 8192, "m": 8192}, 256),
    ({"batch": 128, "h": 224, "w": 224, "channels": 64}, 16),
    ({"rows": 10007, "cols": 30011}, 256),
    ({"batch": 1024, "seq": 4096, "heads": 32}, 32),
    ({"a": 100000, "b": 100000}, 256),
    ({"a": 1000, "b": 100000}, 16),
)


def what_is_affordable_is_as_published_and_nothing_else_is_seen():
    for sizes in PUBLISHED:
        title, found = seen(task(sizes))
        assert found == [sizes] and "as published" in title, (sizes, found)


def what_stands_in_keeps_the_published_arithmetic():
    for sizes, tile in LARGE:
        title, (found,) = seen(task(sizes))
        assert "smaller for a CPU" in title and found != sizes, (sizes, found)
        assert write.cost(task(sizes), found) <= host_configs.SMALLER, (sizes, found)
        for a in sizes:
            assert found[a] == sizes[a] or ((sizes[a] - found[a]) % tile == 0 and found[a] >= tile), (
                a,
                sizes,
                found,
            )
            for b in sizes:
                assert (sizes[a] == sizes[b]) == (found[a] == found[b]), (a, b, sizes, found)


def sizes_that_divide_others_still_do():
    _, (found,) = seen(task({"batch": 512, "hidden": 8192, "heads": 64}, limits=["hidden % heads == 0"]))
    assert found["hidden"] % found["heads"] == 0 and found["hidden"] > found["heads"], found


def a_limit_and_a_step_are_kept():
    made = task({"n": 1 << 16, "m": 1 << 16}, limits=["n >= 4096"], step=32)
    _, (found,) = seen(made)
    assert found["n"] >= 4096 and found["m"] % 32 == 0, found


def several_published_ones_share_what_is_affordable():
    made = task({"rows": 4096, "cols": 2048})
    made["published"] = [{"rows": 4096, "cols": 2048}, {"rows": 2048, "cols": 4096}]
    _, found = seen(made)
    assert len(found) == 2 and all(f["rows"] * f["cols"] < 4096 * 2048 for f in found), found


if __name__ == "__main__":
    tests = [
        f
        for n, f in list(globals().items())
        if callable(f) and getattr(f, "__module__", "") == "__main__" and f.__code__.co_argcount == 0
    ]
    failed = 0
    for test in tests:
        try:
            test()
        except AssertionError as error:
            failed += 1
            print(f"{test.__name__}: {error}")
    print(f"{len(tests)} tests, {failed} failed")
    sys.exit(failed > 0)
