"""A search with and without each adjustment: which edges go, come or turn if a covariate or the exposure is not told.

An edge that only the search without a covariate finds joins two nodes that the covariate drives. One that every search
finds rests on the counts alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import networkx as nx
import pandas as pd

from disco import graph as graphs
from disco.checks import require_types
from disco.knowledge import Knowledge
from disco.metrics import changes
from disco.progress import Callback, Reporter
from disco.refine.choice import QUICK, Choice
from disco.refine.refinement import refine
from disco.settings import Settings
from disco.table.adjustment import Adjustment
from disco.table.prepared import Table, prepare

EXPOSURE = "the exposure"
WITH, WITHOUT = "with all", "without any"


@dataclass(frozen=True)
class Found:
    """What one search found.

    Attributes:
        name: of the search, in words: `with all`, `without any`, or `without` and one adjustment.
        order: all nodes, sources first.
        edges: those of `disco.refine.Refined`.
    """

    name: str
    order: list[str]
    edges: pd.DataFrame

    @property
    def graph(self) -> nx.DiGraph:
        """As a graph; its edges carry `decided`."""
        return graphs.build(self.order, self.edges)


def names_of(adjustment: Adjustment) -> list[str]:
    """The adjustments that a search can do without, in words."""
    named = [f'"{one.name}"' for one in adjustment.covariates]
    return named + [EXPOSURE] * (adjustment.exposure is not None)


def searches(adjustment: Adjustment) -> list[tuple[str, Adjustment]]:
    """The searches that are compared: their names, and what they adjust for. Groups stay what they are."""
    names = names_of(adjustment)
    parts = [(f"without {name}", [place]) for place, name in enumerate(names)] if len(names) > 1 else []
    left_out = [(WITH, []), *parts, (WITHOUT, list(range(len(names))))]
    return [(name, _without(adjustment, places)) for name, places in left_out]


def adjusted(
    table: Table,
    adjustment: Adjustment,
    choice: Choice = QUICK,
    *,
    settings: Settings | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
) -> list[Found]:
    """Search with all adjustments, without each of them, and without any.

    Args:
        table: counts, one column per node.
        choice: how much to search.
        settings: whose transform the levels come from.
        knowledge: to which every search keeps.
        callback: receives the events, one stage per search; False stops.

    Raises:
        InputError: the table cannot be used.
    """
    require_types(adjustment=(adjustment, Adjustment))
    given, wanted, found = prepare(table, adjustment), searches(adjustment), []
    reporter = Reporter(callback, {name: 1.0 for name, _ in wanted})
    for name, part in wanted:
        reporter.step(name, 0, 1)
        result = refine(
            given,
            choice,
            settings=settings,
            roles=part,
            knowledge=knowledge,
            callback=reporter.part(name, "part"),
        )
        found.append(Found(name, result.order, result.edges))
    return found


def compared(found: Sequence[Found]) -> pd.DataFrame:
    """Every edge of any search: parent, child (as in the first search that has it), and one column per search.

    A column says → where the search has the edge, ← where it is turned, and nothing where it is not there.
    """
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for one in found:
        for parent, child in zip(one.edges["parent"], one.edges["child"], strict=True):
            pairs.setdefault(frozenset((parent, child)), (parent, child))
    lines = []
    sets = {one.name: set(zip(one.edges["parent"], one.edges["child"], strict=True)) for one in found}
    for parent, child in pairs.values():
        signs = {
            name: "→" if (parent, child) in edges else "←" if (child, parent) in edges else ""
            for name, edges in sets.items()
        }
        lines.append({"parent": parent, "child": child, **signs})
    return pd.DataFrame(lines, columns=["parent", "child", *sets])


def in_words(told: Found, untold: Found) -> str:
    """What the adjustments of one search that another lacks change, as one sentence."""
    change = changes(untold.graph, told.graph)["verdict"].value_counts()
    went, came, turned = (int(change.get(word, 0)) for word in ("dropped", "new", "turned"))
    what = "at all" if untold.name == WITHOUT else f"for {untold.name.removeprefix('without ')}"
    if not went + came + turned:
        return f"Adjusting {what} changes no edge."
    return f"Adjusting {what} removes {went:,} of {len(untold.edges):,} edges, adds {came:,} and turns {turned:,}."


def _without(adjustment: Adjustment, places: Sequence[int]) -> Adjustment:
    """Without the adjustments at some places of `names_of`."""
    kept = tuple(one for place, one in enumerate(adjustment.covariates) if place not in places)
    exposure = None if len(adjustment.covariates) in places else adjustment.exposure
    return replace(adjustment, covariates=kept, exposure=exposure)
