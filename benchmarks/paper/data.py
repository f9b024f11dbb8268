"""The data of the paper's rows: simulated designs, Lahman cohorts, and the changes that a row makes to them."""

import functools
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from disco.metrics import Edges
from disco.paper.settings import Settings
from disco.simulate import Design, simulate
from disco.subjects.studies import lahman


@dataclass(frozen=True)
class Cohort:
    """The Lahman batting counts of some seasons; a seed changes only the fit."""

    first: int
    last: int

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary for JSON."""
        return asdict(self)


Change = Callable[[pd.DataFrame], pd.DataFrame]
Source = Design | Cohort
LITERAL = {"joint_schedule": "epochs", "projection_schedule": "epochs"}  # cosine schedules count epochs


class Known(NamedTuple):
    """A table and what is known about it: the true edges or a partial reference, and a simulation's causal order."""

    table: pd.DataFrame
    truth: Edges
    order: list[str] | None


@dataclass(frozen=True)
class Fit:
    """A fit that a row reads: a source, a change of its table, and the settings.

    Attributes:
        source: a design with its seed, or a cohort.
        change: a key of CHANGES.
        settings: settings of the fit, with its seed.
    """

    source: Source
    change: str
    settings: Settings

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes it from other fits, without defaults, so that a new option does not rename old fits."""
        parts = {"data": described(self.source), "change": self.change, "settings": distinct(self.settings)}
        return json.loads(json.dumps(parts), parse_float=_number)  # 3.0 is 3

    @functools.cached_property
    def name(self) -> str:
        """The name of its folder: readable, and unique to the fit."""
        digest = hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()[:10]
        if isinstance(self.source, Cohort):
            what = f"lahman-{self.source.first}-{self.source.last}"
        else:
            design = self.source
            what = f"{design.graph}{design.k:g}-d{design.nodes}-n{design.rows}-{design.family}"
        words = re.sub(r"[^a-z0-9]+", "-", f"{what} {self.change}".lower()).strip("-")
        return f"{words}-{self.settings.preset}-s{self.settings.seed}-{digest}"

    def data(self) -> Known:
        """Its table and truth.

        Raises:
            InputError: the design cannot be simulated, or the seasons are not installed.
        """
        source = data(self.source)
        return source._replace(table=CHANGES[self.change](source.table))


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def described(source: Source) -> dict[str, Any]:
    """A source as short as possible: a design without the fields at their defaults."""
    if isinstance(source, Cohort):
        return source.to_dict()
    plain = Design().to_dict()
    return {name: value for name, value in source.to_dict().items() if value != plain[name]}


def distinct(settings: Settings) -> dict[str, Any]:
    """The settings that differ from those of the paper read literally, with which the first lines were measured."""
    plain = Settings.of("paper", **LITERAL).to_dict()
    return {name: value for name, value in settings.to_dict().items() if value != plain[name]}


def data(source: Source) -> Known:
    """The unchanged table of a source, with its truth; the last few are cached.

    Raises:
        InputError: the design cannot be simulated, or the seasons are not installed.
    """
    return _read(type(source).__name__, json.dumps(source.to_dict(), sort_keys=True))


@functools.lru_cache(maxsize=4)
def _read(kind: str, text: str) -> Known:
    values = json.loads(text)
    if kind == "Cohort":
        return Known(lahman.cohort(values["first"], values["last"]), lahman.R7, None)
    drawn = simulate(Design.from_dict(values))
    return Known(drawn.table, drawn.truth, list(drawn.order))


INCREASING: dict[str, Change] = {
    "log(1+x)": np.log1p,
    "Anscombe": lambda table: 2 * np.sqrt(table + 3 / 8),
    "x²+x": lambda table: table * table + table,
}


def _rounded(function: Change) -> Change:
    """The function, rounded to whole numbers, since without ranks the grid of the corruption needs whole numbers."""
    return lambda table: function(table).round().astype(np.int64)


CHANGES: dict[str, Change] = {
    "": lambda table: table,
    "first half": lambda table: table.iloc[: len(table) // 2].reset_index(drop=True),
    "second half": lambda table: table.iloc[len(table) // 2 :].reset_index(drop=True),
    **INCREASING,
    **{f"{name} rounded": _rounded(function) for name, function in INCREASING.items()},
}
