"""What an interpreter is and has, one fact a line: run by the tool with `python -I`, which imports nothing large."""
import importlib.util
import os
import re
import sys


def torch_version():
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        return "none", "none"
    text = open(os.path.join(os.path.dirname(spec.origin), "version.py"), encoding="utf-8").read()
    version = re.search(r"__version__ = '([^']*)'", text)
    cuda = re.search(r"cuda[^=\n]*= '([^']*)'", text)
    return version.group(1) if version else "unknown", cuda.group(1) if cuda else "none"


def main():
    version, cuda = torch_version()
    print("executable", sys.executable)
    print("version", ".".join(map(str, sys.version_info[:3])))
    print("torch", version)
    print("cuda", cuda)
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix,
               os.path.dirname(os.path.realpath(sys.executable))] + sys.path
    shown = []
    for folder in folders:
        folder = os.path.abspath(folder) if folder else ""
        if os.path.isdir(folder) and folder != "/" and not any(
                folder == s or folder.startswith(s + "/") for s in shown):
            shown.append(folder)
    for folder in shown:
        print("show", folder)


main()
