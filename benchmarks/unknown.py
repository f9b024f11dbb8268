"""The refinement on designs whose directions can or cannot be known: the directions it decides, and how many are true.

    python -m benchmarks.unknown                        # the tables that results/unknown.jsonl lacks
    python -m benchmarks.unknown --only "bimodal" --results /tmp/trial.jsonl
    python -m benchmarks.unknown --summary              # of the existing lines

One line per table: design, rows, seed, the true edges with what can be known of each (`disco.simulate.known`), and all
refined edges, so that other decision rules can be read from the same lines. No bootstrap, no folds.
"""

import argparse
import math
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.paper_results import append_line, lines
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate
from disco.simulate.known import UNKNOWN

RESULTS = Path(__file__).parent / "results" / "unknown.jsonl"
ROWS = (1000, 5000)
SPREADS = (1, 2, 3, 5)
PAIRS = 6
THREE = {"Poisson": "poisson-softplus", "NB": "nb-softplus", "binomial": "binomial-sigmoid"}

Line = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A design without rows and seed, the number of seeds, and the pair that is added to it `PAIRS` times.

    What is fitted to the whole table, such as the prior, can reveal the direction of a pair that does not itself.
    """

    design: Design
    seeds: int
    pair: Design | None = None


def _pair(family: str, **more: Any) -> Design:
    return Design(graph="chain", nodes=2, family=family, **more)


def _designs() -> dict[str, Case]:
    """Every case by its name."""
    affine = {spread: _pair("discrete-normal", spread=spread) for spread in SPREADS}
    found = {f"affine pair, spread {spread}": Case(pair, 10) for spread, pair in affine.items()}
    for shape, seeds in (("family", 10), ("bimodal", 30), ("trimodal", 30), ("heaped", 10), ("zero-inflated", 10)):
        name = "plain" if shape == "family" else shape
        found[f"{name} pair, affine"] = Case(_pair("poisson-log", sources=shape), seeds)
        found[f"{name} pair, softplus"] = Case(_pair("poisson-softplus", sources=shape), seeds)
    for nodes in (3, 4, 5):
        found[f"complete binary, d = {nodes}"] = Case(Design(graph="complete", nodes=nodes, family="ising"), 10)
    found["binomial chain, affine"] = Case(Design(graph="chain", nodes=5, family="binomial-logit"), 10)
    for name, family in THREE.items():
        found[f"ER3 {name}"] = Case(Design(k=3, family=family), 3)
        found[f"ER1 {name}"] = Case(Design(k=1, family=family), 3)
        found[f"SF2 {name}"] = Case(Design(graph="sf", k=2, family=family), 3)
        found[f"ER3 {name}, spread 5"] = Case(Design(k=3, family=family, spread=5), 3)
    for name in ("Poisson", "NB"):
        for spread, pair in affine.items():
            found[f"affine pairs beside ER3 {name}, spread {spread}"] = Case(Design(k=3, family=THREE[name]), 3, pair)
    found["ER3 Poisson, unsortable"] = Case(Design(k=3, unsortable=True), 3)
    for shape in ("bimodal", "heaped", "zero-inflated"):
        found[f"ER2 Poisson, {shape} sources"] = Case(Design(k=2, sources=shape), 3)
    return found


DESIGNS = _designs()

SECTION = """
# Directions that can and cannot be known

Not in the paper: which directions the refinement decides on simulated tables of the model class, without bootstrap.
`disco/simulate/known.py` says which directions can be known, and why. Where a direction cannot be known, *undecided* is
the right answer, and any decision is an error. *True of decided*: the share of all decided edges whose direction is
true and can be known. `python -m benchmarks.unknown`
"""


def drawn(name: str, design: Design) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of a case, from its design with rows and seed, and its true edges."""
    whole, pair = simulate(design), DESIGNS[name].pair
    tables, truths = [whole.table], [whole.truth]
    for number in range(1, PAIRS + 1) if pair else ():
        one = simulate(pair.replace(rows=design.rows, seed=1000 * design.seed + number))
        called = {column: f"pair{number}{column}" for column in one.table}
        tables.append(one.table.rename(columns=called))
        truths.append(one.truth.assign(**{end: one.truth[end].map(called) for end in ("parent", "child")}))
    return pd.concat(tables, axis=1), pd.concat(truths, ignore_index=True)


def jobs(names: Iterable[str] = DESIGNS) -> Iterator[tuple[str, Design]]:
    """Every requested table: the name of its design, and the design with rows and seed."""
    for name in names:
        case = DESIGNS[name]
        for rows in ROWS:
            yield from ((name, case.design.replace(rows=rows, seed=seed)) for seed in range(case.seeds))


def key(line: Line) -> tuple[str, int, int]:
    """The key of a table's line; of lines with the same key, the last one counts."""
    return line["design"], line["rows"], line["seed"]


def kept(path: Path) -> dict[tuple[str, int, int], Line]:
    """The lines of a file by key."""
    return {key(line): line for line in lines(path.read_bytes())} if path.exists() else {}


def measure(name: str, design: Design) -> Line:
    """Refine one table and return its line."""
    table, truth = drawn(name, design)
    began = time.perf_counter()
    found = refine(table, Choice(bootstrap=0, folds=0))
    seconds = time.perf_counter() - began
    return {
        "design": name,
        "rows": design.rows,
        "seed": design.seed,
        "seconds": round(seconds, 2),
        "f1": round(f1(truth, found.edges), 4),
        "spreads": {column: round(float(sd), 3) for column, sd in table.std().items()},
        "truth": truth.to_numpy().tolist(),
        "order": found.order,
        "edges": {column: [_plain(value) for value in values] for column, values in found.edges.items()},
    }


def _plain(value: Any) -> Any:
    """A value for JSON, numbers with four digits; None if not available."""
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.4g}")
    return bool(value) if isinstance(value, np.bool_) else value


def edges_of(line: Line) -> list[dict[str, Any]]:
    """The refined edges of a line, one dictionary per edge."""
    columns = line["edges"]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


@dataclass
class Tally:
    """Counts of the edges of some tables.

    Attributes:
        true, wrong, unknown, none: decided edges in the true direction, against it, whose direction cannot be known,
            and between nodes that are not adjacent.
        undecided: edges that are not decided.
        edges: true edges.
    """

    true: int = 0
    wrong: int = 0
    unknown: int = 0
    none: int = 0
    undecided: int = 0
    edges: int = 0

    def add(self, line: Line) -> None:
        """Count a line's edges."""
        known = {(parent, child): direction for parent, child, direction in line["truth"]}
        self.edges += len(known)
        for edge in edges_of(line):
            pair = edge["parent"], edge["child"]
            direction = known.get(pair, known.get(pair[::-1]))
            if not edge["decided"]:
                self.undecided += 1
            elif direction is None:
                self.none += 1
            elif direction == UNKNOWN:
                self.unknown += 1
            elif pair in known:
                self.true += 1
            else:
                self.wrong += 1

    @property
    def share(self) -> float | None:
        """The share of decided edges in the true direction; None if none is decided."""
        decided = self.true + self.wrong + self.unknown + self.none
        return self.true / decided if decided else None


HEAD = ("design", "rows", "tables", "true edges", "decided, true", "wrong", "no such edge", "cannot be known")
HEAD += ("undecided", "true of decided", "F1", "seconds")


def decisions(found: Iterable[Line]) -> str:
    """Markdown: what was decided, one row per design and number of rows."""
    groups: dict[tuple[str, int], list[Line]] = {}
    for line in found:
        groups.setdefault((line["design"], line["rows"]), []).append(line)
    places = {name: place for place, name in enumerate(DESIGNS)}
    grid = [HEAD, ("---",) * len(HEAD)]
    for (name, rows), group in sorted(groups.items(), key=lambda item: (places.get(item[0][0], 999), item[0][1])):
        tally = Tally()
        for line in group:
            tally.add(line)
        share = "" if tally.share is None else f"{tally.share:.0%}"
        counts = (tally.true, tally.wrong, tally.none, tally.unknown, tally.undecided)
        means = (f"{statistics.fmean(line[name] for line in group):.2f}" for name in ("f1", "seconds"))
        grid.append((name, f"{rows}", f"{len(group)}", f"{tally.edges}", *map(str, counts), share, *means))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def towards_truth(line: Line) -> Iterator[tuple[float, float]]:
    """For each edge of a pair that cannot be known: the spread of child over parent, and direction_nats, negative if
    the edge is reversed."""
    unknown = {(parent, child) for parent, child, direction in line["truth"] if direction == UNKNOWN}
    for edge in edges_of(line):
        for parent, child in ((edge["parent"], edge["child"]), (edge["child"], edge["parent"])):
            if (parent, child) in unknown and edge["direction_nats"] is not None:
                sign = 1 if parent == edge["parent"] else -1
                yield line["spreads"][child] / line["spreads"][parent], sign * edge["direction_nats"]


def by_spread(found: Iterable[Line]) -> str:
    """Markdown: direction evidence of affine pairs, which should have none, by the spread of child over parent."""
    powers = [power for spread in SPREADS for power in (spread, 1 / spread)]
    nats: dict[tuple[str, float, int], list[float]] = {}
    for line in found:
        name, comma, _ = line["design"].partition(", spread ")
        if comma and name.startswith("affine pair"):
            for ratio, value in towards_truth(line):
                nearest = min(powers, key=lambda at: abs(math.log(ratio / at)))
                nats.setdefault((name, nearest, line["rows"]), []).append(value)
    head = ("design", "spread of child over parent", "rows", "edges", "mean nats for the truth", "least", "most")
    grid = [head, ("---",) * len(head)]
    for (name, ratio, rows), values in sorted(nats.items()):
        figures = [f"{at:+.2f}" for at in (statistics.fmean(values), min(values), max(values))]
        grid.append((name, f"{ratio:.2g}", f"{rows}", f"{len(values)}", *figures))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def section(path: Path = RESULTS) -> str:
    """The tables of a file's lines, as a file of benchmarks/paper/."""
    found = list(kept(path).values())
    return "\n\n".join([SECTION.strip(), *([decisions(found), by_spread(found)] if found else ["Not run yet."])])


def main() -> None:
    """Measure what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="only designs whose names start with one of these")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="only these numbers of rows")
    parser.add_argument("--seeds", type=int, help="most seeds per design")
    parser.add_argument("--again", action="store_true", help="also tables that have a line")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    names = [name for name in DESIGNS if not options.only or name.startswith(tuple(options.only))]
    done = kept(options.results)
    for name, design in () if options.summary else jobs(names):
        wanted = design.rows in options.rows and (options.seeds is None or design.seed < options.seeds)
        if wanted and (options.again or (name, design.rows, design.seed) not in done):
            line = measure(name, design)
            append_line(options.results, line)
            print(f"{name}, {design.rows} rows, seed {design.seed}: {line['seconds']} s", flush=True)
    found = [line for line in kept(options.results).values() if line["design"] in names]
    print(decisions(found), by_spread(found), sep="\n\n")


if __name__ == "__main__":
    main()
