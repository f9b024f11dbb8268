"""A model check on its way, in a thread of the server, one for each refinement, so that a refresh or another tab finds
it again; it never touches Streamlit. A check that is done stays in the run's folder.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from disco.errors import FitStopped, InputError
from disco.likelihood.check import Check, Parents, check
from disco.refine import Refined
from disco.refine.prior import BEFORE
from disco.runs import Run
from disco.runs.refined import read_check, save_check
from pages.parts import refined_model

STAGES = {
    "": "Starting", "fit": "Fitting the graph", "simulate": "Drawing tables from it",
    "held-out": "Fitting every graph without a part of the rows",
}  # fmt: skip
_KEPT = 8  # checks


@dataclass
class Checking:
    """One model check.

    Attributes:
        progress: 0 to 1.
        stage: a key of `STAGES`.
        state: running, done, stopped or failed.
        error: what went wrong, one sentence.
        result: of a check that is done.
    """

    progress: float = 0.0
    stage: str = ""
    state: str = "running"
    error: str = ""
    result: Check | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def hear(self, stage: str, progress: float) -> bool:
        """Take note of the progress; False asks the check to stop."""
        self.stage, self.progress = stage, progress
        return not self._stop.is_set()

    def cancel(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()

    def work(self, table: pd.DataFrame, graphs: dict[str, Parents], keep: Callable[[Check], None]) -> None:
        """Check, and have the result kept; every end is written into the state."""
        try:
            self.result = check(table, graphs, prior=BEFORE, report=self.hear)
            keep(self.result)
            self.state = "done"
        except FitStopped:
            self.state = "stopped"
        except InputError as error:
            self.state, self.error = "failed", str(error)
        except Exception as error:
            # The thread has nobody else to tell.
            self.state, self.error = "failed", f"The model could not be checked: {error}"


@st.cache_resource(show_spinner=False)
def _all() -> dict[tuple[str, int], Checking]:
    return {}


def graphs(run: Run, refined: Refined) -> dict[str, Parents]:
    """The graphs held against each other: the empty one, DISCO's where the run has a fit, the refined one."""
    found: dict[str, Parents] = {"empty": {}}
    if (run.path / "edges.csv").exists():
        found["DISCO"] = refined_model.parents_of(run.edges())
    return {**found, "refined": refined_model.parents_of(refined.edges)}


def begin(run: Run, refined: Refined) -> Checking:
    """Start a check, or find the one that runs already."""
    key, jobs = _key(run), _all()
    found = jobs.get(key)
    if found is None or found.state != "running":
        for other in [other for other, job in jobs.items() if job.state != "running"][:-_KEPT]:
            jobs.pop(other, None)
        found = jobs[key] = Checking()

        def keep(result: Check) -> None:
            if _key(run) == key:  # not refined anew meanwhile
                save_check(run, result)

        arguments = (refined_model.table(run), graphs(run, refined), keep)
        threading.Thread(target=found.work, args=arguments, daemon=True).start()
    return found


def at_work(run: Run) -> Checking | None:
    """The check of the run's refinement: one begun since the server started, or one kept."""
    key, jobs = _key(run), _all()
    if key not in jobs and (kept := read_check(run)) is not None:
        jobs[key] = Checking(1.0, state="done", result=kept)
    return jobs.get(key)


def _key(run: Run) -> tuple[str, int]:
    return str(run.path), refined_model.stamp(run)
