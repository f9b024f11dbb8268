"""The graph with and without each adjustment: which edges go, come or turn. Owns the key `adjustments_pair`."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from disco.metrics import changes
from disco.refine import adjusting
from disco.refine.adjusting import Found
from disco.runs import Run
from disco.table import spreadsheets
from pages.shared import background, two_graphs
from pages.shared.names import plain

_FAILURE = "The searches could not be made"


def panel(run: Run) -> None:
    """The section: a button that starts the searches, how far they are, or what they found."""
    if run.adjustment is None or not adjusting.names_of(run.adjustment):
        return
    st.subheader("What the adjustment changes", anchor=False)
    key: background.Key = ("adjustments", str(run.path))
    job = background.find(key)
    if job is not None and job.is_running:
        st.fragment(_progress, run_every=background.SECONDS)(key)
    elif job is not None and job.result is not None:
        _shown(run, job.result)
    else:
        background.say_end(job)
        _offer(run, key)


def _offer(run: Run, key: background.Key) -> None:
    """What the searches are, and the button that starts them."""
    names = adjusting.names_of(run.adjustment)
    count = len(adjusting.searches(run.adjustment))
    st.markdown(
        f"{count} quick searches of the same table: one that adjusts for {plain(', '.join(names))}"
        + (", one without each of these" if len(names) > 1 else "")
        + ", and one without any. Edges that go by an adjustment joined nodes that it drives."
    )
    if st.button("Compare", key="adjustments_begin", icon=":material/compare_arrows:"):
        given = {"settings": run.settings, "knowledge": run.knowledge()}
        work = partial(adjusting.adjusted, run.table(), run.adjustment, **given)
        background.begin(key, lambda hear: work(callback=hear), _FAILURE)
        st.rerun()


def _shown(run: Run, found: Sequence[Found]) -> None:
    """What every adjustment changes in a sentence, two graphs side by side, and all edges as a table."""
    told, others = found[0], {one.name: one for one in found[1:]}
    st.markdown("\n".join(f"- {plain(adjusting.in_words(told, one))}" for one in others.values()))
    name = st.segmented_control(
        "Compared with the search", list(others), default=list(others)[-1], required=True, key="adjustments_pair"
    )
    other = others.get(name, found[-1])
    changed = changes(other.graph, told.graph).rename(columns={"verdict": "change"})
    sides = [two_graphs.Side(other.graph, f"**{plain(other.name)}**"), two_graphs.Side(told.graph, "**with all**")]
    two_graphs.show(other.order, changed, sides, "adjustments_graph")
    table = adjusting.compared(found)
    st.dataframe(table, hide_index=True, height=min(38 + 35 * len(table), 360), alt="Edges of every search")
    st.download_button(
        f"{len(table):,} edges, CSV",
        partial(spreadsheets.to_csv, table),
        f"{run.id}_adjustments.csv",
        "text/csv",
        key="adjustments_csv",
        on_click="ignore",
        help=f"Every edge of any search, and its direction in each. {spreadsheets.NOTE}",
    )


def _progress(key: background.Key) -> None:
    job = background.find(key)
    if job is None or not job.is_running:
        st.rerun()
    background.bar(job, f"Searching {job.stage}" if job.stage else "Starting", key="adjustments_cancel")
