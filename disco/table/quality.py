"""The quality of a table of counts: what stands out before any graph search, each with advice.

First what can create edges (`disco/table/artefacts.py`): columns determined or nearly repeated by others, rows that are
copies or depend on their neighbours, shared totals, and depth.
Then dispersion and zeros (`disco/table/dispersion.py`), ties and levels, prevalence (`disco/table/screening.py`), and
outlying rows (`disco/table/outlying.py`). The table is never changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from disco.progress import SILENT, Callback, Reporter
from disco.table import screening
from disco.table.artefacts import ARTEFACTS, near, of_near, of_relations, plain_artefacts
from disco.table.cells import value_counts
from disco.table.counts import describe
from disco.table.depth import Depth, depth
from disco.table.dispersion import corrected, dispersion, has_gaps, zeros
from disco.table.finding import Finding
from disco.table.outlying import outlying
from disco.table.prepared import Prepared, Table, prepare
from disco.table.relations import Relation, relations
from disco.table.row_findings import of_depth
from disco.table.rows import Stretches, in_words, row_names, row_numbers, stretches
from disco.words import listed, plural

LEVEL = 0.05  # of the tests of dispersion, for all columns together
CEILING, CLIFF = 0.05, 2.0  # least share of the rows at the largest count, and that share over the next lower count's
FEW_ROWS = 10  # at the largest count, by chance
FEW_LEVELS = 3  # a refinement decides no direction at a column with so few
LEAVE_OUT_ROWS, _MOST_LEFT_OUT = "--leave-out-rows", 30  # the option that leaves out rows, and most ranges in it
SHARED = 3.0  # fewer rows that share a row's value are few for levels
_NAMED = 6
DOUBTS = ("few rows", "rare", "rows", "zeros", "ceiling", "few levels")  # weaken results, beside artefacts
_ALONE = 0.9  # of a row's distance, if one count is far
_OF_ROWS = ("repeated", "serial", "closure", "filter")  # artefacts
_WEIGHTS = {"columns": 0.1, "depth": 0.5, "rows": 0.1, "relations": 0.1, "near": 0.2}  # of time, about


@dataclass(frozen=True)
class Quality:
    """The properties of a table of counts.

    Attributes:
        columns: one line per column: column (name), levels, ties, mean, variance, commonest, prevalence, dispersion,
            over, under (p-values for the column alone), varies (more, less or as, against Poisson counts, by these
            tests for all columns together), zeros, zeros_poisson, zeros_nb, excess, has_gaps (too many zeros),
            maximum, at_maximum (share of the rows), has_ceiling (too many rows there).
        depth: how much of the columns' common variation the row totals explain.
        rows: one line per row, from `disco.table.outlying.outlying`.
        relations: columns determined exactly by others.
        near: one, other (names), correlation of near copies.
        findings: what stands out, most serious first.
    """

    columns: pd.DataFrame
    depth: Depth
    rows: pd.DataFrame
    relations: tuple[Relation, ...]
    near: pd.DataFrame
    findings: tuple[Finding, ...]


def quality(table: Table, left_out: Stretches = (), callback: Callback | None = None) -> Quality:
    """Check a table of counts of any size, constant columns included.

    Args:
        table: counts, one column per node; rows are judged with the adjustment of a prepared one.
        left_out: rows of the loaded table that were left out; the others keep their numbers.
        callback: receives the events; False stops.

    Raises:
        InputError: the table does not hold counts, or has no rows.
    """
    reporter = Reporter(callback, _WEIGHTS, "stopped while looking at the {stage}.")
    given = prepare(table, folds=None)
    counts, values = given.counts, given.counts.to_numpy()
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
    found = (
        *of_relations(names, exact),
        *plain_artefacts(given, aside=pd.DataFrame(), dismissed={*ARTEFACTS} - {*_OF_ROWS}),
        *of_depth(deep, counts, given.adjustment),
        *of_near(names, copies),
        *_of_counts(counts, columns, rows, left_out),
    )
    return Quality(columns, deep, rows, exact, copies, found)


def doubts(table: Table, left_out: Stretches = ()) -> tuple[Finding, ...]:
    """What weakens any result on a table beside its artefacts: the findings of `quality` of the kinds `DOUBTS`.

    Arguments and errors are those of `quality`; the time is a small part of it.
    """
    counts = prepare(table, folds=None).counts
    found = _of_counts(counts, _columns(counts), _rows(counts, left_out), left_out)
    return tuple(one for one in found if one.kind in DOUBTS)


def _of_counts(
    counts: pd.DataFrame, columns: pd.DataFrame, rows: pd.DataFrame, left_out: Stretches
) -> Iterator[Finding]:
    """The findings about single columns and rows, most serious first."""
    yield from _too_few(*counts.shape)
    yield from _hardly_varying(columns)
    yield from _of_rows(rows, row_names(counts, left_out))
    yield from _of_zeros(columns)
    yield from _of_dispersion(columns)
    yield from _of_ceilings(columns)
    yield from _of_levels(columns, len(counts))


def _rows(counts: pd.DataFrame, left_out: Stretches, reporter: Reporter = SILENT) -> pd.DataFrame:
    """The line of every row, with its number, and the name of the column that adds most to its distance."""
    rows = outlying(counts.to_numpy(), reporter, "rows").assign(row=row_numbers(len(counts), left_out))
    return rows.assign(column=counts.columns.to_numpy()[rows["column"]] if counts.shape[1] else "")


def _columns(counts: pd.DataFrame) -> pd.DataFrame:
    """The line of every column."""
    described = describe(counts)[["column", "levels", "ties", "mean", "variance"]]
    spread = screening.spreads(counts)[["commonest", "prevalence"]]
    values = counts.to_numpy()
    found = pd.concat([described, spread, dispersion(values), zeros(values), _tops(values)], axis=1)
    found = found.astype(dict.fromkeys(found.columns.drop("column"), float))
    more, less = np.split(corrected(np.concatenate([found["over"], found["under"]])) < LEVEL, 2)
    less &= (found["levels"] > 2).to_numpy()  # two values vary little by their nature
    has_ceiling = (found["levels"] > FEW_LEVELS) & (found["at_maximum"] >= max(CEILING, FEW_ROWS / len(counts)))
    has_ceiling &= found["at_maximum"] >= CLIFF * found["below"]
    found = found.drop(columns="below").assign(has_ceiling=has_ceiling)
    return found.assign(varies=np.select([more, less], ["more", "less"], "as"), has_gaps=has_gaps(found))


def _tops(values: np.ndarray) -> pd.DataFrame:
    """The largest count of every column, and the shares of the rows at it and at the next lower count."""
    found = []
    for column in values.T:
        counts, rows = value_counts(column)
        shares = [0.0, *rows / len(column)]
        found.append((counts[-1], shares[-1], shares[-2]))
    return pd.DataFrame(found, columns=["maximum", "at_maximum", "below"])


def _too_few(rows: int, columns: int) -> Iterator[Finding]:
    if said := screening.few_rows(rows, columns):
        yield Finding("few rows", said, "Expect no edges: add rows, or leave out columns.")


def _hardly_varying(columns: pd.DataFrame) -> Iterator[Finding]:
    constant = np.flatnonzero(columns["levels"] < 2)
    if len(constant):
        yield Finding(
            "constant",
            f"{_many(constant, columns)} {plural(len(constant), 'is', 'are')} constant.",
            "Leave out constant columns: they cannot be part of a graph.",
            tuple(constant.tolist()),
        )
    varied = (columns["levels"] > 1).to_numpy()
    rare = np.flatnonzero(screening.rare(columns) & varied)
    if len(rare):
        yield Finding(
            "rare",
            f"{_many(rare, columns)} {plural(len(rare), 'is', 'are')} above 0 in fewer than {screening.RARE:.0%} of "
            "the rows.",
            "Leave out columns with so few informative rows.",
            tuple(rare.tolist()),
        )
    same = np.flatnonzero(screening.nearly_constant(columns) & varied)
    if len(same):
        has = plural(len(same), "has", "have")
        yield Finding(
            "rare",
            f"{_many(same, columns)} {has} one value in more than {screening.SAME:.0%} of the rows.",
            "Leave out columns that hardly vary.",
            tuple(same.tolist()),
        )


def _of_rows(rows: pd.DataFrame, names: Mapping[int, object]) -> Iterator[Finding]:
    out = rows[rows["is_out"]]
    if len(out):
        far = out.loc[out[["total_at", "distance_at"]].abs().max(axis=1).idxmax()]
        why = f"its total is {int(far['total']):,}; the median is {np.median(rows['total']):,.0f}"
        if abs(far["total_at"]) < far["distance_at"]:
            why = f"its total, {int(far['total']):,}, is made up of unusual counts"
        which = in_words(stretches(out["row"].to_numpy()), _NAMED, names)
        farthest = in_words(stretches(far[["row"]].to_numpy()), names=names)
        lie = f"{len(out):,} rows lie far from the others ({which}), farthest row {farthest}"
        yield Finding(
            "rows",
            f"{lie if len(out) > 1 else f'Row {which} lies far from the others'}: {why}.{_of_cells(out, names)}",
            "Find out why, and leave out rows that were measured differently.",
            rows=tuple(out["row"].astype(int).tolist()),
            flag=_leaving_out(stretches(out["row"].to_numpy())),
        )


def _leaving_out(rows: Stretches) -> str:
    """The option that leaves out rows; empty if there are too many for a line."""
    words = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in rows)
    return f"{LEAVE_OUT_ROWS} {words}" if len(rows) <= _MOST_LEFT_OUT else ""


def _of_cells(out: pd.DataFrame, names: Mapping[int, object]) -> str:
    """Which single counts put rows far from the others, as a sentence; empty if rows are far as a whole."""
    cells = out[out["share"] >= _ALONE].groupby("column", sort=False)["row"]
    where = [
        f'"{name}" in {plural(len(at), "row", "rows")} {in_words(stretches(at.to_numpy()), _NAMED, names)}'
        for name, at in cells
    ]
    return f" What is far is {listed(where, _NAMED)} alone." if where else ""


def _of_zeros(columns: pd.DataFrame) -> Iterator[Finding]:
    many = np.flatnonzero(columns["has_gaps"])
    if len(many):
        most = columns.loc[(columns["zeros"] - columns["zeros_nb"]).iloc[many].idxmax()]
        yield Finding(
            "zeros",
            f"{_many(many, columns)} {plural(len(many), 'is', 'are')} 0 more often than the mean and variance predict"
            f"{_most(many, most)} in {most['zeros']:.0%} of the rows instead of {most['zeros_nb']:.0%}.",
            "If a 0 can also mean that nothing was measured, leave out such a column, or those rows.",
            tuple(many.tolist()),
        )


def _of_dispersion(columns: pd.DataFrame) -> Iterator[Finding]:
    over, under = (np.flatnonzero(columns["varies"] == which) for which in ("more", "less"))
    if len(over):
        most = columns.loc[columns["dispersion"].iloc[over].idxmax()]
        yield Finding(
            "over",
            f"{_many(over, columns)} {plural(len(over), 'varies', 'vary')} more than Poisson counts"
            f"{_most(over, most)} its variance is {most['dispersion']:.3g} times its mean (tests at {LEVEL:.0%} for "
            "all columns together).",
            "Nothing to do: causes have this effect, and neither a fit nor a refinement assumes Poisson counts.",
        )
    if len(under):
        least = columns.loc[columns["dispersion"].iloc[under].idxmin()]
        yield Finding(
            "under",
            f"{_many(under, columns)} {plural(len(under), 'varies', 'vary')} less than Poisson counts"
            f"{_most(under, least)} its variance is {least['dispersion']:.2g} times its mean.",
            "Nothing to do if the counts have an upper limit; otherwise check whether they were averaged or rounded.",
        )


def _of_ceilings(columns: pd.DataFrame) -> Iterator[Finding]:
    ended = np.flatnonzero(columns["has_ceiling"])
    if len(ended):
        part = columns.iloc[ended]
        top, is_one = part["maximum"].iloc[0], part["maximum"].nunique() == 1
        where = f"at {top:,.0f}" if is_one else f"at {plural(len(ended), 'its', 'their')} largest count"
        yield Finding(
            "ceiling",
            f"{_many(ended, columns)} {plural(len(ended), 'ends', 'end')} {where}, where "
            f"{part['at_maximum'].mean():.0%} of {plural(len(ended), 'its', 'their')} cells lie.",
            "Counts above may have been cut off, and effects look weaker there: use counts without this limit if there "
            "are any.",
        )


def _of_levels(columns: pd.DataFrame, rows: int) -> Iterator[Finding]:
    few = np.flatnonzero(columns["levels"].between(2, FEW_LEVELS))
    if len(few):
        yield Finding(
            "few levels",
            f"{_many(few, columns)} {plural(len(few), 'has', 'have')} at most {FEW_LEVELS} values.",
            "Use finer counts if there are any: a refinement leaves directions at such columns undecided.",
        )
    thin = np.flatnonzero((columns["levels"] > FEW_LEVELS) & (columns["ties"] * (rows - 1) < SHARED))
    if len(thin):
        yield Finding(
            "many levels",
            f"{_many(thin, columns)}: a row shares its value with fewer than {SHARED:g} others on average.",
            "Choose quantile levels for a fit, on Preprocess or with --transform quantile: its order compares rows of "
            "the same level.",
        )


def _many(indices: np.ndarray, columns: pd.DataFrame) -> str:
    """`Column "a"`, `3 columns ("a", "b", "c")`; a long list ends with how many more there are."""
    names = [f'"{name}"' for name in columns["column"].iloc[indices[:_NAMED]]]
    more = f" and {len(indices) - _NAMED:,} more" if len(indices) > _NAMED else ""
    return f"Column {names[0]}" if len(indices) == 1 else f"{len(indices):,} columns ({', '.join(names)}{more})"


def _most(indices: np.ndarray, line: pd.Series) -> str:
    """The words between the columns of a sentence and the number of the most extreme one."""
    return ":" if len(indices) == 1 else f', above all "{line["column"]}":'
