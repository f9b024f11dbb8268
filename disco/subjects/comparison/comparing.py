"""Run other methods on a run's table, each in a separate process: one after the other, or on the machines of a cluster.

A method that fails or times out does not stop the rest. Finished methods are kept after a stop, and run again only with
other options.
"""

import dataclasses
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from disco.cluster import each
from disco.errors import InputError
from disco.files import remove_leftovers, unwritten, write_bytes, write_json
from disco.knowledge import Knowledge
from disco.methods import METHODS
from disco.methods.isolated import OutOfTime, find_apart
from disco.progress import Event, Reporter
from disco.runs import artefacts
from disco.runs.folder import Run
from disco.runs.status import Work
from disco.subjects.comparison import COMPARE, ComparisonStatus, compared
from disco.subjects.comparison.compared import MethodResult, MethodsRequest
from disco.subjects.fit import FIT
from disco.subjects.refinement import REFINE
from disco.table.roles import Roles
from disco.work.jobs import Doing
from disco.work.recording import Recorder

if TYPE_CHECKING:
    from disco.progress import Callback

_OWN: dict[str, Work[Any]] = {"disco": FIT, "refined": REFINE}  # the methods that a run itself may have made
_START = 1.0  # seconds to start the process of a method
_SURE = 0.05  # share of the work after which its pace predicts the remaining time


def left(run: Run, request: MethodsRequest) -> list[str]:
    """The remaining methods: without those done with the same options, or timed out at the same limit."""
    ended = {result.method: result for result in compared.read_all(run)}
    return [name for name in request.methods if not _is_kept(ended.get(name), request.options(name), request.limit)]


def _is_kept(ended: MethodResult | None, options: dict[str, Any], limit: float) -> bool:
    if ended is None or ended.options != options:
        return False
    return ended.state == "done" or (ended.state == "timeout" and ended.limit >= limit)


def queued(run: Run, request: MethodsRequest) -> ComparisonStatus:
    """The initial status of a queued comparison; an `InputError` if every method is done."""
    if not left(run, request):
        raise InputError("All of these methods have already run on this table with the same options.")
    try:
        write_json(run.path / compared.ASKED, {"methods": request.methods, "limit": request.limit})
    except OSError as error:
        raise unwritten(run.path, error) from error
    return run.written_status(COMPARE)


def expected(run: Run, request: MethodsRequest | None = None) -> float | None:
    """The seconds that the remaining methods of the last request take; None if it cannot be read."""
    request = request or compared.asked(run)
    return None if request is None else sum(_seconds(run, request, left(run, request)))


def _seconds(run: Run, request: MethodsRequest, names: Sequence[str]) -> list[float]:
    return [min(seconds(run, name), request.limit) for name in names]


def seconds(run: Run, name: str) -> float:
    """The seconds of a method with its start: of the run's own fit or search, or roughly, on one idle core."""
    measured = 0.0
    if name in _OWN and (status := run.status(_OWN[name])).state == "done":
        measured = status.seconds
    return _START + (measured or METHODS[name].seconds(*run.shape))


def compare_run(run: Run, *, callback: "Callback | None" = None) -> list[MethodResult]:
    """Run the remaining methods of the last request; returns the outcome of each requested one.

    The caller holds the run's lock.
    """
    request = compared.asked(run)
    if request is None:
        raise InputError(f"{run.path / compared.ASKED} is missing or damaged: start the comparison again.")
    remove_leftovers(run.path)
    names = left(run, request)
    methods = _Methods(names, _seconds(run, request, names))
    fresh: dict[str, Any] = {"stage": "", "done": 0, "total": len(names), "progress": 0.0, "method": ""}
    recorder = Recorder(run, COMPARE, methods, callback, device="cpu", **fresh)
    with recorder.watch():
        shared = (run.with_roles(), run.roles, run.knowledge())
        tasks = [(name, request.methods[name], request.limit) for name in names]
        reporters = [methods.reporter(index, recorder) for index in range(len(names))]
        reporter = Reporter(lambda event: recorder(methods.last), {"methods": 1.0})
        results = each(_outcome, shared, tasks, reporter, reporters)
        try:
            for index, name in enumerate(names):
                methods.begin(index)
                ended, log = next(results)
                ended = dataclasses.replace(ended, options=request.options(name))
                path = compared.make_folder(run, name) / "log.txt"
                if log:
                    write_bytes(path, log, durable=False)
                else:
                    path.unlink(missing_ok=True)  # of an earlier attempt
                compared.save(run, ended)
        finally:
            results.close()
            compared.write_table(run)
        artefacts.complete(run, lambda event: recorder(methods.last))
    recorder.finished(done=len(names), method="")
    return [result for result in compared.read_all(run) if result.method in request.methods]


def _outcome(
    table: pd.DataFrame,
    roles: Roles | None,
    knowledge: Knowledge | None,
    task: tuple[str, Mapping[str, Any], float],
    reporter: Reporter,
) -> tuple[MethodResult, bytes]:
    """The outcome of a method, and the end of its output.

    Args:
        task: its name, the options that differ from its defaults, and its time limit in seconds.
    """
    (name, changes, limit), began = task, time.monotonic()
    ended = MethodResult(name, "done", {}, limit=limit)
    with tempfile.TemporaryDirectory(prefix="disco-") as folder:
        log = Path(folder) / "log.txt"
        arguments: dict[str, Any] = {"roles": roles, "knowledge": knowledge, "limit": limit, "log": log}
        try:
            result = find_apart(name, table, changes, **arguments, callback=reporter.relay)
            ended = dataclasses.replace(ended, seconds=result.seconds, notes=result.notes, found=result)
        except InputError as error:
            state = "timeout" if isinstance(error, OutOfTime) else "failed"
            ended = dataclasses.replace(ended, state=state, seconds=time.monotonic() - began, error=str(error))
        return ended, log.read_bytes()


class _Methods:
    """The comparison's own part of the record: the first unfinished method, and the remaining time at the pace so far.

    `seconds`, one rough estimate per name, are the methods' shares of the progress.
    """

    def __init__(self, names: Sequence[str], seconds: Sequence[float]) -> None:
        self.names, self.shares = names, [duration / sum(seconds) for duration in seconds]
        self.progress = [0.0] * len(names)
        self.method = self.written = ""
        self.began, self.last = time.monotonic(), Event("methods", 0, len(names), 0.0)

    def begin(self, index: int) -> None:
        """Wait for a method; all that precede it have ended."""
        self.method, self.progress[:index] = self.names[index], [1.0] * index
        self._note(index, "")

    def reporter(self, index: int, recorder: Recorder) -> Reporter:
        """The reporter of one method, whose events become part of the comparison's."""

        def relay(event: Event) -> bool | str | None:
            self.progress[index] = event.progress
            self._note(self.last.done, event.message)
            return recorder(self.last)

        return Reporter(relay, {"methods": 1.0})

    def _note(self, finished: int, message: str) -> None:
        share = sum(share * progress for share, progress in zip(self.shares, self.progress, strict=True))
        self.last = Event("methods", finished, len(self.names), min(share, 1.0), message)

    def hear(self, event: Event, moment: float, is_late: bool) -> bool:
        turned, self.written, self.last = self.method != self.written, self.method, event
        return turned or is_late

    def standing(self, moment: float) -> dict[str, Any]:
        share = self.last.progress
        eta = (moment - self.began) * (1 - share) / share if share >= _SURE else None
        return {"method": self.method, "eta": eta}


def _check(run: Run) -> None:
    for method in compared.names(run):
        compared.read_one(run, method), compared.read_scores(run, method)
    compared.write_table(run)


_FILES = (compared.TABLE, *(f"{compared.FOLDER}/{method}/{name}" for method in METHODS for name in compared.FILES))
DOING = Doing(
    queued,
    lambda run, lock, callback: compare_run(run, callback=callback),
    expected,
    request=lambda run: (compared.asked(run),),
    files=_FILES,
    packed=lambda run: _FILES,
    check=_check,
)
