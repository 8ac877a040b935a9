"""Runs a command with a terminal as its standard output and error: TEXT COMMAND.. Its output is passed on.
Ends with 0 where TEXT was in it. Needs no torch."""

import os
import pty
import sys


def main():
    os.environ["TERM"] = "xterm"
    shown = []

    def read(descriptor):
        shown.append(os.read(descriptor, 4096))
        return shown[-1]

    pty.spawn(sys.argv[2:], read)
    sys.exit(sys.argv[1].encode() not in b"".join(shown))


if __name__ == "__main__":
    main()
