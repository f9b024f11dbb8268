"""Quick look: the likelihood search on the loaded table, in a run without a fit; offered on Train and Refine."""

import streamlit as st

from disco.refine import QUICK
from disco.runs import REFINE
from pages.shared import session
from pages.shared.table.drafts import Draft
from pages.shared.widgets import errors
from pages.shared.work import fit_start, search_time


def offer(draft: Draft, is_first: bool = False) -> None:
    """The button that starts it and opens Refine; on Train the fit comes first."""
    pressed = st.button(
        "Quick look, without a fit",
        type="primary" if is_first else "secondary",
        icon=":material/bolt:",
        width="content" if is_first else "stretch",
        key="quick_look",
        help="Searches for the order and graph of highest likelihood in the paper's model, without networks. You can "
        "fit the same run later.",
    )
    search_time.of_draft(draft)
    if pressed:
        with errors.said():
            run = fit_start.new_run(draft)
            fit_start.start(run, REFINE, QUICK, search_time.trial_of_draft(draft))
            session.draft.started_as(run)
            session.address.go("refine")
