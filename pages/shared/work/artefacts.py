"""What in the loaded table creates edges: looked for once, for the page Data and for the runs of the table."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from disco.hidden.artefacts import AT_ONCE, Artefacts, looked_for
from disco.progress import Callback
from pages.shared.compute import background
from pages.shared.table import computed
from pages.shared.table.drafts import Draft

FAILURE = "The table could not be checked for what creates edges"


def key_of(draft: Draft) -> background.Key:
    """The key of the computation, whose result is kept whatever is dismissed."""
    return "artefacts", draft.key, *draft.columns, repr(draft.roles)


def found(draft: Draft) -> Artefacts | None:
    """The artefacts with the draft's reasons; None before all were looked for."""
    job = background.find(key_of(draft))
    if job is None or job.result is None:
        return None
    told = replace(job.result, reasons=draft.dismissed)
    return None if told.due else replace(told, reasons=told.dismissed)


def begin(draft: Draft) -> None:
    """Look for them, unless that is done, goes on or was stopped; anew if a dismissal makes another search due.

    Args:
        draft: its chosen columns are counts.
    """
    job = background.find(key_of(draft))
    if job is None or (job.result is not None and found(draft) is None):
        background.begin(key_of(draft), work(draft), FAILURE, at_once=computed.whole(draft).size <= AT_ONCE)


def work(draft: Draft) -> Callable[[Callback], Artefacts]:
    """What looks for them."""
    aside = draft.table.iloc[:, list(computed.aside(draft))]
    look = partial(looked_for, computed.whole(draft), draft.roles.needed(), aside, draft.dismissed)
    return lambda callback: look(callback=callback, left_out=draft.rows_left_out)
