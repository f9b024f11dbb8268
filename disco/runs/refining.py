"""The status of a run's refinement. It is separate from the fit's, and neither touches the other's.

refining_status.json   state, stage, progress, message, error, choice
refining.jsonl         start, sweep, score of the searches as they run; deleted once refined_starts.csv holds them
refining.json          finished searches and bootstrap tables (`disco.refine`), from which a stopped refinement resumes
"""

import contextlib
import dataclasses
import json
import math
import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from disco.errors import InputError
from disco.runs.events import line_value
from disco.runs.execution import ending
from disco.runs.files import (
    append_bytes,
    read_bytes,
    read_json,
    read_record,
    remove_leftovers,
    unwritten,
    write_bytes,
    write_json,
)
from disco.runs.folder import Run
from disco.runs.schema import fits, is_text, printable, record
from disco.runs.status import RESUMABLE, STATES, UNFINISHED, check_numbers, damage, host

if TYPE_CHECKING:
    from disco.progress import Callback, Event
    from disco.refine import Choice

HISTORY = ["start", "sweep", "score"]
_WRITE_SECONDS = 0.25  # between two writes of the state, and between two lines of a sweep
_HISTORY_BYTES = 1 << 24
_MORE = ("starts", "restarts", "bootstrap", "redone")  # these only ask for more or fewer searches


@dataclass(frozen=True)
class Refining:
    """The status of a refinement; only the holder of the run's lock writes it.

    Attributes:
        state: none, queued, running, done, cancelled, failed, or interrupted (unfinished, and no process alive).
        stage: screen, prior, search, evidence or bootstrap; empty before the first.
        done, total: searches, or bootstrap tables.
        progress: share of the whole, 0 to 1, as far as it can be known.
        start, sweep, score: of the running search; nats.
        message: the same in words.
        error: one sentence if it failed.
        seconds: seconds of refining, summed over resumptions.
        eta: seconds left; None except in the bootstrap, since the number of sweeps of a search is not known.
        device, host: where it runs or ran.
        choice: the fields of `disco.refine.Choice`.
        queued_at, finished_at: seconds since 1970.
    """

    state: str = "none"
    stage: str = ""
    done: int = 0
    total: int = 0
    progress: float = 0.0
    start: str = ""
    sweep: int = 0
    score: float | None = None
    message: str = ""
    error: str | None = None
    seconds: float = 0.0
    eta: float | None = None
    device: str = ""
    host: str = ""
    choice: dict[str, Any] = field(default_factory=dict)
    queued_at: float = 0.0
    finished_at: float | None = None

    @property
    def active(self) -> bool:
        """Whether it is queued or running, by a living process."""
        return self.state in UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether it can be resumed from the finished searches."""
        return self.state in RESUMABLE


def refining_status(run: Run) -> Refining:
    """The status of a run's refinement; an unfinished one whose process is gone reads as interrupted."""
    alive = run.works_on("refine")  # asked first: a process writes its final status before it releases the lock
    status = written(run)
    if status.active and not alive and not run.works_on("refine"):
        return dataclasses.replace(status, state="interrupted", eta=None)
    return status


def written(run: Run) -> Refining:
    """What the status file says, whether or not the process is alive; a refinement of an older DISCO has none and is
    done."""
    path = run.path / "refining_status.json"
    try:
        return _checked(record(Refining, read_record(path)))
    except FileNotFoundError:
        return Refining("done", progress=1.0) if (run.path / "refined.json").exists() else Refining()
    except (OSError, ValueError) as error:
        return Refining("failed", error=damage(path, error))


def _checked(status: Refining) -> Refining:
    """A status with valid values; ValueError with the first that is not valid."""
    for name, allowed in (("state", ("none", *STATES)), ("device", ("", "cpu", "cuda"))):
        if getattr(status, name) not in allowed:
            raise ValueError(f"{name} is {printable(getattr(status, name), 40)!r}")
    check_numbers(dataclasses.asdict(status))
    if not fits(status.choice, dict[str, float | bool]):
        raise ValueError("choice holds something else than numbers")
    texts = {name: printable(getattr(status, name), 2000) for name in ("stage", "start", "message", "host")}
    error = None if status.error is None else printable(status.error, 2000)
    return dataclasses.replace(status, **texts, error=error)


def update(run: Run, *, durable: bool = True, **changes: Any) -> Refining:
    """Change some fields of the status; only the holder of the run's lock may call this.

    Args:
        durable: the change must be written; else it may be lost, as one of many progress reports.

    Raises:
        InputError: it must be written, and cannot be.
    """
    status = dataclasses.replace(written(run), **changes)
    try:
        write_json(run.path / "refining_status.json", dataclasses.asdict(status), durable=durable)
    except OSError as error:
        if durable:
            raise unwritten(run.path, error) from error
    return status


def queue(run: Run, choice: "Choice", device: str) -> Refining:
    """Mark a refinement as queued; the searches of one with another choice are deleted."""
    before, asked = written(run), dataclasses.asdict(choice)
    if not _goes_on(before, asked):
        before = Refining()
        _remove(run.path / "refining.jsonl")
    fresh = {"state": "queued", "error": None, "eta": None, "finished_at": None, "queued_at": time.time()}
    return update(run, **{**dataclasses.asdict(before), **fresh, "host": host(), "device": device, "choice": asked})


def forget(run: Run) -> None:
    """Delete an unfinished refinement with its searches; a finished one stays.

    Raises:
        InputError: the run is waiting or running, or a file cannot be removed.
    """
    lock = run.take()
    try:
        for name in ("refining_status.json", "refining.jsonl", "refining.json"):
            _remove(run.path / name)
        if os.path.lexists(run.path / "refining_status.json"):
            raise InputError(f"{run.path / 'refining_status.json'} cannot be removed: give write access to its folder.")
    finally:
        lock.release()


def _remove(path: Path) -> None:
    """Delete a file, or whatever has its name, if possible."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _goes_on(before: Refining, asked: dict[str, Any]) -> bool:
    """Whether a choice asks for the searches of an unfinished refinement, or for more or fewer of them."""
    same = all(before.choice.get(name) == value for name, value in asked.items() if name not in _MORE)
    return before.state not in ("none", "done") and same


def history(run: Run) -> pd.DataFrame:
    """The searches so far, with the last score of every sweep: start, sweep, score in nats."""
    kinds = {"start": "str", "sweep": "int64", "score": "float64"}
    return pd.DataFrame(_lines(run), columns=HISTORY).drop_duplicates(HISTORY[:2], keep="last").astype(kinds)


def _lines(run: Run) -> list[list[Any]]:
    """The complete lines; torn or damaged ones are left out."""
    try:
        text = read_bytes(run.path / "refining.jsonl", _HISTORY_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return []
    kinds = (str, int, float | None)
    found = [line_value(line) for line in text.splitlines()]
    return [
        one
        for one in found
        if isinstance(one, list) and len(one) == len(kinds) and all(map(fits, one, kinds)) and is_text(one[0])
    ]


class Recorder:
    """The callback of a refinement that records its status and history in the run's folder.

    Args:
        run: the run; the caller holds its lock.
        choice: the choice.
        device: cpu or cuda.
        callback: sees every step; False stops.
    """

    def __init__(self, run: Run, choice: "Choice", device: str, callback: "Callback") -> None:
        self.run, self.callback = run, callback
        self.begun, self.at = time.monotonic(), 0.0
        self.first: tuple[float, int] | None = None  # time and number of tables when the bootstrap began here
        self.last: Event | None = None
        before, asked = written(run), dataclasses.asdict(choice)
        self.before = before.seconds if _goes_on(before, asked) else 0.0
        remove_leftovers(run.path)
        self.path = run.path / "refining.jsonl"
        self._keep(_finished(run) if _goes_on(before, asked) else set())
        update(
            run, state="running", stage="", done=0, total=0, progress=0.0, start="", sweep=0, score=None, message="",
            error=None, eta=None, device=device, host=host(), choice=asked, finished_at=None,
        )  # fmt: skip

    def _keep(self, starts: set[str]) -> None:
        """Delete the history of the searches that will be repeated."""
        kept = [line for line in _lines(self.run) if line[0] in starts]
        with contextlib.suppress(OSError):  # a refinement does not depend on its curves
            write_bytes(self.path, "".join(json.dumps(line) + "\n" for line in kept).encode())

    def __call__(self, step: "Event") -> bool | None:
        now, last = time.monotonic(), self.last
        turned = last is None or (last.stage, last.start, last.sweep) != (step.stage, step.start, step.sweep)
        if turned and last is not None and last.start:
            self._line(last)  # the final score of the sweep
        self.last = step
        if turned or now - self.at >= _WRITE_SECONDS:
            self.at = now
            if step.start:
                self._line(step)
            update(self.run, durable=False, **self.standing(now))
        return self.callback(step)

    def _line(self, step: "Event") -> None:
        append_bytes(self.path, (json.dumps([step.start, step.sweep, step.score]) + "\n").encode())

    def standing(self, now: float) -> dict[str, Any]:
        """The status fields that the last step changed."""
        seconds, step = self.before + now - self.begun, self.last
        if step is None:
            return {"seconds": seconds}
        names = ("stage", "done", "total", "progress", "start", "sweep", "message")
        score = step.score if math.isfinite(step.score) else None
        return {**{name: getattr(step, name) for name in names}, "score": score, "eta": self._eta(now),
                "seconds": seconds}  # fmt: skip

    def _eta(self, now: float) -> float | None:
        """Seconds left of the bootstrap, whose tables all take about the same time."""
        if self.last is None or self.last.stage != "bootstrap":
            return None
        since, done = self.first = self.first or (now, self.last.done)
        drawn = self.last.done - done
        return (now - since) / drawn * (self.last.total - self.last.done) if drawn >= 2 else None

    def failed(self, error: BaseException) -> None:
        """Record why it did not finish, if possible; otherwise it reads as interrupted, since nobody holds the lock."""
        with contextlib.suppress(InputError):
            self._end(**{"message": "", **ending(error, "refinement")})

    def finished(self) -> None:
        """Record that it is done; its history is now part of the result."""
        self._end(state="done", progress=1.0, message="")
        _remove(self.path)

    def _end(self, **changes: Any) -> None:
        now = time.monotonic()
        update(self.run, **{**self.standing(now), "eta": None, "finished_at": time.time(), **changes})


def _finished(run: Run) -> set[str]:
    """The names of the starts whose searches are finished."""
    try:
        kept = read_json(run.path / "refining.json").get("starts")
    except (OSError, ValueError):
        return set()
    ones = [one.get("start") for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []
    return {one for one in ones if isinstance(one, str)}
