"""A table as every page shows it: as high as its rows, with a download below, or a sentence if it is empty."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from disco.table import spreadsheets

MOST = 360  # pixels of a table; a longer one scrolls
_ROW, _HEAD = 35, 38


class Csv(NamedTuple):
    """A table as a file, written when its button is pressed.

    Attributes:
        label: of the button.
        name: of the file.
        key: of the button.
        rows: the table, or a function that makes it.
        help: what is in the file.
        about: returns the facts above its header (`disco.runs.about`), by name.
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
    most: int = MOST,
    empty: str = "",
    csv: Csv | None = None,
    **more: Any,
) -> Any:
    """Draw a table; return what the reader selected in it.

    Args:
        alt: what the table holds, for screen readers.
        columns: the format of the columns, as `column_config`.
        most: maximal height in pixels.
        empty: the sentence shown instead of a table without rows.
        csv: the download below it.
        more: further arguments of `st.dataframe`.
    """
    if empty and rows.empty:
        st.caption(empty)
        return None
    height = min(_HEAD + _ROW * max(len(rows), 1), most)
    found = st.dataframe(rows, **{"hide_index": True, "height": height, **more}, column_config=columns, alt=alt)
    if csv is not None:
        csv.button()
    return found
