"""The candidates of selectors other than the OCS: parents_NAME.csv beside their order.

A fit with such a selector writes its own; others are computed later. A file that is missing, unreadable, or for another
order counts as not computed.
"""

from pathlib import Path

import pandas as pd

from disco.errors import InputError
from disco.files import unwritten, write_frame
from disco.progress import Callback
from disco.runs import digests
from disco.runs.folder import Run
from disco.subjects.fit.results import StoredFit


def path_of(run: Run, selector: str, variant: str | None = None) -> Path:
    """The path of a selector's candidates, whether computed or not; the selector must have candidates of its own."""
    from disco.selectors.selection import CUTS

    if selector not in CUTS:
        raise InputError(f"A selector computed along an order is one of {', '.join(CUTS)}; got {selector!r}.")
    return StoredFit(run, variant).folder / f"parents_{selector}.csv"


def read_candidates(run: Run, selector: str, variant: str | None = None) -> pd.DataFrame | None:
    """Every candidate: parent, child, score, p_value (cam and pcm), selected, rule and source as in the run's ocs.csv.

    None if not computed yet.
    """
    path_of(run, selector, variant)
    return StoredFit(run, variant).candidates(selector)


def compute_candidates(
    run: Run, selector: str, variant: str | None = None, *, callback: Callback | None = None
) -> pd.DataFrame:
    """Compute the candidates of a selector along a run's order and save them in its folder.

    A `FitStopped` by the callback saves nothing; an `InputError` if the selector cannot use the table.
    """
    from disco.selectors import selection

    run.check_own()
    path = path_of(run, selector, variant)
    table, settings = run.table(), run.settings
    selection.check(selector, table, settings, run.adjustment)
    candidates = selection.candidates(
        selector,
        table,
        StoredFit(run, variant).order,
        settings,
        knowledge=run.knowledge(),
        adjustment=run.adjustment,
        callback=callback,
    )
    try:
        write_frame(path, candidates)
        digests.write(path.parent, {**digests.read(path.parent), path.name: digests.of(path)})
    except OSError as error:
        raise unwritten(path, error) from error
    return candidates


def selected_edges(run: Run, selector: str, cut: float | None = None, variant: str | None = None) -> pd.DataFrame:
    """The edges of a computed selector at a `cut`, by default its own, as from `disco.selectors.selection.edges`."""
    from disco.selectors import selection

    candidates = read_candidates(run, selector, variant)
    if candidates is None:
        raise InputError(f"The run {run.name} has no parents by {selector} yet; disco graph --parents computes them.")
    result = StoredFit(run, variant)
    return selection.edges(selection.recut(candidates, selector, cut), result.ocs, result.thresholds[0])
