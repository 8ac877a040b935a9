"""Packs the inputs of a fuzz target into one text, and unpacks them for libFuzzer.

corpus.py pack FOLDER FILE: one line an input, sorted by name: the name, a space, the bytes.
corpus.py unpack FILE FOLDER: one file an input.

Bytes are printable ASCII. Others, the backslash, and a space at the end are escaped as in C: \\\\, \\n, \\t,
\\xHH with two digits. test_fuzz.c reads the same format.
"""

import pathlib
import re
import sys

USAGE = "usage: corpus.py pack FOLDER FILE | unpack FILE FOLDER"
LINE = re.compile(r"([\w-]+) ((?:[ -\[\]-~]|\\[\\nt]|\\x[0-9a-f]{2})*)")
ESCAPES = {ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


def escape(data):
    text = "".join(ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in data)
    return text[:-1] + "\\x20" if text.endswith(" ") else text


def pack(folder, file):
    inputs = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file())
    lines = [f"{path.name} {escape(path.read_bytes())}\n" for path in inputs]
    pathlib.Path(file).write_text("".join(lines), encoding="ascii")


def unpack(file, folder):
    for number, line in enumerate(pathlib.Path(file).read_text(encoding="ascii").splitlines(), 1):
        match = LINE.fullmatch(line)
        if not match:
            sys.exit(f"{file}:{number}: found {line[:40]!r}, expected a name, a space and escaped bytes")
        data = match[2].encode("ascii").decode("unicode_escape").encode("latin-1")
        (pathlib.Path(folder) / match[1]).write_bytes(data)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(USAGE)
    (pack if sys.argv[1] == "pack" else unpack)(sys.argv[2], sys.argv[3])


main()
