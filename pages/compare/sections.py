"""The results of several methods: how far they agree, their consensus, all edges, and two of them side by side.

Owns the keys `compare_least_…` and `compare_pair_…`.
"""

from functools import partial

import streamlit as st

from disco.columns import ENDS, METHODS
from disco.subjects.comparison import figures
from disco.subjects.graph.provenance import about
from disco.words import how_many, number, plural
from pages.compare.comparison import Compared, heading, label
from pages.shared.graph import canvas, downloads, paired
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import define, plain


def agreement(comparison: Compared) -> None:
    """The matrices of the orders and of the edges, side by side if there is room; of two methods, the number."""
    if len(comparison.done) < 2:
        st.caption("Choose at least two methods above.")
        return
    st.caption(define("agreement"))
    has_orders = len(comparison.results.orders) > 1  # one alone has nothing to agree with
    if silent := len(comparison.done) - len(comparison.results.orders):
        few = "" if has_orders else " Two are needed to compare orders."
        st.caption(f"{how_many(silent, 'method')} shown here {plural(silent, 'has', 'have')} no order.{few}")
    matrices = {"Orders": comparison.results.order_agreements} if has_orders else {}
    matrices |= {"Edges": comparison.results.edge_agreements}
    slots = st.container(key="beside_agreement").columns(len(matrices), gap="large")
    for slot, (what, values) in zip(slots, matrices.items(), strict=True):
        with slot:
            if len(values) > 2:
                figure.show(figures.agreement(values, what), f"compare_{what.lower()}")
            else:  # a matrix would have this one number
                st.metric(f"{what[:-1]} agreement", number(values.iloc[0, 1]), help=" and ".join(values.columns))


def consensus(comparison: Compared) -> None:
    """The consensus graph, with a slider for the number of methods that an edge needs."""
    methods = len(comparison.done)
    required = _required(comparison, methods)
    graph = comparison.results.consensus(required)
    of = f"at least {required} of {how_many(methods, 'method')}" if methods > 1 else "the one method"
    st.markdown(f"**{how_many(graph.number_of_edges(), 'edge')}** of {of}", help=define("consensus graph"))
    canvas.graph_view(comparison, graph, "compare_consensus", strength=float(methods))
    st.caption(f"{comparison.placed} The consensus may have a cycle even if no method has one.")
    facts = partial(
        about, comparison.run, "consensus of methods", methods=", ".join(comparison.results.found), least=required
    )
    name = f"{downloads.file_name(comparison.run)}_consensus"
    title = f"{comparison.run.name}: edges of {of}"
    st.caption("Download the graph shown:")
    downloads.files(comparison, graph, graph, title, facts, float(methods), name, "consensus")


def _required(comparison: Compared, methods: int) -> int:
    if methods < 2:
        return 1
    return st.slider(
        "Methods that must have an edge",
        1,
        methods,
        methods // 2 + 1,
        key=f"compare_least_{comparison.run.id}_{methods}",
    )


def edges(comparison: Compared) -> None:
    """One row per pair of nodes, one column per method."""
    rows = comparison.results.edges.drop(columns="is_open")
    if len(rows):
        st.caption(
            "One row per pair of nodes that any method joins, in the direction that most methods find. → the method "
            "has the edge in this direction, ← reversed, — without a direction. Click a heading to sort."
        )
    column = st.column_config
    name, description = (
        f"{downloads.file_name(comparison.run)}_edges_of_methods.csv",
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
            description,
            partial(about, comparison.run, "comparison"),
        ),
        key="compare_edge_table",
    )


def pair(comparison: Compared) -> None:
    """Two boxes, what the two methods have in common, and both graphs."""
    names = list(comparison.done)
    if len(names) < 2:
        st.caption("Choose at least two methods above.")
        return
    first, second = paired.two_columns("compare_pair")
    method = first.selectbox("First", names, format_func=heading, key=f"compare_pair_one_{comparison.run.id}")
    rest = [name for name in names if name != method]
    partner = second.selectbox(
        "Second", rest, format_func=heading, key=f"compare_pair_other_{comparison.run.id}_{method}"
    )
    method, partner = (method if method in names else names[0]), (partner if partner in rest else rest[0])
    both = paired.Pair(comparison.results, label(method), label(partner))
    paired.numbers(both)
    titles = [f"of {plain(label(name))}" for name in (method, partner)]
    paired.graphs(both, "compare_pair", titles, by_methods=True, caption=comparison.placed)
