"""The graph shown on Graph (the edges of the refinement, the fit, or both), and a line when it has changed.

Owns the key `graph_seen`.
"""

import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import pandas as pd
import streamlit as st

from disco import verdicts
from disco.columns import PAIR
from disco.graph.dag import BOTH, CONTEXT, DISCO, LIKELIHOOD, has_direction, union
from disco.graph.draw import picture as drawing
from disco.refine.refinement_result import METHOD, WITH_FIT
from disco.reports.all_results import FITTED, REFINED
from disco.reports.all_results import WORDS as RESULTS
from disco.subjects import FIT, REFINE
from disco.subjects.fit import results
from disco.verdicts import Verdict
from disco.words import how_many, plural, shared_start
from pages.shared import session
from pages.shared.graph import contexts
from pages.shared.graph.layout import Placed
from pages.shared.result import fit, selectors
from pages.shared.result.fit import VARIANT_WORDS, Result
from pages.shared.result.refinement import Refinement
from pages.shared.result.selectors import Selection
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets.names import code, shown

_NO_CANDIDATES = pd.DataFrame(columns=[*PAIR, "ocs", "z", "frequency"]).astype(
    {"ocs": float, "z": float, "frequency": float}
)
_WORDS = {LIKELIHOOD: "Likelihood search", DISCO: "DISCO fit", BOTH: "Either"}


@dataclass(frozen=True)
class View:
    """A graph of the open run: both (an edge found by either method), likelihood or DISCO."""

    name: str
    graph: nx.DiGraph
    refinement: Refinement | None
    result: Result | None
    selection: Selection | None = None

    @property
    def placed(self) -> Refinement | Result:
        """The order and the positions of its nodes."""
        return self.result if self.name == DISCO else self.refinement

    @property
    def strength(self) -> float:
        """The strength of the widest line, so that widths do not change with the thresholds."""
        return self.result.strongest if self.name == DISCO else self.refinement.strength

    @cached_property
    def of_fit(self) -> Selection:
        """What the fit keeps, whether its edges are shown or not."""
        return self.selection or selectors.of_run(self.result)

    @property
    def rule(self) -> str:
        """What chose DISCO's edges, in words; empty if none of them are shown."""
        chosen = self.selection
        return "" if chosen is None else f"{VARIANT_WORDS[chosen.result.variant]}, {chosen.words}"

    @property
    def method(self) -> str:
        """How the graph was found, in words."""
        return {BOTH: WITH_FIT, LIKELIHOOD: METHOD}.get(self.name, "DISCO")

    @property
    def choices(self) -> dict[str, float | str]:
        """The choices that define the graph, by name."""
        settings = {} if self.name == DISCO else self.refinement.choices
        if (chosen := self.selection) is None:
            return settings
        by_ocs = {"parent_rule": chosen.result.rule, "tau_z": chosen.tau_z, "pi_min": chosen.pi_min}
        return {**settings, "order": chosen.result.variant, **(by_ocs if chosen.is_ocs else {"parents": chosen.words})}

    @property
    def shown_refinement(self) -> Refinement | None:
        """The refinement, if its edges are shown."""
        return None if self.name == DISCO else self.refinement

    @property
    def candidates(self) -> pd.DataFrame:
        """Every candidate of the fit with its OCS, Z and frequency; without a fit, none."""
        return _NO_CANDIDATES if self.result is None else self.result.candidates(getattr(self.selection, "tau_z", 0.0))

    @cached_property
    def edges(self) -> pd.DataFrame:
        """The edges, strongest first: parent, child and every number that either method has of them."""
        records = [{"parent": u, "child": v, **values} for u, v, values in self.graph.edges(data=True)]
        found = pd.DataFrame.from_records(records, columns=None if records else PAIR)
        if self.shown_refinement is None:
            return found.sort_values("ocs", ascending=False, ignore_index=True) if records else found
        weighed = self.refinement.edges
        rest = [name for name in weighed if name not in found or name in PAIR]
        found = found.merge(weighed[rest], on=[*PAIR], how="left").reindex(
            columns=list(dict.fromkeys([*weighed, *found]))
        )
        found = found.assign(decided=found["decided"] == 1)
        return found.sort_values("gain_nats", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def shared_start(self) -> str:
        """What the names of all nodes begin with; it is left out of short names."""
        return shared_start(self.placed.order)

    def in_words(self, edge: tuple[str, str], longest: int) -> str:
        """An edge, its nodes' names at most so long: an arrow if its direction is known, otherwise a line."""
        mark = "→" if has_direction(self.graph.edges[edge]) else "—"
        return f" {mark} ".join(shown(node.removeprefix(self.shared_start), longest) for node in edge)

    def subgraph(self, edges: pd.DataFrame) -> nx.DiGraph:
        """All nodes with some of the edges."""
        graph, remaining = self.graph.copy(), set(zip(edges["parent"], edges["child"], strict=True))
        graph.remove_edges_from([edge for edge in self.graph.edges if edge not in remaining])
        return graph

    def judged(self, graph: nx.DiGraph, comparison: TruthComparison, missing: bool) -> nx.DiGraph:
        """A subgraph with a truth's verdict on every edge, with or without the true edges that all of it lacks."""
        verdicts = comparison.verdicts(self.graph)
        pairs = zip(verdicts["parent"], verdicts["child"], strict=True)
        is_drawn = pd.Series([graph.has_edge(*pair) for pair in pairs], verdicts.index, dtype=bool)
        visible = verdicts[is_drawn | (verdicts["verdict"] == "missing")]
        return drawing.judged(graph, visible, self.candidates, missing=missing)


def chosen(refinement: Refinement | None, result: Result | None) -> View:
    """Draw the controls and return the graph that the reader chose; at least one argument is not None."""
    name = _view(refinement, result)
    if name == LIKELIHOOD or result is None:
        return View(LIKELIHOOD, refinement.graph, refinement, result)
    with st.expander("DISCO's thresholds", expanded=name == DISCO):
        fit.variant_picker(result)
        selection = selectors.on_graph(result)
    graph = selection.graph if name == DISCO else union(refinement.graph, selection.graph)
    return View(name, graph, refinement, result, selection)


def _view(refinement: Refinement | None, result: Result | None) -> str:
    if refinement is None or result is None:
        return LIKELIHOOD if result is None else DISCO
    key = f"graph_view_{result.run.id}"
    st.session_state[key] = session.shown.view.current() or LIKELIHOOD
    name = st.segmented_control(
        "Edges found by",
        list(_WORDS),
        format_func=_WORDS.get,
        key=key,
        required=True,
        on_change=lambda: session.shown.view.keep(st.session_state[key]),
        help="Likelihood: the search for the order and graph of highest likelihood, with evidence on every edge. "
        "DISCO: the order and the scores of the fitted networks. Either: the edges found by one method or by both; the "
        "colour and the dash of a line say which. An edge of DISCO has a head only if both methods decide its "
        "direction: they use the same rows, so where they differ, it is open.",
    )
    return name or LIKELIHOOD


def tell_address(view: View) -> None:
    """Write the choices that define this graph into the page's address, so a link shows the same."""
    chosen = view.selection
    if chosen is None:
        parameters = dict.fromkeys(("order", "rule", "tau", "pi"))
    else:
        result = chosen.result
        parameters = {
            "order": None if result.variant == results.own_variant(result.run) else result.variant,
            "rule": result.rule,
            "tau": f"{chosen.tau_z:.6g}",
            "pi": f"{chosen.pi_min:.6g}",
        }
    both = view.refinement is not None and view.result is not None
    session.address.tell({"edges": view.name if both else None, **parameters})


def verdict(view: View) -> Verdict:
    """How far to trust the arrows of a graph, drawn or not."""
    if view.name == DISCO:
        return verdicts.of_graph(view.edges, len(view.graph), is_searched=view.refinement is not None)
    return view.refinement.verdict(view.edges)


def advise_on_fit(view: View) -> None:
    """Say why the fit has almost no edges, if so."""
    if view.result is not None:
        selectors.advise_if_sparse(view.of_fit, "graph" if view.name == DISCO else "search")


def _agreed(view: View) -> str:
    """How many edges each method found; empty if the run has one method's edges, or those of DISCO are shown."""
    if view.result is None or view.name == DISCO:
        return ""
    if view.name == LIKELIHOOD:
        fitted = {frozenset(pair) for pair in view.of_fit.pairs}
        if not fitted:
            return "; the DISCO fit has none"
        agreeing = len(fitted & {frozenset(pair) for pair in view.graph.edges})
        alone = how_many(len(fitted) - agreeing, "other")
        return f"; both methods link {agreeing:,} of these pairs, the DISCO fit alone {alone}"
    by = Counter(values["found_by"] for *_, values in view.graph.edges(data=True))
    return f": {by[BOTH]:,} by both methods, {by[LIKELIHOOD]:,} by likelihood alone, {by[DISCO]:,} by DISCO alone"


def placed(view: View) -> Placed:
    """The positions of all nodes, and of the contexts of a refinement."""
    return view.placed if view.name == DISCO else contexts.placed(view.refinement)


def with_contexts(view: View, graph: nx.DiGraph) -> nx.DiGraph:
    """A subgraph with the contexts of a refinement."""
    return graph if view.name == DISCO else contexts.joined(view.refinement, graph)


def counts(view: View, drawn: nx.DiGraph) -> str:
    """How many edges and nodes the graph has, and how many of them are drawn, in Markdown."""
    edges, drawn_edges = view.graph.number_of_edges(), _edges_drawn(view, drawn)
    nodes, drawn_nodes = len(view.graph), sum(node in view.graph for node in drawn)
    effects = sum(CONTEXT in drawn.nodes[parent] for parent, _ in drawn.edges)
    of_contexts = f" and {effects:,} from contexts" if effects else ""
    lagged = sum(bool(edge.get("is_lagged")) for *_, edge in drawn.edges(data=True))
    of_contexts += f" and {lagged:,} from rows before alone" if lagged else ""
    some_edges = f", {drawn_edges:,} drawn" if drawn_edges < edges else ""
    some_nodes = f", {how_many(drawn_nodes, 'node')} shown" if drawn_nodes < nodes else ""
    named = f"**{how_many(edges, 'edge')}**{of_contexts}{some_edges} among {how_many(nodes, 'node')}"
    return f"{named} of {code(view.placed.run.name)}{some_nodes}{_agreed(view)}"


def share_drawn(view: View, drawn: nx.DiGraph) -> dict[str, str]:
    """For the files of a picture: how many of the edges it shows, unless it shows all."""
    edges, drawn_edges = view.graph.number_of_edges(), _edges_drawn(view, drawn)
    return {"edges_shown": f"{drawn_edges:,} of {edges:,}"} if drawn_edges < edges else {}


def _edges_drawn(view: View, drawn: nx.DiGraph) -> int:
    """How many of the edges found are drawn; true edges that were not found do not count."""
    return sum(pair in view.graph.edges for pair in drawn.edges)


_SEEN = "graph_seen"
_READING_SECONDS = 8.0
_WORKS = {REFINE: RESULTS[REFINED], FIT: RESULTS[FITTED]}
_SHOWN = {
    BOTH: "the edges found by either method",
    LIKELIHOOD: "the edges of the likelihood search",
    DISCO: "the edges of the DISCO fit",
}


def notify(view: View) -> None:
    """A line that says which work has ended since this session last saw the run's graph; it goes with the next change
    of the page, once it has been there long enough to be read.
    """
    run, edges = view.placed.run, set(view.graph.edges)
    status = {work: run.status(work) for work in _WORKS}
    every = st.session_state.setdefault(_SEEN, {})
    were_active, seen, line, until = every.get(run.id, ((), edges, "", 0.0))
    if ended := [_WORKS[work] for work in were_active if status[work].state == "done"]:
        count, until = len({frozenset(pair) for pair in edges ^ seen}), time.monotonic() + _READING_SECONDS
        changes = _agreed(view)[2:] or f"{how_many(count, 'edge')} changed"
        line = f"The {' and the '.join(ended)} {plural(len(ended), 'has', 'have')} ended: {changes}. "
        line += f"Shown now: {_SHOWN[view.name]}."
    line = line if time.monotonic() < until else ""
    every[run.id] = [work for work, state in status.items() if state.active], edges, line, until
    if line:
        st.caption(f":material/hub: {line}")
