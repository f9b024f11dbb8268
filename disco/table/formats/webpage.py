"""Web pages that are called .xls, as sites and gradebooks write them for Excel: the largest table, as a text."""

import csv
import io
from html.parser import HTMLParser

from disco.table.formats.limits import MOST_COLUMNS, NotATable


def table_of(page: bytes) -> bytes:
    """The largest table of a page as TSV; NotATable without one."""
    parser = _Tables()
    parser.feed(page.decode("utf-8", errors="replace"))
    parser.close()
    rows = [row for row in max(parser.tables, key=lambda rows: sum(map(len, rows)), default=[]) if row]
    if not rows:
        raise NotATable(" is a web page without a table: save the table as CSV or as .xlsx.")
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._cell: list[str] | None = None
        self._span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("table", "tr", "td", "th"):
            self._end_cell()
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            span = dict(attrs).get("colspan") or "1"
            self._cell, self._span = [], min(int(span), MOST_COLUMNS) if span.isdecimal() and len(span) < 9 else 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("table", "tr", "td", "th"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _end_cell(self) -> None:
        if self._cell is not None:
            words = " ".join("".join(self._cell).split())
            self.tables[-1][-1] += [words, *[""] * (self._span - 1)]
            self._cell = None
