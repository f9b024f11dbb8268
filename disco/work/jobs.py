"""Long work of any kind on runs: started, queued, cancelled, resumed.

Each is a detached process that holds its run's lock for its whole life (disco/runs/locks.py) and the device's lock
while it works (disco/work/turns.py). It survives the page, the tab and the app; the app finds it by its run.

    python -m disco.subjects WORK... --run PATH --lock HANDLE    (what `start` runs)
"""

import argparse
import contextlib
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from disco import apart, cluster, space, system
from disco.devices import choose_device
from disco.errors import FitStopped, InputError, ScoreUnavailable, printable
from disco.files import open_to_append
from disco.progress import Event
from disco.runs import Run, Status, Work
from disco.runs.locks import Lock, note
from disco.runs.status import WORKS, host
from disco.work import ahead, turns, where
from disco.work.recording import ending

if TYPE_CHECKING:
    from disco.progress import Callback

_GRACE_SECONDS = 1.4  # time for a worker to write its checkpoint before it is killed
_KILL_SECONDS = 5.0  # until a killed process is gone; on a busy machine it takes its turn to end
_BUSY = 0.5  # number of processors in use by other programs above which a worker's threads yield
_SPAWN_SECONDS = 0.2  # between taking a run's lock and starting its process


@dataclass(frozen=True)
class Doing:
    """A kind of work for jobs and ZIPs, in its module as `DOING`.

    Attributes:
        queued: (run, request) → the initial status of a queued run; an InputError if there is nothing to do.
        do: (run, lock, callback) → the result of the work, returned by `work`.
        expected: (run, request) → the seconds that queued work will take, computed at once; None while unknown.
        measured: (run, callback) → the same from a trial of a second, made before the turn where `expected` is None.
        request: run → the request with which it was last queued, to queue it again.
        files: what a ZIP of a run may have of it, below the run's folder: its result and, if it says more than that the
            work is done, its status.
        packed: run → those of them that a ZIP of this run has, if they exist; none of a result that is not finished.
        check: run → None; reads them all, with an `InputError` for the first that is damaged. A file that a run treats
            as absent if it is damaged is deleted.
    """

    queued: Callable[..., Status]
    do: Callable[[Run, Lock, "Callback | None"], Any]
    expected: Callable[..., float | None] = lambda run, *request: None
    measured: Callable[[Run, "Callback | None"], float | None] = lambda run, callback: None
    request: Callable[[Run], tuple[Any, ...]] = lambda run: ()
    files: tuple[str, ...] = ()
    packed: Callable[[Run], tuple[str, ...]] = lambda run: ()
    check: Callable[[Run], None] = lambda run: None


def doing(work: Work) -> Doing:
    """The functions of a kind of work, from its module."""
    return import_module(work.module).DOING


def start(run: Run, work: Work, *request: Any, then: Work | None = None, accepted: bool = False) -> None:
    """Queue work on a run in a separate process; after a stop, the same call resumes the work.

    Args:
        request: for a refinement its `Choice` and, if there is one, the `Trial` of its table; for a comparison its
            `MethodsRequest`; for a fit nothing.
        then: other work without a request, queued by the same process when the first has ended, unless it was stopped.
        accepted: it continues work interrupted by a stop of the server, whatever the number of its user's jobs.

    Raises:
        InputError: the run is queued or running, its fit is done, or its device does not exist.
    """
    kinds = (work,) if then is None else (work, then)
    follows = None if then is None else (then, _device_of(run, then))  # before anything is queued
    lock = enqueue(run, work, *request, accepted=accepted)
    try:
        if follows is not None:
            lock.write(_note(None, *kinds))
            _queue(run, *follows)
        process = _spawn(run, kinds, lock)
        with contextlib.suppress(OSError):
            lock.write(_note(process.pid, *kinds))
        lock.hand_over(run.lock_path, process)
    except OSError as error:
        raise InputError(f"No process could be started for the run {run.name} ({error.strerror}).") from error
    finally:
        lock.release()
    threading.Thread(target=process.wait, daemon=True).start()  # so that no zombie is left


def enqueue(run: Run, work: Work, *request: Any, pid: int | None = None, accepted: bool = False) -> Lock:
    """Take a run's lock and a position in the queue of the device that the work needs; `InputError`s as for `start`.

    Args:
        request, accepted: as for `start`.
        pid: the process that will do the work and stops on SIGTERM; None while unknown.
    """
    space.current().limits().check_new_job(is_counted=not accepted)
    device = _device_of(run, work)
    lock = run.take(_note(pid, work))
    try:
        _enter(run, work, device, *request)
    except BaseException:
        lock.release()
        raise
    return lock


def _device_of(run: Run, work: Work) -> str:
    if not work.on_device:
        return "cpu"
    return choose_device(run.device).type


def _enter(run: Run, work: Work, device: str, *request: Any) -> None:
    queued_at, expected = _queue(run, work, device, *request), None
    with contextlib.suppress(InputError):  # the work itself reports it
        expected = doing(work).expected(run, *request)
    turns.add_ticket(run, device, queued_at, work, expected)


def _queue(run: Run, work: Work, device: str, *request: Any) -> float:
    """Record work on a run, whose lock is held, as queued; returns the time, in seconds since 1970."""
    status, queued_at = doing(work).queued(run, *request), time.time()
    fresh = {"state": "queued", "queued_at": queued_at, "finished_at": None, "eta": None, "error": None}
    run.update(work, **{**vars(status), **fresh, "device": device, "host": host()})
    return queued_at


def cancel(run: Run, work: Work) -> None:
    """Stop work within 2 seconds; it can be resumed from its checkpoint or its finished searches.

    Other work of the same process, whether it precedes or follows, is stopped too. An `InputError` if other work on the
    run is running, or the work runs on another machine or in a process that cannot be signalled.
    """
    run.check_own()
    if run.works_on(work):
        _end(run, work)
    lock = run.take()
    try:
        for kind in WORKS.values():
            if run.written_status(kind).active:
                run.update(kind, state="cancelled", eta=None, message="", finished_at=time.time())
    finally:
        lock.release()


def wait_of(run: Run, work: Work) -> turns.Wait | None:
    """What queued work waits for; None if it is not in the device's queue."""
    status = run.status(work)
    return turns.wait_of(run, status.device, work) if status.state == "queued" else None


def start_at_once(run: Run, work: Work) -> None:
    """Let queued work begin beside the work that it waits for; an `InputError` if this server does not allow it."""
    run.check_own()
    if not space.current().limits().may_skip_queue:
        raise InputError("On this server, all work waits for its turn.")
    status = run.status(work)
    turns.start_at_once(run, status.device, status.queued_at)


def work(run: Run, kind: Work, lock: Lock, callback: "Callback | None" = None) -> Any:
    """Wait for the device's turn, then do the work, in this process.

    Args:
        lock: from `enqueue`; released at the end.
        callback: receives every event, including those while waiting (disco/work/turns.py); returning False stops, with
            `FitStopped`.

    Returns:
        What `do` of the work returns.
    """
    try:
        return _in_turn(run, kind, lock, callback)
    finally:
        lock.release()


def _in_turn(run: Run, kind: Work, lock: Lock, callback: "Callback | None", gives_way: bool = False) -> Any:
    """Wait for the turn, then work; long work that `gives_way` lowers the priority of this process."""
    status = run.written_status(kind)
    try:
        if kind.compiled:
            ahead.wait(callback)
        _measure(run, kind, status, callback)
        if address := os.environ.get(cluster.VARIABLE, ""):  # its scheduler has a queue of its own
            turns.start_at_once(run, status.device, status.queued_at)
        with turns.turn(run, status.device, status.queued_at, callback) as is_short:
            if gives_way and not is_short:
                system.lower_priority(0)
            run.update(kind, cluster=address)
            with cluster.on(address):
                return doing(kind).do(run, lock, callback)
    except BaseException as error:
        if run.written_status(kind).active:  # it ended while queued
            with contextlib.suppress(InputError):
                run.update(kind, eta=None, finished_at=time.time(), **ending(error, kind))
        raise


def _measure(run: Run, kind: Work, status: Status, callback: "Callback | None") -> None:
    """Record in the queue how long work will take, if only a trial can tell; its errors are left for the work to
    report.
    """
    if turns.expected(run, status.device, status.queued_at) is not None:
        return

    def relay(event: Event) -> bool | str | None:
        return callback(Event("queue", 0, 1, 0.0)) if callback else None

    with contextlib.suppress(InputError, ScoreUnavailable):
        seconds = doing(kind).measured(run, relay)
        if seconds is not None:
            turns.add_ticket(run, status.device, status.queued_at, kind, seconds)


def _note(pid: int | None, *kinds: Work) -> dict[str, Any]:
    """The note about its holder in a run's lock."""
    return {"host": host(), "pid": pid, "signals": True, "work": " ".join(kind.name for kind in kinds)}


def _spawn(run: Run, kinds: tuple[Work, ...], lock: Lock) -> subprocess.Popen:
    inherited = lock.handle if system.INHERITS_LOCKS else -1
    arguments = [*(kind.name for kind in kinds), "--run", str(run.path), "--lock", str(inherited)]
    environment = {**waiting(), **space.current().environment(), cluster.VARIABLE: where.address()}
    with _log(run) as log:
        streams = {"stdout": log, "stderr": log}
        return apart.start(space.current().worker, *arguments, environment=environment, locks=(lock.handle,), **streams)


def waiting() -> dict[str, str]:
    """Environment variables: whether new workers' threads spin or yield while they wait. Results do not depend on it.

    On an idle machine they spin, which is fastest. Beside other programs, a fit with two spinning threads took 3 to 6
    times its processor time, with yielding threads 1.5 times.
    """
    import psutil  # here, because the import is slow

    is_chosen = "OMP_WAIT_POLICY" in os.environ
    return {} if is_chosen or psutil.getloadavg()[0] < _BUSY else {"OMP_WAIT_POLICY": "PASSIVE"}


def _log(run: Run) -> BinaryIO:
    """The log file for a worker's output, or /dev/null if it cannot be written."""
    try:
        return open_to_append(run.path / "worker.log")
    except OSError:
        return open(os.devnull, "ab")


def _end(run: Run, work: Work) -> None:
    owner = note(run.lock_path)
    deadline = time.monotonic() + _SPAWN_SECONDS
    while owner.get("pid") is None and owner.get("host") == host() and run.alive and time.monotonic() < deadline:
        time.sleep(0.01)  # its process is still being started
        owner = note(run.lock_path)
    if not run.alive:
        return
    it = f"The {work.noun} of the run {run.name}"
    if owner.get("host") != host():
        raise InputError(f"{it} runs on the machine {owner.get('host')}; cancel it there.")
    if owner.get("pid") is None:
        raise InputError(f"The process of the run {run.name} is still starting; try to cancel again in a moment.")
    if not owner.get("signals"):
        raise InputError(f"{it} runs inside process {owner.get('pid')}; stop it there.")
    for end, seconds in ((system.ask_to_stop, _GRACE_SECONDS), (system.kill, _KILL_SECONDS)):
        try:
            end(owner["pid"])
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not run.alive:
                return
            time.sleep(0.02)


def _fail(run: Run, words: str, *ended: Work) -> None:
    """Record why work on a run, and the work that was to follow it, has failed."""
    for kind in WORKS.values():
        if kind in ended or run.written_status(kind).active:
            run.update(kind, state="failed", eta=None, error=words, finished_at=time.time())


def _worker(names: list[str], path: Path, handle: int) -> int:
    """Do the work on a run, one kind after another; returns the exit status.

    `handle` is the run's lock, if this process has inherited it; otherwise −1.
    """

    def give_up(words: str) -> None:
        _fail(Run(path), words)
        os._exit(1)

    stopping, reason_to_end = threading.Event(), space.current().limits().watch(give_up)
    system.when_asked_to_stop(stopping.set)
    kinds, exits = [WORKS[name] for name in names], 0
    lock = _taken_over(path, handle, kinds)
    try:
        run = Run(path)
        for index, kind in enumerate(kinds):
            try:
                if index > 0:
                    _enter(run, kind, _device_of(run, kind))
                _in_turn(run, kind, lock, lambda event: not (stopping.is_set() or reason_to_end(event.stage)), True)
            except FitStopped:
                if (reason := reason_to_end(kind.name)) and not stopping.is_set():
                    _fail(run, reason, kind)
                return 1
            except (InputError, ScoreUnavailable) as error:  # the following work does not need it
                print(printable(str(error)), file=sys.stderr)
                exits = 1
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        lock.release()
    return exits


def _taken_over(path: Path, handle: int, kinds: list[Work]) -> Lock:
    """The run's lock: inherited, or else taken as soon as the process that started this one has released it."""
    if handle >= 0:
        os.set_inheritable(handle, False)
        return Lock(handle)
    deadline = time.monotonic() + _SPAWN_SECONDS
    while (lock := Lock.take(Run(path).lock_path, _note(os.getpid(), *kinds))) is None:
        if time.monotonic() > deadline:
            raise InputError(f"Another process works on the run in {path}.")
    return lock


def main() -> int:
    """The worker's command line."""
    apart.collect_rarely()
    parser = argparse.ArgumentParser(prog=f"python -m {space.current().worker}")
    parser.add_argument("work", nargs="+", choices=[*WORKS])
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--lock", type=int, required=True)
    arguments = parser.parse_args()
    return _worker(arguments.work, arguments.run, arguments.lock)
