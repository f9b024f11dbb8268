"""A tour in four steps for newcomers: a card on Data and Graph. Owns the key `tour_step`.

It starts by itself if there are no runs yet, and again from a link in the sidebar, `?tour=1`. Once skipped, it stays
closed for the session and its address, `?tour=0`.
"""

import streamlit as st

from disco import runs
from pages.shared import session

_STEP, _OFF, _ON = "tour_step", "0", "1"
_STEPS = {
    1: (
        "data",
        "Load a table",
        "Choose a sample or upload your own counts: one row per observation, one column per variable.",
    ),
    2: (
        "data",
        "Check the columns",
        "Once a table is loaded, its columns appear below. Problems are listed, each with a fix.",
    ),
    3: (
        "data",
        "Find the graph",
        "Press **Find the graph**. A first graph takes seconds and gets better. A fit follows. You can leave the page.",
    ),
    4: (
        "graph",
        "Read the graph",
        "Arrows point from cause to effect. Click an edge or a node to see how certain it is.",
    ),
}
_LAST = max(_STEPS)


def draw(name: str) -> None:
    """Draw the card of the present step on its page; nothing on others, or once the tour is over.

    Args:
        name: of the page's folder.
    """
    step = _present(name)
    if not step or _STEPS[step][0] != name:
        return
    _, title, text = _STEPS[step]
    with st.container(key="tour", border=True, horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Step {step} of {_LAST}: {title}.** {text}", width="stretch")
        if step == _LAST:
            st.button("Done", key="tour_done", on_click=_end)
            return
        # Not "Next": the line above has a link of this name, to the next page.
        is_pressed = st.button(
            f"Step {step + 1}", key="tour_next", icon=":material/arrow_forward:", icon_position="right"
        )
        st.button("Skip", key="tour_skip", type="tertiary", on_click=_end)
    if is_pressed:
        _go_on(step)


def link() -> None:
    """The link in the sidebar that begins the tour again."""
    st.container(key="tour_link").page_link(
        "pages/data/page.py",
        label="Tour in four steps",
        icon=":material/school:",
        query_params={**session.address.parameters(), "tour": _ON},
    )


def _present(name: str) -> int:
    """The present step, advanced by what the reader did; 0 if there is no tour."""
    asked = session.address.asked("tour")
    if asked == _ON:
        session.address.keep("tour", None)
        st.session_state[_STEP] = 1
    elif asked == _OFF or session.address.kept("tour") == _OFF:
        _end()
    elif _STEP not in st.session_state:
        st.session_state[_STEP] = 0 if runs.list_runs() else 1
    step = st.session_state[_STEP]
    if step == 1 and session.draft.current() is not None and asked != _ON:
        step = 2
    if step and name == "graph" and session.run.current() is not None:
        step = _LAST
    st.session_state[_STEP] = step
    return step


def _go_on(step: int) -> None:
    """Go to the next step; the last one shows the open run or the example."""
    st.session_state[_STEP] = step + 1
    if step + 1 < _LAST:
        st.rerun()
    if session.run.current() is None:
        session.run.select(runs.example())
    session.address.go(_STEPS[_LAST][0])


def _end() -> None:
    st.session_state[_STEP] = 0
    session.address.keep("tour", _OFF)
