"""The queue of a device: one short work beside one long work, each kind first come, first served.

On a server of many users, one work of each user comes before anybody's second.

A device has two lanes. Work expected to take less than a minute takes the short lane; longer work, and work of unknown
length, takes the long one. So neither waits for the other, and at most two run at once.

Queued work has a ticket, a small file named after its queue time. A ticket is alive while its run's own lock is held.
The first living ticket of a lane takes the lane's lock and keeps it until its work ends. Nothing needs cleaning up
after a crash: dead tickets are skipped and removed. Work that a user starts at once takes no lane, nor does work on a
cluster.
"""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from disco import space
from disco.errors import FitStopped, InputError
from disco.files import read_record, unwritten, write_json
from disco.runs.folder import Run
from disco.runs.locks import Lock, held
from disco.runs.status import FIRST_WORK, WORKS, Work, host, read_status
from disco.schema import record
from disco.space import common_root, owner_of
from disco.words import place, roughly

if TYPE_CHECKING:
    from disco.progress import Callback

SHORT_SECONDS = 60.0
_POLL_SECONDS = 0.1  # times the position in the queue: each check reads all tickets
_LONGEST_POLL = 1.0  # seconds
_LANES = "short", "lock"  # the lock of the short lane, and of the long one
_AT_ONCE = "now-"  # before a ticket's name: the mark of work that a user starts at once


@dataclass(frozen=True)
class Ticket:
    """Queued work, or the work that holds a lane.

    Attributes:
        run: the folder of its run.
        work: the name of its kind.
        expected: seconds on an idle machine; None while unknown.
    """

    run: str
    work: str = FIRST_WORK
    expected: float | None = None

    @property
    def is_short(self) -> bool:
        """Whether it takes the short lane."""
        return self.expected is not None and self.expected < SHORT_SECONDS

    @property
    def noun(self) -> str:
        """Its kind of work and its run, in words."""
        kind = WORKS[self.work].noun if self.work in WORKS else "work"
        if not space.current().may_write(Path(self.run)):
            return f"another user's {kind}"
        try:
            return f"the {kind} of {Run(Path(self.run)).name}"
        except (InputError, OSError):  # deleted meanwhile
            return f"another {kind}"

    @property
    def owner(self) -> str | None:
        """The id of its user; None where there is one user only."""
        return owner_of(Path(self.run))

    def remaining(self) -> float | None:
        """Seconds until it ends, if it runs; None while unknown, or if it takes longer than expected."""
        if self.work not in WORKS:
            return None
        status = read_status(Path(self.run), WORKS[self.work])
        if status.eta is not None or self.expected is None:
            return status.eta
        return self.expected - status.seconds if self.expected > status.seconds else None


@dataclass(frozen=True)
class Wait:
    """What queued work waits for: the work `running` in its lane, None if that is free, and the `earlier` work in its
    queue.
    """

    running: Ticket | None = None
    earlier: tuple[Ticket, ...] = ()

    @property
    def position(self) -> int:
        """Its position in the queue of its lane, 1 = next."""
        return len(self.earlier) + 1

    @property
    def ahead(self) -> Ticket | None:
        """The work that it waits for first."""
        return self.running or next(iter(self.earlier), None)

    @property
    def seconds(self) -> float | None:
        """Seconds until its turn; None while unknown."""
        durations = [ticket.expected for ticket in self.earlier]
        if self.running is not None:
            durations.append(self.running.remaining())
        finite = [seconds for seconds in durations if seconds is not None]
        return sum(finite) if len(finite) == len(durations) else None

    @property
    def words(self) -> str:
        """One sentence; empty if it waits for nothing."""
        return f"Queued {self.behind}." if self.behind else ""

    @property
    def behind(self) -> str:
        """After "queued": what comes first, the position and how long; empty if it waits for nothing."""
        if self.ahead is None:
            return ""
        about = "" if self.seconds is None else f", about {roughly(self.seconds)}"
        return f"behind {self.ahead.noun}: {place(self.position)} in the queue{about}"


def ticket_of(run: Run, device: str, queued_at: float) -> Path:
    """The ticket of a run queued at a time, in seconds since 1970."""
    return _queue(device) / f"{int(queued_at * 1e6):020d}-{run.id}"


def add_ticket(run: Run, device: str, queued_at: float, work: Work, expected: float | None = None) -> None:
    """Put work on a run, whose lock is held, into a device's queue, or update there the `expected` seconds; None if
    unknown.
    """
    ticket = ticket_of(run, device, queued_at)
    try:
        for former in ticket.parent.glob("[0-9]*"):  # of killed work, alive again by the run's new lock
            if former != ticket and (content := _read(former)) is not None and content.run == str(run.path):
                _remove(former)
        write_json(ticket, asdict(Ticket(str(run.path), work.name, expected)), durable=False)
    except OSError as error:
        raise unwritten(common_root(), error) from error


def expected(run: Run, device: str, queued_at: float) -> float | None:
    """The seconds that queued work will take, as far as its ticket says."""
    ticket = _read(ticket_of(run, device, queued_at))
    return None if ticket is None else ticket.expected


def start_at_once(run: Run, device: str, queued_at: float) -> None:
    """Let queued work begin beside the work that it waits for; without effect if it has already begun."""
    ticket = ticket_of(run, device, queued_at)
    try:
        if ticket.exists():
            _mark(ticket).touch()
    except OSError as error:
        raise unwritten(common_root(), error) from error


def waiting(device: str) -> list[Ticket]:
    """The living tickets of a device, in the order of their turns."""
    living = []
    try:
        paths = sorted(path for path in _queue(device).iterdir() if path.name[0].isdigit())
    except (OSError, InputError):  # the queue is not a folder, so it is empty
        return []
    for path in paths:
        ticket = _read(path)
        if ticket is not None and held(Path(ticket.run) / "lock"):
            living.append(ticket)
        elif ticket is not None:
            _remove(path)
    return _in_turn(device, living)


def _in_turn(device: str, tickets: list[Ticket]) -> list[Ticket]:
    """Tickets in the order of their turns: one of each user before anybody's second, else first come, first served."""
    works = Counter((ticket.is_short, ticket.owner) for ticket in running(device))
    rounds = []
    for ticket in tickets:
        rounds.append(works[ticket.is_short, ticket.owner])
        works[ticket.is_short, ticket.owner] += 1
    return [tickets[at] for at in sorted(range(len(tickets)), key=rounds.__getitem__)]


def running(device: str) -> list[Ticket]:
    """The work that holds the lanes of a device."""
    lanes = (_queue(device) / name for name in _LANES)
    return [ticket for lane in lanes if held(lane) and (ticket := _read(lane)) is not None]


def wait_of(run: Run, device: str, work: Work | None = None) -> Wait | None:
    """What a run waits for; None if it has no ticket, or only one for other work than `work`."""
    tickets = waiting(device)
    own_ticket = next(
        (ticket for ticket in tickets if ticket.run == str(run.path) and (work is None or ticket.work == work.name)),
        None,
    )
    if own_ticket is None:
        return None
    lane, earlier = _lane(device, own_ticket), tickets[: tickets.index(own_ticket)]
    return Wait(
        _read(lane) if held(lane) else None,
        tuple(ticket for ticket in earlier if ticket.is_short == own_ticket.is_short),
    )


@contextmanager
def turn(run: Run, device: str, queued_at: float, callback: "Callback | None") -> Iterator[bool]:
    """Wait for a queued run's turn, then hold its lane of the device; yields whether it is short.

    Args:
        callback: called repeatedly while waiting, with an event of stage `queue`. Its total is the position in the
            queue, 1 = next, and its message says what it waits for, if it has to wait. Returning False gives up, with
            `FitStopped`.
    """
    ticket = ticket_of(run, device, queued_at)
    own_ticket = _read(ticket) or Ticket(str(run.path))
    try:
        lock = _wait(run, device, own_ticket, _mark(ticket), callback)
    finally:
        _remove(ticket)
    try:
        yield own_ticket.is_short
    finally:
        if lock is not None:
            lock.release()


def _wait(run: Run, device: str, own_ticket: Ticket, mark: Path, callback: "Callback | None") -> Lock | None:
    """The lock of the lane; None if a user started the work at once."""
    from disco.progress import Event

    reported, message = None, ""
    while True:
        wait = wait_of(run, device) or Wait()
        if callback and callback(Event("queue", 0, wait.position, 0.0, message=message)) is False:
            raise FitStopped("stopped while waiting for the device")
        if mark.exists():
            return None
        if wait.position == 1 and (lock := Lock.take(_lane(device, own_ticket), asdict(own_ticket))):
            return lock
        if reported != (reported := (wait.position, wait.ahead)):  # not whenever the remaining time changes
            message = wait.words
        time.sleep(min(_POLL_SECONDS * wait.position, _LONGEST_POLL))


def _lane(device: str, ticket: Ticket) -> Path:
    return _queue(device) / _LANES[not ticket.is_short]


def _queue(device: str) -> Path:
    """The folder of the queue: one per device of this machine and folder of runs."""
    machine = re.sub(r"[^A-Za-z0-9.-]", "-", host())
    folder = common_root() / ".queue" / f"{machine}-{device}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritten(folder, error) from error
    return folder


def _mark(ticket: Path) -> Path:
    return ticket.with_name(_AT_ONCE + ticket.name)


def _read(path: Path) -> Ticket | None:
    """A ticket; None while it is being written or removed, or if it is not a ticket."""
    try:
        ticket = record(Ticket, read_record(path))
    except (OSError, ValueError):
        return None
    return None if "\0" in ticket.run else ticket


def _remove(ticket: Path) -> None:
    """Delete a ticket; if that fails, it is dead once its run's lock is free."""
    for path in (ticket, _mark(ticket)):
        with contextlib.suppress(OSError):
            path.unlink()
