"""The sections of the Parents page, two selectors side by side among them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from disco import verdicts
from disco.columns import CURVATURE, ENDS, OCS, P_OF_SELECTOR, SCORE, SELECTED, VERDICT, Z
from disco.graph.dag import DISCO
from disco.selectors.selection import AGREEMENT, SELECTORS, WORDS, compared
from disco.subjects.fit.figures import accuracy
from disco.subjects.fit.figures import parents as figures
from disco.subjects.fit.figures import selectors as cut_figures
from disco.words import how_many, number
from pages.shared import session
from pages.shared.evidence import evidence_panel
from pages.shared.evidence.evidence_words import SAME_ROWS
from pages.shared.frame import intro
from pages.shared.graph import canvas, layout
from pages.shared.result import refinement, selectors, truth
from pages.shared.result.fit import Result
from pages.shared.result.selectors import Selection
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import answers, figure, tables
from pages.shared.widgets.answers import valid
from pages.shared.widgets.names import code, define
from pages.shared.widgets.tables import Csv, show

VALUES = {item.name: item.label for item in (OCS, CURVATURE, Z)}
_SCALES = {
    "iqr": (["ocs", "z"], "OCS has a threshold line for each fold, Z has one for all, at τ_Z."),
    "jackknife": (
        ["curvature", "z"],
        "Mean curvature: it has the sign of the effect, and for a parent the folds agree. Z divides it by its standard "
        "error.",
    ),
}


def verdict_on(chosen: Selection) -> None:
    """How well the threshold of the OCS separates its scores; and Graph's verdict on the run, in Graph's words."""
    result, refined = chosen.result, refinement.readable(chosen.result.run)
    is_refined = refined is not None and session.shown.view.current() != DISCO
    if is_refined:
        verdict = refined.verdict()
        on_graph = verdict._replace(text=f"In the graph of the likelihood search: {verdict.text}")
    else:
        edges = selectors.of_run(result).edges
        on_graph = verdicts.of_graph(edges, len(result.order), is_searched=refined is not None)
    if chosen.is_ocs:
        groups = result.groups if result.rule == "jackknife" else None
        verdict = verdicts.of_parents(result.ocs, result.rule, chosen.tau_z, chosen.pi_min, groups)
        intro.verdict(verdict, on_graph)
    else:
        intro.verdict(on_graph)
    if not is_refined:  # whose verdict says the same
        evidence_panel.note(refined)


def graph(chosen: Selection, comparison: TruthComparison | None) -> None:
    """The selected edges, as a graph under their number."""
    possible = len(chosen.graph) * (len(chosen.graph) - 1) // 2
    st.markdown(f"**{len(chosen.edges):,} of {how_many(possible, 'possible edge')}** kept")
    if comparison:
        truth.choose_lines()
    seen = layout.strongest(chosen.result.run, truth.with_verdicts(chosen.graph, comparison, chosen.tau_z))
    canvas.graph_view(chosen.result, seen, "parents_canvas", height=430)
    if not chosen.is_ocs:
        st.caption(chosen.lines)


def advice(chosen: Selection) -> None:
    """Below the graph: what to try if it is almost empty, and what the rule cannot keep."""
    selectors.advise_if_sparse(chosen, "parents")
    if chosen.is_ocs:
        cannot(chosen.result, chosen.tau_z)


def drawers(chosen: Selection, comparison: TruthComparison | None) -> dict[str, Callable[[], None]]:
    """The sections that can be opened below the graph."""
    if not chosen.is_ocs:
        return {
            "Candidates": partial(candidates_table, chosen, comparison),
            "Other cut-offs": partial(other_cuts, chosen),
        }
    of_ocs: dict[str, Callable[[], None]] = {
        "One child": partial(candidates, chosen.result, chosen.tau_z, chosen.pi_min, comparison),
        "All candidates": partial(matrix, chosen.result, chosen.kept, chosen.pi_min, comparison),
        "Other thresholds": partial(sensitivity, chosen.result, chosen.tau_z, chosen.pi_min),
    }
    if comparison and len(comparison.edges):
        of_ocs["Against the truth"] = partial(against, chosen.result, comparison, chosen.tau_z, chosen.pi_min)
    return of_ocs


def against(result: Result, comparison: TruthComparison, tau_z: float, pi_min: float) -> None:
    """F1 along the threshold, and precision against recall, with the present choice on both."""
    table = comparison.accuracy(tau_z)
    if result.rule == "jackknife":  # Z is the same in every fold, so there is only one π_min
        table = table[table["pi_min"] == table["pi_min"].max()]
    left, right = st.container(key="beside_truth").columns(2, gap="large")
    with left:
        figure.show(accuracy.f1(table, tau_z, pi_min), "truth_f1")
    with right:
        average, a_top = comparison.average_precision, comparison.a_top
        drawn = accuracy.precision_recall(comparison.curve, table, tau_z, pi_min, average, comparison.chance, a_top)
        figure.show(drawn, "truth_precision_recall")
    st.caption(
        "Your own tables have no truth to choose τ_Z by. What carries over is how flat the curve is, not where it "
        "peaks."
    )


def cannot(result: Result, tau_z: float) -> None:
    """Say which children cannot get a parent by this rule, whatever their scores."""
    capped = figures.cannot_select(result.order, tau_z) if result.rule == "iqr" else []
    if not capped:
        return
    sentences = [f"{code(child)} has {k} candidates, so Z is at most {highest:g}" for child, k, highest in capped]
    names = " and ".join(code(child) for child, *_ in capped) if len(capped) < 3 else how_many(len(capped), "node")
    lower = min(highest for *_, highest in capped)
    st.info(
        f"At τ_Z = {tau_z:g} no parent of {names} can be kept, whatever the data: " + "; ".join(sentences) + ". "
        f"This is a limit of the median and interquartile rule with few candidates, not a finding. "
        f"Below τ_Z = {lower:g} all of them can have one.",
        icon=":material/block:",
    )


def sensitivity(result: Result, tau_z: float, pi_min: float) -> None:
    """Edges against τ_Z, one line per π_min; a single line for the jackknife, since Z is the same in every fold."""
    ocs = result.ocs if result.rule == "iqr" else result.ocs[result.ocs["fold"] == 1]
    figure.show(figures.sensitivity(ocs, tau_z, pi_min), "sensitivity")
    st.caption("Where the curve is flat, the threshold hardly matters. No threshold is tuned against a truth.")


def other_cuts(chosen: Selection) -> None:
    """Edges against the cut-off of a selector other than the OCS."""
    cut, choices = selectors.cut_of(chosen.selector), selectors.CHOICES[chosen.selector]
    figure.show(cut_figures.cuts(chosen.kept, chosen.selector, cut, choices), "cuts")
    st.caption("Where the curve is flat, the cut-off hardly matters.")


def candidates(result: Result, tau_z: float, pi_min: float, comparison: TruthComparison | None) -> None:
    """The candidates of one child, with the threshold line."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        child = canvas.node_box(
            "Child", result.order, "parents_child", "The node whose candidate parents are drawn.", result.order[-1]
        )
    scales, explanation = _SCALES[result.rule]
    words = {name: VALUES[name] for name in scales}
    with right:
        by = answers.segments("Scale", words, f"parents_scale_{result.rule}", help=explanation)
    if child == result.order[0]:
        st.info(f"{code(child)} is the first node of the order and has no candidate parents.")
        return
    true_parents = set(comparison.edges.loc[comparison.edges["child"] == child, "parent"]) if comparison else set()
    drawn = figures.candidates(result.ocs, child, tau_z, pi_min, by, true_parents=true_parents)
    figure.show(drawn, "candidates")
    if comparison:
        _true_parents(result, child, true_parents)
    if result.rule == "jackknife" and by == "curvature":
        st.caption("Mean curvature: above 0, both rise together. The OCS is the mean of its absolute value.")
    if result.rule != "jackknife" and result.order.index(child) == 1:
        st.caption(
            "A single candidate cannot be centred. Its OCS is divided by the median scale of the other children."
        )


def _true_parents(result: Result, child: str, true_parents: set[str]) -> None:
    index = result.order.index(child)
    excluded = [parent for parent in result.order[index + 1 :] if parent in true_parents]
    reachable = len(true_parents) - len(excluded)
    note = f"★ a true parent: {reachable} of these candidates."
    if excluded:
        note += f" Not candidates, as the order puts {code(child)} first: {', '.join(code(node) for node in excluded)}."
    st.caption(note)


def matrix(result: Result, table: pd.DataFrame, pi_min: float, comparison: TruthComparison | None) -> None:
    """All candidates in causal order; a click picks the child."""
    help = "OCS: mean over folds, logarithmic. Z: mean over folds. Frequency: share of folds above τ_Z."
    by = answers.segments("Colour", figures.MATRIX_VALUES, "parents_colour", help=help)
    edges = comparison.edges if comparison else None
    drawn = figures.matrix(table, result.order, pi_min, by, canvas.picked(result.order), edges)
    figure.show(drawn, "ocs_matrix")


def candidates_table(chosen: Selection, comparison: TruthComparison | None) -> None:
    """The candidates that a selector keeps, or all of them."""
    edges, selector = chosen.kept, chosen.selector
    every = st.toggle("Show all candidates", key=f"selector_every_{selector}")
    rows = edges if every else edges[edges["selected"]]
    if rows.empty:
        st.caption("None is kept at this cut-off.")
        return
    rows = rows.sort_values("score", ascending=False, kind="stable").drop(columns="frequency")
    rows = rows.rename(columns={"z": "ocs_z"})
    if comparison:
        rows = rows.assign(truth=truth_of(rows, comparison))
    visible = rows if every else rows.drop(columns="selected")
    csv = Csv(f"{how_many(len(rows), 'row')}, CSV", f"parents_{selector}.csv", f"selector_csv_{selector}", rows)
    show(visible, f"Candidates by {WORDS[selector].name}", _columns(selector), max_height=320, csv=csv)


def truth_of(edges: pd.DataFrame, comparison: TruthComparison) -> list[str]:
    """Whether each edge is true, right either way, reversed or not true."""
    true = set(zip(comparison.edges["parent"], comparison.edges["child"], strict=True))
    verdicts = dict.fromkeys({pair[::-1] for pair in true}, "reversed") | dict.fromkeys(true, "true")
    verdicts |= dict.fromkeys(comparison.either_way, "either way")
    return [verdicts.get(pair, "not true") for pair in zip(edges["parent"], edges["child"], strict=True)]


def _columns(selector: str) -> dict[str, Any]:
    score = {
        "cam": "F of the candidate's curve.",
        "pcm": "T of its test, one-sided.",
        "evidence": "What the child's log posterior loses without it or, for a candidate without an edge, gains with "
        "it. Empty if a screen left the pair out.",
    }
    config = (
        *(*ENDS, replace(SCORE, label=WORDS[selector].score, help=score[selector]), P_OF_SELECTOR, SELECTED),
        *(OCS, replace(Z, name="ocs_z", label="Z of the OCS"), VERDICT),
    )
    means = {name: f"{tables.meaning(item)} Mean over folds." for name, item in {"ocs": OCS, "ocs_z": Z}.items()}
    return tables.config(config, means)


def two_selectors(result: Result, comparison: TruthComparison | None, selector_shown: str) -> None:
    """Where two selectors agree along the order shown, at the cut-offs chosen above."""
    pair = _pair(result, selector_shown)
    edge_sets = [selectors.selected_edges(result, selector) for selector in pair]
    if None in edge_sets:
        for selector, edges in zip(pair, edge_sets, strict=True):
            if edges is None and selector == selector_shown:
                st.caption(f"{WORDS[selector].name} can be computed above.")
            elif edges is None:
                st.markdown(f"{WORDS[selector].name} has not been computed along this order yet.")
                selectors.offer_computation(result, selector, "beside")
        return
    both = compared(*(edges.kept for edges in edge_sets))
    st.caption(f"{edge_sets[0].words}; {edge_sets[1].words}. Each keeps its own cut-off, as set above.")
    if "evidence" in pair:
        st.caption(SAME_ROWS)
    _counts(both, pair, comparison)
    figure.show(cut_figures.agreement(both, result.order, *pair, comparison.edges if comparison else None), "agreement")
    _both_table(both, pair, comparison)


def _pair(result: Result, selector_shown: str) -> tuple[str, str]:
    current = session.shown.compared.current() or ("ocs", selector_shown if selector_shown != "ocs" else "evidence")
    row = st.container(key="beside_compared").columns(2, gap="medium")
    for index, (label, box) in enumerate(zip(("Compare", "with"), row, strict=True)):
        key = f"compared_{index}_{result.run.id}"
        st.session_state[key] = current[index]

        def chosen(selector: str, index: int = index) -> None:
            pair = [selector] * 2
            # Choosing the other one swaps the two.
            pair[1 - index] = current[index] if current[1 - index] == pair[index] else current[1 - index]
            session.shown.compared.keep((pair[0], pair[1]))

        box.selectbox(
            label,
            list(SELECTORS),
            format_func=lambda name: WORDS[name].name,
            key=key,
            on_change=valid(key, SELECTORS, chosen),
        )
    return current


def _counts(both: pd.DataFrame, pair: tuple[str, str], comparison: TruthComparison | None) -> None:
    words, counted = cut_figures.agreement_words(*pair), both["selected_by"].value_counts()
    row = figure.numbers()
    for which in AGREEMENT[:3]:
        label = words[which][0].upper() + words[which][1:]
        row.metric(label, int(counted.get(which, 0)), width=figure.NUMBER)
    for selector, which in zip(pair, AGREEMENT[1:3], strict=True):
        if comparison:
            met = comparison.met(both[both["selected_by"].isin(["both", which])])
            scores = f"Precision {number(met.precision)}, recall {number(met.recall)}, SHD {met.shd}."
            row.metric(f"F1 of {WORDS[selector].name}", number(met.f1), width=figure.NUMBER, help=scores)


def _both_table(edges: pd.DataFrame, pair: tuple[str, str], comparison: TruthComparison | None) -> None:
    words = cut_figures.agreement_words(*pair)
    rows = edges[edges["selected_by"] != "neither"].assign(selected_by=lambda frame: frame["selected_by"].map(words))
    if comparison and len(rows):
        rows = rows.assign(truth=truth_of(rows, comparison))
    column = st.column_config
    scores = [f"{WORDS[selector].name}: {WORDS[selector].score}" if selector != "ocs" else "OCS" for selector in pair]
    named = rows.rename(columns={"score_one": f"score_{pair[0]}", "score_other": f"score_{pair[1]}"})
    tables.show(
        rows,
        "Edges that either selector keeps",
        {
            **tables.config((*ENDS, VERDICT)),
            "score_one": column.NumberColumn(scores[0], format="%.4g", help=define(WORDS[pair[0]].name)),
            "score_other": column.NumberColumn(scores[1], format="%.4g", help=define(WORDS[pair[1]].name)),
            "selected_by": column.TextColumn("Selected by"),
        },
        max_height=320,
        empty="Neither keeps an edge.",
        csv=tables.Csv(
            f"{how_many(len(rows), 'edge')} of either, CSV", f"parents_{pair[0]}_{pair[1]}.csv", "compared_csv", named
        ),
    )
