"""Findings about the rows: copies, an order that matters, depth, a shared total, a filter. Cures are tried first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjustment import Adjustment, declared, freed
from disco.table.closure import CONSTANT, closing, closure
from disco.table.depth import EXPLAINED, Depth, depth
from disco.table.edits import AddColumns, LeaveOut
from disco.table.finding import Finding, option
from disco.table.guesses import guesses
from disco.table.past import Past
from disco.table.relations import sum_of_others
from disco.table.role_columns import blocks, levels_as_covariate, row_number
from disco.table.roles import COMPUTED, RATIOS, ROW_NUMBER, TOTAL, Roles, computed
from disco.table.rows import stretches
from disco.table.seasons import season
from disco.table.serial import BLOCK, LAG, PERIOD, Serial, serial
from disco.table.unusual_rows import MOST_CROWDED, filtered, repeated
from disco.words import listed, place, series

UNIQUE = "--unique-rows"  # the option that keeps every distinct row once
_BLOCKS, _LEAST_LENGTH = (60, 30), 5  # numbers of blocks of consecutive rows that are tried, and fewest rows of each
_LEAST_LEFT = 0.2  # p-value of what a full cure leaves
_SORTED = 0.8  # share of a column that blocks explain, from which the file may be sorted by it
_INDUCED = {TOTAL: 1.0, RATIOS: 0.3}  # rows times squared correlation through an exposure, from which it creates edges
_LESS = 0.6  # share of the first component that an exposure may leave
_SAME = 1e-6  # spread of the ratio of two exposures that are one, against the largest
_NAMED = 3


class Cure(NamedTuple):
    """What to declare, as a sentence, and as options of the command line."""

    roles: Roles | None = None
    words: str = ""
    flag: str = ""


def of_repeated(counts: pd.DataFrame, columns: Sequence[int], group: np.ndarray | None) -> Iterator[Finding]:
    """The finding of rows with exact copies, or of all 0, if any, in the columns that others do not determine."""
    equal = repeated(counts.to_numpy()[:, columns], group)
    zeros = np.flatnonzero(~counts.iloc[:, columns].any(axis=1)) + 1
    if equal.stands_out and 2 * len(zeros) > counts.duplicated().sum():
        message = f"{len(zeros):,} of {equal.rows:,} rows are all 0, such as days without opening or failed samples."
        remedy = "Their zeros join all columns. Leave these rows out unless a 0 in all of them was really counted."
        yield Finding("repeated", message, remedy, edits=(LeaveOut(stretches(zeros)),))
    elif equal.stands_out:
        is_cured = equal.crowded <= MOST_CROWDED
        cure = "Keep each distinct row once" if is_cured else "Equal rows are common here too: go back to the source"
        yield Finding(
            "repeated",
            f"{equal.copied:,} of {equal.rows:,} rows have an exact copy but no row that differs in just one column. "
            f"{equal.near:,} have only the latter.",
            f"Copies are counted but add no evidence. {cure}, or declare what copies share as a group.",
            edits=(LeaveOut(stretches(np.flatnonzero(counts.duplicated()) + 1)),) if is_cured else (),
            flag=UNIQUE if is_cured else "",
        )


def of_serial(counts: pd.DataFrame, adjustment: Adjustment | None, unused: pd.DataFrame) -> Iterator[Finding]:
    """The finding of rows that resemble their neighbours, unless `unused` columns explain it."""
    values, complete = counts.to_numpy(), adjustment or Adjustment(len(counts))
    if complete.past is not None:
        yield from _of_season(list(counts.columns), values, complete, complete.past)
    result = _serial(values, complete)
    if not result.stands_out or (unused.shape[1] and not _serial(values, _with(complete, unused)).stands_out):
        return
    if result.kind == PERIOD:
        period = f"{result.rows:,} rows"
        yield Finding(
            "serial",
            _resemblance(list(counts.columns), result),
            f"What returns every {period}, such as a month, an hour or a plot, may be a common cause: declare it as "
            "covariate or group.",
        )
        return
    cure, strongest = _of_order(values, complete), int(np.argmax(result.strength))
    can = f"{cure.words}, or declare" if cure.roles else "Neither the row number nor blocks of rows cure it: declare"
    is_sorted = result.kind == BLOCK and result.strength[strongest] >= _SORTED
    sorting = f' If the file is merely sorted by "{counts.columns[strongest]}", no edge comes from that.'
    yield Finding(
        "serial",
        _resemblance(list(counts.columns), result),
        "What the rows are ordered by, such as a time, a place or a sorting, may be a common cause, and columns that "
        f"change slowly agree by chance. {can} what orders the rows.{sorting if is_sorted else ''}",
        roles=cure.roles,
        flag=cure.flag,
    )


def _of_season(names: Sequence[str], values: np.ndarray, adjustment: Adjustment, past: Past) -> Iterator[Finding]:
    """The finding of a season that columns share and that is not adjusted for."""
    result = season(values, declared(replace(adjustment, past=None), len(values)), past.steps)
    if result is None or not result.stands_out:
        return
    strongest = np.argsort(-result.strength)[:2]
    of = series([f'{result.strength[at]:.0%} of "{names[at]}"' for at in strongest])
    yield Finding(
        "serial",
        f"The counts rise and fall together: a season of {result.period:,} steps explains {of}.",
        "Columns that share a season seem to depend on each other. Adjust for the season.",
        roles=Roles(season=result.period),
        flag=f"--season {result.period}",
    )


def _serial(values: np.ndarray, adjustment: Adjustment) -> Serial:
    # With the past declared, rows of a unit must not resemble each other either.
    group = adjustment.group if adjustment.past is None else None
    return serial(values, declared(adjustment, len(values)), group)


def _with(adjustment: Adjustment, unused: pd.DataFrame) -> Adjustment:
    """An adjustment and unused columns, with the roles they look like; the adjustment alone if that fails."""
    roles = Roles({str(unused.columns[at]): guess.declaration for at, guess in guesses(unused).items()})
    try:
        extra = roles.split(unused)[1]
    except InputError:
        return adjustment
    if extra is None:
        return adjustment
    covariates = (*adjustment.covariates, *extra.as_covariates().covariates)
    group = extra.group if adjustment.group is None else adjustment.group
    return replace(adjustment, covariates=covariates, group=group)


def _resemblance(names: Sequence[str], result: Serial) -> str:
    """How far rows depend on their neighbours, in a sentence about the two strongest columns."""
    strongest = np.argsort(-np.abs(result.strength))[:2]
    if result.kind in (LAG, PERIOD):
        of = series([f'{result.strength[at]:.2f} in "{names[at]}"' for at in strongest])
        return f"Rows depend on their neighbours: a row's rank correlation with the {place(result.rows)} one is {of}."
    of = series([f'{result.strength[at]:.0%} of "{names[at]}"' for at in strongest])
    what = f"blocks of {result.rows:,} consecutive rows explain" if result.kind == BLOCK else "a trend explains"
    return f"Rows depend on their neighbours: {what} {of}."


def _of_order(values: np.ndarray, adjustment: Adjustment) -> Cure:
    """The first cure that leaves no dependence of neighbouring rows, the row number or blocks with their effects; or
    else the one that leaves least, if that no longer stands out."""
    rows, partial = len(values), dict[float, Cure]()
    for cure, adjusted in _orders(rows, adjustment):
        remaining = _serial(values, adjusted)
        if remaining.p_value >= _LEAST_LEFT:
            return cure
        if not remaining.stands_out:
            partial[remaining.p_value] = cure._replace(words=f"{cure.words}, which takes out most of it")
    return partial[max(partial)] if partial else Cure()


def _orders(rows: int, adjustment: Adjustment) -> Iterator[tuple[Cure, Adjustment]]:
    """What may be declared for an order, and the adjustment with it."""
    if all(covariate.name != ROW_NUMBER for covariate in adjustment.covariates):
        number = row_number((), rows, ROW_NUMBER)
        cure = Cure(Roles(row_number=True), "Adjust for the row number", "--row-number")
        yield cure, replace(adjustment, covariates=(*adjustment.covariates, number))
    for count in _BLOCKS if adjustment.group is None else ():
        if rows >= count * _LEAST_LENGTH:
            group, levels = blocks(rows, count)
            effects = levels_as_covariate("blocks", group, levels)
            words = f"Adjust for {count} blocks of consecutive rows, as groups"
            cure = Cure(Roles(blocks=count, group_effects=True), words, f"--blocks {count} --group-effects")
            yield cure, replace(adjustment, covariates=(*adjustment.covariates, effects), group=group)


def exposure_of_total(counts: pd.DataFrame, adjustment: Adjustment | None) -> Cure:
    """The column that is the sum of all others as the exposure, if none is declared and it creates no edges itself."""
    values = counts.to_numpy()
    if (adjustment is not None and adjustment.exposure is not None) or (total := sum_of_others(values)) is None:
        return Cure()
    at, summands = next(iter(total)), values[:, [*total][1:]]
    if not values[:, at].all() or len(values) * closing(summands, values[:, at]) ** 2 >= _INDUCED[TOTAL]:
        return Cure()
    name = str(counts.columns[at])
    return Cure(Roles({name: "exposure"}), f'"{name}"', option("--exposure", [name]))


def of_depth(deep: Depth, counts: pd.DataFrame, adjustment: Adjustment | None = None) -> Iterator[Finding]:
    """The finding of a depth that stands out, without a declared exposure."""
    if deep.stands_out:
        cure = _exposure(deep, counts, adjustment or Adjustment(len(counts)))
        instead = f", or {cure.words}" if cure.roles else "; one computed from so few columns would itself create edges"
        yield Finding(
            "depth",
            f"Totals explain {deep.explained:.0%} of what these columns share (shuffled tables: up to "
            f"{deep.by_chance:.0%}).",
            f"Edges may reflect sampling depth. Adjust for it: declare a measured exposure{instead}. A common cause of "
            "nearly all columns looks the same.",
            roles=cure.roles,
            flag=cure.flag,
        )


def _exposure(deep: Depth, counts: pd.DataFrame, adjustment: Adjustment) -> Cure:
    """The first exposure, their sum or computed from the counts, that removes a depth and creates no edges itself."""
    values = counts.to_numpy()
    if (of_total := exposure_of_total(counts, adjustment)).roles is not None:
        return of_total
    for which in COMPUTED:
        try:
            exposure = computed(counts.loc[:, counts.any()], which)
        except InputError:
            return Cure()
        if len(values) * closing(values, exposure) ** 2 >= _INDUCED[which]:
            continue
        remaining = depth(freed(values, replace(adjustment, exposure=exposure)))
        if not remaining.stands_out and remaining.component <= _LESS * deep.component:
            words = "the row totals" if which == TOTAL else "the median of ratios"
            return Cure(Roles(exposure=which), words, f"--exposure {which.replace(' ', '-')}")
    return Cure()


def exposure_of_all(counts: pd.DataFrame, every: pd.DataFrame) -> AddColumns | None:
    """The total or the median of ratios of more columns of counts as a column, the first that does not join `counts`;
    None where totals of `counts` explain little of what they share, so that the rows hardly differ in depth."""
    values, by_chance = counts.to_numpy(), (deep := depth(counts.to_numpy())).by_chance
    for which in COMPUTED if by_chance <= deep.explained >= EXPLAINED else ():
        exposure = computed(every, which)
        if closure(freed(values, Adjustment(len(values), exposure=exposure))) is None:
            return AddColumns({f"{which} of {every.shape[1]:,} columns": tuple(exposure.tolist())})
    return None


def of_closure(counts: pd.DataFrame, rates: np.ndarray, exposure: np.ndarray | None) -> Iterator[Finding]:
    """The finding of columns, with their rates, that share a total, or of an exposure computed from them."""
    values, names = counts.to_numpy(), list(counts.columns)
    if exposure is not None and (which := _computed(counts, exposure)) is not None:
        joined = closing(values, exposure)
        if len(values) * joined**2 >= _INDUCED[which]:
            yield Finding(
                "closure",
                f"The exposure is computed from these columns and joins them: two of them correlate by {joined:.2f} on "
                "average through it.",
                "What one gains the others lose, and with so many rows that alone creates edges: declare a measured "
                "exposure, or use more columns.",
            )
        return
    result = closure(rates)
    if result is not None:
        of = [f'"{names[at]}"' for at in result.columns]
        total = "The row total varies" if len(of) == len(names) else f"The total of {listed(of, _NAMED)} varies"
        yield Finding(
            "closure",
            f"{total} only {result.share:.0%} as much as if the columns were unrelated.",
            "They are parts of a whole, or rows were chosen by their sum: what one gains the others lose, and "
            "that alone joins them. No adjustment cures this: use counts without a common total.",
        )


def _computed(counts: pd.DataFrame, exposure: np.ndarray) -> str | None:
    """Which of the exposures computed from the counts an exposure is, up to a factor; None if it was measured."""
    for which in COMPUTED:
        try:
            ratio = exposure / computed(counts, which)
        except InputError:
            return None
        if np.ptp(ratio) <= _SAME * ratio.max():
            return which
    return None


def of_filter(values: np.ndarray) -> Iterator[Finding]:
    """The finding of rows, (rows, columns), chosen by their total, unless that is nearly constant."""
    edge = filtered(values)
    if edge is not None and values.sum(axis=1).var() > CONSTANT * values.var(axis=0).sum():
        yield Finding(
            "filter",
            f"No row has a total {edge.side} {edge.total:,}, and {edge.rows:,} rows have exactly that; in shuffled "
            f"tables {edge.beyond:,.0f} rows lie beyond.",
            "Rows seem to be chosen by their total, a common effect of all columns that joins even unrelated ones: use "
            "all rows.",
        )
