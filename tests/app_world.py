"""The app for tests: booted through app.py, with runs that need no fit."""

import io
import math
import re
import time
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from disco import runs
from disco.paper.settings import Settings
from disco.runs import Run
from disco.subjects import FIT
from disco.subjects.fit.events import EVENTS
from pages.shared.compute import background, cache
from pages.shared.table import drafts
from pages.shared.table.drafts import Draft

APP = str(Path(__file__).resolve().parents[1] / "app.py")
HOSTILE = (
    "<script>alert(1)</script>", "$x$", ":red[a]", "a|b", "`tick`", "**bold**", "http://evil.example/x", "a -> b",
    "<b>bold</b>", ":smile:", "[l](javascript:alert(1))", "Zähler_ä",
)  # fmt: skip # a table
TINY = Settings.of("paper", joint_epochs=40, projection_epochs=40, width=16, hidden_layers=1)


def forget_results() -> None:
    """Leave out all that pages have read and computed so far."""
    cache.results.clear()


def wait_until_computed() -> None:
    """Wait until nothing runs in the background of the pages."""
    deadline = time.monotonic() + 300
    while background._running:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def booted(page: str = "data", **address: str) -> AppTest:
    """The app with one page open at an address, as by a link."""
    at = AppTest.from_file(APP, default_timeout=60)
    for name, value in address.items():
        at.query_params[name] = value
    if page != "data":
        at._page_hash = calc_hash(page)  # `switch_page` needs a run of another page first
    at.run()
    assert not at.exception, at.exception
    return at


def texts(at: AppTest) -> str:
    """Everything written on the page."""
    kinds = ("title", "subheader", "markdown", "caption", "error", "warning", "info", "success")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(at, kind))


def box(at: AppTest, name: str) -> object:
    """The select box of a name: its key gets a new number when something else changes what it shows."""
    return next(found for found in at.selectbox if re.fullmatch(rf"{name}(_\d+)?", found.key or ""))


def button(at: AppTest, label: str) -> object:
    """The first button whose label contains a text."""
    return next(found for found in at.button if label in found.label)


def written_when_asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """File name → content of the downloads that pages drawn from now on write when their button is pressed."""
    written = {}

    def offered(manager: MediaFileManager, data: object, mime: str, place: str, **named: object) -> str:
        written[named["file_name"]] = data()
        return named["file_name"]

    monkeypatch.setattr(MediaFileManager, "add_deferred", offered)
    return written


def press(at: AppTest, label: str) -> AppTest:
    """Click that button."""
    button(at, label).click().run()
    assert not at.exception, at.exception
    return at


def unfold(at: AppTest, *keys: str) -> AppTest:
    """Open boxes that draw their widgets only while they are open."""
    for key in keys:
        at.session_state[key] = True
    at.run()
    assert not at.exception, at.exception
    return at


def draft_of(at: AppTest) -> Draft:
    """The table that is loaded."""
    return at.session_state["shared_draft"]


def numbers(at: AppTest) -> dict[str, str]:
    """The numbers on the page, by their labels."""
    return {metric.label: metric.value for metric in at.metric}


def kept(at: AppTest) -> int:
    """How many edges the Parents page keeps."""
    return next(int(found[1]) for part in at.markdown if (found := re.match(r"\*\*([\d,]+) of .* kept", part.value)))


def frame_with(at: AppTest, column: str) -> pd.DataFrame:
    """The first table that has a column."""
    return next(frame.value for frame in at.dataframe if column in frame.value)


def upload(at: AppTest, name: str, content: bytes) -> AppTest:
    """Upload a file on Data."""
    return at.file_uploader(key="upload").set_value((name, content, "text/csv")).run()


def drafted(page: str, table: pd.DataFrame, name: str = "t.csv") -> AppTest:
    """A page with a loaded table, as by a link to it: without the runs of Data that an upload takes."""
    token = drafts.new_token()
    drafts.store().put(token, Draft(table, name, f"Uploaded file {name}.", columns=tuple(range(table.shape[1]))))
    return booted(page, draft=token)


def csv(table: pd.DataFrame) -> bytes:
    """A table as the bytes of a CSV file."""
    return table.to_csv(index=False).encode()


def workbook(*sheets: tuple) -> bytes:
    """A workbook of sheets, each with its title and rows, and its state if it is not visible."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows, *state in sheets:
        sheet = book.create_sheet(title)
        sheet.sheet_state = (*state, "visible")[0]
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def poisson(rows: int = 90, names: tuple[str, ...] = ("a", "b", "c")) -> pd.DataFrame:
    """Independent Poisson counts."""
    counts = np.random.default_rng(0).poisson(3.0, (rows, len(names)))
    return pd.DataFrame(counts, columns=list(names))


def losses(joint: int, projection: int, lowest: int | None = None) -> list[tuple]:
    """Lines of events: losses that fall, validation rising again after epoch `lowest` of the joint network."""
    lines = []
    for stage, epochs in (("joint", joint), ("projection", projection)):
        turn = lowest if stage == "joint" and lowest else epochs
        for epoch in range(1, epochs + 1):
            for fold in (1, 2, 3):
                train = 10 / epoch + fold
                validation = 1 + train + 0.3 * max(0, epoch - turn) if epoch % 5 == 0 else math.nan
                lines.append((epoch, stage, fold, train, validation))
    return lines


def events(joint: int = 40, projection: int = 40, lowest: int | None = None) -> pd.DataFrame:
    """The same, as the frame of `Run.events`."""
    return pd.DataFrame(losses(joint, projection, lowest), columns=["epoch", "stage", "fold", "train", "validation"])


def written_run(table: pd.DataFrame, name: str = "made by hand", lowest: int | None = None, **status: object) -> Run:
    """A run whose files were written without a fit.

    Args:
        lowest: the joint epoch after which validation rises.
        status: fields of its status; done by default.
    """
    run = runs.create_run(table, TINY, name=name, source="A test.")
    shown = events(lowest=lowest).replace({np.nan: None})
    (run.path / EVENTS).write_text("".join(f"{line.to_json()}\n" for _, line in shown.iterrows()))
    best = {"joint": [lowest or 40] * 3, "projection": [40] * 3}
    given = {"state": "done", "progress": 1.0, "seconds": 83.0, "best_epochs": best, "device": "cpu", **status}
    run.update(FIT, queued_at=time.time(), **given)
    return run
