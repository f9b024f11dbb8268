"""The sections below the graph: notes, the order before and after, the searches, and the start of a search."""

import contextlib
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from disco import runs
from disco.columns import REFINED_LAGGED, REFINED_MOVES
from disco.errors import InputError
from disco.fields import Option, options
from disco.refine import Choice
from disco.refine.refinement_result import EARLY, POOR, Refined, ends, start_words
from disco.subjects import FIT, REFINE
from disco.subjects.refinement.refined import choice_from
from disco.verdicts import ANY_ORDER
from disco.words import how_many, listed, plural, share
from disco.work import jobs
from pages.shared.evidence import evidence_words
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import errors, figure, tables
from pages.shared.widgets.answers import widget
from pages.shared.widgets.names import bullets, code, plain
from pages.shared.work import fit_start
from pages.shared.work.monitor import REFINEMENT

_NOTES_IN_SIGHT, _SECONDS = 5, 1.5
_SAID_ABOVE = (EARLY, POOR)  # kinds of notes


def notes(notes: Sequence[str]) -> None:
    """Missing evidence, and columns determined by others; the verdict says that a model does not fit."""
    notes = [note for note in notes if getattr(note, "kind", "") not in _SAID_ABOVE]
    if not notes:
        return
    lines = [plain(note) for note in notes]
    first, rest = lines[:_NOTES_IN_SIGHT], lines[_NOTES_IN_SIGHT:]
    st.warning(f"**Keep in mind:**\n\n{bullets(first)}", icon=":material/join_inner:")
    if rest:
        with st.expander(how_many(len(rest), "more note")):
            st.markdown(bullets(rest))


def searches(refinement: Refinement) -> None:
    """The score at which each search ended, and whether others ended near the best; in a box drawn while it is open."""
    box = st.expander("Did the searches agree?", icon=":material/show_chart:", key="graph_curves", on_change="rerun")
    if not box.open:
        return
    with box:
        _searches(refinement)


def _searches(refinement: Refinement) -> None:
    starts, bound = refinement.refined.starts, refinement.choice.bound
    same, near, count, gap = ends(starts, bound)
    best = f"The best graph was found from {plain(start_words(refinement.refined.best))}."
    if count == 0:
        best += " There was only one search, so whether another start would do better is unknown."
    elif count == 1:
        best += " The other search ended with the same score." if same else " The other search found another graph."
    elif same:
        best += f" {share(same, count).capitalize()} other searches ended with the same score."
    else:
        best += f" None of the other {count} searches found the same graph: the best of them ended {gap:,.1f} nats "
        best += "below it. Another search might still do better."
    if near:
        ended = plural(near, "search ended", "searches ended")
        best += (
            f" **{near} {'more ' if same else ''}{ended} within {bound:g} nats of it:** the table hardly "
            "distinguishes these graphs. An edge that one of them has reversed counts as undecided."
        )
    st.markdown(best)
    left, right = st.container(key="beside_searches").columns(2, gap="large")
    with left:
        figure.show(refinement.ends_figure, "graph_ends")
    with right:
        figure.show(refinement.sweeps, "graph_sweeps")


def order(refinement: Refinement) -> None:
    """The refined order; with that before it and the gain of each move, if the search was given one."""
    moves = refinement.refined.moves
    label = "The order of the search" if moves is None else "The order before and after the search"
    with st.expander(label, icon=":material/swap_vert:"):
        ending = " …" if len(refinement.order) > 24 else ""
        nodes = ", ".join(code(node) for node in refinement.order[:24]) + ending
        st.markdown(f"Order of the likelihood search, source first: {nodes}")
        if refinement.refined.is_open:
            st.caption(f"Do not read it as causes first: {ANY_ORDER}.")
        if moves is not None:
            st.caption(evidence_words.SAME_ROWS)
            _moves(refinement, moves)


def _moves(refinement: Refinement, moves: pd.DataFrame) -> None:
    left, right = st.container(key="beside_slope").columns([3, 2], gap="large")
    with left:
        figure.show(refinement.slope, "graph_slope")
    with right:
        moved = moves[moves["gain_nats"].notna()].sort_values("gain_nats", ascending=False)
        if moved.empty:
            return  # the figure says so
        st.markdown(f"**{how_many(len(moved), 'node')} moved**")
        config = tables.config(REFINED_MOVES.columns, is_narrow=True)
        tables.show(moved, "Moved nodes and the gain of each move", config, max_height=420, key="graph_moves")
        st.caption(
            "Gain: what the score loses when this node alone is put back where it agrees with most of the DISCO order. "
            "If several nodes moved together, the gain of each alone can be far from its share."
        )


def checks(run: runs.Run, refinement: Refinement) -> None:
    """What each adjustment and each rule changes, and whether the model reproduces the table."""
    from pages.graph import checks  # slow to import

    checks.adjustments_panel(run)
    checks.rule_costs_panel(run)
    checks.model_check(run, refinement.refined)


def search(run: runs.Run, is_fitted: bool) -> None:
    """The start of a likelihood search, in a box if the run has had one; during one, how it improves."""
    status = run.status(REFINE)
    if status.active:
        st.fragment(_progress, run_every=_SECONDS)(run)
    elif status.state != "none":
        box = st.expander("Search again with other settings", key="search_again", on_change="rerun")
        if box.open:
            with box:
                st.caption("The present graph stays until the new search is done.")
                _start_box(run, "Search again")
    elif not run.status(FIT).active:
        st.subheader("Search by likelihood", anchor=False)
        first = "The fit of this run is not changed." if is_fitted else "It needs no fit."
        st.caption(f"{first} You can leave the page or close the tab while it runs.")
        _start_box(run, "Start the search")
        with st.expander("How it searches", icon=":material/info:"):
            st.markdown(
                "It searches for the order and edges of highest likelihood in the paper's own model: each node given "
                "its parents is a semiparametric GLM. It starts from several orders, moves one node at a time to its "
                "best position, and restarts near the best order so far. Then it weighs every edge: how much its "
                "child's score loses without it, and how much the score loses if it is reversed."
            )


def _progress(run: runs.Run) -> None:
    REFINEMENT.curves(run, run.status(REFINE))


def rows_before(refined: Refined) -> None:
    """The edges from rows before, strongest first, and the nodes whose own past matters; nothing without a time."""
    if (lagged := refined.lagged) is None:
        return
    is_own = lagged["parent"] == lagged["child"]
    direction = "directed by time" if refined.directs_by_time else "without direction while a warning above stands"
    st.markdown(f"**From rows before**: {how_many(int((~is_own).sum()), 'edge')}, {direction}.")
    if len(edges := lagged[~is_own]):
        columns = REFINED_LAGGED.columns[:_OF_LAGGED]
        frame = edges[[column.name for column in columns]]
        tables.show(frame, "Edges from rows before", tables.config(columns), max_height=320)
    with_past = [code(name) for name in dict.fromkeys(lagged.loc[is_own, "child"])]
    if with_past:
        st.caption(f"Their own past matters for {listed(with_past, _MOST_OWN)}.")


_OF_LAGGED, _MOST_OWN = 5, 12  # columns: the ends, the lag, evidence and p-value; names in a sentence
_IN_SIGHT = ("starts", "bootstrap")


def _start_box(run: runs.Run, label: str) -> None:
    """The settings of a refinement and the button that starts it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    numbers = [option for option in options(Choice).values() if option.kind is not bool]
    values = {option.name: _widget(run, option, row, width=200) for option in numbers if option.name in _IN_SIGHT}
    with st.expander("More settings"):
        inside = st.container(horizontal=True, gap="medium")
        has_arms = run.roles is not None and bool(run.roles.named("intervention"))
        unused = _IN_SIGHT if has_arms else (*_IN_SIGHT, "margin")
        folded = [option for option in numbers if option.name not in unused]
        values |= {option.name: _widget(run, option, inside, width=200) for option in folded}
    of_all = options(Choice)["redone"]
    values["redone"] = _widget(run, of_all, st, label=f"{of_all.label} (seven to eight times slower)")
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    if row.button(label, type="primary", icon=":material/play_arrow:", key="start_search"):
        _begin(run, values)
    with row.container(width="stretch"), contextlib.suppress(InputError):  # reported at the start
        fit_start.search_line(fit_start.trial_of_run(run), choice_from(values))


def _begin(run: runs.Run, values: dict[str, float]) -> None:
    """Start a refinement, or say in a sentence why it cannot start."""
    with errors.caught():
        jobs.start(run, REFINE, choice_from(values), fit_start.trial_of_run(run).result)
        st.rerun()


def _widget(run: runs.Run, option: Option, slot: Any, **extra: Any) -> Any:
    usual = {"value": option.kind(option.default)}
    return widget(option, slot, key=f"search_{option.name}_{run.id}", persist_state="session", **usual, **extra)
