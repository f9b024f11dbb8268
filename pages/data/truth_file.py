"""A known truth from a file, attached to the loaded table. Owns the keys `truth_upload` and `truth_problem`."""

import streamlit as st

from disco.simulate import truth_of
from disco.words import how_many
from pages.shared import session
from pages.shared.table.drafts import Draft
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain

_UPLOAD, _PROBLEM = "truth_upload", "truth_problem"


def attach(draft: Draft) -> None:
    """An expander to give or remove the true edges; a hidden truth cannot be changed."""
    if draft.teaching:
        return
    problem = st.session_state.get(_PROBLEM)
    with st.expander("Known truth", icon=":material/rule:", expanded=bool(problem)):
        st.markdown(
            "If you know the true edges of this table, upload a CSV file with the columns `parent` and `child`, one "
            "row per edge. Fits started from now on are compared with them: order, parents and graph. An optional "
            "column `direction` says whether each direction can be known: `known`, `unknown` or `not proved`, as in "
            "the `truth.csv` of Simulate."
        )
        st.file_uploader(
            "True edges",
            type=["csv", "tsv", "txt", "graphml"],
            key=_UPLOAD,
            on_change=_uploaded,
            help="Every name must be a column of the table, and there must be no cycle. GraphML works too.",
        )
        if problem:
            st.error(plain(problem), icon=":material/error:")
        if draft.truth is not None:
            st.button(
                f"Remove the {how_many(len(draft.truth), 'true edge')}",
                key="truth_forget",
                type="tertiary",
                icon=":material/delete:",
                on_click=session.draft.set_truth,
                args=(None,),
            )


def _uploaded() -> None:
    file, draft = answers.uploaded(_UPLOAD), session.draft.current()
    st.session_state.pop(_PROBLEM, None)
    if file is None or draft is None:
        return
    with errors.deferred(_PROBLEM, f"{file.name}: "):
        session.draft.set_truth(truth_of(file.getvalue(), {str(name) for name in draft.table.columns}))
