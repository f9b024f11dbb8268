"""The methods that have ended on a run's table, loaded once, and those shown. Owns the keys `compare_shown_…`."""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.graph.draw import placing
from disco.methods import GROUPS, METHODS
from disco.metrics.consensus import Comparison
from disco.reports import all_results
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.comparison import compared
from disco.subjects.comparison.compared import MethodResult
from disco.words import series
from pages.shared.compute.cache import cached
from pages.shared.result.truth import TruthComparison

OWN = {name: f"this run's {words}" for name, words in all_results.WORDS.items()}
_SEARCH = "refined"  # the method that searches as the run's refinement does
_NOTE = "Its time covers all its threads, on its device, over all attempts."


@dataclass(frozen=True)
class Compared:
    """A run's own fit and refinement, then every method that has ended on its table, by group; read only."""

    run: Run
    ended: list[MethodResult]

    @property
    def methods(self) -> list[MethodResult]:
        """The methods other than the run's own fit and refinement."""
        return [result for result in self.ended if result.method not in OWN]

    @cached_property
    def done(self) -> dict[str, MethodResult]:
        """The methods with a result, by name."""
        return {result.method: result for result in self.ended if result.state == "done"}

    def repeats(self, name: str) -> bool:
        """Whether a method is the search that refined the run: its result would count twice."""
        return name == _SEARCH and all_results.REFINED in self.done

    def unadjusted(self, names: Collection[str]) -> list[str]:
        """The methods among these that cannot use the roles for which the run's own results are adjusted."""
        adjustment = self.run.adjustment
        if adjustment is None or adjustment.is_only_arms:
            return []
        return [name for name in names if name not in OWN and not getattr(METHODS.get(name), "roles", False)]

    @cached_property
    def known(self) -> TruthComparison | None:
        """The comparison with the run's truth; pages ask `truth.shown`, which may hide it."""
        return TruthComparison.of(self.run, self.run.nodes)

    def rows(self, is_known: bool) -> pd.DataFrame:
        """One row per method, as `disco.subjects.comparison.compared.table`; with metrics if the truth may be shown."""
        return self._measured if is_known else compared.table(self.run, self.ended, None)

    @cached_property
    def _measured(self) -> pd.DataFrame:
        return compared.table(self.run, self.ended, None if self.known is None else self.known.true_edges)

    @cached_property
    def results(self) -> Comparison:
        """The results of the methods that have one, by the method's label."""
        graphs = {label(name): result.found for name, result in self.done.items() if result.found is not None}
        return Comparison.of(graphs, self.run.nodes)

    @property
    def order(self) -> list[str]:
        """The nodes in the order of their mean positions."""
        return self.results.order

    @cached_property
    def positions(self) -> dict[str, tuple[float, float]]:
        """The positions of the nodes in every graph, in pixels."""
        joined = self.results.edges
        ties = joined[["parent", "child"]].assign(z=joined["methods"] + 1.0)
        return placing.positions(self.order, ties)

    @property
    def placed(self) -> str:
        """What the positions of the nodes mean, in a sentence."""
        if not self.results.orders:
            return "None of these methods finds an order, so nodes are placed by their edges, causes above effects."
        return "Nodes follow the mean of the orders. Edges that contradict it point up."


def label(name: str) -> str:
    """The name of a method in tables and figures."""
    return OWN[name] if name in OWN else METHODS[name].label


def heading(name: str) -> str:
    """The label, capitalised for a cell or a box."""
    words = label(name)
    return words[0].upper() + words[1:]


def group(name: str) -> str:
    """The kind of method, one of `disco.methods.GROUPS`."""
    return "ours" if name in OWN else METHODS[name].group


def _key(run: Run) -> tuple[str | int, ...]:
    return run.key, stamps.comparison(run), stamps.truth(run), stamps.fit(run), stamps.refinement(run)


@cached(_key)
def of(run: Run) -> Compared:
    """The methods that have ended on a run's table."""
    ended = sorted(compared.read_all(run), key=lambda result: GROUPS.index(group(result.method)))
    return Compared(run, [*_run_results(run), *ended])


def _run_results(run: Run) -> list[MethodResult]:
    ended = []
    for name in [name for name in all_results.names(run) if name in OWN]:
        with contextlib.suppress(InputError):  # reported on their own pages
            result = all_results.read(run, name)
            ended.append(MethodResult(name, "done", seconds=result.seconds, notes=[_NOTE], found=result))
    return ended


def choose(every: Compared) -> Compared | None:
    """The methods that the sections below show; None, with a sentence, if there are none.

    The controls are left out at first: they would outvote the rest without saying anything about causes. So is the
    search that the run's refinement has already made.
    """
    names = list(every.done)
    if not names:
        st.info("No method has a result yet.", icon=":material/info:")
        return None
    usual = [name for name in names if group(name) != "controls" and not every.repeats(name)] or names
    chosen = st.multiselect(
        "Methods shown below",
        names,
        default=usual,
        format_func=heading,
        key=f"compare_shown_{every.run.id}_{len(names)}",
    )
    chosen = [name for name in names if name in chosen]
    _above_only([name for name in names if name not in chosen and name not in usual], every)
    if not chosen:
        st.caption("Choose at least one method.")
        return None
    return _among(every, tuple(chosen))


def _above_only(names: Sequence[str], every: Compared) -> None:
    reasons = []
    if controls := [label(name) for name in names if group(name) == "controls"]:
        reasons.append(f"{series(controls)}, a baseline that says nothing about causes")
    if any(every.repeats(name) for name in names):
        reasons.append(f"{label(_SEARCH)}, the same as {OWN[all_results.REFINED]}")
    if reasons:
        st.caption(f"In the table above only: {'; '.join(reasons)}.")


@cached(lambda every, names: (_key(every.run), names))
def _among(every: Compared, names: tuple[str, ...]) -> Compared:
    return Compared(every.run, [result for result in every.ended if result.method in names])
