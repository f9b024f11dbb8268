"""Background fits and refinements: started, queued, cancelled, resumed.

Each is a detached process that holds its run's lock for its whole life (disco/runs/locks.py) and the device's lock
while it fits (disco/runs/turns.py). It outlives the page, the tab and the app; the app finds it by its run.

    python -m disco.jobs fit|refine PATH --lock HANDLE    (what `start` and `start_refinement` run)
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.runs import Run, execute, refining, runs_root, turns
from disco.runs.execution import Callback, ending
from disco.runs.locks import Lock, note
from disco.runs.status import UNFINISHED, host

if TYPE_CHECKING:
    from disco.progress import Event
    from disco.refine import Choice, Refined

_GRACE_SECONDS = 1.4  # for a worker to write its checkpoint before it is killed
_KILL_SECONDS = 0.3
_SPAWN_SECONDS = 0.2  # between taking a run's lock and starting its process


def start(run: Run) -> None:
    """Queue a run, to be fitted by a process of its own.

    Raises:
        InputError: it is waiting, running or done, its device is not there, or its folder cannot be written.
    """
    _hand_over(run, enqueue(run, None), "fit")


def resume(run: Run) -> None:
    """Resume from the last checkpoint, or start again if there is none.

    Raises:
        InputError: as for `start`.
    """
    start(run)


def enqueue(run: Run, pid: int | None) -> Lock:
    """Take a run's lock and a place in its device's queue.

    Args:
        pid: the process that will fit, and that stops on SIGTERM; None while it is not yet known.

    Raises:
        InputError: it is waiting, running or done, or its device is not there.
    """
    from disco.estimator import choose_device

    device = choose_device(run.device).type
    lock = run.take(_note(pid, "fit"))
    try:
        if run.written_status().state == "done":
            raise InputError(f"The run {run.name} is done; make a new one to fit again.")
        queued_at = time.time()
        run.update(state="queued", queued_at=queued_at, device=device, host=host(), eta=None, error=None)
        turns.add_ticket(run, device, queued_at)
    except BaseException:
        lock.release()
        raise
    return lock


def cancel(run: Run) -> None:
    """Stop a run within 2 seconds; it can be resumed from its last checkpoint.

    Raises:
        InputError: it runs on another machine, or inside a program that does not answer.
    """
    if run.works_on("fit"):
        _end(run)
    lock = run.take()
    try:
        if run.written_status().state in UNFINISHED:
            run.update(state="cancelled", eta=None, message="", finished_at=time.time())
    finally:
        lock.release()


def queue_position(run: Run) -> int | None:
    """Place in the device's queue, 1 = next; None if the run is not waiting."""
    status = run.status()
    return turns.position(run, status.device) if status.state == "queued" else None


def work(
    run: Run,
    lock: Lock,
    stopped: Callable[[], bool],
    *,
    callback: Callback | None = None,
    ahead: Callable[[int], None] = lambda place: None,
) -> None:
    """Wait for the device's turn, then fit, in this process.

    Args:
        lock: from `enqueue`; released at the end.
        stopped: asked at every event; True stops the fit after writing its checkpoint.
        callback: sees every event; False also stops the fit.
        ahead: called with the place in the queue, whenever it changes.

    Raises:
        FitStopped, InputError, ScoreUnavailable: as `execute`.
    """

    def watch(event: "Event") -> bool:
        goes_on = callback is None or callback(event) is not False
        return goes_on and not stopped()

    status = run.written_status()
    try:
        with turns.turn(run, status.device, status.queued_at, stopped, ahead):
            execute(run, callback=watch, lock=lock)
    except BaseException as error:
        if run.written_status().state in UNFINISHED:  # it ended while waiting
            with contextlib.suppress(InputError):
                run.update(eta=None, finished_at=time.time(), **ending(error))
        raise
    finally:
        lock.release()


def start_refinement(run: Run, choice: "Choice") -> None:
    """Queue a refinement of a run, for a process of its own; the same call after a stop resumes it.

    Raises:
        InputError: the run is waiting, running or being refined, or its device is not there.
    """
    _hand_over(run, enqueue_refinement(run, choice, None), "refine")


def enqueue_refinement(run: Run, choice: "Choice", pid: int | None, device: str | None = None) -> Lock:
    """Take a run's lock and a place in the queue to refine it.

    Args:
        pid: as for `enqueue`.
        device: auto, cpu or cuda; by default the run's own.

    Raises:
        InputError: as for `start_refinement`.
    """
    from disco.estimator import choose_device

    kind = choose_device(device or run.device).type
    lock = run.take(_note(pid, "refine"))
    try:
        turns.add_ticket(run, kind, refining.queue(run, choice, kind).queued_at)
    except BaseException:
        lock.release()
        raise
    return lock


def cancel_refinement(run: Run) -> None:
    """Stop a refinement within 2 seconds; it can be resumed from the finished searches.

    Raises:
        InputError: it runs on another machine.
    """
    if run.works_on("refine"):
        _end(run)
    lock = run.take()
    try:
        if refining.written(run).active:
            refining.update(run, state="cancelled", eta=None, message="", finished_at=time.time())
    finally:
        lock.release()


def refinement_position(run: Run) -> int | None:
    """Place in the device's queue, 1 = next; None if the refinement is not waiting."""
    status = refining.refining_status(run)
    return turns.position(run, status.device) if status.state == "queued" else None


def refine(
    run: Run,
    lock: Lock,
    stopped: Callable[[], bool],
    *,
    callback: Callback = lambda event: None,
    ahead: Callable[[int], None] = lambda place: None,
) -> "Refined":
    """Wait for the device's turn, then refine, in this process; arguments as for `work`.

    Raises:
        FitStopped, InputError: as `disco.runs.refined.refine_run`.
    """
    from disco.runs.refined import choice_from, refine_run

    def watch(step: "Event") -> bool:
        return callback(step) is not False and not stopped()

    status = refining.written(run)
    try:
        with turns.turn(run, status.device, status.queued_at, stopped, ahead):
            return refine_run(run, choice_from(status.choice), device=status.device, callback=watch)
    except BaseException as error:
        if refining.written(run).active:  # it ended while waiting
            with contextlib.suppress(InputError):
                refining.update(run, eta=None, finished_at=time.time(), **ending(error, "refinement"))
        raise
    finally:
        lock.release()


def _note(pid: int | None, what: str) -> dict[str, Any]:
    """The note in a run's lock about its holder."""
    return {"host": host(), "pid": pid, "signals": True, "work": what}


def _hand_over(run: Run, lock: Lock, what: str) -> None:
    """Start a process for the work and pass the run's lock to it.

    Raises:
        InputError: no process can be made.
    """
    try:
        process = _spawn(run, lock, what)
        with contextlib.suppress(OSError):
            lock.write(_note(process.pid, what))
    except OSError as error:
        raise InputError(f"No process could be started for the run {run.name} ({error.strerror}).") from error
    finally:
        lock.release()  # the worker has inherited it
    threading.Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie


def _spawn(run: Run, lock: Lock, what: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "disco.jobs", what, str(run.path), "--lock", str(lock.handle)]
    environment = {**os.environ, "DISCO_RUNS": str(runs_root())}
    with _log(run) as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path(__file__).resolve().parents[1],  # where the worker finds this package
            env=environment,
            pass_fds=[lock.handle],
            start_new_session=True,
        )


def _log(run: Run) -> BinaryIO:
    """The log file for a worker's output, or /dev/null if it cannot be written."""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
        return os.fdopen(os.open(run.path / "worker.log", flags, 0o644), "ab")
    except OSError:
        return open(os.devnull, "ab")


def _end(run: Run) -> None:
    """Ask the process of a run to stop, then kill it."""
    owner = note(run.lock_path)
    deadline = time.monotonic() + _SPAWN_SECONDS
    while owner.get("pid") is None and owner.get("host") == host() and run.alive and time.monotonic() < deadline:
        time.sleep(0.01)  # its process is still being started
        owner = note(run.lock_path)
    if not run.alive:
        return
    if owner.get("host") != host():
        raise InputError(f"The run {run.name} is fitted on the machine {owner.get('host')}; cancel it there.")
    if owner.get("pid") is None:
        raise InputError(f"The process of the run {run.name} is not known yet; cancel it again in a moment.")
    if not owner.get("signals"):
        raise InputError(f"The run {run.name} is fitted inside process {owner.get('pid')}; stop it there.")
    for number, seconds in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, _KILL_SECONDS)):
        try:
            os.kill(owner["pid"], number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not run.alive:
                return
            time.sleep(0.02)


def _worker(what: str, path: Path, handle: int) -> int:
    """Fit or refine a run whose lock this process has inherited; exit status."""
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    lock = Lock(handle)
    os.set_inheritable(handle, False)
    try:
        run = Run(path)
        {"fit": work, "refine": refine}[what](run, lock, stopping.is_set)
    except (FitStopped, InputError, ScoreUnavailable) as error:
        print(error, file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def main() -> int:
    """The worker's command line."""
    parser = argparse.ArgumentParser(prog="python -m disco.jobs")
    parser.add_argument("command", choices=["fit", "refine"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--lock", type=int, required=True)
    arguments = parser.parse_args()
    return _worker(arguments.command, arguments.path, arguments.lock)


if __name__ == "__main__":
    sys.exit(main())
