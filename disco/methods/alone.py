"""python -m disco.methods.alone FOLDER: run the method that FOLDER/request.json names on FOLDER/table.parquet.

The result (`disco.graph.result`) is written there. Stdout carries one JSON object per line: while the method runs an
event (stage, done, total, progress, message), at the end {"seconds", "notes"}, or {"error"} with a sentence. Output of
libraries goes to stderr. The process ends when its stdin closes, that is, when its caller has ended.
"""

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disco import system
from disco.apart import collect_rarely

if TYPE_CHECKING:
    from disco.progress import Event

_SECONDS = 0.2  # between two reported events


class _Teller:
    """The method's callback: writes its events, a few per second at most."""

    def __init__(self, handle: int) -> None:
        self.handle, self.written_at = handle, 0.0

    def __call__(self, event: "Event") -> bool:
        time_of_event = time.monotonic()
        if time_of_event - self.written_at >= _SECONDS:
            self.written_at = time_of_event
            self.write({name: getattr(event, name) for name in ("stage", "done", "total", "progress", "message")})
        return True

    def write(self, values: dict[str, Any]) -> None:
        data = (json.dumps(values) + "\n").encode()
        while data:
            data = data[os.write(self.handle, data) :]


def main() -> None:
    """Run the method and report how it ended."""
    collect_rarely()
    teller = _Teller(os.dup(1))
    os.dup2(2, 1)
    threading.Thread(target=_end_with_caller, daemon=True).start()
    system.end_with_caller()
    system.first_to_go(1000)  # before the app
    try:
        teller.write(_result(Path(sys.argv[1]), teller))
    except MemoryError:
        teller.write({"error": "It ran out of memory: use fewer columns or rows."})
    except BaseException as error:
        teller.write({"error": _sentence(error)})


def _result(folder: Path, teller: _Teller) -> dict[str, Any]:
    import pandas as pd

    from disco.files import plain, read_json
    from disco.graph.result import write
    from disco.knowledge import Knowledge
    from disco.methods import find
    from disco.table.artefacts import ARTEFACTS
    from disco.table.roles import Roles

    request = read_json(folder / "request.json")
    roles, knowledge = request["roles"], request["knowledge"]
    result = find(
        request["method"],
        pd.read_parquet(folder / "table.parquet"),
        request["changes"],
        roles=None if roles is None else Roles.from_dict(roles),
        knowledge=None if knowledge is None else Knowledge.from_dict(knowledge),
        callback=teller,
        dismissed=ARTEFACTS,  # the caller looks once for all methods
    )
    write(folder, result)
    return {"seconds": float(result.seconds), "notes": plain(result.notes)}


def _sentence(error: BaseException) -> str:
    from disco.errors import InputError, ScoreUnavailable

    if isinstance(error, InputError | ScoreUnavailable):
        return str(error)
    if type(error).__name__ == "OutOfMemoryError":  # of torch, on a device
        return "The device ran out of memory: use fewer columns or rows."
    traceback.print_exception(error)
    sys.stderr.flush()
    return f"It failed with an unexpected {type(error).__name__}; its log says where."


def _end_with_caller() -> None:
    """Wait until stdin closes, then end this process and those that it started."""
    while os.read(0, 1):
        pass
    system.end_session(os.getpid(), at_once=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # without waiting for a library's threads and exit handlers
