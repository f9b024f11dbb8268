"""The refinement on designs whose directions can be known, or cannot: what it decides, and how often that is true.

    python -m benchmarks.unknown                        # what results/unknown.jsonl lacks
    python -m benchmarks.unknown --only "bimodal" --results /tmp/trial.jsonl
    python -m benchmarks.unknown --summary              # of the lines there are

One line a table: design, rows, seed, the true edges with what can be known of each (`disco.simulate.known`), and all of
the refined edges, so that other rules of decision can be read from the same lines. No bootstrap, no folds.
"""

import argparse
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paper_results import append_line, lines
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate
from disco.simulate.known import UNKNOWN

RESULTS = Path(__file__).parent / "results" / "unknown.jsonl"
ROWS = (1000, 5000)
SPREADS = (1, 2, 3, 5)
THREE = {"Poisson": "poisson-softplus", "NB": "nb-softplus", "binomial": "binomial-sigmoid"}

Line = dict[str, Any]


def _pair(family: str, **more: Any) -> Design:
    return Design(graph="chain", nodes=2, family=family, **more)


def _designs() -> dict[str, tuple[Design, int]]:
    """Every design by its name, without rows and seed, and how many seeds are drawn."""
    found = {f"affine pair, spread {spread}": (_pair("discrete-normal", spread=spread), 10) for spread in SPREADS}
    for shape, seeds in (("family", 10), ("bimodal", 30), ("trimodal", 10), ("heaped", 10), ("zero-inflated", 10)):
        name = "plain" if shape == "family" else shape
        found[f"{name} pair, affine"] = (_pair("poisson-log", sources=shape), seeds)
        seeds = 30 if shape == "trimodal" else seeds
        found[f"{name} pair, softplus"] = (_pair("poisson-softplus", sources=shape), seeds)
    for nodes in (3, 4, 5):
        found[f"complete binary, d = {nodes}"] = (Design(graph="complete", nodes=nodes, family="ising"), 10)
    found["binomial chain, affine"] = (Design(graph="chain", nodes=5, family="binomial-logit"), 10)
    for name, family in THREE.items():
        found[f"ER3 {name}"] = (Design(k=3, family=family), 3)
        found[f"ER1 {name}"] = (Design(k=1, family=family), 3)
        found[f"SF2 {name}"] = (Design(graph="sf", k=2, family=family), 3)
        found[f"ER3 {name}, spread 5"] = (Design(k=3, family=family, spread=5), 3)
    found["ER3 Poisson, unsortable"] = (Design(k=3, unsortable=True), 3)
    for shape in ("bimodal", "heaped", "zero-inflated"):
        found[f"ER2 Poisson, {shape} sources"] = (Design(k=2, sources=shape), 3)
    return found


DESIGNS = _designs()


def jobs(names: Iterable[str] = DESIGNS) -> Iterator[tuple[str, Design]]:
    """Every table that is asked for: the name of its design, and the design with rows and seed."""
    for name in names:
        design, seeds = DESIGNS[name]
        for rows in ROWS:
            yield from ((name, design.replace(rows=rows, seed=seed)) for seed in range(seeds))


def key(line: Line) -> tuple[str, int, int]:
    """What makes two lines the same table's; the later one counts."""
    return line["design"], line["rows"], line["seed"]


def kept(path: Path) -> dict[tuple[str, int, int], Line]:
    """The lines of a file by key."""
    return {key(line): line for line in lines(path.read_bytes())} if path.exists() else {}


def measure(name: str, design: Design) -> Line:
    """A table's line."""
    drawn = simulate(design)
    began = time.perf_counter()
    found = refine(drawn.table, Choice(bootstrap=0, folds=0))
    seconds = time.perf_counter() - began
    edges = found.edges.astype(object).where(found.edges.notna(), None)  # JSON has no NaN
    return {
        "design": name,
        "rows": design.rows,
        "seed": design.seed,
        "seconds": round(seconds, 2),
        "f1": f1(drawn.truth, found.edges) if len(found.edges) else 0.0,
        "spreads": {column: round(float(sd), 3) for column, sd in drawn.table.std().items()},
        "truth": drawn.truth.to_numpy().tolist(),
        "order": found.order,
        "edges": edges.to_dict("records"),
    }


@dataclass
class Tally:
    """What became of the edges of some tables.

    Attributes:
        true, wrong, unknown, none: decided edges in the true direction, against it, of which it cannot be known, and
            between nodes that no edge joins.
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
        for edge in line["edges"]:
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
        """Of the decided edges those in the true direction; None where none is decided."""
        decided = self.true + self.wrong + self.unknown + self.none
        return self.true / decided if decided else None


HEAD = ("design", "rows", "tables", "true edges", "decided, true", "wrong", "no such edge", "cannot be known")
HEAD += ("undecided", "true of decided", "F1", "seconds")


def table(found: Iterable[Line]) -> str:
    """Markdown: what was decided, one row a design and number of rows."""
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


def towards_truth(line: Line) -> list[float]:
    """direction_nats of each edge that joins a true pair, negative where the edge is turned."""
    true = {(parent, child) for parent, child, _ in line["truth"]}
    found = []
    for edge in line["edges"]:
        pair = edge["parent"], edge["child"]
        if edge["direction_nats"] is not None and (pair in true or pair[::-1] in true):
            found.append(edge["direction_nats"] * (1 if pair in true else -1))
    return found


def by_spread(found: Iterable[Line]) -> str:
    """Markdown: the direction evidence of affine pairs, of which there is none, by the spread of child over parent."""
    nats: dict[tuple[float, int], list[float]] = {}
    powers = [power for spread in SPREADS for power in (spread, 1 / spread)]
    for line in found:
        if line["design"].startswith("affine pair"):
            ((parent, child, _),) = line["truth"]
            ratio = line["spreads"][child] / line["spreads"][parent]
            nearest = min(powers, key=lambda at: abs(ratio / at - 1))
            nats.setdefault((nearest, line["rows"]), []).extend(towards_truth(line))
    head = ("spread of child over parent", "rows", "edges", "mean nats towards the truth", "least", "most")
    grid = [head, ("---",) * len(head)]
    for (ratio, rows), values in sorted(nats.items()):
        figures = [f"{at:+.2f}" for at in (statistics.fmean(values), min(values), max(values))] if values else [""] * 3
        grid.append((f"{ratio:.2g}", f"{rows}", f"{len(values)}", *figures))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def main() -> None:
    """Measure what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="designs whose names begin so")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of these alone")
    parser.add_argument("--seeds", type=int, help="at most so many a design")
    parser.add_argument("--again", action="store_true", help="also those that have a line")
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
    print(table(found), by_spread(found), sep="\n\n")


if __name__ == "__main__":
    main()
