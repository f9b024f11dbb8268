"""Texts of Eurostat: the first cell of a line holds several, and letters after a number are flags."""

import re

from disco.table.formats.encoding import Text
from disco.words import how_many

_HEADER = re.compile(rb"(?P<key>\w+(,\w+)+)\\\w+\t")
_KEY = re.compile(rb"(?m)^[^\t\r\n]+")
_CELL = re.compile(rb"\t *(?P<value>:|-?\d[\d.]*) *(?P<flag>[a-z]{1,4})? *(?=[\t\r\n]|$)")


def unpacked(data: Text) -> tuple[Text, list[str]]:
    """The text with a cell for each part of the first one and without flags, and a note on these; others as they are.

    Source: the bulk download of Eurostat, as in `freq,unit,geo\\TIME_PERIOD`, and its flags, such as p, provisional.
    """
    if not (found := _HEADER.match(data[:1000])):
        return data, []
    names, lines = data[found.end() :].split(b"\n", 1)
    flags = {match["flag"] for match in _CELL.finditer(lines)} - {None}
    lines = _KEY.sub(lambda key: key[0].replace(b",", b"\t"), _CELL.sub(rb"\t\g<value>", lines))
    head = found["key"].replace(b",", b"\t") + b"\t" + re.sub(rb" *(\t|$)", rb"\1", names)
    some = ", ".join(sorted(flag.decode() for flag in flags))
    note = [f"{how_many(len(flags), 'flag')} of Eurostat after numbers were left out: {some}."] if flags else []
    return head + b"\n" + lines, note
