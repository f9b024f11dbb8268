"""What can be asked of a table, one folder each: its files in a run, its long work, its figures."""

from typing import Any

from disco.runs import status
from disco.runs.status import Work
from disco.subjects.comparison import COMPARE
from disco.subjects.fit import FIT
from disco.subjects.refinement import REFINE

WORKS: tuple[Work[Any], ...] = (REFINE, FIT, COMPARE)  # as one process does them, if it does several
status.WORKS.update({work.name: work for work in WORKS})

__all__ = ["COMPARE", "FIT", "REFINE", "WORKS"]
