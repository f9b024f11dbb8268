"""Files of text as one table: a single one, several joined by the names in their first columns, or stacked.

HTSeq, featureCounts, salmon, kallisto and RSEM write a file per sample: lines of a gene, its description and its count;
STAR writes three counts, one for each strand protocol. Joined, they are a table with genes as rows and samples as
columns. What is equal in all files describes the genes; the column that differs holds the counts.
"""

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as compute

from disco.table.formats import text
from disco.table.formats.archive import DAMAGED, LEAVE_OUT, Archive, not_one, opened, printable_end, tables, why
from disco.table.formats.catalogue import NO_STRAND, TABBED, Source
from disco.table.formats.limits import MOST_BYTES, MOST_CELLS_IN_PIECES, NotATable, check_shape
from disco.table.formats.matrix_files import labels
from disco.table.formats.plain import facts_of, with_facts
from disco.table.formats.reading import STRANDS, Reading, likely_strand
from disco.words import how_many, listed, plural

_BARE = re.compile(  # a first line of a gene, what describes it, and counts; a sample may be called by a number
    rb"\s*(?!\"?#?((ensembl|gene|transcript|feature|target|tracking)[ _.]?)*"
    rb"(id|name|symbol|gene|transcript|feature|target)s?\"?\s*[\t,;])"
    rb"[^\t,;]+([\t,;](?!\s*\d+\s*[\t,;])[^\t,;]*){0,2}[\t,;]\s*\d+(\.\d+)?\s*([\t,;]\s*\d+\s*[\t,;]\s*\d+\s*)?",
    re.IGNORECASE,
)
_OF_STAR = re.compile(rb"N_unmapped(\t\d+){3}\s")
_SUMMARY = "^N_(unmapped|multimapping|noFeature|ambiguous)$"
_OF_ONE = re.compile(  # the names in a sample's file of salmon, kallisto, RSEM
    rb"Name\tLength\tEffectiveLength\tTPM\tNumReads\s|target_id\tlength\teff_length\test_counts\ttpm\s|"
    rb"(gene_id\ttranscript_id\(s\)|transcript_id\tgene_id)\tlength\teffective_length\texpected_count\s"
)
_COUNTED = ("NumReads", "est_counts", "expected_count", "unstranded")
_MEASURED = re.compile(r"(fpkm|rpkm|tpm|cpm)", re.IGNORECASE)  # next to counts
_UNCOUNTED = re.compile(rb"Gene ID\tGene Name\t[^\n]*Coverage\tFPKM\tTPM\s")
_NO_COUNTS = " holds the coverage, FPKM and TPM of StringTie, which are not counts: its script prepDE.py writes counts."
_LEAST_COMMON = 0.5  # share of the names that are in all files, if the files are joined
_MOST_TRIED = 3  # files with which all are compared, to find the ones that differ


def read_single(source: Source) -> pa.Table:
    """The table of one file of text; NotATable if it holds one sample, or `text.read` refuses it."""
    data, reading = source.data, source.reading
    if _UNCOUNTED.match(data[:200]):
        raise NotATable(_NO_COUNTS)
    if _OF_STAR.match(data[:100]):
        totals = _totals_in_words(_totals([_parsed(data[:], Reading())]))
        raise NotATable(
            " is STAR's of one sample, and a graph needs many: put the files of all samples in a ZIP or a tar. Its "
            f"totals are {totals}; the choice is then on Data, or by --read strand=reverse."
        )
    if _OF_ONE.match(data[:200]):
        raise NotATable(" is of one sample, and a graph needs many: put the files of all samples in a ZIP or a tar.")
    if source.suffix in TABBED and reading.separator is None and b"\t" in data[: text.LOOKED_AT]:
        reading = replace(reading, separator="\t")
    return text.read(data, reading, report=source.report)


def read(source: Source) -> pa.Table:
    """The table of an archive with several files of text; of STAR's, the counts of one strand.

    Raises:
        NotATable: they do not fit each other, or one is not a table.
    """
    archive, reading = opened(source.file, source.suffix), source.reading
    names = tables(archive.members)
    members = [_read(archive, name, reading) for name in names]
    columns = [table for table, _ in members]
    how, notes, sheets = None, list[str](), list[str]()
    if all(is_star for _, is_star in members):
        columns, strand, notes = _of_strand(columns, reading.strand)
        how = Reading(above=0, names=0, below=0, strand=strand)
    elif reading.strand is not None:
        raise NotATable(NO_STRAND)
    if (joined := _joined(columns)) is None and (indices := _of_samples(columns)):
        samples = [names[index] for index in indices]
        for name, table in zip(names, columns, strict=True):
            if name not in samples:
                sheets.append(_of_sheet(table, name, samples, columns[indices[0]].num_columns))
        names, joined = samples, _joined([columns[index] for index in indices])
    unread = _unread(archive, names)
    if joined is not None:
        table, details = joined
        files = f"{len(names)} files such as {printable_end(names[0])}"
        notes = [*notes, f"{files} were put beside each other by the names of their rows.", *details, *sheets, *unread]
        return with_facts(table.rename_columns(["gene", *labels(names)]), notes, how)
    if len({tuple(table.column_names) for table in columns}) > 1:
        raise NotATable(not_one(names, names))
    return _below(columns, labels(names), unread)


def _unread(archive: Archive, names: list[str]) -> list[str]:
    unread = sorted({*archive.members} - {*names})
    if not unread:
        return []
    files, were = how_many(len(unread), "other file"), plural(len(unread), "was", "were")
    return [f"{files} {were} not read: {listed([printable_end(name) for name in unread], 3)}."]


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
        if _UNCOUNTED.match(data[:200]):
            raise NotATable(_NO_COUNTS)
        return _parsed(data, reading), bool(_OF_STAR.match(data))
    except NotATable as reason:
        raise NotATable(f", {printable_end(name)}{reason} If it is not a table of counts, leave it out.") from None


def _parsed(data: bytes, reading: Reading) -> pa.Table:
    """A file's table; a first line of a name and counts is not a header."""
    is_bare = _BARE.fullmatch(data[: data.find(b"\n") % 1000]) and reading.names is None
    return text.read(data, replace(reading, above=0, names=0, below=0) if is_bare else reading)


def _joined(tables: list[pa.Table]) -> tuple[pa.Table, list[str]] | None:
    """The names and the counts of files of one sample each, and notes; None for other files.

    The first column without repetitions has the names. The counts are known by their name, or are the only numbers that
    differ between files, except measures such as TPM; the other columns describe the names.
    """
    counted = [[at for at, name in enumerate(table.column_names) if name in _COUNTED] for table in tables]
    tables = [table.select([0, *at]) if len(at) == 1 else table for table, at in zip(tables, counted, strict=True)]
    names, columns = tables[0].column_names, range(tables[0].num_columns)
    if any(table.num_columns != len(columns) for table in tables):
        return None
    key = next((at for at in columns if all(_are_names(table, at) for table in tables)), None)
    if key is None or (common := _common([_words(table, key) for table in tables])) is None:
        return None
    left_out = max(map(len, tables)) - len(common)
    tables = [table.take(compute.index_in(common, _words(table, key).combine_chunks())) for table in tables]
    remaining = [at for at in columns if at != key]
    differ = [at for at in remaining if not all(_are_equal(table, tables[0], at) for table in tables[1:])]
    if len(differ) > 1:
        differ = [at for at in differ if not _MEASURED.fullmatch(names[at])]
    numeric = [at for at in differ or remaining if all(_is_number(table.schema.types[at]) for table in tables)]
    if len(differ) > 1 or len(numeric) != 1:
        return None
    notes = [f'Read were the counts called "{name}".' for at in numeric if (name := names[at]) in _COUNTED]
    if described := [names[at] or "one without a name" for at in remaining if at not in numeric]:
        notes.append(f"Columns that describe the rows, or hold no counts, were left out: {listed(described, 6)}.")
    if left_out:
        notes.append(f"Names that not every file has were left out, up to {left_out:,} of a file.")
    check_shape(len(common), len(tables) + 1)
    cells = [tables[0].column(key), *(table.column(numeric[0]) for table in tables)]
    return pa.table(cells, [str(at) for at in range(len(cells))]), notes


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _words(table: pa.Table, at: int) -> pa.ChunkedArray:
    return table.column(at).cast(pa.string())


def _are_equal(first: pa.Table, second: pa.Table, at: int) -> bool:
    """Whether a column is the same in two tables; a blank one may have another type."""
    if first.schema.types[at] == second.schema.types[at]:
        return bool(first.column(at).equals(second.column(at)))
    return bool(_words(first, at).equals(_words(second, at)))


def _are_names(table: pa.Table, at: int) -> bool:
    """Whether a column has texts, or whole numbers at the beginning that number no rows, each once."""
    cells, kind = table.column(at), table.schema.types[at]
    if not pa.types.is_string(kind):
        if at or not pa.types.is_integer(kind) or len(cells) == cells.null_count:
            return False
        span = compute.min_max(cells).as_py()
        if span["max"] - span["min"] < 2 * len(cells):
            return False
    return bool(compute.count_distinct(cells).as_py() == len(cells))


def _common(names: list[pa.ChunkedArray]) -> pa.ChunkedArray | None:
    """The names in all lists, in the order of the first; None if these are few."""
    common = names[0]
    for later in names[1:]:
        common = common.filter(compute.is_in(common, later.combine_chunks()))
    return common if len(common) >= _LEAST_COMMON * max(map(len, names)) else None


def _of_samples(tables: list[pa.Table]) -> list[int]:
    """The indices of tables of one sample each, if these are over half of all tables, among others; else none.

    Tables with the same names of columns may be meant as rows of one, unless they hold one column of counts, and those
    of samples the same genes.
    """
    groups = [
        [at for at, table in enumerate(tables) if table is first or _joined([first, table])]
        for first in tables[:_MOST_TRIED]
    ]
    indices = max(groups, key=len)
    group = [tables[at] for at in indices]
    if 2 * len(group) <= len(tables) or (joined := _joined(group)) is None:
        return []
    are_of_one = sum(map(_is_number, group[0].schema.types)) == 1 and {*map(len, group)} == {len(joined[0])}
    return indices if are_of_one or len({tuple(table.column_names) for table in tables}) > 1 else []


def _of_sheet(table: pa.Table, name: str, samples: list[str], columns: int) -> str:
    """A note on a sheet of samples that names the files next to it; NotATable if the table is not one."""
    sample_labels, name = {*labels(samples)}, printable_end(name)
    matches = (len(sample_labels & {*_words(table, at).to_pylist()}) for at in range(table.num_columns))
    if any(2 * number > len(sample_labels) for number in matches):
        return f"{name} looks like a sheet of samples: give it by itself to join it (on Data, or by --samples)."
    reason = "its names are others, repeated or described otherwise, or it has no counts"
    if table.num_columns != columns:
        reason = f"it has {how_many(table.num_columns, 'column')}, and they have {columns}"
    raise NotATable(
        f": {len(samples)} files such as {printable_end(samples[0])} are of one sample each, but {name} is not: "
        f"{reason}. {LEAVE_OUT}"
    )


def _below(tables: list[pa.Table], named: list[str], notes: list[str]) -> pa.Table:
    """The rows of all tables, with a column for the file of each; `notes` and a note on that column."""
    check_shape(sum(map(len, tables)), tables[0].num_columns + 1, MOST_CELLS_IN_PIECES)
    facts = facts_of(tables[0])
    name = next(name for name in ("file", "file of the row") if name not in tables[0].column_names)
    files = [pa.array([label] * len(table)) for label, table in zip(named, tables, strict=True)]
    try:
        stacked = pa.concat_tables(
            [table.append_column(name, file) for table, file in zip(tables, files, strict=True)],
            promote_options="permissive",
        )
    except pa.ArrowException:
        raise NotATable(" holds tables with the same names and other kinds of cells: read each by itself.") from None
    note = f'{len(tables)} files were put below each other; the column "{name}" has the one of each row.'
    return with_facts(stacked, [note, *facts.get("notes", []), *notes], Reading(**facts["reading"]))


def _of_strand(tables: list[pa.Table], strand: str | None) -> tuple[list[pa.Table], str, list[str]]:
    """The names and the counts of one strand, this strand, and a note; None: the likely strand by the totals."""
    totals = _totals(tables)
    likely, reason = likely_strand(*totals[1:])
    how = "as chosen" if strand else f"{reason}. If the library is another, choose its strand"
    strand = strand or likely
    note = f"STAR counted by strand, with totals of {_totals_in_words(totals)}. The {strand} ones were read, {how}."
    return [table.select([0, 1 + [*STRANDS].index(strand)]) for table in tables], strand, [note]


def _totals(tables: list[pa.Table]) -> list[int]:
    """The counts of all genes of all tables: unstranded, forward, reverse."""
    for table in tables:
        if table.num_columns != 4 or not all(map(pa.types.is_integer, table.schema.types[1:])):
            raise NotATable(" has lines that STAR would not write: each holds a gene and three counts.")
    genes = [table.filter(compute.invert(compute.match_substring_regex(table.column(0), _SUMMARY))) for table in tables]
    return [sum(compute.sum(table.column(at)).as_py() or 0 for table in genes) for at in (1, 2, 3)]


def _totals_in_words(totals: list[int]) -> str:
    return listed([f"{total:,} ({name})" for name, total in zip(STRANDS, totals, strict=True)], 3)
