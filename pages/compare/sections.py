"""The results of several methods: how far they agree, their consensus, all edges, and two of them side by side.

Owns the keys `compare_least_…` and `compare_pair_…`.
"""

from functools import partial

import streamlit as st

from disco.columns import ENDS, METHODS
from disco.figures import compared as figures
from disco.runs.about import about
from disco.words import how_many, number, plural
from pages.compare.comparison import Compared, heading, label
from pages.shared.graph import canvas, downloads, paired
from pages.shared.widgets import figure, tables
from pages.shared.widgets.glossary import define
from pages.shared.widgets.names import plain


def agreement(found: Compared) -> None:
    """The matrices of the orders and of the edges, side by side if there is room; of two methods, the number."""
    if len(found.done) < 2:
        st.caption("Choose at least two methods above.")
        return
    st.caption(define("agreement"))
    has_orders = len(found.results.orders) > 1  # one alone has nothing to agree with
    if silent := len(found.done) - len(found.results.orders):
        few = "" if has_orders else " Two are needed to compare orders."
        st.caption(f"{how_many(silent, 'method')} shown here {plural(silent, 'has', 'have')} no order.{few}")
    matrices = {"Orders": found.results.order_agreements} if has_orders else {}
    matrices |= {"Edges": found.results.edge_agreements}
    slots = st.container(key="beside_agreement").columns(len(matrices), gap="large")
    for slot, (what, values) in zip(slots, matrices.items(), strict=True):
        with slot:
            if len(values) > 2:
                figure.show(figures.agreement(values, what), f"compare_{what.lower()}")
            else:  # a matrix would have this one number
                st.metric(f"{what[:-1]} agreement", number(values.iloc[0, 1]), help=" and ".join(values.columns))


def consensus(found: Compared) -> None:
    """The consensus graph, with a slider for the number of methods that an edge needs."""
    methods = len(found.done)
    least = _least(found, methods)
    graph = found.results.consensus(least)
    of = f"at least {least} of {how_many(methods, 'method')}" if methods > 1 else "the one method"
    st.markdown(f"**{how_many(graph.number_of_edges(), 'edge')}** of {of}", help=define("consensus graph"))
    canvas.graph_view(found, graph, "compare_consensus", strength=float(methods))
    st.caption(f"{found.placed} The consensus may have a cycle even if no method has one.")
    known = partial(about, found.run, "consensus of methods", methods=", ".join(found.results.found), least=least)
    name = f"{downloads.file_name(found.run)}_consensus"
    title = f"{found.run.name}: edges of {of}"
    st.caption("Download the graph shown:")
    downloads.files(found, graph, graph, title, known, float(methods), name, "consensus")


def _least(found: Compared, methods: int) -> int:
    """The number of methods that an edge needs; at first more than half."""
    if methods < 2:
        return 1
    return st.slider(
        "Methods that must have an edge", 1, methods, methods // 2 + 1, key=f"compare_least_{found.run.id}_{methods}"
    )


def edges(found: Compared) -> None:
    """One row per pair of nodes, one column per method."""
    rows = found.results.edges.drop(columns="is_open")
    if len(rows):
        st.caption(
            "One row per pair of nodes that any method joins, in the direction that most methods find. → the method "
            "has the edge in this direction, ← reversed, — without a direction. Click a heading to sort."
        )
    column = st.column_config
    name, said = (
        f"{downloads.file_name(found.run)}_edges_of_methods.csv",
        "Every edge of any method, and what each method found.",
    )
    tables.show(
        rows,
        "Edges of every method",
        {
            **tables.config((*ENDS, METHODS)),
            "forward": column.NumberColumn("→", help="Methods with this direction."),
            "backward": column.NumberColumn("←", help="Methods with the reverse direction."),
            "open": column.NumberColumn("—", help="Methods that leave the direction open."),
        },
        max_height=460,
        empty="None of the methods shown has an edge.",
        csv=tables.Csv(
            f"{how_many(len(rows), 'edge')}, CSV",
            name,
            "compare_edges_csv",
            rows,
            said,
            partial(about, found.run, "comparison"),
        ),
        key="compare_edge_table",
    )


def pair(shown: Compared) -> None:
    """Two boxes, what the two methods have in common, and both graphs."""
    names = list(shown.done)
    if len(names) < 2:
        st.caption("Choose at least two methods above.")
        return
    first, second = paired.two_columns("compare_pair")
    one = first.selectbox("First", names, format_func=heading, key=f"compare_pair_one_{shown.run.id}")
    others = [name for name in names if name != one]
    other = second.selectbox("Second", others, format_func=heading, key=f"compare_pair_other_{shown.run.id}_{one}")
    one, other = (one if one in names else names[0]), (other if other in others else others[0])
    both = paired.Pair(shown.results, label(one), label(other))
    paired.numbers(both)
    titles = [f"of {plain(label(name))}" for name in (one, other)]
    paired.graphs(both, "compare_pair", titles, by_methods=True, caption=shown.placed)
