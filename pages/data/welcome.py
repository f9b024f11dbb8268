"""The page Data before a table is loaded: what the program does, and a finished example result."""

import streamlit as st

from disco.reports.bundled import example
from pages.shared import session
from pages.shared.widgets import errors


def greet() -> None:
    """The title, one sentence, and a button that opens an example."""
    st.title("What drives what?", anchor=False)
    st.markdown(
        "DISCO searches a table of counts for its **causal graph**: which columns are linked directly, how certain "
        "each link and direction is, and which directions this table cannot show. Load a table and press one button: "
        "a first graph takes seconds."
    )
    if st.button(
        "See an example result",
        type="primary",
        icon=":material/visibility:",
        key="see_example",
        help="A finished search and fit of simulated counts with a known true graph. It opens at once.",
    ):
        _open_example()


def _open_example() -> None:
    with errors.caught():
        session.run.select(example())
        session.address.go("graph")
