"""Simulate: a design loaded from a file or from the examples."""

import streamlit as st

from disco.files import check_size
from disco.simulate import Design
from disco.simulate.design import LARGEST_DESIGN
from disco.simulate.example_designs import EXAMPLES
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain
from pages.simulate import form

_FILE, _PROBLEM, _EXAMPLE = "sim_design_file", "simulate_design_problem", "sim_example"


def examples() -> None:
    """A box of ready-made designs; the chosen one fills every control, and the box is emptied."""
    st.selectbox(
        "Examples",
        list(EXAMPLES),
        index=None,
        key=_EXAMPLE,
        placeholder="Start from an example",
        on_change=_take_file,
        label_visibility="collapsed",
    )


def _take_file() -> None:
    name = st.session_state[_EXAMPLE]
    if name is not None:
        form.take(EXAMPLES[name])
        st.session_state[_EXAMPLE] = None


def read_back() -> None:
    """An upload box for a design.json, which fills every control."""
    with st.expander("Open a design", icon=":material/file_open:"):
        st.file_uploader(
            "design.json, as saved on this page or by disco simulate", type=["json"], key=_FILE, on_change=_opened
        )
        if problem := st.session_state.get(_PROBLEM):
            st.error(plain(problem) + " The previous design is kept.", icon=":material/error:")


def _opened() -> None:
    file = answers.uploaded(_FILE)
    with errors.deferred(_PROBLEM, f"{file.name}: " if file else ""):
        if file is not None:
            form.take(parsed(file.getvalue()))


def parsed(content: bytes) -> Design:
    """The design in a file; InputError if it holds none."""
    check_size("it", len(content), LARGEST_DESIGN)
    return Design.from_dict(Design.values_of(content))
