"""Where a run's refinement stands, apart from its fit: the one never touches the other's record.

refining_status.json   state, stage, progress, message, error, what was asked for
refining.jsonl         start, sweep, score of the searches as they go; gone once refined_starts.csv holds them
refining.json          finished searches and drawn tables (`disco.refine`), from which a stopped refinement goes on
"""

import dataclasses
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from disco.runs.execution import ending
from disco.runs.files import read_json, remove_leftovers, write_bytes, write_json
from disco.runs.folder import Run
from disco.runs.status import RESUMABLE, UNFINISHED, host

if TYPE_CHECKING:
    from disco.refine import Choice, Step

HISTORY = ["start", "sweep", "score"]
_WRITE_SECONDS = 0.25  # between two writings of the state, and two lines of a sweep
_MORE = ("starts", "restarts", "bootstrap")  # more of these asks for other searches of the same refinement


@dataclass(frozen=True)
class Refining:
    """The state of a refinement; only the holder of the run's lock writes it.

    Attributes:
        state: none, queued, running, done, cancelled, failed, or interrupted: unfinished, and no process alive.
        stage: screen, prior, search, evidence or bootstrap; empty before the first.
        done, total: searches, or tables drawn.
        progress: share of the whole, 0 to 1, as far as it can be known.
        start, sweep, score: of the search that goes on; nats.
        message: the same in words.
        error: one sentence, where it failed.
        seconds: of refining, summed over resumptions.
        eta: seconds left; None but while tables are drawn, since nobody knows how many sweeps a search takes.
        device, host: where it runs or ran.
        choice: what was asked for, the fields of `disco.refine.Choice`.
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
        """Whether a living process waits or works for it."""
        return self.state in UNFINISHED

    @property
    def resumable(self) -> bool:
        """Whether it can go on from the searches that were finished."""
        return self.state in RESUMABLE


def refining_status(run: Run) -> Refining:
    """Where a run's refinement stands; an unfinished one whose process is gone reads as interrupted."""
    alive = run.works_on("refine")  # asked first: a process writes its end before it lets go
    status = written(run)
    if status.active and not alive and not run.works_on("refine"):
        return dataclasses.replace(status, state="interrupted", eta=None)
    return status


def written(run: Run) -> Refining:
    """What the state file says, alive or not; a refinement of an older DISCO has none, and is done."""
    try:
        values = read_json(run.path / "refining_status.json")
    except (OSError, ValueError):
        return Refining("done", progress=1.0) if (run.path / "refined.json").exists() else Refining()
    known = {item.name for item in dataclasses.fields(Refining)}
    return Refining(**{name: value for name, value in values.items() if name in known})


def update(run: Run, *, durable: bool = True, **changes: Any) -> Refining:
    """Change some of the state; for the holder of the run's lock."""
    status = dataclasses.replace(written(run), **changes)
    write_json(run.path / "refining_status.json", dataclasses.asdict(status), durable=durable)
    return status


def queue(run: Run, choice: "Choice", device: str) -> Refining:
    """Write down that a refinement waits; what belongs to one of another choice is forgotten."""
    before, asked = written(run), dataclasses.asdict(choice)
    if not _goes_on(before, asked):
        before = Refining()
        (run.path / "refining.jsonl").unlink(missing_ok=True)
    fresh = {"state": "queued", "error": None, "eta": None, "finished_at": None, "queued_at": time.time()}
    return update(run, **{**dataclasses.asdict(before), **fresh, "host": host(), "device": device, "choice": asked})


def forget(run: Run) -> None:
    """Set an unfinished refinement aside, its searches too; a finished one stays.

    Raises:
        InputError: the run is waiting or running.
    """
    lock = run.take()
    try:
        for name in ("refining_status.json", "refining.jsonl", "refining.json"):
            (run.path / name).unlink(missing_ok=True)
    finally:
        lock.release()


def _goes_on(before: Refining, asked: dict[str, Any]) -> bool:
    """Whether a choice asks for the same searches as an unfinished refinement, or more or fewer of them."""
    same = all(before.choice.get(name) == value for name, value in asked.items() if name not in _MORE)
    return before.state not in ("none", "done") and same


def history(run: Run) -> pd.DataFrame:
    """The searches as they go, the last score of every sweep: start, sweep, score in nats."""
    kinds = {"start": "str", "sweep": "int64", "score": "float64"}
    return pd.DataFrame(_lines(run), columns=HISTORY).drop_duplicates(HISTORY[:2], keep="last").astype(kinds)


def _lines(run: Run) -> list[list[Any]]:
    """The whole lines; one that a crash tore is left out."""
    try:
        text = (run.path / "refining.jsonl").read_text(encoding="utf-8")
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        try:
            values = json.loads(line)
        except ValueError:
            continue
        if isinstance(values, list) and len(values) == len(HISTORY):
            found.append(values)
    return found


class Recorder:
    """The callback of a refinement that keeps its state and its history in the run's folder.

    Args:
        run: whose lock the caller holds.
        choice: what is asked for.
        device: cpu or cuda.
        callback: sees every step; False stops.
    """

    def __init__(self, run: Run, choice: "Choice", device: str, callback: Callable[["Step"], bool | None]) -> None:
        self.run, self.callback = run, callback
        self.begun, self.at = time.monotonic(), 0.0
        self.first: tuple[float, int] | None = None  # when, and after how many tables, drawing began here
        self.last: Step | None = None
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
        """Forget the history of searches that are done again."""
        kept = [line for line in _lines(self.run) if line[0] in starts]
        write_bytes(self.path, "".join(json.dumps(line) + "\n" for line in kept).encode())

    def __call__(self, step: "Step") -> bool | None:
        now, last = time.monotonic(), self.last
        turned = last is None or (last.stage, last.start, last.sweep) != (step.stage, step.start, step.sweep)
        if turned and last is not None and last.start:
            self._line(last)  # what the sweep ended with
        self.last = step
        if turned or now - self.at >= _WRITE_SECONDS:
            self.at = now
            if step.start:
                self._line(step)
            update(self.run, durable=False, **self.standing(now))
        return self.callback(step)

    def _line(self, step: "Step") -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([step.start, step.sweep, step.score]) + "\n")

    def standing(self, now: float) -> dict[str, Any]:
        """The part of the state that the last step changed."""
        seconds, step = self.before + now - self.begun, self.last
        if step is None:
            return {"seconds": seconds}
        names = ("stage", "done", "total", "progress", "start", "sweep", "message")
        score = step.score if math.isfinite(step.score) else None
        return {**{name: getattr(step, name) for name in names}, "score": score, "eta": self._eta(now),
                "seconds": seconds}  # fmt: skip

    def _eta(self, now: float) -> float | None:
        """Seconds left while tables are drawn, which all take about the same."""
        if self.last is None or self.last.stage != "bootstrap":
            return None
        since, done = self.first = self.first or (now, self.last.done)
        drawn = self.last.done - done
        return (now - since) / drawn * (self.last.total - self.last.done) if drawn >= 2 else None

    def failed(self, error: BaseException) -> None:
        """Write down why it did not finish."""
        self._end(**{"message": "", **ending(error, "refinement")})

    def finished(self) -> None:
        """Write down that it is done; its history lies with the result now."""
        self._end(state="done", progress=1.0, message="")
        self.path.unlink(missing_ok=True)

    def _end(self, **changes: Any) -> None:
        now = time.monotonic()
        update(self.run, **{**self.standing(now), "eta": None, "finished_at": time.time(), **changes})


def _finished(run: Run) -> set[str]:
    """The starts of the finished searches."""
    try:
        return {one["start"] for one in read_json(run.path / "refining.json")["starts"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
