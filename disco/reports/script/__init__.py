"""The script of a run: Python, or command lines, that make its table and everything found in it again."""

from disco.reports.script.facts import TABLE, Facts
from disco.reports.script.python import python
from disco.reports.script.shell import shell

__all__ = ["TABLE", "Facts", "python", "shell"]
