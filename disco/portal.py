"""Rodents near Portal, Arizona: counts of a field experiment, and what the experiment itself says.

From some plots kangaroo rats are kept out by gates that smaller rodents pass; other plots are controls. So a graph that
was found on the controls, by observation, can be held against what happens where kangaroo rats are kept out. The counts
come with the program (`datasets/README.md`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy.stats import t as student

from disco.errors import InputError
from disco.files import HOMES
from disco.likelihood.model import Model
from disco.progress import Callback, Reporter
from disco.refine import QUICK, Choice, Refined, refine
from disco.refine.prior import BEFORE
from disco.table.adjustment import CATEGORICAL, CONTINUOUS
from disco.table.prepared import Prepared, prepare
from disco.table.roles import Roles

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
USUAL = (KANGAROO_RATS, POCKET_MICE, "NL", "OL", "OT", "PE", "PM", "RM")
UNADJUSTED = Roles(dict.fromkeys(PLACE_AND_TIME, "ignore"))
_STOPPED = "stopped in the search {stage}."
_WITHOUT, _WITH = "without roles", "with roles"


class Comparison(NamedTuple):
    """Plots compared with the controls, in some years."""

    words: str
    plots: tuple[str, ...]
    first: int
    last: int


# Until 1987 the plots later called short-term exclosures caught as many kangaroo rats as the controls; in 1988 a sixth.
COMPARISONS = {
    "all": Comparison("all exclosures since 1988", (LONG, SHORT), 1988, 2002),
    "long": Comparison("long-term exclosures", (LONG,), 1977, 2002),
    "short": Comparison("short-term exclosures", (SHORT,), 1988, 2002),
    "before": Comparison("the short-term plots before 1988, still open", (SHORT,), 1977, 1987),
}

SUPPORTED, CONTRADICTED, OPEN = "supported", "contradicted", "cannot say"
FORWARD, BACKWARD, INDIRECT, NONE = "→", "←", "through others", "no way"


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


def adjusted(plot: str | None = CATEGORICAL, year: str | None = CATEGORICAL, month: str | None = CONTINUOUS) -> Roles:
    """Place and time as covariates of a kind, or ignored if None.

    By default what predicts left-out rows of the controls best: the year as a factor 252 nats better than as a smooth
    curve, the month as a smooth curve 15 nats better than as a factor (benchmarks/log/2026-11-23-portal.md).
    """
    kinds = zip(PLACE_AND_TIME, (plot, year, month), strict=True)
    return Roles({name: "ignore" if kind is None else ("covariate", kind) for name, kind in kinds})


def searched(
    table: pd.DataFrame, roles: Roles, choice: Choice = QUICK, callback: Callback | None = None
) -> tuple[Refined, Refined]:
    """The refinement without any role and the one with these roles; the same twice if the roles leave no covariate.

    Raises:
        InputError: the table cannot be used.
    """
    reporter = Reporter(callback, {_WITHOUT: 1.0, _WITH: 2.0}, _STOPPED)
    reporter.step(_WITHOUT, 0, 1)
    first = refine(table, choice, roles=UNADJUSTED, callback=reporter.part(_WITHOUT, "part"))
    if roles.needed() is None:
        return first, first
    reporter.step(_WITH, 0, 1)
    return first, refine(table, choice, roles=roles, callback=reporter.part(_WITH, "part"))


def plot_means(species: Sequence[str], comparison: Comparison) -> pd.DataFrame:
    """Mean captures per session on every plot of a comparison.

    Sessions are those of its years in which every control plot has captures, so that all plots were trapped then. A
    plot without a row had no captures: such rows are absent from the data.

    Returns:
        One row per plot: plot_id, is_control, sessions, and the mean of every species.
    """
    rows = captures()
    rows = rows[rows["year"].between(comparison.first, comparison.last)]
    rows = rows[rows["plot_type"].isin((CONTROL, *comparison.plots))]
    controls = rows[rows["plot_type"] == CONTROL]
    trapped = controls.groupby(["year", "month"])["plot_id"].nunique()
    whole = trapped.index[trapped == controls["plot_id"].nunique()]
    rows = rows[pd.MultiIndex.from_frame(rows[["year", "month"]]).isin(whole)]
    kinds = rows.groupby("plot_id")["plot_type"].first() == CONTROL
    means = pd.DataFrame({name: caught(rows, name).groupby(rows["plot_id"]).sum() / len(whole) for name in species})
    return pd.DataFrame({"is_control": kinds, "sessions": len(whole)}).join(means).reset_index()


def experiment(species: Sequence[str], comparison: Comparison = COMPARISONS["all"]) -> pd.DataFrame:
    """What keeping kangaroo rats out does to every species.

    Returns:
        One row per species: species; control and exclosure, mean captures per session and plot; ratio of the second to
        the first, with low and high, `ratio_of_means`' 95 % interval.
    """
    plots = plot_means(species, comparison)
    found = []
    for name in species:
        outside, inside = (plots.loc[plots["is_control"] == kind, name].to_numpy() for kind in (True, False))
        found.append((name, outside.mean(), inside.mean(), *ratio_of_means(inside, outside)))
    return pd.DataFrame(found, columns=["species", "control", "exclosure", "ratio", "low", "high"])


def ratio_of_means(inside: np.ndarray, outside: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """The ratio of two means over plots, and its interval: Welch's t interval of its logarithm, by the delta method.

    Plots are the units, for the sessions of one plot are not independent. Few plots make it wide: eight against eight,
    whose means vary by 60 %, give a 95 % interval that spans a factor of 3.5. In simulations with skewed means it holds
    92 to 95 %.

    Args:
        inside, outside: means of the plots, at least two each.

    Returns:
        Ratio, low and high; NaN where a mean of 0 leaves them undefined.
    """
    means = inside.mean(), outside.mean()
    if not all(means):
        return (means[0] / means[1] if means[1] else np.nan), np.nan, np.nan
    parts = [values.var(ddof=1) / len(values) / values.mean() ** 2 for values in (inside, outside)]
    spread = sum(part**2 / (len(values) - 1) for part, values in zip(parts, (inside, outside), strict=True))
    freedom = sum(parts) ** 2 / spread if spread else np.inf
    half = float(student.ppf((1 + level) / 2, freedom) * np.sqrt(sum(parts)))
    ratio = float(means[0] / means[1])
    return ratio, ratio * np.exp(-half), ratio * np.exp(half)


def verdicts(refined: Refined, table: pd.DataFrame, roles: Roles | None, found: pd.DataFrame) -> pd.DataFrame:
    """What a graph says of every pair of kangaroo rats and another species, against what the experiment says.

    Args:
        refined: the graph.
        table, roles: from which it was found.
        found: `experiment`'s rows of the species in the table.

    Returns:
        One row per pair: cause, species; arrow (→, ←, through others, no way), decided, without (the child's mean at
        the fewest kangaroo rats, over its mean, by the arrow's curve; NaN without an arrow →); ratio, low and high of
        the experiment; verdict and why.
    """
    given = prepare(table, roles)
    counts = given.counts
    measured, rows = found.set_index("species"), []
    causes = [name for name in counts if name in (KANGAROO_RATS, *GROUPS[KANGAROO_RATS])]
    for species in (name for name in counts if name not in causes):
        ratio, low, high = measured.loc[species, ["ratio", "low", "high"]]
        pairs = [(cause, *_claim(refined, given, cause, species)) for cause in causes]
        said = [verdict(arrow, decided, effect, low, high) for _, arrow, decided, effect in pairs]
        if any(one != CONTRADICTED for one, _ in said):
            said = [(OPEN, _ANOTHER) if one == CONTRADICTED else (one, why) for one, why in said]
        rows += [(*pair[:1], species, *pair[1:], ratio, low, high, *one) for pair, one in zip(pairs, said, strict=True)]
    columns = ["cause", "species", "arrow", "decided", "without", "ratio", "low", "high", "verdict", "why"]
    return pd.DataFrame(rows, columns=columns)


_ANOTHER = "Another of the kangaroo rats may act."


def _claim(refined: Refined, given: Prepared, cause: str, species: str) -> tuple[str, bool, float]:
    """What a graph says of one pair: arrow, decided and without, as in the rows of `verdicts`."""
    graph = refined.graph()
    if graph.has_edge(species, cause):
        return BACKWARD, bool(graph.edges[species, cause]["decided"]), np.nan
    if not graph.has_edge(cause, species):
        return INDIRECT if nx.has_path(possible(graph), cause, species) else NONE, False, np.nan
    parents = sorted(graph.predecessors(species))
    part = replace(given, counts=given.counts[[species, *parents]])
    model = Model.of(part, {species: parents}, prior=BEFORE)
    return FORWARD, bool(graph.edges[cause, species]["decided"]), left_without(model.curve(cause, species))


def verdict(arrow: str, decided: bool, without: float, low: float, high: float) -> tuple[str, str]:
    """The verdict on one pair, and why, in a few words; arguments as in the rows of `verdicts`."""
    if not (low > 1 or high < 1):
        return OPEN, "The experiment leaves an effect open."
    if arrow == INDIRECT:
        return OPEN, "Joined only through other species."
    if arrow == NONE:
        return CONTRADICTED, "An effect, and no way for it in the graph."
    if not decided:
        return OPEN, "The direction of the arrow is open."
    if arrow == BACKWARD:
        return CONTRADICTED, "The arrow points the other way."
    if (without > 1) == (low > 1):
        return SUPPORTED, "Arrow and sign are the experiment's."
    return CONTRADICTED, "The effect has the other sign."


def left_without(curve: pd.DataFrame) -> float:
    """A child's mean at the lowest count of its parent, over its mean in the rows; of a curve of `Model.curve`."""
    return float(curve["mean"].iloc[0] / np.average(curve["mean"], weights=curve["rows"]))


def possible(graph: nx.DiGraph) -> nx.DiGraph:
    """A refined graph with the edges of undecided direction both ways."""
    both = nx.DiGraph(graph.edges)
    both.add_nodes_from(graph)
    both.add_edges_from((child, parent) for parent, child, sure in graph.edges(data="decided") if not sure)
    return both


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
