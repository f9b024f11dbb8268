"""The loaded table on Data: its name, next step and sections; sheets of samples and a known truth attached to it.

Owns the keys `samples_…`, `truth_upload` and `truth_problem`.
"""

import io
from textwrap import shorten

import streamlit as st

from disco.simulate import truth_of
from disco.table.cells import names_of
from disco.table.read import SUFFIXES, read_table
from disco.table.samples import columns_of, in_words, joined, roles_of
from disco.words import how_many
from pages.data import arms, columns, mending, quality, reshaping, roles, screening
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.result import truth
from pages.shared.table import draft_artefacts, draft_facts, preview
from pages.shared.table.drafts import Draft
from pages.shared.widgets import answers, errors, findings
from pages.shared.widgets.names import plain
from pages.shared.work import find_graph


def draw(draft: Draft) -> None:
    """The whole page below the cards that load a table."""
    _heading(draft)
    mending.first(draft)
    artefacts_box, onward_box = st.container(), st.container()  # filled last: what takes long starts when all stands
    mending.panel(draft)
    columns.choose(draft)
    arms.panel(draft)
    roles.exposure(draft)
    screening.offer(draft)
    preview.columns_in_sight(draft)
    quality.panel(draft)
    preview.first_rows(draft)
    attach_samples(draft)
    attach_truth(draft)
    with artefacts_box:
        mending.checks(draft)
    with onward_box:
        _onward(draft)


def _heading(draft: Draft) -> None:
    st.subheader(plain(draft.name), anchor=False)
    st.caption(
        f"{how_many(len(draft.table), 'row')} × {how_many(draft.table.shape[1], 'column')}, "
        f"{len(draft.columns):,} chosen{truth.words_of(draft)}. {plain(shorten(draft.source, 160, placeholder=' …'))}"
    )
    intro.adjustment(draft.roles.needed())
    truth.draft_curtain(draft)
    earlier = session.draft.previous()
    if earlier is not None:
        back = f"Back to {plain(earlier.name)}"
        st.button(back, icon=":material/undo:", type="tertiary", on_click=session.draft.go_back, key="go_back")


def _onward(draft: Draft) -> None:
    is_open = draft_facts.chosen_counts(draft) is None or reshaping.is_other(draft)
    why_not = mending.why_not(draft) if is_open else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        find_graph.button(draft, why_not)
        if why_not:
            st.caption(why_not)
        else:
            parameters = session.address.parameters()
            st.page_link("pages/preprocess/page.py", label="Or step by step: Preprocess", query_params=parameters)
    find_graph.times(draft)
    if not why_not and (artefacts := draft_artefacts.current_artefacts(draft)) is not None:
        of_levels = draft_facts.few_per_level(draft) if draft.table.size <= _AT_ONCE else None
        findings.doubts([*([of_levels] if of_levels else []), *artefacts.doubts], "below")
    if draft.knowledge is not None:
        st.caption(f"Search and fit follow the knowledge given on Train: {draft.knowledge}.")


_AT_ONCE = 1_000_000  # cells of which the rows per level are counted in a second or two
_UPLOAD, _PROBLEM = "truth_upload", "truth_problem"


def attach_truth(draft: Draft) -> None:
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
            on_change=_truth_uploaded,
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


def _truth_uploaded() -> None:
    file, draft = answers.uploaded(_UPLOAD), session.draft.current()
    st.session_state.pop(_PROBLEM, None)
    if file is None or draft is None:
        return
    with errors.deferred(_PROBLEM, f"{file.name}: "):
        session.draft.set_truth(truth_of(file.getvalue(), {str(name) for name in draft.table.columns}))


_DETECTED = "the column that fits best"
_TEXTS = [suffix[1:] for suffix in SUFFIXES if suffix in (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods")]


def attach_samples(draft: Draft) -> None:
    """An expander that joins a sheet: how its lines belong to the rows is shown first."""
    with st.expander("Sheet of samples", icon=":material/join:"):
        st.markdown(
            "Batch, treatment, age or effort of each sample in another file? Its lines are joined by the names of the "
            "rows, also where R has changed these (`22-A` to `X22.A`). Its columns get roles; none becomes a node."
        )
        key = f"samples_{draft.key}"  # empty again once its columns are joined
        st.file_uploader("One line per sample", type=_TEXTS, key=key)
        file = answers.uploaded(key)
        if file is not None:
            with errors.caught(f"{file.name}: "):
                _offer_samples(draft, file.name, file.getvalue())


def _offer_samples(draft: Draft, name: str, data: bytes) -> None:
    sheet = read_table(io.BytesIO(data), name)
    choices = [_DETECTED, *names_of(sheet)]
    by = st.selectbox("Column with the names of the rows", choices, key=f"samples_by_{draft.key}")
    match = joined(draft.table, sheet, None if by in (None, _DETECTED) else by)
    added = columns_of(draft.table, sheet, match)
    roles = roles_of(added)
    st.markdown(f"{plain(str(match))} Roles: {plain(in_words(roles))}.")
    if st.button("Join these columns", key="samples_join", icon=":material/join:"):
        session.draft.edit_with_roles(added, roles, f"Joined {name}. {match} Roles: {in_words(roles)}.")
        columns.taken_anew()
        st.rerun()
