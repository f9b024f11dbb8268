"""artefacts.json: what in a run's table creates edges, why some was dismissed, and doubts.

    {"found": [{"kind": "relation", "message": "c = a + b in every row.", "advice": "An edge …",
                "flag": "--without c", "columns": ["c"]}],
     "hidden": {"common": {"kind": "kinds", …}, "readings": null},
     "dismissed": {"relation": "The sum is meant."},
     "doubts": [{"kind": "rows", "message": "Row 5 (Bay 5) lies far from the others: …", "advice": "Find out why, …"}]}

Results are read with it: while an artefact stands, no direction is decided. What is hidden may be missing from the file
of a new run: its first work adds it (`complete`). `disco.subjects.refinement.refined.dismiss` also writes the edges of
a refinement anew.
"""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from disco.errors import InputError, printable
from disco.fields import shown
from disco.files import read_record, unwritten, write_json
from disco.hidden.all_artefacts import SEARCHES, Artefacts, finished, looked_for
from disco.progress import SILENT, Callback, Reporter
from disco.runs import digests, file_times
from disco.runs.folder import Run
from disco.schema import record
from disco.table.artefacts import ARTEFACTS, plain_artefacts
from disco.table.edits import Columns
from disco.table.finding import Finding
from disco.table.prepared import prepare
from disco.table.quality import DOUBTS

FILE = "artefacts.json"
LONGEST_REASON = 300  # characters
_LONGEST = 1000
_MOST_KEPT = 32  # of what the files of others' runs lack


@dataclass(frozen=True)
class _Shown:
    """A finding in artefacts.json; `columns` are those that its remedy, `advice`, leaves out."""

    kind: str
    message: str
    advice: str
    flag: str = ""  # missing in older runs, like the next one
    columns: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _ArtefactsFile:
    """The content of artefacts.json; `hidden` is None in older runs, which did not look for it."""

    found: list[dict[str, Any]]
    dismissed: dict[str, str]
    hidden: dict[str, dict[str, Any] | None] | None = None
    doubts: list[dict[str, Any]] = field(default_factory=list)  # missing in older runs


def write(folder: Path, artefacts: Artefacts) -> None:
    """Write them into a run's folder; an OSError if they cannot be written."""

    def entry(finding: Finding) -> dict[str, Any]:
        without = list(finding.without)
        return dataclasses.asdict(_Shown(finding.kind, finding.message, finding.remedy, finding.flag, without))

    hidden = {which: None if finding is None else entry(finding) for which, finding in artefacts.hidden.items()}
    content = {"found": [*map(entry, artefacts.plain)], "hidden": hidden, "dismissed": dict(artefacts.reasons)}
    write_json(folder / FILE, digests.sealed({**content, "doubts": [*map(entry, artefacts.doubts)]}, folder))


def of(run: Run) -> Artefacts:
    """The artefacts of a run's table; some of a new run may be `due`. What an older version lacks is added once."""
    with contextlib.suppress(OSError, ValueError):
        artefacts, is_older = _read(run)
        if not is_older:
            return artefacts
    return _stored(run, _completed(run, file_times.artefacts(run)))


def complete(run: Run, callback: Callback | None = None) -> Artefacts:
    """The artefacts of a run's table after the searches that are due, which may take minutes; then they are stored.

    `callback` receives the events, whose stages are the searches; False stops.
    """
    artefacts, reporter = of(run), Reporter(callback, dict.fromkeys(SEARCHES, 1.0))
    while artefacts.due:
        hidden = _finished(run, artefacts, reporter).hidden
        artefacts = _stored(run, replace(of(run), hidden=hidden))  # some may have been dismissed meanwhile
    return artefacts


def _stored(run: Run, artefacts: Artefacts) -> Artefacts:
    if not run.is_read_only:
        with contextlib.suppress(OSError):
            write(run.path, artefacts)
    return artefacts


def _read(run: Run) -> tuple[Artefacts, bool]:
    """The content of artefacts.json, and whether an older version wrote it; ValueError if it is damaged."""
    values = read_record(run.path / FILE)
    if not digests.is_sealed(values, run.path):
        raise ValueError("it was changed, or belongs to another run")
    content = record(_ArtefactsFile, values)
    kinds = {*ARTEFACTS}.difference(*SEARCHES.values())
    plain = [_finding(run, item, {*ARTEFACTS}) for item in content.found[: len(ARTEFACTS)]]
    searched = content.hidden or {}
    hidden = {
        which: None if (item := searched[which]) is None else _finding(run, item, able)
        for which, able in SEARCHES.items()
        if which in searched
    }
    reasons = {kind: printable(why, LONGEST_REASON) for kind, why in content.dismissed.items() if kind in ARTEFACTS}
    doubts = tuple(_finding(run, item, {*DOUBTS}) for item in content.doubts[: len(ARTEFACTS)])
    plain = [item for item in plain if item.kind in kinds]
    return Artefacts(tuple(plain), hidden, reasons, doubts), content.hidden is None


def _finding(run: Run, values: Mapping[str, Any], kinds: set[str]) -> Finding:
    entry = record(_Shown, values)
    if entry.kind not in kinds:
        raise ValueError(f"there is no artefact {printable(entry.kind, 40)!r}")
    if unknown := {*entry.columns}.difference(run.nodes):
        raise ValueError(f"there is no column {printable(min(unknown), 40)!r}")
    message, remedy, flag = (printable(text, _LONGEST) for text in (entry.message, entry.advice, entry.flag))
    columns = tuple(entry.columns)
    edits = (Columns(without=columns),) if columns else ()
    return Finding(entry.kind, message, remedy, columns=columns, edits=edits, flag=flag)


@lru_cache(_MOST_KEPT)
def _completed(run: Run, stamp: int) -> Artefacts:
    """The artefacts of a run whose file lacks some or all; only an older file knows the ignored columns."""
    try:
        artefacts, is_older = _read(run)
    except (OSError, ValueError):
        return looked_for(run.table(), run.adjustment, left_out=run.rows_left_out)
    if is_older:
        computed = plain_artefacts(run.table(), run.adjustment, pd.DataFrame())
        edits = {item.kind: item.edits for item in computed}
        plain = tuple(replace(item, edits=edits.get(item.kind, ())) for item in artefacts.plain)
        artefacts = replace(artefacts, plain=plain)
    return _finished(run, artefacts)


def _finished(run: Run, artefacts: Artefacts, reporter: Reporter = SILENT) -> Artefacts:
    if not artefacts.due:
        return artefacts
    return finished(artefacts, prepare(run.table(), run.adjustment, folds=None), reporter)


def sentences(run: Run) -> tuple[str, ...]:
    """A sentence or two for every artefact that was not dismissed; errors as `of`."""
    return tuple(map(str, of(run).standing))


def check_there(kinds: Iterable[str], artefacts: Artefacts) -> None:
    """Refuse, with an `InputError`, to dismiss a kind of artefact that the table does not have."""
    there = [finding.kind for finding in artefacts.found]
    if absent := [kind for kind in kinds if kind not in there]:
        has = f"it has {', '.join(there)}" if there else "it has none"
        raise InputError(f"The table has no artefact {shown(absent[0])} to dismiss; {has}.")


def dismiss(run: Run, reasons: Mapping[str, str]) -> None:
    """Dismiss artefacts with a reason by kind; an empty reason restores one, and other kinds stay as they are.

    A reason is kept while its artefact is not looked for because another one stands again. An `InputError` if the run
    has no artefact of a kind.
    """
    changed = {kind: printable(" ".join(why.split()), LONGEST_REASON) for kind, why in reasons.items()}
    previous = of(run)
    remaining = {kind: why for kind, why in {**previous.reasons, **changed}.items() if why}
    artefacts = replace(previous, reasons=remaining)
    artefacts = artefacts if previous.due else _finished(run, artefacts)  # what is due is left to the run's work
    check_there([kind for kind in changed if kind not in previous.reasons], artefacts)
    try:
        write(run.path, artefacts)
    except OSError as error:
        raise unwritten(run.path, error) from error
