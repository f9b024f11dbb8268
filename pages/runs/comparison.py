"""Two runs side by side: their edges, their orders, their settings. Owns the keys `compare_…`."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.runs import FIT, REFINE, Run, Work, stamps
from disco.runs.comparing import Comparison, Side, compare, works
from disco.table import spreadsheets
from disco.words import how_many, number
from pages.shared.frame import figure
from pages.shared.frame.names import code, plain
from pages.shared.graph import paired

_WORDS = {"kept": "kept", "dropped": "lost", "new": "new", "turned": "turned"}
_MOST_NAMED = 12


def section(one: Run, other: Run) -> None:
    """The comparison of two runs, the older first."""
    first, second = sorted((one, other), key=lambda run: (run.created.timestamp(), run.id))
    st.subheader("The two compared", anchor=False)
    for run in (first, second):
        if not works(run):
            st.info(f"{code(run.name)} has no finished fit or refinement to compare.", icon=":material/info:")
            return
    chosen = _choose(first, second)
    try:
        found = _compared(first, second, chosen, _stamp(first), _stamp(second))
    except InputError as error:
        st.error(plain(error), icon=":material/error:")
        return
    _common(found)
    _numbers(found)
    _graphs(found)
    _edges(found)
    _settings(found)


def _choose(first: Run, second: Run) -> tuple[str, str]:
    """Which result of each run: its fit or its refinement; by default the same of both."""
    both = [work for work in works(first) if work in works(second)]
    chosen = []
    for label, run, box in zip(("First", "Second"), (first, second), paired.beside("compared_runs"), strict=True):
        there = {work.name: work for work in works(run)}
        box.markdown(f"**{label}:** {code(run.name)}")
        usual = both[0].name if both else next(iter(there))
        chosen.append(
            box.segmented_control(
                f"{label} result",
                list(there),
                default=usual,
                required=True,
                format_func=lambda name, there=there: there[name].noun.capitalize(),
                key=f"compare_{label}_{run.id}",
                label_visibility="collapsed",
            )
            or usual
        )
    return chosen[0], chosen[1]


def _stamp(run: Run) -> tuple[int, int]:
    return stamps.fit(run), stamps.refinement(run)


# The stamps make sure that a run with a new result is compared again.
@st.cache_resource(max_entries=16, show_spinner="Comparing …", hash_funcs={Run: lambda run: str(run.path)})
def _compared(
    first: Run, second: Run, chosen: tuple[str, str], of_first: tuple[int, int], of_second: tuple[int, int]
) -> Comparison:
    sides = []
    for run, name in zip((first, second), chosen, strict=True):
        work: Work = next((work for work in works(run) if work.name == name), FIT)
        sides.append(Side.of(run, work))
    return compare(*sides)


def _common(found: Comparison) -> None:
    """What the comparison leaves out, and whether the tables differ."""
    for side, only in ((found.first, found.only_first), (found.second, found.only_second)):
        if only:
            named = ", ".join(code(node) for node in only[:_MOST_NAMED])
            more = f" and {len(only) - _MOST_NAMED:,} more" if len(only) > _MOST_NAMED else ""
            st.caption(f"{how_many(len(only), 'column')} only in {code(side.run.name)}: {named}{more}.")
    if found.only_first or found.only_second:
        st.markdown(f"Compared: the **{how_many(len(found.nodes), 'column')}** that both have.")
    if not found.same_rows:
        st.caption("The two tables hold different counts in these columns, so some difference is to be expected.")


def _numbers(found: Comparison) -> None:
    """How many edges are kept, lost, new and turned; how far the orders agree."""
    row, wide = figure.numbers(), figure.NUMBER
    helps = {
        "kept": "In both graphs, in the same direction.",
        "dropped": "Only in the first graph.",
        "new": "Only in the second graph.",
        "turned": "In both graphs, in opposite directions.",
    }
    for change, help in helps.items():
        row.metric(_WORDS[change].capitalize(), found.count(change), width=wide, help=help)
    help = "Share of the pairs of columns that both orders rank alike. Two random orders agree on half."
    row.metric("Order agreement", number(found.order_agreement), width=170, help=help)


def _graphs(found: Comparison) -> None:
    """Both graphs, every node at the same place."""
    sides = zip((found.first, found.second), found.graphs, strict=True)
    titled = [
        (
            graph,
            f"**{how_many(graph.number_of_edges(), 'edge')}** of the {side.work.noun} of {code(side.run.name)}",
            side.work == REFINE,
        )
        for side, graph in sides
    ]
    paired.draw("compare", found.nodes, found.edges, titled)


def _edges(found: Comparison) -> None:
    """One row per edge of either graph, with its numbers in both, and the same as a file."""
    if found.edges.empty:
        st.caption("Neither graph has an edge.")
        return
    table = found.edges.assign(change=found.edges["change"].map(_WORDS))
    st.dataframe(
        table,
        hide_index=True,
        height=min(38 + 35 * len(table), 360),
        column_config=_config(table),
        placeholder="",
        alt="Edges of either graph with their numbers in both",
    )
    st.download_button(
        f"{how_many(len(table), 'edge')}, CSV",
        partial(spreadsheets.to_csv, table),
        f"{found.first.run.id}_{found.second.run.id}_edges.csv",
        "text/csv",
        key="compare_csv",
        on_click="ignore",
        help=f"Every edge with its numbers in both; a turned one in its direction in the second. {spreadsheets.NOTE}",
    )


def _config(table: pd.DataFrame) -> dict[str, object]:
    column, config = st.column_config, {}
    for name in table.columns[3:]:
        what, _, side = name.rpartition("_")
        label = f"{what.removesuffix('_nats').replace('_', ' ').capitalize()}, {side}"
        label = label.replace("Ocs", "OCS").replace("P value", "p-value").replace("Gain", "Gain (nats)")
        config[name] = column.CheckboxColumn(label) if what == "decided" else column.NumberColumn(label, format="%.3g")
    return {
        "parent": column.TextColumn("Parent", pinned=True),
        "child": column.TextColumn("Child", pinned=True),
        "change": column.TextColumn("Change", help="From the first graph to the second."),
        **config,
    }


def _settings(found: Comparison) -> None:
    """The settings that differ."""
    if found.settings.empty:
        st.caption("Both have the same settings.")
        return
    st.markdown(f"**{how_many(len(found.settings), 'setting')}** differ" + "s" * (len(found.settings) == 1) + ":")
    text = st.column_config.TextColumn
    config = {"setting": text("Setting"), "first": text("First"), "second": text("Second")}
    st.dataframe(found.settings, hide_index=True, column_config=config, alt="Settings that differ")
