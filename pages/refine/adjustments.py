"""The graph with and without each adjustment, and which edges change. Owns the key `adjustments_pair`."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco.found import Found
from disco.metrics.several import Comparison
from disco.progress import Callback
from disco.refine import again
from disco.runs import Run
from disco.words import how_many
from pages.shared.compute import background, machine
from pages.shared.graph import paired
from pages.shared.widgets import table
from pages.shared.widgets.names import plain

_FAILURE = "The searches failed"


def panel(run: Run) -> None:
    """The section: a button that starts the searches, their progress, or their results."""
    if run.adjustment is None or not again.names_of(run.adjustment):
        return
    key = ("adjustments", str(run.path))
    with background.box("What the adjustment changes", ":material/tune:", key):
        background.panel(
            key,
            lambda: _start(run),
            partial(_results, run),
            lambda stage: f"Searching {stage}",
            _FAILURE,
        )


def _start(run: Run) -> Callable[[Callback], dict[str, Found]] | None:
    """Describe the searches; they start if the reader asks for them."""
    names = again.names_of(run.adjustment)
    st.markdown(
        f"{len(again.searches(run.adjustment))} quick searches of the same table: one that adjusts for "
        f"{plain(', '.join(names))}{', one without each of these' if len(names) > 1 else ''}, and one without any. "
        "An adjustment removes edges between nodes that it drives."
    )
    if not st.button("Compare", key="adjustments", icon=":material/compare_arrows:"):
        return None
    options = {"settings": run.settings, "knowledge": run.knowledge()}
    counts, adjustment = run.table(), run.adjustment
    return machine.once_compiled(lambda hear: again.adjusted(counts, adjustment, **options, callback=hear))


def _results(run: Run, graphs: dict[str, Found]) -> None:
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
    csv = table.Csv(f"{how_many(len(rows), 'edge')}, CSV", name, "adjustments_csv", rows, help)
    table.show(rows, "Edges of every search", csv=csv)
