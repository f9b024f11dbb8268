"""The refinement of a run, to ask for effects."""

from disco.effects.graph_fits import FittedGraphs
from disco.progress import Callback
from disco.refine.fitted_graphs import fitted_graphs
from disco.runs.folder import Run
from disco.subjects.refinement.refined import read_refined


def fitted(run: Run, callback: Callback | None = None) -> FittedGraphs:
    """The graphs compatible with a run's refinement, with its table; the run is only read."""
    refined, table = read_refined(run), run.table()
    return fitted_graphs(refined, table, roles=run.adjustment, knowledge=run.knowledge(), callback=callback)
