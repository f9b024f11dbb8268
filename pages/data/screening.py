"""Columns that hardly vary, and a filter that previews what it would leave out."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from disco.table import dispersion
from disco.table.dispersion import Screen
from disco.words import how_many, listed, number
from pages.data import faults
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets.names import code

_NAMED = 12


class _Bound(NamedTuple):
    name: str
    label: str
    words: str  # what is left out
    unit: str = ""
    usual: float = 0.0


_BOUNDS = (
    _Bound("prevalence", "Above 0 in at least (% of rows)", "above 0 in under", "% of rows"),
    _Bound("mean", "Mean at least", "mean under"),
    _Bound("variance", "Variance at least", "variance under"),
    _Bound("commonest", "Same value in at most (% of rows)", "same value in over", "% of rows", 100.0),
)


def panel(draft: Draft) -> None:
    """The filter, open, if any of three or more columns hardly varies; a caveat above says so."""
    if len(draft.columns) >= 3 and any(numbers := _counts(draft)):
        _box(draft, *numbers)


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
    spread = draft_facts.spreads(draft)
    starts = 100 * dispersion.RARE * has_rare, 0.0, 0.0, 100 * dispersion.SAME if has_same else 100.0
    inputs = list[float]()
    # Labels may wrap, so the inputs stand on one line at the bottom.
    for slot, bound, start in zip(st.columns(4, vertical_alignment="bottom"), _BOUNDS, starts, strict=True):
        key, most = f"screen_{bound.name}_{draft.key}", 100.0 if bound.unit else None
        inputs.append(slot.number_input(bound.label, 0.0, most, start, key=key, help="Others are left out."))
    prevalence, mean, variance, commonest = inputs
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
    values = [(bound, value) for bound, value in zip(_BOUNDS, inputs, strict=True) if value != bound.usual]
    bounds = [f"{bound.words} {value:g}{bound.unit}" for bound, value in values]
    if remaining > 1:
        positions = np.array(draft.columns)[out].tolist()
        faults.leave_out_button(draft, positions, "screen_out", f"The filter: {', or '.join(bounds)}.")
