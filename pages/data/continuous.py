"""A table of numbers that are not counts: DISCO-Cont, run in the background, and its result."""

from dataclasses import dataclass
from functools import partial

import networkx as nx
import pandas as pd
import streamlit as st

from disco import __version__, graph
from disco.errors import InputError
from disco.figures import placing
from disco.found import Found
from disco.methods import METHODS, cont
from disco.table.continuous import as_numbers, is_skewed
from disco.words import duration, how_many
from pages.data import reshaping
from pages.shared.frame import table as tables
from pages.shared.frame.names import plain
from pages.shared.graph import canvas, downloads
from pages.shared.table import computed
from pages.shared.table.drafts import Draft
from pages.shared.work import background

_FAILURE = "DISCO-Cont could not be run"
_STAGES = {
    "joint": "Training the joint network",
    "projection": "Training the projection network",
    "ordering": "Removing nodes",
    "selector": "Testing parents",
}
_NOISE = {"uniform": "even around their mean", "mixture": "above 0, with a long tail"}


@dataclass(frozen=True)
class _Placed:
    """The nodes in causal order, and their positions."""

    order: list[str]
    positions: dict[str, tuple[float, float]]


Outcome = tuple[Found, cont.Ordered]


def panel(draft: Draft) -> None:
    """DISCO-Cont's button, progress or result; nothing unless the chosen columns hold such numbers."""
    chosen = computed.chosen_numbers(draft)
    if chosen is None or reshaping.is_other(draft):
        return
    with st.container(border=True):
        st.markdown(
            "**These columns hold numbers, not counts.** The fit and the refinement need counts, but DISCO-Cont takes "
            "numbers. It finds a causal order, then parents by CAM. It is made for curved effects: with straight-line "
            "effects and normal noise, the data cannot in general show which column causes which."
        )
        try:
            table = as_numbers(chosen)
        except InputError as error:
            st.caption(plain(error))
            return
        noise = st.radio(
            "Given its causes, a column's values are",
            _NOISE,
            format_func=_NOISE.__getitem__,
            index=int(is_skewed(table)),
            horizontal=True,
            key=f"cont_noise_{draft.key}",
            help="Chosen from the columns. It sets the amounts of noise that the networks train on: for Gamma data, "
            "the paper uses more and smaller ones.",
        )
        has_one_unit = st.checkbox(
            "All columns have the same unit",
            key=f"cont_unit_{draft.key}",
            help="On: columns are compared in this unit, as in the paper: a wider column counts as later. Off: in "
            "standard deviations, so units do not matter, but long tails make the order unreliable.",
        )
        options = cont.Options(noise=noise, units="own" if has_one_unit else "standardised")
        background.panel(
            ("cont", draft.key, *draft.columns, noise, options.units),
            lambda: partial(cont.found, table, options) if _asked(table) else None,
            partial(_shown, draft, table, options),
            _STAGES.__getitem__,
            _FAILURE,
        )


def _asked(table: pd.DataFrame) -> bool:
    seconds = METHODS["disco-cont"].seconds(*table.shape)
    st.caption(f"About {duration(seconds)} on one processor core. You can leave the page meanwhile.")
    return st.button("Run DISCO-Cont", type="primary", key="cont_run", icon=":material/account_tree:")


def _shown(draft: Draft, table: pd.DataFrame, options: cont.Options, found: Outcome) -> None:
    result, ordered = found
    kept = result.scores.merge(result.edges[["parent", "child"]])
    drawn = graph.build(ordered.order, kept)
    placed = _Placed(ordered.order, placing.positions(ordered.order, kept.assign(z=placing.STRONG)))
    order = " → ".join(plain(name) for name in ordered.order)
    edges = how_many(len(kept), "edge")
    st.markdown(f"DISCO-Cont found **{edges}** among {len(drawn):,} columns, along this order, sources first: {order}.")
    canvas.graph_view(placed, drawn, "cont_graph", strength=1.0)
    for note in result.notes:
        st.caption(plain(note))
    st.caption(
        "The order comes from networks trained once, with one seed. Every edge follows it. Single directions are not "
        "tested."
    )
    with st.expander("Column removed at each step"):
        _steps(ordered.decisions)
    _files(draft, table, options, placed, drawn)


def _steps(decisions: pd.DataFrame) -> None:
    st.caption("Each step removes the column with the smallest CCS. A larger gap to the next means a clearer step.")
    columns = {
        "step": st.column_config.NumberColumn("Step", format="%d"),
        "node": st.column_config.TextColumn("Removed"),
        "score": st.column_config.NumberColumn("CCS", format="%.3g"),
        "runner_up": st.column_config.TextColumn("Next smallest"),
        "runner_up_score": st.column_config.NumberColumn("Its CCS", format="%.3g"),
    }
    tables.show(decisions, "Removed column, its CCS and the next smallest, by step", columns)


def _files(draft: Draft, table: pd.DataFrame, options: cont.Options, placed: _Placed, drawn: nx.DiGraph) -> None:
    about = {"program": "DISCO", "version": __version__, "table": draft.name, "method": "DISCO-Cont, parents by CAM"}
    about |= {name: getattr(options, name) for name in ("noise", "units", "seed")}
    about |= {"rows": len(table), "columns": table.shape[1]}
    st.caption("Download the graph:")
    downloads.files(placed, drawn, drawn, f"{draft.name}: DISCO-Cont", lambda: about, 1.0, "disco_cont", "cont")
    order = downloads.placed(placed.order)
    tables.Csv("Order, CSV", "disco_cont_order.csv", "cont_order", order, downloads.ORDER_HELP).button()
