"""Another criterion or boundary from the fitted networks: each node is scored again, nothing is refitted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from disco.errors import InputError, ScoreUnavailable
from disco.progress import Callback, Event
from disco.runs import Run, stamps
from disco.work import serving
from pages.shared import session
from pages.shared.compute import background
from pages.shared.result.fit import VARIANT_WORDS

Wanted = tuple[Run, str]  # and the name of a variant


def recover(wanted: Sequence[Wanted], hear: Callback) -> None:
    """Recover one after the other, and keep each with its run; one that cannot be does not keep the others from it."""
    problems = []
    for before, (run, variant) in enumerate(wanted):

        def heard(event: Event, before: int = before) -> bool | None:
            return hear(replace(event, progress=(before + event.progress) / len(wanted)))

        criterion, boundary = variant.split("-")
        try:
            found = serving.fitted(run).recover(boundary=boundary, criterion=criterion, callback=heard)
            run.save_variant(found, variant)
        except (InputError, ScoreUnavailable) as error:
            problems.append(str(error))
    if problems:
        raise InputError(" ".join(dict.fromkeys(problems)))


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
    offer(f"variant_{variant}", [(run, variant)], "Order again", (str(run.path),), disabled=not stamps.networks(run))


def offer(name: str, wanted: Sequence[Wanted], label: str, key: background.Key, **more: Any) -> None:
    """The button that scores what is wanted from the fitted networks, or how far that is.

    Args:
        name: of the elements.
        wanted: runs, each with a variant that it lacks; without any there is no button.
        label: of the button.
        key: of the computation, after the name.
        more: of the button.
    """

    def asked() -> Callable[[Callback], None] | None:
        help = "Uses the fitted networks; nothing is refitted."
        return partial(recover, wanted) if wanted and st.button(label, key=name, help=help, **more) else None

    background.panel(
        (name, *key),
        asked,
        lambda kept: None,
        lambda stage: "Scoring edges" if stage == "parents" else "Scoring nodes",
        "The scores could not be computed",
    )
