"""The depth stress test: how many edges of a quick search are found again in thinned counts."""

import json
from functools import partial

import pandas as pd
import streamlit as st

from disco.progress import Callback
from disco.refine.again import SHARES, stage_of, stress, stress_in_words
from disco.table.roles import Roles
from pages.shared.frame.names import plain
from pages.shared.frame.words import bullets
from pages.shared.table.drafts import Draft
from pages.shared.work import background, machine

_FAILURE = "The stress test failed"
_STAGES = {stage_of(1): "Searching the whole table"} | {
    stage_of(share): f"Searching with {share:.0%} of all events" for share in SHARES
}


def panel(draft: Draft, table: pd.DataFrame) -> None:
    """The button that starts the test, its progress, or its result.

    Args:
        table: the chosen columns as counts.
    """
    roles = draft.roles.needed()
    if roles is not None:
        table = pd.concat([table, draft.table.iloc[:, list(draft.beside)].reset_index(drop=True)], axis=1)
    background.panel(
        ("stress", draft.key, *draft.columns, json.dumps(None if roles is None else roles.to_dict())),
        lambda: machine.once_compiled(partial(_work, table, roles)) if _asked() else None,
        _shown,
        _STAGES.__getitem__,
        _FAILURE,
    )


def _asked() -> bool:
    return st.button(
        "Stress test the depth",
        key="stress",
        icon=":material/compress:",
        help="Searches for a graph, then again with a random half and quarter of all events, as in a shallower "
        "measurement. It takes three times as long as the search of Find the graph. You can leave the page meanwhile.",
    )


def _shown(found: pd.DataFrame) -> None:
    st.markdown(bullets([plain(stress_in_words(line)) for line in found.to_dict("records")]))
    st.caption("Lost edges depend on the depth of the counts: a shallower measurement would miss them.")


def _work(table: pd.DataFrame, roles: Roles | None, hear: Callback) -> pd.DataFrame:
    return stress(table, roles=roles, callback=hear)
