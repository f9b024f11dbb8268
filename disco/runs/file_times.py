"""When files of a run were written, in nanoseconds since 1970; 0 without the file."""

from pathlib import Path

from disco.runs.folder import Run


def table(run: Run) -> int:
    """Of its table, which is written once."""
    return of_file(run.path / "table.parquet")


def artefacts(run: Run) -> int:
    """Of the artefacts in its table, and of the reasons for dismissing some."""
    return of_file(run.path / "artefacts.json")


def truth(run: Run) -> int:
    """Of the true edges."""
    return of_file(run.path / "truth.csv")


def of_file(path: Path) -> int:
    """When a file was written."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
