"""A result and its graph compared with the known truth, which may be hidden, and the sorting controls.

A table for teaching hides its truth until the reader reveals it, in this session only. Once revealed, a truth is shown
for every table that it, or a subset of it, belongs to. Owns the key `truth_revealed`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import networkx as nx
import pandas as pd
import streamlit as st

from disco import metrics
from disco.errors import InputError
from disco.graph.dag import has_direction
from disco.graph.draw import picture as drawing
from disco.paper.ocs import frequencies, means
from disco.runs import Run
from disco.words import how_many, number, plural, share
from pages.shared.table.drafts import Draft
from pages.shared.widgets import figure
from pages.shared.widgets.names import code, define

_REVEALED = "truth_revealed"
OPEN_COUNTS = "An undirected edge counts along the order of its result; without an order, in both directions."
_NO_OCS = pd.DataFrame(columns=["fold", "parent", "child", "ocs", "curvature", "z"])


@dataclass(frozen=True)
class TruthComparison:
    """A result compared with the true edges among its nodes; read only.

    Attributes:
        ocs: its candidates: fold, parent, child, ocs, z.
        taus: the values of τ_Z along the curves.
        true_edges: the true edges among the nodes, as given: parent, child, and possibly direction.
        strangers: names in the truth that are not nodes of the result; their edges are left out.
        left_out: the number of edges left out.
    """

    run: Run
    order: list[str]
    ocs: pd.DataFrame
    taus: Sequence[float]
    true_edges: pd.DataFrame
    strangers: list[str]
    left_out: int

    @classmethod
    def of(
        cls, run: Run, order: list[str], ocs: pd.DataFrame = _NO_OCS, taus: Sequence[float] = ()
    ) -> "TruthComparison | None":
        """The comparison with the truth of a run, by default of a result without OCS; None if it has no truth."""
        truth = run.truth()
        if truth is None:
            return None
        nodes = set(order)
        strangers = [name for name in dict.fromkeys([*truth["parent"], *truth["child"]]) if name not in nodes]
        truth = truth.drop_duplicates(["parent", "child"])
        inside = truth[truth["parent"].isin(nodes) & truth["child"].isin(nodes)].reset_index(drop=True)
        left_out = len(truth) - len(inside)
        return cls(run, order, ocs, taus, inside, strangers, left_out)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """The true edges; those whose direction cannot be known are reversed where needed to agree with the order."""
        return metrics.along(self.order, self.true_edges)

    @cached_property
    def either_way(self) -> set[tuple[str, str]]:
        """The true edges whose direction cannot be known, in the direction of the order."""
        return metrics.undirected(self.edges)

    @cached_property
    def a_top(self) -> float | None:
        """A_top of the order; None without a true edge."""
        return metrics.a_top(self.order, self.edges) if len(self.edges) else None

    @cached_property
    def controls(self) -> dict[str, float]:
        """A_top of sorting the columns, by the statistic they are sorted by; empty if it cannot be computed."""
        try:
            statistics = metrics.controls(self.run.table()[self.order], self.edges)
        except (InputError, KeyError, OSError):
            return {}
        return {"mean": statistics["mean"], "variance": statistics["variance"], "variance − mean": statistics["excess"]}

    @cached_property
    def order_errors(self) -> pd.DataFrame:
        """The true edges whose child comes first, which no threshold can find: parent, child."""
        return metrics.order_errors(self.order, self.edges)

    @cached_property
    def wrong_removals(self) -> pd.DataFrame:
        """The steps that removed a node while a true child remained: step, node, children."""
        return metrics.wrong_removals(self.order, self.edges)

    def accuracy(self, tau_z: float) -> pd.DataFrame:
        """Precision, recall and F1 along τ_Z for each π_min, `tau_z` among the values."""
        if any(abs(tau_z - tau) < 1e-9 for tau in self.taus):
            return self._accuracy
        here = metrics.along_thresholds(self.ocs, self.edges, [tau_z])
        return pd.concat([self._accuracy, here]).sort_values(["pi_min", "tau_z"], ignore_index=True)

    @cached_property
    def _accuracy(self) -> pd.DataFrame:
        return metrics.along_thresholds(self.ocs, self.edges, self.taus)

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Precision and recall of the mean OCS at each of its values: threshold, precision, recall."""
        return metrics.precision_recall(self.edges, self._scores)

    @cached_property
    def average_precision(self) -> float:
        """The average precision of the mean OCS."""
        return metrics.average_precision(self.edges, self._scores)

    @cached_property
    def chance(self) -> float:
        """The precision of a random choice among the candidates."""
        return metrics.random_precision(self.order, self.edges)

    @cached_property
    def _scores(self) -> pd.DataFrame:
        return means(self.ocs)

    def met(self, graph: nx.DiGraph) -> metrics.EdgeCounts:
        """How many edges of a graph agree and disagree."""
        return metrics.counts(self.edges, graph)

    def verdicts(self, graph: nx.DiGraph) -> pd.DataFrame:
        """The verdict on each edge, found or true: parent, child, verdict."""
        return metrics.verdicts(self.edges, graph)

    def judged(self, graph: nx.DiGraph, tau_z: float, missing: bool) -> nx.DiGraph:
        """The graph with the verdict on each edge, with or without the missing true edges."""
        return drawing.judged(graph, self.verdicts(graph), frequencies(self.ocs, tau_z), missing=missing)


class Held(Protocol):
    """A result of a run, compared with the run's truth."""

    run: Run
    known: TruthComparison | None


def visible(result: Held) -> TruthComparison | None:
    """A result compared with its truth; None if there is no truth, or while it is hidden.

    Draws the line that reveals or hides it, and warns about a truth that does not fit.
    """
    comparison = result.known
    if comparison is None or (result.run.teaching and not _curtain(_pairs(comparison.true_edges))):
        return None
    if comparison.strangers:
        st.warning(
            f"The truth of this table names {code(comparison.strangers[0])}, which is not among its columns; "
            f"{how_many(comparison.left_out, 'true edge')} {'is' if comparison.left_out == 1 else 'are'} left out "
            "below."
        )
    if comparison.either_way:
        st.caption(
            f"{share(len(comparison.either_way), len(comparison.edges)).capitalize()} true edges have a direction that "
            "cannot be known: reversed, they fit exactly as well. They count as found, and as correctly ordered, in "
            "either direction."
        )
    if comparison.edges.empty:
        st.caption("The truth has no edges among the columns of this table: every edge found is extra.")
    return comparison


def words_of(draft: Draft) -> str:
    """How many true edges of a loaded table are known, as the end of a sentence; empty if they are hidden."""
    edges = draft.truth
    if edges is None or (draft.teaching and not _is_revealed(_pairs(edges))):
        return ""
    chosen = {str(draft.table.columns[position]) for position in draft.columns}
    inside = int((edges["parent"].isin(chosen) & edges["child"].isin(chosen)).sum())
    chosen_words = f" ({inside:,} among the chosen columns)" if inside < len(edges) else ""
    return f", {how_many(len(edges), 'true edge')} known{chosen_words}"


def draft_curtain(draft: Draft) -> None:
    """The line that reveals or hides the truth of a loaded table for teaching."""
    if draft.truth is not None and draft.teaching:
        _curtain(_pairs(draft.truth))


def _pairs(edges: pd.DataFrame) -> frozenset[tuple[str, str]]:
    return frozenset(zip(edges["parent"], edges["child"], strict=True))


def _is_revealed(pairs: frozenset[tuple[str, str]]) -> bool:
    return any(pairs <= seen for seen in st.session_state.get(_REVEALED, ()))


def _curtain(pairs: frozenset[tuple[str, str]]) -> bool:
    """Say whether the truth is hidden or shown, with the button that changes it; return whether it is shown."""
    is_open = _is_revealed(pairs)
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with row:
        if is_open:
            st.markdown(":material/visibility: The truth of this table is shown.", width="content")
            st.button("Hide again", key="truth_hide", on_click=_hide, args=(pairs,))
        else:
            st.markdown(":material/visibility_off: The truth of this table is hidden.", width="content")
            st.button("Reveal the truth", key="truth_reveal", on_click=_reveal, args=(pairs,))
    return is_open


def _reveal(pairs: frozenset[tuple[str, str]]) -> None:
    st.session_state[_REVEALED] = (*st.session_state.get(_REVEALED, ()), pairs)


def _hide(pairs: frozenset[tuple[str, str]]) -> None:
    st.session_state[_REVEALED] = tuple(seen for seen in st.session_state[_REVEALED] if not pairs <= seen)


# Figures of accuracy, the controls beside them.


def edge_numbers(comparison: TruthComparison, graph: nx.DiGraph) -> None:
    """Precision, recall, F1 and SHD of a graph in a row; below, A_top of the order and of sorting."""
    met = comparison.met(graph)
    recall = f"The share of the {how_many(len(comparison.edges), 'true edge')} that is found."
    numbers = [("Precision", number(met.precision), define("precision")), ("Recall", number(met.recall), recall)]
    numbers += [("F1", number(met.f1), define("F1")), ("SHD", met.shd, define("SHD"))]
    figure.metrics(*numbers, width=110)  # two and two, also beside a graph in a small window
    _below(comparison, graph)


def _below(comparison: TruthComparison, graph: nx.DiGraph) -> None:
    """How open directions count, if there are any, and the sorting controls."""
    if undecided := sum(not has_direction(numbers) for *_, numbers in graph.edges(data=True)):
        st.caption(f"{how_many(undecided, 'direction')} {plural(undecided, 'is', 'are')} open. {OPEN_COUNTS}")
    controls_line(comparison)


def controls_line(comparison: TruthComparison) -> None:
    """A_top of the order and of sorting the columns, as one line for use with any figure."""
    if comparison.a_top is None or not comparison.controls:
        return
    sorts = ", ".join(f"{100 * value:.3g}% by {name}" for name, value in comparison.controls.items())
    whose = "the order of the likelihood search" if comparison.ocs.empty else "DISCO's order"
    limit = "" if comparison.a_top == 1 else ", and no graph along it can find more"
    st.caption(
        f"A_top: {whose} puts the parent first in {100 * comparison.a_top:.3g}% of the true edges"
        f"{limit}. Sorting the columns gives {sorts}."
    )


_LINES, _MISSING, _CHOICE = "graph_lines", "graph_missing", "shared_graph_truth"
TELL = {"truth": "the truth", "folds": "the scores"}


def choose_lines() -> None:
    """Choose what the lines show, and whether missing edges are drawn; Parents and Graph share the choice."""
    # Streamlit drops a widget's state with its page, but this widget is on two pages.
    st.session_state[_LINES], st.session_state[_MISSING] = st.session_state.get(_CHOICE, ("truth", True))

    def keep() -> None:
        st.session_state[_CHOICE] = st.session_state[_LINES], st.session_state[_MISSING]

    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    lines = row.segmented_control(
        "Lines show",
        list(TELL),
        format_func=TELL.get,
        key=_LINES,
        required=True,
        on_change=keep,
        help="The truth: whether an edge is true, extra, reversed or missing. The scores: how strong an edge is.",
    )
    row.toggle(
        "Missing edges",
        key=_MISSING,
        disabled=lines == "folds",
        on_change=keep,
        help="True edges that were not found. One that points up contradicts the order, so no threshold can find it.",
    )


def with_verdicts(graph: nx.DiGraph, comparison: TruthComparison | None, tau_z: float) -> nx.DiGraph:
    """The graph to draw, with verdicts if a truth is shown and the lines are set to show it."""
    shows_truth, missing = lines_choice()
    return comparison.judged(graph, tau_z, missing) if comparison is not None and shows_truth else graph


def lines_choice() -> tuple[bool, bool]:
    """Whether lines show the truth, and whether missing edges are drawn."""
    lines, missing = st.session_state.get(_CHOICE, ("truth", True))
    return lines == "truth", missing


def verdict_numbers(graph: nx.DiGraph, comparison: TruthComparison) -> None:
    """The number of edges per verdict, F1 and SHD; below them the sorting controls."""
    counted = comparison.verdicts(graph)["verdict"].value_counts()
    met = comparison.met(graph)
    helps = {
        "true": "Found, in the true direction.",
        "either way": "Found. The true direction cannot be known, so either direction counts as right.",
        "missing": "True, but not found in either direction.",
        "extra": "Found, but not true in either direction.",
        "reversed": "True, but found in the wrong direction.",
    }
    if not comparison.either_way:
        del helps["either way"]
    numbers = [(verdict.capitalize(), int(counted.get(verdict, 0)), help) for verdict, help in helps.items()]
    numbers += [("F1", number(met.f1), f"Precision {number(met.precision)}, recall {number(met.recall)}.")]
    figure.metrics(*numbers, ("SHD", met.shd, define("SHD")), width=92)
    against = len(comparison.order_errors)
    if against:
        it = plural(against, "it", "them")
        st.caption(f"{how_many(against, 'true edge')} cannot be found at any threshold: the order contradicts {it}.")
    _below(comparison, graph)
