"""Why a fit has almost no edges, and the commands to try then."""

import contextlib
import shlex

from disco.errors import InputError
from disco.paper.support import ENOUGH, coded, level_support
from disco.runs import Run
from disco.selectors.sparse import LOWER, is_sparse, other_rules
from disco.subjects.fit.results import StoredFit
from disco.table.dispersion import few_rows
from disco.words import how_many


def cause(run: Run) -> str:
    """The likeliest cause of a fit that keeps almost no edge, and what helps, in a sentence or two.

    Ranks with few rows per level, too few rows for so many columns, or else weak effects.
    """
    settings, prepared = run.settings, run.prepared(run.settings.folds)
    thin = level_support(*coded(prepared, settings), settings.min_level_rows)["kept"] < ENOUGH
    if settings.transform == "rank" and thin.any():
        return (
            f"In {thin.sum()} of {how_many(len(thin), 'column')}, more than a fifth of the rows have a count that few "
            "rows share, so the networks learn little there. A new fit with quantile levels (Preprocess) pools them."
        )
    weak = f"No effect may be strong enough for {how_many(len(prepared.counts), 'row')}. More rows help."
    return few_rows(*prepared.counts.shape) or weak


def advice(run: Run, edges: int, selector: str, rule: str) -> str | None:
    """A sentence with commands for more edges than a finished run's current graph; None unless it is almost empty.

    Args:
        edges: number of edges in the current graph.
        selector: the selector of the graph: ocs, cam, pcm or evidence.
        rule: rule of the OCS, iqr or jackknife.
    """
    nodes = len(run.nodes)
    if not is_sparse(edges, nodes):
        return None
    path = shlex.quote(str(run.path))
    commands = []
    if selector == "ocs":
        typed = {"lower": "--rule iqr --tau-z {:g} --pi-min {:g}".format(*LOWER), "jackknife": "--rule jackknife"}
        counts = {}
        with contextlib.suppress(InputError):  # damaged candidates must not block the current graph
            counts = other_rules(StoredFit(run).ocs, run.settings, rule, edges)
        commands = [f"`disco graph {path} {typed[name]}` ({how_many(count, 'edge')})" for name, count in counts.items()]
    if selector != "evidence":
        commands.append(f"`disco graph {path} --parents evidence`")
    commands.append(f"`disco refine {path}`")
    return f"Few edges: {edges:,} among {how_many(nodes, 'node')}. Try {' or '.join(commands)}."
