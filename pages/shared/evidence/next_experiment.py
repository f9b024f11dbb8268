"""The next experiment: which node to set, to settle the most open directions; computed when its box is opened."""

from functools import partial

import streamlit as st

from disco.columns import NEXT
from disco.refine.settling import NOTHING_OPEN, Next, rows_in_words
from disco.runs import Run
from disco.runs import next_experiment as engine
from disco.words import how_many, listed
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.evidence import asking
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import tables
from pages.shared.widgets.names import code

_MOST_PAIRS = 6
_MOST_EDGES = 200  # beyond it, predicting rows would take minutes


def section(run: Run, refinement: Refinement | None) -> None:
    """A folded section: the best node in a sentence, and what setting each node would settle.

    Args:
        refinement: of the run; None if it has none.
    """
    box = st.expander("The next experiment", icon=":material/experiment:", key="graph_next", on_change="rerun")
    if not box.open:
        return
    with box:
        if refinement is None:
            st.caption("It needs the evidence of a likelihood search: start one on Refine.")
        elif len(refinement.edges) <= _MOST_EDGES:
            machine.once(machine.compiled, machine.PREPARING, partial(_draw, run, with_rows=True))
        else:
            _draw(run, with_rows=False)
            st.caption("`disco next RUN` also predicts how many rows each experiment needs.")


def _draw(run: Run, with_rows: bool) -> None:
    """What setting each node would settle; of a large table computed in the background."""
    Slow(
        ("graph_next", *asking.key(run, with_rows)),
        lambda callback: engine.of(run, with_rows=with_rows, callback=callback),
        "Comparing the graphs that the rows leave",
        "The experiments could not be compared",
        at_once=len(run.nodes) <= asking.MOST_AT_ONCE,
        patience=asking.PATIENCE,
    ).panel(_write)


def _write(result: Next) -> None:
    if not result.open:
        st.caption(NOTHING_OPEN)
        return
    best = result.nodes.iloc[0]
    st.markdown(
        f"Set {code(best['node'])} next: this would settle {best['settled']:.1f} of "
        f"{how_many(result.open, 'open direction')} on average."
    )
    _table(result)


def _table(result: Next) -> None:
    text = st.column_config.TextColumn
    config = tables.config(NEXT[:3]) | {
        "pairs": text("Which", width="large"),
        "rows": text(
            "Rows per arm", help="To see the predicted change in its neighbours, with power .8: median and range."
        ),
    }
    pairs = result.pairs["parent"] + " – " + result.pairs["child"]
    by_node = pairs.groupby(result.pairs["node"]).agg(lambda group: listed(group.tolist(), _MOST_PAIRS))
    rows = result.nodes[["node", "settled", "settled_if_hidden"]].assign(
        pairs=result.nodes["node"].map(by_node), rows=list(map(rows_in_words, result.nodes.itertuples()))
    )
    csv = tables.Csv("Download CSV", "next_experiment.csv", "graph_next_csv", result.nodes)
    tables.show(rows, "What setting each node would settle", config, key="graph_next_nodes", csv=csv)
