"""True edges attached to a run after its fit. Owns the keys `attach_truth_…`."""

import pandas as pd
import streamlit as st

from disco.runs import Run
from disco.simulate import truth_of
from disco.subjects.comparison import compared
from disco.words import how_many
from pages.shared import session
from pages.shared.widgets import answers, errors


def section(run: Run) -> None:
    """Attach true edges to a run, or replace or remove them; hidden ones cannot be changed."""
    if run.teaching:
        st.caption("The truth of this run is hidden for teaching, so it cannot be changed.")
        return
    present = None
    with errors.caught():
        present = run.truth()
    state = "has no known truth" if present is None else f"has {how_many(len(present), 'true edge')}"
    st.markdown(
        f"The run {state}. Upload a CSV file with the columns `parent` and `child`, one row per edge, to compare with "
        "its order, parents and graphs. Nothing is refitted."
    )
    file = st.file_uploader(
        "True edges",
        type=["csv", "tsv", "txt", "graphml"],
        key=answers.box(_name(run)),
        help="Every name must be a column of the run's table, and there must be no cycle. GraphML works too. An "
        "optional column `direction` says whether each direction can be known: known, unknown or not proved.",
    )
    if file is not None:
        _offer(run, file, present)
    if present is not None:
        with st.popover("Remove the truth", icon=":material/delete:", type="tertiary"):
            st.markdown(f"Remove the {how_many(len(present), 'true edge')} from this run? This cannot be undone.")
            if st.button("Remove", type="primary", key=f"attach_truth_remove_{run.id}"):
                _set(run, None)


def _offer(run: Run, file: st.runtime.uploaded_file_manager.UploadedFile, present: pd.DataFrame | None) -> None:
    """Attach the edges of a file at once or, if the run has true edges, when the button is pressed."""
    with errors.caught(f"{file.name}: "):
        edges = truth_of(file.getvalue(), set(run.nodes))
        question = (
            f"Replace the {how_many(0 if present is None else len(present), 'true edge')} with these {len(edges):,}"
        )
        if present is None or st.button(question, type="primary", key=f"attach_truth_replace_{run.id}"):
            _set(run, edges)


def _set(run: Run, edges: pd.DataFrame | None) -> None:
    with errors.caught():
        compared.set_truth(run, edges)
        session.draft.truth_changed(run)
        answers.renew(_name(run))
        st.rerun()


def _name(run: Run) -> str:
    return f"attach_truth_file_{run.id}"
