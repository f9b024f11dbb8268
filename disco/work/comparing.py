"""Run other methods on a run's table, one after the other, each in a separate process.

A method that fails or times out does not stop the rest. Finished methods are kept after a stop, and run again only with
other options.
"""

import dataclasses
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from disco.errors import InputError
from disco.files import remove_leftovers, unwritten, write_json
from disco.methods import METHODS
from disco.methods.apart import OutOfTime, find_apart
from disco.progress import Event
from disco.runs import compared
from disco.runs.compared import Asked, Ended
from disco.runs.folder import Run
from disco.runs.status import COMPARE, Status
from disco.work.recording import Recorder

if TYPE_CHECKING:
    from disco.progress import Callback

_START = 1.0  # seconds to start the process of a method
_SURE = 0.05  # share of the work after which its pace predicts the remaining time


def left(run: Run, asked: Asked) -> list[str]:
    """The remaining methods: without those done with the same options, or timed out at the same limit."""
    ended = {one.method: one for one in compared.read_all(run)}
    return [name for name in asked.methods if not _is_kept(ended.get(name), asked.options(name), asked.limit)]


def _is_kept(ended: Ended | None, options: dict[str, Any], limit: float) -> bool:
    if ended is None or ended.options != options:
        return False
    return ended.state == "done" or (ended.state == "timeout" and ended.limit >= limit)


def queued(run: Run, asked: Asked) -> Status:
    """The initial status of a queued comparison.

    Raises:
        InputError: every method is done, or the request cannot be written.
    """
    if not left(run, asked):
        raise InputError("All of these methods have already run on this table with the same options.")
    try:
        write_json(run.path / compared.ASKED, {"methods": asked.methods, "limit": asked.limit})
    except OSError as error:
        raise unwritten(run.path, error) from error
    return run.written_status(COMPARE)


def expected(run: Run, asked: Asked | None = None) -> float | None:
    """The seconds that the remaining methods of the last request take; None if it cannot be read."""
    asked = asked or compared.asked(run)
    return None if asked is None else sum(_seconds(run, asked, left(run, asked)))


def _seconds(run: Run, asked: Asked, names: Sequence[str]) -> list[float]:
    """The seconds of each method, roughly."""
    return [min(seconds(name, *run.shape), asked.limit) for name in names]


def seconds(name: str, rows: int, nodes: int) -> float:
    """The seconds of a method on one idle core, roughly, with the start of its process."""
    return METHODS[name].seconds(rows, nodes) + _START


def compare_run(run: Run, *, callback: "Callback | None" = None) -> list[Ended]:
    """Run the remaining methods of the last request; the caller holds the run's lock.

    Returns:
        The outcome of each requested method.

    Raises:
        InputError: the run cannot be read or written.
    """
    asked = compared.asked(run)
    if asked is None:
        raise InputError(f"{run.path / compared.ASKED} is missing or damaged: start the comparison again.")
    remove_leftovers(run.path)
    names = left(run, asked)
    foretold = _seconds(run, asked, names)
    part = _Methods()
    fresh: dict[str, Any] = {"stage": "", "done": 0, "total": len(names), "progress": 0.0, "method": ""}
    recorder = Recorder(run, COMPARE, part, callback, device=run.written_status(COMPARE).device, **fresh)
    with recorder.watch():
        try:
            for index, name in enumerate(names):
                part.method = name
                shares = sum(foretold[:index]) / sum(foretold), foretold[index] / sum(foretold)
                _run_one(run, asked, name, _told(recorder, index, len(names), shares))
        finally:
            compared.write_table(run)
    recorder.finished(done=len(names), method="")
    return [one for one in compared.read_all(run) if one.method in asked.methods]


def _told(recorder: Recorder, index: int, total: int, shares: tuple[float, float]) -> "Callback":
    """The callback of one method, whose events become part of the comparison's.

    Args:
        shares: shares of the whole work: before the method, and the method itself.
    """
    return lambda event: recorder(
        Event("methods", index, total, min(shares[0] + shares[1] * event.progress, 1.0), event.message)
    )


def _run_one(run: Run, asked: Asked, name: str, callback: "Callback") -> None:
    """Run a method and write its outcome."""
    log, began = compared.make_folder(run, name) / "log.txt", time.monotonic()
    ended = Ended(name, "done", asked.options(name), limit=asked.limit)
    table, roles, knowledge = run.with_roles(), run.roles, run.knowledge()
    try:
        found = find_apart(
            name,
            table,
            asked.methods[name],
            roles=roles,
            knowledge=knowledge,
            limit=asked.limit,
            log=log,
            callback=callback,
        )
        ended = dataclasses.replace(ended, seconds=found.seconds, notes=found.notes, found=found)
    except InputError as error:
        state = "timeout" if isinstance(error, OutOfTime) else "failed"
        ended = dataclasses.replace(ended, state=state, seconds=time.monotonic() - began, error=str(error))
    if log.stat().st_size == 0:
        log.unlink()
    compared.save(run, ended)


class _Methods:
    """The comparison's own part of the record: the current method, and the remaining time at the pace so far."""

    def __init__(self) -> None:
        self.method = self.written = ""
        self.began, self.last = time.monotonic(), Event("methods", 0, 1, 0.0)

    def hear(self, event: Event, now: float, is_late: bool) -> bool:
        turned, self.written, self.last = self.method != self.written, self.method, event
        return turned or is_late

    def standing(self, now: float) -> dict[str, Any]:
        share = self.last.progress
        eta = (now - self.began) * (1 - share) / share if share >= _SURE else None
        return {"method": self.method, "eta": eta}
