"""The cases of contexts of `benchmarks.experiments`: two contexts with effects and one without, assigned by chance.

*refined* finds what each context acts on, and directions with that. *covariates* is the same with the contexts as
covariates, which gives no direction. *gnies* has every combination of levels as an environment, on log(1 + x): it
names the nodes on which any of them acts; its lines are from commit 327893a2.
"""

import statistics
from collections.abc import Iterable, Iterator

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.study import Line, grouped, markdown, total
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, Simulated, simulate
from disco.table.adjustment import CATEGORICAL

METHODS = ("refined", "covariates")
Pairs = list[tuple[str, str]]

_THREE = {"contexts": 2, "idle_contexts": 1, "context_levels": 2, "rows": 5000, "nodes": 20}
DESIGNS = {
    "contexts, Poisson ER2": Design(k=2, family="poisson-softplus", **_THREE),
    "contexts, NB ER2": Design(k=2, family="nb-softplus", **_THREE),
    "contexts, NB ER2, effects of .1": Design(k=2, family="nb-softplus", context_effect=0.1, **_THREE),
    "contexts, Poisson tree, log link": Design(family="poisson-log", **_THREE),
    "contexts, binomial tree, logit link": Design(family="binomial-logit", **_THREE),
}
CASES = tuple(DESIGNS)


def on_tree(design: Design, seed: int) -> Design:
    """The design on a random tree without colliders, in which each node's parent is a random earlier one."""
    rng, names = np.random.default_rng(seed), design.names
    edges = [(names[rng.integers(child)], names[child]) for child in range(1, design.nodes)]
    return design.replace(graph="own", edges=edges)


def draw(case: str, seed: int) -> Simulated:
    """The table of a case."""
    design = DESIGNS[case].replace(seed=seed)
    return simulate(on_tree(design, seed) if "tree" in case else design)


def measure(case: str, method: str, seed: int) -> Line:
    """Effects of contexts and directions that a method finds on one table."""
    drawn = draw(case, seed)
    roles = drawn.design.roles()
    assert roles is not None
    if method == "covariates":
        roles = type(roles)(dict.fromkeys(roles.columns, ("covariate", CATEGORICAL)))
    result = refine(drawn.whole, Choice(bootstrap=0, folds=0), roles=roles)
    line = _directions(drawn, result.found.directed, result.edges[["parent", "child"]])
    if method == "covariates":
        return line
    acts = result.contexts
    assert acts is not None
    pairs = dict.fromkeys(zip(acts["context"], acts["node"], strict=True))
    return line | _effects(drawn, list(pairs)) | _nodes(drawn, {node for _, node in pairs})


def _directions(drawn: Simulated, sure: Pairs, joined: pd.DataFrame) -> Line:
    """The pairs with a direction, and whether each is a true edge; F1 of the likelier directions."""
    truth = set(zip(drawn.truth["parent"], drawn.truth["child"], strict=True))
    decided = [[*pair, int(pair in truth) - int(pair[::-1] in truth)] for pair in sure]
    return {"edges": len(truth), "decided": decided, "f1": round(f1(drawn.truth, joined), 4)}


def _effects(drawn: Simulated, pairs: Pairs) -> Line:
    """The effects of contexts: how many exist, how many were found, and of the false ones, those behind an effect."""
    true = set(zip(drawn.context_edges["parent"], drawn.context_edges["child"], strict=True))
    graph = nx.DiGraph([*true, *zip(drawn.truth["parent"], drawn.truth["child"], strict=True)])
    false = [pair for pair in pairs if pair not in true]
    behind = sum(pair[0] in graph and pair[1] in nx.descendants(graph, pair[0]) for pair in false)
    return {"effects": len(true), "found": len(pairs), "right": len(pairs) - len(false), "behind": behind}


def _nodes(drawn: Simulated, nodes: set[str]) -> Line:
    """The nodes on which any context acts: how many exist, were found, and were found rightly."""
    true = set(drawn.context_edges["child"])
    return {"nodes": len(true), "nodes_found": len(nodes), "nodes_right": len(nodes & true)}


HEAD = ("case", "method", "tables", "effects", "found", "true", "behind one", "nodes", "found", "true")
HEAD += ("edges", "decided", "true", "reversed", "thanks to contexts", "true", "F1", "seconds")

ABOUT = """
## Contexts

5,000 rows of 20 nodes with two contexts that act on four nodes each and one that acts on none, two levels each,
assigned by chance. *Effects*: pairs of a context and a node on which it acts; *behind one*: found, but acting only
through other nodes. *Nodes*: those on which any context acts, which is all that GnIES says. *Thanks to contexts*:
directions that are open, or not found, with the contexts as covariates. In the trees no direction can be known without
contexts. GnIES has every combination of levels as an environment.
"""


def table(measured: Iterable[Line]) -> str:
    """Markdown: one row per case and method."""
    lines, order = list(measured), (*CASES, *METHODS, "gnies")
    groups = grouped((line for line in lines if "failed" not in line), ("case", "method"), order)
    rows = [(*key, len(group), *_cells(group, groups.get((key[0], "covariates"), []))) for key, group in groups.items()]
    return "\n\n".join([ABOUT.strip(), markdown(HEAD, rows), *failures(lines, order)])


def failures(lines: list[Line], order: Iterable[str]) -> list[str]:
    """The lines of methods that did not end, as Markdown."""
    groups = grouped((line for line in lines if "failed" in line), ("case", "method"), order)
    failed = [
        f"- {case}, {method}, seed {line['seed']}: {line['failed']}."
        for (case, method), group in groups.items()
        for line in group
    ]
    return ["Not ended:", "\n".join(failed)] if failed else []


def _cells(group: list[Line], covariates: list[Line]) -> Iterator[object]:
    """The cells of a case and a method after their number of tables; `covariates` are the lines of that method."""
    for name in ("effects", "found", "right", "behind", "nodes", "nodes_found", "nodes_right", "edges"):
        yield total(group, name) if all(name in line for line in group) else ""
    decided = [pair for line in group for pair in line["decided"]]
    yield from (len(decided), _signed(decided, 1), _signed(decided, -1))
    without = {line["seed"]: line["decided"] for line in covariates}
    gained = [
        pair
        for line in group
        if line["seed"] in without and "effects" in line
        for pair in line["decided"]
        if pair not in without[line["seed"]]
    ]
    is_ours = any("effects" in line for line in group)
    yield from (len(gained), _signed(gained, 1)) if is_ours else ("", "")
    yield f"{statistics.fmean(line['f1'] for line in group):.3f}"
    yield f"{statistics.fmean(line['seconds'] for line in group):.1f}"


def _signed(decided: list[list], sign: int) -> int:
    return sum(pair[2] == sign for pair in decided)
