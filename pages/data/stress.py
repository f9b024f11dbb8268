"""The depth stress test: how many edges of a quick search are found again if the counts are thinned."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.progress import Callback
from disco.refine.stress import SHARES, in_words, stage_of, stress
from pages.shared import background
from pages.shared.drafts import Draft
from pages.shared.names import plain

_FAILURE = "The stress test could not be done"
_STAGES = {stage_of(1): "Searching the whole table"} | {
    stage_of(share): f"Searching with {share:.0%} of all events" for share in SHARES
}


def panel(draft: Draft, table: pd.DataFrame) -> None:
    """The button that starts the test, how far it is, or what it found.

    Args:
        table: the chosen columns as counts.
    """
    key: background.Key = ("stress", draft.key, *draft.columns)
    job = background.find(key)
    if job is not None and job.is_running:
        st.fragment(_progress, run_every=background.SECONDS)(key)
    elif job is not None and job.result is not None:
        lines = job.result.to_dict("records")
        st.markdown("\n".join(f"- {plain(in_words(line))}" for line in lines))
        st.caption("Edges that are lost rest on the depth of the counts: with less of it nobody would have seen them.")
    else:
        background.say_end(job)
        pressed = st.button(
            "Stress test the depth",
            key="stress",
            icon=":material/compress:",
            help="Searches for a graph, and again with a half and with a quarter of all events, drawn at random, as a "
            "shallower measurement would have given them. It takes three times as long as Find the graph's search, and "
            "continues when you leave the page.",
        )
        if pressed:
            background.begin(key, partial(_work, table), _FAILURE)
            st.rerun()


def _work(table: pd.DataFrame, hear: Callback) -> pd.DataFrame:
    return stress(table, callback=hear)


def _progress(key: background.Key) -> None:
    job = background.find(key)
    if job is None or not job.is_running:
        st.rerun()
    background.bar(job, _STAGES.get(job.stage, "Starting"), key="stress_cancel")
