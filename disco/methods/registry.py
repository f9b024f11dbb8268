"""The methods by name: the only list, read by the command line, the benchmarks and the page Compare.

A method's module has a frozen dataclass `Options`, checked as `disco.fields` describes, and

    find(table, options, *, callback=None) -> Found

and also `knowledge=` if the method uses knowledge. `disco.methods.find` passes checked counts with the adjustment of
their rows (`disco.table.prepared`), or an unchecked table if the method takes any finite numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from disco.refine import duration

INSTALL = "pip install .[rivals]"  # in the project's folder; installs every package that a method needs


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        label: its name in figures and tables.
        about: its assumptions and procedure, in one or two sentences.
        module: in `disco.methods`.
        changes: its options that differ from the module's defaults.
        seconds: approximate time on one core, from the numbers of rows and nodes.
        roles: whether it adjusts for covariates, exposure and groups.
        knowledge: whether it obeys tiers, required and forbidden edges.
        interventions: whether it uses the arms of an experiment.
        numbers: whether it accepts any finite numbers, not only counts.
        package: an additional package that it needs, imported as `imports`; `INSTALL` installs it.
    """

    label: str
    about: str
    module: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    seconds: Callable[[int, int], float] = lambda rows, nodes: 0.1
    roles: bool = False
    knowledge: bool = False
    interventions: bool = False
    numbers: bool = False
    package: str = ""
    imports: str = ""

    @property
    def installed(self) -> bool:
        """Whether its package is installed; found without loading it."""
        return not self.package or find_spec(self.imports) is not None

    @property
    def needs_arms(self) -> bool:
        """Whether it works only on a table with the arms of an experiment."""
        return self.module == "interventional"

    @property
    def group(self) -> str:
        """Its kind, one of `GROUPS`."""
        return _GROUP_OF.get(self.module, "general")


# Methods of older versions, whose results in a run are left out.
FORMER = ("search-poisson", "search-nb", "search-zinb", "search-binomial")
GROUPS = ("ours", "count models", "general", "continuous", "controls")
_GROUP_OF = {
    "ours": "ours",
    **dict.fromkeys(("ods", "mrs"), "count models"),
    **dict.fromkeys(("diffan", "cont"), "continuous"),
    "sorting": "controls",
}


def _fit(rows: int, nodes: int) -> float:
    return 50 + 0.6 * nodes + 0.012 * nodes**2


def _stagewise(rows: int, nodes: int) -> float:
    return _fit(rows, nodes) + 0.001 * rows * nodes


def _refined(rows: int, nodes: int) -> float:
    """Approximate seconds at the pace of a usual core; three seconds load the likelihood. A column has about an eighth
    of the others as parents, and 6 at most; fewer in wide tables, which are often sparse.
    """
    parents = min((nodes - 1) / 2, 0.5 + nodes / 8, 6, 6 * (60 / nodes) ** 0.5)
    return 3 + 2.5 * duration.of_searches(nodes * parents, nodes, rows)


def _ours(seconds: Callable[[int, int], float] = _fit, **changes: str) -> dict[str, Any]:
    uses = {"roles": True, "knowledge": True, "interventions": True}
    return {"module": "ours", "changes": changes, "seconds": seconds, **uses}


def _sorting(by: str) -> dict[str, Any]:
    return {"module": "sorting", "changes": {"by": by}, "roles": True}


def _scored(module: str, **changes: str) -> dict[str, Any]:
    return {"module": module, "changes": changes, "seconds": lambda rows, nodes: 0.05 + 2e-8 * rows * nodes**2}


def _general(algorithm: str, seconds: Callable[[int, int], float]) -> dict[str, Any]:
    package = {"package": "causal-learn", "imports": "causallearn"}
    return {"module": "general", "changes": {"algorithm": algorithm}, "seconds": seconds, **package}


def _of_arms(package: str, factor: float) -> dict[str, Any]:
    """A method of `disco.methods.interventional`; its package has its name."""
    fields = {"interventions": True, "package": package, "imports": package}
    seconds = lambda rows, nodes: factor * nodes**5  # noqa: E731
    return {"module": "interventional", "changes": {"algorithm": package}, "seconds": seconds, **fields}


def _weights(nodes: int) -> float:
    narrow, wide = max(128, 3 * nodes), max(1024, 5 * nodes)
    return 2 * nodes * narrow + 2 * narrow * wide + wide**2


def _trained(rows: int, nodes: int, epochs: int) -> float:
    """Approximate seconds, at 90 ms for 1,000 rows of 30 nodes."""
    return 7e-11 * rows * epochs * _weights(nodes)


METHODS: dict[str, Method] = {
    "disco": Method(
        "DISCO",
        "The paper's method: networks learn the score of the counts. Order by its curvature, parents by the OCS.",
        **_ours(),
    ),
    "disco-norank": Method(
        "DISCO without ranks",
        "DISCO on the counts instead of their ranks.",
        **_ours(transform="none"),
    ),
    "disco-constant": Method(
        "DISCO, constant curvature",
        "DISCO with the constant criterion: the variance of the curvature over all rows instead of the CCS.",
        **_ours(criterion="constant"),
    ),
    "disco-direct": Method(
        "DISCO, stagewise direct",
        "DISCO whose projection network is trained further after each removal, on the joint network's targets.",
        **_ours(_stagewise, projection="direct"),
    ),
    "disco-recursive": Method(
        "DISCO, stagewise recursive",
        "DISCO whose projection network is trained further after each removal, on its own previous targets.",
        **_ours(_stagewise, projection="recursive"),
    ),
    "refined": Method(
        "likelihood search",
        "Our search over orders by the likelihood of regressions that assume no family. No networks.",
        **_ours(_refined, by="likelihood"),
    ),
    "sort-mean": Method(
        "sorted by mean",
        "Baseline: columns sorted by rising mean, parents by CAM. A method must beat this baseline.",
        **_sorting("mean"),
    ),
    "sort-variance": Method(
        "sorted by variance",
        "Baseline: columns sorted by rising variance, parents by CAM.",
        **_sorting("variance"),
    ),
    "sort-excess": Method(
        "sorted by variance − mean",
        "Baseline: columns sorted by rising variance − mean, which is 0 for a Poisson source. Parents by CAM.",
        **_sorting("excess"),
    ),
    "ods-poisson": Method(
        "ODS, Poisson",
        "Assumes that nodes are Poisson given their parents. Places the least overdispersed node next. Parents by CAM.",
        **_scored("ods", family="poisson"),
    ),
    "ods-nb": Method(
        "ODS, NB",
        "ODS for negative binomial nodes, all with one known size (6 unless changed).",
        **_scored("ods", family="nb"),
    ),
    "ods-binomial": Method(
        "ODS, binomial",
        "ODS for binomial nodes. The number of trials is each column's largest count unless changed.",
        **_scored("ods", family="binomial"),
    ),
    "ods-oracle": Method(
        "ODS, families given",
        "ODS with each node's family and parameter given. Nodes without one are Poisson.",
        **_scored("ods"),
    ),
    "mrs": Method(
        "MRS, Poisson",
        "Assumes that nodes are Poisson given their parents. Places the node next whose second moment exceeds its mean "
        "squared the least. Parents by CAM among pairs with a partial correlation.",
        **_scored("mrs", family="poisson"),
    ),
    "mrs-nb": Method(
        "MRS, NB",
        "MRS for negative binomial nodes, all with one known size. The order is the same as for Poisson, since all its "
        "ratios are divided by one number.",
        **_scored("mrs", family="nb"),
    ),
    "mrs-binomial": Method(
        "MRS, binomial",
        "MRS for binomial nodes. The number of trials is each column's largest count unless changed.",
        **_scored("mrs", family="binomial"),
    ),
    "mrs-hyper-poisson": Method(
        "MRS, hyper-Poisson",
        "MRS for hyper-Poisson nodes, all with one known b (2 unless changed), for counts that vary more.",
        **_scored("mrs", family="hyper-poisson"),
    ),
    "boss": Method(
        "BOSS",
        "Search over orders by the BIC of linear Gaussian models of log counts. Finds a class of graphs, not an order.",
        **_general("boss", lambda rows, nodes: 2e-3 * nodes**2),
    ),
    "grasp": Method(
        "GRaSP",
        "Like BOSS, but reverses edges instead of moving single nodes. Finds a class of graphs, not an order.",
        **_general("grasp", lambda rows, nodes: 1e-3 * nodes**2),
    ),
    "pc": Method(
        "PC",
        "Removes edges by tests of partial correlation of log counts. Finds a class of graphs, not an order.",
        **_general("pc", lambda rows, nodes: 1.6e-4 * nodes**3),
    ),
    "ges": Method(
        "GES",
        "Search over classes of graphs by the BIC of linear Gaussian models of log counts. Slow beyond 50 nodes.",
        **_general("ges", lambda rows, nodes: 1.3e-7 * nodes**5),
    ),
    "lingam": Method(
        "DirectLiNGAM",
        "Assumes that log counts depend linearly on log counts, with non-normal errors. Finds an order.",
        **_general("lingam", lambda rows, nodes: 1.6e-8 * rows * nodes**3),
    ),
    "gies": Method(
        "GIES",
        "Like GES, with the arms of an experiment: an arm gives no information on the causes of what it sets. "
        "Needs the role intervention.",
        **_of_arms("gies", 1.3e-7),
    ),
    "gnies": Method(
        "GnIES",
        "Like GIES, without being told what each arm sets. Needs the role intervention.",
        **_of_arms("gnies", 6e-7),
    ),
    "notears": Method(
        "NOTEARS-MLP",
        "Neural networks predict every log count from the others, with a penalty on cycles. Slow beyond 20 nodes.",
        "notears",
        seconds=lambda rows, nodes: 3 + 1.4e-4 * rows * nodes**2,
        package="gcastle",
        imports="castle",
    ),
    "diffan": Method(
        "DiffAN",
        "Removes the node whose log density, learned by a diffusion network, has the most constant curvature. Valid if "
        "noise is additive and normal. Parents by CAM.",
        "diffan",
        seconds=lambda rows, nodes: _trained(rows, nodes, 3000) + 6e-11 * rows * nodes**2 * _weights(nodes),
        numbers=True,
    ),
    "disco-cont": Method(
        "DISCO-Cont",
        "Our criterion for continuous columns: removes the node whose curvature depends least on the other columns. "
        "Parents by CAM.",
        "cont",
        seconds=lambda rows, nodes: 1.2 * _trained(rows, nodes, 1000) + 2e-6 * rows * nodes**2,
        numbers=True,
    ),
}
