"""Files that are either wholly there or not: written beside their place, then renamed into it."""

import csv
import io
import json
import math
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file at once; `durable` waits until the disk holds it, so that it outlives a power cut."""
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    if durable:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Delete what a killed writer left beside its files."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    """Write readable JSON; numbers that are not finite become null."""
    write_bytes(path, json.dumps(plain(value), indent=1, ensure_ascii=False).encode(), durable=durable)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; OSError or ValueError where there is none."""
    value = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds no JSON object.")
    return value


def plain(value: Any) -> Any:
    """The same value of JSON's own types: arrays as lists, numbers that are not finite as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # a NumPy or torch array or number
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a tidy frame as CSV; words are quoted, numbers keep every digit."""
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    write_bytes(path, text.encode())


def read_frame(path: Path, words: Sequence[str]) -> pd.DataFrame:
    """Read a tidy frame; the columns in `words` hold names, taken letter by letter ("NA" is a name)."""
    data = path.read_bytes()
    numbers = [name for name in pd.read_csv(io.BytesIO(data), nrows=0).columns if name not in words]
    return pd.read_csv(
        io.BytesIO(data),
        dtype=dict.fromkeys(words, "str"),
        keep_default_na=False,
        na_values={name: [""] for name in numbers},
    )
