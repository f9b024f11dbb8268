"""Choices for reading a text or a sheet, and how they were detected."""

import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from disco.fields import a_thing, anything, is_whole, one_of, options, shown, whole
from disco.table.formats.limits import MOST_COLUMNS, NotATable

Text = bytes | mmap.mmap  # a mapped file is in memory only where it is looked at
Report = Callable[[float], None]  # receives the share of the file that has been read

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252, Latin-1 (Western Europe)",
    "iso8859-15": "Latin-9 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "mac-roman": "Mac Roman",
    "shift-jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
}
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "space"}
DECIMALS = {".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "space", "'": "apostrophe", ", ": "comma or space"}
MOST_LINES = 50  # above, with or below the names
STRANDS = {  # the counts of a gene that STAR writes, in its order
    "unstranded": "unstranded, both strands",
    "forward": "forward, the strand of the first read",
    "reverse": "reverse, the other strand",
}
_MOST_ONE_SIDED, _LEAST_UNSTRANDED = 0.2, 0.35  # shares of the smaller total of STAR's stranded counts
HIDDEN = {"read": "read", "skip": "left out"}
SPREADS = {"residuals": "Pearson residuals", "variance": "variance"}  # by which genes are chosen
USUAL_GENES = "50"


@dataclass(frozen=True)
class Reading:
    """The choices for reading a file; None: detected.

    Raises:
        NotATable: a value is not allowed, or the decimal mark also separates thousands.
    """

    encoding: str | None = one_of(None, ENCODINGS, "Encoding", "Of text.", optional=True)
    separator: str | None = one_of(None, SEPARATORS, "Separator", "Of text.", optional=True)
    decimal: str | None = one_of(None, DECIMALS, "Decimal mark", "Of text.", optional=True)
    thousands: str | None = one_of(None, THOUSANDS, "Thousands mark", "Of text.", optional=True)
    above: int | None = whole(
        None,
        "Lines above the names",
        "Left out, such as a title. Blank lines count in a sheet, not in text.",
        within=(0, MOST_LINES),
        optional=True,
    )
    names: int | None = whole(
        None,
        "Lines of names",
        "Several lines are joined into one name per column. With 0: x1, x2, …",
        within=(0, MOST_LINES),
        optional=True,
    )
    below: int | None = whole(
        None, "Lines below the names", "Left out, such as units.", within=(0, MOST_LINES), optional=True
    )
    sheet: str | None = anything(None, "Sheet", "The name of a workbook's sheet.")
    hidden: str | None = one_of(None, HIDDEN, "Hidden rows and columns", "Of a workbook.", optional=True)
    strand: str | None = one_of(None, STRANDS, "Strand", "Which of STAR's counts are read.", optional=True)
    layer: str | None = anything(None, "Layer", 'The matrix of a file of cells and genes, such as "X", or its genome.')
    genes: str | None = anything(
        None,
        "Genes",
        'Of a file of cells and genes: how many become columns, or names and patterns such as "CD*,MS4A1".',
    )
    by: str | None = one_of(
        None, SPREADS, "Ranked by", "How genes are ranked to choose a number of them.", optional=True
    )
    obs: Sequence[str] = anything((), "Columns of obs", "Of an h5ad file, to read as well; each needs a role.")

    def __post_init__(self) -> None:
        for name, option in options(Reading).items():
            value = getattr(self, name)
            if option.words and value is not None and not (isinstance(value, str) and value in option.words):
                words = ", ".join(map(repr, option.words))
                raise NotATable(f" cannot be read with the {name} {shown(value)}: give one of {words}.")
            if option.kind is int and value is not None:
                if not (is_whole(value) and 0 <= value <= MOST_LINES):
                    raise NotATable(f" cannot be read with {shown(value)} lines ({name}): give 0 to {MOST_LINES}.")
                object.__setattr__(self, name, int(value))
        if is_whole(genes := self.genes):
            object.__setattr__(self, "genes", f"{genes}")
        for name in ("sheet", "layer", "genes"):
            if not isinstance(value := getattr(self, name), str | None):
                raise NotATable(f" cannot be read with {a_thing(value)} as {name}: give text.")
        if self.decimal is not None and self.decimal in (self.thousands or ""):
            raise NotATable(": the decimal mark cannot also separate thousands; choose another of the two.")
        if self.genes is not None and not self.genes.strip(" ,"):
            raise NotATable(": give the genes as a number, or as names and patterns such as CD*,MS4A1.")
        is_list = isinstance(self.obs, Sequence) and not isinstance(self.obs, str | bytes)
        if not is_list or not all(isinstance(name, str) for name in self.obs):
            raise NotATable(": give the columns of obs as a list of names.")
        many = (self.genes or "").strip()[:9]
        if many.isdecimal() and not 2 <= int(many) <= MOST_COLUMNS:
            raise NotATable(f": {many} genes cannot be chosen; give 2 to {MOST_COLUMNS:,}.")


def silent(share: float) -> None:
    """A report to nobody."""


DETECTED = Reading()
PLAIN = Reading("utf-8", None, ".", "", 0, 1, 0)
"""As DISCO writes its own files: nothing but the separator is detected."""


def likely_strand(forward: float, reverse: float) -> tuple[str, str]:
    """The strand, and why, by the totals of STAR's stranded counts."""
    share = min(forward, reverse) / max(forward + reverse, 1)
    if share < _MOST_ONE_SIDED:
        return "forward" if forward > reverse else "reverse", "since they have nearly all reads of genes"
    return "unstranded", "since no strand prevails" if share > _LEAST_UNSTRANDED else "but the totals do not tell"
