"""A table as every page shows it: declared columns (`disco.columns`), as high as its rows, with a download below."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from disco.columns import NATS, WORDS, Column
from disco.table import spreadsheets
from pages.shared.widgets.names import define

MOST = 360  # pixels of a table; a longer one scrolls
_ROW, _HEAD = 35, 38


class Csv(NamedTuple):
    """A table, or a function that makes it, as a file that is written when its button is pressed.

    `about` returns the facts above its header (`disco.subjects.graph.provenance`), by name.
    """

    label: str
    name: str
    key: str
    rows: pd.DataFrame | Callable[[], pd.DataFrame]
    help: str = ""
    about: Callable[[], Mapping[str, object]] | None = None

    def button(self) -> None:
        """Draw the button."""
        st.download_button(
            self.label,
            self._text,
            self.name,
            "text/csv",
            key=self.key,
            on_click="ignore",
            help=f"{self.help} {spreadsheets.NOTE}".lstrip(),
        )

    def _text(self) -> str:
        text = spreadsheets.to_csv(self.rows() if callable(self.rows) else self.rows)
        return text if self.about is None else spreadsheets.with_notes(text, self.about())


def show(
    rows: pd.DataFrame,
    alt: str,
    columns: Mapping[str, Any] | None = None,
    *,
    max_height: int = MOST,
    empty: str = "",
    csv: Csv | None = None,
    **options: Any,
) -> Any:
    """Draw a table; return what the reader selected in it.

    Args:
        alt: what the table holds, for screen readers.
        columns: the format of the columns, as `column_config`.
        max_height: pixels.
        empty: the sentence shown instead of a table without rows.
        csv: the download below it.
        options: further arguments of `st.dataframe`.
    """
    if empty and rows.empty:
        st.caption(empty)
        return None
    height = min(_HEAD + options.get("row_height", _ROW) * max(len(rows), 1), max_height)
    selection = st.dataframe(rows, **{"hide_index": True, "height": height, **options}, column_config=columns, alt=alt)
    if csv is not None:
        csv.button()
    return selection


_PINNED = ("parent", "child", "context")  # these stay in sight where a wide table scrolls


def meaning(column: Column) -> str:
    """What the numbers of a column are, in Markdown; empty if its label says it."""
    return define(column.term) if column.term else column.help


def help_of(column: Column, text: str = "") -> str | None:
    """The help for a column's short label, which begins with the full one; None without any.

    The text is what it means, if that depends on more than the column.
    """
    text = text or meaning(column)
    return f"{column.label}: {text}" if column.head and text else text or None


def config(
    columns: Iterable[Column],
    helps: Mapping[str, str] | None = None,
    *,
    hides: bool = False,
    is_narrow: bool = False,
    word: str = "",
) -> dict[str, Any]:
    """The columns of a table, for `frame.table.show`.

    Args:
        helps: of single columns, by name, in place of their meaning.
        hides: whether the reader has to choose some of them from the menu.
        is_narrow: whether they have their declared widths.
        word: appended to every name and label, as in "Evidence, first".
    """
    kinds = st.column_config
    configured: dict[str, Any] = {}
    for column in columns:
        make = kinds.TextColumn if column.kind in WORDS else kinds.CheckboxColumn if column.kind == "flag" else None
        form: dict[str, Any] = {"help": help_of(column, (helps or {}).get(column.name, ""))}
        form |= {"width": column.width} if is_narrow else {"pinned": True} if column.name in _PINNED else {}
        label = f"{column.short}, {word}" if word else column.short
        widget = make(label, **form) if make else kinds.NumberColumn(label, format=column.format or None, **form)
        name = f"{column.name}_{word}" if word else column.name
        configured[name] = widget | ({"hidden": True} if hides and column.place != "sight" else {})
    return configured


def rounded(frame: pd.DataFrame, columns: Iterable[Column], word: str = "") -> pd.DataFrame:
    """The frame with its numbers as shown: shares in percent, and 0 for −0. `word` as in `config`."""
    numbers = {}
    for column in columns:
        if (name := f"{column.name}_{word}" if word else column.name) in frame and column.format.endswith("%%"):
            numbers[name] = (100 * frame[name]).round()
        elif name in frame and column.format == NATS:
            numbers[name] = frame[name].round(1) + 0.0
    return frame.assign(**numbers)
