"""artefacts.json: what in a run's table creates edges (`disco.hidden.artefacts`), and why some of it was dismissed.

    {"found": [{"kind": "depth", "message": "Totals explain …", "advice": "Edges may …", "flag": "--exposure total"}],
     "dismissed": {"depth": "The plots are of one size."}}

Results are read with it: while an artefact stands, no direction is decided. `disco.runs.refined.dismiss` also writes
the edges of a refinement anew.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from disco.errors import InputError, printable
from disco.files import read_record, unwritten, write_json
from disco.hidden.artefacts import HIDDEN, artefacts, of_hidden
from disco.runs.folder import Run
from disco.schema import record
from disco.table.artefacts import ARTEFACTS
from disco.table.finding import Finding
from disco.table.prepared import prepare
from disco.table.roles import Given

FILE = "artefacts.json"
LONGEST_REASON = 300  # characters
_LONGEST = 1000
_SHOWN = ("kind", "message", "advice", "flag")


@dataclass(frozen=True)
class Artefacts:
    """The artefacts of a run's table.

    Attributes:
        found: all of them, worst first.
        dismissed: why some kinds of them are none, by kind.
    """

    found: tuple[Finding, ...]
    dismissed: Mapping[str, str] = field(default_factory=dict)

    @property
    def standing(self) -> tuple[Finding, ...]:
        """Those that were not dismissed."""
        return tuple(one for one in self.found if one.kind not in self.dismissed)


@dataclass(frozen=True)
class _File:
    """The content of artefacts.json."""

    found: list[dict[str, str]]
    dismissed: dict[str, str]


def looked_for(
    table: pd.DataFrame,
    roles: Given | None,
    aside: pd.DataFrame | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Artefacts:
    """The artefacts of a table, and why some are none; a reason for what is not found has no effect.

    Args:
        table, roles, aside: as for `disco.hidden.artefacts.artefacts`.
        reasons: by kind.

    Raises:
        InputError: the table or its roles cannot be used.
    """
    told = Artefacts(artefacts(table, roles, aside))
    return _dismissed(_with_hidden(_dismissed(told, reasons or {}), table, roles), reasons or {})


def _dismissed(told: Artefacts, reasons: Mapping[str, str]) -> Artefacts:
    """The artefacts with reasons, by kind; what was not found has none, nor what has an empty one."""
    reasons = {**told.dismissed, **reasons}
    return replace(told, dismissed={one.kind: why for one in told.found if (why := reasons.get(one.kind))})


def _with_hidden(told: Artefacts, table: pd.DataFrame, roles: Given | None) -> Artefacts:
    """The artefacts with those of `disco.hidden` that are looked for only once others are dismissed."""
    if not told.dismissed or not HIDDEN.isdisjoint(one.kind for one in told.found):
        return told
    given = prepare(table, roles, folds=None)
    return replace(told, found=(*told.found, *of_hidden(given, told.standing, told.dismissed)))


def write(folder: Path, told: Artefacts) -> None:
    """Write them into a run's folder.

    Raises:
        OSError: they cannot be written.
    """
    found = [{name: getattr(one, name) for name in _SHOWN} for one in told.found]
    write_json(folder / FILE, {"found": found, "dismissed": dict(told.dismissed)})


def of(run: Run) -> Artefacts:
    """The artefacts of a run's table; those of a run from an older version are looked for now, and kept.

    Raises:
        InputError: its table cannot be read.
    """
    try:
        told = record(_File, read_record(run.path / FILE))
        found = tuple(map(_finding, told.found[: len(ARTEFACTS)]))
        dismissed = {kind: printable(why, LONGEST_REASON) for kind, why in told.dismissed.items() if kind in ARTEFACTS}
        return Artefacts(found, dismissed)
    except (OSError, ValueError, KeyError):
        now = looked_for(run.table(), run.adjustment)
    with contextlib.suppress(OSError):
        write(run.path, now)
    return now


def _finding(told: Mapping[str, str]) -> Finding:
    kind, message, advice = (printable(told[name], _LONGEST) for name in ("kind", "message", "advice"))
    return Finding(kind, message, advice, flag=printable(told.get("flag", ""), _LONGEST))  # new: older runs have none


def sentences(run: Run) -> tuple[str, ...]:
    """A sentence or two for every artefact that was not dismissed; errors as `of`."""
    return tuple(map(str, of(run).standing))


def dismiss(run: Run, reasons: Mapping[str, str]) -> None:
    """Say why some artefacts are none, or with an empty reason that they are; other kinds stay as they are.

    Args:
        reasons: by kind.

    Raises:
        InputError: the run has no artefact of a kind, or it cannot be written.
    """
    changed = {kind: printable(" ".join(why.split()), LONGEST_REASON) for kind, why in reasons.items()}
    told = _with_hidden(_dismissed(of(run), changed), run.table(), run.adjustment)
    kinds = [one.kind for one in told.found]
    if absent := [kind for kind in changed if kind not in kinds]:
        there = f"it has {', '.join(kinds)}" if kinds else "it has none"
        raise InputError(f"The table has no artefact {printable(absent[0], 40)!r} to dismiss; {there}.")
    try:
        write(run.path, _dismissed(told, changed))
    except OSError as error:
        raise unwritten(run.path, error) from error
