"""The methods with time and metrics; how far they agree, their consensus, all edges, and two side by side.

Owns the keys `compare_least_…` and `compare_pair_…`.
"""

from functools import partial

import pandas as pd
import streamlit as st

from disco import verdicts
from disco.columns import ENDS, METHODS
from disco.errors import InputError
from disco.metrics.consensus import highest_by_chance
from disco.subjects import stamps
from disco.subjects.comparison import compared, figures
from disco.subjects.graph.provenance import about
from disco.words import how_many, number, plural, ratio, series
from pages.compare.comparison import OWN, Compared, group, heading, label
from pages.compare.monitoring import WORDS
from pages.shared.graph import canvas, downloads, paired
from pages.shared.result import refinement, truth
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import define, plain


def agreement(comparison: Compared) -> None:
    """The matrices of the orders and of the edges, side by side if there is room; of two methods, the number."""
    if len(comparison.done) < 2:
        st.caption("Choose at least two methods above.")
        return
    st.caption(define("agreement"))
    _own_orders(comparison)
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
                chance = highest_by_chance(len(comparison.results.nodes)) if what == "Orders" else 0.0
                figure.show(figures.agreement(values, what, chance), f"compare_{what.lower()}")
            else:  # a matrix would have this one number
                st.metric(f"{what[:-1]} agreement", ratio(values.iloc[0, 1]), help=" and ".join(values.columns))
                if what == "Orders":
                    paired.chance(values.iloc[0, 1], len(comparison.results.nodes))


def _own_orders(comparison: Compared) -> None:
    """A warning, as on Ordering, if the two orders of the run itself show that the table hardly determines one."""
    order, search = (comparison.results.orders.get(name) for name in OWN.values())
    if order and search and (refined := refinement.readable(comparison.run)):
        against = verdicts.of_two_orders(order, refined.refined)
        if against is not None and against.level == "poor":
            st.warning(f"**{against.head}.** {against.text} {against.advice}", icon=":material/help:")


def consensus(comparison: Compared) -> None:
    """The consensus graph, with a slider for the number of methods that an edge needs."""
    methods = len(comparison.done)
    key = f"compare_least_{comparison.run.id}_{methods}"
    required = methods
    if methods > 1:
        required = st.slider("Methods that must have an edge", 1, methods, methods // 2 + 1, key=key)
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


_METRICS = {  # label, format, term of the glossary
    "f1": ("F1", "%.3f", "F1"),
    "a_top": ("A_top", "%.3f", "A_top"),
    "precision": ("Precision", "%.3f", "precision"),
    "recall": ("Recall", "%.3f", "recall"),
    "skeleton_f1": ("Skeleton F1", "%.3f", "skeleton"),
    "shd": ("SHD", "%d", "SHD"),
    "class_shd": ("Class SHD", "%d", "class SHD"),
}


def truth_of(comparison: Compared) -> TruthComparison | None:
    """The truth, if known and shown; an unusable truth is reported, and the results still appear."""
    try:
        against_truth = truth.visible(comparison)
        if against_truth is not None and (why := compared.looped(against_truth.true_edges)):
            raise InputError(why)
    except InputError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return against_truth


def methods_table(comparison: Compared, against_truth: TruthComparison | None) -> None:
    """The table of methods and, with a known truth, accuracy and time; without one, why nothing is ranked."""
    st.subheader("The methods", anchor=False)
    rows = comparison.rows(against_truth is not None)
    metrics = [name for name in _METRICS if rows[name].notna().any()]
    shown_rows = rows.assign(
        method=[heading(name) for name in rows["method"]],
        group=[group(name).capitalize() for name in rows["method"]],
        state=rows["state"].map(WORDS).str.capitalize(),
    )[["method", "state", *metrics, "edges", "undirected", "seconds", "group", "note"]]
    unseen = ["note", *(["state"] if (rows["state"] == "done").all() else [])]
    name, description = f"{downloads.file_name(comparison.run)}_methods.csv", "Every method with its numbers and notes."
    facts = partial(about, comparison.run, "comparison")
    tables.show(
        shown_rows.drop(columns=unseen).assign(seconds=[_rounded(seconds) for seconds in shown_rows["seconds"]]),
        "Methods with their time, edges and metrics",
        _methods_config(),
        max_height=420,
        csv=tables.Csv("The table, CSV", name, "compare_methods_csv", shown_rows, description, facts),
        key="compare_methods",
        placeholder="–",
    )
    _notes(comparison)
    if against_truth is None:
        _unranked(comparison)
    else:
        _against_truth(rows, against_truth)


def _rounded(seconds: float) -> float:
    """Two digits, and none beyond a hundredth of a second."""
    return round(seconds, 2) if seconds < 1 else float(f"{seconds:.2g}")


def _notes(comparison: Compared) -> None:
    if names := comparison.unadjusted(comparison.done):
        st.caption(
            f":material/warning: **Not adjusted:** {series([plain(label(name)) for name in names])}, without use of "
            "the roles. Some of these edges may come from what the others are adjusted for."
        )
    failed = [result for result in comparison.ended if result.error]
    if failed:
        st.markdown("\n".join(f"- **{plain(label(result.method))}**: {plain(result.error)}" for result in failed))
    noted = [result for result in comparison.ended if result.notes]
    if noted:
        with st.expander("Notes of the methods on their results", icon=":material/info:"):
            st.markdown(
                "\n".join(f"- **{plain(label(result.method))}**: {plain(' '.join(result.notes))}" for result in noted)
            )


def _unranked(comparison: Compared) -> None:
    if stamps.truth(comparison.run):  # hidden for teaching, or damaged: a line above says so
        return
    st.caption(
        "The true edges of this table are not known, so the methods cannot be ranked. See below where they agree. "
        "Methods with the same assumptions make the same mistakes."
    )


def _against_truth(rows: pd.DataFrame, against_truth: TruthComparison) -> None:
    sorts = ", ".join(f"by {name} {number(value)}" for name, value in against_truth.controls.items())
    if sorts:
        st.caption(f"Baseline, A_top of sorting the columns: {sorts}.")
    if not rows["f1"].notna().any():
        return
    drawn = rows.assign(
        name=[label(name) for name in rows["method"]],
        is_control=[group(name) == "controls" for name in rows["method"]],
    )
    figure.show(figures.time_and_f1(drawn), "compare_time")
    if not drawn["is_control"].any():
        st.caption("Add a sorting control to see what sorting alone finds.")


def _methods_config() -> dict[str, object]:
    column = st.column_config
    config = {
        "method": column.TextColumn("Method", width=176, pinned=True),
        "group": column.TextColumn("Kind"),
        "state": column.TextColumn("State"),
        "seconds": column.NumberColumn("Time", format="%g s", help="On one core, without the start-up."),
        "edges": column.NumberColumn("Edges"),
        "undirected": column.NumberColumn(
            "Undirected",
            help=f"Edges whose direction the method leaves open. {truth.OPEN_COUNTS}",
        ),
    }
    for name, (words, format, term) in _METRICS.items():
        config[name] = column.NumberColumn(words, format=format, help=define(term))
    return config
