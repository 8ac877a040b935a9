"""The process of unseen import.

Usage: `__main__.py task.importer SOURCE DIRECTORY NAME [SECONDS [SIZE,.. [FORM]]]`.

Exit status: 0, or 2 after an error text on standard error, or 97 if torch cannot be imported.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

WITHOUT_TORCH, OURS = 97, 98  # INTERPRETER_BARE and INTERPRETER_FAULT of verify/torch/interpreter.h


def fail(text: str, status: int = 2) -> NoReturn:
    # the task may have replaced sys.stderr
    os.write(2, f"\nunseen-import: {text}\n".encode(errors="replace"))
    os._exit(status)


def main() -> None:
    path, directory, name = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 60.0
    vary = tuple(sys.argv[5].split(",")) if len(sys.argv) > 5 and sys.argv[5] else ()
    form = sys.argv[6] if len(sys.argv) > 6 else None
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (discards the task's own output)
    from . import source

    try:
        # Errors in the source's text are reported even without torch.
        loaded = source.load(path, form)
        import torch
    except source.SourceError as error:
        fail(str(error))
    except ImportError as error:
        fail(str(error), WITHOUT_TORCH)
    from . import checked, describe, description, phase, variants, write

    checked.install()

    phase.into(directory)
    torch.set_num_threads(max(1, min(4, len(os.sched_getaffinity(0)))))
    try:
        phase.say("importing: which published configurations share types and ranks")
        loaded = variants.chosen(loaded)
        write.write(describe.describe(loaded, name, seconds, vary), loaded, directory)
    except (source.SourceError, description.ImportError_) as error:
        fail(str(error))
    except SystemExit:
        fail(
            f"{path} ends the process when it is imported; a module was expected\n---> put that under __main__"
        )
    except Exception as error:
        from .. import error_text

        fail(
            *error_text.whose(
                error,
                source.MODULE,
                f"{path} cannot be imported",
                "see that Model, get_inputs and get_init_inputs run on a CPU",
                OURS,
            )
        )
    phase.end()
    os._exit(0)
