"""The graph shown on Graph (the edges of the refinement, the fit, or both), and a notice when it has changed.

Owns the key `graph_seen`.
"""

from dataclasses import dataclass

import networkx as nx
import pandas as pd
import streamlit as st

from disco import verdicts
from disco.graph.dag import BOTH, DISCO, LIKELIHOOD, union
from disco.graph.draw import picture as drawing
from disco.refine.refinement_result import METHOD, WITH_FIT
from disco.subjects import FIT, REFINE
from disco.subjects.fit import results
from disco.verdicts import Verdict
from disco.words import how_many, plural, share
from pages.shared import session
from pages.shared.graph import contexts
from pages.shared.graph.layout import Placed
from pages.shared.result import fit, selectors
from pages.shared.result.fit import VARIANT_WORDS, Result
from pages.shared.result.refinement import Refinement
from pages.shared.result.selectors import Selection
from pages.shared.result.truth import TruthComparison

_WORDS = {BOTH: "Either", LIKELIHOOD: "Likelihood", DISCO: "DISCO"}


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
    def candidates(self) -> pd.DataFrame:
        """Every candidate of the fit with its OCS, Z and frequency."""
        return self.result.candidates(self.selection.tau_z if self.selection else 0.0)

    def judged(self, comparison: TruthComparison, missing: bool) -> nx.DiGraph:
        """The graph with a truth's verdict on every edge, with or without the true edges that it lacks."""
        judgements = comparison.verdicts(self.graph)
        if self.result is None:
            return self.refinement.judged(self.graph, judgements, None, missing)
        return drawing.judged(self.graph, judgements, self.candidates, missing=missing)


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
    st.session_state[key] = session.shown.view.current() or BOTH
    name = st.segmented_control(
        "Edges found by",
        list(_WORDS),
        format_func=_WORDS.get,
        key=key,
        required=True,
        on_change=lambda: session.shown.view.keep(st.session_state[key]),
        help="Likelihood: the search for the order and graph of highest likelihood, with evidence on every edge. "
        "DISCO: the order and the scores of the fitted networks. Either: the edges found by one method or by both; the "
        "colour and the dash of a line say which.",
    )
    return name or BOTH


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
        edges = pd.DataFrame(view.graph.edges, columns=["parent", "child"])
        return verdicts.of_graph(view.result.ccs, edges, len(view.graph))
    return view.refinement.verdict


def agreed(view: View) -> str:
    """How many edges both methods found; empty if the edges of one are shown."""
    if view.name != BOTH:
        return ""
    both = sum(values["found_by"] == BOTH for *_, values in view.graph.edges(data=True))
    return f", {share(both, view.graph.number_of_edges())} found by both methods"


def placed(view: View) -> Placed:
    """The positions of all nodes, and of the contexts of a refinement."""
    return view.placed if view.name == DISCO else contexts.placed(view.refinement)


def with_contexts(view: View, graph: nx.DiGraph) -> nx.DiGraph:
    """A subgraph with the contexts of a refinement."""
    return graph if view.name == DISCO else contexts.joined(view.refinement, graph)


def edges_drawn(view: View, drawn: nx.DiGraph) -> int:
    """How many of the edges found are drawn; true edges that were not found do not count."""
    return sum(pair in view.graph.edges for pair in drawn.edges)


_SEEN = "graph_seen"
_WORKS = {REFINE: "likelihood search", FIT: "DISCO fit"}
_SHOWN = {
    BOTH: "the edges found by either method",
    LIKELIHOOD: "the edges of the likelihood search",
    DISCO: "the edges of the DISCO fit",
}


def notify(view: View) -> None:
    """Say which work has ended since this session last saw the run's graph; the notice stays until it is closed."""
    run, edges = view.placed.run, set(view.graph.edges)
    status = {work: run.status(work) for work in _WORKS}
    every = st.session_state.setdefault(_SEEN, {})
    were_active, seen = every.get(run.id, ((), edges))
    every[run.id] = [work for work, state in status.items() if state.active], edges
    ended = [_WORKS[work] for work in were_active if status[work].state == "done"]
    if ended:
        count = len({frozenset(pair) for pair in edges ^ seen})
        st.toast(
            f"The {' and the '.join(ended)} {plural(len(ended), 'has', 'have')} ended: {how_many(count, 'edge')} "
            f"changed. Shown now: {_SHOWN[view.name]}.",
            icon=":material/hub:",
            duration="infinite",
        )
