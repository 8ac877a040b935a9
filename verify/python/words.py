"""What of an error's message fits into a line of a report: how it begins, then the lines that hold the reason."""
import errno
import re
import socket
import sys

ROOM = 300  # characters
LONGEST = 1 << 16  # of a message, from either end
HEAD = 90  # of the first line, where not all of it fits
BETWEEN = " .. "

# A path's folders say nothing that its file does not: compilers name the same one in every line.
PATH = re.compile(r"(?<![\w/.])/(?:[\w.+@~-]+/)+(?=[\w.+@~-])")
# Of compilers (`x.cu(12): error: ..`, `ptxas error   : ..`, `ptxas fatal   : ..`), of linkers and loaders.
REASON = re.compile(r"(?:\b(?:error|fatal)\s*(?:[A-Z]*\d+)?\s*:)|undefined (?:reference|symbol)|cannot find -l", re.IGNORECASE)
# A command that failed holds options with such words, and what a builder says after all is no reason.
COMMAND = re.compile(r"^(?:\[\d+/\d+\]|FAILED:|ninja: build stopped)|\s-[DIco]\S*\s.*\s-")
# What torch appends to every error of a kind: how to learn more.
ADVICE = re.compile(r"^(?:Set TORCH|You can suppress|For debugging consider|For even more|Compile with `TORCH|Search for `cuda|"
                    r"CUDA kernel errors might|Device-side assertion|import torch\._dynamo|torch\._dynamo\.config|"
                    r"The above exception|During handling of)")
CARETS = re.compile(r"^[\s|~^\d]*\^[\s~^|]*$")
PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..", "\t": " "})


def lines_of(message):
    if len(message) > 2 * LONGEST:
        message = message[:LONGEST] + "\n" + message[-LONGEST:]
    lines = [PATH.sub("", line.translate(PLAIN)).strip() for line in message.splitlines()]
    return [line for line in lines if line]


def cut(text, room):
    """At a blank, where one is near."""
    if len(text) <= room:
        return text
    blank = text.rfind(" ", room * 2 // 3, room + 1)
    return text[:blank if blank > 0 else room].rstrip()


def from_the_start(lines, room):
    text = ""
    for line in lines:
        if text and len(text) + 1 + len(line) > room:
            break
        text = cut(f"{text} {line}".strip(), room)
    return text


def from_the_end(lines, room):
    text = ""
    for line in reversed(lines):
        if text and len(text) + 1 + len(line) > room:
            break
        text = f"{line} {text}".strip()[:room]
    return text


def shorten(message, room=ROOM):
    """At most `room` characters, without line ends. All of it where it fits; else the beginning, and of the rest the first lines
    that name an error, or if none does the last lines."""
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


def describe(error, room=ROOM):
    """The kind and the shortened words of an exception, which may be of a class that cannot say them."""
    try:
        words = str(error)
    except BaseException:
        words = "its words cannot be had"
    words = shorten(words, room)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
NO_PLACE = (errno.EROFS, errno.EACCES, errno.EPERM)


CAUSE, CONTEXT = BaseException.__cause__.__get__, BaseException.__context__.__get__  # whatever its class makes of them


def causes_of(error):
    chain = []
    while error is not None and len(chain) < 8:
        chain.append(error)
        error = CAUSE(error) or CONTEXT(error)
    return chain


def advice(error, is_short):
    """What to do where a module cannot be imported; `is_short`: for want of memory."""
    kinds = causes_of(error)
    if is_short:
        return "--memory SIZE allows it more"
    if isinstance(error, SyntaxError):
        return f"correct that line, or name an interpreter of another version with --python: this one is {sys.version.split()[0]}"
    if isinstance(error, ModuleNotFoundError):
        return ("install it for the interpreter, or name another with --python; PYTHONPATH, a user's packages and files beside "
                "the module are not there (several files: a folder, or a solution in JSON)")
    if any(isinstance(e, socket.gaierror) or isinstance(e, OSError) and e.errno in NO_NETWORK for e in kinds):
        return "there is no network here: put what it fetches into the module"
    if any(isinstance(e, OSError) and e.errno in NO_PLACE for e in kinds):
        return "the folder that TMPDIR names is the one that it may write to (tempfile takes it)"
    return "see that the interpreter imports it by itself"


def raised_in(error, module):
    """Was code of `module` running when it was raised, or what it was raised from?"""
    for each in causes_of(error):
        trace = each.__traceback__
        while trace:
            if trace.tb_frame.f_globals.get("__name__") == module:
                return True
            trace = trace.tb_next
    return False


def whose(error, module, what, hint, status):
    """(text, exit status) of an error that nothing has expected: 2 and `hint` where the task's own code raised it, else `status`, with
    the place in ours, since nothing that its author does would help."""
    if raised_in(error, module):
        return f"{what}: {describe(error)}\n---> {hint}", 2
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    place = f"{PATH.sub('', trace.tb_frame.f_code.co_filename)}, line {trace.tb_lineno}"
    return (f"{what}: unseen itself failed on it, with {describe(error)} ({place}); the task may be right\n---> report it with the "
            "task's file", status)
