"""The edges of the graph shown: the filters, by evidence, of graph and table, and the table.

The filters belong to a run.
"""

from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from disco.columns import FOUND_BY, FREQUENCY, GAIN, OCS, PAIR, REFINED_EDGES, STABILITY, VERDICT, Z
from disco.graph.dag import DISCO
from disco.refine.bounds import SURER
from disco.subjects.graph.provenance import about
from disco.words import how_many
from pages.graph.view import View
from pages.shared.evidence import evidence_words
from pages.shared.graph import canvas, downloads
from pages.shared.result.refinement import Refinement
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import tables
from pages.shared.widgets.answers import agreeing, is_left, valid
from pages.shared.widgets.names import define, distinct

_BOX, _TABLE = "graph_edge", "graph_table"
_OF_FIT = (OCS, Z, FREQUENCY)
_LONGEST = 14  # letters of a name in the table, so that both names of an edge are seen
_LISTED = tuple(  # columns of the table; a phone shows the first three
    dict.fromkeys(
        (
            *("edge", "gain_nats", "decided"),
            *(item.name for item in REFINED_EDGES.columns if item.place == "sight"),
            *("found_by", "truth", *PAIR),
            *(item.name for item in _OF_FIT),
            *(item.name for item in REFINED_EDGES.columns if item.place == "menu"),
        )
    )
)


def draw(view: View, edges: pd.DataFrame, comparison: TruthComparison | None) -> None:
    """The edges shown, strongest first; a row picks its edge.

    Args:
        edges: those that pass the filters, as in `View.edges`.
        comparison: with the truth, if the truth is shown.
    """
    refinement = view.shown_refinement
    rows = edges.assign(edge=distinct(view.in_words(pair, _LONGEST) for pair in pairs_of(edges)))
    if comparison is not None:
        verdicts = comparison.verdicts(view.graph).rename(columns={"verdict": "truth"})
        rows = rows.merge(verdicts, on=["parent", "child"], how="left")
    names = [name for name in _LISTED if name in rows and rows[name].notna().any()]
    every = rows.drop(columns="edge")
    if refinement is not None:
        rows, names = _with_reasons(rows, names, refinement)
    pairs = pairs_of(rows)
    picked_pair = canvas.picked_edge(pairs)
    selected = [] if picked_pair is None else [pairs.index(picked_pair)]
    key = agreeing(_TABLE, {"selection": {"rows": selected, "columns": [], "cells": []}})
    name = f"{downloads.file_name(view.placed.run)}_edges.csv"
    shares = {"edges_shown": f"{len(every):,} of {len(view.edges):,}"}
    facts = partial(about, view.placed.run, view.method, **view.choices, **shares)
    tables.show(
        tables.rounded(rows, [*REFINED_EDGES.columns, *_OF_FIT])[names],
        "The edges shown, strongest first",
        _columns(refinement),
        max_height=420,
        csv=tables.Csv("Edges shown, CSV", name, "graph_table_csv", every, "Every number of the edges shown.", facts),
        key=key,
        on_select=partial(_row_picked, key, pairs),
        selection_mode="single-row",
        placeholder="–",
    )
    if refinement is not None:
        bound = refinement.choice.bound
        st.caption(
            "Evidence and direction are in nats: 3 are odds of 20 to 1, 10 of 22,000 to 1. A direction can be decided "
            f"from {bound:g} on, if its link has {SURER * bound:g}; below 0 it is for the reverse. The reason why one "
            "is not decided stands beside the graph once its edge is picked."
        )


def _with_reasons(rows: pd.DataFrame, names: list[str], refinement: Refinement) -> tuple[pd.DataFrame, list[str]]:
    """The rows and the columns to show, with what could not be computed, unless the same lacks everywhere."""
    unavailable = evidence_words.unavailable(rows, refinement.choice, refinement.refined.nodes is None)
    if FOUND_BY.name in rows:  # what the likelihood did not find has no such numbers
        unavailable = unavailable.mask(rows[FOUND_BY.name] == DISCO, "")
    if unavailable.any() and unavailable.nunique() == 1 < len(rows):  # no fact about a single edge
        st.caption(f"Not available for these edges: {unavailable.iloc[0]}.")
    elif unavailable.any():
        # Rare; must be visible without scrolling.
        return rows.assign(unavailable=unavailable.to_numpy()), [names[0], "unavailable", *names[1:]]
    return rows, names


def _columns(refinement: Refinement | None) -> dict[str, object]:
    """The columns, as wide as their heads; those in sight fit beside the panel in a window 1,400 pixels wide."""
    helps, text = {}, st.column_config.TextColumn
    if refinement is not None:
        choice = refinement.choice
        helps = {"decided": define("decided"), "bootstrap": evidence_words.stability(choice)}
        helps["direction_nats"] = f"For the first column before the second. {define('direction evidence')}"
    of_fit = tables.config(_OF_FIT, is_narrow=True)
    if refinement is not None:
        of_fit = {name: item | {"hidden": True} for name, item in of_fit.items()}
    return {
        **tables.config(REFINED_EDGES.columns, helps, hides=True, is_narrow=True),
        **dict.fromkeys(PAIR),  # in `edge`: a column "Parent" would give an undecided edge a direction
        **of_fit,
        **tables.config((FOUND_BY,), is_narrow=True),
        "edge": text("Edge", width=236, help="With an arrow if its direction is known."),
        "truth": text("Truth", width=66, help=VERDICT.help),
        "unavailable": text("Not available", width=96, help="Numbers that could not be computed for this edge."),
    }


def _row_picked(key: str, pairs: list[tuple[str, str]]) -> None:
    """Pick the edge whose row was selected.

    An empty selection is ignored: the browser also sends one whenever a filter changes the rows.
    """
    rows = st.session_state[key]["selection"]["rows"]
    if not is_left(_TABLE, key) and rows and 0 <= rows[0] < len(pairs):
        canvas.pick_edge(pairs[rows[0]])


def box(view: View, edges: pd.DataFrame) -> None:
    """A select box for the picked edge."""
    pairs = pairs_of(edges)
    # Numbered among all edges: labels are distinct and no filter changes one, since the browser returns a label.
    numbered = enumerate(pairs_of(view.edges), start=1)
    labels = {pair: f"{number}. {view.in_words(pair, 24)}" for number, pair in numbered}
    key = agreeing(_BOX, canvas.picked_edge(pairs))
    st.selectbox(
        "Edge, strongest first",
        pairs,
        index=None,
        key=key,
        format_func=lambda pair: labels.get(pair, ""),
        placeholder="Choose an edge",
        on_change=valid(key, [None, *pairs], canvas.pick_edge, _BOX),
        help="Or click it in the graph.",
    )


def pairs_of(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """The parent and the child of every row."""
    return list(zip(frame["parent"], frame["child"], strict=True))


_GAINS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000)


class Filters(NamedTuple):
    """The conditions for an edge to be shown."""

    gain: float = 0
    is_decided: bool = False
    bootstrap: int = 0


def filtered(view: View) -> pd.DataFrame:
    """Draw the filters by the evidence of a search; return the edges that pass, as in `View.edges`."""
    if view.shown_refinement is None:
        return view.edges
    with st.expander("Filter the edges", icon=":material/filter_alt:"):
        edges, unjudged = passing(view.edges, chosen(view.shown_refinement))
    if unjudged:
        st.caption(f"{how_many(unjudged, 'edge')} shown although a filter lacks the number that it needs.")
    return edges


def chosen(refinement: Refinement) -> Filters:
    """Draw the filters; return their values."""
    run, edges = refinement.run, refinement.edges
    keys = [f"graph_{name}_{run.id}" for name in ("least_gain", "only_decided", "least_share")]
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
    decided = row.toggle("Decided directions only", key=keys[1], help=define("decided"))
    filters = Filters(gain, decided, share)
    row.button(
        "Show all",
        icon=":material/undo:",
        key="graph_show_all",
        disabled=filters == usual,
        on_click=st.session_state.update,
        args=(dict(zip(keys, usual, strict=True)),),
    )
    return filters


def passing(edges: pd.DataFrame, filters: Filters) -> tuple[pd.DataFrame, int]:
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
