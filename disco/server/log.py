"""The server's log: one JSON object per line on stderr, for whoever collects logs."""

import json
import logging
import sys
import time
from typing import Any

from disco.errors import printable
from disco.users import roots

_LONGEST = 500
_LOGGER = logging.getLogger("disco.server")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        told = {"time": when, "level": record.levelname.lower(), "from": record.name}
        text = {"event": printable(record.getMessage(), _LONGEST), **getattr(record, "facts", {})}
        if record.exc_info:
            text["trace"] = self.formatException(record.exc_info)
        return json.dumps({**told, **text}, ensure_ascii=False, default=str)


def begin() -> None:
    """Write what Streamlit, the web server and this program tell as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    import uvicorn.config
    from streamlit import logger

    uvicorn.config.LOGGING_CONFIG.update(handlers={}, loggers={})
    for own in (*logger._loggers.values(), *map(logging.getLogger, ("uvicorn", "uvicorn.error"))):
        own.handlers.clear()
        own.propagate = True


def event(name: str, **facts: Any) -> None:
    """Tell of something that happened."""
    short = {key: printable(value, _LONGEST) if isinstance(value, str) else value for key, value in facts.items()}
    _LOGGER.info(name, extra={"facts": short})


def act(name: str, **facts: Any) -> None:
    """Tell what an admin did, and who."""
    own = roots.user()
    event(name, admin="" if own is None else own.id, admin_name="" if own is None else own.name, **facts)
