"""Artefacts: what in a table creates edges that no cause explains, worst first, each with its cure.

- *relation*: a column is calculated from others;
- *exclusive*: 0/1 columns are codes of one question, since no two of them are ever 1 in one row;
- *code*: a number such as 99 stands for a missing value (`disco/table/codes.py`);
- *repeated*: rows are exact copies of others (`disco/table/unusual_rows.py`);
- *serial*: rows resemble their neighbours (`disco/table/serial.py`);
- *depth*: the rows differ in depth, effort or volume, and no exposure is declared (`disco/table/depth.py`);
- *closure*: columns share a total that hardly varies (`disco/table/closure.py`);
- *filter*: rows were kept by their total (`disco/table/unusual_rows.py`);
- *identifier*: a column numbers or names the rows;
- *covariate*: a column that is neither a count nor adjusted for, such as a batch, a group or an age, goes with several;
- *near*: two columns are near copies.

A table is judged with what is declared: as rates with an exposure, freed of covariates, contexts and arms, and without
what rows of a group share. `disco.hidden.all_artefacts` adds *kinds*, *common* and *readings*: kinds of rows, other
common causes that are not in the table, and counts that are readings of rates. Until an artefact is cured or dismissed,
no direction is decided by the model class (`disco.refine`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from disco.errors import InputError
from disco.fields import require_types, shown
from disco.progress import SILENT, Callback, Reporter
from disco.table import row_findings
from disco.table.adjustment import CONTINUOUS, ONLY_CAUSES, Adjustment, freed
from disco.table.cells import names_of
from disco.table.codes import Code, coded_rows, codes
from disco.table.depth import depth
from disco.table.edits import Columns, Edit, LeaveOut, positions
from disco.table.finding import Finding, leaving_out_columns, option
from disco.table.guesses import Guess, guesses, is_computed
from disco.table.identifiers import computed_columns, identifiers
from disco.table.prepared import Prepared, Table, prepare
from disco.table.relations import exclusive, near_copies, relations
from disco.table.roles import Given, Roles
from disco.table.rows import stretches
from disco.table.unusual_rows import copies
from disco.words import how_many, listed, plural

COMMON, KINDS, READINGS = "common", "kinds", "readings"  # looked for by `disco.hidden.all_artefacts`
ARTEFACTS = (
    *("relation", "exclusive", "code", "repeated", "serial", "depth", "closure", "filter"),
    *(KINDS, COMMON, READINGS, "identifier", "covariate", "near"),
)
_LEVEL = 0.001  # of the tests of columns left aside, for all of them together
_PARTS = 10  # of a continuous one
_LEAST_SHIFTED = 2  # columns: an edge needs two ends
_NAMED = 6
CODES_OUT = "--without-codes"  # the option that leaves out rows with a code


def plain_artefacts(
    table: Table,
    roles: Given | None = None,
    unused: pd.DataFrame | None = None,
    dismissed: Collection[str] = (),
    callback: Callback | None = None,
) -> tuple[Finding, ...]:
    """The artefacts of a table of any size that need no model, worst first; InputError if it cannot be used.

    Args:
        unused: columns that are neither counts nor adjusted for; by default those that the roles ignore.
        dismissed: kinds of `ARTEFACTS` to skip.
        callback: receives the events; False stops.
    """
    check_kinds(dismissed)
    if not {*ARTEFACTS} - {*dismissed}:
        return ()
    reporter = Reporter(
        callback, {"rows": 0.3, "depth": 0.5, "near": 0.2}, "stopped while looking for what creates edges."
    )
    reporter.step("rows", 0, 1)
    prepared = prepare(table, roles, folds=None)
    unused = prepared.rows_of(ignored(table, roles) if unused is None else unused)
    checks = _checks(prepared, unused, reporter)
    findings = (finding for kind, check in checks.items() if kind not in dismissed for finding in check())
    return tuple(findings if prepared.past is None else (_in_time(finding, prepared) for finding in findings))


def _in_time(finding: Finding, prepared: Prepared) -> Finding:
    """A finding in a series, about rows of the table as given; without cures that are of rows in another order."""
    edits = list[Edit]()
    for edit in finding.edits:
        if isinstance(edit, LeaveOut):
            rows = prepared.positions[positions(edit.rows, len(prepared.counts))]
            edits.append(LeaveOut(stretches(np.sort(rows) + 1)))
        elif isinstance(edit, Columns):
            edits.append(edit)
    is_of_order = finding.roles is not None and (finding.roles.row_number or finding.roles.blocks)
    return replace(finding, edits=tuple(edits), roles=None if is_of_order else finding.roles)


def check_kinds(dismissed: Collection[str]) -> None:
    """InputError unless this is a list of kinds of `ARTEFACTS`."""
    require_types(dismissed=(dismissed, Collection))
    if isinstance(dismissed, str | bytes):
        raise InputError(f"The argument dismissed must be a list of kinds, as ['depth']; got {shown(dismissed)}.")
    if unknown := [kind for kind in dismissed if not isinstance(kind, str) or kind not in ARTEFACTS]:
        raise InputError(f"There is no artefact {shown(unknown[0])}; the kinds are {', '.join(ARTEFACTS)}.")


def _checks(prepared: Prepared, unused: pd.DataFrame, reporter: Reporter) -> dict[str, Callable[[], Iterable[Finding]]]:
    """The check for each kind, worst first."""
    counts, names = prepared.counts, list(prepared.counts.columns)
    values, adjustment = counts.to_numpy(), prepared.adjustment
    varied = np.flatnonzero(np.ptp(values, axis=0) > 0) if len(values) else np.arange(0)
    exact = relations(Prepared(counts.iloc[:, varied])) if len(varied) else []
    named = identifiers(counts)
    exposure, group = (None, None) if adjustment is None else (adjustment.exposure, adjustment.group)
    twins = {names.index(relation.columns[0]) for relation in exact if len(relation.columns) == 2}
    coded = exclusive(values, [at for at in varied.tolist() if at not in twins])
    sums = [found for found in exact if not any({*map(names.index, found.columns)} <= {*codes} for codes in coded)]
    questions = tuple(_of_exclusive(counts, coded))
    answers = {name for finding in questions for name in finding.without}
    single = [at for at, name in enumerate(names) if name not in answers]  # those of one question share a total
    measured = [at for at in varied.tolist() if at not in named]
    calculated = {names.index(relation.columns[0]) for relation in exact}
    rates, covariates = freed(values, adjustment), cache(lambda: tuple(_of_covariates(counts, unused)))

    @cache
    def repeated() -> tuple[Finding, ...]:
        free = [at for at in measured if at not in calculated]
        return tuple(row_findings.of_repeated(counts, free, group))

    @cache
    def once() -> np.ndarray:  # what copies of rows would make of an order or a total is not said again
        return ~copies(values[:, measured]) if repeated() else np.ones(len(values), bool)

    def serial() -> Iterator[Finding]:
        distinct = prepared.take(once())
        related = unused[[name for finding in covariates() for name in finding.columns]]
        related = related[once()] if len(related) else related
        return row_findings.of_serial(distinct.counts.iloc[:, measured], distinct.adjustment, related)

    def deep() -> Iterator[Finding]:
        if exposure is None:
            yield from row_findings.of_depth(depth(rates, reporter, "depth"), counts, adjustment)

    return {
        "relation": lambda: of_relations(names, sums, row_findings.exposure_of_total(counts, adjustment)),
        "exclusive": lambda: questions,
        "code": lambda: _of_codes(names, codes(values), coded_rows(values)),
        "repeated": repeated,
        "serial": serial,
        "depth": deep,
        "closure": lambda: row_findings.of_closure(counts.iloc[:, single], rates[:, single], exposure),
        "filter": lambda: row_findings.of_filter(values[:, single][once()]),
        "identifier": lambda: _of_identifiers(names, named),
        "covariate": covariates,
        "near": lambda: of_near(names, near(counts, exact, reporter, "near")),
    }


def ignored(table: Table, roles: Given | None) -> pd.DataFrame:
    """The columns of a table that its roles ignore, except computed ones; none without names or roles."""
    if roles is None or isinstance(roles, Adjustment) or not isinstance(table, pd.DataFrame):
        return pd.DataFrame()
    roles = roles if isinstance(roles, Roles) else Roles(roles)
    names = names_of(table)
    unused = [names.index(name) for name in roles.named("ignore") if name in names and not is_computed(name)]
    whys = computed_columns(table, unused, [at for at, name in enumerate(names) if roles.role(name) == "count"])
    return table.iloc[:, [at for at in unused if at not in whys]]


def near(counts: pd.DataFrame, exact: Sequence[Finding], reporter: Reporter = SILENT, stage: str = "") -> pd.DataFrame:
    """The near copies among the columns that vary and are not exact copies, by name: one, other, correlation."""
    copies = [relation.columns[0] for relation in exact if len(relation.columns) == 2]
    values, names = counts.to_numpy(), counts.columns.to_numpy()
    varied = np.flatnonzero((np.ptp(values, axis=0) > 0) & ~np.isin(names, copies))
    pairs = near_copies(values[:, varied] if len(varied) < values.shape[1] else values, reporter, stage)
    return pairs.assign(one=names[varied][pairs["one"]], other=names[varied][pairs["other"]])


def of_relations(names: Sequence[str], exact: Sequence[Finding], cure: row_findings.Cure) -> Iterator[Finding]:
    """The finding of columns calculated from others, if any, with the exposure that one of them may be."""
    if exact:
        out = sorted({relation.columns[0] for relation in exact}, key=names.index)
        rest = f" There are {len(exact) - 1:,} more such relations." if len(exact) > 2 else ""
        rest = f" {exact[1].message}" if len(exact) == 2 else rest
        exposure = f"take {cure.words} as the exposure, or " if cure.roles else ""
        arithmetic = "An edge between such columns reflects arithmetic, not cause"
        remedy, flag = f"{arithmetic}: {exposure}leave out one column of each relation.", option("--without", out)
        yield replace(leaving_out_columns("relation", f"{exact[0].message}{rest}", out, remedy, flag), roles=cure.roles)


def _of_exclusive(counts: pd.DataFrame, sets: Sequence[Sequence[int]]) -> Iterator[Finding]:
    """The finding of sets of answers to one question, if any; of each, the column nearest to half ones stays."""
    if sets:
        names = [[f'"{counts.columns[at]}"' for at in members] for members in sets]
        times = counts.iloc[:, list(sets[0])].sum()
        expected = times.iloc[0] * times.iloc[1] / len(counts)
        one = "Exactly one" if times.sum() == len(counts) else "At most one"
        rest = f" There are {len(sets) - 1:,} more such sets." if len(sets) > 1 else ""
        balance = [(counts.iloc[:, list(members)].mean() - 0.5).abs().to_numpy() for members in sets]
        out = [
            str(counts.columns[at])
            for members, far in zip(sets, balance, strict=True)
            for at in np.delete(members, far.argmin())
        ]
        yield leaving_out_columns(
            "exclusive",
            f"{one} of {listed(names[0], _NAMED)} is 1 in any row. Were they independent, about {expected:,.0f} rows "
            f"would have a 1 in both of {names[0][0]} and {names[0][1]}.{rest}",
            out,
            "So they look like answers to one question, and an edge between them reflects coding, not cause: keep one "
            "of them.",
            option("--without", out),
        )


def _of_codes(names: Sequence[str], coded: Sequence[Code], rows: np.ndarray) -> Iterator[Finding]:
    if coded:
        worst = max(coded, key=lambda code: len(code.rows))
        also = f", and {how_many(len(coded) - 1, 'more column')} like it" if len(coded) > 1 else ""
        rest = f"at most {worst.largest:,} in all others"
        if worst.near:
            rest = f"no number near it in more than {worst.near}"
        yield Finding(
            "code",
            f'"{names[worst.column]}" is {listed(list(map(str, worst.codes)), _NAMED)} in '
            f"{how_many(len(worst.rows), 'row')}, and {rest}{also}.",
            "Such a number may stand for a missing value or a limit, and as a count it creates edges and reverses "
            f"directions: leave out the {how_many(len(rows), 'row')} that have it.",
            edits=(LeaveOut(stretches(rows + 1)),),
            flag=CODES_OUT,
        )


def _of_identifiers(names: Sequence[str], reasons: dict[int, str]) -> Iterator[Finding]:
    if reasons:
        at, why = next(iter(reasons.items()))
        rest = f", and {how_many(len(reasons) - 1, 'more column')} like it" if len(reasons) > 1 else ""
        out = [names[at] for at in reasons]
        remedy = "It measures nothing, but any trend along the rows would be linked to it: leave it out."
        yield leaving_out_columns("identifier", f'"{names[at]}" {why}{rest}.', out, remedy, option("--without", out))


def _of_covariates(counts: pd.DataFrame, unused: pd.DataFrame) -> Iterator[Finding]:
    """The finding of unused columns that go with several counts; its cure leaves out what may be their effect."""
    drivers = {at: guess for at, guess in guesses(unused).items() if guess.role not in ("exposure", "time")}
    shifted = {at: count for at, count in going_with(counts, unused, drivers).items() if count >= _LEAST_SHIFTED}
    related = {str(unused.columns[at]): count for at, count in shifted.items()}
    if related:
        words = [f'"{name}" ({count:,} of {counts.shape[1]:,} columns)' for name, count in related.items()]
        goes = plural(len(words), "An unused column varies", "Unused columns vary")
        causes = {str(unused.columns[at]): drivers[at].declaration for at in shifted if not drivers[at].caution}
        effects = [f'"{name}"' for name in related if name not in causes]
        may = f"{listed(effects, _NAMED)} may be {plural(len(effects), 'an effect', 'effects')}: dismiss this if so. "
        yield Finding(
            "covariate",
            f"{goes} with the counts: {listed(words, _NAMED)}.",
            f"{ONLY_CAUSES} {may if effects else ''}Declare a common cause as a covariate or a group.",
            columns=tuple(related),
            roles=Roles(causes) if causes else None,
        )


def going_with(counts: pd.DataFrame, table: pd.DataFrame, guessed: Mapping[int, Guess]) -> dict[int, int]:
    """The number of counts that vary with each column of a table, by the position of its guess."""
    return {at: _shifted(counts, table.iloc[:, at], guess, len(guessed)) for at, guess in guessed.items()}


def _shifted(counts: pd.DataFrame, column: pd.Series, guess: Guess, tests: int) -> int:
    """How many counts differ between the values of a column: Kruskal and Wallis's test, corrected for all tests."""
    if guess.kind == CONTINUOUS:
        column = pd.qcut(pd.to_numeric(column, errors="coerce"), _PARTS, labels=False, duplicates="drop")
    codes = pd.factorize(column)[0]
    codes = np.where(np.bincount(codes + 1)[codes + 1] > 1, codes, -1)  # a value in a single row is not a group
    inside = codes >= 0
    groups, rows = pd.factorize(codes[inside])[0], int(inside.sum())
    if not 1 < (levels := groups.max(initial=-1) + 1) < rows:
        return 0
    ranks = counts[inside].rank().to_numpy() - (rows + 1) / 2
    sums = np.zeros((levels, ranks.shape[1]))
    np.add.at(sums, groups, ranks)
    between, total = (sums**2 / np.bincount(groups)[:, None]).sum(axis=0), (ranks**2).sum(axis=0)
    statistic = (rows - 1) * np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return int((chdtrc(levels - 1, statistic) < _LEVEL / (tests * counts.shape[1])).sum())


def of_near(names: Sequence[str], pairs: pd.DataFrame) -> Iterator[Finding]:
    """The finding of near copies, from `near`, if any."""
    if len(pairs):
        strongest = pairs.iloc[pairs["correlation"].abs().argmax()]
        pair = f'"{strongest["one"]}" and "{strongest["other"]}"'
        copies = f"{len(pairs):,} pairs of columns are near copies, above all {pair}"
        out = sorted({*pairs["other"]}, key=list(names).index)
        yield leaving_out_columns(
            "near",
            f"{copies if len(pairs) > 1 else f'{pair} are near copies'}: the correlation of their ranks is "
            f"{strongest['correlation']:.3f}.",
            out,
            "Either of them could stand for the other in every edge: leave one out if they measure the same thing.",
            option("--without", out),
        )
