"""Signs of hidden causes: how many hidden causes of two nodes are flagged, and how often one is flagged that is none.

    python -m benchmarks.hidden_causes              # what results/hidden-causes.jsonl lacks
    python -m benchmarks.hidden_causes --summary    # of the existing lines

One line per table: counts of its hidden causes of two nodes that no edge joins. Only those count whose rate ratio,
between rows with the cause above its 90 % and below its 10 % quantile, is at least 1.5 in both nodes.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.experiments import kept
from benchmarks.paper_results import append_line
from disco.effects import hidden
from disco.graph import NO_SOURCE
from disco.refine import Choice, refine
from disco.refine.fitted_graphs import fitted_graphs
from disco.simulate import Design, Simulated, simulate

RESULTS = Path(__file__).parent / "results" / "hidden-causes.jsonl"
SEEDS = 20
_RATIO = 1.5
_METHOD = "refined"
_QUICK = Choice(folds=0, bootstrap=0)

Line = dict[str, Any]

_SMALL: dict[str, Any] = {"nodes": 10, "k": 2, "rows": 2000}
DESIGNS = {
    "Poisson, none": Design(**_SMALL),
    "Poisson, hidden causes": Design(latent=3, **_SMALL),
    "NB, none": Design(family="nb-softplus", **_SMALL),
    "NB, hidden causes": Design(family="nb-softplus", latent=3, **_SMALL),
    "Poisson, depth": Design(depth=0.3, **_SMALL),
    "NB, depth": Design(family="nb-softplus", depth=0.3, **_SMALL),
}
COUNTS = ("causes", "joined", "undecided", "flagged", "others", "factor")


def measure(case: str, seed: int) -> Line:
    """The counts of one table."""
    made = simulate(DESIGNS[case].replace(seed=seed))
    found = refine(made.table, _QUICK)
    told = hidden.signs(fitted_graphs(found, made.table))
    source = {frozenset(pair): of for *pair, of in found.edges[["parent", "child", "source"]].to_numpy()}
    tied = [frozenset(pair) for pair in told.ties.loc[told.ties["tied"], ["one", "other"]].to_numpy()]
    every = {frozenset(part["child"]) for _, part in made.latent_edges.groupby("parent")}
    strong = strong_pairs(made)
    return {
        "case": case,
        "method": _METHOD,
        "seed": seed,
        "causes": len(strong),
        "joined": sum(pair in source for pair in strong),
        "undecided": sum(source.get(pair) == NO_SOURCE for pair in strong),
        "flagged": sum(pair in tied for pair in strong),
        "others": sum(pair not in every for pair in tied),
        "factor": int(told.factor.is_there),
    }


def strong_pairs(made: Simulated) -> list[frozenset[str]]:
    """The pairs of nodes with a hidden cause of at least `_RATIO` in both, and without an edge."""
    joined = {frozenset(pair) for pair in made.truth[["parent", "child"]].to_numpy()}
    found = []
    for cause, part in made.latent_edges.groupby("parent"):
        values = made.hidden[cause]
        low, high = values <= values.quantile(0.1), values >= values.quantile(0.9)
        ratios = [made.table.loc[high, node].mean() / made.table.loc[low, node].mean() for node in part["child"]]
        if min(ratios) >= _RATIO and frozenset(part["child"]) not in joined:
            found.append(frozenset(part["child"]))
    return found


HEAD = ("case", "tables", "hidden causes", "found as edges", "without a direction", "flagged")
HEAD += ("tables with a false flag", "tables with one factor")
SECTION = """
## Hidden causes

Hidden causes of two nodes that no edge joins, with a rate ratio of at least 1.5 in both (between rows with the cause
above its 90 % and below its 10 % quantile); ER2 with 10 nodes, 2,000 rows, three hidden causes per table; a depth with
a standard deviation of its logarithm of .3. What the search joins by an edge leaves nothing that is tied beyond the
graph. `python -m benchmarks.hidden_causes`
"""


def table(found: Iterable[Line]) -> str:
    """Markdown: one row per case."""
    rows = [" | ".join(HEAD), " | ".join(["---"] * len(HEAD))]
    frame = pd.DataFrame(list(found))
    for case in DESIGNS:
        part = frame[frame["case"] == case]
        if part.empty:
            continue
        sums = part[list(COUNTS)].sum()
        numbers = [len(part), *(sums[name] for name in COUNTS[:4]), (part["others"] > 0).sum(), sums["factor"]]
        rows.append(" | ".join([case, *map(str, numbers)]))
    return "\n".join(f"| {row} |" for row in rows)


def section(path: Path = RESULTS) -> str:
    """The table of a file's lines, as a part of benchmarks/paper/effects.md."""
    found = list(kept(path).values())
    return "\n\n".join([SECTION.strip(), table(found) if found else "Not run yet."])


def main(arguments: list[str] | None = None) -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=range(SEEDS), help="only these seeds")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    done = kept(options.results)
    for seed in () if options.summary else options.seeds:
        for case in DESIGNS:
            if (case, _METHOD, seed) not in done:
                append_line(options.results, measure(case, seed))
    print(table(kept(options.results).values()))


if __name__ == "__main__":
    main()
