"""Parents: two selectors side by side, edge by edge."""

import pandas as pd
import streamlit as st

from disco.columns import ENDS, VERDICT
from disco.selectors.selection import AGREEMENT, SELECTORS, WORDS, compared
from disco.subjects.fit.figures import selectors as figures
from disco.words import how_many, number
from pages.parents.sections import truth_of
from pages.shared import session
from pages.shared.evidence.evidence_words import SAME_ROWS
from pages.shared.result import selectors
from pages.shared.result.fit import Result
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import figure, tables
from pages.shared.widgets.answers import valid
from pages.shared.widgets.names import define


def section(result: Result, comparison: TruthComparison | None, selector_shown: str) -> None:
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
    figure.show(figures.agreement(both, result.order, *pair, comparison.edges if comparison else None), "agreement")
    _table(both, pair, comparison)


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
    words, counted = figures.agreement_words(*pair), both["selected_by"].value_counts()
    row = figure.numbers()
    for which in AGREEMENT[:3]:
        label = words[which][0].upper() + words[which][1:]
        row.metric(label, int(counted.get(which, 0)), width=figure.NUMBER)
    for selector, which in zip(pair, AGREEMENT[1:3], strict=True):
        if comparison:
            met = comparison.met(both[both["selected_by"].isin(["both", which])])
            scores = f"Precision {number(met.precision)}, recall {number(met.recall)}, SHD {met.shd}."
            row.metric(f"F1 of {WORDS[selector].name}", number(met.f1), width=figure.NUMBER, help=scores)


def _table(edges: pd.DataFrame, pair: tuple[str, str], comparison: TruthComparison | None) -> None:
    words = figures.agreement_words(*pair)
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
