"""Several files of text as one table: beside each other by the names in their first columns, or below each other.

HTSeq, featureCounts, salmon, kallisto and RSEM write a file per sample: lines of a gene, what describes it, and its
count; STAR writes three counts, one for each meaning of the strand. Beside each other, they are a table with genes as
rows and samples as columns.
"""

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as compute

from disco.table.formats import text
from disco.table.formats.archive import DAMAGED, Archive, not_one, shown, why
from disco.table.formats.encoding import Text
from disco.table.formats.folder import labels
from disco.table.formats.limits import MOST_BYTES, MOST_CELLS_IN_PIECES, NotATable, check_shape
from disco.table.formats.plain import facts_of, with_facts
from disco.table.formats.reading import STRANDS, Reading
from disco.words import how_many, listed, plural

NO_STRAND = ": strands are chosen in files that STAR wrote only, one per sample."
_BARE = re.compile(rb"\s*[^\t,;]*[\t,;]\s*\d+\s*([\t,;]\s*\d+\s*[\t,;]\s*\d+\s*)?")  # a first line that holds counts
_OF_STAR = re.compile(rb"N_unmapped(\t\d+){3}\s")
_SUMMARY = "^N_(unmapped|multimapping|noFeature|ambiguous)$"
_OF_ONE = re.compile(  # the names in a sample's file of salmon, kallisto, RSEM
    rb"Name\tLength\tEffectiveLength\tTPM\tNumReads\s|target_id\tlength\teff_length\test_counts\ttpm\s|"
    rb"(gene_id\ttranscript_id\(s\)|transcript_id\tgene_id)\tlength\teffective_length\texpected_count\s"
)
_COUNTED = ("NumReads", "est_counts", "expected_count", "unstranded")
_DESCRIBED = ["Geneid", "Chr", "Start", "End", "Strand", "Length"]  # the names of featureCounts before a sample's
_MOST_ONE_SIDED, _LEAST_UNSTRANDED = 0.2, 0.35  # shares of the smaller stranded total
_LEAST_COMMON = 0.5  # share of the names that are in all files, if these are put beside each other


def read(archive: Archive, names: list[str], reading: Reading) -> pa.Table:
    """The table of several files of text; of STAR's, the counts of one strand.

    Raises:
        NotATable: they do not fit each other, or one is not a table.
    """
    read = [_read(archive, name, reading) for name in names]
    tables = [table for table, _ in read]
    named, how = labels(names), None
    notes: list[str] = []
    if all(is_star for _, is_star in read):
        tables, strand, notes = _of_strand(tables, reading.strand)
        how = Reading(above=0, names=0, below=0, strand=strand)
    elif reading.strand is not None:
        raise NotATable(NO_STRAND)
    counted = [table for table in map(_counted, tables) if table is not None]
    if len(counted) == len(tables) and (common := _common(counted)) is not None:
        notes += [*_told(counted, common, names[0]), *_others(archive, names)]
        return with_facts(_beside(counted, named, common), notes, how)
    if len({tuple(table.column_names) for table in tables}) > 1:
        raise NotATable(not_one(names, names))
    return _below(tables, named, _others(archive, names))


def _others(archive: Archive, names: list[str]) -> list[str]:
    """A note on the files that were not read, if there are any."""
    others = sorted({*archive.members} - {*names})
    if not others:
        return []
    files, were = how_many(len(others), "other file"), plural(len(others), "was", "were")
    return [f"{files} {were} not read: {listed([shown(name) for name in others], 3)}."]


def one_sample(data: Text) -> str | None:
    """Why a sample's file is no table by itself, as the rest of a sentence; None for any other text."""
    is_star = _OF_STAR.match(data[:100])
    if not is_star and not _OF_ONE.match(data[:200]):
        return None
    reason = "STAR's of one sample" if is_star else "of one sample"
    reason = f" is {reason}, and a graph needs many: put the files of all samples in a ZIP or a tar."
    if not is_star:
        return reason
    return (
        f"{reason} Its totals are {_totals_in_words(_totals([_parsed(data[:], Reading())]))}; the choice is then on "
        "Data, or by --read strand=reverse."
    )


def _read(archive: Archive, name: str, reading: Reading) -> tuple[pa.Table, bool]:
    """The table of one file, and whether STAR wrote it."""
    try:
        with archive.open(name) as stream:
            data = stream.read(MOST_BYTES + 1)
    except DAMAGED as error:
        raise NotATable(why(error)) from None
    if len(data) > MOST_BYTES:
        raise NotATable(f" unpacks to more than {MOST_BYTES / 1e6:,.0f} MB in one of several files: give fewer rows.")
    try:
        return _parsed(data, reading), bool(_OF_STAR.match(data))
    except NotATable as reason:
        raise NotATable(f", {shown(name)}{reason}") from None


def _parsed(data: bytes, reading: Reading) -> pa.Table:
    """A file's table; a first line of a name and counts is no header."""
    is_bare = _BARE.fullmatch(data[: data.find(b"\n") % 1000]) and reading.names is None
    return text.read(data, replace(reading, above=0, names=0, below=0) if is_bare else reading)


def _counted(table: pa.Table) -> pa.Table | None:
    """A sample's two columns: names, each once, and their counts; None if a table is not of one sample."""
    names, last = table.column_names, table.num_columns - 1
    places = [names.index(name) for name in _COUNTED if name in names]
    if not places and (last == 1 or (last == len(_DESCRIBED) and names[:-1] == _DESCRIBED)):
        places = [last]
    if len(places) != 1 or not pa.types.is_string(table.schema.types[0]):
        return None
    kind, genes = table.schema.types[places[0]], table.column(0)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return table.select([0, *places]) if is_number and compute.count_distinct(genes).as_py() == len(genes) else None


def _common(tables: list[pa.Table]) -> pa.ChunkedArray | None:
    """The names that are in all lists, in the order of the first; None if these are few."""
    names = tables[0].column(0)
    for table in tables[1:]:
        names = names.filter(compute.is_in(names, table.column(0).combine_chunks()))
    return names if len(names) >= _LEAST_COMMON * max(len(table) for table in tables) else None


def _beside(tables: list[pa.Table], named: list[str], common: pa.ChunkedArray) -> pa.Table:
    check_shape(len(common), len(tables) + 1)
    places = [compute.index_in(common, table.column(0).combine_chunks()) for table in tables]
    counts = [table.column(1).take(place) for table, place in zip(tables, places, strict=True)]
    return pa.table([common, *counts], ["gene", *named])


def _told(tables: list[pa.Table], common: pa.ChunkedArray, name: str) -> list[str]:
    such = f"{len(tables)} files such as {shown(name)}"
    notes = [f"{such} were put beside each other by the names in their first columns."]
    if (counted := tables[0].column_names[1]) in _COUNTED:
        notes.append(f'Read were the counts called "{counted}".')
    left_out = max(len(table) for table in tables) - len(common)
    return (
        [*notes, f"Names that not every file has were left out, up to {left_out:,} of a file."] if left_out else notes
    )


def _below(tables: list[pa.Table], named: list[str], notes: list[str]) -> pa.Table:
    """The rows of all tables, with a column for the file of each; with these notes and one on that column."""
    check_shape(sum(map(len, tables)), tables[0].num_columns + 1, MOST_CELLS_IN_PIECES)
    facts = facts_of(tables[0])
    name = next(name for name in ("file", "file of the row") if name not in tables[0].column_names)
    files = [pa.array([label] * len(table)) for label, table in zip(named, tables, strict=True)]
    try:
        whole = pa.concat_tables(
            [table.append_column(name, file) for table, file in zip(tables, files, strict=True)],
            promote_options="permissive",
        )
    except pa.ArrowException:
        raise NotATable(" holds tables with the same names and other kinds of cells: read each by itself.") from None
    note = f'{len(tables)} files were put below each other; the column "{name}" has the one of each row.'
    return with_facts(whole, [note, *facts.get("notes", []), *notes], Reading(**facts["reading"]))


def _of_strand(tables: list[pa.Table], strand: str | None) -> tuple[list[pa.Table], str, list[str]]:
    """The names and the counts of one strand, this strand, and a note; unless given, it is the one of the totals."""
    totals = _totals(tables)
    likely, why = _likely(*totals[1:])
    usual, why = (strand, "as chosen") if strand else (likely, f"{why}. If the library is another, choose its strand")
    note = f"STAR counted by strand, with totals of {_totals_in_words(totals)}. The {usual} ones were read, {why}."
    return [table.select([0, 1 + [*STRANDS].index(usual)]) for table in tables], usual, [note]


def _totals(tables: list[pa.Table]) -> list[int]:
    """The counts of all genes of all tables: unstranded, forward, reverse.

    Raises:
        NotATable: a line of one does not hold a gene and three counts.
    """
    for table in tables:
        if table.num_columns != 4 or not all(map(pa.types.is_integer, table.schema.types[1:])):
            raise NotATable(" has lines that STAR would not write: each holds a gene and three counts.")
    genes = [table.filter(compute.invert(compute.match_substring_regex(table.column(0), _SUMMARY))) for table in tables]
    return [sum(compute.sum(table.column(place)).as_py() or 0 for table in genes) for place in (1, 2, 3)]


def _totals_in_words(totals: list[int]) -> str:
    return listed([f"{total:,} ({name})" for name, total in zip(STRANDS, totals, strict=True)], 3)


def _likely(forward: int, reverse: int) -> tuple[str, str]:
    """The strand that the totals tell, and why."""
    share = min(forward, reverse) / max(forward + reverse, 1)
    if share < _MOST_ONE_SIDED:
        return "forward" if forward > reverse else "reverse", "which has nearly all reads of genes"
    return "unstranded", "since no strand prevails" if share > _LEAST_UNSTRANDED else "but the totals do not tell"
