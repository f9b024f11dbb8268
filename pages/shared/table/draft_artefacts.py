"""What in the loaded table creates edges: the search in the background, and what it has found so far."""

from dataclasses import replace

import pandas as pd

from disco.hidden.all_artefacts import STOPPED, WEIGHTS, Artefacts, begun, finished
from disco.progress import Callback, Reporter
from disco.table.artefacts import COMMON, READINGS
from disco.table.prepared import prepare
from pages.shared.compute.background import Computation, Slow
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft

_STAGES = {"columns": "sums, depth, near copies", COMMON: "common causes", READINGS: "readings of rates"}


def _begun(draft: Draft) -> Slow[Artefacts]:
    """The same before the searches for what is hidden."""

    def work(table: pd.DataFrame, columns_aside: pd.DataFrame, callback: Callback) -> Artefacts:
        needed, reasons, rows_out = draft.roles.needed(), draft.dismissed, draft.rows_left_out
        return begun(table, needed, columns_aside, reasons, callback, rows_out)

    search = artefact_search(draft)
    return replace(search, key=("begun", *search.key), work=work)


def artefact_search(draft: Draft) -> Slow[Artefacts]:
    """The search for artefacts in a draft of counts; its result is cached whatever is dismissed."""

    def work(table: pd.DataFrame, columns_aside: pd.DataFrame, callback: Callback) -> Artefacts:
        reporter, first = Reporter(callback, WEIGHTS, STOPPED), _begun(draft)
        result = first.work(table, columns_aside, reporter.part("columns", ""))
        first.keep(Computation(result=result, state="done"))
        return finished(result, prepare(table, draft.roles.needed(), folds=None), reporter)

    return Slow(
        ("artefacts", draft.key, *draft.columns, repr(draft.roles)),
        work,
        lambda stage: f"Looking for what creates edges: {_STAGES[stage]} …",
        "The table could not be checked for what creates edges",
        lambda: (draft_facts.usable_table(draft), draft.table.iloc[:, list(draft_facts.possible_adjustments(draft))]),
        again="Look for what creates edges",
    )


def is_checked(draft: Draft) -> bool:
    """Whether the running search for artefacts, if any, has looked for sums, depth and near copies."""
    computation = artefact_search(draft).find()
    return computation is None or not computation.is_running or _begun(draft).result is not None


def artefacts_so_far(draft: Draft) -> Artefacts | None:
    """The artefacts with the draft's reasons; None until sums, depth and near copies were looked for."""
    result = artefact_search(draft).result or _begun(draft).result
    return None if result is None else replace(result, reasons=draft.dismissed)


def current_artefacts(draft: Draft) -> Artefacts | None:
    """The same; None until the search is complete."""
    artefacts = artefacts_so_far(draft)
    if artefacts is None or artefacts.due:
        return None
    return replace(artefacts, reasons=artefacts.dismissed)


def begun_artefacts(draft: Draft) -> Artefacts:
    """Those for a run of the draft: a search that is not over ends, and the run's work makes it."""
    if (artefacts := current_artefacts(draft)) is not None:
        return artefacts
    computation = artefact_search(draft).find() or Computation()
    computation.cancel()
    result = computation.result or _begun(draft).value()
    return replace(result, reasons=draft.dismissed)
