"""Rodents near Portal, Arizona: counts of a field experiment, as observations of its controls and as a trial.

Gates exclude kangaroo rats from some plots and let smaller rodents pass; other plots are controls. So a graph found on
the controls, by observation, can be compared with what happens where kangaroo rats are excluded (`disco.experiments`).
The counts come with the program (`datasets/README.md`).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd

from disco.errors import InputError
from disco.files import HOMES
from disco.paper.settings import Settings
from disco.runs.origin import FromPortal, Origin
from disco.table.adjustment import CATEGORICAL, CONTINUOUS
from disco.table.roles import Roles
from disco.words import how_many

CREDIT = (
    "Captures counted from the Portal Project Teaching Database by S. K. M. Ernest, J. Brown, T. Valone and E. P. "
    "White (doi 10.6084/m9.figshare.1314459), released under CC0."
)
PLACE_AND_TIME = ("plot_id", "year", "month")
CONTROL, LONG, SHORT = "Control", "Long-term Krat Exclosure", "Short-term Krat Exclosure"
PLOTS = (CONTROL, "Spectab exclosure", SHORT, LONG, "Rodent Exclosure")
KANGAROO_RATS, POCKET_MICE = "kangaroo rats", "pocket mice"
GROUPS = {KANGAROO_RATS: ("DM", "DO", "DS"), POCKET_MICE: ("PB", "PF", "PH", "PP")}
SPECIES = {
    "AH": "Ammospermophilus harrisi", "BA": "Baiomys taylori", "DM": "Dipodomys merriami", "DO": "Dipodomys ordii",
    "DS": "Dipodomys spectabilis", "DX": "Dipodomys, species unknown", "NL": "Neotoma albigula",
    "OL": "Onychomys leucogaster", "OT": "Onychomys torridus", "PB": "Chaetodipus baileyi", "PE": "Peromyscus eremicus",
    "PF": "Perognathus flavus", "PH": "Chaetodipus hispidus", "PL": "Peromyscus leucopus",
    "PM": "Peromyscus maniculatus", "PP": "Chaetodipus penicillatus", "RF": "Reithrodontomys fulvescens",
    "RM": "Reithrodontomys megalotis", "SF": "Sigmodon fulviventer", "SH": "Sigmodon hispidus",
    "SO": "Sigmodon ochrognathus", "SS": "Spermophilus spilosoma",
}  # fmt: skip # a table
NAMES = SPECIES | {name: ", ".join(f"{code} {SPECIES[code]}" for code in codes) for name, codes in GROUPS.items()}
USUAL = (KANGAROO_RATS, POCKET_MICE, "NL", "OL", "OT", "PE", "PM", "RM")
UNADJUSTED = Roles(dict.fromkeys(PLACE_AND_TIME, "ignore"))
ALONE, ADJUSTED = "alone", "adjusted"

ALL, OPEN = "all exclosures since 1988", "the short-term plots before 1988, still open"

# Plots compared with the controls, and the years. Until 1987 the plots later called short-term exclosures caught as
# many kangaroo rats as the controls; in 1988 a sixth.
COMPARISONS = {
    ALL: ((LONG, SHORT), 1988, 2002),
    "long-term exclosures": ((LONG,), 1977, 2002),
    "short-term exclosures": ((SHORT,), 1988, 2002),
    OPEN: ((SHORT,), 1977, 1987),
}
KIND, KEPT_OUT, STILL_OPEN = "plots", "kangaroo rats kept out", "still open"  # a column of a trial, and its labels


def table(plots: Sequence[str] = (CONTROL,), species: Sequence[str] = USUAL) -> pd.DataFrame:
    """Captures per plot and session, one column per species or group of species, then plot_id, year and month; int64.

    InputError for an unknown kind of plot or species, fewer than two species, a species whose group is chosen too, or
    one that does not vary on these plots.
    """
    if not plots:
        raise InputError("Choose at least one kind of plot.")
    if len(species) < 2:
        raise InputError("Choose at least two species: one alone has no causes in the table.")
    if unknown := [kind for kind in plots if kind not in PLOTS]:
        raise InputError(f'There are no plots "{unknown[0]}"; there are {", ".join(PLOTS)}.')
    for group in GROUPS.keys() & set(species):
        if members := sorted(set(GROUPS[group]) & set(species)):
            raise InputError(f"{members[0]} is one of the {group}: choose the species or the group.")
    rows = captures()
    rows = rows[rows["plot_type"].isin(plots)].reset_index(drop=True)
    counts = pd.DataFrame({name: caught(rows, name) for name in species})
    if never := [name for name in species if counts[name].nunique() < 2]:
        raise InputError(f"{never[0]} does not vary on these plots: leave it out, or choose more plots.")
    return counts.assign(**{name: rows[name] for name in PLACE_AND_TIME})


def trial(comparison: str = ALL, species: Sequence[str] = USUAL) -> tuple[pd.DataFrame, Roles]:
    """Captures on the plots of a comparison and the controls, with the roles of an experiment.

    One row per plot and session, for the sessions in which every control has captures, so that all plots were trapped.
    A plot without captures then is absent from the data and has zeros here. Where the plots were still open nothing was
    set: their kind is a context, and kangaroo rats are compared like the others. Kangaroo rats are added unless some
    are among the species, and species never caught on these plots are left out.
    """
    rows, is_control = _trapped(comparison)
    removed = tuple(name for name in species if name in (KANGAROO_RATS, *GROUPS[KANGAROO_RATS]))
    species = species if removed else (KANGAROO_RATS, *species)
    counts = pd.DataFrame({name: caught(rows, name) for name in species})
    counts = counts.loc[:, counts.any() | counts.columns.isin(removed)]
    label, role = (STILL_OPEN, "context") if comparison == OPEN else (KEPT_OUT, "intervention")
    counts[KIND] = is_control.map({True: "control", False: label})
    roles = Roles(
        {KIND: role, "plot_id": "group", "year": ("covariate", CATEGORICAL), "month": ("covariate", CONTINUOUS)},
        targets={} if comparison == OPEN else {KEPT_OUT: removed or (KANGAROO_RATS,)},
    )
    return counts.assign(**{name: rows[name] for name in PLACE_AND_TIME}), roles


def _trapped(comparison: str) -> tuple[pd.DataFrame, pd.Series]:
    """Every plot of a comparison in every session in which all were trapped, and whether it is a control."""
    closed, first, last = COMPARISONS[comparison]
    rows = captures()
    rows = rows[rows["year"].between(first, last) & rows["plot_type"].isin((CONTROL, *closed))]
    controls = rows[rows["plot_type"] == CONTROL]
    trapped = controls.groupby(["year", "month"])["plot_id"].nunique()
    sessions = trapped.index[trapped == controls["plot_id"].nunique()]
    kinds = rows.groupby("plot_id")["plot_type"].first()
    visits = [(plot, *session) for session in sessions for plot in kinds.index]
    rows = rows.drop(columns="plot_type").set_index(list(PLACE_AND_TIME))
    rows = rows.reindex(pd.MultiIndex.from_tuples(visits, names=PLACE_AND_TIME), fill_value=0).reset_index()
    return rows, rows["plot_id"].map(kinds) == CONTROL


def adjusted(plot: str | None = CATEGORICAL, year: str | None = CATEGORICAL, month: str | None = CONTINUOUS) -> Roles:
    """Place and time as covariates of a kind, or ignored if None.

    The defaults predict left-out rows of the controls best: the year as a factor 252 nats better than as a smooth
    curve, the month as a smooth curve 15 nats better than as a factor (benchmarks/log/2026-11-23-portal.md).
    """
    kinds = zip(PLACE_AND_TIME, (plot, year, month), strict=True)
    return Roles({name: "ignore" if kind is None else ("covariate", kind) for name, kind in kinds})


def group(table: pd.DataFrame, plots: Sequence[str], roles: Roles) -> dict[str, dict[str, Any]]:
    """The runs of two searches, on the counts alone and, if the roles leave a covariate, adjusted: label → arguments of
    `create_run`."""
    used = {ALONE: UNADJUSTED, **({} if roles.needed() is None else {ADJUSTED: roles})}
    species = tuple(column for column in table if column not in PLACE_AND_TIME)
    origin = Origin(FromPortal(tuple(plots), species))
    return {
        label: _run(table, f"Portal, {', '.join(plots)}, {adjustment}", adjustment, origin)
        for label, adjustment in used.items()
    }


def example(comparison: str = ALL, species: Sequence[str] = USUAL) -> dict[str, Any]:
    """The run of a trial, for the page Experiments: the arguments of `create_run`."""
    table, roles = trial(comparison, species)
    return _run(table, f"Portal, {comparison}", roles, Origin(FromPortal((), tuple(species), comparison)))


def _run(table: pd.DataFrame, name: str, roles: Roles, origin: Origin) -> dict[str, Any]:
    shared = {"settings": Settings(), "source": CREDIT, "origin": origin}
    return {"table": table, "name": name, "roles": roles, **shared}


def compared(table: pd.DataFrame) -> str:
    """Which plots and sessions a trial compares, and how many kangaroo rats were caught on them: a sentence."""
    rats = table[[name for name in table if name in (KANGAROO_RATS, *GROUPS[KANGAROO_RATS])]].sum(axis=1)
    sides = [table[KIND] != "control", table[KIND] == "control"]
    (plots, treated_mean), (controls, control_mean) = [
        (table.loc[side, "plot_id"].nunique(), rats[side].mean()) for side in sides
    ]
    sessions = len(table[["year", "month"]].drop_duplicates())
    return (
        f"{how_many(plots, 'plot')} against {how_many(controls, 'control')}, in the {sessions} sessions "
        f"{table['year'].min()}–{table['year'].max()} in which every control had captures. Kangaroo rats per plot and "
        f"session: {treated_mean:.2f}, on controls {control_mean:.2f}."
    )


def called(name: str) -> str:
    """A species by its full name with its code; a group as it is."""
    return f"{SPECIES[name]} ({name})" if name in SPECIES else name


def caught(rows: pd.DataFrame, name: str) -> pd.Series:
    """The captures of a species or a group of species; InputError if the name is unknown."""
    if name not in SPECIES and name not in GROUPS:
        raise InputError(f'There is no species "{name}"; there are {", ".join((*GROUPS, *SPECIES))}.')
    return rows[list(GROUPS.get(name, (name,)))].sum(axis=1)


@cache
def captures() -> pd.DataFrame:
    """All rows, one per plot and session with captures: plot_id, plot_type, year, month, and 22 species; read only."""
    path = next((file for home in HOMES if (file := home / "datasets" / "portal.parquet").is_file()), None)
    if path is None:
        raise InputError("The captures near Portal are not installed: install the program again.")
    rows = pd.read_parquet(path)
    return rows.astype({name: "int64" for name in rows if name != "plot_type"})
