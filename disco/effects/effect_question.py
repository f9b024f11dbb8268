"""A question about an effect, checked: which nodes, at which values, and whether any row is near them."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from disco.bitsets import bits
from disco.effects.graph_fits import FittedGraphs
from disco.effects.shape import usual_range
from disco.errors import InputError
from disco.fields import require_types
from disco.table.adjustment import COUNT, Covariate
from disco.words import how_many, listed

_FEW_ROWS = 5  # fewer rows near a value are worth a note
_NEAR_DISTANCE = 0.5  # standard deviations of the square roots of a column


class Question(NamedTuple):
    """A valid question."""

    on: int  # the outcome's number
    do: dict[int, float]  # values by the numbers of the set nodes
    against: dict[int, float]
    notes: tuple[str, ...]


class Usual(NamedTuple):
    """Values of a node: its range in the table, and two to compare."""

    lowest: float
    highest: float
    before: float
    after: float


def checked_question(
    fitted: FittedGraphs, on: str, do: Mapping[str, float], against: Mapping[str, float] | None = None
) -> Question:
    """The question, checked; errors as for `disco.effects.effect.effect`."""
    if not isinstance(do, Mapping) or not do:
        raise InputError("Nothing is set: give `do` as a mapping of nodes to values, such as {'x': 3}.")
    outcome = node(fitted, on)
    values = {node(fitted, name): _value(name, value) for name, value in do.items()}
    if outcome in values:
        raise InputError(f'"{on}" cannot be set and be the outcome at once: choose another outcome.')
    if against is not None and (not isinstance(against, Mapping) or set(against) != set(do)):
        raise InputError(f"Both sides must set the same nodes: give `against` for {listed(list(map(str, do)), 8)}.")
    reference = {
        number: typical(fitted, number)
        if against is None
        else _value(fitted.names[number], against[fitted.names[number]])
        for number in values
    }
    if reference == values:
        raise InputError("Both sides set the same values: choose others to compare.")
    if not any(bits(values) & ~dag.descendants([outcome]) for dag in fitted.graphs.about(values).dags):
        first = fitted.names[next(iter(values))]
        raise InputError(
            f'"{on}" comes before "{first}" whichever way open edges point, so setting "{first}" cannot change it: '
            f'ask for the effect of "{on}" on "{first}".'
        )
    notes = [
        words
        for side in (values, reference)
        for number, value in side.items()
        if (words := _near(fitted, number, value))
    ]
    seen = fitted.nodes.given.counts.iloc[fitted.nodes.rows, outcome]
    if (seen == seen.iloc[0]).all():
        notes.append(f'"{on}" is {seen.iloc[0]:g} in all these rows: they hardly tell what changes it.')
    return Question(outcome, values, reference, tuple(dict.fromkeys(notes)))


def among(fitted: FittedGraphs, where: Mapping[str, Any] | None) -> FittedGraphs:
    """The same graphs and fits, with means over the rows that have a level of a covariate or context.

    `where` has a level by covariate or context, or a number that rows must be near, as for the values of nodes.

    InputError: it is not such a mapping, there is no such covariate or level, or no row has all of them.
    """
    require_types(where=(where, Mapping | None))
    if not where:
        return fitted
    adjustment, rows, conditions = fitted.nodes.adjustment, fitted.nodes.rows, list[str]()
    covariates = {} if adjustment is None else {covariate.name: covariate for covariate in adjustment.covariates}
    for name, level in where.items():
        if name not in covariates:
            has = f"the table has {listed(list(covariates), 20)}." if covariates else "the table has none."
            raise InputError(f'There is no covariate or context "{name}": {has}')
        rows = rows[_has(covariates[name], level)[rows]]
        conditions.append(f"{name} = {level}")
    if not len(rows):
        raise InputError(f"No row has {' and '.join(conditions)}: choose another level.")
    return fitted.over(rows, f"Over the {how_many(len(rows), 'row')} with {' and '.join(conditions)}.")


def _has(covariate: Covariate, level: Any) -> np.ndarray:
    """Which rows have a level, or are near a number, (n,) bool."""
    if covariate.levels:
        if str(level) not in covariate.levels:
            raise InputError(f'"{covariate.name}" has no level "{level}": it has {listed(covariate.levels, 20)}.')
        return covariate.values == covariate.levels.index(str(level))
    try:
        value = float(level)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value) or (covariate.kind == COUNT and value < 0):
        raise InputError(f'"{covariate.name}" is a number: give one, not "{level}".')
    at = math.sqrt(value) if covariate.kind == COUNT else value
    return np.abs(covariate.scale - at) <= _NEAR_DISTANCE * covariate.scale.std()


def node(fitted: FittedGraphs, name: Any) -> int:
    """The number of a node. InputError: there is no node of this name; covariates are not nodes."""
    require_types(node=(name, str))
    if name in fitted.names:
        return fitted.names.index(name)
    adjustment = fitted.nodes.given.adjustment
    columns = () if adjustment is None else (*adjustment.covariates, *adjustment.contexts)
    if name in [column.name for column in columns]:
        raise InputError(
            f'"{name}" is a covariate or a context, not a node: give it the role of a count, or ask for a node.'
        )
    raise InputError(f'There is no node "{name}": the table has {listed(fitted.names, 20)}.')


def typical(fitted: FittedGraphs, number: int, share: float = 0.5) -> float:
    """A quantile of a node's values as a parent, over the rows in which nothing was set; by default the median."""
    levels = np.quantile(fitted.nodes.levels[fitted.nodes.unset, number], share, method="lower")
    return float(fitted.nodes.parent_grids[number][int(levels)])


def between(fitted: FittedGraphs, node: int) -> tuple[float, float]:
    """A low and a high value of a node, over the rows in which nothing was set (`usual_range`)."""
    values = fitted.nodes.parent_grids[node][fitted.nodes.levels[:, node]]
    return usual_range(values[fitted.nodes.unset], values)  # a node may vary only where it is set


def usual(fitted: FittedGraphs, name: str) -> Usual:
    """The range of a node and the default question about it, from its low to its high value (`between`).

    InputError: there is no such node.
    """
    number = node(fitted, name)
    low, high = between(fitted, number)
    grid = fitted.nodes.parent_grids[number]
    return Usual(float(grid[0]), float(grid[-1]), _short(low), _short(high))


def _short(value: float) -> float:
    """A rate with three significant digits; a count unchanged."""
    return value if value == round(value) else float(f"{value:.3g}")


def _value(name: str, value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f'"{name}" can be set to a number of at least 0, not to {value!r:.40}.')
    if not math.isfinite(value) or value < 0:
        raise InputError(f'"{name}" can be set to a number of at least 0, not to {value}.')
    return float(value)


def _near(fitted: FittedGraphs, number: int, value: float) -> str:
    """A sentence if few rows are near a value; empty if there are enough; an InputError if there are none."""
    grid, name, rows = fitted.nodes.parent_grids[number], fitted.names[number], _rows_near(fitted, number, value)
    low, high, at = (f"{shown_value:.6g}" for shown_value in (grid[0], grid[-1], value))
    if not rows:
        raise InputError(
            f'No row has a "{name}" near {at}: choose a value between {low} and {high} that rows are near.'
        )
    if not grid[0] <= value <= grid[-1]:
        return f'"{name}" is between {low} and {high} in all rows: at {at} the answer is extrapolated.'
    if rows < _FEW_ROWS:
        return f'Only {how_many(rows, "row has", "rows have")} a "{name}" near {at}.'
    return ""


def _rows_near(fitted: FittedGraphs, number: int, value: float) -> int:
    grid = fitted.nodes.parent_grids[number]
    seen = np.bincount(fitted.nodes.levels[fitted.nodes.unset, number], minlength=len(grid))
    roots = np.sqrt(grid)
    middle = seen @ roots / seen.sum()
    spread = math.sqrt(seen @ (roots - middle) ** 2 / seen.sum())
    return int(seen[np.abs(roots - math.sqrt(value)) <= _NEAR_DISTANCE * spread].sum())
