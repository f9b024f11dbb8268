"""What drives an outcome most: all effects on it, ranked. Owns the key `effects_drivers`."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.subjects.effects import figures as outcomes
from disco.subjects.graph.provenance import about
from disco.words import how_many, of_graphs
from pages.effects import answering, question
from pages.shared.graph import downloads
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import figure, tables
from pages.shared.widgets.glossary import define
from pages.shared.widgets.names import plain


def section(refinement: Refinement, outcome: str, where: str) -> None:
    """The ranking, computed in the background, over all rows or those with a level (`answering.levels`)."""
    st.subheader(f"What drives {plain(outcome)} most?", anchor=False)
    answering.drivers(refinement.run, outcome, where).panel(partial(_ranked, refinement, outcome))


def _ranked(refinement: Refinement, outcome: str, rows: pd.DataFrame) -> None:
    if rows.empty:
        st.caption(f"No path leads to {plain(outcome)} in any graph left.")
        return

    def chosen() -> None:
        if (node := figure.clicked("effects_drivers")) in refinement.order:
            question.change(refinement, cause=node)

    figure.show(outcomes.drivers(rows, outcome), "effects_drivers", on_select=chosen)
    note = f"The first {outcomes.MOST} of {how_many(len(rows), 'node')}. " if len(rows) > outcomes.MOST else ""
    st.caption(
        f"{note}Each node goes from its 10 % to its 90 % quantile, or if these are equal, between that value and the "
        "median of the others. Intervals: 90 %. Where a direction is open, they hold the effects of both ways. Click a "
        "mark to ask about its node."
    )
    with st.expander("All of them, in numbers", icon=":material/table_rows:"):
        column = st.column_config
        columns = {"node": column.TextColumn("Node", pinned=True)}
        columns |= {name: column.NumberColumn(label, format="%.3g") for name, label in _NUMBERS.items()}
        columns |= {name: column.TextColumn(label, help=define("graphs left")) for name, label in _GRAPHS.items()}
        name = f"{downloads.file_name(refinement.run)}_drivers.csv"
        facts = partial(about, refinement.run, "effects", outcome=outcome)
        csv = tables.Csv(
            "Download CSV",
            name,
            "effects_csv",
            rows,
            _ROWS,
            facts,
        )
        table = rows.assign(**{graphs: rows[graphs].map(of_graphs) for graphs in _GRAPHS})
        tables.show(table, "The effect of every node on the outcome", columns, csv=csv)


_NUMBERS = {
    "low_value": "From",
    "high_value": "To",
    "mean_low": "Mean at from",
    "mean_high": "Mean at to",
    "difference": "Difference",
    "rate_ratio": "Ratio",
    "low": "5 %",
    "high": "95 %",
}
_ROWS = "One row per node. Columns graphs_… are shares of the graphs left. They count graphs and are no probabilities."
_GRAPHS = {"graphs_more": "Graphs: more", "graphs_less": "Graphs: less", "graphs_none": "Graphs: no change"}
