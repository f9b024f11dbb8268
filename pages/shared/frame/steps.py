"""The reader's place in the workflow and the next step: one line at the top of every page of the workflow."""

import streamlit as st

from pages.shared import session
from pages.shared.table import computed

# Page, its title, and what the next page needs.
STEPS = {
    "data": ("Data", "counts"),
    "preprocess": ("Preprocess", "counts"),
    "train": ("Train", "fit"),
    "ordering": ("Ordering", "fit"),
    "parents": ("Parents", "fit"),
    "refine": ("Refine", "run"),
    "graph": ("Graph", ""),
}
_MISSING = {
    "counts": "First load a table of counts, and fix the problems listed on Data.",
    "fit": "This needs a finished fit: start one on Train.",
    "run": "This needs a fit or a refinement.",
}


def bar(name: str) -> None:
    """Draw the line for a page of the workflow; nothing for other pages.

    Args:
        name: of the page's folder.
    """
    if name not in STEPS:
        return
    names = list(STEPS)
    index = names.index(name)
    crumbs = [f"**{title}**" if other == name else title for other, (title, _) in STEPS.items()]
    with st.container(key="steps", horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(" › ".join(crumbs))
        if index + 1 < len(names):
            follower, need = names[index + 1], STEPS[name][1]
            is_ready = _is_there(need)
            # A link, not a button: st.switch_page beside a timed fragment can leave the page blank.
            st.page_link(
                f"pages/{follower}/page.py",
                label=f"Next: {STEPS[follower][0]}",
                icon=":material/arrow_forward:",
                icon_position="right",
                query_params=session.address.parameters(),
                disabled=not is_ready,
                help=None if is_ready else _MISSING[need],
            )


def _is_there(need: str) -> bool:
    """Whether the requirement of a step is met."""
    if need == "counts":
        draft = session.draft.current()
        return draft is not None and computed.chosen_counts(draft) is not None
    run = session.run.current()
    return run is not None and (need == "run" or run.status().state == "done")
