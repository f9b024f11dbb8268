"""The case *contexts* of `benchmarks.experiments`: two contexts with effects and one without, assigned by chance.

*refined* finds what each context acts on, and directions with that. *covariates* is the same with the contexts as
covariates, which gives no direction. *gnies* has every combination of levels as an environment, on log(1 + x): it
names the nodes on which any of them acts.
"""

import signal
import statistics
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from disco.methods.general import standardised
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, Simulated, simulate
from disco.table.adjustment import CATEGORICAL

NAME = "contexts"
METHODS = ("refined", "covariates", "gnies")
LIMIT = 300  # seconds for GnIES on one table

Line = dict[str, Any]
Pairs = list[tuple[str, str]]

_TWO_AND_ONE = {"contexts": 2, "idle_contexts": 1, "context_levels": 2, "rows": 5000, "nodes": 20}
DESIGNS = {
    "Poisson ER2": Design(k=2, family="poisson-softplus", **_TWO_AND_ONE),
    "NB ER2": Design(k=2, family="nb-softplus", **_TWO_AND_ONE),
    "NB ER2, effects of .1": Design(k=2, family="nb-softplus", context_effect=0.1, **_TWO_AND_ONE),
    "Poisson tree, log link": Design(family="poisson-log", **_TWO_AND_ONE),
    "binomial tree, logit link": Design(family="binomial-logit", **_TWO_AND_ONE),
}
CASES = tuple(f"{NAME}, {name}" for name in DESIGNS)


def drawn(case: str, seed: int) -> Simulated:
    """The table of a design; that of a tree, on a random one without colliders."""
    design = DESIGNS[case.removeprefix(f"{NAME}, ")].replace(seed=seed)
    if "tree" in case:
        rng, names = np.random.default_rng(seed), design.names
        edges = [(names[rng.integers(child)], names[child]) for child in range(1, design.nodes)]
        design = design.replace(graph="own", edges=edges)
    return simulate(design)


def measure(case: str, method: str, seed: int) -> Line:
    """Effects of contexts and directions that a method finds on one table; `failed` if it takes too long."""
    made = drawn(case, seed)
    if method == "gnies":
        return _gnies(made)
    roles = made.design.roles()
    assert roles is not None
    if method == "covariates":
        roles = type(roles)(dict.fromkeys(roles.columns, ("covariate", CATEGORICAL)))
    found = refine(made.whole, Choice(bootstrap=0, folds=0), roles=roles)
    line = _directions(made, found.found.directed, found.edges[["parent", "child"]])
    if method == "covariates":
        return line
    acts = found.contexts
    assert acts is not None
    pairs = dict.fromkeys(zip(acts["context"], acts["node"], strict=True))
    return line | _effects(made, list(pairs)) | _nodes(made, {node for _, node in pairs})


def _directions(made: Simulated, sure: Pairs, joined: pd.DataFrame) -> Line:
    """The pairs with a direction, and whether each is a true edge; F1 of the likelier directions."""
    truth = set(zip(made.truth["parent"], made.truth["child"], strict=True))
    told = [[*pair, int(pair in truth) - int(pair[::-1] in truth)] for pair in sure]
    return {"edges": len(truth), "decided": told, "f1": round(f1(made.truth, joined), 4)}


def _effects(made: Simulated, found: Pairs) -> Line:
    """The effects of contexts: how many there are, those found, and of the others, those downstream of an effect."""
    true = set(zip(made.context_edges["parent"], made.context_edges["child"], strict=True))
    graph = nx.DiGraph([*true, *zip(made.truth["parent"], made.truth["child"], strict=True)])
    false = [pair for pair in found if pair not in true]
    behind = sum(pair[0] in graph and pair[1] in nx.descendants(graph, pair[0]) for pair in false)
    return {"effects": len(true), "found": len(found), "right": len(found) - len(false), "behind": behind}


def _nodes(made: Simulated, found: set[str]) -> Line:
    """The nodes on which any context acts: how many there are, those found, and those found rightly."""
    true = set(made.context_edges["child"])
    return {"nodes": len(true), "nodes_found": len(found), "nodes_right": len(found & true)}


def _gnies(made: Simulated) -> Line:
    """GnIES with every combination of levels as an environment."""
    import gnies

    values = standardised(made.table, "GnIES")
    environment = made.beside.groupby(list(made.beside)).ngroup().to_numpy()
    environments = [values[environment == number] for number in range(environment.max() + 1)]
    try:
        with limited(LIMIT):
            _, graph, targets = gnies.fit(environments, approach="rank", center=False)
    except (TimeoutError, np.linalg.LinAlgError, ValueError, ZeroDivisionError) as error:
        return {"failed": str(error)}
    names, there = made.table.columns, graph != 0
    sure = [(names[i], names[j]) for i, j in np.argwhere(there & ~there.T)]
    joined = pd.DataFrame([(names[i], names[j]) for i, j in np.argwhere(there)], columns=["parent", "child"])
    return _directions(made, sure, joined) | _nodes(made, {names[node] for node in targets})


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"did not end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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


def table(found: Iterable[Line]) -> str:
    """Markdown: one row per case and method, from lines with a case and a method."""
    groups: dict[tuple[str, str], dict[int, Line]] = {}
    for line in found:
        groups.setdefault((line["case"], line["method"]), {})[line["seed"]] = line
    rows, failed = [HEAD, ("---",) * len(HEAD)], []
    for case in CASES:
        for method in METHODS:
            group = groups.get((case, method), {})
            failed += [
                f"- {case}, {method}, seed {seed}: {one['failed']}." for seed, one in group.items() if "failed" in one
            ]
            ended = {seed: one for seed, one in group.items() if "failed" not in one}
            if ended:
                rows.append((case, method, str(len(ended)), *_cells(ended, groups.get((case, "covariates"), {}))))
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join([ABOUT.strip(), "", *lines, *(["", "Not ended:", "", *failed] if failed else [])])


def _cells(ended: dict[int, Line], without: dict[int, Line]) -> tuple[str, ...]:
    """The cells of a case and a method after their number of tables; `without` has the tables with covariates."""

    def total(name: str) -> str:
        return str(sum(line[name] for line in ended.values())) if all(name in line for line in ended.values()) else ""

    decided = [told for line in ended.values() for told in line["decided"]]
    thanks = [
        told
        for seed, line in ended.items()
        if seed in without and "effects" in line
        for told in line["decided"]
        if told not in without[seed]["decided"]
    ]
    is_ours = any("effects" in line for line in ended.values())
    quality, seconds = (statistics.fmean(line[name] for line in ended.values()) for name in ("f1", "seconds"))
    return (
        *(
            total(name)
            for name in ("effects", "found", "right", "behind", "nodes", "nodes_found", "nodes_right", "edges")
        ),
        *(str(len(decided)), str(_of(decided, 1)), str(_of(decided, -1))),
        *((str(len(thanks)), str(_of(thanks, 1))) if is_ours else ("", "")),
        *(f"{quality:.3f}", f"{seconds:.1f}"),
    )


def _of(told: list[list[Any]], sign: int) -> int:
    return sum(one[2] == sign for one in told)
