"""What a table holds besides one row per observation and one column per count, and how to change it.

Counts of genes come with genes in rows, columns that describe the genes, and lines that sum up what no gene received.
Pivots have totals, gradebooks a line of the points possible, surveys one line per sighting. Each is recognised by names
and by arithmetic, and has a suggestion: edits (`disco.table.edits`), made only if the user accepts.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd

from disco.table import amounts
from disco.table.blocks import below, beside, footnotes
from disco.table.cells import columns_of, names_of, numbers_of
from disco.table.edits import Columns, Edit, LeaveOut, Pivot, RowNames, Transpose, applied
from disco.table.formats.limits import MOST_COLUMNS
from disco.table.guesses import MANY, guesses
from disco.table.identifiers import words_of
from disco.table.kinds import (
    ANNOTATION,
    BELOW,
    BESIDE,
    BLANK,
    COPIES,
    ESTIMATES,
    FOOTNOTES,
    GENES,
    KINDS,
    NAMES,
    NORMALISED,
    POINTS,
    SIGHTINGS,
    SUMMARIES,
    TOTALS,
    ZEROS,
)
from disco.table.reshape import are_texts, has_row_names
from disco.table.rows import stretches
from disco.table.suggestions import Suggestion, leave_out, without
from disco.table.values import are_whole
from disco.words import how_many, listed, plural

MOST_VARIED = 1000  # rows that become columns if there are too many
_NAMED = 4
_MOST_ROWS = 200_000
_MOST_LOOKED_AT = 2000  # rows by which genes are recognised
_LEAST_IDS = 0.8  # share of row names that are identifiers of genes
_BY_ROWS = 0.6  # least share of the variance of log counts that lies between rows, if these are genes
_LEAST_LINES = 1.2  # per event, of sightings
_DISTINCT = 0.9  # least share of different names, if lines repeat
_WITHIN = 0.8  # least share of the filled and blank cells that the points possible are not exceeded by
_LEAST_TEXT = 0.5  # share of cells that are texts, of a column that describes genes
_LEAST_TEXTS = 0.1  # of a column that tells lines apart, as a share of them

_SUMMARY = re.compile(  # of HTSeq, before and after version 0.6, of DEXSeq, and of STAR
    r"_{0,2}(no_feature|ambiguous|too_low_aqual|not_aligned|alignment_not_unique)|"
    r"_{1,2}(ambiguous_readpair(_position)?|empty|lowaqual|notaligned)|N_(unmapped|multimapping|noFeature|ambiguous)",
    re.IGNORECASE,
)
_GENE = re.compile(
    r"ENS[A-Z]{0,6}[GTE]\d{9,}(\.\d+)?(_PAR_Y)?|FBgn\d+|WBGene\d+|AT[1-5MC]G\d+|Y[A-P][LR]\d{3}[WC](-[A-Z])?|"
    r"[NX][MR]_\d+(\.\d+)?|MGI:\d+|(LOC|LINC)\d+",
    re.IGNORECASE,
)
_GENES = {
    *("gene", "genes", "gene id", "geneid", "gene name", "gene symbol", "symbol", "hgnc symbol", "tracking id"),
    *("ensembl", "ensembl id", "ensembl gene id", "entrez", "entrez id", "entrezid", "entrez gene", "target id"),
    *("transcript", "transcript id", "probe", "probe id", "otu", "otu id", "asv", "feature id", "featureid"),
}  # fmt: skip
_ANNOTATION = _GENES | {
    *("chr", "chrom", "chromosome", "seqname", "seqnames", "start", "end", "stop", "strand", "length", "width"),
    *("gene length", "effective length", "eff length", "gene type", "gene biotype", "biotype", "transcript id s"),
    *("description", "gene description", "taxonomy", "lineage", "confidence", "gc content", "exon id", "locus"),
}  # fmt: skip
_TOTAL = {
    "total",
    "totals",
    "grand total",
    "sum",
    "all",
    "overall",
    "gesamt",
    "gesamtergebnis",
    "summe",
    "somme",
    "suma",
}
_POSSIBLE = re.compile(r"\s*(points? possible|max(imum)? (points|score)|out of|possible)\s*", re.IGNORECASE)
_TEST = re.compile(r"\s*(student, test|test (student|pupil))\s*", re.IGNORECASE)
_SPECIES = {
    *("species", "taxon", "taxa", "genus", "scientific name", "scientificname", "vernacular name", "common name"),
    *("gene", "gene id", "feature", "otu", "asv", "item", "product", "word", "variable", "category", "tag"),
}  # fmt: skip
_COUNTED = {
    *("count", "counts", "individual count", "individuals", "abundance", "n", "num", "number", "quantity", "amount"),
    *("organism quantity", "reads", "freq", "frequency", "value", "total count"),
}  # fmt: skip
_EVENTS = {
    *("event", "event id", "event date", "sampling event", "sampling event identifier", "date", "visit", "visit id"),
    *("site", "location", "station", "transect", "quadrat", "plot", "trap", "survey", "survey id", "sample"),
    *("sample id", "checklist", "checklist id", "transaction", "order", "order id", "document", "cell", "barcode"),
}  # fmt: skip

_Look: TypeAlias = Callable[[pd.DataFrame], Suggestion | None]


def suggestion(table: pd.DataFrame, but: Collection[str] = (), spared: Collection[str] = ()) -> Suggestion | None:
    """The first thing to change, if any; the others follow once it is made or refused.

    Args:
        but: kinds that the user has refused.
        spared: columns that have a role, and are not left out.
    """
    if names_of(table)[:1] and names_of(table)[0] in spared:
        but = {*but, NAMES}
    beside = {*spared} & {*names_of(table)}
    of_amounts = {} if are_whole(table) else {kind: partial(look, but=beside) for kind, look in _AMOUNTS.items()}
    looks: dict[str, _Look] = {**_LOOKS, **of_amounts}
    for kind, look in looks.items():
        if kind not in but and (found := look(table)) is not None and (part := found.sparing(spared)) is not None:
            return part
    return None


def tidied(
    table: pd.DataFrame, kinds: Collection[str] = KINDS, spared: Collection[str] = ()
) -> Iterator[tuple[Suggestion, pd.DataFrame]]:
    """All suggestions of some kinds, one after the other, each with the table after it; `spared` as in `suggestion`."""
    refused = {*KINDS} - {*kinds}
    while (found := suggestion(table, refused, spared)) is not None:
        table = applied(table, found.edits)
        refused |= {found.kind}
        yield found, table


def _row_names(table: pd.DataFrame) -> list[str]:
    """The names of the rows: their labels, or the cells of a first column that is text; none if there are neither.

    Of a table with more rows than a list of genes or of observations by name has, none are looked at.
    """
    if len(table) > _MOST_ROWS:
        return []
    if not isinstance(table.index, pd.RangeIndex):
        return [str(name) for name in table.index]
    if not table.shape[1] or not len(table):
        return []
    first = table.iloc[:, 0]
    return ["" if pd.isna(cell) else str(cell) for cell in first] if numbers_of(first)[1].any() else []


def _word(name: str) -> str:
    return " ".join(words_of(name))


def _numeric(table: pd.DataFrame) -> tuple[list[int], np.ndarray]:
    """Positions and numbers of the columns whose filled cells are all numbers, (rows, columns)."""
    at, values = [], []
    for position, (_, column) in enumerate(columns_of(table)):
        numbers, other = numbers_of(column)
        if not other.any() and not np.isnan(numbers).all():
            at.append(position)
            values.append(numbers)
    return at, np.column_stack(values) if values else np.empty((len(table), 0))


def _blank(table: pd.DataFrame) -> Suggestion | None:
    """Columns without a cell."""
    names = names_of(table)
    empty = [at for at, (_, column) in enumerate(columns_of(table)) if column.isna().all()]
    empty = [at for at in empty if names.count(names[at]) == sum(names[other] == names[at] for other in empty)]
    if not empty or not len(table) or len(empty) == len(names):
        return None
    which = plural(len(empty), f"Column {empty[0] + 1} is", f"{how_many(len(empty), 'column')} are")
    return without(BLANK, f"{which} empty from top to bottom.", [names[at] for at in empty])


def _summaries(table: pd.DataFrame) -> Suggestion | None:
    """Lines of HTSeq and STAR on reads that were counted for no gene."""
    rows = [at for at, name in enumerate(_row_names(table)) if _SUMMARY.fullmatch(name.strip())]
    columns = [name for name in names_of(table) if _SUMMARY.fullmatch(name.strip())]
    if max(len(rows), len(columns)) < 2:
        return None
    names = columns if len(columns) >= len(rows) else [_row_names(table)[at] for at in rows]
    message = (
        f"{how_many(len(names), 'line')} of the counting program, such as {listed(names, 2)}, sum up reads that were "
        "counted for no gene."
    )
    if len(columns) >= len(rows):
        return without(SUMMARIES, message, columns)
    return leave_out(SUMMARIES, rows, message)


def _totals(table: pd.DataFrame) -> Suggestion | None:
    """A row called total that sums up the others, and such a column; alone, `disco.table.relations` finds one."""
    names, of_rows = names_of(table), _row_names(table)
    called = [row for row, name in enumerate(of_rows) if _word(name) in _TOTAL]
    if not called:
        return None
    at, values = _numeric(table)
    if min(values.shape) < 3:
        return None
    filled = np.nan_to_num(values)
    sums = filled.sum(0) - filled[called].sum(0)
    rows = [row for row in called if np.allclose(filled[row], sums)]
    if not rows:
        return None
    rest = np.delete(filled, called, axis=0)
    columns = [
        names[column]
        for number, column in enumerate(at)
        if _word(names[column]) in _TOTAL and rest[:, number].any() and np.allclose(2 * rest[:, number], rest.sum(1))
    ]
    what = [*(f'row "{of_rows[row].strip()}"' for row in rows), *(f'column "{name}"' for name in columns)]
    holds, are = plural(len(what), "holds", "hold"), plural(len(what), "It is", "They are")
    edits: list[Edit] = [
        LeaveOut(stretches(np.array(rows) + 1)),
        *([Columns(without=tuple(columns))] if columns else []),
    ]
    message = f"The {' and the '.join(what)} {holds} the sums of the others."
    return Suggestion(TOTALS, message, f"{are} left out.", tuple(edits))


def _points(table: pd.DataFrame) -> Suggestion | None:
    """Lines of a gradebook that are no pupil: the points possible, which few cells exceed, and a test pupil."""
    names = _row_names(table)
    possible = [at for at, name in enumerate(names) if _POSSIBLE.fullmatch(name)]
    values = _numeric(table)[1] if possible else np.empty((0, 0))
    with np.errstate(invalid="ignore"):
        possible = [at for at in possible if np.mean(~(values > values[at])) >= _WITHIN]
    rows = sorted([*possible, *(at for at, name in enumerate(names) if _TEST.fullmatch(name))])
    if not rows:
        return None
    which = listed([f'"{names[at].strip()}"' for at in rows], _NAMED)
    message = f"{plural(len(rows), 'The line', 'The lines')} {which} {plural(len(rows), 'is', 'are')} no observation."
    return leave_out(POINTS, rows, message)


def _are_genes(table: pd.DataFrame) -> bool:
    """Whether the rows are genes or the like: by identifiers, or by the name of the first column and by arithmetic.

    Counts of genes differ by orders of magnitude between genes, and little between samples.
    """
    names = [name for name in _row_names(table)[:_MOST_LOOKED_AT] if not _SUMMARY.fullmatch(name)]
    if len(names) < 2 or len({*names}) < len(names) * _LEAST_IDS:
        return False
    if np.mean([bool(_GENE.fullmatch(name.strip())) for name in names]) >= _LEAST_IDS:
        return True
    if not isinstance(table.index, pd.RangeIndex) or _word(names_of(table)[0]) not in _GENES:
        return False
    values = _numeric(table.iloc[:_MOST_LOOKED_AT].drop(columns=_described(table)))[1]
    if min(values.shape) < 3 or np.isnan(values).any() or (values < 0).any():
        return False
    logs = np.log1p(values)
    return bool(logs.mean(1).var() >= _BY_ROWS * logs.var())


def _described(table: pd.DataFrame) -> list[object]:
    """The labels of columns that describe genes, by name or as texts, besides the first column of names."""
    return [
        label
        for at, (label, name) in enumerate(zip(table.columns, names_of(table), strict=True))
        if at and (_word(name) in _ANNOTATION or _is_text(table.iloc[:_MOST_LOOKED_AT, at]))
    ]


def _is_text(column: pd.Series) -> bool:
    return bool(numbers_of(column)[1].sum() > _LEAST_TEXT * len(column))


def _annotation(table: pd.DataFrame) -> Suggestion | None:
    """Columns that describe the genes of the rows."""
    names = [str(label) for label in _described(table)]
    if not names or not _are_genes(table):
        return None
    message = (
        f"{how_many(len(names), 'column')} {plural(len(names), 'describes', 'describe')} the genes: {listed(names, 6)}."
    )
    return without(ANNOTATION, message, names)


def _genes(table: pd.DataFrame) -> Suggestion | None:
    """Genes in rows, samples in columns."""
    if not _are_genes(table):
        return None
    rows, samples = len(table), table.shape[1] - (isinstance(table.index, pd.RangeIndex))
    message = (
        f"The rows look like genes ({listed(_row_names(table), 2)}) and the {samples:,} columns like samples; "
        "every column would become a node of the graph."
    )
    edits: list[Edit] = [RowNames()] if has_row_names(table) else []
    edits.append(Transpose(MOST_VARIED if rows > MOST_COLUMNS else None))
    most = f" of the {MOST_VARIED:,} genes that vary most" if rows > MOST_COLUMNS else ""
    return Suggestion(GENES, message, f"Rows and columns{most} are exchanged, with their names.", tuple(edits))


def _sightings(table: pd.DataFrame) -> Suggestion | None:
    """One line per sighting: an event, what was seen, and how many."""
    names = names_of(table)
    words = [_word(name) for name in names]
    species = next((at for at, word in enumerate(words) if word in _SPECIES), None)
    counted = next((at for at, word in enumerate(words) if word in _COUNTED), None)
    if species is None or counted is None or not np.isfinite(numbers_of(table.iloc[:, counted])[0]).all():
        return None
    kinds = table.iloc[:, species].astype(str)
    if not numbers_of(table.iloc[:, species])[1].all():  # numbers called species are how many there were
        return None
    if not 2 <= kinds.nunique() <= min(MOST_COLUMNS, len(table) / 2):
        return None
    events = [at for at, word in enumerate(words) if word in _EVENTS and _is_event(table, at, kinds)]
    if not events:
        return None
    event = max(events, key=lambda at: table.iloc[:, at].nunique())
    others = [at for at in range(len(names)) if at not in (species, counted, event)]
    stay = [at for at in others if _is_of(table, at, event)]
    out = [names[at] for at in others if at not in stay]
    edit = Pivot(tuple(names[at] for at in (event, *stay)), names[species], names[counted])
    message = f'There is one line per sighting: "{names[counted]}" of "{names[species]}" in "{names[event]}".'
    verbs = plural(len(out), "differs within one and is", "differ within one and are")
    lost = f" {listed(out, _NAMED)} {verbs} left out." if out else ""
    advice = (
        f'Each "{names[species]}" becomes a column and each "{names[event]}" a row, with 0 where there is no line. One '
        f"without any line is not in this file.{lost}"
    )
    return Suggestion(SIGHTINGS, message, advice, (edit,))


def _is_event(table: pd.DataFrame, at: int, kinds: pd.Series) -> bool:
    """Whether a column groups the lines: several per event, each kind at most once in nearly all."""
    keys = table.iloc[:, at].astype(str)
    pairs = pd.DataFrame({"event": keys.to_numpy(), "kind": kinds.to_numpy()})
    return len(table) >= _LEAST_LINES * keys.nunique() and pairs.duplicated().mean() < 0.05 and keys.nunique() >= 2


def _is_of(table: pd.DataFrame, at: int, event: int) -> bool:
    """Whether a column has one value in every event."""
    return bool(table.iloc[:, at].astype(str).groupby(table.iloc[:, event].astype(str).to_numpy()).nunique().max() == 1)


def _copies(table: pd.DataFrame) -> Suggestion | None:
    """Lines that stand in the file twice, although their names tell almost all lines apart."""
    named = isinstance(table.index, pd.RangeIndex) and any(map(_tells_apart, (one for _, one in columns_of(table))))
    if not named:
        return None
    keys = table.iloc[:, [*guesses(table)]]
    alike = table[keys.duplicated(keep=False).to_numpy()]  # copies have equal names
    rows = alike.index[alike.duplicated()].to_numpy()
    if not len(rows) or keys.drop(index=rows).duplicated().mean() > 1 - _DISTINCT:
        return None
    words = f"{how_many(len(rows), 'line')} {plural(len(rows), 'repeats', 'repeat')}"
    return leave_out(COPIES, rows.tolist(), f"{words} an earlier one in every cell, names included.")


def _tells_apart(column: pd.Series) -> bool:
    """Whether a column has many texts."""
    if pd.api.types.is_numeric_dtype(column):
        return False
    return bool(numbers_of(column)[1].any()) and column.nunique() > max(MANY, _LEAST_TEXTS * len(column))


def _names(table: pd.DataFrame) -> Suggestion | None:
    """A first column of texts that all differ."""
    if not has_row_names(table) or not are_texts(table.iloc[:, 0]):
        return None
    return Suggestion(
        NAMES, f'"{names_of(table)[0]}" has another text in every row.', "It names the rows.", (RowNames(),)
    )


_LOOKS: Mapping[str, _Look] = {
    FOOTNOTES: footnotes,
    BELOW: below,
    BESIDE: beside,
    BLANK: _blank,
    SUMMARIES: _summaries,
    TOTALS: _totals,
    POINTS: _points,
    COPIES: _copies,
    ANNOTATION: _annotation,
    SIGHTINGS: _sightings,
    GENES: _genes,
    NAMES: _names,
}
_AMOUNTS = {ZEROS: amounts.zeros, NORMALISED: amounts.normalised, ESTIMATES: amounts.estimates}
