"""The status of a run's work: one record per kind of work, status.json for the fit."""

import dataclasses
import platform
import socket
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from disco import __version__
from disco.errors import InputError, printable
from disco.files import read_record, unwritten, write_json
from disco.schema import fits, record

_UNFINISHED = ("queued", "running")
_RESUMABLE = ("unfitted", "queued", "cancelled", "failed", "interrupted")
_STATES = ("queued", "running", "done", "cancelled", "failed", "interrupted")
_LONGEST_TEXT = 2000
_MOST_NOTES = 20

_SIGNED = ("loss", "score", "best")


@dataclass(frozen=True)
class Work:
    """A kind of long work on a run. `disco.work.jobs` defines how it is queued and done.

    Attributes:
        name: its name in statuses, locks and the worker's command line.
        noun: its name in sentences.
        file: the name of its status file.
        unasked: the state before it is requested.
        lost: the state if there is no status file.
        result: the file of its result; if this exists without a status file, the work is done.
    """

    name: str
    noun: str
    file: str
    stages: tuple[str, ...]
    unasked: str = "none"
    lost: str = "none"
    result: str = ""


FIT = Work(
    "fit",
    "fit",
    "status.json",
    ("joint", "projection", "ordering", "parents", "selector"),
    unasked="unfitted",
    lost="interrupted",
)
REFINE = Work(  # older versions of DISCO refined without a status
    "refine",
    "refinement",
    "refining_status.json",
    ("artefacts", "screen", "prior", "search", "evidence", "bootstrap"),
    result="refined.json",
)
COMPARE = Work("compare", "comparison", "comparing_status.json", ("methods",), result="compare.csv")


@dataclass(frozen=True)
class Status:
    """The state of one kind of work on a run; only the holder of the run's lock writes it.

    Attributes:
        work: fit, refine or compare.
        state: queued, running, done, cancelled, failed, interrupted (its process died, visible only by the free lock);
            unfitted if no fit was requested, none if no other work was.
        stage: one of the work's stages; empty before the first.
        done, total: epochs or nodes of the stage; searches or bootstrap tables; methods.
        progress: share of the whole work, 0 to 1.
        eta: remaining seconds, None while unknown.
        message: the same in words.
        error: one sentence after a failure.
        seconds: seconds of work, summed over its resumptions.
        device, host: cpu or cuda, and the machine.
        cluster: the address of the scheduler to which the work is sent; empty for this machine.
        queued_at, finished_at: seconds since 1970; the first determines the order of the queue.
        versions: of a fit: versions of the packages that affect its result.
        estimate: of a fit: {seconds, bytes, by_stage} estimated before the start.
        seconds_off, bytes_off: of a fit: measured divided by estimated, when done.
        peak_bytes: of a fit: peak memory of the process or the device.
        best_epochs: of a fit: stage → best epoch of each fold.
        rows_used: of a fit: number of rows, when done.
        notes: of a fit: with experiments, which rows it used, and sentences on their rules.
        loss: of a fit: the stage's validation loss at its last measured epoch, averaged over folds.
        start, sweep, score: of a refinement: its running search; nats.
        best: of a refinement: the highest score so far; nats.
        choice: of a refinement: the fields of `disco.refine.Choice`.
        method: of a comparison: the current method.
    """

    work: str = FIT.name
    state: str = FIT.unasked
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
    cluster: str = ""
    queued_at: float = 0.0
    finished_at: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    estimate: dict[str, Any] | None = None
    seconds_off: float | None = None
    bytes_off: float | None = None
    peak_bytes: int | None = None
    best_epochs: dict[str, list[int]] = field(default_factory=dict)
    rows_used: int | None = None
    notes: list[str] = field(default_factory=list)
    loss: float | None = None
    start: str = ""
    sweep: int = 0
    score: float | None = None
    best: float | None = None
    choice: dict[str, Any] = field(default_factory=dict)
    method: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields for JSON, without empty ones that few kinds of work have."""
        values, empty = dataclasses.asdict(self), Status()
        return {name: value for name, value in values.items() if name not in _OF_ONE or value != getattr(empty, name)}

    @property
    def active(self) -> bool:
        """Whether it is queued or running in a living process."""
        return self.state in _UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether it can be started or resumed."""
        return self.state in _RESUMABLE


_OF_ONE = (
    *("versions", "estimate", "seconds_off", "bytes_off", "peak_bytes", "best_epochs", "rows_used", "notes", "loss"),
    *("start", "sweep", "score", "best", "choice", "method", "cluster"),
)


def unasked(work: Work) -> Status:
    """The status of work that has not been requested."""
    return Status(work.name, work.unasked)


def read_status(folder: Path, work: Work) -> Status:
    """The status in a run's folder, whether or not its process is alive.

    A damaged file counts as failed, with the reason; a missing one as defined by the work.
    """
    path = folder / work.file
    try:
        return _checked(record(Status, {"work": work.name, "state": work.unasked, **read_record(path)}), work)
    except FileNotFoundError:
        if work.result and (folder / work.result).exists():
            return Status(work.name, "done", progress=1.0)
        return Status(work.name, work.lost)
    except (OSError, ValueError) as error:
        return Status(work.name, "failed", error=_damage(path, error))


def write_status(folder: Path, work: Work, status: Status, *, durable: bool = True) -> None:
    """Write a status; one that is not `durable` may be lost, as one of many progress reports."""
    try:
        write_json(folder / work.file, status.to_dict(), durable=durable)
    except OSError as error:
        if durable:
            raise unwritten(folder, error) from error


def _damage(path: Path, error: Exception) -> str:
    if isinstance(error, InputError):
        return printable(str(error), _LONGEST_TEXT)
    return printable(f"{path} cannot be read: {error}. Start again, or delete the run.", _LONGEST_TEXT)


def _checked(status: Status, work: Work) -> Status:
    """A status with valid values; ValueError with the first invalid one."""
    allowed = {
        "work": (work.name,),
        "state": (work.unasked, *_STATES),
        "stage": ("", *work.stages),
        "device": ("", "cpu", "cuda"),
    }
    for name, values in allowed.items():
        if getattr(status, name) not in values:
            raise ValueError(f"{name} is {printable(getattr(status, name), 40)!r}")
    for name, value in dataclasses.asdict(status).items():
        if isinstance(value, int | float) and name not in _SIGNED and (value < 0 or (name == "progress" and value > 1)):
            raise ValueError(f"{name} is {value}")
    _check_estimate(status.estimate)
    if not fits(status.choice, dict[str, float | bool]):
        raise ValueError("choice has values that are not numbers")
    return dataclasses.replace(
        status,
        message=printable(status.message, _LONGEST_TEXT),
        host=printable(status.host, _LONGEST_TEXT),
        cluster=printable(status.cluster, _LONGEST_TEXT),
        start=printable(status.start, _LONGEST_TEXT),
        method=printable(status.method, _LONGEST_TEXT),
        notes=[printable(note, _LONGEST_TEXT) for note in status.notes[:_MOST_NOTES]],
        error=None if status.error is None else printable(status.error, _LONGEST_TEXT),
    )


def _check_estimate(foretold: dict[str, Any] | None) -> None:
    if foretold is not None and not (
        fits(foretold.get("seconds"), float)
        and foretold["seconds"] > 0
        and all(fits(foretold.get(name, 1), float) for name in ("bytes", "low", "high"))
        and all(foretold.get(name, 1) > 0 for name in ("bytes", "low", "high"))
        and fits(foretold.get("by_stage", {}), dict[str, float])
    ):
        raise ValueError("estimate has values that are not numbers")


def host() -> str:
    """The name of this machine."""
    return socket.gethostname()


def versions() -> dict[str, str]:
    """Versions of the packages that affect results, read without importing them."""
    numbers = {"disco": __version__, "python": platform.python_version()}
    for name in ("torch", "numpy", "pandas"):
        try:
            numbers[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return numbers
