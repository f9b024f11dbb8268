"""Refine: which edges are shown. The filters belong to a run and drive the table and the graph alike."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from disco.columns import GAIN, STABILITY
from disco.refine.bounds import decided_means
from pages.shared.evidence import evidence_words
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import tables

_GAINS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000)


class Filters(NamedTuple):
    """The conditions for an edge to be shown."""

    gain: float = 0
    is_decided: bool = False
    bootstrap: int = 0


def chosen(refinement: Refinement) -> Filters:
    """Draw the filters; return their values."""
    run, edges = refinement.run, refinement.edges
    keys = [f"refine_{name}_{run.id}" for name in ("least_gain", "only_decided", "least_share")]
    usual = Filters()
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    strongest = max([1.0, *edges["gain_nats"].dropna()])
    options = [gain for gain in _GAINS if gain <= strongest]
    gain = row.select_slider(
        f"{GAIN.label} at least",
        options,
        value=usual.gain,
        key=keys[0],
        width=280,
        help=f"{tables.meaning(GAIN)} 5 nats are odds of 150 to 1 for the edge.",
    )
    share = usual.bootstrap
    if edges["bootstrap"].notna().any():
        share = row.slider(
            f"{STABILITY.label} at least",
            0,
            100,
            usual.bootstrap,
            5,
            format="%d %%",
            key=keys[2],
            width=240,
            help=evidence_words.stability(refinement.choice),
        )
    decided = row.toggle(
        "Decided directions only",
        key=keys[1],
        help=decided_means(refinement.choice.bound),
    )
    filters = Filters(gain, decided, share)
    row.button(
        "Show all",
        icon=":material/undo:",
        key="refine_show_all",
        disabled=filters == usual,
        on_click=st.session_state.update,
        args=(dict(zip(keys, usual, strict=True)),),
    )
    return filters


def kept(edges: pd.DataFrame, filters: Filters) -> tuple[pd.DataFrame, int]:
    """The edges that pass, in the same order, and how many of them no filter could judge.

    An edge passes if a filter lacks the number that it needs, since the edge may be strong.
    """
    conditions = []
    if filters.gain:
        conditions.append((edges["gain_nats"] >= filters.gain, edges["gain_nats"].isna()))
    if filters.is_decided:
        conditions.append((edges["decided"], edges["direction_nats"].isna() & ~edges["decided"]))
    if filters.bootstrap:
        conditions.append((100 * edges["bootstrap"] >= filters.bootstrap - 1e-6, edges["bootstrap"].isna()))
    stays, unjudged = (pd.Series(value, index=edges.index, dtype=bool) for value in (True, False))
    for passes, is_unknown in conditions:
        stays, unjudged = stays & (passes | is_unknown), unjudged | is_unknown
    return edges[stays], int((stays & unjudged).sum())
