"""Columns that others determine exactly: what joins them, and the choice to leave some out."""

import streamlit as st

from disco.words import how_many
from pages.data import columns
from pages.shared import session
from pages.shared.frame.names import plain, shown
from pages.shared.table import computed
from pages.shared.table.drafts import Draft

_IN_SIGHT = 5


def leave_out(draft: Draft) -> None:
    """List the relations, and propose to leave out one column of each; nothing if there are none."""
    found = computed.relations(draft)
    if not found:
        return
    lines = [f"- {plain(relation.sentence)}" for relation in found[:_IN_SIGHT]]
    if len(found) > _IN_SIGHT:
        lines.append(f"- and {len(found) - _IN_SIGHT} more.")
    st.warning(
        "**Some columns are determined by others.** An edge between such columns reflects arithmetic, not cause, and "
        "its direction cannot be known.\n\n" + "\n".join(lines),
        icon=":material/join_inner:",
    )
    names = {position: str(draft.table.columns[position]) for position in draft.columns}
    joined = {name for relation in found for name in relation.columns}
    options = [position for position, name in names.items() if name in joined]
    proposed = {relation.columns[0] for relation in found}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "Leave out",
            options,
            [position for position in options if names[position] in proposed],
            format_func=lambda position: shown(names[position], 80),
            key=f"out_{draft.key}_{hash(draft.columns)}",
            help="One column of each relation is proposed. To keep it, give it the role count in the table below.",
        )
        if st.button("Leave out", key="leave_out", disabled=not chosen):
            named = ", ".join(names[position] for position in chosen[:_IN_SIGHT])
            more = f" and {len(chosen) - _IN_SIGHT} more" if len(chosen) > _IN_SIGHT else ""
            count = how_many(len(chosen), "column")
            session.draft.leave_out_columns(chosen, f"{count} left out, determined by others: {named}{more}.")
            columns.taken_anew()
            st.rerun()
