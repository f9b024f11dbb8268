"""ODS and MRS with the right families and with wrong ones, on simulated tables and on Lahman.

    python -m benchmarks.rivals families --nodes 50,100 --seeds 0-2     # ER3, one family per table
    python -m benchmarks.rivals mixed --nodes 100 --seeds 0-2           # the six permutations of the paper
    python -m benchmarks.rivals lasso --nodes 20 --seeds 0-2            # L1 regressions for parents, and for means
    python -m benchmarks.rivals lahman --seeds 0-2                      # q4 and raw; a seed divides the rows into folds

One line per fit in benchmarks/results/rivals.jsonl, with the sorting controls, and of Lahman also the comparison of
each two families. A table that has lines is skipped.
"""

import argparse
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import paper_engines
from benchmarks.machine import describe
from benchmarks.paper import numbers
from benchmarks.paper_results import append_line, lines
from benchmarks.paper_rivals import compared, told
from disco.methods import find
from disco.metrics import a_top, controls, evaluate
from disco.simulate import Design, Simulated, simulate
from disco.studies import lahman
from disco.table.artefacts import ARTEFACTS
from disco.table.ranks import quantile_levels

Line = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "rivals.jsonl"
ENGINE = ("disco.methods.mrs", "disco.methods.ods", "disco.simulate.sampling", "disco.metrics")

FAMILIES = {
    "Poi softplus": "poisson-softplus",
    "Poi exp": "poisson-exp",
    "NB softplus": "nb-softplus",
    "NB exp": "nb-exp",
    "Bin probit": "binomial-probit",
    "Bin sigmoid": "binomial-sigmoid",
}
MIXED = {"Poi": "poisson-softplus", "NB": "nb-softplus", "Bin": "binomial-sigmoid"}
LINKED = {"means": "glm", "rule": "min"}
SHRUNK = {"means": "lasso", "features": "raw"}
VARIANTS = ("ods-poisson", "ods-nb", "ods-binomial")


def measured(drawn: Simulated, name: str, changes: dict[str, Any] | None = None) -> Line:
    """One method on one table."""
    result = find(name, drawn.table, changes, dismissed=ARTEFACTS)
    scores = evaluate(drawn.truth, order=result.order, edges=result.edges)
    line: Line = {key: round(scores[key], 4) for key in ("a_top", "f1", "precision", "recall", "shd")}
    shown = {key: value for key, value in (changes or {}).items() if key != "families"}
    return {"method": name, "changes": shown, **line, "seconds": round(result.seconds, 1), "fits": result.notes[1]}


def families(nodes: int, seed: int) -> Iterator[Line]:
    """One family per table: ODS with the true one, by both means, and with each wrong one; MRS likewise."""
    for row, family in FAMILIES.items():
        drawn = simulate(Design(nodes=nodes, rows=5000, family=family, seed=seed))
        own = family.split("-")[0]
        trials = {"trials": 50} if own == "binomial" else {}
        tried = [("ods-oracle", told(drawn)), ("ods-oracle", {**told(drawn), "means": "glm"})]
        tried += [(name, {}) for name in VARIANTS if name != f"ods-{own}"]
        tried += [("mrs", {}), ("mrs", {"parents": "skeleton"})]
        tried += {"poisson": [], "nb": [("mrs-nb", {}), ("mrs-hyper-poisson", {})]}.get(own, [("mrs-binomial", trials)])
        yield from with_controls(drawn, row, seed, (measured(drawn, *one) for one in tried))


def mixed(nodes: int, seed: int) -> Iterator[Line]:
    """The six permutations: ODS with the true families, and with each family for all nodes; MRS."""
    for names in permutations(MIXED):
        family = ",".join(MIXED[name] for name in names)
        drawn = simulate(Design(nodes=nodes, rows=5000, family=family, seed=seed))
        tried = [("ods-oracle", told(drawn)), ("ods-oracle", {**told(drawn), "criterion": "ratio"})]
        tried += [(name, {}) for name in (*VARIANTS, "mrs")]
        yield from with_controls(drawn, "→".join(names), seed, (measured(drawn, *one) for one in tried))


def lasso(nodes: int, seed: int) -> Iterator[Line]:
    """Poisson softplus: both rules of the penalty, for parents alone and for the means too."""
    drawn = simulate(Design(nodes=nodes, rows=5000, family="poisson-softplus", seed=seed))
    tried = [
        ("ods-poisson", {"parents": "lasso", "means": means, "rule": rule, "features": features})
        for means in ("linear", "lasso")
        for rule in ("1se", "min")
        for features in ("log1p", "raw")
    ]
    yield from with_controls(drawn, "Poi softplus", seed, (measured(drawn, *one) for one in tried))


def with_controls(drawn: Simulated, row: str, seed: int, lines: Iterator[Line]) -> Iterator[Line]:
    """The lines with what they were measured on."""
    sorted_by = {name: round(value, 3) for name, value in controls(drawn.table, drawn.truth).items()}
    about = {"row": row, "nodes": len(drawn.order), "seed": seed}
    for line in lines:
        yield {**about, **line, "controls": sorted_by}


def batting(_: int, seed: int) -> Iterator[Line]:
    """Lahman 2019 to 2025, q4 and raw, under three families: agreement with R7 and R17, edges, and the pairs.

    In q4 a count that equals a quartile falls below the cut, and upwards it falls above. The binomial has the largest
    level as its number of trials, 3, or 50 as in the simulations.
    """
    raw = lahman.cohort(2019, 2025)
    q4 = pd.DataFrame(quantile_levels(raw.to_numpy(), 4), columns=raw.columns)
    cuts = raw.quantile([0.25, 0.5, 0.75]).to_numpy()
    up = pd.DataFrame({name: np.searchsorted(cut, raw[name], "right") for name, cut in zip(raw, cuts.T, strict=True)})
    yield from _fitted("q4, M = 3", q4, None, seed, ({}, LINKED))
    yield from _fitted("q4, M = 50", q4, 50, seed, ({}, LINKED))
    yield from _fitted("q4 upwards, M = 50", up, 50, seed, ({}, LINKED, SHRUNK))
    yield from _fitted("raw", raw, None, seed, ({}, LINKED, SHRUNK))


def _fitted(
    row: str, table: pd.DataFrame, trials: int | None, seed: int, tried: tuple[dict[str, Any], ...]
) -> Iterator[Line]:
    """The three families on one table of batting counts, with L1 regressions for parents."""
    for how in tried:
        changes = {"parents": "lasso", "seed": seed, **how}
        found = {name: find(name, table, {"trials": trials, **changes}, dismissed=ARTEFACTS) for name in VARIANTS}
        about = {"row": row, "seed": seed, "changes": how}
        for name, result in found.items():
            agreed = {"r7": a_top(result.order, lahman.R7), "r17": a_top(result.order, lahman.R17)}
            line = {key: round(value, 4) for key, value in agreed.items()}
            more = {"edges": len(result.edges), "seconds": round(result.seconds, 1), "fits": result.notes[1]}
            yield {**about, "method": name, **line, **more, "order": result.order}
        for one, other in combinations(VARIANTS, 2):
            yield {**about, "pair": [one, other], **compared(found[one], found[other])}


STUDIES = {"families": families, "mixed": mixed, "lasso": lasso, "lahman": batting}


def main() -> None:
    """Measure every requested table and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--nodes", type=numbers, default=[100])
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    there = list(lines(options.results.read_bytes())) if options.results.exists() else []
    done = {(line["study"], line["asked"], line["seed"]) for line in there}
    about = {"study": options.study, "engine": paper_engines.engine(ENGINE), "machine": describe()}
    for nodes in options.nodes:
        for seed in options.seeds:
            if (options.study, nodes, seed) not in done:
                for line in list(STUDIES[options.study](nodes, seed)):  # all of a table's lines, or none
                    append_line(options.results, {**about, "asked": nodes, **line})
                    print(line, flush=True)


if __name__ == "__main__":
    main()
