"""What a list of runs says of each: size, states, numbers of edges."""

import os
from dataclasses import dataclass
from pathlib import Path

from disco.errors import InputError
from disco.runs import schema, stamps
from disco.runs.counts import read_shape
from disco.runs.folder import Run
from disco.runs.status import COMPARE, FIT, REFINE, Status


@dataclass(frozen=True)
class Summary:
    """A run in a few words.

    Attributes:
        run: the run.
        fit, refinement, comparison: where its work stands.
        shape: (rows, nodes) of its table; None if that cannot be read.
        bytes: on disk.
    """

    run: Run
    fit: Status
    refinement: Status
    comparison: Status
    shape: tuple[int, int] | None
    bytes: int

    @classmethod
    def of(cls, run: Run) -> "Summary":
        """The summary of a run; what cannot be read is None or a failed status, never an error."""
        try:
            shape = read_shape(run.path / "table.parquet")
        except InputError:
            shape = None
        fit, refinement, comparison = map(run.status, (FIT, REFINE, COMPARE))
        return cls(run, fit, refinement, comparison, shape, folder_bytes(run.path))


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder; links are not followed."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:  # deleted meanwhile
                continue
    return total


def edge_counts(run: Run) -> tuple[int | None, int | None]:
    """The numbers of edges of its fit and of its refinement; None without a result that can be read."""
    return (
        _rows(run, "edges.csv", schema.EDGES) if stamps.fit(run) else None,
        _rows(run, "refined_edges.csv", schema.REFINED_EDGES) if stamps.refinement(run) else None,
    )


def _rows(run: Run, name: str, columns: schema.Schema) -> int | None:
    try:
        return len(schema.read(run.path / name, columns, run.nodes, len(run.nodes) ** 2))
    except InputError:
        return None
