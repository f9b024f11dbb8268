"""Where a run stands, as one record in status.json."""

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
    """The state of a run; only the holder of its lock writes it.

    Attributes:
        state: unfitted: no fit was asked for, as when a table is refined alone; queued, running, done, cancelled,
            failed, or interrupted: its process died, and nothing else says so than the lock that nobody holds.
        stage: joint, projection, ordering or parents; empty before the first.
        done, total: epochs or nodes of the stage.
        progress: share of the whole fit, 0 to 1.
        eta: seconds left, None while unknown.
        error: one sentence, where the run failed.
        seconds: of fitting, summed over its resumptions.
        device: where it runs or ran: cpu or cuda.
        estimate: {seconds, bytes, by_stage} foretold before the start.
        seconds_off, bytes_off: measured divided by foretold, once done.
        peak_bytes: largest memory of the process or the device.
        best_epochs: stage → best epoch a fold.
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
        """A status from JSON; what this version does not know is left out."""
        known = {item.name for item in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})

    def to_dict(self) -> dict[str, Any]:
        """Names and values, ready for JSON."""
        return dataclasses.asdict(self)

    @property
    def active(self) -> bool:
        """Whether a living process waits or works for it."""
        return self.state in UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether it can be started or go on."""
        return self.state in RESUMABLE


def read_status(path: Path) -> Status:
    """What a status file says; one that is missing reads as interrupted, a damaged one as failed, with the reason."""
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
    """What a page says of a state that cannot be read."""
    if isinstance(error, InputError):
        return printable(str(error), _LONGEST_TEXT)
    return printable(f"{path} cannot be read: {error}. Start again, or delete the run.", _LONGEST_TEXT)


def check_numbers(values: dict[str, Any]) -> None:
    """Refuse numbers that no state has; ValueError with the name of the first."""
    for name, value in values.items():
        if isinstance(value, int | float) and name != "score" and (value < 0 or (name == "progress" and value > 1)):
            raise ValueError(f"{name} is {value}")


def _checked(status: Status) -> Status:
    """A status whose values can be; ValueError with the first that cannot."""
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
    """What a result depends on; read without importing it."""
    found = {"disco": __version__, "python": platform.python_version()}
    for name in ("torch", "numpy", "pandas"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
