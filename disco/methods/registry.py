"""The methods by name. The command line, the benchmarks and the page Compare read this list and no other.

A method's module has a frozen dataclass `Options`, checked as `disco.checks` describes, and

    find(table, options, *, callback=None) -> Found

with `knowledge=` too if the method takes knowledge. `disco.methods.find` gives it checked counts with the adjustment of
their rows (`disco.table.prepared`), or a table not yet checked if the method takes any finite numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

INSTALL = "pip install .[rivals]"  # in the folder of the project: every package that a method needs


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        label: its name in figures and tables.
        about: what it assumes and does, in one or two sentences.
        module: the module of `disco.methods` that holds it.
        changes: its options, where they differ from the module's own.
        seconds: about how long it takes on one core, from the numbers of rows and nodes.
        roles: whether it adjusts for covariates, exposure and groups.
        knowledge: whether it keeps to tiers, required and forbidden edges.
        numbers: whether it takes any finite numbers, not only counts.
        package: the package that it needs beyond the project's requirements; `INSTALL` installs it.
        imports: the name under which that package is imported.
    """

    label: str
    about: str
    module: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    seconds: Callable[[int, int], float] = lambda rows, nodes: 0.1
    roles: bool = False
    knowledge: bool = False
    numbers: bool = False
    package: str = ""
    imports: str = ""

    @property
    def installed(self) -> bool:
        """Whether the package that it needs is there; it is looked for, not loaded."""
        return not self.package or find_spec(self.imports) is not None

    @property
    def group(self) -> str:
        """The kind of method it is, one of `GROUPS`."""
        return _GROUP_OF.get(self.module, "general")


GROUPS = ("ours", "count models", "general", "continuous", "controls")
_GROUP_OF = {
    "ours": "ours",
    **dict.fromkeys(("ods", "mrs", "parametric"), "count models"),
    **dict.fromkeys(("diffan", "cont"), "continuous"),
    "sorting": "controls",
}


def _ods(rows: int, nodes: int) -> float:
    """About the seconds of ODS with means by least squares."""
    return 0.05 + 2e-8 * rows * nodes**2


def _mrs(rows: int, nodes: int) -> float:
    """About the seconds of MRS with a skeleton of partial correlations."""
    return 0.05 + 2e-8 * rows * nodes**2


_OURS: dict[str, Any] = {
    "seconds": lambda rows, nodes: 50 + 0.6 * nodes + 0.012 * nodes**2,
    "roles": True,
    "knowledge": True,
}
_CAUSAL_LEARN: dict[str, Any] = {"package": "causal-learn", "imports": "causallearn"}


def _stagewise(rows: int, nodes: int) -> float:
    """About the seconds of a fit whose projection is trained further at every removal."""
    return _OURS["seconds"](rows, nodes) + 0.001 * rows * nodes


def _weights(nodes: int) -> float:
    """About how many weights DiffAN's network has."""
    narrow, wide = max(128, 3 * nodes), max(1024, 5 * nodes)
    return 2 * nodes * narrow + 2 * narrow * wide + wide**2


def _trained(rows: int, nodes: int, epochs: int) -> float:
    """About how many seconds its training takes, at 90 ms for 1,000 rows of 30 nodes."""
    return 7e-11 * rows * epochs * _weights(nodes)


METHODS: dict[str, Method] = {
    "disco": Method(
        "DISCO",
        "The paper's method: networks learn the score of the counts; the order by its curvature, parents by the OCS.",
        "ours",
        **_OURS,
    ),
    "disco-norank": Method(
        "DISCO without ranks",
        "DISCO on the counts themselves instead of their ranks.",
        "ours",
        {"transform": "none"},
        **_OURS,
    ),
    "disco-constant": Method(
        "DISCO, constant curvature",
        "DISCO with the plain variance of the curvature as its criterion, instead of the corrected score.",
        "ours",
        {"criterion": "constant"},
        **_OURS,
    ),
    "disco-direct": Method(
        "DISCO, stagewise direct",
        "DISCO with its projection network trained further after each removal, on targets of the joint network.",
        "ours",
        {"projection": "direct"},
        **{**_OURS, "seconds": _stagewise},
    ),
    "disco-recursive": Method(
        "DISCO, stagewise recursive",
        "DISCO with its projection network trained further after each removal, on its own targets before it.",
        "ours",
        {"projection": "recursive"},
        **{**_OURS, "seconds": _stagewise},
    ),
    "refined": Method(
        "refinement",
        "Our search over orders by the likelihood of regressions that assume no family; without networks.",
        "ours",
        {"by": "likelihood"},
        seconds=lambda rows, nodes: 0.1 * nodes * (0.7 + 0.0002 * rows),
        roles=True,
        knowledge=True,
    ),
    "sort-mean": Method(
        "sorted by mean",
        "A control: the columns by rising mean, parents by CAM. What beats no sorting tells little.",
        "sorting",
        {"by": "mean"},
        roles=True,
    ),
    "sort-variance": Method(
        "sorted by variance",
        "A control: the columns by rising variance, parents by CAM.",
        "sorting",
        {"by": "variance"},
        roles=True,
    ),
    "sort-excess": Method(
        "sorted by variance − mean",
        "A control: the columns by rising variance − mean, which is 0 for a Poisson source; parents by CAM.",
        "sorting",
        {"by": "excess"},
        roles=True,
    ),
    "ods-poisson": Method(
        "ODS, Poisson",
        "Takes every node as Poisson given its parents, and places the least overdispersed node next; parents by CAM.",
        "ods",
        {"family": "poisson"},
        seconds=_ods,
    ),
    "ods-nb": Method(
        "ODS, NB",
        "ODS with every node taken as negative binomial of one known size, 6 unless changed.",
        "ods",
        {"family": "nb"},
        seconds=_ods,
    ),
    "ods-binomial": Method(
        "ODS, binomial",
        "ODS with every node taken as binomial; its number of trials is the column's largest count unless changed.",
        "ods",
        {"family": "binomial"},
        seconds=_ods,
    ),
    "ods-oracle": Method(
        "ODS, families given",
        "ODS told the family of each node with its parameter; nodes without one are taken as Poisson.",
        "ods",
        seconds=_ods,
    ),
    "mrs": Method(
        "MRS, Poisson",
        "Takes every node as Poisson given its parents, and places the node next whose second moment exceeds its mean "
        "squared the least; parents by CAM among pairs with a partial correlation.",
        "mrs",
        {"family": "poisson"},
        seconds=_mrs,
    ),
    "mrs-nb": Method(
        "MRS, NB",
        "MRS with every node taken as negative binomial of one known size; the order is that of the Poisson, since its "
        "ratios are all divided by one number.",
        "mrs",
        {"family": "nb"},
        seconds=_mrs,
    ),
    "mrs-binomial": Method(
        "MRS, binomial",
        "MRS with every node taken as binomial; its number of trials is the column's largest count unless changed.",
        "mrs",
        {"family": "binomial"},
        seconds=_mrs,
    ),
    "mrs-hyper-poisson": Method(
        "MRS, hyper-Poisson",
        "MRS with every node taken as hyper-Poisson of one known b, 2 unless changed, for counts that vary more.",
        "mrs",
        {"family": "hyper-poisson"},
        seconds=_mrs,
    ),
    "boss": Method(
        "BOSS",
        "A search over orders by the BIC of linear Gaussian models of log counts; gives a class of graphs, no order.",
        "general",
        {"algorithm": "boss"},
        seconds=lambda rows, nodes: 1e-3 * nodes**2,
        **_CAUSAL_LEARN,
    ),
    "grasp": Method(
        "GRaSP",
        "BOSS with a search that turns edges instead of moving single nodes; gives a class of graphs, no order.",
        "general",
        {"algorithm": "grasp"},
        seconds=lambda rows, nodes: 1e-3 * nodes**2,
        **_CAUSAL_LEARN,
    ),
    "pc": Method(
        "PC",
        "Removes edges by tests of partial correlation of log counts; gives a class of graphs, no order.",
        "general",
        {"algorithm": "pc"},
        seconds=lambda rows, nodes: 1.6e-4 * nodes**3,
        **_CAUSAL_LEARN,
    ),
    "ges": Method(
        "GES",
        "A search over classes of graphs by the BIC of linear Gaussian models of log counts; slow beyond 50 nodes.",
        "general",
        {"algorithm": "ges"},
        seconds=lambda rows, nodes: 1.3e-7 * nodes**5,
        **_CAUSAL_LEARN,
    ),
    "lingam": Method(
        "DirectLiNGAM",
        "Assumes that log counts depend linearly on log counts, with errors that are not normal; gives an order.",
        "general",
        {"algorithm": "lingam"},
        seconds=lambda rows, nodes: 1.6e-8 * rows * nodes**3,
        **_CAUSAL_LEARN,
    ),
    "notears": Method(
        "NOTEARS-MLP",
        "Neural networks predict every log count from the others under a penalty on cycles; slow beyond 20 nodes.",
        "notears",
        seconds=lambda rows, nodes: 3 + 1.4e-4 * rows * nodes**2,
        package="gcastle",
        imports="castle",
    ),
    "search-poisson": Method(
        "search, Poisson",
        "Our search over orders by the BIC of Poisson regressions on log counts; a control for the family-free one.",
        "parametric",
        {"family": "poisson"},
        seconds=lambda rows, nodes: 4e-5 * rows * nodes,
        knowledge=True,
    ),
    "search-nb": Method(
        "search, negative binomial",
        "Our search over orders by the BIC of negative binomial regressions on log counts, each with its own size.",
        "parametric",
        {"family": "nb"},
        seconds=lambda rows, nodes: 6e-5 * rows * nodes,
        knowledge=True,
    ),
    "search-zinb": Method(
        "search, zero-inflated NB",
        "Our search over orders by the BIC of zero-inflated negative binomial regressions on log counts.",
        "parametric",
        {"family": "zinb"},
        seconds=lambda rows, nodes: 1e-4 * rows * nodes,
        knowledge=True,
    ),
    "search-binomial": Method(
        "search, binomial",
        "Our search over orders by the BIC of binomial regressions on log counts, out of each column's largest count.",
        "parametric",
        {"family": "binomial"},
        seconds=lambda rows, nodes: 5e-5 * rows * nodes,
        knowledge=True,
    ),
    "diffan": Method(
        "DiffAN",
        "Removes the node whose log density, as a diffusion network learns it, has the most even curvature; sound if "
        "noise is additive and normal; parents by CAM.",
        "diffan",
        seconds=lambda rows, nodes: _trained(rows, nodes, 3000) + 6e-11 * rows * nodes**2 * _weights(nodes),
        numbers=True,
    ),
    "disco-cont": Method(
        "DISCO-Cont",
        "Our criterion on continuous columns: removes the node whose curvature depends least on the other columns; "
        "parents by CAM.",
        "cont",
        seconds=lambda rows, nodes: 1.2 * _trained(rows, nodes, 1000) + 2e-6 * rows * nodes**2,
        numbers=True,
    ),
}
