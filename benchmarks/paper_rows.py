"""A row of the paper's tables: what is fitted, by which method, and what is read from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from benchmarks import paper_read as read
from benchmarks.paper_data import LITERAL, Cohort, Known, Source, Wanted, data
from benchmarks.paper_fits import Bench
from disco.runs import Run
from disco.settings import Settings
from disco.simulate import Design
from disco.table.ranks import quantile_levels

Reading = Callable[["Row", Known, list[Run], Bench], dict[str, Any]]


@dataclass(frozen=True)
class Method:
    """The settings of a fit.

    Attributes:
        preset: a preset of `disco.settings`.
        recipe: whether to use the settings that the paper changes for one table.
        about: a description for the report.
        changes: other settings, such as those of a trial with few epochs.
        starts: number of orders that a refinement searches from; 0 for a method without a refinement.
        refit: whether the refinement starts from a fit and its CCS order.
        rival: the method of `disco.methods` that it is instead; "own" for the one, or the two, that a row names;
            "continuous" for a version of `benchmarks.continuous`, which measures these itself.
    """

    preset: str
    recipe: bool
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    starts: int = 0
    refit: bool = False
    rival: str = ""

    @property
    def searches(self) -> bool:
        """Whether its graph comes from a search, not from networks."""
        return bool(self.rival or self.starts)

    @property
    def is_own(self) -> bool:
        """Whether it is what a row names."""
        return self.rival == "own"

    @property
    def alone(self) -> bool:
        """Whether it needs no fit."""
        return self.searches and not self.refit


HALVES = ("first half", "second half")

# For a CPU: 12 % of the operations of the whole fit. The cosines of the learning rates keep their 800 updates, which
# at 5,000 rows end in epochs 134 and 115; a table of fewer rows needs more epochs than these.
BRIEF = {
    "joint_epochs": 150,
    "joint_decay": 800,
    "projection_epochs": 150,
    "projection_decay": 800,
    "noise_levels": 1,
    "evaluation_rows": 500,
}

METHODS: dict[str, Method] = {
    "disco-paper": Method("paper", True, "preset `paper`, with 400 projection epochs where the paper's table has them"),
    "disco-paper-800": Method(
        "paper", False, "preset `paper` with its 800 projection epochs where the paper's table has 400"
    ),
    "disco-paper-brief": Method(
        "paper",
        True,
        "preset `paper`, stopped after 150 epochs of each network, with one noise level and 500 evaluation rows per "
        "fold; for 5,000 rows",
        BRIEF,
    ),
    "disco-literal": Method(
        "paper", True, "as `disco-paper`, with cosine learning rates that count epochs instead of updates", LITERAL
    ),
    "disco-literal-800": Method(
        "paper", False, "as `disco-paper-800`, with cosine learning rates that count epochs instead of updates", LITERAL
    ),
    "disco-tuned": Method("tuned", False, "preset `tuned`"),
}
METHODS["refined"] = Method(
    "paper",
    False,
    "`disco refine` without a fit: from four orders, sorted and random, with up to sixteen restarts",
    starts=4,
)
METHODS["tuned-refined"] = Method(
    "tuned",
    False,
    "`disco refine RUN` of a fit with preset `tuned`: from its CCS order and from three sorted and random orders; an "
    "edge against the CCS order costs up to 5 nats more",
    starts=4,
    refit=True,
)
METHODS["boss"] = Method(
    "paper",
    False,
    "causal-learn's BOSS, a search over orders by the BIC of linear Gaussian models of log counts. It "
    "returns a class of graphs, so it has no A_top, and an undirected edge counts as an edge in both directions",
    rival="boss",
)
METHODS["rival"] = Method("paper", False, "the paper's method named in the row, as implemented here", rival="own")
_RIVALS = {
    "ods-oracle": "ODS given the family and the parameter of every node; parents by CAM",
    "ods-poisson": "ODS with every node modelled as Poisson",
    "ods-nb": "ODS with every node modelled as negative binomial of size 6",
    "ods-binomial": "ODS with every node modelled as binomial, with its largest count as M",
    "mrs": "MRS with every node modelled as Poisson, candidates by partial correlations",
    "grasp": "causal-learn's GRaSP, otherwise as `boss`",
    "pc": "causal-learn's PC on log counts, otherwise as `boss`",
    "lingam": "causal-learn's DirectLiNGAM on log counts",
    "notears": "gCastle's NOTEARS-MLP on log counts",
}
_CONTINUOUS = {
    "narrow": "continuous tables with joint networks of width 256",
    "brief": "continuous tables with a fifth to a half of the paper's epochs, trained in bfloat16, and DiffAN's "
    "variances over 512 rows",
    "full": "continuous tables with the paper's networks and epochs, trained in bfloat16",
}
METHODS |= {name: Method("paper", False, about, rival="continuous") for name, about in _CONTINUOUS.items()}
METHODS |= {name: Method("paper", False, about, rival=name) for name, about in _RIVALS.items()}


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        labels: its names, one per label column of the table.
        source: a design without its seed, or a cohort.
        read: the function that reads its fits.
        changes: settings of the row, for every method.
        recipe: settings that the paper changes for this table.
        parts: the tables to fit, as keys of `paper_data.CHANGES`.
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
    read: Reading = read.read_graph
    changes: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ("",)
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
        if self.rivals or method.is_own:
            return bool(self.rivals) and method.is_own
        if self.bootstrap:
            return method.searches
        if method.searches:
            plain = (self.criterion or "ccs", self.parent_rule or "jackknife", self.rule, self.parts, self.changes)
            return self.read in (read.read_graph, read.read_sinks) and plain == ("ccs", "jackknife", None, ("",), {})
        own = method.preset != "paper" or method.recipe
        return own or bool(self.recipe)

    def settings(self, method: Method, seed: int) -> Settings:
        """The settings of its fits."""
        recipe = self.recipe if method.recipe else {}
        return Settings.of(method.preset, **{**recipe, **self.changes, **method.changes, "seed": seed})

    def wanted(self, method: Method, seed: int) -> list[Wanted]:
        """Its fits; a search that starts without a fit has none."""
        if method.alone:
            return []
        settings = self.settings(method, seed)
        return [Wanted(self.seeded(seed), part, settings) for part in self.parts]

    def known(self, method: Method, seed: int) -> Known:
        """The table as a scientist would have it, with its truth: all rows, with the row's change."""
        whole = len(self.parts) != 1 or self.parts[0] in HALVES or method.searches
        return data(self.seeded(seed)) if whole else self.wanted(method, seed)[0].known()

    def seen_table(self, known: Known) -> pd.DataFrame:
        """The table as a method sees it: quantile levels in the rows of Lahman that are named for them."""
        if isinstance(self.source, Cohort) and self.labels[0].startswith("q"):
            levels = quantile_levels(known.table.to_numpy(), int(self.labels[0][1:]))
            return pd.DataFrame(levels, columns=known.table.columns)
        return known.table

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
        title: its title in the report.
        columns: the headings of the label columns.
        metrics: keys of `paper_report.METRICS`, in order.
        rows: number of nodes → its rows.
        nodes: the paper's numbers of nodes.
        seeds: the paper's number of seeds.
        median: whether the paper gives medians instead of means.
        about: what a reader must know.
    """

    title: str
    columns: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: Callable[[int], list[Row]]
    nodes: tuple[int, ...] = (50,)
    seeds: int = 10
    median: bool = False
    about: str = ""
