"""What Graph shows of the open run: the edges of the refinement, of the fit, or of both."""

from dataclasses import dataclass

import networkx as nx
import pandas as pd
import streamlit as st

from disco import verdicts
from disco.figures import graph as drawing
from disco.graph import BOTH, DISCO, LIKELIHOOD, union
from disco.verdicts import Verdict
from disco.words import share
from pages.shared import session
from pages.shared.graph import canvas
from pages.shared.parents import selector_sections, thresholds
from pages.shared.refined.refinement import Refinement
from pages.shared.result import fit
from pages.shared.result.fit import VARIANT_WORDS, Result
from pages.shared.result.known import Known

_WORDS = {BOTH: "Both", LIKELIHOOD: "Likelihood", DISCO: "DISCO"}


@dataclass(frozen=True)
class View:
    """A graph of the open run.

    Attributes:
        name: both, likelihood or DISCO.
        graph: the edges.
        refinement: the run's refinement; None if it has none.
        result: the run's fit; None if it has none.
        tau_z, pi_min: the thresholds of DISCO's edges.
        said: the rule that chose DISCO's edges, if not the thresholds.
    """

    name: str
    graph: nx.DiGraph
    refinement: Refinement | None
    result: Result | None
    tau_z: float = 0.0
    pi_min: float = 0.0
    said: str = ""

    @property
    def placed(self) -> Refinement | Result:
        """The order and the places of its nodes."""
        return self.result if self.name == DISCO else self.refinement

    @property
    def strength(self) -> float:
        """Of the widest line, so that widths do not change with the thresholds."""
        return canvas.strongest(self.result) if self.name == DISCO else self.refinement.strength

    @property
    def rule(self) -> str:
        """What chose DISCO's edges, in words; empty if none of them are shown."""
        if self.result is None or self.name == LIKELIHOOD:
            return ""
        folds = share(round(self.pi_min * self.result.folds), self.result.folds)
        chosen_by = self.said or f"τ_Z = {self.tau_z:g}, {folds} folds"
        return f"{VARIANT_WORDS[self.result.variant]}, {chosen_by}"

    @property
    def method(self) -> str:
        """How the graph was found, in words."""
        return {BOTH: "likelihood refinement and DISCO", LIKELIHOOD: "likelihood refinement"}.get(self.name, "DISCO")

    @property
    def choices(self) -> dict[str, float | str]:
        """The choices that make the graph, by name."""
        found: dict[str, float | str] = {}
        if self.name != DISCO:
            found |= {"seed": self.refinement.choice.seed, "bound_nats": self.refinement.choice.bound}
        if self.name == LIKELIHOOD or self.result is None:
            return found
        own = {"parents": self.said} if self.said else {"parent_rule": self.result.rule, **self.thresholds}
        return {**found, "order": self.result.variant, **own}

    @property
    def thresholds(self) -> dict[str, float]:
        """Those of DISCO's edges, by name."""
        return {"tau_z": self.tau_z, "pi_min": self.pi_min}

    def judged(self, known: Known, missing: bool) -> nx.DiGraph:
        """The graph with the verdict of a truth on every edge, with or without the true edges that it lacks."""
        told = known.verdicts(self.graph)
        if self.result is None:
            return self.refinement.judged(self.graph, told, None, missing)
        return drawing.judged(self.graph, told, self.result.candidates(self.tau_z), missing=missing)


def chosen(refinement: Refinement | None, result: Result | None) -> View:
    """The graph that the reader chose, with the controls that choose it; one of the two arguments is there."""
    name = _view(refinement, result)
    if name == LIKELIHOOD or result is None:
        return View(LIKELIHOOD, refinement.graph, refinement, result)
    with st.expander("DISCO's thresholds", expanded=name == DISCO):
        fit.variant_picker(result)
        own, tau_z, pi_min, said = selector_sections.own_graph(result) or thresholds.graph(result, "graph")
    graph = own if name == DISCO else union(refinement.graph, own)
    return View(name, graph, refinement, result, tau_z, pi_min, said)


def _view(refinement: Refinement | None, result: Result | None) -> str:
    if refinement is None or result is None:
        return LIKELIHOOD if result is None else DISCO
    key = f"graph_view_{result.run.id}"
    st.session_state[key] = session.shown.view() or BOTH
    name = st.segmented_control(
        "Edges of",
        list(_WORDS),
        format_func=_WORDS.get,
        key=key,
        required=True,
        on_change=lambda: session.shown.set_view(st.session_state[key]),
        help="Likelihood: the search for the order and graph of highest likelihood, with evidence on every edge. "
        "DISCO: the order and the scores of the fitted networks. Both: the edges of either, marked by who found them.",
    )
    return name or BOTH


def tell_address(view: View) -> None:
    """Write what makes this graph into the page's address, so that a link shows the same."""
    result = view.result
    if result is None or view.name == LIKELIHOOD:
        told = dict.fromkeys(("order", "rule", "tau", "pi"))
    else:
        told = {
            "order": None if result.variant == result.run.own_variant else result.variant,
            "rule": result.rule,
            "tau": f"{view.tau_z:.6g}",
            "pi": f"{view.pi_min:.6g}",
        }
    both = view.refinement is not None and result is not None
    session.address.tell({"edges": view.name if both else None, **told})


def verdict(view: View) -> Verdict:
    """How far to trust the arrows of a graph."""
    if view.name == DISCO:
        edges = pd.DataFrame(view.graph.edges, columns=["parent", "child"])
        return verdicts.of_graph(view.result.ccs, edges, len(view.graph))
    found = verdicts.of_refinement(view.refinement.refined, view.refinement.choice.bound)
    if view.name == LIKELIHOOD:
        return found
    agreed = sum(values["found_by"] == BOTH for *_, values in view.graph.edges(data=True))
    many = view.graph.number_of_edges()
    return found._replace(text=f"{found.text} {share(agreed, many).capitalize()} edges were found by both methods.")
