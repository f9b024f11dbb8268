"""A run's entry in a list: size, states, numbers of edges."""

import contextlib
from dataclasses import dataclass

from disco import columns, schema
from disco.errors import InputError
from disco.files import folder_bytes, read_record
from disco.runs.folder import Run
from disco.runs.status import Status, Work
from disco.subjects import WORKS
from disco.subjects.fit.results import StoredFit


@dataclass(frozen=True)
class Summary:
    """A run in a few words; `shape` is (rows, nodes), None if its table is unreadable, and `bytes` its size on disk."""

    run: Run
    statuses: dict[Work, Status]
    shape: tuple[int, int] | None
    bytes: int

    @classmethod
    def of(cls, run: Run) -> "Summary":
        """The summary of a run; unreadable content becomes None or a failed status, never an error."""
        try:
            shape = run.shape
        except InputError:
            shape = None
        return cls(run, {work: run.status(work) for work in WORKS}, shape, folder_bytes(run.path))


def edge_counts(run: Run) -> tuple[int | None, int | None]:
    """The numbers of edges of its fit and its refinement; None without a readable result."""
    fitted = refined = None
    with contextlib.suppress(InputError):
        fitted = len(StoredFit(run).edges())
    with contextlib.suppress(InputError, OSError):
        edges = schema.read(run.path / "refined_edges.csv", columns.REFINED_EDGES, run.nodes, len(run.nodes) ** 2)
        count = read_record(run.path / "refined.json").get("edges", len(edges))
        refined = len(edges) if count == len(edges) else None
    return fitted, refined
