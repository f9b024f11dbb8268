"""A run's refinement, loaded once and shared by the pages; read only."""

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.graph.draw import picture as drawing
from disco.refine import Choice, Refined
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.refinement.figures import search_scores as figures
from disco.subjects.refinement.refined import choice_from, choice_of, read_refined, searched_edges
from disco.verdicts import Verdict, of_refinement
from pages.shared.compute.cache import cached
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets.figure import Ready, ready
from pages.shared.widgets.names import plain


@dataclass(frozen=True)
class Refinement:
    """A run's refinement (order, edges with evidence, searches, moves) and the settings of its search."""

    run: Run
    refined: Refined
    choice: Choice

    @property
    def order(self) -> list[str]:
        """Node names, source first."""
        return self.refined.order

    @property
    def edges(self) -> pd.DataFrame:
        """One row per edge, strongest first, those without a gain last."""
        return self.refined.edges

    @cached_property
    def positions(self) -> dict[str, tuple[float, float]]:
        """Of the graph's nodes, in pixels."""
        return figures.positions(self.order, self.edges)

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The DAG, the misfit on its nodes, the evidence on its edges."""
        return self.refined.graph()

    @cached_property
    def strength(self) -> float:
        """The strength of the widest line, so that widths do not change with the filters."""
        return max((drawing.strength(values) for *_, values in self.graph.edges(data=True)), default=1.0)

    def verdict(self, edges: pd.DataFrame | None = None) -> Verdict:
        """How sure the directions are, by default those of its own edges."""
        return of_refinement(self.refined, self.choice.bound, edges)

    @property
    def choices(self) -> dict[str, float | str]:
        """The choices that define the graph, by name."""
        return {"seed": self.choice.seed, "bound_nats": self.choice.bound}

    @cached_property
    def known(self) -> TruthComparison | None:
        """The comparison with the run's truth; pages ask `truth.shown`, which may hide it."""
        return TruthComparison.of(self.run, self.order)

    @cached_property
    def ends_figure(self) -> Ready:
        """The figure of the scores at which its searches ended."""
        return ready(figures.ends(self.refined.starts, self.choice.bound))

    @cached_property
    def sweeps(self) -> Ready:
        """The figure of its searches, sweep by sweep."""
        return ready(figures.searches(self.refined.starts))

    @cached_property
    def slope(self) -> Ready:
        """The figure of the initial and the refined order; needs an initial order."""
        return ready(figures.slope(self.refined.moves, self.choice.bound))


def of(run: Run) -> Refinement | None:
    """The refinement of a run; None if it has none, InputError if one of its files is damaged."""
    stamp = stamps.refinement(run)
    return _read(run, stamp) if stamp else None


def readable(run: Run) -> Refinement | None:
    """The refinement of a run; None if it has none, or, with a message, if it is damaged."""
    try:
        return of(run)
    except InputError as error:
        st.error(plain(error), icon=":material/error:")
        return None


# The stamps ensure that a run that was refined again, or has another truth, is read again.
@cached(lambda run, stamp: (run.key, stamp, stamps.truth(run)))
def _read(run: Run, _stamp: int) -> Refinement:
    refined = read_refined(run)
    # Strongest first, whoever wrote the file; edges without a gain last.
    edges = refined.edges.sort_values("gain_nats", ascending=False, kind="stable", ignore_index=True)
    refined = refined.having(edges=edges)
    return Refinement(run, refined, choice_from(choice_of(run)))


edges_of = cached(lambda run: (run.key, stamps.refinement(run)))(searched_edges)
