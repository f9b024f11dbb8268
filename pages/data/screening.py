"""Columns that hardly vary, and a filter that previews what it would leave out."""

import numpy as np
import streamlit as st

from disco.table import dispersion
from disco.table.dispersion import Screen
from disco.words import how_many, listed, number, plural
from pages.data import faults
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets.names import bullets, code

_NAMED = 12


def panel(draft: Draft) -> None:
    """What stands out, in numbers, and the filter if columns hardly vary; not with fewer than three chosen."""
    if len(draft.columns) < 3:
        return
    rare, same = _counts(draft)
    rows, chosen = len(draft.table), len(draft.columns)
    sentences = []
    if rare:
        threshold = f"{dispersion.RARE:.0%} of the rows, fewer than {int(np.ceil(dispersion.RARE * rows)):,}"
        sentences.append(
            f"{rare:,} of {chosen:,} columns {plural(rare, 'is', 'are')} above 0 in fewer than {threshold}."
        )
    if same:
        has = plural(same, "has", "have")
        sentences.append(
            f"{how_many(same, 'column')} {has} the same value in more than {dispersion.SAME:.0%} of the rows."
        )
    if sentences:
        st.warning(f"**The graph may be unreliable.**\n\n{bullets(sentences)}", icon=":material/filter_alt:")
    if rare or same:
        _box(draft, rare, same)


def offer(draft: Draft) -> None:
    """The filter where no column hardly varies: folded, and below the table."""
    if len(draft.columns) >= 3 and not any(_counts(draft)):
        _box(draft, 0, 0)


def _counts(draft: Draft) -> tuple[int, int]:
    """How many columns are rarely above 0, and how many are nearly constant."""
    spread = draft_facts.spreads(draft)
    return int(dispersion.rare(spread).sum()), int(dispersion.nearly_constant(spread).sum())


def _box(draft: Draft, rare: int, same: int) -> None:
    with st.expander("Leave out columns that hardly vary", icon=":material/filter_alt:", expanded=bool(rare or same)):
        _filter(draft, bool(rare), bool(same))


def _filter(draft: Draft, has_rare: bool, has_same: bool) -> None:
    spread, key = draft_facts.spreads(draft), draft.key
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")  # labels may wrap
    prevalence = first.number_input(
        "Above 0 in at least (% of rows)",
        0.0,
        100.0,
        100 * dispersion.RARE if has_rare else 0.0,
        key=f"screen_prevalence_{key}",
        help="Columns above 0 in fewer rows are left out.",
    )
    mean = second.number_input("Mean at least", 0.0, key=f"screen_mean_{key}")
    variance = third.number_input("Variance at least", 0.0, key=f"screen_variance_{key}")
    commonest = fourth.number_input(
        "Same value in at most (% of rows)",
        0.0,
        100.0,
        100 * dispersion.SAME if has_same else 100.0,
        key=f"screen_commonest_{key}",
        help="Columns with the same value in more rows are left out: they are nearly constant.",
    )
    out = dispersion.left_out(spread, Screen(prevalence / 100, mean, variance, commonest / 100))
    if not out.any():
        st.caption("This leaves out no columns.")
        return
    names = [
        f"{code(line.column)} ({line.prevalence:.1%} of rows, mean {number(line.mean)})"
        for line in spread[out].sort_values("prevalence").itertuples()
    ]
    remaining, gone = int((~out).sum()), int(out.sum())
    count = how_many(gone, "column")
    st.markdown(f"This keeps {remaining:,} and leaves out {count} of {len(out):,}: {listed(names, _NAMED)}.")
    bounds = [
        f"{word} {value:g}{unit}"
        for word, value, unit, usual in (
            ("above 0 in under", prevalence, "% of rows", 0),
            ("mean under", mean, "", 0),
            ("variance under", variance, "", 0),
            ("same value in over", commonest, "% of rows", 100),
        )
        if value != usual
    ]
    if remaining > 1:
        positions = np.array(draft.columns)[out].tolist()
        faults.leave_out_button(draft, positions, "screen_out", f"The filter: {', or '.join(bounds)}.")
