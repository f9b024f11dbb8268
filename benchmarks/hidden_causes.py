"""Signs of hidden causes: how many hidden causes of two nodes are flagged, and how often a flag is false.

    python -m benchmarks.hidden_causes              # what results/hidden-causes.jsonl lacks
    python -m benchmarks.hidden_causes --summary    # of the existing lines

One line per table: counts of its hidden causes of two nodes that no edge joins. Only those count whose rate ratio,
between rows with the cause above its 90 % and below its 10 % quantile, is at least 1.5 in both nodes.
"""

from itertools import product
from typing import Any

from benchmarks.study import Line, Study, grouped, markdown, total
from disco.columns import NO_SOURCE
from disco.effects import hidden
from disco.refine import Choice, refine
from disco.refine.fitted_graphs import fitted_graphs
from disco.simulate import Design, Simulated, simulate

SEEDS = 20
_RATIO = 1.5
_SMALL: dict[str, Any] = {"nodes": 10, "k": 2, "rows": 2000}
DESIGNS = {
    "Poisson, none": Design(**_SMALL),
    "Poisson, hidden causes": Design(latent=3, **_SMALL),
    "NB, none": Design(family="nb-softplus", **_SMALL),
    "NB, hidden causes": Design(family="nb-softplus", latent=3, **_SMALL),
    "Poisson, depth": Design(depth=0.3, **_SMALL),
    "NB, depth": Design(family="nb-softplus", depth=0.3, **_SMALL),
}


def measure(case: str, method: str, seed: int) -> Line:
    """The counts of one table."""
    drawn = simulate(DESIGNS[case].replace(seed=seed))
    result = refine(drawn.table, Choice(folds=0, bootstrap=0))
    signs = hidden.signs(fitted_graphs(result, drawn.table))
    source = {frozenset(pair): by for *pair, by in result.edges[["parent", "child", "source"]].to_numpy()}
    tied = [frozenset(pair) for pair in signs.ties.loc[signs.ties["tied"], ["one", "other"]].to_numpy()]
    true_pairs = {frozenset(edges["child"]) for _, edges in drawn.latent_edges.groupby("parent")}
    strong = strong_pairs(drawn)
    return {
        "case": case,
        "method": method,
        "seed": seed,
        "causes": len(strong),
        "joined": sum(pair in source for pair in strong),
        "undecided": sum(source.get(pair) == NO_SOURCE for pair in strong),
        "flagged": sum(pair in tied for pair in strong),
        "others": sum(pair not in true_pairs for pair in tied),
        "factor": int(signs.factor.is_there),
    }


def strong_pairs(drawn: Simulated) -> list[frozenset[str]]:
    """The pairs of nodes with a hidden cause of at least `_RATIO` in both, and without an edge."""
    joined = {frozenset(pair) for pair in drawn.truth[["parent", "child"]].to_numpy()}
    pairs = []
    for cause, edges in drawn.latent_edges.groupby("parent"):
        values, pair = drawn.hidden[cause], frozenset(edges["child"])
        low, high = values <= values.quantile(0.1), values >= values.quantile(0.9)
        ratios = [drawn.table.loc[high, node].mean() / drawn.table.loc[low, node].mean() for node in edges["child"]]
        if min(ratios) >= _RATIO and pair not in joined:
            pairs.append(pair)
    return pairs


HEAD = ("case", "tables", "hidden causes", "found as edges", "without a direction", "flagged")
HEAD += ("tables with a false flag", "tables with one factor")
SECTION = """
## Hidden causes

Hidden causes of two nodes that no edge joins, with a rate ratio of at least 1.5 in both (between rows with the cause
above its 90 % and below its 10 % quantile); ER2 with 10 nodes, 2,000 rows, three hidden causes per table; a depth with
a standard deviation of its logarithm of .3. What the search joins by an edge leaves nothing that is tied beyond the
graph. `python -m benchmarks.hidden_causes`
"""


def table(measured: list[Line]) -> str:
    """Markdown: one row per case."""
    rows = []
    for (case,), group in grouped(measured, ("case",), DESIGNS).items():
        counts = [total(group, name) for name in ("causes", "joined", "undecided", "flagged")]
        rows.append((case, len(group), *counts, sum(line["others"] > 0 for line in group), total(group, "factor")))
    return markdown(HEAD, rows)


JOBS = list(product(DESIGNS, ["refined"], range(SEEDS)))
STUDY = Study("hidden-causes", ("case", "method", "seed"), lambda: JOBS, measure, table, SECTION)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
