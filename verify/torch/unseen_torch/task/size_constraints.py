"""Finds constraints between axes without which a task does not run, and samples points for fitting extents."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence

from . import comparisons, expression, tied
from .expression import Sizes
from .observed import Point
from .probe import Axis, Probe

Run = tuple[Sizes, bool]  # sizes by axis, and whether they run

TOGETHER = 40
TIMES = 4  # slow loops run at most this multiple of their reduced sizes, all loops together
APART = 200  # models with fewer operations are tried with each pair of axes at opposite ends
FEW = 8  # elements along an axis that a real run may have, even if fewer are published
LOST = 4  # failing runs that a comparison must exclude for each passing run that it excludes
NEARBY = 0.6, 1.5  # factors of sizes for runs about a failing one
REALLY = 24  # runs with real numbers, for tasks with drawn indices
REALLY_ABOUT = 16  # the same, beside runs along single axes about a base


def spread(axes: Sequence[Axis], sizes: Sizes) -> Sizes:
    """Translates values of axes into values of the source's sizes."""
    return {name: sizes[axis.name] for axis in axes for name in axis.sizes}


def draw(axes: list[Axis], chance: random.Random, few: Mapping[str, int]) -> Sizes:
    """Draws a value for every axis. With probability 0.3 it is the published (or reduced) one, else logarithmically
    uniform in the range. The sizes of slow loops (`few`) stay near their reduced values."""
    sizes = {}
    for axis in axes:
        enough = next((few[name] for name in axis.sizes if name in few), 0)
        low, high = max(axis.low, 1), max(axis.high, 1)
        high = min(high, max(low, round(TIMES ** (1 / len(few)) * enough))) if enough else high
        value = round(math.exp(chance.uniform(math.log(low), math.log(high + 0.5))))
        if chance.random() < 0.3:
            value = enough or axis.value
        sizes[axis.name] = axis.near(value)
    return sizes


def _small(axes: list[Axis], base: Sizes | None, chance: random.Random) -> Iterator[Sizes]:
    """Yields sizes for runs with real numbers: lines along single axes about the base, then random ones."""

    def drawn(a: Axis) -> int:
        return a.near(min(max(a.value, FEW), chance.randrange(1, 40)))

    if base:
        yield base
        for axis in (a for a in axes if a.low < a.high):
            for value in (1, -1):
                yield {**base, axis.name: axis.near(base[axis.name] + value * axis.step)}
            yield {**base, axis.name: axis.near(3 * base[axis.name])}
    for turn in range(REALLY_ABOUT if base else REALLY):
        yield {
            a.name: base[a.name] if base and turn % 2 and chance.random() < 0.5 else drawn(a) for a in axes
        }


def _fake_runs(probe: Probe, axes: list[Axis], chance: random.Random) -> list[Run]:
    found = []
    for sizes in _drawn(probe, axes, chance):
        spread_out = spread(axes, sizes)
        if probe.has_time_for(spread_out):
            runs = probe.run(spread_out) is not None
            if runs or not probe.is_doubtful(spread_out):
                found.append((sizes, runs))
    return found


def _about(probe: Probe, axes: list[Axis], failing: Sizes, chance: random.Random) -> list[Run]:
    """Returns runs about `failing` along the axes that make it fail, with all others on the ground. One failure
    alone fits many comparisons."""
    sizes, ground = dict(failing), _ground(probe, axes)
    for axis in axes:
        other = {**sizes, axis.name: ground[axis.name]}
        if other != sizes and probe.run(spread(axes, other)) is None:
            sizes = other
    moving = [a for a in axes if sizes[a.name] != ground[a.name]]
    found: list[Run] = []
    for _ in range(TOGETHER if len(moving) > 1 else 0):
        drawn = {**ground, **{a.name: a.near(round(sizes[a.name] * chance.uniform(*NEARBY))) for a in moving}}
        if probe.has_time_for(spread(axes, drawn)):
            found.append((drawn, probe.run(spread(axes, drawn)) is not None))
    return found


def _really(probe: Probe, axes: list[Axis], base: Sizes | None, chance: random.Random) -> list[Run]:
    """Runs small sizes with real numbers. Returns `[(sizes by axis, does it run?)]`."""
    found = []
    for sizes in _small(axes, base, chance):
        if probe.late():
            break
        runs = probe.really(spread(axes, sizes))
        if runs is not None:
            found.append((sizes, runs))
    return found


def _is_stuck(axis: Axis, base: Sizes, runs: list[Run]) -> bool:
    """Tells whether every other value of the axis fails, with the others at the base. It is False with fewer than two
    such runs."""
    alone = [
        ok
        for sizes, ok in runs
        if sizes[axis.name] != base[axis.name] and {**sizes, axis.name: base[axis.name]} == base
    ]
    return len(alone) > 1 and not any(alone)


def _far_apart(axes: list[Axis]) -> Iterator[Sizes]:
    """Yields sizes with one axis at its least, another at its greatest and the rest as published. Draws rarely reach
    these, while the unseen set does."""
    for a in axes:
        for b in axes:
            if a is not b and (a.low < a.value or b.high > b.value):
                yield {**{c.name: c.value for c in axes}, a.name: a.low, b.name: b.high}


def _ground(probe: Probe, axes: list[Axis]) -> Sizes:
    """Returns the ground: sizes by axis about which single axes vary."""
    return {a.name: a.near(probe.few.get(a.sizes[0], a.value)) for a in axes}


def _near(axis: Axis, value: int) -> list[int]:
    """Returns the values next to `value` at which an axis is run alone."""
    return [v for v in (value + k * axis.step for k in range(-4, 9)) if axis.fits(v)]


def _drawn(probe: Probe, axes: list[Axis], chance: random.Random) -> Iterator[Sizes]:
    """Yields the sizes that are tried."""
    ground = _ground(probe, axes)
    yield from ({**ground, a.name: v} for a in axes if a.low < a.high for v in _near(a, ground[a.name]))
    for _ in range(TOGETHER):
        yield draw(axes, chance, probe.few)
    if not probe.few and probe.base.steps < APART:
        yield from _far_apart(axes)


def _corners(probe: Probe, axes: list[Axis], found: list[str]) -> list[str]:
    """Returns comparisons that exclude the smallest sizes: a product of axes must exceed its least value. A variance
    of one element is an example. Draws rarely reach that corner, and the unseen set starts there."""
    added: list[str] = []
    for _ in range(3):
        sizes = {a.name: a.low for a in axes}
        moving = [a for a in axes if a.low < a.value]
        if not all(expression.evaluate(t, sizes) for t in found + added) or probe.run(spread(axes, sizes)):
            return added
        for axis in moving:  # axes that do not matter go back to their published value
            other = {**sizes, axis.name: axis.value}
            if all(expression.evaluate(t, other) for t in found + added) and not probe.run(
                spread(axes, other)
            ):
                sizes = other
        least = [a for a in moving if sizes[a.name] == a.low]
        if not least:
            return added
        # a product is also 0 where one count alone is 0
        sign, of = ("*", math.prod) if all(a.low for a in least) else (" + ", sum)
        added.append(f"{sign.join(a.name for a in least)} > {of(a.low for a in least)}")
    return added


def _coarser(probe: Probe, axes: list[Axis], failing: list[Sizes], may_hold: list[str]) -> bool:
    """Increases the step of one axis. Returns whether it did.

    It applies if some of its values fail alone, no comparison of `may_hold` explains these, and multiples run. An
    example is int(dim * 0.25), which has to be even: no comparison says that, but dim % 8 == 0 suffices.
    """
    ground = _ground(probe, axes)
    for axis in (a for a in axes if a.low < a.high):
        alone = [
            s
            for s in failing
            if s[axis.name] != ground[axis.name] and {**s, axis.name: ground[axis.name]} == ground
        ]
        if all(any(not expression.evaluate(t, s) for t in may_hold) for s in alone):
            continue
        value = ground[axis.name]
        for step in (d for d in range(2 * axis.step, value + 1, axis.step) if value % d == 0):
            others = [v for v in (value - step, value + step, value + 2 * step) if axis.low <= v <= axis.high]
            if value + step > axis.high:  # a width within another one, which is published as wide
                others = [value - n * step for n in (1, 2, 3) if axis.low <= value - n * step]
            if (
                len(others) > 1
                and all(s[axis.name] % step for s in alone)
                and all(probe.run(spread(axes, {**ground, axis.name: v})) for v in others)
            ):
                axis.step, axis.rest = step, 0
                axis.low, axis.high = -(-axis.low // step) * step, axis.high // step * step
                return True
    return False


def _explained_about(
    probe: Probe,
    axes: list[Axis],
    texts: list[str],
    runs: list[Run],
    left: list[Sizes],
    chance: random.Random,
) -> tuple[list[str], list[Sizes]]:
    """Explains failures with more runs about one that is left. A comparison may exclude a few passing runs: an odd
    width above another one may run because its last column is dropped."""
    more = runs + _about(probe, axes, left[0], chance)
    found, left = comparisons.explained(texts, *_split(more))
    return (found, left) if not left else comparisons.explained(texts, *_split(more), LOST)


def _split(pairs: list[Run]) -> tuple[list[Sizes], list[Sizes]]:
    """Splits (sizes, does it run?) pairs into passing and failing sizes."""
    return [s for s, runs in pairs if runs], [s for s, runs in pairs if not runs]


def _about_end(axes: list[Axis], base: Sizes, axis: Axis, end: int, found: list[str]) -> Sizes | None:
    """Returns sizes that satisfy the comparisons, with one axis at an end of its range and the others small. Returns
    None if none are found."""
    others = (
        base,
        {a.name: a.low for a in axes},
        {a.name: a.near(end) for a in axes},
        {a.name: a.near(2 * end) for a in axes},
    )
    for sizes in ({**other, axis.name: end} for other in others):
        if all(expression.evaluate(t, sizes) for t in found):
            return sizes
    return None


def _narrow(probe: Probe, axes: list[Axis], base: Sizes, found: list[str]) -> None:
    """Shrinks ranges whose ends fail in real runs although the comparisons allow them, such as beyond a table's rows."""
    for axis in (a for a in axes if a.low < a.high):
        for is_low, end in ((True, axis.low), (False, axis.high)):
            sizes = _about_end(axes, base, axis, end, found)
            if sizes is None or probe.late():
                continue

            def runs(value: int, others: Sizes = sizes) -> bool | None:
                return probe.really(spread(axes, {**others, axis.name: value}))

            good = axis.near(base[axis.name])
            if runs(end) is not False or not runs(good):
                continue
            bad = end
            while abs(good - bad) > axis.step:
                middle = axis.near((good + bad) // 2)
                if middle in (good, bad):
                    break
                good, bad = (middle, bad) if runs(middle) else (good, middle)
            axis.low, axis.high = (
                (min(good, axis.value), axis.high) if is_low else (axis.low, max(good, axis.value))
            )


def _fix(axis: Axis, why: str) -> None:
    axis.fix(f"with other axes {why or 'it does not run'}")


def _has_fixed_stuck(probe: Probe, axes: list[Axis], base: Sizes, runs: list[Run]) -> bool:
    """Fixes an axis all of whose other values fail. Returns whether there was one."""
    for axis in (a for a in axes if a.low < a.high and base[a.name] == a.value):
        if _is_stuck(axis, base, runs):
            failing = next(s for s, ok in runs if not ok and s[axis.name] != axis.value)
            _fix(axis, probe.why(spread(axes, failing)))
            return True
    return False


def _worst(movable: list[Axis], passing: list[Sizes], left: list[Sizes]) -> Axis:
    """Returns the axis whose unpublished values fail most often."""

    def share(axis: Axis) -> float:
        failing = sum(s[axis.name] != axis.value for s in left)
        return failing / max(1, sum(s[axis.name] != axis.value for s in passing + left))

    return max(movable, key=lambda a: (share(a), a.ring))


def limits(probe: Probe, axes: list[Axis], chance: random.Random) -> list[str]:
    """Returns comparisons between axes that hold in all runs that pass and exclude those that fail. They are
    confirmed on fresh points. An axis whose failures stay unexplained is fixed at its published value."""
    while True:
        movable = [a for a in axes if a.low < a.high]
        moving = {name for axis in movable for name in axis.sizes}
        fixed = sorted({v for name, v in probe.published.items() if name not in moving and v > 1})
        published = {a.name: a.value for a in axes}
        runs = _fake_runs(probe, axes, chance)
        passing, failing = _split(runs)

        texts = [t for t in comparisons.hypotheses(movable, fixed) if expression.evaluate(t, published)]
        if _coarser(
            probe, axes, failing, [t for t in texts if all(expression.evaluate(t, s) for s in passing)]
        ):
            continue
        found, left = comparisons.explained(texts, passing, failing)
        if left:
            found, left = _explained_about(probe, axes, texts, runs, left, chance)
        # A task that runs on FakeTensors may still fail on real numbers. Real failures have their own causes, so only
        # real runs are compared.
        if probe.points():
            base = tied.small_base(probe, axes, spread)
            runs = _really(probe, axes, base, chance)
            if base and _has_fixed_stuck(probe, axes, base, runs):
                continue
            # failures alone tell nothing
            really, not_really = _split(runs if any(ok for _, ok in runs) else [])
            more, others = comparisons.explained(
                texts, really, [s for s in not_really if all(expression.evaluate(t, s) for t in found)]
            )
            found, left, passing = found + more, left + others, really
            if base:
                _narrow(probe, axes, base, found)
        found += _corners(probe, axes, found)
        left = [
            s
            for s in left
            if all(expression.evaluate(t, s) for t in found)
            and all(a.low <= s[a.name] <= a.high for a in axes)
        ]
        if not left or not movable:
            return found
        _fix(_worst(movable, passing, left), probe.why(spread(axes, left[0])))


def _line(axis: Axis, value: int) -> list[int]:
    """Returns values of an axis: those next to `value` and some far ones."""
    middle = axis.near((axis.low + axis.high) // 2)
    return [*_near(axis, value), axis.low, axis.high, middle, axis.near(value * 3 // 2)]


def sample_points(probe: Probe, axes: list[Axis], found: list[str], chance: random.Random) -> list[Point]:
    """Returns `[(sizes by axis, observed)]` for fitting extents: the ground, lines along each axis, pairs, and random
    points.

    An axis has its full line and a pair with each earlier axis. Otherwise it is fixed, since fewer points give
    expressions that are wrong elsewhere.
    """
    base = _ground(probe, axes)
    result, known = [], set()

    def take(sizes: Sizes) -> None:
        key = tuple(sizes.values())
        if key in known or not all(expression.evaluate(t, sizes) for t in found):
            return
        known.add(key)
        observed = probe.run(spread(axes, sizes))
        if observed:
            result.append(Point(sizes, observed))

    take(base)
    take({a.name: a.value for a in axes})
    # Axes with reduced sizes come first: fixing them at the published value would change the ground.
    moving = sorted(
        (a for a in axes if a.low < a.high), key=lambda a: not any(n in probe.few for n in a.sizes)
    )
    done: list[Axis] = []
    for axis in moving:
        if done and probe.late() and not axis.whole:
            axis.fix("the time for probing was over")
            continue
        for value in (v for v in _line(axis, base[axis.name]) if axis.fits(v)):
            take({**base, axis.name: value})
        for other in done:
            take(
                {
                    **base,
                    other.name: other.near(base[other.name] + 2 * other.step),
                    axis.name: axis.near(base[axis.name] + 3 * axis.step),
                }
            )
        axis.whole = True
        done.append(axis)
    for _ in range(30):
        if probe.late():
            break
        take(draw(axes, chance, probe.few))
    return result
