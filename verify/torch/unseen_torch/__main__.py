"""Starts a process of this package: `python -I PATH/__main__.py MODULE ARGUMENT..` calls main() of MODULE.

The process may execute code of tasks and candidates, which bring modules of any name. So no folder of ours stays on
the path: the folder above the package is there only while the package itself is imported.
"""

from __future__ import annotations

import importlib
import os
import sys


def find_package() -> None:
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, above)
    importlib.import_module("unseen_torch")
    sys.path.remove(above)


if __name__ == "__main__":
    find_package()
    importlib.import_module("unseen_torch." + sys.argv.pop(1)).main()
