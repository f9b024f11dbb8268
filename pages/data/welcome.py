"""Landing: what the program does, and a finished result to look at."""

import streamlit as st

from disco import runs
from pages.shared import session
from pages.shared.frame import errors


def greet() -> None:
    """The title, one sentence, and the way to an example."""
    st.title("What drives what?", anchor=False)
    st.markdown(
        "DISCO searches a table of counts for its **causal graph**: which columns drive which, how sure each "
        "connection and each direction is, and which directions nobody can know from this table."
    )
    if st.button(
        "See an example result",
        icon=":material/visibility:",
        key="see_example",
        help="A finished search and fit of simulated counts, whose true graph is known. Nothing has to be waited for.",
    ):
        _open_example()


def _open_example() -> None:
    with errors.said():
        session.run.select(runs.example())
        session.address.go("graph")


def explain() -> None:
    """What happens next, in three short sentences."""
    steps = (
        ("table_view", "Load a table", "One row per observation, one column per variable: counts of anything."),
        ("hub", "Find the graph", "One button. A first graph comes within seconds, a second opinion in minutes."),
        ("search_insights", "Look closer", "Pick an edge: how strong it is, how sure its direction, what it means."),
    )
    for column, (icon, title, text) in zip(st.container(key="beside_steps").columns(3), steps, strict=True):
        column.markdown(f":material/{icon}: **{title}**  \n{text}")
