"""The status of a run, one record in status.json."""

import dataclasses
import platform
import socket
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from disco import __version__
from disco.errors import InputError
from disco.runs.files import read_record
from disco.runs.schema import fits, printable, record

UNFINISHED = ("queued", "running")
RESUMABLE = ("unfitted", "queued", "cancelled", "failed", "interrupted")
STATES = (*RESUMABLE, "running", "done")
_STAGES = ("", "joint", "projection", "ordering", "parents", "selector")
_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class Status:
    """The status of a run; only the holder of its lock writes it.

    Attributes:
        state: unfitted (no fit was asked for, for example if a table is only refined), queued, running, done,
            cancelled, failed, or interrupted (its process died, which shows only by the lock that nobody holds).
        stage: joint, projection, ordering or parents; empty before the first.
        done, total: epochs or nodes of the stage.
        progress: share of the whole fit, 0 to 1.
        eta: seconds left, None while unknown.
        error: one sentence if the run failed.
        seconds: seconds of fitting, summed over its resumptions.
        device: where it runs or ran: cpu or cuda.
        estimate: {seconds, bytes, by_stage} estimated before the start.
        seconds_off, bytes_off: measured divided by estimated, once done.
        peak_bytes: peak memory of the process or the device.
        best_epochs: stage → best epoch of each fold.
        queued_at: seconds since 1970; the order of the queue.
    """

    state: str = "unfitted"
    stage: str = ""
    done: int = 0
    total: int = 0
    progress: float = 0.0
    eta: float | None = None
    message: str = ""
    error: str | None = None
    seconds: float = 0.0
    device: str = ""
    host: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    estimate: dict[str, Any] | None = None
    seconds_off: float | None = None
    bytes_off: float | None = None
    peak_bytes: int | None = None
    best_epochs: dict[str, list[int]] = field(default_factory=dict)
    rows_used: int | None = None
    queued_at: float = 0.0
    finished_at: float | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Status":
        """A status from JSON; fields that this version does not know are left out."""
        known = {item.name for item in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary for JSON."""
        return dataclasses.asdict(self)

    @property
    def active(self) -> bool:
        """Whether it is queued or running, by a living process."""
        return self.state in UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether it can be started or resumed."""
        return self.state in RESUMABLE


def read_status(path: Path) -> Status:
    """What a status file says; a missing file reads as interrupted, a damaged one as failed, with the reason."""
    try:
        values = read_record(path)
    except FileNotFoundError:
        return Status(state="interrupted")
    except (OSError, ValueError) as error:
        return Status(state="failed", error=damage(path, error))
    try:
        return _checked(record(Status, values))
    except ValueError as error:
        return Status(state="failed", error=damage(path, error))


def damage(path: Path, error: Exception) -> str:
    """What a page says if the status cannot be read."""
    if isinstance(error, InputError):
        return printable(str(error), _LONGEST_TEXT)
    return printable(f"{path} cannot be read: {error}. Start again, or delete the run.", _LONGEST_TEXT)


def check_numbers(values: dict[str, Any]) -> None:
    """Refuse numbers that no status can have; ValueError with the name of the first."""
    for name, value in values.items():
        if isinstance(value, int | float) and name != "score" and (value < 0 or (name == "progress" and value > 1)):
            raise ValueError(f"{name} is {value}")


def _checked(status: Status) -> Status:
    """A status with valid values; ValueError with the first that is not valid."""
    for name, allowed in (("state", STATES), ("stage", _STAGES), ("device", ("", "cpu", "cuda"))):
        if getattr(status, name) not in allowed:
            raise ValueError(f"{name} is {printable(getattr(status, name), 40)!r}")
    check_numbers(status.to_dict())
    foretold = status.estimate
    if foretold is not None and not (
        fits(foretold.get("seconds"), float)
        and foretold["seconds"] > 0
        and fits(foretold.get("bytes", 1), float)
        and foretold.get("bytes", 1) > 0
        and fits(foretold.get("by_stage", {}), dict[str, float])
    ):
        raise ValueError("estimate holds other things than numbers")
    texts = {name: printable(getattr(status, name) or "", _LONGEST_TEXT) for name in ("message", "error", "host")}
    return dataclasses.replace(status, **{**texts, "error": texts["error"] if status.error is not None else None})


def host() -> str:
    """The name of this machine."""
    return socket.gethostname()


def versions() -> dict[str, str]:
    """Versions of what a result depends on, read without importing it."""
    found = {"disco": __version__, "python": platform.python_version()}
    for name in ("torch", "numpy", "pandas"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
