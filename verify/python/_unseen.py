"""All of this folder as one package. Candidates and tasks may bring modules of any name, such as task, oracle or words. No process that
loads one has this folder on its path, so that nothing here stands in their way. Scripts import this file, then take the folder away."""
import os

__path__ = [os.path.dirname(os.path.abspath(__file__))]
