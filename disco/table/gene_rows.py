"""Genes, or the like, in rows and samples in columns, as most files of counts of genes, probes and taxa have them.

The rows are genes if their names are identifiers of genes, columns give the ranks of a taxonomy, or the other columns
are called by barcodes of cells; so are species if the other columns are numbered. Else by the name of the column that
names them, or symbols in it, and by arithmetic: counts of genes differ by orders of magnitude between genes, and little
between samples.
"""

import re
from collections import Counter
from collections.abc import Collection
from itertools import islice

import numpy as np
import pandas as pd

from disco.table.cells import columns_of, names_of, numbers_of, numeric
from disco.table.edits import Columns, Edit, LeaveOut, RowNames, Transpose
from disco.table.finding import Finding, leaving_out_columns, leaving_out_rows
from disco.table.formats.limits import MOST_COLUMNS
from disco.table.formats.reading import STRANDS, likely_strand
from disco.table.identifiers import is_time, phrase
from disco.table.kinds import ANNOTATION, GENES, SUMMARIES, VARIABLES
from disco.table.reshape import labels_of_rows, with_row_names
from disco.table.rows import stretches
from disco.table.values import Numbers
from disco.words import how_many, listed, plural

MOST_VARIED = 1000  # rows that become columns if there are too many
_MOST_LOOKED_AT = 2000  # rows by which genes are recognised
_MOST_BEFORE = 12  # columns among which one names the genes
_LEAST_IDS = 0.8  # share of row names that are identifiers of genes
_BY_ROWS = 0.6  # least share of the variance of log counts that lies between rows, if these are genes
_LEAST_TEXT = 0.5  # share of cells that are texts, of a column that describes genes
_LEAST_RANKS, _LEAST_SAMPLES = 3, 3
_LEAST_SYMBOLS, _LEAST_DIGITS, _LEAST_STEMS = 0.9, 0.2, 0.5  # shares of the names
_FEWEST_SYMBOLS = 10
_DECOYS = ("CON__", "REV__")  # of MaxQuant
_MOST_OF_ROW = 0.9  # least share of texts in a row that holds no counts

_SUMMARY = re.compile(  # of HTSeq, before and after version 0.6, of DEXSeq, and of STAR
    r"_{0,2}(no_feature|ambiguous|too_low_aqual|not_aligned|alignment_not_unique)|"
    r"_{1,2}(ambiguous_readpair(_position)?|empty|lowaqual|notaligned)|N_(unmapped|multimapping|noFeature|ambiguous)",
    re.IGNORECASE,
)
_GENE = re.compile(
    r"ENS[A-Z]{0,6}[GTE]\d{9,}(\.\d+)?(_PAR_Y)?([_|].+)?|FBgn\d+|WBGene\d+|AT[1-5MC]G\d+|Y[A-P][LR]\d{3}[WC](-[A-Z])?|"
    r"[NX][MR]_\d+(\.\d+)?|MGI:\d+|(LOC|LINC)\d+|[a-z]{3}-(mir|let)-[\w-]+|chr\w+[:_-]\d+[_-]\d+|"
    r"Gm\d{3,}|\d{7}[A-Z]\d\dRik",  # of mice
    re.IGNORECASE,
)
_BARCODE = re.compile(r"([A-Za-z0-9]+[_-])?[ACGT]{12,20}([-_.]\w+)?")
_NUMBERED = re.compile(r"([A-Za-z]*[ _.-]?)0*\d+")
_SYMBOL = re.compile(r"((?:mt-)?[A-Z][A-Za-z]*)[A-Za-z0-9]*([.-][A-Za-z0-9]+)*")
_PARTS = {*("otu", "otu id", "asv", "asv id", "feature id", "featureid", "sg rna", "sgrna")}  # never observations
_NAMES = _PARTS | {
    *("gene", "genes", "gene id", "geneid", "gene name", "gene symbol", "symbol", "hgnc symbol", "tracking id"),
    *("ensembl", "ensembl id", "ensembl gene id", "entrez", "entrez id", "entrezid", "entrez gene", "target id"),
    *("transcript", "transcript id", "probe", "probe id", "guide", "accession", "taxonomy id", "tax id", "taxid"),
    *("protein ids", "protein id", "peak", "region"),
}  # fmt: skip
_ANNOTATION = _NAMES | {
    *("chr", "chrom", "chromosome", "seqname", "seqnames", "start", "end", "stop", "strand", "length", "width"),
    *("gene length", "effective length", "eff length", "gene type", "gene biotype", "biotype", "transcript id s"),
    *("logfc", "log fc", "log cpm", "log2 fold change", "lfc se", "base mean", "ave expr"),
    *("taxlevel", "rank id", "daughterlevels"),
    *("p value", "pvalue", "padj", "fdr", "adj p val", "peak id"),
    *("description", "gene description", "taxonomy", "lineage", "confidence", "gc content", "exon id", "locus"),
}  # fmt: skip
_NAMELESS = {"", "row names", "rownames", "unnamed 0", "x", "1"}
_LEAST_TIMES = 0.8  # share of columns that are called by times, of species in rows
_SPECIES = {"species", "taxon", "taxa", "genus", "scientific name", "common name"}
_COUNTED = ("counts", "count", "expected_count", "est_counts", "ms/ms count", "num", "reads", "raw", "numreads")
_MEASURED = (
    *("abundance", "length", "tpm", "fpkm", "rpkm", "cpm", "rpm", "norm", "normalized", "normalised"),
    *("frac", "fraction", "percent", "pct"),
    *("peptides", "unique peptides", "razor + unique peptides", "identification type", "sequence coverage"),
    *("intensity", "lfq intensity", "ibaq"),  # of MaxQuant
)
_WORDS = "|".join(map(re.escape, (*_COUNTED, *_MEASURED)))
_MARK = re.compile(
    rf"(?P<first>{_WORDS})[._ ](?P<after>.+)|(?P<before>.+?)[._ ]?[(\[]?(?P<last>{_WORDS})[)\]]?", re.IGNORECASE
)
_CENSUS = re.compile(r"(.+_\d{3})(E|M)A?")  # an estimate and its margin of error
_CHROMOSOMES = {"chr", "chrom", "chromosome", "seqnames", "contig"}
_PLACES = 3  # columns of a place on a chromosome
_LEVELS = {"taxlevel", "rank id"}  # of mothur
_OF_TAXA = (_LEVELS, {"taxonomy id", "taxonomy lvl"})  # of Bracken
_RANKS = {"kingdom", "superkingdom", "domain", "phylum", "class", "order", "family", "genus", "species"}


def summaries(table: pd.DataFrame) -> Finding | None:
    """Lines of HTSeq and STAR on reads that were counted for no gene."""
    of_rows = labels_of_rows(table)
    decoys = [at for at, name in enumerate(of_rows) if name.startswith(_DECOYS)]
    if decoys and len(decoys) < len(of_rows) / 2:
        what = plural(len(decoys), "is a contaminant or a decoy", "are contaminants or decoys")
        message = f"{how_many(len(decoys), 'line')}, such as {of_rows[decoys[0]]}, {what}."
        return leaving_out_rows(SUMMARIES, message, decoys)
    rows = [at for at, name in enumerate(of_rows) if _SUMMARY.fullmatch(name.strip())]
    columns = [name for name in names_of(table) if _SUMMARY.fullmatch(name.strip())]
    if max(len(rows), len(columns)) < 2:
        return None
    names = columns if len(columns) >= len(rows) else [of_rows[at] for at in rows]
    message = (
        f"{how_many(len(names), 'line')} of the counting program, such as {listed(names, 2)}, sum up reads that were "
        "counted for no gene."
    )
    if names is columns:
        return leaving_out_columns(SUMMARIES, message, columns)
    return leaving_out_rows(SUMMARIES, message, rows)


def is_annotation(name: str) -> bool:
    """Whether a column has the name of one that describes genes or taxa."""
    return phrase(name) in _ANNOTATION


def annotation(table: pd.DataFrame) -> Finding | None:
    """Columns that describe the genes of the rows."""
    at, is_by_others = _genes_at(table)
    names = [] if at is None or is_by_others else [str(label) for label in _described(table, at)]
    if not names or table.shape[1] - len(names) <= _LEAST_SAMPLES:  # a list of results alone
        return None
    words = listed([name.strip() or "one without a name" for name in names], 6)
    message = f"{how_many(len(names), 'column')} {plural(len(names), 'describes', 'describe')} the genes: {words}."
    return leaving_out_columns(ANNOTATION, message, names)


def measures(table: pd.DataFrame) -> Finding | None:
    """Columns of other measures next to counts, as length.S1 and S1_tpm next to counts.S1 or S1."""
    usual, other_strands = _strands(table)
    if other_strands:
        message = f"STAR counted by strand: the {usual}. {listed(other_strands, 4)} hold the counts of other strands."
        return leaving_out_columns(ANNOTATION, message, other_strands)
    marked = {name: _marked(name) for name in names_of(table)}
    stems = {stem for stem, mark in marked.values() if mark in ("", *_COUNTED)}
    rest = [name for name, (stem, mark) in marked.items() if mark in _MEASURED and stem in stems]
    if len(rest) < _LEAST_SAMPLES:
        return None
    message = f"{how_many(len(rest), 'column')} hold other measures of what is counted: {listed(rest, 4)}."
    return leaving_out_columns(ANNOTATION, message, rest)


def _strands(table: pd.DataFrame) -> tuple[str, list[str]]:
    """The strand by the totals, with the reason, and the columns of other strands, as S1_reverse."""
    of_strand = {strand: [name for name in names_of(table) if name.endswith(f"_{strand}")] for strand in STRANDS}
    stems = [[name.removesuffix(f"_{strand}") for name in names] for strand, names in of_strand.items()]
    if not stems[0] or stems[1:] != stems[:-1]:
        return "", []
    totals = [float(table[of_strand[strand]].sum(numeric_only=True).sum()) for strand in ("forward", "reverse")]
    usual, why = likely_strand(*totals)
    rest = [name for strand, names in of_strand.items() if strand != usual for name in names]
    return f"{usual} counts stay, {why}", rest


def are_counts(names: Collection[str]) -> bool:
    """Whether all names are those of counts, as counts.S1 and S1_expected_count."""
    return all(_marked(name)[1] in _COUNTED for name in names)


def _marked(name: str) -> tuple[str, str]:
    """A name without the mark of a measure at its beginning or end, and the mark in lower case; empty without one."""
    if match := _CENSUS.fullmatch(name.strip()):
        return match[1], {"E": "count", "M": "percent"}[match[2]]
    match = _MARK.fullmatch(name.strip().removesuffix(" [%]"))
    if match is None:
        return name.strip(), ""
    return (match["after"] or match["before"]).strip(), (match["first"] or match["last"]).lower()


def genes(table: pd.DataFrame) -> Finding | None:
    """Genes in rows, samples in columns."""
    at, is_by_others = _genes_at(table)
    if at is None:
        return None
    labels = _PLACES if _are_places(names_of(table)) else 1
    if table.shape[1] - len(described := _described(table, at)) <= _LEAST_SAMPLES:
        return None
    described = described if is_by_others else []
    described = described if labels == 1 else [label for label in described if label not in table.columns[:labels]]
    table, at = table.drop(columns=described), 0 if is_by_others else at
    rows, samples = len(table), table.shape[1] - labels * isinstance(table.index, pd.RangeIndex)
    names = labels_of_rows(table if at else with_row_names(table, labels))
    message = (
        f"The rows look like genes ({listed(names, 2)}) and {how_many(samples, 'column')} like samples; "
        "every column would become a node of the graph."
    )
    values = Numbers.of(((column, cells) for column, cells in numeric(table) if column >= labels or at), rows).values
    never = np.flatnonzero(np.ptp(values, axis=1) == 0) if values.shape[1] > 1 else np.empty(0, int)
    edits: list[Edit] = [Columns(without=tuple(map(str, described)))] if described else []
    edits += [LeaveOut(stretches(never + 1))] if len(never) else []
    edits += [RowNames(labels)] if at == 0 else []
    edits.append(Transpose(MOST_VARIED if rows > MOST_COLUMNS else None))
    limit = f" of the {MOST_VARIED:,} genes that vary most" if rows > MOST_COLUMNS else ""
    remedy = f"Rows and columns{limit} are exchanged, with their names."
    if described:
        remedy += f" Left out: {listed([str(name) for name in described], 6)}, which describe the genes."
    if len(never):
        are = plural(len(never), "is", "are")
        remedy += f" {how_many(len(never), 'gene')} with one value in all samples {are} left out."
    return Finding(GENES, message, remedy, edits=tuple(edits))


def variables(table: pd.DataFrame) -> Finding | None:
    """Variables of several kinds in rows, as dates above counts: one line of texts in all columns of numbers."""
    if not isinstance(table.index, pd.RangeIndex) or table.shape[1] <= _LEAST_SAMPLES or len(table) > MOST_COLUMNS:
        return None
    if numbers_of(table.iloc[0, 1:])[1].mean() < _MOST_OF_ROW or table.iloc[0, 1:].nunique() < 2:
        return None
    names = labels_of_rows(table)
    texts = np.mean([numbers_of(column)[1] for _, column in islice(columns_of(table), 1, None)], axis=0)
    rows = np.flatnonzero(texts >= _MOST_OF_ROW)
    is_other = 2 * len(rows) >= len(table) or (np.delete(texts, rows) > 0).any()
    if is_other or len({*names}) < len(names) or not _is_text(table, 0):
        return None
    message = f'The rows look like variables and the columns like observations: "{names[rows[0]]}" holds texts in all.'
    remedy = "Rows and columns are exchanged, with their names."
    return Finding(VARIABLES, message, remedy, edits=(RowNames(), Transpose()))


def _genes_at(table: pd.DataFrame) -> tuple[int | None, bool]:
    """The position of the genes' names, -1 for the rows' own, None without; and whether other columns confirm it."""
    if not isinstance(table.index, pd.RangeIndex):
        return (-1 if _are_ids(labels_of_rows(table)[:_MOST_LOOKED_AT]) else None), False
    head = table.iloc[:_MOST_LOOKED_AT]
    names = names_of(table)
    positions = range(min(_MOST_BEFORE, table.shape[1]))
    first = _first(head)
    texts = [at for at in positions if _is_text(head, at) or (at == first and phrase(names[at]) in _NAMES)]  # by number
    words = {*map(phrase, names)}
    has_ranks = len(words & _RANKS) >= _LEAST_RANKS or any(map(words.issuperset, _OF_TAXA))
    if _are_places(names):
        return 0, True
    for at in texts:
        cells = [name for name in head.iloc[:, at].dropna().astype(str) if not _SUMMARY.fullmatch(name)]
        if len(cells) < 2 or len({*cells}) < len(cells) * _LEAST_IDS or phrase(names[at]) in _LEVELS:
            continue
        rest = [*names[:at], *names[at + 1 :]]
        if _are_ids(cells) or phrase(names[at]) in _PARTS:
            return at, False
        if has_ranks and phrase(names[at]) not in _RANKS:
            return at, True
        are_columns = _are_numbered(rest) or np.mean([*map(is_time, rest)]) >= _LEAST_TIMES
        are_barcodes = len(rest) >= _LEAST_SAMPLES and all(map(_BARCODE.fullmatch, rest))
        if at == first and (are_barcodes or (phrase(names[at]) in _SPECIES and are_columns)):
            return at, False
        is_named = phrase(names[at]) in _NAMES or (
            at == first and phrase(names[at]) in _NAMELESS and _are_symbols(cells)
        )
        if is_named and _differ_by_rows(head.drop(columns=[*_described(head, at), head.columns[at]])):
            return at, False
    return None, False


def _first(table: pd.DataFrame) -> int:
    """The position of the first column, except an unnamed one that numbers the rows, as R writes them."""
    names = names_of(table)
    is_number = len(names) > 1 and phrase(names[0]) in _NAMELESS and not numbers_of(table.iloc[:, 0])[1].any()
    return int(is_number)


def _are_places(names: list[str]) -> bool:
    first, *rest = [phrase(name) for name in names[:_PLACES]] or [""]
    return first in _CHROMOSOMES and {*rest} == {"start", "end"}


def _is_text(table: pd.DataFrame, at: int) -> bool:
    return bool(numbers_of(table.iloc[:, at])[1].sum() > _LEAST_TEXT * len(table))


def _are_ids(names: list[str]) -> bool:
    """Whether most names are identifiers of genes, and differ."""
    names = [name for name in names if not _SUMMARY.fullmatch(name)]
    are_other = len(names) > 1 and len({*names}) >= len(names) * _LEAST_IDS
    return are_other and bool(np.mean([bool(_GENE.fullmatch(name.strip())) for name in names]) >= _LEAST_IDS)


def _are_symbols(names: list[str]) -> bool:
    """Whether names may be symbols of genes: one word each, some with digits, and not one word that is numbered."""
    names = [name for name in map(str.strip, names) if not _GENE.fullmatch(name)]
    matches = [match for name in names if (match := _SYMBOL.fullmatch(name))]
    has_digits = sum(any(map(str.isdigit, match[0])) for match in matches)
    return (
        len(matches) >= max(_FEWEST_SYMBOLS, _LEAST_SYMBOLS * len(names))
        and has_digits >= _LEAST_DIGITS * len(names)
        and len({match[1] for match in matches}) >= _LEAST_STEMS * len(names)
    )


def _are_numbered(names: list[str]) -> bool:
    matches = [_NUMBERED.fullmatch(name.strip()) for name in names]  # one word with different numbers
    return len(names) >= _LEAST_SAMPLES and all(matches) and len({match[1] for match in matches if match}) == 1


def _differ_by_rows(table: pd.DataFrame) -> bool:
    values = Numbers.of(numeric(table), len(table)).values
    is_whole = (np.nan_to_num(values) % 1 == 0).all(axis=0)
    values = values[:, is_whole] if is_whole.sum() >= _LEAST_SAMPLES else values
    if min(values.shape) < 3 or np.isnan(values).any() or (values < 0).any():
        return False
    logs = np.log1p(values)
    return bool(logs.mean(1).var() >= _BY_ROWS * logs.var())


def _described(table: pd.DataFrame, but: int) -> list[object]:
    """The labels of columns that describe genes, by name or as texts, except the column `but`."""
    head = table.iloc[:_MOST_LOOKED_AT]
    candidates = [
        (at, label, name)
        for at, (label, name) in enumerate(zip(table.columns, names_of(table), strict=True))
        if at != but
    ]
    described = {at for at, _, name in candidates if is_annotation(name) or _is_text(head, at) or at < _first(head)}
    marks = {at: mark for at, _, name in candidates if (mark := _marked(name)[1]) in _COUNTED}
    mark, times = max(Counter(marks.values()).items(), key=lambda item: item[1], default=("", 0))
    if times >= _LEAST_SAMPLES:  # counts of each sample, so the rest is of none
        described |= {at for at, _, _ in candidates if marks.get(at) != mark}
    numbers = {at: numbers_of(head.iloc[:, at])[0] for at, _, _ in candidates if at not in described}
    measures = {at for at, values in numbers.items() if (np.nan_to_num(values) % 1 != 0).any()}
    if len(numbers) - len(measures) >= _LEAST_SAMPLES:  # decimals among counts are not samples
        described |= measures
    return [label for at, label, _ in candidates if at in described]
