"""The process of unseen audit and unseen harden.

Usage: `__main__.py harden.serve REQUEST ANSWER`, two JSON files. The request names the task and configurations. The answer says for
every null output and planted fault which check accepts it at which configuration.

Exit status: 0, or 2 after an error text, or 97 if torch cannot be imported.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

if TYPE_CHECKING:
    import torch

    from .case import Case, Make
    from .faults import Published

MARK = "unseen-import: "
DRAWS = 2
WITHOUT_TORCH, OURS = 97, 98  # INTERPRETER_BARE and INTERPRETER_FAULT of verify/torch/interpreter.h


Sizes = dict[str, int]
# a name, "null" or "fault", and what makes the outputs
Wrong = tuple[str, str, "Make"]


class Asked(TypedDict):
    """A configuration of a request."""

    sizes: Sizes
    input: str
    seed: int


class Request(TypedDict, total=False):
    task: str
    device: str
    mode: str
    threads: int
    seen: list[Asked]
    drawn: list[Asked]


class Dropped(TypedDict):
    """A configuration without a right answer."""

    set: str
    place: int
    why: str


def fail(text: str, status: int = 2) -> NoReturn:
    print(f"{MARK}{text}", file=sys.__stderr__, flush=True)
    os._exit(status)


def one_line(error: BaseException) -> str:
    return " ".join(f"{error}".split())[:400]


class Rows:
    """Results by name, one character a configuration: 1 accepted, 0 rejected, - absent."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.kinds: dict[str, str] = {}
        self.marks: dict[tuple[str, str], dict[int, str]] = {}

    def mark(self, name: str, kind: str, key: str, place: int, value: str) -> None:
        self.register(name, kind)
        self.marks.setdefault((name, key), {})[place] = value

    def register(self, name: str, kind: str) -> None:
        """Adds a row even if the fault has no effect anywhere."""
        if name not in self.kinds:
            self.names.append(name)
            self.kinds[name] = kind

    def listed(self, counts: dict[str, int]) -> list[dict[str, str]]:
        return [
            {
                "name": n,
                "kind": self.kinds[n],
                **{
                    key: "".join(self.marks.get((n, key), {}).get(i, "-") for i in range(count))
                    for key, count in counts.items()
                },
            }
            for n in self.names
        ]


class Run:
    def __init__(self, request: Request) -> None:
        import torch

        from ..task import checked
        from ..task import source as sources
        from . import case

        checked.install()
        torch.set_num_threads(max(1, int(request.get("threads", 1))))
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        with open(request["task"], encoding="utf-8") as file:
            description = json.load(file)
        lengths = [o["length_of"] for o in description["outputs"] if "length_of" in o]
        if lengths:
            fail(
                f"{request['task']}: the length of {lengths[0]} depends on values; outputs of fixed shapes "
                "were expected\n---> unseen verify judges solutions of such a task"
            )
        source = sources.load_imported(os.path.dirname(request["task"]), description)
        device = "cuda" if request["device"] == "cuda" and torch.cuda.is_available() else "cpu"
        self.subject = case.Subject(description, source, device)
        self.request, self.rows, self.whole = request, Rows(), request["mode"] == "harden"
        self.published: Published | None = None
        self.dropped: list[Dropped] = []
        self.pairs: dict[int, tuple[float, float]] = {}

    def case(self, key: str, place: int, hardened: bool, again: int = 0) -> Case | None:
        """Returns the configuration with its right answer, or None if that is not known. `again` gives other draws."""
        from ..oracle.number import Unsupported
        from .case import Case

        asked = self.request["seen" if key == "seen" else "drawn"][place]
        try:
            return Case(
                self.subject, asked["sizes"], asked["input"], int(asked["seed"]) + again, hardened
            ).judge()
        except (Unsupported, RuntimeError, ValueError, MemoryError) as why:
            self.dropped.append({"set": key, "place": place, "why": one_line(why)})
            return None

    def wrong(self, case: Case) -> Iterator[Wrong]:
        """Yields (name, kind, function). The function takes (case, inputs, right) and returns outputs or None."""
        from . import faults, nulls

        for name, make in nulls.NULLS.items():
            yield name, "null", functools.partial(different, make)
        if self.whole and self.published:
            for name, make in faults.planted(case, self.published).items():
                self.rows.register(name, "fault")
                yield name, "fault", functools.partial(faults.outcome, make)

    def seen(self, place: int) -> None:
        """Applies the task's own check, over all trials, and ours on a published configuration."""
        from . import checks, faults

        case = self.case("seen", place, False)
        if case is None:
            return
        if self.published is None:
            self.published = faults.Published(
                [list(x.shape) if hasattr(x, "shape") else None for x in case.inputs],
                [list(t.shape) for t in case.reference],
            )
            self.subject.constants = constants(case)
        trials = [(case.inputs, case.reference)]
        for trial in range(1, checks.TRIALS):
            inputs = case.moved(case.draw(case.seed + 1000 * trial))
            trials.append((inputs, case.answer(inputs)))
        for name, kind, make in self.wrong(case):
            out = make(case, *trials[0])
            if out is None:
                continue
            accepted = checks.published(case.reference, out, self.subject.own)
            for inputs, right in trials[1:]:
                if not accepted:
                    break
                again = make(case, inputs, right)
                accepted = again is None or checks.published(right, again, self.subject.own)
            self.rows.mark(name, kind, "seen_published", place, "01"[accepted])
            self.rows.mark(name, kind, "seen_ours", place, "01"[checks.ours(case.judged, out) <= 1])

    def drawn(self, place: int) -> None:
        """Applies the hardened check and ours on a drawn configuration. In `harden` mode two draws are made, so that
        a list does not depend on the luck of one."""
        from . import checks

        draws = DRAWS if self.whole else 1
        found = [self.case("drawn", place, True, again) for again in range(draws)]
        cases = [case for case in found if case]
        if len(cases) < draws:
            return
        self.pairs[place] = checks.tolerance([j for case in cases for j in case.judged])
        accepted: dict[str, bool] = {}
        for number, case in enumerate(cases):
            for name, kind, make in self.wrong(case):
                if number and accepted.get(name, True):
                    continue
                out = make(case, case.inputs, case.reference)
                accepted[name] = out is None or checks.hardened(
                    case.reference, out, case.judged, self.pairs[place]
                )
                if out is None:
                    continue
                self.rows.mark(name, kind, "drawn_hardened", place, "01"[accepted[name]])
                if number == 0:
                    self.rows.mark(name, kind, "drawn_ours", place, "01"[checks.ours(case.judged, out) <= 1])

    def answer(self) -> dict[str, Any]:
        from ..task import phase
        from . import checks, codegen

        seen, drawn = len(self.request["seen"]), len(self.request["drawn"])
        for place in range(seen):
            phase.say("published configurations", place, seen)
            self.seen(place)
        if self.published is None:
            first = self.dropped[0]["why"] if self.dropped else "it has no published configuration"
            fail(
                f"the right answer of the task's own configuration cannot be told: {first}; one that the "
                "oracle has rules for was expected\n---> without it nothing can be said of a check; other sizes: --seen FILE"
            )
        for place in range(drawn):
            phase.say("trying shapes", place, drawn)
            self.drawn(place)
        counts = {
            "seen_published": len(self.request["seen"]),
            "seen_ours": len(self.request["seen"]),
            "drawn_ours": len(self.request["drawn"]),
            "drawn_hardened": len(self.request["drawn"]),
        }
        return {
            "rows": self.rows.listed(counts),
            "dropped": self.dropped,
            "trials": checks.TRIALS,
            "tolerances": [list(self.pairs.get(i, (0.0, 0.0))) for i in range(len(self.request["drawn"]))],
            "atol": self.tolerance(),
            "rtol": self.tolerance(),
            "own": bool(self.own()),
            "module": codegen.module(self.subject.source, self.subject.domains) if self.whole else "",
        }

    def own(self) -> list[str]:
        """Returns the dtypes of outputs for which the task has its own tolerance."""
        return [o["dtype"] for o in self.subject.description["outputs"] if o["dtype"] in self.subject.own]

    def tolerance(self) -> float:
        import torch

        from . import checks

        types = [getattr(torch, o["dtype"]) for o in self.subject.description["outputs"]]
        return max(checks.constant(t, self.subject.own) for t in types)


def different(
    make: Make, case: Case, inputs: list[Any], right: list[torch.Tensor]
) -> list[torch.Tensor] | None:
    """Returns a null's outputs. Returns None for outputs that equal the right ones: they are honest by any means."""
    import torch

    out = make(case, inputs, right)
    if out is None or all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(out, right)):
        return None
    return out


def constants(case: Case) -> dict[str, float]:
    """Returns parameters that the constructor fills with one value."""
    found = {}
    for name, tensor in case.model.named_parameters():
        if tensor.numel() and bool((tensor == tensor.reshape(-1)[0]).all()):
            found[name] = float(tensor.reshape(-1)[0])
    return found


def main() -> None:
    request, answer = sys.argv[1:3]
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (discards the task's own output)
    try:
        import torch  # noqa: F401
    except ImportError as error:
        fail(str(error), WITHOUT_TORCH)
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with open(request, encoding="utf-8") as file:
        asked = json.load(file)
    from ..task import phase

    phase.into(os.path.dirname(os.path.abspath(answer)))
    try:
        told = Run(asked).answer()
    except SystemExit:
        fail(f"{asked['task']}: the task ends the process\n---> put that under __main__")
    except Exception as error:  # raised by the task's own code
        from .. import error_text
        from ..task import source

        fail(*error_text.whose(error, source.MODULE, asked["task"], "see that the task runs on a CPU", OURS))
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(told, file)
    phase.end()
    os._exit(0)
