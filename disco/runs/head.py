"""settings.json: a run's identity and settings. It is checked on reading, since a page lists every folder.

It never changes. A new name is stored beside it, in name.txt.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from disco.devices import DEVICES
from disco.errors import InputError, printable
from disco.fields import older
from disco.files import read_bytes, read_record, unwritten, write_bytes
from disco.paper.settings import Settings
from disco.schema import record

FORMAT = 1  # of a run folder; increased when older versions of DISCO can no longer read it

_MOST_FOLDS = 1000  # pages draw every fold
_LONGEST_NAME, _LONGEST_SOURCE = 200, 2000
_NAME_BYTES = 1 << 12
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Behaviour of fits before these settings existed.
_BEFORE = {**vars(Settings.of("paper")), **older(Settings)}
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Head:
    """The content of settings.json; fields missing in older versions have defaults. A ValueError if one is invalid.

    Attributes:
        id: letters and digits for a URL; empty if the file has no valid one.
        name, source: text without control characters.
        device: auto, cpu or cuda.
        teaching: whether pages hide the truth at first.
        rows, nodes: the table's shape; 0 if not in the file.
        rows_left_out: rows of the loaded table that are not in the run's, as stretches: first and last, from 1.
        digests: of the files made with the run (`disco.runs.digests`).
    """

    format: int
    id: str = ""
    name: str = ""
    source: str = ""
    created: str = "1970-01-01T00:00:00+00:00"
    device: str = "auto"
    teaching: bool = False
    rows: int = 0
    nodes: int = 0
    rows_left_out: list[list[int]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.format < 1:
            raise ValueError(f"format is {self.format}")
        if self.device not in DEVICES:
            raise ValueError(f"device is {printable(self.device, 20)!r}, not auto, cpu or cuda")
        try:
            is_possible = _FIRST <= self.moment <= _LAST
        except (ValueError, OverflowError):
            is_possible = False
        if not is_possible:
            raise ValueError(f"created is {printable(self.created, 40)!r}, not a date and time")
        previous = 0
        for stretch in self.rows_left_out:
            if len(stretch) != 2 or not previous < stretch[0] <= stretch[1]:
                raise ValueError(f"rows_left_out has {printable(str(stretch), 40)}, not rows after {previous}")
            previous = stretch[1]
        for name, longest in (("name", _LONGEST_NAME), ("source", _LONGEST_SOURCE)):
            object.__setattr__(self, name, printable(getattr(self, name), longest))
        object.__setattr__(self, "id", self.id if _ID.fullmatch(self.id) else "")

    @property
    def moment(self) -> datetime:
        """`created`, with a time zone."""
        then = datetime.fromisoformat(self.created)
        return then if then.tzinfo else then.astimezone()

    def checked_settings(self) -> Settings:
        """The settings of the fit; a setting newer than the run has its former value. A ValueError if one is invalid.

        The file's preset is ignored: it follows from the values.
        """
        for name, value in self.settings.items():
            if isinstance(value, int | float) and not abs(value) < 2**53:
                raise ValueError(f"{printable(name, 40)} is out of range")
        settings = Settings.from_dict({**_BEFORE, **self.settings})
        if settings.folds > _MOST_FOLDS:
            raise ValueError(f"folds is {settings.folds}, more than {_MOST_FOLDS}")
        return settings


def read_head(folder: Path) -> tuple[Head, Settings]:
    """The content of a run's settings.json, and its settings."""
    path = folder / "settings.json"
    try:
        values = read_record(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} is not a run of DISCO: it has no settings.json.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    written = values.get("format")
    if isinstance(written, int) and FORMAT < written < 1000:
        raise InputError(
            f"{folder} was written by a newer version of DISCO (run format {written}, this one reads up to {FORMAT}): "
            "upgrade DISCO to open it."
        )
    try:
        head = record(Head, values)
        return head, head.checked_settings()
    except ValueError as error:
        raise InputError(f"{path} is damaged: {str(error).rstrip('.')}. Restore the file, or delete the run.") from None


def read_name(folder: Path) -> str:
    """The new name of a run; empty if it has none, or if its file cannot be read."""
    try:
        text = read_bytes(folder / "name.txt", _NAME_BYTES).decode()
    except (OSError, ValueError):
        return ""
    return printable(" ".join(text.split()), _LONGEST_NAME)


def write_name(folder: Path, name: str) -> None:
    """Give a run a new one-line name; an empty one restores the original name."""
    text = printable(" ".join(name.split()), len(name))
    if len(text) > _LONGEST_NAME:
        raise InputError(f"The name has {len(text)} characters; the limit is {_LONGEST_NAME}.")
    try:
        if text:
            write_bytes(folder / "name.txt", text.encode(errors="replace"))
        else:
            (folder / "name.txt").unlink(missing_ok=True)
    except OSError as error:
        raise unwritten(folder, error) from error
