"""Rodents near Portal, Arizona: counts of a field experiment, and what the experiment itself says.

From some plots kangaroo rats are kept out by gates that smaller rodents pass; other plots are controls. So a graph that
was found on the controls, by observation, can be held against what happens where kangaroo rats are kept out. The counts
come with the program (`datasets/README.md`).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd

from disco.errors import InputError
from disco.files import HOMES
from disco.refine import QUICK
from disco.runs.origin import FromPortal, Origin
from disco.settings import Settings
from disco.studies.experiment import Experiment
from disco.studies.study import Study, Wanted
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
NAMES = SPECIES | {name: ", ".join(f"{one} {SPECIES[one]}" for one in parts) for name, parts in GROUPS.items()}
USUAL = (KANGAROO_RATS, POCKET_MICE, "NL", "OL", "OT", "PE", "PM", "RM")
UNADJUSTED = Roles(dict.fromkeys(PLACE_AND_TIME, "ignore"))
ALONE, ADJUSTED = "alone", "adjusted"

# Plots compared with the controls, and the years. Until 1987 the plots later called short-term exclosures caught as
# many kangaroo rats as the controls; in 1988 a sixth.
COMPARISONS = {
    "all exclosures since 1988": ((LONG, SHORT), 1988, 2002),
    "long-term exclosures": ((LONG,), 1977, 2002),
    "short-term exclosures": ((SHORT,), 1988, 2002),
    "the short-term plots before 1988, still open": ((SHORT,), 1977, 1987),
}


def table(plots: Sequence[str] = (CONTROL,), species: Sequence[str] = USUAL) -> pd.DataFrame:
    """Captures per plot and session, one column per species or group of species, then plot_id, year and month; int64.

    Raises:
        InputError: a kind of plot or a species is unknown, fewer than two species are chosen, one is part of a group
            that is chosen too, or one was never caught on these plots.
    """
    if not plots:
        raise InputError("Choose at least one kind of plot.")
    if len(species) < 2:
        raise InputError("Choose at least two species: one alone has no causes in the table.")
    if unknown := [kind for kind in plots if kind not in PLOTS]:
        raise InputError(f'There are no plots "{unknown[0]}"; there are {", ".join(PLOTS)}.')
    for group in GROUPS.keys() & set(species):
        if parts := sorted(set(GROUPS[group]) & set(species)):
            raise InputError(f"{parts[0]} is one of the {group}: choose the species or the group.")
    rows = captures()
    rows = rows[rows["plot_type"].isin(plots)].reset_index(drop=True)
    counts = pd.DataFrame({name: caught(rows, name) for name in species})
    if never := [name for name in species if counts[name].nunique() < 2]:
        raise InputError(f"{never[0]} does not vary on these plots: leave it out, or choose more plots.")
    return counts.assign(**{name: rows[name] for name in PLACE_AND_TIME})


def trial() -> tuple[pd.DataFrame, Roles]:
    """Captures since 1988 on controls and exclosures of kangaroo rats, with the roles of an experiment."""
    closed, first, last = COMPARISONS["all exclosures since 1988"]
    rows = captures()
    rows = rows[rows["year"].between(first, last) & rows["plot_type"].isin((CONTROL, *closed))].reset_index(drop=True)
    counts = pd.DataFrame({name: caught(rows, name) for name in USUAL})
    kinds = {"plot_type": "intervention", "plot_id": "group"}
    roles = Roles(kinds | {"year": "covariate", "month": "covariate"}, targets=dict.fromkeys(closed, (KANGAROO_RATS,)))
    return counts.assign(plot_type=rows["plot_type"], **{name: rows[name] for name in PLACE_AND_TIME}), roles


def adjusted(plot: str | None = CATEGORICAL, year: str | None = CATEGORICAL, month: str | None = CONTINUOUS) -> Roles:
    """Place and time as covariates of a kind, or ignored if None.

    By default what predicts left-out rows of the controls best: the year as a factor 252 nats better than as a smooth
    curve, the month as a smooth curve 15 nats better than as a factor (benchmarks/log/2026-11-23-portal.md).
    """
    kinds = zip(PLACE_AND_TIME, (plot, year, month), strict=True)
    return Roles({name: "ignore" if kind is None else ("covariate", kind) for name, kind in kinds})


def group(table: pd.DataFrame, plots: Sequence[str], roles: Roles) -> list[Wanted]:
    """Two searches: on the counts alone and, if the roles leave a covariate, adjusted."""
    wanted = {ALONE: UNADJUSTED, **({} if roles.needed() is None else {ADJUSTED: roles})}
    name = f"Portal, {', '.join(plots)}, "
    species = tuple(one for one in table if one not in PLACE_AND_TIME)
    own: dict[str, Any] = {"source": CREDIT, "origin": Origin(FromPortal(tuple(plots), species)), "choice": QUICK}
    return [Wanted(label, f"{name}{one}", table, Settings(), one, **own) for label, one in wanted.items()]


def compared(species: Sequence[str], comparison: str) -> tuple[pd.DataFrame, str]:
    """Mean captures per session on every plot of a comparison, and which plots and sessions these are.

    Sessions are those of its years in which every control plot has captures, so that all plots were trapped then. A
    plot without a row had no captures: such rows are absent from the data.
    """
    closed, first, last = COMPARISONS[comparison]
    rows = captures()
    rows = rows[rows["year"].between(first, last) & rows["plot_type"].isin((CONTROL, *closed))]
    controls = rows[rows["plot_type"] == CONTROL]
    trapped = controls.groupby(["year", "month"])["plot_id"].nunique()
    whole = trapped.index[trapped == controls["plot_id"].nunique()]
    rows = rows[pd.MultiIndex.from_frame(rows[["year", "month"]]).isin(whole)]
    kinds = rows.groupby("plot_id")["plot_type"].first() == CONTROL
    means = pd.DataFrame({name: caught(rows, name).groupby(rows["plot_id"]).sum() / len(whole) for name in species})
    note = (
        f"{how_many(int((~kinds).sum()), 'plot')} against {int(kinds.sum())} controls, in the {len(whole)} sessions "
        f"{first}–{last} in which every control had captures, so that all plots were trapped. A plot without a row "
        "then counts as 0."
    )
    return pd.DataFrame({"is_control": kinds}).join(means).reset_index(names="unit"), note


EXPERIMENT = Experiment(
    (KANGAROO_RATS, *GROUPS[KANGAROO_RATS]),
    "Gates keep kangaroo rats (*Dipodomys*: DM, DO, DS) out of the *krat exclosures* and let smaller rodents pass. The "
    "ratio of captures there to those on the controls estimates the effect of removing kangaroo rats.",
    tuple(COMPARISONS),
    compared,
    unit="plot",
    noun="species",
    removed=KANGAROO_RATS,
    measured="captures",
    seen="caught",
)
STUDY = Study(
    "portal",
    "Portal",
    "A case study with an answer: monthly captures of rodents in the desert of Arizona, 1977 to 2002. Search a graph "
    "of the species from the control plots, with and without plot, year and month as covariates. Then see what the "
    "experiment next door says of the same species.",
    CREDIT,
    names=NAMES,
    experiment=EXPERIMENT,
    lesson="**Observation alone does not recover the suppression here.** With kangaroo rats kept out, pocket mice are "
    "caught about twice as often. On the controls the counts alone give a link with an effect of that sign, but its "
    "direction stays open. Adjusted for plot, year and month the effect is gone: these drive both. Little is left for "
    "observation, because on the controls kangaroo rats are never away for long: 2 % of the plot-months are without "
    "them, and no plot has a year with fewer than one per session.",
)


def caught(rows: pd.DataFrame, name: str) -> pd.Series:
    """The captures of a species or a group of species.

    Raises:
        InputError: there is none of that name.
    """
    if name not in SPECIES and name not in GROUPS:
        raise InputError(f'There is no species "{name}"; there are {", ".join((*GROUPS, *SPECIES))}.')
    return rows[list(GROUPS.get(name, (name,)))].sum(axis=1)


@cache
def captures() -> pd.DataFrame:
    """All rows, one per plot and session with captures: plot_id, plot_type, year, month, and 22 species; read only.

    Raises:
        InputError: the file is not installed.
    """
    path = next((found for home in HOMES if (found := home / "datasets" / "portal.parquet").is_file()), None)
    if path is None:
        raise InputError("The captures near Portal are not installed: install the program again.")
    rows = pd.read_parquet(path)
    return rows.astype({name: "int64" for name in rows if name != "plot_type"})
