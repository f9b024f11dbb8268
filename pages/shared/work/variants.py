"""Another criterion or boundary from the fitted networks: each node is scored again, nothing is refitted."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco.progress import Callback
from disco.runs import Run, stamps
from disco.work import serving
from pages.shared import session
from pages.shared.result.fit import VARIANT_WORDS
from pages.shared.work import background

FAILURE = "The scores could not be computed"


def recover(run: Run, variant: str, hear: Callback) -> None:
    """Recover the order and the parents of a variant, and keep them with the run."""
    criterion, boundary = variant.split("-")
    found = serving.fitted(run).recover(boundary=boundary, criterion=criterion, callback=hear)
    run.save_variant(found, variant)


def section(run: Run) -> None:
    """One line for each criterion and boundary: shown, ready, in progress, or to be computed."""
    if not stamps.networks(run):
        st.info("This needs the run's fitted networks, which are not in its folder.", icon=":material/info:")
    available = run.variants()
    for variant, words in VARIANT_WORDS.items():
        left, right = st.columns([3, 2], vertical_alignment="center")
        left.markdown(f"**{words}**" + (" · as fitted" if variant == run.own_variant else ""))
        with right:
            if variant in available:
                _show(run, variant)
            else:
                _offer(run, variant)


def _show(run: Run, variant: str) -> None:
    is_shown = (session.shown.variant.now() or run.own_variant) == variant
    if st.button("Shown" if is_shown else "Show", key=f"variant_show_{variant}", disabled=is_shown):
        session.shown.variant.keep(variant)
        st.rerun()


def _offer(run: Run, variant: str) -> None:
    def asked() -> Callable[[Callback], None] | None:
        label, help = "Order again", "Uses the fitted networks; nothing is refitted."
        pressed = st.button(label, key=f"variant_{variant}", disabled=not stamps.networks(run), help=help)
        return partial(recover, run, variant) if pressed else None

    background.panel(
        (f"variant_{variant}", str(run.path)),
        asked,
        lambda kept: None,
        lambda stage: "Scoring edges" if stage == "parents" else "Scoring nodes",
        FAILURE,
    )
