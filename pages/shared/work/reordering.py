"""Another criterion or boundary from the fitted networks: nothing is refitted, but each node is scored again."""

from functools import partial

import streamlit as st

from disco.progress import Callback
from disco.runs import Run, stamps
from disco.work import serving
from pages.shared import session
from pages.shared.result.fit import VARIANT_WORDS
from pages.shared.work import background


def begin(run: Run, variant: str) -> background.Computation:
    """Start to recover a variant in the background, or find the recovery that is running already."""
    return background.begin(_key(run, variant), partial(recover, run, variant), "The scores could not be computed")


def at_work(run: Run, variant: str) -> background.Computation | None:
    """The recovery of a variant that was begun since the server started."""
    return background.find(_key(run, variant))


def recover(run: Run, variant: str, hear: Callback) -> None:
    """Recover the order and the parents of a variant, and keep them with the run."""
    criterion, boundary = variant.split("-")
    recovery = serving.fitted(run).recover(boundary=boundary, criterion=criterion, callback=hear)
    run.save_recovery(recovery, variant)


def _key(run: Run, variant: str) -> background.Key:
    return "reordering", str(run.path), variant


def section(run: Run) -> None:
    """One line for each criterion and boundary: shown, ready, on its way, or to be computed."""
    if not stamps.networks(run):
        st.info("This needs the fitted networks of the run, which are not in its folder.", icon=":material/info:")
    busy = _is_busy(run)
    st.fragment(_lines, run_every=background.SECONDS if busy else None)(run, busy)


def _is_busy(run: Run) -> bool:
    return any((job := at_work(run, variant)) and job.is_running for variant in VARIANT_WORDS)


def _lines(run: Run, was_busy: bool) -> None:
    available = run.variants()
    for variant, words in VARIANT_WORDS.items():
        left, right = st.columns([3, 2], vertical_alignment="center")
        left.markdown(f"**{words}**" + (" · as fitted" if variant == run.own_variant else ""))
        with right:
            _line(run, variant, variant in available)
    if was_busy and not _is_busy(run):
        st.rerun()  # the whole page: the new order can be shown now, and the clock may stop


def _line(run: Run, variant: str, is_available: bool) -> None:
    job = at_work(run, variant)
    if job and job.is_running:
        text = "Scoring edges" if job.stage == "parents" else "Scoring nodes"
        background.bar(job, text, key=f"reorder_cancel_{variant}")
        return
    if is_available:
        is_shown = (session.shown.variant() or run.own_variant) == variant
        if st.button("Shown" if is_shown else "Show", key=f"reorder_show_{variant}", disabled=is_shown):
            session.shown.set_variant(variant)
            st.rerun()
        return
    if st.button(
        "Order again",
        key=f"reorder_{variant}",
        disabled=not stamps.networks(run),
        help="Uses the fitted networks; nothing is refitted.",
    ):
        begin(run, variant)
        st.rerun()
    background.say_end(job)
