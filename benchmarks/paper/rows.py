"""A row of the paper's tables: what is fitted, by which method, and what is read from it."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.paper.data import Cohort, Fit, Known, Source, data
from disco.paper.ranks import quantile_levels
from disco.paper.settings import Settings
from disco.simulate import Design


@dataclass(frozen=True)
class Method:
    """The settings of a fit, as `methods.toml` declares them.

    Attributes:
        about: a description for the report.
        preset: a preset of `disco.paper.settings`.
        recipe: whether to use the settings that the paper changes for one table.
        changes: other settings, such as those of a trial with few epochs.
        starts: number of orders that a refinement searches from; 0 for a method without a refinement.
        refit: whether the refinement starts from a fit and its CCS order.
        rival: the method of `disco.methods` that it is instead; "named" for the one, or the two, that a row names;
            "continuous" for a version of DISCO-Cont and DiffAN, whose options are in `changes`.
    """

    about: str
    preset: str = "paper"
    recipe: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)
    starts: int = 0
    refit: bool = False
    rival: str = ""

    @property
    def searches(self) -> bool:
        """Whether its graph comes from a search, not from networks."""
        return bool(self.rival or self.starts)

    @property
    def is_named(self) -> bool:
        """Whether it is what a row names."""
        return self.rival == "named"

    @property
    def needs_no_fit(self) -> bool:
        """Whether it needs no fit."""
        return self.searches and not self.refit


HALVES = ("first half", "second half")

METHODS: dict[str, Method] = {
    name: Method(**values)
    for name, values in tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8")).items()
}


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        labels: its names, one per label column of the table.
        source: a design without its seed, or a cohort.
        reading: how its fits are read, a key of `readings.READINGS`.
        changes: settings of the row, for every method.
        recipe: settings that the paper changes for this table.
        tables: the tables to fit, as keys of `data.CHANGES`.
        criterion, boundary: of the ordering, if they are not the fit's own.
        parent_rule: iqr or jackknife, if it is not the fit's own.
        rule: (τ_Z, π_min), if they are not the rule's own.
        order: the order along which parents are selected: estimated or true.
        seen: the increasing function that changed the table, for the rank transform.
        needs: why the row may be missing.
        bootstrap: number of bootstrap tables of a refinement, for rows that only searches take.
        rivals: the method of `disco.methods` that the row names, or two that it compares.
        options: of these methods.
    """

    labels: tuple[str, ...]
    source: Source
    reading: str = "graph"
    changes: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[str, ...] = ("",)
    criterion: str | None = None
    boundary: str | None = None
    parent_rule: str | None = None
    rule: tuple[float, float] | None = None
    order: str = "estimated"
    seen: str = ""
    needs: str = ""
    bootstrap: int = 0
    rivals: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its name in results."""
        return ", ".join(self.labels)

    @property
    def is_continuous(self) -> bool:
        """Whether its table does not hold counts."""
        return isinstance(self.source, Design) and self.source.family.endswith("-gp")

    def takes(self, method: Method) -> bool:
        """Whether the method runs the row: it is implemented, and differs there from the other methods."""
        if self.is_continuous or method.rival == "continuous":
            return self.is_continuous and method.rival == "continuous"
        if self.rivals or method.is_named:
            return bool(self.rivals) and method.is_named
        if self.bootstrap:
            return method.searches
        if method.searches:
            plain = (self.criterion or "ccs", self.parent_rule or "jackknife", self.rule, self.tables, self.changes)
            return self.reading in ("graph", "sinks") and plain == ("ccs", "jackknife", None, ("",), {})
        return method.preset != "paper" or method.recipe or bool(self.recipe)

    def settings(self, method: Method, seed: int) -> Settings:
        """The settings of its fits."""
        recipe = self.recipe if method.recipe else {}
        return Settings.of(method.preset, **{**recipe, **self.changes, **method.changes, "seed": seed})

    def fits(self, method: Method, seed: int) -> list[Fit]:
        """Its fits; a search that starts without a fit has none."""
        if method.needs_no_fit:
            return []
        settings = self.settings(method, seed)
        return [Fit(self.seeded(seed), change, settings) for change in self.tables]

    def data(self, method: Method, seed: int) -> Known:
        """The table as a scientist would have it, with its truth: all rows, with the row's change."""
        all_rows = len(self.tables) != 1 or self.tables[0] in HALVES or method.searches
        return data(self.seeded(seed)) if all_rows else self.fits(method, seed)[0].data()

    def seen_table(self, data: Known) -> pd.DataFrame:
        """The table as a method sees it: quantile levels in the rows of Lahman that are named for them."""
        if isinstance(self.source, Cohort) and self.labels[0].startswith("q"):
            levels = quantile_levels(data.table.to_numpy(), int(self.labels[0][1:]))
            return pd.DataFrame(levels, columns=data.table.columns)
        return data.table

    def variant(self, settings: Settings) -> str:
        """Criterion and boundary, named as in `Run.variants`."""
        return f"{self.criterion or settings.criterion}-{self.boundary or settings.boundary}"

    def seeded(self, seed: int) -> Source:
        """Its source with a seed; a cohort has none."""
        return self.source if isinstance(self.source, Cohort) else self.source.replace(seed=seed)


@dataclass(frozen=True)
class Table:
    """One table of the paper.

    Attributes:
        rows: number of nodes → its rows.
        title: its title in the report.
        columns: the headings of the label columns.
        metrics: keys of `report.METRICS`, in order.
        about: what a reader must know.
        nodes: the paper's numbers of nodes.
        seeds: the paper's number of seeds.
        median: whether the paper gives medians instead of means.
    """

    rows: Callable[[int], list[Row]]
    title: str
    columns: Sequence[str]
    metrics: Sequence[str]
    about: str = ""
    nodes: Sequence[int] = (50,)
    seeds: int = 10
    median: bool = False
