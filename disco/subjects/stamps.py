"""When the results of a run were written, in nanoseconds since 1970; 0 without a result."""

from disco.errors import InputError
from disco.runs.file_times import artefacts, of_file, table, truth
from disco.runs.folder import Run
from disco.subjects.fit.results import NETWORKS, StoredFit

__all__ = ["artefacts", "comparison", "fit", "networks", "refinement", "table", "truth"]


def fit(run: Run, variant: str | None = None) -> int:
    """Of the fit's result, or of that of another variant."""
    try:
        return of_file(StoredFit(run, variant).folder / "edges.csv")
    except InputError:
        return 0


def networks(run: Run) -> int:
    """Of the fitted networks."""
    return of_file(run.path / NETWORKS)


def refinement(run: Run) -> int:
    """Of the refinement's result, or of later dismissals, which change its decisions."""
    stamp = of_file(run.path / "refined.json")
    return stamp and max(stamp, artefacts(run))


def comparison(run: Run) -> int:
    """Of the last method that ended beside the run."""
    return max(map(of_file, run.path.glob("compare/*/result.json")), default=0)
