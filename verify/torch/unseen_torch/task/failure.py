"""Failures of a task's source in a run, with the reason and a hint."""

from __future__ import annotations

import errno
import resource
import socket

from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

from . import source

HINT = "run it with its own check first"
NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


class Failed(Exception):
    """The source does not run with these sizes. `stage` is its function that was running, `hint` says what to do."""

    def __init__(self, reason: str, hint: str = HINT, stage: str = "") -> None:
        super().__init__(reason)
        self.hint, self.stage = hint, stage


HANG_ON_VALUES = (DataDependentOutputException, DynamicOutputShapeException)


class Hanging(Failed):
    """The task's operations or shapes depend on values of tensors."""


def _place(error: BaseException) -> tuple[str, int]:
    """Returns `(function called from here, line that was running)` in the task's source. It is `("", 0)` if the error
    arose elsewhere."""
    stage, line, trace = "", 0, error.__traceback__
    while trace:
        if trace.tb_frame.f_globals.get("__name__") == source.MODULE:
            stage, line = stage or trace.tb_frame.f_code.co_name, trace.tb_lineno
        trace = trace.tb_next
    return stage, line


def _chain(error: BaseException) -> list[BaseException]:
    """Returns an exception and those that led to it."""
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    return chain


def _of_values(chain: list[BaseException], stage: str, text: str) -> Failed | None:
    """Returns Failed for an operation that depends on values of tensors, or None."""
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
    return None


def failed(error: BaseException) -> Failed:
    """Returns Failed for an exception of the task. The text explains errors that the sandbox causes."""
    stage, line = _place(error)
    chain = _chain(error)
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
    of_values = _of_values(chain, stage, text)
    if of_values is not None:
        return of_values
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
