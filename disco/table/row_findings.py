"""Findings about the rows: copies, an order that matters, depth, a shared total, a filter. Cures are tried first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjusted import declared, freed
from disco.table.adjustment import Adjustment
from disco.table.closure import CONSTANT, closing, closure
from disco.table.depth import Depth, depth
from disco.table.filters import filtered
from disco.table.finding import Finding
from disco.table.guesses import guesses
from disco.table.repeated import MOST_CROWDED, repeated
from disco.table.role_columns import blocks, levels_as_covariate, row_number
from disco.table.roles import COMPUTED, RATIOS, ROW_NUMBER, TOTAL, Roles, computed
from disco.table.serial import BLOCK, LAG, PERIOD, Serial, serial
from disco.words import listed, place, series

UNIQUE = "--unique-rows"  # the option that keeps every distinct row once
_BLOCKS, _LEAST_LENGTH = (60, 30), 5  # numbers of blocks of consecutive rows that are tried, and fewest rows of each
_LEAST_LEFT = 0.2  # p-value of what a cure leaves
_INDUCED = {TOTAL: 1.0, RATIOS: 0.3}  # rows times squared correlation through an exposure, from which it creates edges
_LESS = 0.6  # share of the first component that an exposure may leave
_SAME = 1e-6  # spread of the ratio of two exposures that are one, against the largest
_NAMED = 3


class Cure(NamedTuple):
    """What to declare.

    Attributes:
        roles: what is computed from the rows.
        words: what to do, as a sentence begins.
        flag: options of the command line.
    """

    roles: Roles | None = None
    words: str = ""
    flag: str = ""


def of_repeated(values: np.ndarray, group: np.ndarray | None) -> Iterator[Finding]:
    """The finding of rows that are exact copies; none without.

    Args:
        values: counts without columns that others determine, (rows, columns).
        group: declared, (rows,), or None.
    """
    found = repeated(values, group)
    if found.stands_out:
        is_cured = found.crowded <= MOST_CROWDED
        cure = "Keep each distinct row once" if is_cured else "Equal rows are also ordinary here: go back to the source"
        yield Finding(
            "repeated",
            f"{found.copied:,} of {found.rows:,} rows have an exact copy, but no row that differs in one column only; "
            f"the reverse holds for {found.near:,}.",
            f"Copies count as evidence, although they add none. {cure}, or declare what copies share as group.",
            flag=UNIQUE if is_cured else "",
        )


def of_serial(counts: pd.DataFrame, adjustment: Adjustment | None, aside: pd.DataFrame) -> Iterator[Finding]:
    """The finding of rows that resemble their neighbours; none if they do not, or columns left aside account for it.

    Args:
        counts: one column per node, in the order of the rows.
        adjustment: of these rows, or None.
        aside: columns that go with the counts, for which nothing adjusts.
    """
    values, given = counts.to_numpy(), adjustment or Adjustment(len(counts))
    found = _serial(values, given)
    if not found.stands_out or (aside.shape[1] and not _serial(values, _with(given, aside)).stands_out):
        return
    if found.kind == PERIOD:
        many = f"{found.rows:,} rows"
        yield Finding(
            "serial",
            _resemblance(list(counts.columns), found),
            f"What returns every {many}, such as a month, an hour or a plot, may be a common cause: declare it as "
            "covariate or group.",
        )
        return
    cure = _of_order(values, given)
    can = f"{cure.words}, or declare" if cure.roles else "Neither the row number nor blocks of rows cure it: declare"
    yield Finding(
        "serial",
        _resemblance(list(counts.columns), found),
        "What the rows are ordered by, such as a time, a place or a sorting, may be a common cause, and columns that "
        f"change slowly agree by chance. {can} what orders the rows.",
        roles=cure.roles,
        flag=cure.flag,
    )


def _serial(values: np.ndarray, given: Adjustment) -> Serial:
    return serial(values, declared(given, len(values)), given.group)


def _with(given: Adjustment, aside: pd.DataFrame) -> Adjustment:
    """An adjustment and columns left aside, with the roles they look like; the adjustment alone if that fails."""
    roles = Roles({str(aside.columns[at]): guess.given for at, guess in guesses(aside).items()})
    try:
        more = roles.split(aside)[1]
    except InputError:
        return given
    if more is None:
        return given
    covariates = (*given.covariates, *more.contexts_as_covariates().covariates)
    return replace(given, covariates=covariates, group=more.group if given.group is None else given.group)


def _resemblance(names: Sequence[str], found: Serial) -> str:
    """How far rows depend on their neighbours, in a sentence about the two strongest columns."""
    strongest = np.argsort(-np.abs(found.strength))[:2]
    if found.kind in (LAG, PERIOD):
        of = series([f'{found.strength[at]:.2f} in "{names[at]}"' for at in strongest])
        return f"Rows depend on their neighbours: a row's rank correlation with the {place(found.rows)} one is {of}."
    of = series([f'{found.strength[at]:.0%} of "{names[at]}"' for at in strongest])
    what = f"blocks of {found.rows:,} consecutive rows explain" if found.kind == BLOCK else "a trend explains"
    return f"Rows depend on their neighbours: {what} {of}."


def _of_order(values: np.ndarray, given: Adjustment) -> Cure:
    """The first cure that leaves no dependence of neighbouring rows: the row number, or blocks with their effects."""
    rows = len(values)
    if all(one.name != ROW_NUMBER for one in given.covariates):
        number = row_number((), rows, ROW_NUMBER)
        if _is_cured(values, replace(given, covariates=(*given.covariates, number))):
            return Cure(Roles(row_number=True), "Adjust for the row number", "--row-number")
    for many in _BLOCKS if given.group is None else ():
        if rows < many * _LEAST_LENGTH:
            continue
        group, levels = blocks(rows, many)
        effects = levels_as_covariate("blocks", group, levels)
        if _is_cured(values, replace(given, covariates=(*given.covariates, effects), group=group)):
            words = f"Adjust for {many} blocks of consecutive rows, as groups"
            return Cure(Roles(blocks=many, group_effects=True), words, f"--blocks {many} --group-effects")
    return Cure()


def _is_cured(values: np.ndarray, given: Adjustment) -> bool:
    return _serial(values, given).p_value >= _LEAST_LEFT


def of_depth(deep: Depth, counts: pd.DataFrame, adjustment: Adjustment | None = None) -> Iterator[Finding]:
    """The finding of a depth that is not declared; none if it does not stand out.

    Args:
        deep: of the counts.
        counts: one column per node.
        adjustment: of these rows, without an exposure, or None.
    """
    if deep.stands_out:
        cure = _exposure(deep, counts, adjustment or Adjustment(len(counts)))
        computed = (
            f", or {cure.words}" if cure.roles else "; one computed from so few columns would itself create edges"
        )
        yield Finding(
            "depth",
            f"Totals explain {deep.explained:.0%} of what these columns share (shuffled tables: up to "
            f"{deep.by_chance:.0%}).",
            f"Edges may come from depth. Adjust for it: declare a measured exposure{computed}. A common cause of "
            "nearly all columns looks the same.",
            roles=cure.roles,
            flag=cure.flag,
        )


def _exposure(deep: Depth, counts: pd.DataFrame, given: Adjustment) -> Cure:
    """The first exposure computed from the counts that takes a depth away and creates no edges itself."""
    values = counts.to_numpy()
    for which in COMPUTED:
        try:
            exposure = computed(counts.loc[:, counts.any()], which)
        except InputError:
            return Cure()
        if len(values) * closing(values, exposure) ** 2 >= _INDUCED[which]:
            continue
        left = depth(freed(values, replace(given, exposure=exposure)))
        if not left.stands_out and left.component <= _LESS * deep.component:
            words = "the row totals" if which == TOTAL else "the median of ratios"
            return Cure(Roles(exposure=which), words, f"--exposure {which.replace(' ', '-')}")
    return Cure()


def of_closure(counts: pd.DataFrame, rates: np.ndarray, exposure: np.ndarray | None) -> Iterator[Finding]:
    """The finding of columns that share a total, or of an exposure computed from them; none without.

    Args:
        counts: one column per node.
        rates: the counts freed of what is declared, (rows, columns).
        exposure: declared, (rows,), or None.
    """
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
    found = closure(rates)
    if found.stands_out:
        of = [f'"{names[at]}"' for at in found.columns]
        total = "The row total varies" if len(of) == len(names) else f"The total of {listed(of, _NAMED)} varies"
        yield Finding(
            "closure",
            f"{total} {found.share:.0%} as much as that of unrelated columns.",
            "They share it, as parts of a whole or in rows chosen by their sum: what one gains the others lose, and "
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
    """The finding of rows chosen by their total; none without, or if the total is nearly constant.

    Args:
        values: counts, (rows, columns).
    """
    found = filtered(values)
    if found.stands_out and values.sum(axis=1).var() > CONSTANT * values.var(axis=0).sum():
        yield Finding(
            "filter",
            f"No row has a total {found.side} {found.total:,}, and {found.rows:,} rows have exactly that; in shuffled "
            f"tables {found.beyond:,.0f} rows lie beyond.",
            "Rows seem to be chosen by their total, a common effect of all columns that joins even unrelated ones: use "
            "all rows.",
        )
