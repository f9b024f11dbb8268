"""Numbers written with a decimal comma or with marks between thousands.

`1,418` alone may be 1418 or 1.418. An unambiguous number in the same file decides, such as `2,0` or `1,234,567`.
Without one it is read as 1418, since a count has no decimals, and a note says so. `1.418` is read as it stands, and a
note says that it may be 1418. In a file with both `1,046` and `1 046`, both are 1046. `1e+05` is a number
among any of them. Percentages, such as `12,5%`, lose their sign, whatever else the file holds.
"""

import json
import re
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as compute

from disco.table.formats.header import DASHES, MISSING_WORDS, NUMBERISH
from disco.table.formats.plain import NOTES, PERCENTS, facts_of
from disco.words import listed


class Marks(NamedTuple):
    """How a file writes numbers."""

    decimal: str = "."
    thousands: str = ""
    is_ambiguous: bool = False  # a comma may be either


class ChangedCell(NamedTuple):
    """The first cell of a column that was read as a number."""

    column: int
    row: int
    text: str
    number: str


_MARKS = {",": ",", ".": "[.]", " ": "[ \u00a0\u202f]", "'": "['\u2019]", ", ": "[, \u00a0\u202f]"}
_EXPONENT = r"([eE][-+]?\d+)?"
_GROUPED_BY_POINTS = r"^\s*[-+]?[1-9]\d{0,2}([.]\d{3})+\s*$"
_EVIDENCE = {  # what decides the meaning of a mark, or leaves it open
    ("decimal", ","): r"^\s*[-+]?(\d+,(\d{1,2}|\d{4,})?|0,\d+|\d{1,3}([.]\d{3})+,\d*|\d+,\d+[eE][-+]?\d+)\s*$",
    ("thousands", ","): r"^\s*[-+]?\d{1,3}((,\d{3}){2,}|(,\d{3})+[.]\d*)\s*$",
    ("either", ","): r"^\s*[-+]?[1-9]\d{0,2},\d{3}\s*$",
    ("either", "."): _GROUPED_BY_POINTS,
    ("thousands", "."): r"^\s*[-+]?\d{1,3}(([.]\d{3}){2,}(,\d*)?|([.]\d{3})+,\d*)\s*$",
    ("thousands", " "): "^\\s*[-+]?[1-9]\\d{0,2}([ \u00a0\u202f]\\d{3})+([.,]\\d*)?\\s*$",
    ("thousands", "'"): "^\\s*[-+]?[1-9]\\d{0,2}(['\u2019]\\d{3})+([.,]\\d*)?\\s*$",
}
_PERCENT = re.compile(r"\s*(?:([-+]?(?:\d+(?:[.]\d*|,\d{1,2}|,\d{4,})?|0,\d+))\s*%|0(?:[.,]0*)?)\s*")
_MOST_TEXTS = 0.2  # for each percentage of a column: other texts, such as n.d.
_NAMED = 4
_SMALL_OR_GROUPED = r"^\s*[-+]?([1-9]\d{0,2}([.]\d{3})+|\d{1,3})\s*$"


def detected(table: pa.Table) -> Marks:
    """The marks of numbers in the columns of text."""
    evidence: set[tuple[str, str]] = set()
    for column in table.columns:
        if pa.types.is_string(column.type):
            evidence |= {key for key, pattern in _EVIDENCE.items() if key not in evidence and _any(column, pattern)}
    marks = [mark for kind, mark in evidence if kind == "thousands"]
    decimal = "," if ("decimal", ",") in evidence or "." in marks else "."
    if {*marks} <= {" ", ","} and " " in marks and decimal == "." and {("either", ","), ("thousands", ",")} & evidence:
        return Marks(".", ", ", "," not in marks)
    if len(marks) > 1 or decimal in marks:  # the file contradicts itself: nothing is changed
        return Marks()
    if not marks and ("either", ".") in evidence and decimal == ",":
        return Marks(",", ".")
    if not marks and ("either", ",") in evidence and decimal == ".":
        return Marks(".", ",", is_ambiguous=True)
    return Marks(decimal, "".join(marks))


def with_percentages(table: pa.Table) -> pa.Table:
    """The table with percentages in text as numbers, `12,5%` as 12.5, and facts on their columns."""
    names = list[str]()
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and _any(table.column(index), "%"):
            bare = _without_signs(table.column(index).fill_null("").to_pylist())
            if bare is not None:
                names.append(field.name)
                table = table.set_column(index, pa.field(field.name, bare.type), bare)
    quoted = listed([f'"{name[:40]}"' for name in names], _NAMED)
    notes = [*facts_of(table).get(NOTES, ()), f"Percent signs were left out in {quoted}: 50% is 50."]
    new_facts = {NOTES.encode(): json.dumps(notes), PERCENTS: json.dumps(names)}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **new_facts}) if names else table


def _without_signs(cells: list[str]) -> pa.Array | None:
    """Percentages as numbers, or as text among a few other texts; None for other columns.

    A number without the sign may be a share of 1: such a column is not read.
    """
    matches, missing = [_PERCENT.fullmatch(cell) for cell in cells], {*MISSING_WORDS, *DASHES}
    texts = [cell for cell, match in zip(cells, matches, strict=True) if not match and cell not in missing]
    if len(texts) > _MOST_TEXTS * sum(map(bool, matches)) or any(NUMBERISH.fullmatch(text.strip()) for text in texts):
        return None
    bare = [(match[1] or "0").replace(",", ".") if match else cell for cell, match in zip(cells, matches, strict=True)]
    words = pa.array(bare)
    return words if texts else _typed(words, compute.is_in(words, pa.array([*missing])))


def converted(table: pa.Table, decimal: str, thousands: str) -> tuple[pa.Table, list[ChangedCell]]:
    """The table with text columns as numbers, if written with these marks; and the first cell changed in each.

    A column with other text stays text, but its numbers lose their marks.
    """
    number = rf"^\s*[-+]?(\d+|\d{{1,3}}({_MARKS[thousands]}\d{{3}})+)" if thousands else r"^\s*[-+]?\d+"
    number += rf"({_MARKS[decimal]}\d*)?{_EXPONENT}\s*$"
    changed = []
    for index, column in enumerate(table.columns):
        if not pa.types.is_string(column.type) or not _any(column, number):
            continue
        cells = column.combine_chunks()
        fits = compute.fill_null(compute.match_substring_regex(cells, number), False)
        bare = compute.replace_substring_regex(cells, _MARKS[thousands], "") if thousands else cells
        bare = compute.replace_substring(bare, decimal, ".") if decimal != "." else bare
        # Without this, digits that are grouped in another way, as 14,18, would be read too.
        bare = compute.utf8_trim_whitespace(compute.if_else(fits, bare, cells))
        missing = compute.fill_null(compute.is_in(cells, pa.array((*MISSING_WORDS, *DASHES))), True)
        differs = compute.and_(fits, compute.not_equal(bare, cells))
        if compute.any(differs).as_py():
            row = compute.index(differs, True).as_py()
            changed.append(ChangedCell(index, row, cells[row].as_py().strip(), bare[row].as_py()))
        bare = _typed(bare, missing) if compute.all(compute.or_(fits, missing)).as_py() else bare
        table = table.set_column(index, table.field(index).with_type(bare.type), bare)
    return table, changed


def _typed(cells: pa.Array, missing: pa.Array) -> pa.Array:
    """Cells of digits as whole numbers, or else as floats; text if they are too large."""
    bare = compute.if_else(missing, None, cells)
    for kind in (pa.int64(), pa.float64()):
        try:
            return compute.cast(compute.replace_substring_regex(bare, "^[+]", ""), kind)
        except pa.ArrowInvalid:
            continue
    return cells


def first_grouped(column: pa.ChunkedArray) -> str | None:
    """The first cell such as 1.418 of a column in which every point could separate thousands."""
    cells = compute.filter(column, compute.invert(compute.is_in(column, pa.array((*MISSING_WORDS, *DASHES)))))
    if not len(cells) or not compute.all(compute.match_substring_regex(cells, _SMALL_OR_GROUPED)).as_py():
        return None
    return compute.filter(cells, compute.match_substring(cells, "."))[0].as_py().strip()


def _any(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(compute.any(compute.match_substring_regex(cells, pattern)).as_py())
