"""The refinement of a run, to ask for effects."""

from disco.effects.fitted import FittedGraphs
from disco.refine.fitted_graphs import fitted_graphs
from disco.runs.folder import Run
from disco.runs.refined import read_refined


def fitted(run: Run) -> FittedGraphs:
    """The graphs that a run's refinement leaves, with its table; the run is only read.

    Raises:
        InputError: it has no refinement, or its files are damaged.
    """
    return fitted_graphs(read_refined(run), run.table(), roles=run.adjustment, knowledge=run.knowledge())
