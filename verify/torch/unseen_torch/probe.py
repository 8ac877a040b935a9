"""Prints facts about an interpreter, one a line. The tool runs it with `python -I`, and it imports nothing large."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys


def torch_version() -> tuple[str, str]:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        return "none", "none"
    with open(os.path.join(os.path.dirname(spec.origin), "version.py"), encoding="utf-8") as file:
        text = file.read()
    version = re.search(r"__version__ = '([^']*)'", text)
    cuda = re.search(r"cuda[^=\n]*= '([^']*)'", text)
    return version.group(1) if version else "unknown", cuda.group(1) if cuda else "none"


def folders(executable: str) -> list[str]:
    """Returns the interpreter's folders, as named and with links resolved, without folders inside others."""
    named = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        sys.base_exec_prefix,
        os.path.dirname(executable),
        os.path.dirname(os.path.realpath(executable)),
        *sys.path,
    ]
    shown: list[str] = []
    for folder in named:
        if not folder or not os.path.isdir(folder):
            continue
        for path in (os.path.abspath(folder), os.path.realpath(folder)):
            if path != "/" and not any(path == s or path.startswith(s + "/") for s in shown):
                shown.append(path)
    return shown


def packages() -> str:
    """Returns a hash of the folders on the path and of the entries in them, which name versions of packages."""
    found = hashlib.sha256()
    for folder in sys.path:
        if os.path.isdir(folder):
            changed = os.stat(folder).st_mtime_ns
            found.update(f"{folder} {changed} {sorted(os.listdir(folder))}\n".encode())
    return found.hexdigest()[:32]


def main() -> None:
    version, cuda = torch_version()
    executable = os.path.abspath(sys.executable) if sys.executable else ""
    print("executable", executable)
    print("version", ".".join(map(str, sys.version_info[:3])))
    print("torch", version)
    print("cuda", cuda)
    print("packages", packages())
    for folder in folders(executable):
        print("show", folder)
    print("end", flush=True)


main()
