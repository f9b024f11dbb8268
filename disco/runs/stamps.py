"""When a run's results were written, in nanoseconds since 1970; 0 without a result."""

from pathlib import Path

from disco.errors import InputError
from disco.runs.folder import Run


def table(run: Run) -> int:
    """Of its table, which is written once."""
    return _of(run.path / "table.parquet")


def fit(run: Run, variant: str | None = None) -> int:
    """Of the fit's result, or of that of another variant."""
    try:
        return _of(run.result_path(variant) / "edges.csv")
    except InputError:
        return 0


def networks(run: Run) -> int:
    """Of the fitted networks."""
    return _of(run.path / "networks.safetensors")


def refinement(run: Run) -> int:
    """Of the refinement's result, or of later dismissals, which change its decisions."""
    stamp = _of(run.path / "refined.json")
    return stamp and max(stamp, artefacts(run))


def artefacts(run: Run) -> int:
    """Of the artefacts in its table, and of the reasons for dismissing some."""
    return _of(run.path / "artefacts.json")


def comparison(run: Run) -> int:
    """Of the last method that ended beside the run."""
    return max(map(_of, run.path.glob("compare/*/result.json")), default=0)


def truth(run: Run) -> int:
    """Of the true edges."""
    return _of(run.path / "truth.csv")


def _of(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
