"""The next experiment of a run: its refinement, with the table and the rules that the refinement had."""

from collections.abc import Sequence

from disco.progress import Callback
from disco.refine import next_experiment
from disco.refine.settling import Next
from disco.runs.folder import Run
from disco.subjects.refinement.refined import read_refined


def of(
    run: Run, nodes: Sequence[str] | None = None, *, with_rows: bool = True, callback: Callback | None = None
) -> Next:
    """What setting each node would settle.

    Args:
        nodes: those that can be set; all by default.
        with_rows: whether to predict how many rows an experiment needs; slower.
    """
    refined, adjustment = read_refined(run), run.adjustment
    has_experiments = adjustment is not None and adjustment.interventions is not None
    table = run.table() if with_rows or has_experiments else None
    roles = None if table is None else adjustment
    return next_experiment(
        refined, table, roles=roles, knowledge=run.knowledge(), nodes=nodes, with_rows=with_rows, callback=callback
    )
