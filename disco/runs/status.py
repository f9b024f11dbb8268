"""The status of a run's work: one record per kind of work."""

import socket
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from disco.errors import InputError, printable
from disco.files import read_record, unwritten, write_json
from disco.schema import record

_UNFINISHED = ("queued", "running")
_RESUMABLE = ("unfitted", "queued", "cancelled", "failed", "interrupted")
_STATES = ("queued", "running", "done", "cancelled", "failed", "interrupted")
_LONGEST_TEXT = 2000
_MOST_NOTES = 20


@dataclass(frozen=True)
class Status:
    """The state of one kind of work on a run; only the holder of the run's lock writes it. Each kind may add fields.

    Attributes:
        work: the name of its kind.
        state: queued, running, done, cancelled, failed, interrupted (its process died, visible only by the free lock);
            before it is requested, that of its kind.
        stage: one of the work's stages; empty before the first.
        done, total: steps of the stage.
        progress: share of the whole work, 0 to 1.
        eta: remaining seconds, None while unknown.
        message: the same in words.
        error: one sentence after a failure.
        seconds: seconds of work, summed over its resumptions.
        device, host: cpu or cuda, and the machine.
        cluster: the address of the scheduler to which the work is sent; empty for this machine.
        queued_at, finished_at: seconds since 1970; the first determines the order of the queue.
    """

    work: str
    state: str
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
    queued_at: float = 0.0
    finished_at: float | None = None
    cluster: str = ""

    SIGNED: ClassVar[tuple[str, ...]] = ()  # fields that may be negative

    def to_dict(self) -> dict[str, Any]:
        """The fields for JSON, without empty ones that few kinds of work have."""
        empty = type(self)(self.work, self.state)
        return {name: value for name, value in asdict(self).items() if name in _ALWAYS or value != getattr(empty, name)}

    def check(self) -> None:
        """Raise a ValueError with the first number that is out of range; each kind may check more."""
        for name, value in asdict(self).items():
            is_low = isinstance(value, int | float) and name not in self.SIGNED and value < 0
            if is_low or (name == "progress" and value > 1):
                raise ValueError(f"{name} is {value}")

    @property
    def active(self) -> bool:
        """Whether it is queued or running in a living process."""
        return self.state in _UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether it can be started or resumed."""
        return self.state in _RESUMABLE


_ALWAYS = frozenset(item.name for item in fields(Status)) - {"cluster"}
_Status = TypeVar("_Status", bound=Status)


@dataclass(frozen=True)
class Work(Generic[_Status]):
    """A kind of long work on a run.

    Attributes:
        name: its name in statuses, locks and the worker's command line.
        noun: its name in sentences.
        file: the name of its status file.
        status: the type of its status.
        module: where `DOING` queues and does it (`disco.work.jobs.Doing`); imported when it is needed.
        unasked: the state before it is requested.
        result: the file of its result; if this exists without a status file, the work is done.
        on_device: whether it needs the device of its run; other work needs the CPU.
        compiled: whether it needs the likelihood, so that it waits while another process compiles it.
    """

    name: str
    noun: str
    file: str
    stages: tuple[str, ...]
    status: type[_Status]
    module: str
    unasked: str = "none"
    result: str = ""
    on_device: bool = False
    compiled: bool = False


FIRST_WORK = "fit"  # the only kind in older versions, whose locks and tickets name none
WORKS: dict[str, Work] = {}  # every kind by name, filled by `disco.subjects`


def unasked(work: Work[_Status]) -> _Status:
    """The status of work that has not been requested."""
    return work.status(work.name, work.unasked)


def read_status(folder: Path, work: Work[_Status]) -> _Status:
    """The status in a run's folder, whether or not its process is alive.

    A damaged file counts as failed, with the reason; a missing one as defined by the work.
    """
    path = folder / work.file
    try:
        return _checked(record(work.status, {"work": work.name, "state": work.unasked, **read_record(path)}), work)
    except FileNotFoundError:
        if work.result and (folder / work.result).exists():
            return work.status(work.name, "done", progress=1.0)
        return unasked(work)
    except InputError as error:
        damage = str(error)
    except (OSError, ValueError) as error:
        damage = f"{path} cannot be read: {error}. Start again, or delete the run."
    return work.status(work.name, "failed", error=printable(damage, _LONGEST_TEXT))


def write_status(folder: Path, work: Work, status: Status, *, durable: bool = True) -> None:
    """Write a status; one that is not `durable` may be lost, as one of many progress reports."""
    try:
        write_json(folder / work.file, status.to_dict(), durable=durable)
    except OSError as error:
        if durable:
            raise unwritten(folder, error) from error


def _checked(status: _Status, work: Work[_Status]) -> _Status:
    """A status with valid values and printable texts; ValueError with the first invalid one."""
    allowed = {
        "work": (work.name,),
        "state": (work.unasked, *_STATES),
        "stage": ("", *work.stages),
        "device": ("", "cpu", "cuda"),
    }
    for name, values in allowed.items():
        if getattr(status, name) not in values:
            raise ValueError(f"{name} is {printable(getattr(status, name), 40)!r}")
    status.check()
    texts: dict[str, Any] = {}
    for item in fields(status):
        value = getattr(status, item.name)
        if isinstance(value, str):
            texts[item.name] = printable(value, _LONGEST_TEXT)
        elif item.type == list[str]:
            texts[item.name] = [printable(text, _LONGEST_TEXT) for text in value[:_MOST_NOTES]]
    return replace(status, **texts)


def host() -> str:
    """The name of this machine."""
    return socket.gethostname()
