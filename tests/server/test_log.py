"""The server's log: bounded, whatever is repeated, and without secrets."""

import io
import json
import logging

import pytest

from disco.server import log


@pytest.fixture
def lines(monkeypatch):
    """What is written since the last call; loggers are as before at the end."""
    stream = io.StringIO()
    handler = log._writes(stream)
    logger = logging.getLogger("disco.server")
    level, logger.level = logger.level, logging.INFO
    for name in ("uvicorn", "uvicorn.error", "asyncio"):  # another test may have configured them
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
    logging.getLogger().addHandler(handler)

    def read():
        found = [json.loads(line) for line in stream.getvalue().splitlines()]
        stream.seek(0), stream.truncate()
        return found

    yield read
    logging.getLogger().removeHandler(handler)
    logger.setLevel(level)


def test_what_is_repeated_is_written_some_times_a_minute(lines, monkeypatch):
    now = [1000.0]
    plain = logging.getLogRecordFactory()

    def record(*given, **more):
        made = plain(*given, **more)
        made.created = now[0]
        return made

    logging.setLogRecordFactory(record)
    try:
        for number in range(5000):
            try:
                raise OSError("Too many open files")
            except OSError:
                logging.getLogger("asyncio").exception("socket.accept() out of system resource %s", number)
            log.event("refused", path=f"/{number}")
        log.event("started")  # another event has lines of its own
        found = lines()
        assert len(found) == 2 * log.MOST + 1 and found[-1]["event"] == "started"
        now[0] += 61
        log.event("refused", path="/again")
        (line,) = lines()
        assert line["left_out_before"] == 5000 - log.MOST and line["path"] == "/again"
        log.event("refused", path="/once more")
        assert "left_out_before" not in lines()[0]
    finally:
        logging.setLogRecordFactory(plain)


def test_no_query_of_an_address_is_written(lines):
    uvicorn = logging.getLogger("uvicorn.error")
    message = '%s - "WebSocket %s" [accepted]'
    for path in ("/_stcore/stream?invite=SECRET", "/_stcore/stream?run=x&%69nvite=SECRET", "/?a=1&invite=SECRET"):
        uvicorn.error(message, "1.2.3.4:5", path)
        try:
            raise ValueError(f"cannot read http://lab{path}")
        except ValueError:
            uvicorn.exception("failed")
    log.event("Is anybody there? Yes")
    text = json.dumps(found := lines(), ensure_ascii=False)
    assert "SECRET" not in text and '/_stcore/stream?…\\" [accepted]' in text
    assert found[-1]["event"] == "Is anybody there? Yes" and len(found) == 7
