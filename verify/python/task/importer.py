"""The process of unseen import.

Usage: `importer.py SOURCE DIRECTORY NAME [SECONDS [SIZE,..]]`.

Exit status: 0, or 2 after an error text on standard error, or 97 if torch cannot be imported.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _unseen  # noqa: E402,F401  (all of ours; see there)

del sys.path[0]


WITHOUT_TORCH, OURS = 97, 98  # INTERPRETER_BARE and INTERPRETER_FAULT of verify/task/interpreter.h


def fail(text, status=2):
    # the task may have replaced sys.stderr
    os.write(2, f"\nunseen-import: {text}\n".encode(errors="replace"))
    os._exit(status)


def main():
    path, directory, name = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 60.0
    vary = tuple(sys.argv[5].split(",")) if len(sys.argv) > 5 else ()
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # discards the task's own output
    from _unseen.task import source

    try:
        # Errors in the source's text are reported even without torch.
        loaded = source.load(path)
    except source.SourceError as error:
        fail(str(error))
    try:
        import torch
    except ImportError as error:
        fail(str(error), WITHOUT_TORCH)
    from _unseen.task import describe, phase, write

    phase.into(directory)
    torch.set_num_threads(max(1, min(4, len(os.sched_getaffinity(0)))))
    try:
        write.write(describe.describe(loaded, name, seconds, vary), loaded, directory)
    except (source.SourceError, describe.ImportError_) as error:
        fail(str(error))
    except SystemExit:
        fail(
            f"{path} ends the process when it is imported; a module was expected\n---> put that under __main__"
        )
    except Exception as error:
        from _unseen import words

        fail(
            *words.whose(
                error,
                source.MODULE,
                f"{path} cannot be imported",
                "see that Model, get_inputs and get_init_inputs run on a CPU",
                OURS,
            )
        )
    phase.end()
    os._exit(0)


if __name__ == "__main__":
    main()
