"""The table of runs: searched, sorted, ticked. Owns the keys `runs_search` and `runs_table_…`."""

import pandas as pd
import streamlit as st

from disco.reports.bundled import example
from disco.reports.summary import Summary, edge_counts
from disco.runs import Run
from disco.subjects import stamps
from disco.words import how_many, size
from pages.shared import session
from pages.shared.compute.cache import cached
from pages.shared.widgets import tables
from pages.shared.widgets.names import shown, state_of

_SEARCH = "runs_search"
_NAME, _LINES, _LETTER = 258, 3, 7  # of a name: pixels, after which it is wrapped, lines; pixels of a letter
_LONGEST = _LINES * _NAME // _LETTER  # characters of a name


def empty() -> None:
    """Without runs: how to get one."""
    with st.container(border=True):
        st.markdown("**There are no runs yet.** Find the graph of a table to make one, or open the example.")
        with st.container(horizontal=True):
            if st.button("See an example result", type="primary", icon=":material/hub:", key="runs_example"):
                session.run.select(example())
                session.address.go("graph")
            if st.button("Go to Data", icon=":material/table_view:", key="runs_to_data"):
                session.address.go("data")


def choose(all_runs: list[Run]) -> list[Run]:
    """Draw the table of runs that match the search; return the ticked ones."""
    summaries = [Summary.of(run) for run in all_runs]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    words = row.text_input(
        "Search", key=_SEARCH, placeholder="Name, source, state …", icon=":material/search:", width=340
    )
    if any(work.active for summary in summaries for work in summary.statuses.values()):
        row.button("Refresh", icon=":material/refresh:", type="tertiary", help="Some runs have work in progress.")
    view = [summary for summary in summaries if matches(summary, words or "")]
    total = sum(summary.bytes for summary in view)
    if not view:
        st.caption(f"None of {how_many(len(all_runs), 'run')} match.")
        return []
    note = "" if len(view) == len(all_runs) else f" of {len(all_runs):,}"
    st.caption(f"{how_many(len(view), 'run')}{note}, {size(total)}. Click a heading to sort.")
    return [view[row].run for row in _ticked(view) if row < len(view)]


def _ticked(view: list[Summary]) -> list[int]:
    # The ticks are row numbers, so another list of runs needs a table of its own.
    key = f"runs_table_{hash(tuple(summary.run.id for summary in view))}"
    alt = "Runs with their table, settings, state, time, edges and size"
    frame = _frame(view)
    width = min(_width(frame["name"]), _NAME)
    lines = min(-(-_width(frame["name"]) // width), _LINES)
    choice = {"key": key, "on_select": "rerun", "selection_mode": "multi-row", "placeholder": ""}
    choice |= {"row_height": 35 + 18 * (lines - 1)} if lines > 1 else {}
    answer = tables.show(frame, alt, _config(frame, width), max_height=560, **choice)
    return list(answer["selection"]["rows"])


def matches(summary: Summary, words: str) -> bool:
    """Whether a run's text in the table contains every word."""
    settings = summary.run.settings
    text = f"{summary.run.name} {summary.run.source} {settings.preset} seed {settings.seed} "
    text = f"{text}{state_of(summary.statuses)}".lower()
    return all(word in text for word in words.lower().split())


def _frame(view: list[Summary]) -> pd.DataFrame:
    current = session.run.current()
    edges = [_edges(summary.run) for summary in view]
    return pd.DataFrame(
        {
            "name": [("▸ " if summary.run == current else "") + shown(summary.run.name, _LONGEST) for summary in view],
            "state": [state_of(summary.statuses) for summary in view],
            "created": [summary.run.created.astimezone().replace(tzinfo=None) for summary in view],
            "rows": pd.array([summary.shape and summary.shape[0] for summary in view], dtype="Int64"),
            "columns": pd.array([summary.shape and summary.shape[1] for summary in view], dtype="Int64"),
            "fit": pd.array([fit for fit, _ in edges], dtype="Int64"),
            "refined": pd.array([refined for _, refined in edges], dtype="Int64"),
            "kilobytes": [round(summary.bytes / 1e3) for summary in view],
            "preset": [summary.run.settings.preset for summary in view],
            "seed": [summary.run.settings.seed for summary in view],
        }
    )


@cached(lambda run: (str(run.path), stamps.fit(run), stamps.refinement(run)))
def _edges(run: Run) -> tuple[int | None, int | None]:
    return edge_counts(run)


def _config(frame: pd.DataFrame, width: int) -> dict[str, object]:
    """The columns, which stand side by side on a wide page; long names are wrapped to `width`."""
    hidden = {"hidden": True}  # until the reader shows them by the menu above the table: names tell where runs differ
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    return {
        "name": text("Name", width=width, help="▸ marks the open run."),
        "state": text("State", width=_width(frame["state"])),
        "created": st.column_config.DatetimeColumn("Made", format="D MMM YY HH:mm", width=114),
        "rows": number("Rows", format="localized", width=62),
        "columns": number("Columns", format="localized", width=74),
        "fit": number("Edges, fit", format="localized", width=74, help="At the thresholds of the fit."),
        "refined": number("Edges, search", format="localized", width=98),
        "kilobytes": number("kB", format="localized", width=62, help="All files of the run, on disk."),
        "preset": text("Preset") | hidden,
        "seed": number("Seed", format="%d", width=60) | hidden,
    }


def _width(texts: pd.Series) -> int:
    return max(_LETTER * max(map(len, texts)) + 16, 80)  # pixels
