"""Runs on disk, shared by long fits and the pages.

A run is a folder of plain files, listed in ARCHITECTURE.md. Nothing in it is ever unpickled, and everything is checked
on reading: a file that is missing, damaged, or from another run or table raises an `InputError`, one sentence with its
remedy; so does a file that cannot be written.
"""

from disco.runs import artefacts
from disco.runs.folder import Run
from disco.runs.listing import Unreadable, find_runs, is_kept, list_runs, open_run
from disco.runs.making import create_run
from disco.runs.status import Status, Work
from disco.space import runs_root

__all__ = [
    "Run",
    "Status",
    "Unreadable",
    "Work",
    "artefacts",
    "create_run",
    "find_runs",
    "is_kept",
    "list_runs",
    "open_run",
    "runs_root",
]
