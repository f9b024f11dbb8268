"""origin.json: how a run's table came to be, so that a script can make it again (`disco.reports.script`).

{"source": {"from": "FromFile", "name": "counts.csv", "sha256": "9f86…", "reading": {"decimal": ","}},
 "edits": [{"edit": "LeaveOut", "rows": [[3, 3]]}, {"edit": "Columns", "without": ["date"]}],
 "ignored": ["plot_type"]}
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from disco.files import read_json, write_json
from disco.runs import digests
from disco.runs.folder import Run
from disco.schema import record
from disco.table.edits import EDITS, Columns, Edit, ReadAgain, as_json

FILE = "origin.json"
_MOST_BYTES = 1 << 24  # kinds of rows take a byte for each


class _From:
    """Where a table comes from; `caution`, often empty, says what the reader of a result must know of such tables."""

    caution: ClassVar[str] = ""


@dataclass(frozen=True)
class FromFile(_From):
    """A file, read by `disco.table.read.read_table`.

    Attributes:
        name: its name, or its path as it was given.
        sha256: of its content; empty for a folder.
        reading: the choices given; the others were detected.
    """

    name: str
    sha256: str = ""
    reading: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ReadAgain(self.reading)


@dataclass(frozen=True)
class FromLahman(_From):
    """The batting counts of `disco.subjects.studies.lahman.cohort`."""

    first: int
    last: int

    caution: ClassVar[str] = (
        "Batting counts lie outside DISCO's model class, because many follow from others by accounting: a known "
        "direction is one by the model, not one of baseball."
    )


@dataclass(frozen=True)
class FromPortal(_From):
    """The captures of `disco.subjects.studies.portal.table`, or of `trial` if there is a comparison."""

    plots: tuple[str, ...]
    species: tuple[str, ...]
    comparison: str = ""


@dataclass(frozen=True)
class FromDesign(_From):
    """A simulated table, by its design (`disco.simulate.Design`)."""

    design: dict[str, Any]


Source: TypeAlias = FromFile | FromLahman | FromPortal | FromDesign
_SOURCES = (FromFile, FromLahman, FromPortal, FromDesign)


@dataclass(frozen=True)
class Origin:
    """How a table came to be.

    Attributes:
        edits: its changes, in turn; the last one chooses the columns.
        ignored: ignored columns that may drive the counts (`disco.table.artefacts`).
    """

    source: Source
    edits: tuple[Edit, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class _OriginFile:
    """The content of origin.json."""

    source: dict[str, Any]
    edits: list[dict[str, Any]]
    ignored: list[str]


def write(folder: Path, origin: Origin) -> None:
    """Write an origin into a run's folder."""
    source = {"from": type(origin.source).__name__, **dataclasses.asdict(origin.source)}
    edits = [*map(as_json, origin.edits)]
    write_json(folder / FILE, {"source": source, "edits": edits, "ignored": list(origin.ignored)})


def of(run: Run) -> Origin | None:
    """How a run's table came to be; None if that is not known, as for a run of an older version."""
    try:
        content = record(_OriginFile, read_json(digests.checked(run.path / FILE, run.digests), _MOST_BYTES))
        source: Source = _of_kind(_SOURCES, "from", content.source)
        return Origin(source, tuple(_of_kind(EDITS, "edit", edit) for edit in content.edits), tuple(content.ignored))
    except (OSError, ValueError):
        return None


def of_table(run: Run) -> Origin | None:
    """How the counts of a run and its columns with a role came to be, without ignored columns."""
    origin = of(run)
    if origin is None or not origin.ignored:
        return origin
    return dataclasses.replace(origin, edits=(*origin.edits, Columns(without=origin.ignored)), ignored=())


def _of_kind(kinds: tuple[type, ...], field: str, values: Mapping[str, Any]) -> Any:
    """The source or change that JSON describes; ValueError if it describes neither."""
    kind = next((candidate for candidate in kinds if candidate.__name__ == values.get(field)), None)
    if kind is None:
        raise ValueError(f"there is no {field} {values.get(field)!r}")
    return record(kind, values)
