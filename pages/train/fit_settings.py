"""Train: the preset, seed and folds in sight, and all other settings in two boxes."""

import streamlit as st

from disco.score.plan import Plan
from disco.settings import CHOICES, PRESETS, Settings
from disco.words import how_many
from pages.shared import session
from pages.shared.frame.glossary import define
from pages.shared.work import choices, setting_words

_PRESET_WORDS = {"tuned": "Tuned", "paper": "Paper"}
_ORDER = "Order"
_BOXES = (
    ("More settings", ":material/settings:", "more_settings", (_ORDER, "Rows", "Parents and monitoring")),
    ("Expert", ":material/experiment:", "expert", ("Networks", "Joint network", "Projection network", "Noise")),
)


def preset() -> None:
    """The preset and its meaning."""
    choices.segments(
        "preset",
        "Preset",
        list(_PRESET_WORDS),
        _PRESET_WORDS.__getitem__,
        "Tuned: a smaller, smoother network, without a second one, and a short schedule, and parents by the "
        "agreement of the folds, in a small part of the time. Paper: every number as in the paper. Your choices of "
        "seed, folds, transform, boundary and criterion stay.",
    )
    settings = session.draft.settings()
    if settings.preset == "paper":
        st.caption(
            "The paper does not state the unit of its learning-rate cosines. Optimiser updates, not epochs, are our "
            "reading: with epochs, the joint network overfits and the graph is almost empty."
        )
    if changed := _differences(settings):
        st.caption(f"{how_many(len(changed), 'setting differs', 'settings differ')} from the preset.")


def in_sight() -> None:
    """The settings changed most often."""
    left, right = st.container(key="train_in_sight").columns(2)
    with left:
        choices.number("seed", "Seed", "The same seed on the same device gives the same result.", min_value=0, step=1)
    with right:
        by_counts = session.draft.settings().folds_by == "counts"
        text = "Cross-fitting folds. Each has its own networks."
        choices.number("folds", "Folds", text, min_value=2, step=1, disabled=by_counts)


def _of_order() -> None:
    """The boundary, the criterion, and whether the folds divide the rows or the counts."""
    first, second, third = st.columns(3)
    with first:
        choices.segments(
            "boundary",
            "Boundary",
            list(CHOICES["boundary"]),
            str.capitalize,
            f"Clipped: {define('clipped boundary')} Admissible: {define('admissible boundary')} You can compare them "
            "after the fit.",
        )
    with second:
        choices.segments(
            "criterion",
            "Sink criterion",
            ["ccs", "constant"],
            {"ccs": "CCS", "constant": "Constant"}.__getitem__,
            f"CCS: {define('CCS')} Constant: {define('constant criterion')} You can compare them after the fit.",
        )
    with third:
        choices.segments(
            "folds_by",
            "Folds by",
            list(CHOICES["folds_by"]),
            str.capitalize,
            f"Counts: {define('count splitting')} Rows that belong together cannot leak. Right if counts are Poisson "
            "given their causes. Otherwise use rows: counts of half the size carry less information.",
        )


def others() -> None:
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
        return _of_order()
    fields = setting_words.GROUPS[title]
    if title == "Projection network" and "projection" not in session.draft.settings().networks:
        fields = fields[:1]  # the others have no effect
    for index, (name, label, text) in enumerate(fields):
        if index % 3 == 0:  # row by row: widgets differ in height, and a phone shows them in this order
            columns = st.columns(3)
        with columns[index % 3]:
            if isinstance(getattr(Settings(), name), bool):
                choices.switch(name, label, text)
            elif name in CHOICES:
                choices.segments(name, label, list(CHOICES[name]), setting_words.CHOICE_WORDS.__getitem__, text)
            else:
                choices.number(name, label, text, **_format(name))
                _made(name)


def _made(name: str) -> None:
    """Below a number of epochs, how many a table with few rows gets, to reach the least number of steps."""
    network, _, what = name.partition("_")
    draft = session.draft.current()
    if what != "epochs" or draft is None:
        return
    asked, made = getattr(draft.settings, name), getattr(Plan.of(len(draft.table), draft.settings), network).epochs
    if made > asked:
        steps = getattr(draft.settings, f"{network}_steps")
        most = "at most " if network == "joint" else ""
        st.caption(f"{asked:,} asked; {most}{made:,} will be made here, for {steps:,} steps.")


def _format(name: str) -> dict[str, object]:
    if isinstance(getattr(Settings(), name), float):
        return {"format": "%g", "step": None, "min_value": 0.0}
    return {"step": 1, "min_value": 0}


def _differences(settings: Settings) -> list[str]:
    """Names of the settings listed here that are not the preset's."""
    plain = Settings.of(settings.preset)
    listed = [name for fields in setting_words.GROUPS.values() for name, _, _ in fields]
    return [name for name in listed if getattr(settings, name) != getattr(plain, name)]


def _reset() -> None:
    plain = Settings.of(session.draft.settings().preset)
    session.draft.change_settings(**{name: getattr(plain, name) for name in _differences(session.draft.settings())})


assert set(_PRESET_WORDS) == set(PRESETS), "every preset needs its word here"
assert {title for *_, titles in _BOXES for title in titles} == {_ORDER, *setting_words.GROUPS}, (
    "every group needs its box"
)
