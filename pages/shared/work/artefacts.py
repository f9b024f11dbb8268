"""What in the loaded table creates edges: looked for once, for the page Data and for the runs of the table."""

from dataclasses import replace

import pandas as pd

from disco.hidden.artefacts import AT_ONCE, Artefacts, looked_for
from disco.progress import Callback
from disco.table.artefacts import COMMON, READINGS
from pages.shared.compute.background import Slow
from pages.shared.table import computed
from pages.shared.table.drafts import Draft

_STAGES = {"columns": "sums, depth, near copies", COMMON: "common causes", READINGS: "readings of rates"}


def search(draft: Draft) -> Slow[Artefacts]:
    """The search for them; its result is cached whatever is dismissed.

    Args:
        draft: its chosen columns are counts.
    """

    def work(table: pd.DataFrame, columns_aside: pd.DataFrame, callback: Callback) -> Artefacts:
        roles, reasons = draft.roles.needed(), draft.dismissed
        return looked_for(table, roles, columns_aside, reasons, callback=callback, left_out=draft.rows_left_out)

    return Slow(
        ("artefacts", draft.key, *draft.columns, repr(draft.roles)),
        work,
        lambda stage: f"Looking for what creates edges: {_STAGES[stage]} …",
        "The table could not be checked for what creates edges",
        lambda: (computed.whole(draft), draft.table.iloc[:, list(computed.aside(draft))]),
        at_once=len(draft.table) * len({*draft.columns, *draft.beside}) <= AT_ONCE,
        again="Look for what creates edges",
    )


def current(draft: Draft) -> Artefacts | None:
    """The artefacts with the draft's reasons; None before all were looked for."""
    if (result := search(draft).result) is None:
        return None
    artefacts = replace(result, reasons=draft.dismissed)
    return None if artefacts.due else replace(artefacts, reasons=artefacts.dismissed)
