"""Refine: the edges by evidence as a graph and a table, the filters of both, and the picked node or edge.

The filters belong to a run.
"""

from functools import partial
from typing import NamedTuple

import networkx as nx
import pandas as pd
import streamlit as st

from disco.columns import ENDS, GAIN, OCS, REFINED_EDGES, STABILITY, SUBSETS, VERDICT, Z
from disco.refine.bounds import decided_means
from disco.refine.refinement_result import METHOD
from disco.subjects.graph.provenance import about
from disco.words import how_many
from pages.shared.evidence import evidence_panel, evidence_words, next_steps, questions
from pages.shared.graph import canvas, contexts, downloads, layout
from pages.shared.result.refinement import Refinement
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import tables
from pages.shared.widgets.answers import agreeing, is_left, valid
from pages.shared.widgets.names import code, shown

CANVAS, _RAIL = 500, 640  # pixels of the canvas, and of the panel beside the canvas and its key
_BOX, _TABLE = "refine_edge", "refine_table"
_LISTED = tuple(  # columns of the table; a phone shows the first four
    dict.fromkeys(
        (
            *("parent", "child", "gain_nats", "decided"),
            *(item.name for item in REFINED_EDGES.columns if item.place == "sight"),
            *("disco", "truth"),
            *(item.name for item in REFINED_EDGES.columns if item.place == "menu"),
        )
    )
)
_OF_DRAWS = (STABILITY.name, SUBSETS.name)
_ABSENT = ("dropped", "missing")  # verdicts on edges that the refined graph lacks
_TELL = {"evidence": "the evidence", "changes": "what changed", "truth": "the truth"}


def explore(
    refinement: Refinement, changes: pd.DataFrame | None, disco: pd.DataFrame | None, comparison: TruthComparison | None
) -> None:
    """Filters, graph, table, files, and the picked node or edge.

    Args:
        changes: parent, child, verdict of both graphs' edges; None if there is no DISCO graph.
        disco: the DISCO graph's edges: parent, child, ocs, z, frequency.
        comparison: with the truth, if the truth is shown.
    """
    slot = st.container(key="beside_refined").columns([5, 3], gap="medium")
    with slot[1], st.container(height=_RAIL, key="refine_rail", border=False):
        with st.container(key="refine_filters"):
            with st.expander("Filter and colour the edges", icon=":material/filter_alt:"):
                lines, absent = _lines(changes, comparison)
                edges, unjudged = passing(refinement.edges, chosen(refinement))
            if unjudged:
                st.caption(f"{how_many(unjudged, 'edge')} shown although a filter lacks the number that it needs.")
            every = contexts.joined(refinement, refinement.subgraph(edges))
            graph = layout.strongest(refinement.run, every, [canvas.picked_edge(_pairs(edges))])
            judged = graph
            if lines != "evidence":  # edges hidden by a filter are not missing or dropped
                verdicts = changes if lines == "changes" else comparison.verdicts(refinement.graph)
                is_there = pd.Series([pair in graph.edges for pair in _pairs(verdicts)], verdicts.index, dtype=bool)
                seen = verdicts[is_there | verdicts["verdict"].isin(_ABSENT)]
                judged = refinement.judged(graph, seen, disco if lines == "changes" else None, absent)
            headed = canvas.with_heads(judged, "refine_heads")
            drawn = questions.with_ties(refinement, headed, "refine_ties")
        _picked(refinement, edges)
    placed = contexts.placed(refinement)
    with slot[0]:
        count = sum(pair in graph.edges for pair in _pairs(edges))
        drawn_words = "" if count == len(edges) else f", {count:,} drawn"
        st.markdown(f"**{len(edges):,} of {how_many(len(refinement.edges), 'edge')}** shown{drawn_words}")
        canvas.graph_view(placed, drawn, "refine_canvas", height=CANVAS, strength=refinement.strength, picks_edges=True)
    with slot[0], st.container(key="refine_below"):  # on a phone below the panel (assets/app.css)
        shares = {"edges_shown": f"{count:,} of {len(refinement.edges):,}"} if count < len(refinement.edges) else {}
        downloads.row(placed, drawn, refinement.strength, METHOD, "", refinement.choices | shares, "refined")
        _show(_table(edges, changes, comparison, refinement.graph), refinement)
        _dropped(changes, disco)


def _lines(changes: pd.DataFrame | None, comparison: TruthComparison | None) -> tuple[str, bool]:
    there = {"evidence": True, "changes": changes is not None, "truth": comparison is not None}
    tell = [name for name, is_there in there.items() if is_there]
    if len(tell) == 1:
        return "evidence", False
    lines = st.segmented_control(
        "Lines show",
        tell,
        default="evidence",
        format_func=_TELL.get,
        key="refine_lines",
        required=True,
        help="The evidence: a thicker line has stronger evidence, and without a head its direction is not known. What "
        "changed: kept, new, reversed or dropped, compared with the DISCO graph. The truth: true, extra, reversed or "
        "missing.",
    )
    absent = st.toggle(
        "Absent edges",
        True,
        key="refine_absent",
        disabled=lines == "evidence",
        help="Draw the dropped edges, or the missing true edges.",
    )
    return lines or "evidence", absent


def _table(
    edges: pd.DataFrame, changes: pd.DataFrame | None, comparison: TruthComparison | None, graph: nx.DiGraph
) -> pd.DataFrame:
    table = edges
    verdicts = {"disco": changes, "truth": None if comparison is None else comparison.verdicts(graph)}
    for name, frame in verdicts.items():
        if frame is not None:
            table = table.merge(frame.rename(columns={"verdict": name}), on=["parent", "child"], how="left")
    return table


def _show(table: pd.DataFrame, refinement: Refinement) -> None:
    without = {name for name in _OF_DRAWS if table[name].isna().all()}
    names = [name for name in _LISTED if name in table and name not in without]
    unavailable = evidence_words.unavailable(table, refinement.choice, refinement.refined.nodes is None)
    every = table
    if unavailable.any() and unavailable.nunique() == 1 < len(table):  # no fact about a single edge
        st.caption(f"Not available for these edges: {unavailable.iloc[0]}.")
    elif unavailable.any():
        table = table.assign(unavailable=unavailable.to_numpy())
        names.insert(2, "unavailable")  # rare; must be visible without scrolling
    picked_pair = canvas.picked_edge(_pairs(table))
    rows = [] if picked_pair is None else [_pairs(table).index(picked_pair)]
    key = agreeing(_TABLE, {"selection": {"rows": rows, "columns": [], "cells": []}})
    name = f"{downloads.file_name(refinement.run)}_refined_edges.csv"
    shares = {"edges_shown": f"{len(every):,} of {len(refinement.edges):,}"}
    facts = partial(about, refinement.run, METHOD, **refinement.choices, **shares)
    tables.show(
        tables.rounded(table, REFINED_EDGES.columns)[names],
        "The edges shown, strongest first",
        _columns(refinement),
        max_height=420,
        csv=tables.Csv("Edges shown, CSV", name, "refined_table", every, "Every number of the edges shown.", facts),
        key=key,
        on_select=partial(_row_picked, key, _pairs(table)),
        selection_mode="single-row",
        placeholder="–",
    )


def _columns(refinement: Refinement) -> dict[str, object]:
    """The columns, as wide as their heads; those in sight fit beside the panel in a window 1,400 pixels wide."""
    choice, text = refinement.choice, st.column_config.TextColumn
    helps = {"decided": decided_means(choice.bound), "bootstrap": evidence_words.stability(choice)}
    return {
        **tables.config([*REFINED_EDGES.columns, VERDICT], helps, hides=True, is_narrow=True),
        "disco": text("DISCO", width=58, help="Compared with the DISCO graph: kept, new or reversed."),
        "unavailable": text("Not available", width=96, help="Numbers that could not be computed for this edge."),
    }


def _row_picked(key: str, pairs: list[tuple[str, str]]) -> None:
    """Pick the edge whose row was selected.

    An empty selection is ignored: the browser also sends one whenever a filter changes the rows.
    """
    rows = st.session_state[key]["selection"]["rows"]
    if not is_left(_TABLE, key) and rows and 0 <= rows[0] < len(pairs):
        canvas.pick_edge(pairs[rows[0]])


def _dropped(changes: pd.DataFrame | None, disco: pd.DataFrame | None) -> None:
    if changes is None or not (changes["verdict"] == "dropped").any():
        return
    gone = changes[changes["verdict"] == "dropped"].merge(disco, on=["parent", "child"])
    box = st.expander(f"{how_many(len(gone), 'edge')} of the DISCO graph dropped", key="dropped_box", on_change="rerun")
    if box.open:
        with box:
            rows = gone[["parent", "child", "ocs", "z"]]
            tables.show(rows, "Edges of the DISCO graph dropped", tables.config((*ENDS, OCS, Z)), key="refine_dropped")


def _picked(refinement: Refinement, edges: pd.DataFrame) -> None:
    boxes = st.container(key="refine_boxes")
    left, right = boxes.columns(2, gap="small", vertical_alignment="bottom")
    with left:
        edge = _edge_box(edges, refinement.edges)
    with right:
        node = canvas.node_box("Node", refinement.order, "refine_node", "Or click it.", then=canvas.focus_on)
    if edge is not None:
        st.markdown(f"##### {canvas.edge_words(refinement.graph, *edge)}")
        evidence_panel.edge_details(refinement.run, refinement.refined, *edge)
    elif node is not None:
        st.markdown(f"##### {code(node)}")
        evidence_panel.node_details(refinement.run, refinement.refined, node)
        contexts.on_node(refinement, node)
    elif not contexts.details(refinement):
        st.caption("Click an edge or node in the graph or a row in the table, or choose one here.")
    next_steps.next_rules(refinement.run, refinement.order, edge)


def _edge_box(edges: pd.DataFrame, every: pd.DataFrame) -> tuple[str, str] | None:
    pairs = _pairs(edges)
    picked_pair = canvas.picked_edge(pairs)
    # Numbered among all edges: labels are distinct and no filter changes one, since the browser returns a label.
    numbered = enumerate(zip(_pairs(every), every["decided"], strict=True), start=1)
    labels = {(u, v): f"{k}. {shown(u, 24)} {'→' if sure else '—'} {shown(v, 24)}" for k, ((u, v), sure) in numbered}
    key = agreeing(_BOX, picked_pair)
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
    return picked_pair


def _pairs(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(frame["parent"], frame["child"], strict=True))


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
