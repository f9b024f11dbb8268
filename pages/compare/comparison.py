"""The methods that have ended on a run's table, read once; which of them are shown. Owns the keys `compare_shown_…`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import streamlit as st

from disco.figures import placing
from disco.metrics import several
from disco.rivals import METHODS
from disco.runs import Run, compared, stamps
from disco.runs.compared import Found
from pages.shared.known import Known

_NO_SCORES = ["fold", "parent", "child", "ocs", "curvature", "z"]


@dataclass(frozen=True)
class Comparison:
    """How methods ended on a run's table; read only.

    Attributes:
        run: whose table it is.
        ended: every method that has ended, in the order of the registry.
    """

    run: Run
    ended: list[Found]

    @cached_property
    def done(self) -> dict[str, Found]:
        """Those that found something, by name."""
        return {one.method: one for one in self.ended if one.state == "done"}

    @cached_property
    def known(self) -> Known | None:
        """What the run's truth says; pages ask `truth.shown`, which may keep it to itself."""
        return Known.of(self.run, self.run.nodes, pd.DataFrame(columns=_NO_SCORES), [])

    @cached_property
    def orders(self) -> dict[str, list[str]]:
        """The orders, by the label of the method."""
        return {label(name): one.order for name, one in self.done.items() if one.order is not None}

    @cached_property
    def pairs(self) -> dict[str, list[tuple[str, str]]]:
        """The edges, by the label of the method; an open one in both directions."""
        return {label(name): one.pairs for name, one in self.done.items()}

    @cached_property
    def joined(self) -> pd.DataFrame:
        """Every pair of nodes that a method joins (`disco.metrics.several`)."""
        return several.consensus(self.pairs, self.run.nodes)

    @cached_property
    def order(self) -> list[str]:
        """The nodes by their mean place in the orders."""
        return several.mean_order(self.orders, self.joined, self.run.nodes)

    @cached_property
    def places(self) -> dict[str, tuple[float, float]]:
        """Where the nodes of every graph stand, in pixels."""
        ties = self.joined[["parent", "child"]].assign(z=self.joined["methods"].astype(float))
        return placing.positions(self.order, ties)

    @property
    def placed(self) -> str:
        """What the places of the nodes mean, in a sentence."""
        if not self.orders:
            return "None of these methods gives an order, so nodes are placed by their edges, causes above effects."
        return "Nodes follow the mean of the orders, so an edge that points up runs against it."

    def among(self, names: Sequence[str]) -> "Comparison":
        """Some of the methods."""
        return Comparison(self.run, [one for one in self.ended if one.method in names])


def label(name: str) -> str:
    """The name of a method in tables and figures."""
    return METHODS[name].label


def of(run: Run) -> Comparison:
    """What has ended on a run's table."""
    return _read(run, str(run.path), (stamps.comparison(run), stamps.truth(run)))


# The stamps make sure that another result, or another truth, is read again; the run itself is hashed by its path.
@st.cache_resource(max_entries=16, show_spinner=False)
def _read(_run: Run, path: str, read_at: tuple[int, int]) -> Comparison:
    return Comparison(_run, compared.read_all(_run))


def choose(found: Comparison) -> Comparison | None:
    """The methods that the sections below show; None, with a sentence, if there are none.

    The controls are left out at first: they would outvote the rest without telling anything of causes.
    """
    names = list(found.done)
    if not names:
        st.info("No method has found anything yet.", icon=":material/info:")
        return None
    usual = [name for name in names if METHODS[name].group != "controls"] or names
    chosen = st.multiselect(
        "Methods shown below",
        names,
        default=usual,
        format_func=label,
        key=f"compare_shown_{found.run.id}_{len(names)}",
        help="The controls are left out at first: sorted columns say nothing of causes, and agree with each other.",
    )
    chosen = [name for name in names if name in chosen]
    if not chosen:
        st.caption("Choose at least one method.")
        return None
    return _among(found, tuple(chosen), str(found.run.path), stamps.comparison(found.run))


@st.cache_resource(max_entries=32, show_spinner=False)
def _among(_found: Comparison, names: tuple[str, ...], path: str, read_at: int) -> Comparison:
    return _found.among(names)
