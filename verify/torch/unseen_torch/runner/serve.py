"""The interpreter's part of the isolated runner.

It loads torch once, forks for every start, and calls the candidate when the C runner (libunseen-runner.so) says so.
The C runner judges, times and copies.

Usage: `python -I -B -u __main__.py runner.serve LIBRARY WITHOUT [--audit]`
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from types import ModuleType
from typing import NoReturn

TENSORS, ARGUMENTS, RANK, NAME, TEXT = 32, 16, 8, 32, 512
FAILURE_LOAD, FAILURE_SYMBOL = 1, 2


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * NAME),
        ("dtype", ctypes.c_int32),
        ("role", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("size", ctypes.c_int32),
        ("returned", ctypes.c_int64),
        ("dim", ctypes.c_int64 * RANK),
        ("stride", ctypes.c_int64 * RANK),
        ("data", ctypes.c_void_p),
        ("back", ctypes.c_void_p),
        ("back_stride", ctypes.c_int64 * RANK),
    ]


class Argument(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * NAME),
        ("type", ctypes.c_int64),
        ("whole", ctypes.c_int64),
        ("real", ctypes.c_double),
    ]


class Plan(ctypes.Structure):
    _fields_ = [
        ("backend", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("set", ctypes.c_int64),
        ("tensors", ctypes.c_int64),
        ("arguments", ctypes.c_int64),
        ("own", ctypes.c_int64),
        ("stream", ctypes.c_void_p),
        ("text", ctypes.c_char * TEXT),
        ("tensor", Tensor * TENSORS),
        ("argument", Argument * ARGUMENTS),
    ]


LOAD = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_char_p] * 4)
STEP = ctypes.CFUNCTYPE(ctypes.c_int)
PACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
FORGET = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


class Callbacks(ctypes.Structure):
    _fields_ = [("load", LOAD), ("prepare", STEP), ("call", STEP), ("pack", PACK), ("forget", FORGET)]


def import_libraries() -> ModuleType:
    try:
        import torch
    except BaseException as error:
        print(f"it cannot import torch: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(3)
    try:
        import triton  # noqa: F401  (once here, and not after every fork)
    except Exception:
        pass
    return torch


def audit(library: ctypes.CDLL) -> None:
    """Restarts this program so that loads by the dynamic loader stay visible from outside (--forbid)."""
    words = [word.encode() for word in sys.orig_argv]
    library.unseen_audit(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))


def serve() -> int:
    without = sys.argv[2].encode() if len(sys.argv) > 2 else b""
    library = ctypes.CDLL(sys.argv[1])
    audit(library)
    torch = import_libraries()
    from . import calling

    library.unseen_plan.restype = ctypes.POINTER(Plan)
    # holds the interpreter's lock, so that no thread of the candidate runs meanwhile
    quick = ctypes.PyDLL(sys.argv[1])
    quick.unseen_view.restype = ctypes.c_void_p
    quick.unseen_poison.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    gc.collect()
    gc.freeze()
    if library.unseen_zygote_ready() != 0:
        return 1
    while library.unseen_zygote_wait() == 1:
        pid = os.fork()
        if pid != 0:
            library.unseen_zygote_forked(pid)
            continue
        library.unseen_zygote_leave()
        gc.enable()
        caller = calling.Caller(torch, quick, library.unseen_plan().contents)
        callbacks = Callbacks(
            LOAD(caller.load),
            STEP(caller.prepare),
            STEP(caller.call),
            PACK(caller.pack),
            FORGET(caller.forget),
        )
        status = library.unseen_serve(ctypes.byref(callbacks), without)
        os._exit(status)  # skips the candidate's exit handlers
    return 0


def main() -> NoReturn:
    sys.argv[1:] = sys.argv[1:4]
    os._exit(serve())
