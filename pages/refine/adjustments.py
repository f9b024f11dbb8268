"""The graph with and without each adjustment, and which edges change. Owns the key `adjustments_pair`."""

from functools import partial

import streamlit as st

from disco.graph.result import GraphResult
from disco.metrics.consensus import Comparison
from disco.progress import Callback
from disco.refine import again
from disco.runs import Run
from disco.words import how_many
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.graph import paired
from pages.shared.widgets import tables
from pages.shared.widgets.names import plain


def panel(run: Run) -> None:
    """The button that starts the searches, their progress, or their results."""
    if run.adjustment is None or not again.names_of(run.adjustment):
        return

    def work(callback: Callback) -> dict[str, GraphResult]:
        options = {"settings": run.settings, "knowledge": run.knowledge()}
        return again.adjusted(run.table(), run.adjustment, **options, callback=callback)

    searches = Slow(
        ("adjustments", str(run.path)),
        machine.once_compiled(work),
        lambda stage: f"Searching {stage}",
        "The searches failed",
    )
    with searches.box("What the adjustment changes", ":material/tune:"):
        searches.panel(partial(_results, run), partial(_offer, run))


def _offer(run: Run) -> bool:
    names = again.names_of(run.adjustment)
    st.markdown(
        f"{len(again.searches(run.adjustment))} quick searches of the same table: one that adjusts for "
        f"{plain(', '.join(names))}{', one without each of these' if len(names) > 1 else ''}, and one without any. "
        "An adjustment removes edges between nodes that it drives."
    )
    return st.button("Compare", key="adjustments", icon=":material/compare_arrows:")


def _results(run: Run, graphs: dict[str, GraphResult]) -> None:
    names = [name for name in graphs if name != again.WITH]
    st.markdown("\n".join(f"- {plain(again.adjusted_in_words(graphs, name))}" for name in names))
    name = st.segmented_control(
        "Compare with the search", names, default=names[-1], required=True, key="adjustments_pair"
    )
    chosen = name if name in names else names[-1]
    results = Comparison.of(graphs, graphs[chosen].nodes)
    pair = paired.Pair(results, chosen, again.WITH, (chosen, again.WITH))
    paired.graphs(pair, "adjustments", [plain(chosen), again.WITH])
    rows = results.edges[["parent", "child", *graphs]]
    help = "Every edge of any search, and its direction in each."
    name = f"{run.id}_adjustments.csv"
    csv = tables.Csv(f"{how_many(len(rows), 'edge')}, CSV", name, "adjustments_csv", rows, help)
    tables.show(rows, "Edges of every search", csv=csv)
