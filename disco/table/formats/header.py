"""The lines above the data: titles, names, units."""

import re
from collections.abc import Sequence
from itertools import pairwise

from disco.table.formats.reading import Reading
from disco.words import plural

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "..", ":")
DASHES = ("-", "–", "—", "−")  # among numbers: 0, or a missing one
SAMPLE = 30  # lines looked at
NUMBERISH = re.compile(r"[-+]?\d[\d.,' \u00a0\u202f\u2019]*([eE][-+]?\d+)?")  # of a stripped cell: in linear time
BIOM = re.compile(rb"(?i)\s*(#[^\n\t]*\r?\n)*(?P<names># ?OTU ?ID\t)")  # the first lines of BIOM as text
_MOST_WORDS = 12  # lines above the data
_NUMBER = re.compile(r"-?\d{1,300}(\.\d{0,300})?")
_WHOLE = re.compile(r"\d{1,9}")
_LEAST_LINES = 5  # by which a first line is judged
_BEYOND = 5  # of this number of columns one may hold a first number beyond the others
_NARROW, _LARGER = 3, 4  # most cells in a line of filters above a table, and the least size of the table by theirs
Lines = Sequence[Sequence[str]]


def header(lines: Lines, reading: Reading) -> tuple[int, int, int]:
    """The numbers of lines above the names, with the names, and below them; those not in `reading` are detected.

    Args:
        lines: the first lines of a file as cells, without blank lines.
    """
    filters = _filters(lines)
    above, names, below = _detected(lines[filters:])
    above += filters
    below += bool(names) and _is_total(lines[above + names - 1 :][:_LEAST_LINES])
    data = above + names + below if reading.names != 0 else 0  # a file without names may begin with its data
    above = above if reading.above is None else reading.above
    names = names if reading.names is None else reading.names
    return above, names, max(data - above - names, 0) if reading.below is None else reading.below


def _detected(lines: Lines) -> tuple[int, int, int]:
    """One line of names, unless two or more lines without a number come before lines with numbers, or it holds data.

    Then the first line with a distinct name for every column has the names; lines above it are titles, lines below it
    units. Without such a line, all of them are names, if the joined names of the columns differ. Names below titles may
    be years.
    """
    words = 0
    while words < min(len(lines), _MOST_WORDS) and (_is_words(lines[words]) or (words and not _filled(lines[words]))):
        words += 1
    while words and not _filled(lines[words - 1]):  # a blank line stands among titles, or is data
        words -= 1
    data = lines[words:]
    if not words and _is_data(lines):
        return 0, 0, 0
    first = next((at for at in range(words, len(lines)) if _filled(lines[at])), len(lines))
    if words and _are_years(lines[first:]) and all(2 * len(_filled(line)) <= len(data[0]) for line in lines[:words]):
        return first, 1, 0
    columns = max(map(len, data), default=0)
    among = [line for line in data if len(line) == columns and _is_words(line)]  # others are of another table
    if words < 2 or not data or any(len(_filled(line)) > 1 for line in among):  # one is a note
        return 0, 1, 0
    used = [at for at in range(columns) if any(line[at : at + 1] not in ([], [""]) for line in data)]
    for index, line in enumerate(lines[:words]):
        is_short = len(line) == columns - 1 > 1 and index == words - 1  # no name for the column of row names
        cells = line if is_short else [line[at] for at in used if at < len(line)]  # a blank column has no name
        if (len(line) == columns or is_short) and all(cells) and len(set(cells)) == len(cells):
            return index, 1, words - index - 1
    if all(len(line) == columns for line in lines[:words]):
        titles = next((at for at, line in enumerate(lines[:words]) if len(_filled(line)) > 1), 0)
        names = joined(lines[titles:words])
        if len({names[at] for at in used}) == len(used):
            return titles, words - titles, 0
    return 0, 1, 0


def _filters(lines: Lines) -> int:
    """The number of lines of a narrow block of words and numbers above a table, such as a pivot's filters.

    A blank line ends the block, or in a text without blank lines a longer one. It requires a larger table below, with
    names beyond the block's width; titles are words alone.
    """
    at = next((at for at, line in enumerate(lines) if not _filled(line) or len(line) > len(lines[0]) + 1), 0)
    end = next((at for at in range(at, len(lines)) if _filled(lines[at])), 0)
    widest = max((len(_filled(line)) for line in lines[:at]), default=0)
    if not 0 < at <= _MOST_WORDS or widest > _NARROW or all(map(_is_words, lines[:at])):
        return 0
    above, names, below = _detected(lines[end:])
    data = lines[end + above + names + below :]
    named = _filled(joined(lines[end + above : end + above + names]))
    if not (_is_words(named) or _are_years(lines[end + above :])):
        return 0
    return end if len(named) > widest and len(data) * len(named) >= _LARGER * at * widest else 0


def _is_total(lines: Lines) -> bool:
    """Whether the line below the names has one cell more than all others, so that it holds totals."""
    names, *data = [len(line) for line in lines] or [0]
    is_longer = data[:1] == [names + 1] and len(data) > 1 and {*data[1:]} == {names}
    return is_longer and lines[1][-1].strip().lower().endswith("total")


def _is_words(line: Sequence[str]) -> bool:
    """Whether some cells are words and none is a number or a missing value."""
    filled = _filled(line)
    return bool(filled) and not any(cell in (*MISSING_WORDS, *DASHES) or NUMBERISH.fullmatch(cell) for cell in filled)


def _filled(line: Sequence[str]) -> list[str]:
    return [cell for cell in map(str.strip, line) if cell]


def _is_data(lines: Lines) -> bool:
    """Whether the first line holds numbers like the others, and no names.

    Its numbers lie within the range of those below. Unlike the numbers of names, they neither rise nor are distinct
    ones from 1 to about the number of columns. Words before them look like those below, as in lines of a gene and its
    counts; without words, the line has at least three numbers.
    """
    first, *following = lines
    if len(following) < _LEAST_LINES or any(len(line) != len(first) for line in following):
        return False
    numbers, beyond, words, again = [], 0, False, False
    for at, cell in enumerate(map(str.strip, first)):
        cells = [line[at].strip() for line in following]
        below = [float(text) for text in cells if _NUMBER.fullmatch(text)]
        if _NUMBER.fullmatch(cell) and 2 * len(below) >= len(cells):
            numbers.append(float(cell))
            beyond += not min(below) <= numbers[-1] <= max(below)
        elif cell not in MISSING_WORDS or not below:  # a number may be missing, and row names may have no name
            if below or _shape(cell) not in {*map(_shape, cells)}:
                return False
            words = True
            again |= bool(cell) and cell in cells  # a name is in none of the rows
    if again and numbers and first not in following:  # else names are repeated within the table
        return True
    if beyond > len(numbers) // _BEYOND or len(numbers) < (1 if words else 3):
        return False
    if len({*numbers}) == len(numbers) > 1:
        return not _are_numbered(numbers)
    return len(numbers) == 1 or numbers != sorted(numbers)


def _are_years(lines: Lines) -> bool:
    """Whether the first line has names that differ, some of them numbers that rise, or fall, by equal steps."""
    if len(lines) <= _LEAST_LINES or len({*_filled(lines[0])}) < len(lines[0]) or _is_data(lines):
        return False
    numbers = [int(cell) for cell in map(str.strip, lines[0]) if _WHOLE.fullmatch(cell)]
    return len(numbers) > 1 and len({later - earlier for earlier, later in pairwise(numbers)}) == 1


def _are_numbered(numbers: list[float]) -> bool:
    """Whether different numbers may number columns: they rise, or fall, or are the first ones in any order."""
    return sorted(numbers) in (numbers, numbers[::-1]) or (min(numbers) > 0 and max(numbers) <= 3 * len(numbers))


def _shape(word: str) -> str:
    """The kinds of characters in a word: Aa0 for Gene12."""
    for kind, mark in (("[0-9]+", "0"), ("[A-Z]+", "A"), ("[a-z]+", "a")):
        word = re.sub(kind, mark, word)
    return word.strip()


def joined(lines: Lines) -> list[str]:
    """One name per column from lines of names; in all but the last, a blank repeats the cell before it.

    A column that is blank in all lines has no name. Blanks around names, as in "a, b", are removed unless they
    distinguish two names.
    """
    if len(lines) < 2:
        names = list(lines[0]) if lines else []
        trimmed = [name.strip() for name in names]
        return trimmed if len(set(trimmed)) == len(set(names)) else names
    columns = max(map(len, lines))
    filled: list[list[str]] = []
    for number, line in enumerate(lines):
        cells = [*line, *[""] * (columns - len(line))]
        if number < len(lines) - 1:
            for index in range(1, columns):
                cells[index] = cells[index] or cells[index - 1]
        filled.append(cells)
    has_name = [any(line[at : at + 1] not in ([], [""]) for line in lines) for at in range(columns)]
    names = [" ".join(filter(None, column)) for column in zip(*filled, strict=True)]
    return [name if is_named else "" for name, is_named in zip(names, has_name, strict=True)]


def header_notes(lines: Lines, above: int, names: int, below: int, reading: Reading) -> list[str]:
    """Sentences on what was left out above and below the names, or that there are none; choices as given."""
    notes = []
    if not names and reading.names is None:
        notes.append(
            "The first line holds numbers like those below: it was read as data, and the columns have no names. If it "
            "holds names, read the file again with one line of names (on Data, or by --read names=1)."
        )
    for index, number, where in ((0, above, "above"), (above + names, below, "below")):
        if cells := [cell for line in lines[index : index + number] for cell in _filled(line)]:
            words = [cell[:60] + "…" * (len(cell) > 60) for cell in cells[:6]]
            text = ", ".join(words) + " …" * (len(cells) > 6)
            count = plural(number, "A line", f"{number} lines")
            notes.append(f"{count} {where} the names {plural(number, 'was', 'were')} left out: {text}.")
    if names > 1:
        notes.append(f"The names were joined from {names} lines.")
    return notes
