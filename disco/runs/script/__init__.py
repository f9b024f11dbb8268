"""The script of a run: Python, or command lines, that make its table and everything found in it again."""

from disco.runs.script.facts import TABLE, Facts
from disco.runs.script.python import python
from disco.runs.script.shell import shell

__all__ = ["TABLE", "Facts", "python", "shell"]
