"""Another criterion or boundary from the fitted networks: each node is scored again, nothing is refitted."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from disco.errors import InputError, ScoreUnavailable
from disco.progress import Callback, Event
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.fit import network_cache, results
from pages.shared import session
from pages.shared.compute.background import Key, Slow
from pages.shared.result.fit import VARIANT_WORDS

Variant = tuple[Run, str]  # and its name


def recover(variants: Sequence[Variant], hear: Callback) -> None:
    """Recover one after the other, and store each with its run; one that fails does not stop the rest."""
    problems = []
    for index, (run, variant) in enumerate(variants):

        def callback(event: Event, index: int = index) -> bool | None:
            return hear(replace(event, progress=(index + event.progress) / len(variants)))

        criterion, boundary = variant.split("-")
        try:
            recovered = network_cache.fitted(run).recover(boundary=boundary, criterion=criterion, callback=callback)
            results.save_variant(run, recovered, variant)
        except (InputError, ScoreUnavailable) as error:
            problems.append(str(error))
    if problems:
        raise InputError(" ".join(dict.fromkeys(problems)))


def section(run: Run) -> None:
    """One line for each criterion and boundary: shown, ready, in progress, or to be computed."""
    if not stamps.networks(run):
        st.info("This needs the run's fitted networks, which are not in its folder.", icon=":material/info:")
    available, selected = results.variants(run), session.shown.variant.current() or results.own_variant(run)
    for variant, words in VARIANT_WORDS.items():
        label, right = st.columns([3, 2], vertical_alignment="center")
        label.markdown(f"**{words}**" + (" · as fitted" if variant == results.own_variant(run) else ""))
        with right:
            if variant not in available:
                key, is_off = (str(run.path),), not stamps.networks(run)
                offer(f"variant_{variant}", [(run, variant)], "Order again", key, disabled=is_off)
            elif st.button(
                "Shown" if variant == selected else "Show", key=f"variant_show_{variant}", disabled=variant == selected
            ):
                session.shown.variant.keep(variant)
                st.rerun()


def offer(name: str, variants: Sequence[Variant], label: str, key: Key, **options: Any) -> None:
    """The button that scores variants from the fitted networks, or the progress of that.

    Args:
        variants: runs, each with a variant that it lacks; without any there is no button.
        key: of the computation, after the name.
    """

    def button() -> bool:
        help = "Uses the fitted networks; nothing is refitted."
        return bool(variants) and st.button(label, key=name, help=help, **options)

    Slow(
        (name, *key),
        partial(recover, variants),
        lambda stage: "Scoring edges" if stage == "parents" else "Scoring nodes",
        "The scores could not be computed",
    ).panel(lambda _: None, button)
