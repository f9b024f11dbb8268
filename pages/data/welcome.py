"""Landing: what the program does, and a finished example result."""

import streamlit as st

from disco import runs
from pages.shared import session
from pages.shared.frame import errors


def greet() -> None:
    """The title, one sentence, and a button that opens an example."""
    st.title("What drives what?", anchor=False)
    st.markdown(
        "DISCO searches a table of counts for its **causal graph**: which columns drive which, how certain each "
        "connection and direction is, and which directions this table cannot show."
    )
    if st.button(
        "See an example result",
        icon=":material/visibility:",
        key="see_example",
        help="A finished search and fit of simulated counts with a known true graph. It opens at once.",
    ):
        _open_example()


def _open_example() -> None:
    with errors.said():
        session.run.select(runs.example())
        session.address.go("graph")


def explain() -> None:
    """What happens next, in three short sentences."""
    steps = (
        ("table_view", "Load a table", "Counts of anything: one row per observation, one column per variable."),
        ("hub", "Find the graph", "One button. A first graph takes seconds, a second opinion minutes."),
        ("search_insights", "Look closer", "Pick an edge to see its strength, its direction and what it means."),
    )
    for column, (icon, title, text) in zip(st.container(key="beside_steps").columns(3), steps, strict=True):
        column.markdown(f":material/{icon}: **{title}**  \n{text}")
