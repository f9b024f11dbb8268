"""The sections of Parents for a selector other than the OCS."""

import networkx as nx
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from disco import verdicts
from disco.figures import selectors as figures
from disco.parents.selectors import WORDS
from disco.words import how_many
from pages.shared import session
from pages.shared.frame import figure, verdict
from pages.shared.frame.glossary import define
from pages.shared.frame.table import Csv, show
from pages.shared.graph import against_truth, canvas
from pages.shared.parents import ocs_sections, selecting, selectors, sparse
from pages.shared.result import truth
from pages.shared.result.fit import Result
from pages.shared.result.known import Known


def page(result: Result, known: Known | None, selector: str, place: DeltaGenerator) -> pd.DataFrame | None:
    """Cut-off, counts and graph of cam, pcm or evidence; or the button that computes it.

    Args:
        place: where the verdict stands.

    Returns:
        Its candidates, for `table`, if it has been computed.
    """
    found = selectors.candidates(result, selector)
    if found is None:
        st.markdown(f"{WORDS[selector].name} has not been computed along this order yet.")
        selecting.offer(result, selector, "shown")
        return None
    cut = selectors.cut_slider(result, selector)
    kept = selectors.kept(result, selector)
    graph = selectors.graph(result, kept)
    with place:
        verdict.show(*verdicts.of_graph(result.ccs, kept[kept["selected"]], len(graph)))
    ocs_sections.counts(graph)
    sparse.advise(result, graph.number_of_edges(), selector)
    if known:
        truth.edge_numbers(known, graph)
    left, right = st.container(key="beside_parents").columns([3, 2], gap="large")
    with left:
        if known:
            against_truth.choose()
        seen = against_truth.seen(graph, known, result.thresholds[0])
        canvas.graph_view(result, seen, "parents_canvas", height=430)
        st.caption(lines(result))
    with right:
        figure.show(figures.cuts(found, selector, cut, selectors.CHOICES[selector]), "cuts")
        st.caption("Where the curve is flat, the cut-off hardly matters.")
    return kept


def own_graph(result: Result) -> tuple[nx.DiGraph, float, float, str] | None:
    """For Graph: the graph of the selector that the run was fitted with, the OCS's own thresholds, and what chose it.

    None with the OCS, or if the selector was not computed along the order shown, which it says.
    """
    selector = result.run.settings.selector
    if selector == "ocs":
        if session.shown.selector() not in (None, "ocs"):
            st.caption("Shown: the edges by OCS, as this run was fitted. Parents shows those of other selectors.")
        return None
    name, kept = WORDS[selector].name, selectors.kept(result, selector)
    if kept is None:
        st.caption(f"{name} was not computed along this order: these are the OCS's edges. Parents can compute it.")
        return None
    said = f"{name}, {selectors.rule(selector, selectors.cut_of(selector))}"
    st.caption(f"Shown: the edges by {said}, as this run was fitted. {lines(result)} Parents shows other selectors.")
    return selectors.graph(result, kept), *result.thresholds, said


def lines(result: Result) -> str:
    """What the width and dash of a line mean if another selector than the OCS chose the edges."""
    return (
        "Unless they show the truth, lines show the OCS: wider if it is higher, dashed if not all folds are "
        f"above its own τ_Z = {result.thresholds[0]:.3g}."
    )


def table(kept: pd.DataFrame, selector: str, known: Known | None) -> None:
    """The candidates that a selector keeps, or all of them."""
    every = st.toggle("Show the others too", key=f"selector_every_{selector}")
    rows = kept if every else kept[kept["selected"]]
    if rows.empty:
        st.caption("None is kept at this cut-off.")
        return
    rows = rows.sort_values("score", ascending=False, kind="stable").drop(columns="frequency")
    rows = rows.rename(columns={"z": "ocs_z"})
    if known:
        rows = rows.assign(truth=truth_of(rows, known))
    shown = rows if every else rows.drop(columns="selected")
    csv = Csv(f"{how_many(len(rows), 'row')}, CSV", f"parents_{selector}.csv", f"selector_csv_{selector}", rows)
    show(shown, f"Candidates by {WORDS[selector].name}", _columns(selector), most=320, csv=csv)


def truth_of(edges: pd.DataFrame, known: Known) -> list[str]:
    """Whether each edge is true, right either way, reversed or not true."""
    true = set(zip(known.edges["parent"], known.edges["child"], strict=True))
    verdicts = dict.fromkeys({pair[::-1] for pair in true}, "reversed") | dict.fromkeys(true, "true")
    verdicts |= dict.fromkeys(known.either_way, "either way")
    return [verdicts.get(pair, "not true") for pair in zip(edges["parent"], edges["child"], strict=True)]


def _columns(selector: str) -> dict[str, object]:
    score = {
        "cam": "F of the candidate's curve.",
        "pcm": "T of its test, one-sided.",
        "evidence": "The loss of the child's log posterior without it or, for a candidate that is no edge, the gain "
        "with it. Empty if a screen left the pair out.",
    }
    column = st.column_config
    return {
        "parent": column.TextColumn("Parent"),
        "child": column.TextColumn("Child"),
        "score": column.NumberColumn(WORDS[selector].score, format="%.4g", help=score[selector]),
        "p_value": column.NumberColumn("p", format="%.2g"),
        "selected": column.CheckboxColumn("Kept"),
        "ocs": column.NumberColumn("OCS", format="%.3g", help=f"{define('OCS')} Mean over folds."),
        "ocs_z": column.NumberColumn("Z of the OCS", format="%.2f", help=f"{define('Z')} Mean over folds."),
        "truth": column.TextColumn("Truth", help="According to the known truth of this table."),
    }
