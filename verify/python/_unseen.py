"""Makes this folder one package.

Candidates and tasks may bring modules of any name, such as task, oracle or words. So no process that loads one has
this folder on its path. Scripts import this file, then remove the folder from the path.
"""

import os

__path__ = [os.path.dirname(os.path.abspath(__file__))]
