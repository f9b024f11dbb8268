"""Where a run stands, as one record in status.json."""

import dataclasses
import platform
import socket
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from disco import __version__

UNFINISHED = ("queued", "running")
RESUMABLE = ("unfitted", "queued", "cancelled", "failed", "interrupted")


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
