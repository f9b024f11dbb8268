"""A refinement beside a run's own result: neither replaces the other.

refined_order.csv   position from 1, node; source first
refined_edges.csv   parent, child and the evidence on each edge, strongest first
refined_starts.csv  start, sweep, score
refined_orders.csv  start, position, node: where every search ended
refined_moves.csv   node, its place before and after, gain_nats; where there was an order before
refined.json        what was asked for, the best start, its score; written last
refined_check.json  the model check of the refinement, where one was made

How far an unfinished one is: `disco.runs.refining`.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from disco.errors import InputError
from disco.likelihood.check import Check
from disco.refine import Choice, Refined, Step, refine
from disco.runs.files import read_frame, read_json, write_frame, write_json
from disco.runs.folder import Run
from disco.runs.refining import Recorder, Refining, refining_status

_MORE = (("moves", ("node",)), ("orders", ("start", "node")))  # frames that an older refinement lacks

__all__ = ["Refining", "choice_of", "read_check", "read_refined", "refine_run", "refining_status", "save", "save_check"]


def refine_run(
    run: Run, choice: Choice, *, device: str = "cpu", callback: Callable[[Step], bool | None] = lambda step: None
) -> Refined:
    """Refine a run's table, from its causal order and edges where it has them, and keep the result in its folder.

    The same call after an interruption goes on from the searches that were finished. The caller holds the run's lock.

    Raises:
        InputError: the table cannot be refined.
        FitStopped: the callback asked to stop.
    """
    recorder = Recorder(run, choice, device, callback)
    memory = run.path / "refining.json"
    try:
        fitted = (run.path / "edges.csv").exists()
        result = refine(
            run.table(),
            choice,
            settings=run.settings,
            order=run.order() if fitted else None,
            edges=run.edges() if fitted else None,
            device=device,
            callback=recorder,
            memory=memory,
        )
        save(run.path, result, choice)
    except BaseException as error:
        recorder.failed(error)
        raise
    recorder.finished()
    memory.unlink(missing_ok=True)
    return result


def save(folder: Path, result: Refined, choice: Choice) -> None:
    """Write a refinement into a run's folder."""
    for name in ("refined.json", "refined_check.json"):  # half of an old one and half of a new one is none
        (folder / name).unlink(missing_ok=True)
    positions = pd.DataFrame({"position": range(1, len(result.order) + 1), "node": result.order})
    write_frame(folder / "refined_order.csv", positions)
    write_frame(folder / "refined_edges.csv", result.edges)
    write_frame(folder / "refined_starts.csv", result.starts)
    for name, frame in (("moves", result.moves), ("orders", result.orders)):
        (folder / f"refined_{name}.csv").unlink(missing_ok=True)
        if frame is not None:
            write_frame(folder / f"refined_{name}.csv", frame)
    found = {"best": result.best, "score": result.score, "candidates": result.candidates, "fits": result.fits}
    write_json(folder / "refined.json", {"choice": dataclasses.asdict(choice), **found})


def read_refined(run: Run) -> Refined:
    """The refinement of a run.

    Raises:
        InputError: it has none.
    """
    if not (run.path / "refined.json").exists():
        raise InputError(f"The run {run.name} has no refinement yet; disco refine makes one.")
    head: dict[str, Any] = read_json(run.path / "refined.json")
    order = read_frame(run.path / "refined_order.csv", ("node",)).sort_values("position")["node"].tolist()
    edges = read_frame(run.path / "refined_edges.csv", ("parent", "child"))
    starts = read_frame(run.path / "refined_starts.csv", ("start",))
    more = [_read_if_there(run.path / f"refined_{name}.csv", words) for name, words in _MORE]
    numbers = (head[name] for name in ("best", "score", "candidates", "fits"))
    return Refined(order, edges, starts, *numbers, *more)


def _read_if_there(path: Path, words: tuple[str, ...]) -> pd.DataFrame | None:
    return read_frame(path, words) if path.exists() else None


def save_check(run: Run, check: Check) -> None:
    """Keep the model check of a run's refinement beside it, until the next refinement."""
    found = {field.name: getattr(check, field.name) for field in dataclasses.fields(check)}
    frames = {name: value.to_dict("list") for name, value in found.items() if isinstance(value, pd.DataFrame)}
    write_json(run.path / "refined_check.json", {**found, **frames})


def read_check(run: Run) -> Check | None:
    """The model check that a run's refinement has; None where it has none that can be read."""
    try:
        found = read_json(run.path / "refined_check.json")
        return Check(
            **{name: pd.DataFrame(value) if isinstance(value, dict) else value for name, value in found.items()}
        )
    except (OSError, ValueError, TypeError):
        return None


def choice_of(run: Run) -> dict[str, Any]:
    """What the refinement that a run holds was asked for; empty where it does not say."""
    try:
        return dict(read_json(run.path / "refined.json")["choice"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
