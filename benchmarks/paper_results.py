"""Result lines: one JSON object per (table, row, nodes, seed, method, fits), appended once it is known."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def path_of(folder: Path, table: str) -> Path:
    """The file of a table's lines."""
    return folder / f"{table}.jsonl"


def key(line: Line) -> tuple:
    """The key of a line; of lines with the same key, the last one counts."""
    return (line["table"], line["row"], line["nodes"], line["seed"], line["method"], tuple(line["fits"]))


def read(folder: Path, table: str) -> dict[tuple, Line]:
    """A table's lines by key, without a line torn by an interruption."""
    path = path_of(folder, table)
    return {key(line): line for line in lines(path.read_bytes())} if path.exists() else {}


def append(folder: Path, line: Line) -> None:
    """Add a line to its table's file."""
    append_line(path_of(folder, line["table"]), line)


def append_line(path: Path, line: Line) -> None:
    """Append a line to a file, replacing a torn one; several processes may write at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
    with open(path, "ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def lines(data: bytes) -> Iterator[Line]:
    """The complete lines; anything after the last line feed is a torn line."""
    for text in data[: data.rfind(b"\n") + 1].decode().split("\n")[:-1]:
        yield json.loads(text)
