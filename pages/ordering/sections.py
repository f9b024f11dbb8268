"""The sections of the Ordering page."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.metrics import order_agreement
from disco.paper import removals
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.fit import network_cache, results
from disco.subjects.fit.figures import arcs, ranking
from disco.subjects.fit.figures import ordering as figures
from disco.subjects.fit.figures import row_curvature as by_rank
from disco.subjects.fit.results import StoredFit
from disco.words import how_many, listed, number, plural, share
from pages.ordering import step_player
from pages.shared.compute.cache import cached
from pages.shared.evidence import evidence_words
from pages.shared.graph import canvas, downloads
from pages.shared.result import fit, truth
from pages.shared.result.fit import VARIANT_WORDS, Result
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import answers, errors, figure, tables
from pages.shared.widgets.names import code, define, plain

MOST_ROWS = 24  # nodes drawn per step
_ROWS_IN_SIGHT, _HIGHEST = 24, 620  # nodes of the ranked picture, and pixels of the box of a longer one
_ABOVE = 5  # nodes shown above one that is searched for
MOST_RANKED = 100  # nodes of the ranked picture: a browser needs a minute to draw a thousand
SECTIONS = {"steps": "Steps", "why": "Why a sink", "criteria": "Criteria", "truth": "Truth", "again": "Order again"}
_SECTION = "ordering_section"


def against_truth(result: Result, comparison: TruthComparison) -> None:
    """The true edges over the order, A_top against that of sorting, and a button to the first wrong removal."""
    if comparison.edges.empty:
        return
    truth.controls_line(comparison)
    figure.show(arcs.order_arcs(result.order, comparison.edges), "order_arcs")
    wrong = comparison.wrong_removals
    if wrong.empty:
        st.caption("Every node was removed after all its true children.")
        return
    first = wrong.iloc[0]
    st.button(
        f"Step {first['step']}, the first wrong removal",
        icon=":material/arrow_forward:",
        key="first_wrong",
        on_click=_to_step,
        args=(result, int(first["step"])),
        help="Opens that step. It may have caused later wrong removals.",
    )


def _to_step(result: Result, step: int) -> None:
    st.session_state[_SECTION] = "steps"
    step_player.go(result, step)


def worth() -> None:
    """How reliable orders of real tables are, in an expander."""
    with st.expander("How reliable such an order is", icon=":material/balance:"):
        st.markdown(
            "On simulated tables of the paper's class it is mostly right. On real tables it is no better than "
            "sorting by mean. "
            "Public tables have pairs of columns whose order in time is certain, such as a parent's schooling "
            "before one's own. Of 615 such pairs in 47 tables, the CCS order gets 416 right, sorting the columns by "
            "mean 415, and the order of the likelihood search 307. "
            f"Read an order as a hypothesis. {evidence_words.SAME_ROWS}"
        )


def knowledge(result: Result) -> None:
    """The steps at which the run's rules removed a node other than the first by score."""
    sources = {"knowledge": result.run.knowledge() is not None, "experiments": "source" in result.ocs}
    what = " and ".join(name for name, is_there in sources.items() if is_there)
    if not what:
        return
    from disco.paper.ordering import forced  # loads torch

    cost = forced(result.ccs)
    steps_ = how_many(len(result.order) - 1, "step")
    if cost.empty:
        st.caption(f"The run's {what} changed none of the {steps_}.")
        return
    with st.expander(f"At {len(cost):,} of {steps_} {what} overruled the scores", icon=":material/account_tree:"):
        column = st.column_config
        columns = {
            "step": column.NumberColumn("Step"),
            "node": column.TextColumn("Removed"),
            "rank": column.NumberColumn("Its rank", help="By score among the nodes left; the first has rank 1."),
            "first": column.TextColumn("First by score"),
        }
        tables.show(cost, f"Steps at which {what} overruled the scores", columns)


def sections(result: Result, comparison: TruthComparison | None) -> None:
    """The section that the reader opened; the others are not computed."""
    words = {
        name: text for name, text in SECTIONS.items() if name != "truth" or (comparison and not comparison.edges.empty)
    }
    opened = answers.segments("Show", words, _SECTION)
    if opened in ("steps", "why", "criteria"):
        st.fragment(by_step, run_every=step_player.interval())(result, comparison, opened)
    elif opened == "truth" and comparison:
        against_truth(result, comparison)
    elif opened == "again":
        st.markdown(
            "Another criterion or boundary may find another order. It uses the fitted networks, with nothing refitted, "
            "and is kept with the run. Ordering, Parents and Graph can then show it."
        )
        fit.variants_section(result.run)


def by_step(result: Result, comparison: TruthComparison | None, view: str) -> None:
    """Everything about one step (`part`: steps, why or criteria); redrawn by itself while the steps play."""
    step_player.advance(result)
    step = step_player.player(result)
    decided = removals.step_of(result.steps, step)
    if view == "why":
        _why(result, step, decided)
    elif view == "criteria":
        _criteria(result, step, _rows(result, step))
    else:
        _scores(result, comparison, step, decided)


def _scores(result: Result, comparison: TruthComparison | None, step: int, decided: removals.Decision) -> None:
    _numbers(decided, result)
    sinks = _judged(result, comparison, step) if comparison else []
    rows = _rows(result, step)
    name = figures.SCORE_NAMES[result.criterion]
    scored = figures.scores(result.ccs, step, rows, canvas.picked(result.order), name, sinks)
    figure.show(scored, "step_scores", on_select=_pick_clicked)
    if len(rows) < decided.remaining:
        st.caption(f"Shown: the {len(rows)} smallest of {decided.remaining:,} scores.")


def _pick_clicked() -> None:
    node = figure.clicked("step_scores")
    if node is not None:
        canvas.pick(node)


def _numbers(decided: removals.Decision, result: Result) -> None:
    """The removal in four numbers, as the figure has them; a sentence where knowledge overruled the scores."""
    name = figures.SCORE_NAMES[result.criterion]
    meaning = define("CCS" if result.criterion == "ccs" else "constant criterion")
    lowest = f"Of {code(decided.runner_up)}, as a multiple of the removed node's. {define('margin')}"
    agree = share(decided.folds_agreeing, decided.folds).capitalize()
    figure.metrics(
        ("Removed as sink", plain(decided.sink), f"Takes position {decided.remaining} of the causal order."),
        (f"Its {name}", number(decided.score), f"The mean over the folds. {meaning}"),
        (f"{figures.LOWEST.capitalize()} score", f"{number(decided.ratio)} ×", lowest),
        ("Folds that agree", agree, "Folds in which only this node has the smallest score."),
        width="content",
    )
    if decided.margin < 0:
        st.markdown(decided.sentence(name, code))


def _judged(result: Result, comparison: TruthComparison, step: int) -> list[str]:
    """Say whether this removal was right; return the nodes that were sinks in the known graph."""
    wrong = comparison.wrong_removals
    if step not in set(wrong["step"]):
        st.markdown(
            ":material/check: According to the known graph, this node was a sink: none of its true children was left."
        )
    else:
        row = wrong[wrong["step"] == step].iloc[0]
        children = listed([code(child) for child in row["children"]], 8)
        first = " It is the first wrong removal." if step == wrong["step"].min() else ""
        are = plural(len(row["children"]), "true child was", "true children were")
        st.markdown(
            ":red[:material/close:] **According to the known graph, this node was not a sink:** "
            f"its {are} still there, {children}.{first}"
        )
    return removals.true_sinks(removals.fold_scores(result.ccs, step).index.tolist(), comparison.edges)


def _rows(result: Result, step: int) -> list[str]:
    by = answers.segments(
        "Nodes",
        {"order": "in causal order", "score": "smallest score first"},
        "step_rows",
        help="In causal order every node keeps its row while the steps play. Click a large mark to pick a node.",
    )
    return figures.shown_rows(result.ccs, step, result.order, by, MOST_ROWS, canvas.picked(result.order))


def _why(result: Result, step: int, decided: removals.Decision) -> None:
    if step_player.is_playing():
        st.caption("Pause to see the curvature of this step.")
        return
    st.markdown(
        f"Step {step} removes {code(decided.sink)}. The curvature of a sink depends only on its own rank: within one "
        "rank, all rows of the table have nearly the same curvature. If a node has children, their values change its "
        "curvature, which then varies within a rank."
    )
    remaining = removals.fold_scores(result.ccs, step).index.tolist()
    node = canvas.node_box(
        "Node beside the sink",
        remaining,
        "ordering_node",
        "Its curvature is drawn beside the sink's, on the same scale.",
        decided.runner_up,
    )
    nodes = list(dict.fromkeys([node or decided.runner_up, decided.sink]))
    try:
        with st.spinner("Computing the curvature from the fitted networks …"):
            frames = {name: _curvature(result.run, name, tuple(sorted(remaining))) for name in nodes}
    except (InputError, OSError):
        st.info("The curvature needs this run's fitted networks, which are not in its folder or cannot be read.")
        return
    _drawn(result, frames, decided)


def _drawn(result: Result, frames: dict[str, pd.DataFrame], decided: removals.Decision) -> None:
    min_rows, inside = result.run.settings.min_level_rows, result.boundary == "admissible"
    figure.show(by_rank.by_rank(frames, decided.sink, min_rows, inside), "curvature")
    notes = []
    for node, frame in frames.items():
        parts_of_curve = by_rank.parts(frame, min_rows, inside)
        left_out = f"; {how_many(parts_of_curve.left_out, 'row')} in ranks with fewer than {min_rows} rows do not count"
        notes.append(
            f"{code(node)}: variance within ranks {number(parts_of_curve.within)} (this is the CCS), "
            f"in all {number(parts_of_curve.total)} (the constant-curvature score), from "
            f"{how_many(parts_of_curve.rows, 'held-out row')} in {parts_of_curve.levels} groups of one fold and rank"
            f"{left_out if parts_of_curve.left_out else ''}."
        )
    faint = " Faint rows are not admissible and do not count." if inside else ""
    st.caption("  \n".join(notes) + "  \nBars: mean of a rank ± one standard deviation." + faint)


@cached(lambda run, *which: (str(run.path), stamps.networks(run), *which))
def _curvature(run: Run, node: str, remaining: tuple[str, ...]) -> pd.DataFrame:
    return network_cache.fitted(run).curvature(node, remaining)


def _criteria(result: Result, step: int, rows: list[str]) -> None:
    st.markdown(
        "Each column is one rule at this step. A cell is the node's score as a multiple of that rule's smallest. The "
        "CCS counts the variance within ranks, the constant-curvature criterion the total variance. *Clipped* keeps "
        "rows at the top of the grid, *admissible* leaves them out."
    )
    with errors.caught():
        figure.show(figures.criteria(result.criteria, step, rows), "criteria")


def ranked(result: Result, clarity: pd.DataFrame, comparison: TruthComparison | None) -> None:
    """The order as a ranked picture, a long one in a box that scrolls, and how far to trust neighbouring positions."""
    wrong = comparison.wrong_removals["step"].tolist() if comparison else []
    is_long = len(result.order) > _ROWS_IN_SIGHT
    stretch = _stretch(result)
    with st.container(height=_HIGHEST if is_long else "content", border=is_long):
        marked = canvas.picked(result.order) if len(stretch) < len(result.order) else None
        drawn = ranking.ranking(result.order, clarity, wrong, stretch, marked)
        figure.show(drawn, "order_ranking", on_select=partial(_open_clicked, result))
    cross = " Cross: wrong according to the known graph." if wrong else ""
    st.caption(
        "Source first. Filled: the position is clear. Hollow: it is not. No mark: no parents, so it affects no "
        f"edge.{cross} Click a mark for its step."
    )
    if result.variant != (own_variant := results.own_variant(result.run)):
        agreement = order_agreement(StoredFit(result.run).order, result.order)
        st.caption(
            f"{agreement:.0%} of all pairs of nodes are in the same order as "
            f"with {VARIANT_WORDS[own_variant]}, as fitted."
        )
    downloads.order(result)


def _stretch(result: Result) -> range:
    """The positions of the order that are drawn: all, or of a long order as many as the reader sees at once."""
    count = len(result.order)
    if count <= MOST_RANKED:
        return range(count)
    key, last = f"ordering_from_{result.run.id}_{result.variant}", count - _ROWS_IN_SIGHT + 1

    def show(node: str | None) -> None:
        above = 0 if node is None else result.order.index(node) - _ABOVE
        st.session_state[key] = max(1, min(above + 1, last))

    if key not in st.session_state:
        show(canvas.picked(result.order))
    left, right = st.columns(2, gap="large")
    with left:
        help = "Type part of its name. The list goes to its place in the order."
        canvas.node_box("Node", result.order, "ordering_search", help, then=show)
    help = f"The list shows {MOST_RANKED} nodes, from this position on."
    first = right.slider("From position", 1, last, key=key, help=help)
    return range(first - 1, min(first - 1 + MOST_RANKED, count))


def _open_clicked(result: Result) -> None:
    node = figure.clicked("order_ranking")
    if node in result.order[1:]:
        canvas.pick(node)
        _to_step(result, len(result.order) - result.order.index(node))
