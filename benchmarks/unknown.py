"""The refinement on designs whose directions can or cannot be known: the directions it decides, and how many are true.

    python -m benchmarks.unknown                        # the tables that results/unknown.jsonl lacks
    python -m benchmarks.unknown --only "bimodal.*seed [0-2]$" --results /tmp/trial.jsonl
    python -m benchmarks.unknown --summary              # of the existing lines

One line per table: design, rows, seed, the true edges with what can be known of each (`disco.simulate.identifiable`),
and all refined edges, so that other decision rules can be read from the same lines. No bootstrap, no folds.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchmarks.study import COUNTS, Line, Study, compact, grouped, markdown, share, timed
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate
from disco.simulate.identifiable import UNKNOWN

ROWS = (1000, 5000)
SPREADS = (1, 2, 3, 5)
PAIRS = 6


@dataclass(frozen=True)
class DesignCase:
    """A design without rows and seed, the number of seeds, and the pair that is added to it `PAIRS` times.

    What is fitted to the whole table, such as the prior, can reveal the direction of a pair that does not itself.
    """

    design: Design
    seeds: int
    pair: Design | None = None


def _pair(family: str, **options: Any) -> Design:
    return Design(graph="chain", nodes=2, family=family, **options)


def _designs() -> dict[str, DesignCase]:
    """Every case by its name."""
    affine = {spread: _pair("discrete-normal", spread=spread) for spread in SPREADS}
    cases = {f"affine pair, spread {spread}": DesignCase(pair, 10) for spread, pair in affine.items()}
    for shape, seeds in (("family", 10), ("bimodal", 30), ("trimodal", 30), ("heaped", 10), ("zero-inflated", 10)):
        name = "plain" if shape == "family" else shape
        cases[f"{name} pair, affine"] = DesignCase(_pair("poisson-log", sources=shape), seeds)
        cases[f"{name} pair, softplus"] = DesignCase(_pair("poisson-softplus", sources=shape), seeds)
    for nodes in (3, 4, 5):
        cases[f"complete binary, d = {nodes}"] = DesignCase(Design(graph="complete", nodes=nodes, family="ising"), 10)
    cases["binomial chain, affine"] = DesignCase(Design(graph="chain", nodes=5, family="binomial-logit"), 10)
    for name, family in COUNTS.items():
        cases[f"ER3 {name}"] = DesignCase(Design(k=3, family=family), 3)
        cases[f"ER1 {name}"] = DesignCase(Design(k=1, family=family), 3)
        cases[f"SF2 {name}"] = DesignCase(Design(graph="sf", k=2, family=family), 3)
        cases[f"ER3 {name}, spread 5"] = DesignCase(Design(k=3, family=family, spread=5), 3)
    for name in ("Poisson", "NB"):
        for spread, pair in affine.items():
            cases[f"affine pairs beside ER3 {name}, spread {spread}"] = DesignCase(
                Design(k=3, family=COUNTS[name]), 3, pair
            )
    cases["ER3 Poisson, unsortable"] = DesignCase(Design(k=3, unsortable=True), 3)
    for shape in ("bimodal", "heaped", "zero-inflated"):
        cases[f"ER2 Poisson, {shape} sources"] = DesignCase(Design(k=2, sources=shape), 3)
    return cases


DESIGNS = _designs()

SECTION = """
# Directions that can and cannot be known

Not in the paper: which directions the refinement decides on simulated tables of the model class, without bootstrap.
`disco/simulate/identifiable.py` says which directions can be known, and why. Where a direction cannot be known,
*undecided* is the right answer, and any decision is an error. *True of decided*: the share of all decided edges whose
direction is true and can be known. `python -m benchmarks.unknown`
"""


def draw(name: str, design: Design) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of a case, from its design with rows and seed, and its true edges."""
    drawn, pair = simulate(design), DESIGNS[name].pair
    tables, truths = [drawn.table], [drawn.truth]
    for number in range(1, PAIRS + 1) if pair else ():
        extra = simulate(pair.replace(rows=design.rows, seed=1000 * design.seed + number))
        names = {column: f"pair{number}{column}" for column in extra.table}
        tables.append(extra.table.rename(columns=names))
        truths.append(extra.truth.assign(**{end: extra.truth[end].map(names) for end in ("parent", "child")}))
    return pd.concat(tables, axis=1), pd.concat(truths, ignore_index=True)


def jobs() -> Iterator[tuple[str, int, int]]:
    """Every table: the name of its design, the rows and the seed."""
    for name, case in DESIGNS.items():
        yield from ((name, rows, seed) for rows in ROWS for seed in range(case.seeds))


def measure(name: str, rows: int, seed: int) -> Line:
    """Refine one table and return its line."""
    table, truth = draw(name, DESIGNS[name].design.replace(rows=rows, seed=seed))
    result, seconds = timed(refine, table, Choice(bootstrap=0, folds=0))
    return {
        "design": name,
        "rows": rows,
        "seed": seed,
        "seconds": seconds,
        "f1": round(f1(truth, result.edges), 4),
        "spreads": {column: round(float(sd), 3) for column, sd in table.std().items()},
        "truth": truth.to_numpy().tolist(),
        "order": result.order,
        "edges": {column: [compact(value) for value in values] for column, values in result.edges.items()},
    }


def edges_of(line: Line) -> list[dict[str, Any]]:
    """The refined edges of a line, one dictionary per edge."""
    columns = line["edges"]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def verdicts(line: Line) -> Counter[str]:
    """A line's edges by verdict.

    Returns:
        Counts: *true*, *wrong*, *unknown* and *none* are decided edges in the true direction, against it, whose
        direction cannot be known, and between nodes that are not adjacent; *undecided*; and *edges*, the true edges.
    """
    truth = {(parent, child): direction for parent, child, direction in line["truth"]}
    counts = Counter(edges=len(truth))
    for edge in edges_of(line):
        pair = edge["parent"], edge["child"]
        direction = truth.get(pair, truth.get(pair[::-1]))
        if not edge["decided"]:
            counts["undecided"] += 1
        elif direction is None:
            counts["none"] += 1
        elif direction == UNKNOWN:
            counts["unknown"] += 1
        else:
            counts["true" if pair in truth else "wrong"] += 1
    return counts


HEAD = ("design", "rows", "tables", "true edges", "decided, true", "wrong", "no such edge", "cannot be known")
HEAD += ("undecided", "true of decided", "F1", "seconds")


def decisions(measured: Iterable[Line]) -> str:
    """Markdown: what was decided, one row per design and number of rows."""
    rows = []
    for (name, table_rows), group in grouped(measured, ("design", "rows"), DESIGNS).items():
        sums = sum((verdicts(line) for line in group), Counter[str]())
        decided = sums["true"] + sums["wrong"] + sums["none"] + sums["unknown"]
        counts = (sums[verdict] for verdict in ("edges", "true", "wrong", "none", "unknown", "undecided"))
        means = (f"{statistics.fmean(line[field] for line in group):.2f}" for field in ("f1", "seconds"))
        rows.append((name, table_rows, len(group), *counts, share(sums["true"], decided, ".0%"), *means))
    return markdown(HEAD, rows)


def towards_truth(line: Line) -> Iterator[tuple[float, float]]:
    """For each edge of a pair that cannot be known: the spread of child over parent, and direction_nats, negative if
    the edge is reversed."""
    unknown = {(parent, child) for parent, child, direction in line["truth"] if direction == UNKNOWN}
    for edge in edges_of(line):
        for parent, child in ((edge["parent"], edge["child"]), (edge["child"], edge["parent"])):
            if (parent, child) in unknown and edge["direction_nats"] is not None:
                sign = 1 if parent == edge["parent"] else -1
                yield line["spreads"][child] / line["spreads"][parent], sign * edge["direction_nats"]


def by_spread(measured: Iterable[Line]) -> str:
    """Markdown: direction evidence of affine pairs, which should have none, by the spread of child over parent."""
    powers = [power for spread in SPREADS for power in (spread, 1 / spread)]
    nats: dict[tuple[str, float, int], list[float]] = {}
    for line in measured:
        name, comma, _ = line["design"].partition(", spread ")
        if comma and name.startswith("affine pair"):
            for ratio, value in towards_truth(line):
                nearest = min(powers, key=lambda at: abs(math.log(ratio / at)))
                nats.setdefault((name, nearest, line["rows"]), []).append(value)
    rows = []
    for (name, ratio, table_rows), values in sorted(nats.items()):
        figures = [f"{at:+.2f}" for at in (statistics.fmean(values), min(values), max(values))]
        rows.append((name, f"{ratio:.2g}", table_rows, len(values), *figures))
    head = ("design", "spread of child over parent", "rows", "edges", "mean nats for the truth", "least", "most")
    return markdown(head, rows)


def tables(measured: list[Line]) -> str:
    """Both tables."""
    return "\n\n".join([decisions(measured), by_spread(measured)])


STUDY = Study("unknown", ("design", "rows", "seed"), jobs, measure, tables, SECTION)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
