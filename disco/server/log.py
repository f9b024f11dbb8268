"""The server's log: one JSON object per line on stderr, for log collectors."""

import json
import logging
import re
import sys
import time
from typing import Any, TextIO

from disco.errors import printable
from disco.server import streamlit_internals, users

MOST = 100  # lines per minute of the same kind
_MINUTE = 60.0  # seconds
_LONGEST = 500
_QUERY = re.compile(r"\?[^\s\"']+")
_LOGGER = logging.getLogger("disco.server")


class _Seldom(logging.Filter):
    """Limits the lines per minute from one line of code; the first line of a later minute counts those left out.

    Otherwise a client that makes the server fail repeatedly would fill its disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, object], tuple[float, int]] = {}  # beginning of the minute, and how many times

    def filter(self, record: logging.LogRecord) -> bool:
        what = (record.pathname, record.msg if record.name == _LOGGER.name else record.lineno)
        begun, count = self._seen.get(what, (record.created, 0))
        if record.created - begun >= _MINUTE:
            record.left_out, begun, count = max(count - MOST, 0), record.created, 0
        self._seen[what] = begun, count + 1
        return count < MOST


class _LogLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        origin = {"time": when, "level": record.levelname.lower(), "from": record.name}
        text = {"event": printable(_without_queries(record.getMessage()), _LONGEST), **getattr(record, "facts", {})}
        if record.exc_info:
            text["trace"] = _without_queries(self.formatException(record.exc_info))
        if left_out := getattr(record, "left_out", 0):
            text["left_out_before"] = left_out
        return json.dumps({**origin, **text}, ensure_ascii=False, default=str)


def _without_queries(text: str) -> str:
    """A text without the queries of addresses, which may hold the secret of an invitation."""
    return _QUERY.sub("?…", text)


def _writes(stream: TextIO) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_LogLines())
    handler.addFilter(_Seldom())
    return handler


def begin() -> None:
    """Write the logs of Streamlit, the web server and this program as JSON lines."""
    root = logging.getLogger()
    root.handlers[:] = [_writes(sys.stderr)]
    root.setLevel(logging.INFO)
    import uvicorn.config

    uvicorn.config.LOGGING_CONFIG.update(handlers={}, loggers={})
    for library_logger in (*streamlit_internals.loggers(), *map(logging.getLogger, ("uvicorn", "uvicorn.error"))):
        library_logger.handlers.clear()
        library_logger.propagate = True


def event(name: str, **facts: Any) -> None:
    """Log an event."""
    short = {key: printable(value, _LONGEST) if isinstance(value, str) else value for key, value in facts.items()}
    _LOGGER.info(name, extra={"facts": short})


def act(name: str, **facts: Any) -> None:
    """Log an admin's action, with the admin."""
    admin = users.current()
    who = {} if admin is None else {"admin": admin.id, "admin_name": admin.name}
    event(name, **who, **facts)
