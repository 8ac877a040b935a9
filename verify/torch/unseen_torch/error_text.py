"""Shortens an error's message to a line of a report: its beginning, then the lines with the reason."""

from __future__ import annotations

import errno
import re
import socket
import sys

ROOM = 300  # characters
LONGEST = 1 << 16  # characters of a message, from either end
HEAD = 90  # characters of the first line if not all of it fits
BETWEEN = " .. "

# Compilers repeat a file's path in every line. Its folders add nothing to the file's name.
PATH = re.compile(r"(?<![\w/.])/(?:[\w.+@~-]+/)+(?=[\w.+@~-])")
# Messages of compilers (`x.cu(12): error: ..`, `ptxas error   : ..`, `ptxas fatal   : ..`), of linkers and loaders.
REASON = re.compile(
    r"(?:\b(?:error|fatal)\s*(?:[A-Z]*\d+)?\s*:)|undefined (?:reference|symbol)|cannot find -l", re.IGNORECASE
)
# A failed command has options with such words, and a builder's last line is no reason.
COMMAND = re.compile(r"^(?:\[\d+/\d+\]|FAILED:|ninja: build stopped)|\s-[DIco]\S*\s.*\s-")
# Advice that torch appends to every error of a kind.
ADVICE = re.compile(
    r"^(?:Set TORCH|You can suppress|For debugging consider|For even more|Compile with `TORCH|Search for `cuda|"
    r"CUDA kernel errors might|Device-side assertion|import torch\._dynamo|torch\._dynamo\.config|"
    r"The above exception|During handling of)"
)
CARETS = re.compile(r"^[\s|~^\d]*\^[\s~^|]*$")
PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..", "\t": " "})


def lines_of(message: str) -> list[str]:
    if len(message) > 2 * LONGEST:
        message = message[:LONGEST] + "\n" + message[-LONGEST:]
    lines = [PATH.sub("", line.translate(PLAIN)).strip() for line in message.splitlines()]
    return [line for line in lines if line]


def cut(text: str, room: int) -> str:
    """Cuts at a blank if one is near."""
    if len(text) <= room:
        return text
    blank = text.rfind(" ", room * 2 // 3, room + 1)
    return text[: blank if blank > 0 else room].rstrip()


def from_the_start(lines: list[str], room: int) -> str:
    text = ""
    for line in lines:
        if text and len(text) + 1 + len(line) > room:
            break
        text = cut(f"{text} {line}".strip(), room)
    return text


def from_the_end(lines: list[str], room: int) -> str:
    text = ""
    for line in reversed(lines):
        if text and len(text) + 1 + len(line) > room:
            break
        text = f"{line} {text}".strip()[:room]
    return text


def shorten(message: str, room: int = ROOM) -> str:
    """Returns at most `room` characters without line ends.

    A longer message keeps its beginning and the first lines that name an error. Without such lines it keeps the last
    ones.
    """
    lines = lines_of(message)
    whole = " ".join(lines)
    if len(whole) <= room or not lines:
        return whole
    lines = [lines[0]] + [line for line in lines[1:] if not ADVICE.match(line)]
    rest = [line for line in lines[1:] if not COMMAND.search(line) and not CARETS.match(line)]
    if not rest:
        return cut(" ".join(lines), room)
    named = [line for line in rest if REASON.search(line)]
    head = cut(lines[0], HEAD if named or len(" ".join(lines)) > room else room)
    left = room - len(head) - len(BETWEEN)
    return head + BETWEEN + (from_the_start(named, left) if named else from_the_end(rest, left))


def describe(error: BaseException, room: int = ROOM) -> str:
    """Returns the type and shortened message of an exception, even if its class cannot print it."""
    try:
        words = str(error)
    except BaseException:
        words = "its words cannot be had"
    words = shorten(words, room)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
NO_PLACE = (errno.EROFS, errno.EACCES, errno.EPERM)


# bypasses overrides of the exception's class
CAUSE, CONTEXT = vars(BaseException)["__cause__"].__get__, vars(BaseException)["__context__"].__get__


def causes_of(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and len(chain) < 8:
        chain.append(error)
        error = CAUSE(error) or CONTEXT(error)
    return chain


def advice(error: BaseException, is_short: bool) -> str:
    """Returns advice for a module that cannot be imported. `is_short` means lack of memory."""
    kinds = causes_of(error)
    if is_short:
        return "--memory SIZE allows it more"
    if isinstance(error, SyntaxError):
        return f"correct that line, or name an interpreter of another version with --python: this one is {sys.version.split()[0]}"
    if isinstance(error, ModuleNotFoundError):
        return (
            "install it for the interpreter, or name another with --python; PYTHONPATH, a user's packages and files beside "
            "the module are not there (several files: a folder, or a solution in JSON)"
        )
    if any(
        isinstance(e, socket.gaierror) or (isinstance(e, OSError) and e.errno in NO_NETWORK) for e in kinds
    ):
        return "there is no network here: put what it fetches into the module"
    if any(isinstance(e, OSError) and e.errno in NO_PLACE for e in kinds):
        return "the folder that TMPDIR names is the one that it may write to (tempfile takes it)"
    return "see that the interpreter imports it by itself"


def raised_in(error: BaseException, module: str) -> bool:
    """Tells whether code of `module` was running when the error or one of its causes was raised."""
    for each in causes_of(error):
        trace = each.__traceback__
        while trace:
            if trace.tb_frame.f_globals.get("__name__") == module:
                return True
            trace = trace.tb_next
    return False


def whose(error: BaseException, module: str, what: str, hint: str, status: int) -> tuple[str, int]:
    """Returns (text, exit status) of an unexpected error.

    If the task's own code raised it, the status is 2 and the text ends with `hint`. Otherwise the status is `status`,
    and the text names the place in our code: the task's author cannot help it.
    """
    if raised_in(error, module):
        return f"{what}: {describe(error)}\n---> {hint}", 2
    trace = error.__traceback__
    assert trace  # it was raised
    while trace.tb_next:
        trace = trace.tb_next
    place = f"{PATH.sub('', trace.tb_frame.f_code.co_filename)}, line {trace.tb_lineno}"
    return (
        f"{what}: unseen itself failed on it, with {describe(error)} ({place}); the task may be right\n---> report it with the "
        "task's file",
        status,
    )
