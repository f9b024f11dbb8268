"""Train: knowledge for the fit to come, from a file. Owns the keys `knowledge_…`."""

import json

import streamlit as st

from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.knowledge.files import from_bytes
from pages.shared import session, table_facts
from pages.shared.drafts import Draft
from pages.shared.names import plain

_COUNTER = "knowledge_times"


def section(draft: Draft) -> None:
    """The knowledge that the fit will keep to: read from a file, shown, removed."""
    known = draft.knowledge
    with st.expander(f"Knowledge: {known or 'none'}", icon=":material/account_tree:"):
        st.markdown(
            "Tiers (an order in time), required and forbidden edges. Order, edges and refinement keep to them at every "
            "step. A run keeps its knowledge for good."
        )
        times = st.session_state.get(_COUNTER, 0)  # another key empties the box once its file has been used
        file = st.file_uploader(
            "Knowledge as a file",
            type=["json", "txt"],
            key=f"knowledge_file_{times}",
            help='JSON, such as {"tiers": [["age"], ["gene_*"]], "required": ["tf_1 → gene_3"], "forbidden": '
            '["gene_* → tf_*"], "closed": [1]}, or a file of Tetrad that begins with /knowledge. `*` stands for any '
            "letters. A closed tier has no edges between its own columns.",
        )
        if file is not None:
            _use(draft, file)
        if known is not None:
            st.code(json.dumps(known.to_dict(), indent=1, ensure_ascii=False), language=None, height=200)
            if st.button("Remove the knowledge", type="tertiary", icon=":material/delete:", key="knowledge_remove"):
                _set(None)


def _use(draft: Draft, file: st.runtime.uploaded_file_manager.UploadedFile) -> None:
    """Take the knowledge of a file, if it fits the chosen columns."""
    counts = table_facts.chosen_counts(draft)
    try:
        found = from_bytes(file.getvalue(), file.name)
        found.resolve([] if counts is None else list(counts.columns), draft.roles)
    except InputError as error:
        st.error(plain(error), icon=":material/error:")
        return
    _set(found)


def _set(knowledge: Knowledge | None) -> None:
    session.draft.set_knowledge(knowledge)
    st.session_state[_COUNTER] = st.session_state.get(_COUNTER, 0) + 1
    st.rerun()
