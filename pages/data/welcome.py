"""Landing: what the program does, and a finished result to look at."""

import streamlit as st


def greet() -> None:
    """The title, one sentence, and the way to an example."""
    st.title("What drives what?", anchor=False)
    st.markdown(
        "DISCO searches a table of counts for its **causal graph**: which columns drive which, how sure each "
        "connection and each direction is, and which directions nobody can know from this table."
    )


def explain() -> None:
    """What happens next, in three short sentences."""
    steps = (
        ("table_view", "Load a table", "One row per observation, one column per variable: counts of anything."),
        ("hub", "Find the graph", "One button. A first graph comes within seconds, a second opinion in minutes."),
        ("search_insights", "Look closer", "Pick an edge: how strong it is, how sure its direction, what it means."),
    )
    for column, (icon, title, text) in zip(st.container(key="beside_steps").columns(3), steps, strict=True):
        column.markdown(f":material/{icon}: **{title}**  \n{text}")
