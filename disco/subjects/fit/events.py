"""events.jsonl: the losses of a fit, appended while it runs and read by any page. Folds count from 1."""

import contextlib
import json
import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from disco.files import append_bytes, check_regular, read_bytes, write_bytes
from disco.runs.folder import Run
from disco.schema import fits

if TYPE_CHECKING:
    from disco.progress import Event

EVENTS = "events.jsonl"
COLUMNS = ["epoch", "stage", "fold", "train", "validation"]
TRAINING = ("joint", "projection")
_MOST_FOLDS = 1000
_MOST_BYTES = 1 << 26  # largest size read: some hundred thousand epochs
_KINDS = {"epoch": int, "stage": str, "fold": int, "train": float | None, "validation": float | None}


def read_events(run: Run) -> pd.DataFrame:
    """All losses: epoch, stage, fold, train, validation (NaN: not measured), without a line still being written.

    Any other file counts as empty.
    """
    path = run.path / EVENTS
    try:
        check_regular(path)
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
    except (OSError, ValueError):
        return _frame([])
    return _frame(_records(data[: data.rfind(b"\n") + 1]))


def rewind(run: Run, stage: str, epoch: int) -> None:
    """Delete losses that a resumed fit will rewrite, from an epoch of a training stage on, and torn lines.

    A fit resumed in a later stage rewrites none.
    """
    path = run.path / EVENTS
    try:
        data = read_bytes(path, _MOST_BYTES)
    except FileNotFoundError:
        return
    except (OSError, ValueError):  # unreadable losses: start with an empty file, if possible
        data = b""
    current = TRAINING.index(stage) if stage in TRAINING else len(TRAINING)
    records: dict[tuple[int, int, int], dict[str, Any]] = {}
    for record in _records(data):
        index = TRAINING.index(record["stage"])
        if index < current or (index == current and record["epoch"] < epoch):
            records[index, record["epoch"], record["fold"]] = record
    with contextlib.suppress(OSError):  # a fit does not depend on its curves
        write_bytes(path, "".join(json.dumps(record) + "\n" for record in records.values()).encode())


def append(run: Run, event: "Event") -> None:
    """Add an epoch's lines, one per fold still in training."""
    lines = []
    validation = event.validation or (math.nan,) * len(event.train or ())
    for fold, (train, validated) in enumerate(zip(event.train or (), validation, strict=True), start=1):
        if math.isnan(train) and math.isnan(validated):
            continue  # this fold has stopped
        values = (event.done, event.stage, fold, _finite(train), _finite(validated))
        lines.append(json.dumps(dict(zip(COLUMNS, values, strict=True))) + "\n")
    if lines:
        append_bytes(run.path / EVENTS, "".join(lines).encode())


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _records(data: bytes) -> list[dict[str, Any]]:
    """The complete lines of JSON, without torn or damaged ones."""
    lines = [line for line in data.decode("utf-8", "replace").split("\n") if line]
    try:
        values = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        values = [line_value(line) for line in lines]
    return [value for value in values if _is_record(value)]


def line_value(line: str) -> Any:
    """The value of a line of JSON; None if it is torn or damaged."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_record(value: Any) -> bool:
    is_whole = isinstance(value, dict) and all(name in value and fits(value[name], _KINDS[name]) for name in COLUMNS)
    return is_whole and value["stage"] in TRAINING and value["epoch"] > 0 and 0 < value["fold"] <= _MOST_FOLDS


def _frame(records: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(records, columns=COLUMNS)
    kinds = {"epoch": "int64", "stage": "str", "fold": "int64", "train": "float64", "validation": "float64"}
    return frame.astype(kinds)
