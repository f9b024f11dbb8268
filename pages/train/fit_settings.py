"""Train: the preset, seed and folds in sight, and all other settings in two boxes."""

import streamlit as st

from disco.fields import changed, options
from disco.paper.plan import Plan
from disco.paper.settings import PRESETS, Settings
from disco.words import how_many
from pages.shared import session
from pages.shared.work import fit_options

_ORDER = "Order"
_GROUPS = {option.group for option in options(Settings).values()}
_BOXES = (
    ("More settings", ":material/settings:", "more_settings", (_ORDER, "Rows", "Parents and monitoring")),
    ("Expert", ":material/experiment:", "expert", ("Networks", "Joint network", "Projection network", "Noise")),
)


def preset() -> None:
    """The preset and its meaning."""
    fit_options.segments(
        "preset",
        "Preset",
        list(PRESETS),
        str.capitalize,
        "Tuned: one smaller, smoother network, a short schedule, and parents by the agreement of the folds, in "
        "a fraction of the time. Paper: every number as in the paper. Your choices of "
        "seed, folds, transform, boundary and criterion stay.",
    )
    settings = session.draft.settings()
    if settings.preset == "paper":
        st.caption(
            "The paper does not state the unit of its learning-rate cosines. Optimiser updates, not epochs, are our "
            "reading: with epochs, the joint network overfits and the graph is almost empty."
        )
    if differences := _differences(settings):
        st.caption(f"{how_many(len(differences), 'setting differs', 'settings differ')} from the preset.")


def in_sight() -> None:
    """The settings changed most often."""
    left, right = st.container(key="train_in_sight").columns(2)
    with left:
        fit_options.option("seed")
    with right:
        fit_options.option("folds", disabled=session.draft.settings().folds_by == "counts")


def boxes() -> None:
    """All other settings, in two boxes whose widgets are drawn while the box is open."""
    for label, icon, key, titles in _BOXES:
        box = st.expander(label, icon=icon, key=key, on_change="rerun")
        if box.open:
            with box:
                for title in titles:
                    _group(title)
    if _differences(session.draft.settings()):
        st.button("Back to the preset", on_click=_reset)


def _group(title: str) -> None:
    st.markdown(f"**{title}**")
    if title == _ORDER:
        for slot, name in zip(st.columns(3), ("boundary", "criterion", "folds_by"), strict=True):
            with slot:
                fit_options.option(name)
        return
    named = [option.name for option in options(Settings).values() if option.group == title]
    if title == "Projection network" and "projection" not in session.draft.settings().networks:
        named = named[:1]  # the others have no effect
    for index, name in enumerate(named):
        if index % 3 == 0:  # row by row: widgets differ in height, and a phone shows them in this order
            columns = st.columns(3)
        with columns[index % 3]:
            fit_options.option(name)
            _planned_epochs(name)


def _planned_epochs(name: str) -> None:
    """Below a number of epochs, how many a table with few rows gets, to reach the least number of steps."""
    network, _, what = name.partition("_")
    draft = session.draft.current()
    if what != "epochs" or draft is None:
        return
    chosen, planned = getattr(draft.settings, name), getattr(Plan.of(len(draft.table), draft.settings), network).epochs
    if planned > chosen:
        steps = getattr(draft.settings, f"{network}_steps")
        prefix = "at most " if network == "joint" else ""
        st.caption(f"{chosen:,} requested; {prefix}{planned:,} will run here, to reach {steps:,} steps.")


def _differences(settings: Settings) -> list[str]:
    plain = Settings.of(settings.preset)
    return [name for name in changed(settings, plain) if options(Settings)[name].group]


def _reset() -> None:
    plain = Settings.of(session.draft.settings().preset)
    session.draft.change_settings(**{name: getattr(plain, name) for name in _differences(session.draft.settings())})


assert {title for *_, titles in _BOXES for title in titles} == {_ORDER, *filter(None, _GROUPS)}, (
    "every group needs its box"
)
