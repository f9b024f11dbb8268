"""Designs whose rows are not independent: series, repeated rows, groups of rows; and rows in an unusual order."""

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.misled.design import Drawn, independent, named, small

ROWS = 1000
_COLUMNS = 8


def _rates(random: Generator, logs: np.ndarray, mean: float = 6.0) -> Drawn:
    """Poisson counts without an edge whose log rates change from row to row."""
    means = mean * random.uniform(0.5, 1.5, logs.shape[1])
    return Drawn(named(random.poisson(means * np.exp(np.clip(logs, -5, 4)))))


def _autoregressive(random: Generator, rows: int, columns: int, memory: float) -> np.ndarray:
    """Stationary Gaussian series of variance 1, (rows, columns)."""
    values = random.normal(size=(rows, columns))
    for row in range(1, rows):
        values[row] = memory * values[row - 1] + np.sqrt(1 - memory**2) * values[row]
    return values


def season(random: Generator, rows: int) -> Drawn:
    """Daily counts with a season whose phase differs between columns. Right: no edge; or it is said."""
    phase, size = random.uniform(0, 2 * np.pi, _COLUMNS), random.uniform(0.3, 0.8, _COLUMNS)
    return _rates(random, size * np.sin(2 * np.pi * np.arange(rows)[:, None] / 365 + phase), 3.0)


def weekdays(random: Generator) -> Drawn:
    """Daily counts with levels of their own on every weekday. Right: no edge; or it is said."""
    levels = random.normal(0.0, 0.3, (7, _COLUMNS))
    return _rates(random, levels[np.arange(ROWS) % 7])


def weeks(random: Generator) -> Drawn:
    """Daily counts whose levels jump every week, in each column on its own. Right: no edge; or it is said."""
    levels = random.normal(0.0, 0.5, (ROWS // 7 + 1, _COLUMNS))
    return _rates(random, levels[np.arange(ROWS) // 7])


def trends(random: Generator) -> Drawn:
    """A slow trend in every column, up or down. Right: no edge; or it is said."""
    slope = random.uniform(0.3, 0.8, _COLUMNS) * random.choice([-1, 1], _COLUMNS)
    return _rates(random, slope * np.linspace(-1, 1, ROWS)[:, None])


def slow_rates(random: Generator, memory: float, rows: int = ROWS) -> Drawn:
    """Independent series whose log rates remember the rows before. Right: no edge; or it is said."""
    return _rates(random, 0.6 * _autoregressive(random, rows, _COLUMNS, memory))


def integer_autoregression(random: Generator, rows: int) -> Drawn:
    """Independent INAR series: 85 % of a count stay until the next row. Right: no edge; or it is said."""
    values = random.poisson(6.0, (rows, _COLUMNS))
    for row in range(1, rows):
        values[row] = random.binomial(values[row - 1], 0.85) + random.poisson(0.9, _COLUMNS)
    return Drawn(named(values))


def vector_autoregression(random: Generator) -> Drawn:
    """Each column acts on the next one in the next row, and on itself. Right: these directions, or none."""
    values = random.poisson(5.0, (ROWS, _COLUMNS))
    for row in range(1, ROWS):
        last = values[row - 1]
        values[row] = random.poisson(1.0 + 0.6 * last + 0.35 * np.r_[0, last[:-1]])
    names = [*named(values)]
    return Drawn(named(values), tuple(zip(names[:-1], names[1:], strict=True)))


def lag(random: Generator) -> Drawn:
    """x1, a slow series, acts on x2 three rows later; the other columns are slow series too. Right: x1 → x2, or no
    direction."""
    rates = np.exp(0.6 * _autoregressive(random, ROWS + 3, _COLUMNS, 0.9))
    values = random.poisson(5.0 * rates)
    values[3:, 1] = random.poisson(1.0 + 0.7 * values[:-3, 0])
    return Drawn(named(values[3:]), (("x1", "x2"),))


def repeated(random: Generator, times: int, graph: bool = False, rows: int = 300) -> Drawn:
    """Every row stands in the table several times. Right: no edge without a graph, its true directions or none with
    one; or it is said."""
    drawn = small(random, rows=rows) if graph else Drawn(named(random.poisson(independent(random, rows, 8))))
    table = drawn.table.loc[random.permutation(np.repeat(np.arange(rows), times))]
    return drawn._replace(table=table.reset_index(drop=True))


def grouped(random: Generator, groups: int = 25, shuffled: bool = False) -> Drawn:
    """Groups of rows, such as sites, with levels of their own in each column. Right: no edge; or it is said."""
    group = np.sort(random.integers(groups, size=ROWS))
    if shuffled:
        group = random.permutation(group)
    return _rates(random, random.normal(0.0, 0.5, (groups, _COLUMNS))[group])


def grouped_graph(random: Generator) -> Drawn:
    """Groups of rows shift the columns of a table of the class. Right: true directions, or none."""
    return small(random, groups=30, group_effect=0.4)


def two_halves(random: Generator) -> Drawn:
    """A table of the class whose second half was counted with less effort, in each column another. Right: true
    directions, or none; or it is said."""
    drawn = small(random)
    values, half = drawn.table.to_numpy().copy(), len(drawn.table) // 2
    values[half:] = random.binomial(values[half:], random.uniform(0.3, 0.9, values.shape[1]))
    return drawn._replace(table=named(values))


def ordered(random: Generator, columns: int) -> Drawn:
    """A table of the class whose rows somebody sorted by one or two columns. Right: as if they were not sorted."""
    drawn = small(random)
    names = [*drawn.table][:columns]
    return drawn._replace(table=drawn.table.sort_values(names, kind="stable", ignore_index=True))


def outlying(random: Generator) -> Drawn:
    """A table of the class in which 1 % of the rows count twenty times as much. Right: true directions, or none."""
    drawn = small(random)
    factor = np.where(random.random(len(drawn.table)) < 0.01, 20, 1)
    return drawn._replace(table=pd.DataFrame(drawn.table.to_numpy() * factor[:, None], columns=drawn.table.columns))
