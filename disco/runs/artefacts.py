"""artefacts.json: what in a run's table creates edges (`disco.hidden.artefacts`), why some was dismissed, and doubts.

    {"found": [{"kind": "relation", "message": "c = a + b in every row.", "advice": "An edge …",
                "flag": "--without c", "columns": ["c"]}],
     "hidden": {"common": {"kind": "kinds", …}, "readings": null},
     "dismissed": {"relation": "The sum is meant."},
     "doubts": [{"kind": "rows", "message": "Row 5 (Bay 5) lies far from the others: …", "advice": "Find out why, …"}]}

Results are read with it: while an artefact stands, no direction is decided. `disco.runs.refined.dismiss` also writes
the edges of a refinement anew.
"""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from disco.errors import InputError, printable
from disco.fields import shown
from disco.files import read_record, unwritten, write_json
from disco.hidden.artefacts import SEARCHES, Artefacts, looked_for, search
from disco.runs import digests, stamps
from disco.runs.folder import Run
from disco.schema import record
from disco.table.artefacts import ARTEFACTS, plain_artefacts
from disco.table.finding import Finding
from disco.table.prepared import prepare
from disco.table.quality import DOUBTS

FILE = "artefacts.json"
LONGEST_REASON = 300  # characters
_LONGEST = 1000
_MOST_KEPT = 32  # of what the files of others' runs lack


@dataclass(frozen=True)
class _Shown:
    """A finding in artefacts.json."""

    kind: str
    message: str
    advice: str
    flag: str = ""  # missing in older runs, as the next one
    columns: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    """The content of artefacts.json; older runs have nothing hidden, as it was not looked for."""

    found: list[dict[str, Any]]
    dismissed: dict[str, str]
    hidden: dict[str, dict[str, Any] | None] | None = None
    doubts: list[dict[str, Any]] = field(default_factory=list)  # missing in older runs


def write(folder: Path, told: Artefacts, nodes: Sequence[str]) -> None:
    """Write them into a run's folder.

    Args:
        nodes: the names of the table's counts.

    Raises:
        OSError: they cannot be written.
    """

    def shown(one: Finding) -> dict[str, Any]:
        columns = [nodes[at] for at in one.columns]
        return dataclasses.asdict(_Shown(one.kind, one.message, one.advice, one.flag, columns))

    hidden = {which: None if one is None else shown(one) for which, one in told.hidden.items()}
    content = {"found": [*map(shown, told.plain)], "hidden": hidden, "dismissed": dict(told.reasons)}
    write_json(folder / FILE, digests.sealed({**content, "doubts": [*map(shown, told.doubts)]}, folder))


def of(run: Run) -> Artefacts:
    """The artefacts of a run's table; those of a run from an older version are looked for now, and kept.

    Raises:
        InputError: its table cannot be read.
    """
    with contextlib.suppress(OSError, ValueError):
        told, is_older = _read(run)
        if not (is_older or told.due):
            return told
    now = _completed(run, stamps.artefacts(run))
    if not run.is_read_only:
        with contextlib.suppress(OSError):
            write(run.path, now, run.nodes)
    return now


def _read(run: Run) -> tuple[Artefacts, bool]:
    """The content of artefacts.json, and whether an older version wrote it; ValueError if it is damaged."""
    values = read_record(run.path / FILE)
    if not digests.is_sealed(values, run.path):
        raise ValueError("it was changed, or belongs to another run")
    told = record(_File, values)
    kinds = {*ARTEFACTS}.difference(*SEARCHES.values())
    found = [_finding(run, one, {*ARTEFACTS}) for one in told.found[: len(ARTEFACTS)]]
    searched = told.hidden or {}
    hidden = {
        which: None if (one := searched[which]) is None else _finding(run, one, able)
        for which, able in SEARCHES.items()
        if which in searched
    }
    reasons = {kind: printable(why, LONGEST_REASON) for kind, why in told.dismissed.items() if kind in ARTEFACTS}
    doubts = tuple(_finding(run, one, {*DOUBTS}) for one in told.doubts[: len(ARTEFACTS)])
    return Artefacts(tuple(one for one in found if one.kind in kinds), hidden, reasons, doubts), told.hidden is None


def _finding(run: Run, told: Mapping[str, Any], kinds: set[str]) -> Finding:
    one = record(_Shown, told)
    if one.kind not in kinds:
        raise ValueError(f"there is no artefact {printable(one.kind, 40)!r}")
    columns = tuple(run.nodes.index(name) for name in one.columns)
    message, advice, flag = (printable(text, _LONGEST) for text in (one.message, one.advice, one.flag))
    return Finding(one.kind, message, advice, columns, flag=flag)


@lru_cache(_MOST_KEPT)
def _completed(run: Run, stamp: int) -> Artefacts:
    """The artefacts of a run whose file lacks some or all; of what was left aside, only an older file knows."""
    try:
        told, is_older = _read(run)
    except (OSError, ValueError):
        return looked_for(run.table(), run.adjustment, left_out=run.rows_left_out)
    if is_older:
        now = plain_artefacts(run.table(), run.adjustment, pd.DataFrame())
        columns = {one.kind: one.columns for one in now}
        told = replace(told, plain=tuple(replace(one, columns=columns.get(one.kind, ())) for one in told.plain))
    return _searched(run, told)


def _searched(run: Run, told: Artefacts) -> Artefacts:
    """The same after every search of the run's table that is due."""
    return told.searched(lambda which: search(prepare(run.table(), run.adjustment, folds=None), told.plain, which))


def sentences(run: Run) -> tuple[str, ...]:
    """A sentence or two for every artefact that was not dismissed; errors as `of`."""
    return tuple(map(str, of(run).standing))


def check_there(kinds: Iterable[str], told: Artefacts) -> None:
    """Refuse to dismiss what was not found.

    Raises:
        InputError: a table with these artefacts has none of a kind.
    """
    there = [one.kind for one in told.found]
    if absent := [kind for kind in kinds if kind not in there]:
        has = f"it has {', '.join(there)}" if there else "it has none"
        raise InputError(f"The table has no artefact {shown(absent[0])} to dismiss; {has}.")


def dismiss(run: Run, reasons: Mapping[str, str]) -> None:
    """Say why some artefacts are none, or with an empty reason that they are; other kinds stay as they are.

    A reason is kept while its artefact is not looked for because another one stands again.

    Args:
        reasons: by kind.

    Raises:
        InputError: the run has no artefact of a kind, or it cannot be written.
    """
    changed = {kind: printable(" ".join(why.split()), LONGEST_REASON) for kind, why in reasons.items()}
    before = of(run)
    after = {kind: why for kind, why in {**before.reasons, **changed}.items() if why}
    told = _searched(run, replace(before, reasons=after))
    check_there([kind for kind in changed if kind not in before.reasons], told)
    try:
        write(run.path, told, run.nodes)
    except OSError as error:
        raise unwritten(run.path, error) from error
