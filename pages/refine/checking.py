"""The check of a refined model: computed in the background, one for each refinement, and kept with the run."""

import pandas as pd

from disco.likelihood.check import Check, Parents, check
from disco.progress import Callback
from disco.refine import Refined
from disco.refine.prior import BEFORE
from disco.runs import Run, stamps
from disco.runs.refined import read_check, save_check
from disco.table.adjustment import Adjustment
from pages.shared.refined import modelled
from pages.shared.work import background, machine

STAGES = {
    "": "Starting",
    "fit": "Fitting the graph",
    "simulate": "Drawing tables from it",
    "held-out": "Fitting every graph without a part of the rows",
}
FAILURE = "The model could not be checked"


def graphs(run: Run, refined: Refined) -> dict[str, Parents]:
    """The graphs to compare: the empty one, DISCO's if the run has a fit, the refined one."""
    found: dict[str, Parents] = {"empty": {}}
    if stamps.fit(run):
        found["DISCO"] = modelled.parents_of(run.edges())
    return {**found, "refined": modelled.parents_of(refined.edges)}


def begin(run: Run, refined: Refined) -> background.Computation[Check]:
    """Start a check in the background, or find the one that is running already."""
    key, table, held = key_of(run), modelled.table(run), graphs(run, refined)
    around = modelled.adjustment(run)

    def work(hear: Callback) -> Check:
        found = checked(table, held, hear, around)
        if key_of(run) == key:  # not refined again meanwhile
            save_check(run, found)
        return found

    return background.begin(key, machine.once_compiled(work), FAILURE)


def checked(table: pd.DataFrame, held: dict[str, Parents], hear: Callback, around: Adjustment | None = None) -> Check:
    """The check of some graphs on a table."""
    return check(table, held, adjustment=around, prior=BEFORE, callback=hear)


def at_work(run: Run) -> background.Computation[Check] | None:
    """The check of the run's refinement: one begun since the server started, or one kept with the run."""
    key = key_of(run)
    found = background.find(key)
    if found is None and (kept := read_check(run)) is not None:
        return background.keep(key, background.Computation(1.0, state="done", result=kept))
    return found


def key_of(run: Run) -> background.Key:
    """The key of the check of the run's refinement; it changes when the run is refined again."""
    return "checking", str(run.path), stamps.refinement(run)
