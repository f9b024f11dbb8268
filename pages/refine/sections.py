"""The sections of the Refine page: its start, numbers, the searches, the order before and after, a known truth."""

import contextlib
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from disco import runs
from disco.columns import REFINED_MOVES
from disco.errors import InputError
from disco.fields import Option, options
from disco.refine import Choice
from disco.refine.bounds import decided_means
from disco.refine.node_scores import MOST_AGAINST
from disco.refine.refinement_result import EARLY, POOR, ends
from disco.subjects import REFINE
from disco.subjects.refinement.refined import choice_from
from disco.words import how_many, number, plural
from disco.work import jobs
from pages.shared.evidence import evidence_panel, evidence_words
from pages.shared.result.refinement import Refinement
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import errors, figure, tables
from pages.shared.widgets.answers import widget
from pages.shared.widgets.names import bullets, code, define, plain
from pages.shared.work import fit_start

_NOTES_IN_SIGHT = 5
_SAID_ABOVE = (EARLY, POOR)  # kinds of notes
_HELP = {
    "kept": "In both graphs, in the same direction.",
    "new": "Only in the refined graph.",
    "dropped": "Only in the DISCO graph.",
    "reversed": "In both graphs, in opposite directions.",
}


def summary(refinement: Refinement, changes: pd.DataFrame | None) -> None:
    """The edges in numbers, poorly fitted nodes, notes and the assumptions."""
    _numbers(refinement, changes)
    evidence_panel.worst(refinement.refined)
    _notes(refinement.refined.notes)
    _assumptions()


def _notes(notes: Sequence[str]) -> None:
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


def _assumptions() -> None:
    text = (
        "No hidden common causes. Parents' effects add up, and a possibly curved function of the sum sets the natural "
        "parameter of the node's distribution. The base measure, the shape of that distribution apart from the "
        "parents, is the same for every value of the parents. Effect sizes are estimated from the table (empirical "
        "Bayes) and inform weak edges. A high likelihood proves none of this. Edge evidence "
        "says that two columns are joined. Which comes first follows only from the class of models, and is worth only "
        "as much as that class fits."
    )
    with st.expander("What it assumes", icon=":material/info:"):
        st.markdown(text)


def _numbers(refinement: Refinement, changes: pd.DataFrame | None) -> None:
    edges = refinement.edges
    text = decided_means(refinement.choice.bound)
    if changes is not None:
        text += (
            f" An edge against the CCS order needs up to {MOST_AGAINST:g} nats more: more if its nodes are "
            "further apart in that order, and if the order agrees better with the decided directions."
        )
    undecided = int((~edges["decided"]).sum())
    counted = {} if changes is None else changes["verdict"].value_counts()
    changed = {} if changes is None else _HELP
    figure.metrics(
        ("Undecided", undecided, f"Edges whose direction is undecided. {text}"),
        *((verdict.capitalize(), int(counted.get(verdict, 0)), help) for verdict, help in changed.items()),
        width=96,  # three fit side by side on a phone
    )
    if changes is not None:
        st.caption(f"Compared with the DISCO graph at its thresholds, as on Graph. {evidence_words.SAME_ROWS}")


def searches(refinement: Refinement) -> None:
    """The score at which each search ended, and whether others ended near the best; in a box drawn while it is open."""
    box = st.expander("Did the searches agree?", icon=":material/show_chart:", key="refine_curves", on_change="rerun")
    if not box.open:
        return
    with box:
        _searches(refinement)


def _searches(refinement: Refinement) -> None:
    starts, bound = refinement.refined.starts, refinement.choice.bound
    same, near, count, gap = ends(starts, bound)
    best = f"The best graph was found from {code(refinement.refined.best)}."
    if count == 0:
        best += " There was only one search, so whether another start would do better is unknown."
    elif count == 1:
        best += " The other search ended with the same score." if same else " The other search found another graph."
    elif same:
        best += f" {same} of the other {count} searches ended with the same score."
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
        figure.show(refinement.ends_figure, "refine_ends")
    with right:
        figure.show(refinement.sweeps, "refine_sweeps")


def order(refinement: Refinement) -> None:
    """The refined order; with that before it and the gain of each move, if the search was given one."""
    moves = refinement.refined.moves
    label = "The refined order" if moves is None else "The order before and after"
    with st.expander(label, icon=":material/swap_vert:"):
        ending = " …" if len(refinement.order) > 24 else ""
        st.markdown("Refined order, source first: " + ", ".join(code(node) for node in refinement.order[:24]) + ending)
        if moves is not None:
            st.caption(evidence_words.SAME_ROWS)
            _moves(refinement, moves)


def _moves(refinement: Refinement, moves: pd.DataFrame) -> None:
    left, right = st.container(key="beside_slope").columns([3, 2], gap="large")
    with left:
        figure.show(refinement.slope, "refine_slope")
    with right:
        moved = moves[moves["gain_nats"].notna()].sort_values("gain_nats", ascending=False)
        if moved.empty:
            return  # the figure says so
        st.markdown(f"**{how_many(len(moved), 'node')} moved**")
        config = tables.config(REFINED_MOVES.columns, is_narrow=True)
        tables.show(moved, "Moved nodes and the gain of each move", config, max_height=420, key="refine_moves")
        st.caption(
            "Gain: what the score loses when this node alone is put back where it agrees with most of the DISCO order. "
            "If several nodes moved together, the gain of each alone can be far from its share."
        )


def against_truth(
    refinement: Refinement, comparison: TruthComparison, disco: tuple[object, TruthComparison] | None
) -> None:
    """The refined graph, the DISCO graph and sorting the columns, compared with the true edges."""
    st.subheader("Against the truth", anchor=False)
    rows = [_met("Refined", refinement.graph, comparison)]
    if disco is not None:
        rows.append(_met("DISCO", *disco))
    rows += [
        (f"Sort: {name.replace('variance −', 'var −')}", number(value), "", "", "", "")
        for name, value in comparison.controls.items()
    ]
    met = pd.DataFrame(rows, columns=["", "A_top", "Precision", "Recall", "F1", "SHD"])
    text = st.column_config.TextColumn
    config = {name: text(help=define(name), width=48) for name in ("A_top", "SHD")}  # all fit on a phone
    config |= {"": text(width=104), "Precision": text(width=62), "Recall": text(width=46), "F1": text(width=46)}
    tables.show(met, "Both graphs and sorting, against the truth", config, key="refine_truth", width="content")
    st.caption("Sorting fits nothing: compare every result with it.")


def _met(name: str, graph: object, comparison: TruthComparison) -> tuple[str, ...]:
    met, a_top = comparison.met(graph), comparison.a_top
    top = "–" if a_top is None else number(a_top)
    return name, top, number(met.precision), number(met.recall), number(met.f1), str(met.shd)


def without(refinement_exists: bool, run: object, is_fitted: bool) -> None:
    """What a refinement does, and its start; in an expander if the run has a refinement."""
    if not refinement_exists:
        first = "This run has no causal order yet: the search starts from sorted and random orders."
        if is_fitted:
            first = "The fit of this run is not changed."
        st.caption(f"{first} You can leave the page or close the tab while it runs.")
        start_box(run, "Start the refinement")
        with st.expander("How it searches", icon=":material/info:"):
            st.markdown(
                "It searches for the order and edges of highest likelihood in the paper's own model: each node given "
                "its parents is a semiparametric GLM. It starts from several orders, moves one node at a time to its "
                "best position, and restarts near the best order so far. Then it weighs every edge: how much its "
                "child's score loses without it, and how much the score loses if it is reversed."
            )
        return
    box = st.expander("Refine again with other settings", key="refine_again", on_change="rerun")
    if box.open:
        with box:
            st.caption("The present refinement stays until the new one is done.")
            start_box(run, "Refine again")


_IN_SIGHT = ("starts", "bootstrap")


def start_box(run: runs.Run, label: str) -> None:
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
    if row.button(label, type="primary", icon=":material/play_arrow:", key="start_refinement"):
        begin(run, values)
    with row.container(width="stretch"), contextlib.suppress(InputError):  # reported at the start
        fit_start.search_line(fit_start.trial_of_run(run), choice_from(values))


def begin(run: runs.Run, values: dict[str, float]) -> None:
    """Start a refinement, or say in a sentence why it cannot start."""
    with errors.caught():
        jobs.start(run, REFINE, choice_from(values), fit_start.trial_of_run(run).result)
        st.rerun()


def _widget(run: runs.Run, option: Option, slot: Any, **extra: Any) -> Any:
    usual = {"value": option.kind(option.default)}
    return widget(option, slot, key=f"refine_{option.name}_{run.id}", persist_state="session", **usual, **extra)
