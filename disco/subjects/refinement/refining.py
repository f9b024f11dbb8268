"""Refine a run in this process, and the files of an unfinished refinement beside its status.

refining.jsonl   start, sweep, score of the running searches; deleted once they are in refined_starts.csv
refining.json    finished searches and bootstrap tables (`disco.refine`), for resuming a stopped refinement
refining_graph.json  the best graph so far: its order, the gains of its edges, and which directions are decided
refining.enough  a mark: the search should end with that graph, or the evidence on its edges too
"""

import contextlib
import dataclasses
import json
import math
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from disco.errors import InputError
from disco.fields import continues
from disco.files import append_bytes, read_bytes, read_json, remove_leftovers, unwritten, write_bytes, write_json
from disco.graph.result import GraphResult
from disco.progress import AT_ONCE, ENOUGH
from disco.refine.refinement_result import METHOD
from disco.runs import artefacts
from disco.runs.folder import Run
from disco.runs.locks import Lock
from disco.runs.status import unasked
from disco.schema import check_kept, fits, is_text
from disco.subjects.fit.events import line_value
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement import REFINE, RefinementStatus
from disco.subjects.refinement.refined import CHECK, FILES, agree, choice_from, read_check, read_refined, save
from disco.table.artefacts import ARTEFACTS
from disco.work.jobs import Doing
from disco.work.recording import Recorder

if TYPE_CHECKING:
    from disco.progress import Callback, Event, Sketch
    from disco.refine import Choice, Refined
    from disco.subjects.refinement.refine_forecast import Trial

HISTORY = ["start", "sweep", "score"]
_HISTORY_BYTES, _GRAPH_BYTES = 1 << 24, 1 << 26
_SHARE = 0.5  # of the search in the time of a run whose artefacts are still due
_GRAPH, _ENOUGH = "refining_graph.json", "refining.enough"


def queued(run: Run, choice: "Choice", trial: "Trial | None" = None) -> RefinementStatus:
    """The initial status of a queued refinement; searches with another choice are deleted.

    `trial` is that of the run's table, if there has been one. An `InputError` if a number is too large to be stored.
    """
    previous, requested = run.written_status(REFINE), dataclasses.asdict(choice)
    check_kept(requested)
    if not _resumes(previous, choice):
        previous = unasked(REFINE)
        _remove_searches(run)
    if trial is not None:
        _begin_with(run, trial)
    return dataclasses.replace(previous, choice=requested)


def expected(run: Run, choice: "Choice | None" = None, trial: "Trial | None" = None) -> float | None:
    """The seconds that a queued refinement will take on an idle machine; None without a trial of its table."""
    return None if choice is None or trial is None else trial.seconds(choice)


def measured(run: Run, callback: "Callback | None") -> float:
    """The same from a new trial, whose graph is the first."""
    from disco.subjects.refinement.refine_forecast import of_run  # imports the compiler

    trial = of_run(run, callback)
    _begin_with(run, trial)
    return trial.seconds(choice_from(run.written_status(REFINE).choice))


def _begin_with(run: Run, trial: "Trial") -> None:
    """The graph of a trial as the best so far, unless a search has reported a better one."""
    if not os.path.lexists(run.path / _GRAPH):
        _tell(run, trial.graph)


def _tell(run: Run, graph: "Sketch") -> None:
    with contextlib.suppress(OSError):  # a refinement does not need its sketches
        write_json(run.path / _GRAPH, graph._asdict(), durable=False)


def recorder_of(run: Run, choice: "Choice", callback: "Callback | None") -> Recorder:
    """The recording callback of a refinement; the caller holds the run's lock."""
    previous, requested = run.written_status(REFINE), dataclasses.asdict(choice)
    is_resumed = _resumes(previous, choice)
    remove_leftovers(run.path)
    searches = _SearchRecord(run, _finished(run) if is_resumed else set())
    fresh = {"stage": "", "done": 0, "total": 0, "progress": 0.0, "start": "", "sweep": 0, "score": None, "best": None}
    seconds = previous.seconds if is_resumed else 0.0
    return Recorder(run, REFINE, searches, callback, seconds=seconds, device="cpu", choice=requested, **fresh)


def refine_run(run: Run, choice: "Choice", *, callback: "Callback | None" = None) -> "Refined":
    """Refine a run's table, starting from its causal order and edges if it has them, and save the result in the run.

    After an interruption, the same call continues after the finished searches. The caller holds the run's lock.
    """
    from disco.refine import refine  # imports the compiler
    from disco.refine.refinement_result import withheld

    recorder, memory = recorder_of(run, choice, callback), run.path / "refining.json"
    _remove(run.path / _ENOUGH)
    share = _SHARE if artefacts.of(run).due else 1.0

    def relay(event: "Event") -> bool | str | None:
        answer = recorder(dataclasses.replace(event, progress=share * event.progress))
        return answer if answer is False else ending(run) or answer

    def look(event: "Event") -> bool | str | None:
        return recorder(dataclasses.replace(event, stage="artefacts", progress=share + (1 - share) * event.progress))

    with recorder.watch():
        fit = StoredFit(run) if (run.path / "edges.csv").exists() else None
        result = refine(
            run.prepared(),
            choice,
            settings=run.settings,
            order=fit.order if fit else None,
            edges=fit.edges() if fit else None,
            knowledge=run.knowledge(),
            callback=relay,
            memory=memory,
            dismissed=ARTEFACTS,  # those of the run count, which may be dismissed later
        )
        judged = artefacts.of(run)  # whoever ended the search need not wait for what is due
        save(run.path, withheld(result, judged.standing, bool(judged.due)), choice)
        artefacts.complete(run, look)
        agree(run)  # what was found or dismissed meanwhile
    recorder.finished()
    discard_history(run)
    with contextlib.suppress(OSError):
        memory.unlink(missing_ok=True)
    return withheld(result, artefacts.of(run).standing)


def discard_history(run: Run) -> None:
    """Delete the searches of a finished refinement, since its result includes them."""
    _remove_searches(run)


def _remove_searches(run: Run) -> None:
    for name in ("refining.jsonl", _GRAPH, _ENOUGH):
        _remove(run.path / name)


def stop_here(run: Run, seen: RefinementStatus | None = None) -> None:
    """Let a running search end with the best graph so far, as its result, or then the evidence with what is computed;
    without effect on other work. `seen` is the status at which the reader decided so, by default that of now.
    """
    run.check_own()
    try:
        write_bytes(run.path / _ENOUGH, _end_of(seen or run.status(REFINE)).encode())
    except OSError as error:
        raise unwritten(run.path, error) from error


def _end_of(status: RefinementStatus) -> str:
    return AT_ONCE if status.stage == "evidence" else ENOUGH


def is_ending(run: Run, status: RefinementStatus) -> bool:
    """Whether what runs at a status, the search or its evidence, was told to end."""
    return ending(run) in (AT_ONCE, _end_of(status))


def ending(run: Run) -> str:
    """Whether a running search is to end with its best graph, `ENOUGH`, or its evidence too, `AT_ONCE`; else empty."""
    try:
        answer = read_bytes(run.path / _ENOUGH, _GRAPH_BYTES).decode()
    except (OSError, ValueError):
        return ""
    return AT_ONCE if answer == AT_ONCE else ENOUGH


def so_far(run: Run) -> GraphResult | None:
    """The best graph of a running search, with gain_nats as predicted; None without one.

    Directions are decided once the search has ended and the strongest edges are judged. A damaged file counts as none:
    the search will write another.
    """
    try:
        content = read_json(run.path / _GRAPH, _GRAPH_BYTES)
        order, edges, decided = content["order"], content["edges"], content["decided"]
        if not fits(order, list[str]) or sorted(order) != sorted(run.nodes) or not isinstance(edges, list):
            return None
        if not fits(decided, list[list[str]]):
            return None
        positions = {name: position for position, name in enumerate(order)}
        if not all(fits(pair, list[str]) and positions[pair[0]] < positions[pair[1]] for *pair, _ in edges):
            return None
        frame = pd.DataFrame(edges, columns=["parent", "child", "gain_nats"]).astype({"gain_nats": float})
        if not frame["gain_nats"].map(math.isfinite).all():
            return None
    except (OSError, ValueError, TypeError, KeyError, IndexError):
        return None
    judged = artefacts.of(run)
    sure = set() if judged.standing or judged.due else {tuple(pair) for pair in decided}
    frame = frame.sort_values("gain_nats", ascending=False, kind="stable", ignore_index=True)
    frame["decided"] = [pair in sure for pair in zip(frame["parent"], frame["child"], strict=True)]
    return GraphResult(order, frame, method=METHOD)


def forget(run: Run) -> None:
    """Delete an unfinished refinement with its searches, but no finished one; an `InputError` if the run is queued or
    running.
    """
    lock = run.take()
    try:
        _remove_searches(run)
        for name in (REFINE.file, "refining.json"):
            _remove(run.path / name)
        if os.path.lexists(run.path / REFINE.file):
            raise InputError(f"{run.path / REFINE.file} cannot be removed: give write access to its folder.")
    finally:
        lock.release()


def _remove(path: Path) -> None:
    """Delete a file, or anything with its name, if possible."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _resumes(previous: RefinementStatus, choice: "Choice") -> bool:
    """Whether a choice resumes an unfinished refinement: the same searches, or another number of them."""
    return previous.state not in ("none", "done") and continues(choice, previous.choice)


def history(run: Run) -> pd.DataFrame:
    """The searches so far, with each sweep's last score: start, sweep, score in nats."""
    kinds = {"start": "str", "sweep": "int64", "score": "float64"}
    return pd.DataFrame(_lines(run), columns=HISTORY).drop_duplicates(HISTORY[:2], keep="last").astype(kinds)


def _lines(run: Run) -> list[list[Any]]:
    try:
        text = read_bytes(run.path / "refining.jsonl", _HISTORY_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return []
    kinds = (str, int, float | None)
    values = [line_value(line) for line in text.splitlines()]
    return [
        value
        for value in values
        if isinstance(value, list) and len(value) == len(kinds) and all(map(fits, value, kinds)) and is_text(value[0])
    ]


class _SearchRecord:
    """The refinement's own part of the record: its searches by sweep, and the bootstrap's remaining time.

    Lines of searches other than the `finished` ones, given by their starts, are deleted: these will be repeated.
    """

    def __init__(self, run: Run, finished: set[str]) -> None:
        self.run, self.path = run, run.path / "refining.jsonl"
        self.first = "", 0.0, 0  # stage, time, and number of steps at its first step here
        self.last: Event | None = None
        lines = [line for line in _lines(run) if line[0] in finished]
        self.best = max((line[2] for line in lines if line[2] is not None), default=-math.inf)
        with contextlib.suppress(OSError):  # a refinement does not need its curves
            write_bytes(self.path, "".join(json.dumps(line) + "\n" for line in lines).encode())

    def hear(self, event: "Event", moment: float, is_late: bool) -> bool:
        last, self.last = self.last, event
        # Graphs without a score come before those of the searches, or after them, in the evidence.
        score = event.score if math.isfinite(event.score) else math.inf if event.stage == "evidence" else -math.inf
        if math.isfinite(score):
            self.best = max(self.best, score)
        graph = None if last is not None and event.graph is last.graph else event.graph  # events are repeated
        if graph is not None and self.best <= score:
            _tell(self.run, graph)
        turned = last is None or (last.stage, last.start, last.sweep) != (event.stage, event.start, event.sweep)
        if turned and last is not None and last.start:
            self._line(last)  # the final score of the sweep
        if (turned or is_late) and event.start:
            self._line(event)
        return turned or is_late

    def _line(self, event: "Event") -> None:
        append_bytes(self.path, (json.dumps([event.start, event.sweep, event.score]) + "\n").encode())

    def standing(self, moment: float) -> dict[str, Any]:
        event = self.last
        assert event is not None  # the recorder calls this only after an event
        score, best = (value if math.isfinite(value) else None for value in (event.score, self.best))
        search = {"start": event.start, "sweep": event.sweep, "score": score, "best": best}
        return {**search, "eta": self._remaining(event, moment)}

    def _remaining(self, event: "Event", moment: float) -> float | None:
        """Remaining seconds of the evidence or of the bootstrap, whose edges or tables take about equal times."""
        if event.stage not in ("evidence", "bootstrap"):
            return None
        if self.first[0] != event.stage:
            self.first = event.stage, moment, event.done
        _, since, first_done = self.first
        ended, remaining = event.done - first_done, event.total - event.done
        return (moment - since) / ended * remaining if ended >= 2 and remaining else None


def _finished(run: Run) -> set[str]:
    """The names of the starts whose searches are finished."""
    try:
        starts = read_json(run.path / "refining.json").get("starts")
    except (OSError, ValueError):
        return set()
    names = [start.get("start") for start in starts if isinstance(start, dict)] if isinstance(starts, list) else []
    return {start for start in names if isinstance(start, str)}


def _do(run: Run, lock: Lock, callback: "Callback | None") -> "Refined":
    return refine_run(run, choice_from(run.written_status(REFINE).choice), callback=callback)


def _request(run: Run) -> tuple["Choice"]:
    return (choice_from(run.written_status(REFINE).choice),)


def _packed(run: Run) -> tuple[str, ...]:
    return _FILES if (run.path / REFINE.result).exists() else ()


def _check(run: Run) -> None:
    if run.written_status(REFINE).state == "done" or _packed(run):
        read_refined(run)
    if (path := run.path / CHECK).exists() and read_check(run) is None:
        path.unlink()


_FILES = (REFINE.file, *FILES, REFINE.result, CHECK)
DOING = Doing(queued, _do, expected, measured, _request, _FILES, _packed, _check)
