"""What the arms and contexts of a run changed, compared with its controls, and which of it the graph lacks."""

import pandas as pd

from disco.runs import Run
from disco.table.prepared import Prepared
from disco.words import how_many, series
from pages.shared.compute.cache import cached
from pages.shared.result.refinement import Refinement
from pages.shared.widgets.names import code

_WHY = "the change may reach it through other nodes, or its evidence is too weak"


@cached(lambda run, margin: (str(run.path), margin), "Comparing the arms with the controls …")
def contrasts(run: Run, margin: float) -> pd.DataFrame:
    """The run's contrasts, the surest first."""
    from disco import experiments  # imports scipy.stats

    frame = experiments.contrasts(prepared_rows(run), margin)
    return frame.sort_values(["q_value", "p_value"], ignore_index=True)


def prepared_rows(run: Run) -> Prepared:
    """The run's table with its roles."""
    return Prepared(run.table(), run.adjustment)


def lacking(refinement: Refinement, context: str = "", node: str = "") -> str:
    """A sentence on the nodes that changed with a context without an edge from it, of one context or node; or ""."""
    effects = refinement.refined.contexts
    if effects is None:
        return ""
    joined = {*zip(effects["context"], effects["node"], strict=True)}
    frame = contrasts(refinement.run, refinement.choice.margin)
    changed = frame[frame["changed"] & (frame["targets"].map(len) == 0)]
    levels = {pair: len(rows) for pair, rows in changed.groupby(["of", "node"], sort=False) if pair not in joined}
    levels = {pair: count for pair, count in levels.items() if context in ("", pair[0]) and node in ("", pair[1])}
    if not levels:
        return ""
    arms = [f"{code(to)} with {code(of)} ({how_many(count, 'arm')})" for (of, to), count in levels.items()]
    return f"Changed, without an edge in the graph: {series(arms)}. Effects need not have an edge: {_WHY}."
