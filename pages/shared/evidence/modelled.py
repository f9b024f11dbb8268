"""A refinement as a fitted model, for the pages: fitted node by node on request, with its summaries cached.

A node's fit needs only its own column and those of its parents, so a click fits at most one node. The fit imports
torch, so it is imported by the first click.
"""

from typing import TYPE_CHECKING

import pandas as pd

from disco.refine import Refined
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.refinement.figures import fitted_model
from disco.table.adjustment import Adjustment
from pages.shared.compute.cache import cached

if TYPE_CHECKING:
    from disco.likelihood.count_shapes import Kind
    from disco.likelihood.model import Model


def _node(run: Run, refined: Refined, node: str) -> tuple:
    """The cache key of a node's fit; a run refined again has another stamp."""
    return str(run.path), stamps.refinement(run), node, tuple(parents_of(refined.edges).get(node, ()))


@cached(lambda run: str(run.path))
def _seen(run: Run) -> tuple[pd.DataFrame, Adjustment | None]:
    from disco.likelihood.covariates import seen

    return seen(run.table(), run.adjustment, run.settings)


def is_level(run: Run) -> bool:
    """Whether the refinement saw quantile levels instead of counts."""
    return run.settings.transform == "quantile"


def table(run: Run) -> pd.DataFrame:
    """What the refinement saw of the run's table: its counts, or their quantile levels."""
    return _seen(run)[0]


def unit(run: Run) -> str:
    """The unit of a parent: its count, its quantile level, or its rate if there is an exposure."""
    seen_beside = adjustment(run)
    has_rates = seen_beside is not None and seen_beside.exposure is not None
    return "level" if is_level(run) else "rate" if has_rates else "count"


def adjustment(run: Run) -> Adjustment | None:
    """The covariates, exposure and groups that the refinement is adjusted for."""
    return _seen(run)[1]


def parents_of(edges: pd.DataFrame) -> dict[str, list[str]]:
    """The parents of each node that has any."""
    parents: dict[str, list[str]] = {}
    for parent, child in zip(edges["parent"].tolist(), edges["child"].tolist(), strict=True):
        parents.setdefault(child, []).append(parent)
    return parents


def _model(run: Run, refined: Refined, node: str) -> "Model":
    """Not cached: it has several numbers per row and parent, and its summaries have few."""
    from disco.likelihood.model import Model
    from disco.refine.prior import BEFORE

    rows, around = _seen(run)
    parents = parents_of(refined.edges).get(node, [])
    return Model.of(rows[[node, *parents]], {node: parents} if parents else {}, adjustment=around, prior=BEFORE)


def curve(run: Run, refined: Refined, parent: str, child: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The response curve of an edge, and the observed means."""
    return _curves(run, refined, child)[parent]


@cached(_node)
def _curves(run: Run, refined: Refined, child: str) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    from disco.likelihood.covariates import rates

    model, (rows, around) = _model(run, refined, child), _seen(run)
    curves = {}
    for parent in parents_of(refined.edges)[child]:
        as_rates = rates(rows[[parent]].to_numpy(), around)
        along = rows[parent] if as_rates is None else pd.Series(as_rates[:, 0], rows.index)
        curves[parent] = model.curve(parent, child), fitted_model.binned(along, rows[child])
    return curves


@cached(_node)
def kind(run: Run, refined: Refined, node: str) -> "Kind":
    """What kind of count a node is."""
    from disco.likelihood.count_shapes import describe

    return describe(_model(run, refined, node), node, is_level=is_level(run))


def reversed_misfits(run: Run, refined: Refined, parent: str, child: str) -> pd.DataFrame:
    """The misfit of an edge's two nodes in nats, with the edge as it is and reversed: columns node, forwards, reversed.

    InputError if the refinement's graph and table do not fit.
    """
    from disco.likelihood.misfit import misfits
    from disco.likelihood.model import Model
    from disco.refine.prior import BEFORE

    parents = parents_of(refined.edges)
    above, siblings = parents.get(parent, []), [name for name in parents[child] if name != parent]
    names = list(dict.fromkeys([parent, child, *above, *siblings]))
    index = {name: number for number, name in enumerate(names)}
    around = adjustment(run)
    design = Model.of(table(run)[names], {}, adjustment=around, prior=BEFORE).design
    group = None if around is None else around.group
    graphs = {"forwards": (above, [*siblings, parent]), "reversed": ([*above, child], siblings)}
    frame = pd.DataFrame({"node": [parent, child]})
    for name, sets in graphs.items():
        pairs = [
            (index[node], [index[name] for name in nodes]) for node, nodes in zip((parent, child), sets, strict=True)
        ]
        frame[name] = misfits(design, pairs, group=group)
    return frame
