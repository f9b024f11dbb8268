"""The quality of a table of counts: what stands out before any graph search, each with advice.

First what can create edges (`disco/table/artefacts.py`): columns determined or nearly repeated by others, rows that are
copies or depend on their neighbours, shared totals, and depth. Then dispersion and zeros (`disco/table/dispersion.py`),
ties and levels, prevalence, and outlying rows (`disco/table/unusual_rows.py`). The table is never changed.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from disco.progress import SILENT, Callback, Reporter
from disco.table import dispersion as laws
from disco.table.artefacts import ARTEFACTS, near, of_near, of_relations, plain_artefacts
from disco.table.cells import value_counts
from disco.table.counts import describe
from disco.table.depth import Depth, depth
from disco.table.edits import AddColumns, Columns, LeaveOut
from disco.table.finding import Finding, leaving_out_columns, option
from disco.table.prepared import Prepared, Table, prepare
from disco.table.relations import portions, relations
from disco.table.row_findings import exposure_of_total, of_depth
from disco.table.rows import Stretches, in_words, row_numbers, stretches
from disco.table.unusual_rows import outlying
from disco.words import how_many, listed, plural

LEVEL = 0.05  # of the tests of dispersion, for all columns together
CEILING, CLIFF = 0.05, 2.0  # least share of the rows at the largest count, and that share over the next lower count's
FEW_ROWS = 10  # at the largest count, by chance
FEW_LEVELS = 3  # a refinement decides no direction at a column with so few
LEAVE_OUT_ROWS, _MOST_LEFT_OUT = "--leave-out-rows", 30  # the option that leaves out rows, and most ranges in it
SHARED = 3.0  # fewer rows that share a row's value are few for levels
_NAMED = 6
DOUBTS = ("few rows", "part", "rare", "rows", "zeros", "ceiling", "few levels")  # weaken results, besides artefacts
_LEAST_ALONE = 0.9  # of a row's distance, if one count is far
_OF_ROWS = ("repeated", "serial", "closure", "filter")  # artefacts
_WEIGHTS = {"columns": 0.1, "depth": 0.5, "rows": 0.1, "relations": 0.1, "near": 0.2}  # of time, about


@dataclass(frozen=True)
class Quality:
    """The properties of a table of counts."""

    # one line per column: column (name), levels, ties, mean, variance, commonest, prevalence, dispersion, over, under
    # (p-values for the column alone), varies (more, less or as, against Poisson counts, by these tests for all
    # columns together), zeros, zeros_poisson, zeros_nb, excess, has_gaps (too many zeros), maximum, at_maximum (share
    # of the rows), has_ceiling (too many rows there)
    columns: pd.DataFrame
    depth: Depth  # how much of the columns' common variation the row totals explain
    rows: pd.DataFrame  # one line per row, from `disco.table.unusual_rows.outlying`
    relations: tuple[Finding, ...]  # columns determined exactly by others
    near: pd.DataFrame  # one, other (names), correlation of near copies
    findings: tuple[Finding, ...]  # what stands out, most serious first


def quality(table: Table, left_out: Stretches = (), callback: Callback | None = None) -> Quality:
    """Check a table of counts of any size, constant columns included; InputError if it does not hold counts.

    Args:
        table: rows are judged with the adjustment of a prepared one.
        left_out: rows of the loaded table that were left out; the others keep their numbers.
        callback: receives the events; False stops.
    """
    reporter = Reporter(callback, _WEIGHTS, "stopped while looking at the {stage}.")
    prepared = prepare(table, folds=None)
    counts, values = prepared.counts, prepared.counts.to_numpy()
    reporter.step("columns", 0, 1)
    columns = _columns(counts)
    numbers = row_numbers(len(counts), left_out)
    deep = depth(values, reporter, "depth")
    deep = replace(deep, rows=deep.rows.assign(row=numbers[deep.rows["row"] - 1]))
    rows = _rows(counts, left_out, reporter)
    reporter.step("relations", 0, 1)
    varied = np.flatnonzero(columns["levels"] > 1)
    exact = tuple(relations(Prepared(counts.iloc[:, varied]))) if len(varied) else ()
    copies, names = near(counts, exact, reporter, "near"), list(counts.columns)
    findings = (
        *of_relations(names, exact, exposure_of_total(counts, prepared.adjustment)),
        *plain_artefacts(prepared, unused=pd.DataFrame(), dismissed={*ARTEFACTS} - {*_OF_ROWS}),
        *of_depth(deep, counts, prepared.adjustment),
        *of_near(names, copies),
        *_of_counts(counts, columns, rows, {relation.columns[0] for relation in exact}),
    )
    return Quality(columns, deep, rows, exact, copies, findings)


def doubts(table: Table, left_out: Stretches = (), advised: Collection[str] = ()) -> tuple[Finding, ...]:
    """The findings of `quality` that weaken any result besides artefacts (`DOUBTS`), in a small part of its time.

    Of columns that artefacts advise to leave out, none is a total or a part.
    """
    prepared = prepare(table, folds=None)
    counts, positions = prepared.counts, prepared.positions
    rows = _rows(counts, ()).assign(row=row_numbers(prepared.rows_given, left_out)[positions]).set_axis(positions)
    findings = _of_counts(counts, _columns(counts), rows, advised)
    return tuple(finding for finding in findings if finding.kind in DOUBTS)


def _of_counts(
    counts: pd.DataFrame, columns: pd.DataFrame, rows: pd.DataFrame, advised: Collection[str]
) -> Iterator[Finding]:
    """The findings about single columns and rows, most serious first."""
    if message := laws.few_rows(*counts.shape):
        yield Finding("few rows", message, "Expect no edges: add rows, or leave out columns.")
    elif message := laws.wide(*counts.shape):
        yield Finding("few rows", message, "Add rows, or leave out columns.")
    yield from _of_parts(counts.loc[:, [name not in advised for name in counts]])
    yield from _of_spreads(columns)
    names = {} if is_numeric_dtype(counts.index) else dict(zip(rows["row"].tolist(), counts.index, strict=True))
    yield from _of_rows(rows, names)
    yield from _of_laws(columns)
    yield from _of_levels(columns, len(counts))


def _of_parts(counts: pd.DataFrame) -> Iterator[Finding]:
    """A column that looks like a part of another, with the cure that replaces the total by the rest."""
    if pairs := portions(counts.to_numpy()):
        portion, total = (str(counts.columns[at]) for at in pairs[0])
        rest = tuple((counts[total] - counts[portion]).tolist())
        also = f" {how_many(len(pairs) - 1, 'more pair')} of columns are like them." if len(pairs) > 1 else ""
        yield Finding(
            "part",
            f'"{portion}" looks like a part of "{total}": it is never larger, and as close to it as a part is.{also}',
            "An edge between a part and its total is arithmetic: replace the total by the rest, or leave one out.",
            columns=(portion, total),
            edits=(AddColumns({f"{total} without {portion}": rest}), Columns(without=(total,))),
            flag=option("--without", [total]),
        )


def _rows(counts: pd.DataFrame, left_out: Stretches, reporter: Reporter = SILENT) -> pd.DataFrame:
    """The line of every row, with its number, and the name of the column that adds most to its distance."""
    rows = outlying(counts.to_numpy(), reporter, "rows").assign(row=row_numbers(len(counts), left_out))
    return rows.assign(column=counts.columns.to_numpy()[rows["column"]] if counts.shape[1] else "")


def _columns(counts: pd.DataFrame) -> pd.DataFrame:
    described = describe(counts)[["column", "levels", "ties", "mean", "variance"]]
    spread = laws.spreads(counts)[["commonest", "prevalence"]]
    values = counts.to_numpy()
    lines = pd.concat([described, spread, laws.dispersion(values), laws.zeros(values), _tops(values)], axis=1)
    lines = lines.astype(dict.fromkeys(lines.columns.drop("column"), float))
    more, less = np.split(laws.corrected(np.concatenate([lines["over"], lines["under"]])) < LEVEL, 2)
    less &= (lines["levels"] > 2).to_numpy()  # two values vary little by their nature
    has_ceiling = (lines["levels"] > FEW_LEVELS) & (lines["at_maximum"] >= max(CEILING, FEW_ROWS / len(counts)))
    has_ceiling &= lines["at_maximum"] >= CLIFF * lines["below"]
    lines = lines.drop(columns="below").assign(has_ceiling=has_ceiling)
    return lines.assign(varies=np.select([more, less], ["more", "less"], "as"), has_gaps=laws.has_gaps(lines))


def _tops(values: np.ndarray) -> pd.DataFrame:
    """The largest count of every column, and the shares of the rows at it and at the next lower count."""
    tops = []
    for column in values.T:
        counts, rows = value_counts(column)
        shares = [0.0, *rows / len(column)]
        tops.append((counts[-1], shares[-1], shares[-2]))
    return pd.DataFrame(tops, columns=["maximum", "at_maximum", "below"])


def _of_spreads(columns: pd.DataFrame) -> Iterator[Finding]:
    """Columns that are constant, or hardly vary."""
    varied = columns["levels"] > 1
    few, same = varied & laws.rare(columns), varied & laws.nearly_constant(columns)
    if len(lines := columns[~varied]):
        remedy = "Leave out constant columns: they cannot be part of a graph."
        message = f"{_subject(lines, 'is', 'are')} constant."
        yield leaving_out_columns("constant", message, lines["column"], remedy)
    if len(lines := columns[few]):
        message = f"{_subject(lines, 'is', 'are')} above 0 in fewer than {laws.RARE:.0%} of the rows."
        remedy = "Leave out columns with so few informative rows."
        yield leaving_out_columns("rare", message, lines["column"], remedy)
    if len(lines := columns[same]):
        message = f"{_subject(lines, 'has', 'have')} one value in more than {laws.SAME:.0%} of the rows."
        yield leaving_out_columns("rare", message, lines["column"], "Leave out columns that hardly vary.")


def _of_rows(rows: pd.DataFrame, names: Mapping[int, object]) -> Iterator[Finding]:
    out = rows[rows["is_out"]]
    if len(out):
        far = out.loc[out[["total_at", "distance_at"]].abs().max(axis=1).idxmax()]
        why = f"its total is {int(far['total']):,}; the median is {np.median(rows['total']):,.0f}"
        if abs(far["total_at"]) < far["distance_at"]:
            why = f"its total, {int(far['total']):,}, is made up of unusual counts"
        numbers = stretches(out["row"].to_numpy())
        ranges = ",".join("-".join(map(str, dict.fromkeys(stretch))) for stretch in numbers)
        which = in_words(numbers, _NAMED, names)
        farthest = in_words(stretches(far[["row"]].to_numpy()), names=names)
        lie = f"{len(out):,} rows lie far from the others ({which}), farthest row {farthest}"
        yield Finding(
            "rows",
            f"{lie if len(out) > 1 else f'Row {which} lies far from the others'}: {why}.{_of_cells(out, names)}",
            "Find out why, and leave out rows that were measured differently.",
            rows=tuple(out["row"].astype(int).tolist()),
            edits=(LeaveOut(stretches(out.index.to_numpy() + 1)),),
            flag=f"{LEAVE_OUT_ROWS} {ranges}" if len(numbers) <= _MOST_LEFT_OUT else "",  # too many for a line
        )


def _of_cells(out: pd.DataFrame, names: Mapping[int, object]) -> str:
    """A sentence on single counts that put rows far from the others; empty if rows are far as a whole."""
    cells = out[out["share"] >= _LEAST_ALONE].groupby("column", sort=False)["row"]
    where = [
        f'"{name}" in {plural(len(at), "row", "rows")} {in_words(stretches(at.to_numpy()), _NAMED, names)}'
        for name, at in cells
    ]
    return f" Only these counts are unusual: {listed(where, _NAMED)}." if where else ""


def _of_laws(columns: pd.DataFrame) -> Iterator[Finding]:
    """Zeros and variances unlike those of Poisson counts."""
    if len(lines := columns[columns["has_gaps"]]):
        worst = lines.loc[(lines["zeros"] - lines["zeros_nb"]).idxmax()]
        message = (
            f"{_subject(lines, 'is', 'are')} 0 more often than the mean and variance predict{_extreme(lines, worst)}"
            f" in {worst['zeros']:.0%} of the rows instead of {worst['zeros_nb']:.0%}."
        )
        remedy = "If a 0 can also mean that nothing was measured, leave out such a column, or those rows."
        yield leaving_out_columns("zeros", message, lines["column"], remedy)
    if len(lines := columns[columns["varies"] == "more"]):
        worst = lines.loc[lines["dispersion"].idxmax()]
        yield Finding(
            "over",
            f"{_subject(lines, 'varies', 'vary')} more than Poisson counts{_extreme(lines, worst)} its variance is "
            f"{worst['dispersion']:.3g} times its mean (tests at {LEVEL:.0%} for all columns together).",
            "Nothing to do: causes have this effect, and neither the networks nor the search assume Poisson counts.",
        )
    if len(lines := columns[columns["varies"] == "less"]):
        worst = lines.loc[lines["dispersion"].idxmin()]
        yield Finding(
            "under",
            f"{_subject(lines, 'varies', 'vary')} less than Poisson counts{_extreme(lines, worst)} its variance is "
            f"{worst['dispersion']:.2g} times its mean.",
            "Nothing to do if the counts have an upper limit; otherwise check whether they were averaged or rounded.",
        )


def _of_levels(columns: pd.DataFrame, rows: int) -> Iterator[Finding]:
    if len(lines := columns[columns["has_ceiling"]]):
        its, top = plural(len(lines), "its", "their"), lines["maximum"]
        where = f"at {top.iloc[0]:,.0f}" if top.nunique() == 1 else f"at {its} largest count"
        yield Finding(
            "ceiling",
            f"{_subject(lines, 'ends', 'end')} {where}, where {lines['at_maximum'].mean():.0%} of {its} cells lie.",
            "Counts above may have been cut off, and effects look weaker there: use counts without this limit if there "
            "are any.",
        )
    if len(lines := columns[columns["levels"].between(2, FEW_LEVELS)]):
        at_most = "only" if (top := int(lines["levels"].max())) == 2 else "at most"
        yield Finding(
            "few levels",
            f"{_subject(lines, 'has', 'have')} {at_most} {top} values.",
            "Use finer counts if there are any: a refinement leaves directions at such columns undecided.",
        )
    if len(lines := columns[(columns["levels"] > FEW_LEVELS) & (columns["ties"] * (rows - 1) < SHARED)]):
        yield Finding(
            "many levels",
            f"{_subject(lines)}: a row shares its value with fewer than {SHARED:g} others on average.",
            "Choose quantile levels for a fit, on Preprocess: its order compares rows of the same level.",
        )


def _subject(lines: pd.DataFrame, *verbs: str) -> str:
    """`Column "a"`, or `3 columns ("a", "b", "c")`, and the verb for one or several."""
    names = [f'"{name}"' for name in lines["column"].iloc[:_NAMED]]
    more = f" and {len(lines) - _NAMED:,} more" if len(lines) > _NAMED else ""
    subject = f"Column {names[0]}" if len(lines) == 1 else f"{len(lines):,} columns ({', '.join(names)}{more})"
    return f"{subject} {plural(len(lines), *verbs)}" if verbs else subject


def _extreme(lines: pd.DataFrame, line: pd.Series) -> str:
    """The words between the columns of a sentence and the number of the most extreme one."""
    return ":" if len(lines) == 1 else f', above all "{line["column"]}":'
