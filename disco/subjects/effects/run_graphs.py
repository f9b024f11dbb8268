"""The refinement of a run, to ask for effects."""

from collections.abc import Mapping

from disco.effects.graph_fits import FittedGraphs
from disco.progress import Callback
from disco.refine import over_time as responses
from disco.refine.fitted_graphs import fitted_graphs
from disco.runs.folder import Run
from disco.subjects.refinement.refined import read_refined


def fitted(run: Run, callback: Callback | None = None) -> FittedGraphs:
    """The graphs compatible with a run's refinement, with its table; the run is only read."""
    refined, table = read_refined(run), run.table()
    return fitted_graphs(refined, table, roles=run.adjustment, knowledge=run.knowledge(), callback=callback)


def over_time(
    run: Run, on: str, do: Mapping[str, float], steps: int, is_steady: bool, callback: Callback | None = None
) -> responses.Response:
    """The response over time in a run's refinement (`disco.refine.over_time`)."""
    refined, table, roles = read_refined(run), run.table(), run.adjustment
    return responses.over_time(refined, table, on, do, roles=roles, steps=steps, is_steady=is_steady, callback=callback)
