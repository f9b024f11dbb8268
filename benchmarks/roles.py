"""Tables with batches, a depth, age and sex, or groups: what the engine finds without them, and with or without roles.

    python -m benchmarks.roles                                  # the lines that results/roles.jsonl lacks
    python -m benchmarks.roles --designs batches --seeds 0-2 --variants undisturbed "with its role"
    python -m benchmarks.roles --summary                        # of the existing lines

One line per design, seed and variant. *Undisturbed* is the same design without the columns: the graph and its
coefficients are the same, the counts are not. A disturbed table is read with the roles that are right for it, and
without them, as a method reads it that cannot be told.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.paper import numbers
from benchmarks.paper_results import append_line, lines
from benchmarks.paper_rivals import measured
from disco.estimator import DISCO
from disco.likelihood.model import Model
from disco.methods import find
from disco.metrics import Edges, a_top, controls, counts, f1, shd
from disco.refine import Choice, Refined, refine
from disco.simulate import Design, Simulated, simulate
from disco.table.artefacts import ARTEFACTS
from disco.table.prepared import prepare

RESULTS = Path(__file__).parent / "results" / "roles.jsonl"
_POISSON = Design(nodes=50, rows=5000, k=3)
_BOUNDED = _POISSON.replace(family="poisson-exp")  # means that a depth does not let explode from parent to child
DESIGNS = {
    "batches": _POISSON.replace(batches=3),
    "depth, rates, Poisson": _POISSON.replace(depth=0.5),
    "depth, rates, NB": _POISSON.replace(depth=0.5, family="nb-softplus"),
    "depth, counts": _BOUNDED.replace(depth=0.5, depth_causes="counts"),
    "age and sex": _POISSON.replace(age_and_sex=True),
    "groups": _POISSON.replace(groups=500),
    "three covariates": _POISSON.replace(batches=3, age_and_sex=True),
}
STEADY = 0.9  # bootstrap share from which on an edge counts as steady
EXPOSED = {"depth": "exposure"}  # of a depth whose counts cause counts: rates are the wrong reading

Line = dict[str, Any]
Key = tuple[str, str, int]


def _search(design: Design) -> Choice:
    """Groups are about the bootstrap; the other designs need none."""
    return Choice(bootstrap=50 if design.groups else 0, folds=0)


def plain(design: Design) -> Simulated:
    """The table of a design without its columns beside the counts."""
    return simulate(design.replace(batches=0, depth=0, age_and_sex=False, groups=0))


def _undisturbed(design: Design) -> Line:
    drawn = plain(design)
    return judged(drawn, refine(drawn.table, _search(design)))


def _told(design: Design) -> Line:
    drawn = simulate(design)
    found = refine(drawn.whole, _search(design), roles=design.roles())
    return judged(drawn, found) | ({"curves": coverage(drawn, found)} if design.age_and_sex else {})


def _told_an_exposure(design: Design) -> Line:
    drawn = simulate(design)
    return judged(drawn, refine(drawn.whole, _search(design), roles=EXPOSED))


def _untold(design: Design) -> Line:
    drawn = simulate(design)
    return judged(drawn, refine(drawn.table, _search(design)))


def _time(design: Design) -> Line:
    """Processor seconds of the same undisturbed counts without and with the covariates, which then explain nothing."""
    refine(simulate(Design(rows=300)).table, Choice(bootstrap=0, folds=0))  # what is compiled is compiled
    counted, beside = plain(design).table, simulate(design).beside
    seconds = []
    for table, roles in ((counted, None), (pd.concat([counted, beside], axis=1), design.roles())):
        began = time.process_time()
        refine(table, _search(design), roles=roles)
        seconds.append(time.process_time() - began)
    return {"without": round(seconds[0], 2), "ratio": round(seconds[1] / seconds[0], 3)}


def _tuned(design: Design, told: bool) -> Line:
    drawn = simulate(design) if told else plain(design)
    found = DISCO("tuned", seed=design.seed).fit(drawn.whole, roles=design.roles() if told else None)
    return _of(drawn, found.edges_, found.order_)


def _boss(drawn: Simulated) -> Line:
    read = measured(
        find("boss", drawn.table, {"seed": drawn.design.seed}, dismissed=ARTEFACTS), drawn.truth, drawn.table
    )
    return {name: read[name] for name in ("f1", "shd", "edges")}


UNDISTURBED = "undisturbed"
VARIANTS: dict[str, Callable[[Design], Line]] = {
    UNDISTURBED: _undisturbed,
    "with its role": _told,
    "as an exposure": _told_an_exposure,
    "without its role": _untold,
    "BOSS, undisturbed": lambda design: _boss(plain(design)),
    "BOSS, without its role": lambda design: _boss(simulate(design)),
    "tuned, undisturbed": lambda design: _tuned(design, told=False),
    "tuned, with its role": lambda design: _tuned(design, told=True),
    "time": _time,
}


def wanted(name: str, variant: str) -> bool:
    """Whether a variant is measured on a design."""
    if name == "three covariates":
        return variant == "time"
    if variant.startswith("tuned"):
        return name == "batches"
    return variant != "time" and (variant != "as an exposure" or name == "depth, counts")


def judged(drawn: Simulated, found: Refined) -> Line:
    """What a refinement found, and how much of what it is sure of is true."""
    edges = found.edges
    sure = {"decided": edges["decided"], "steady": edges["bootstrap"] >= STEADY}
    read = {}
    for word, chosen in sure.items():
        read |= {word: int(chosen.sum()), f"{word}_true": counts(drawn.truth, edges[chosen]).true_positives}
    return _of(drawn, edges, found.order) | read


def _of(drawn: Simulated, edges: Edges, order: list[str]) -> Line:
    return {
        "f1": round(f1(drawn.truth, edges), 4),
        "shd": shd(drawn.truth, edges),
        "a_top": round(a_top(order, drawn.truth), 4),
        "sorting": round(max(controls(drawn.table, drawn.truth).values()), 4),
        "edges": len(edges),
        "true_edges": len(drawn.truth),
    }


# Curves of covariates


def coverage(drawn: Simulated, found: Refined) -> dict[str, list[int]]:
    """Of every covariate: points of its curves that lie in their 95 % bands, and all points, over all nodes."""
    given = prepare(drawn.whole, drawn.design.roles())
    parents = {child: list(group) for child, group in found.edges.groupby("child")["parent"]}
    model = Model.of(given, parents)
    held = {}
    for covariate in given.adjustment.covariates:
        curves = ((child, model.covariate_curve(covariate.name, child)) for child in given.counts)
        inside = [within(curve, true_curve(drawn, covariate.name, child, curve["value"])) for child, curve in curves]
        held[covariate.name] = [int(np.sum([points.sum() for points in inside])), sum(map(len, inside))]
    return held


def within(curve: pd.DataFrame, truth: np.ndarray) -> np.ndarray:
    """Whether the truth lies in the band (low, high) at each point of a curve, (points,)."""
    return (curve["low"].to_numpy() <= truth) & (truth <= curve["high"].to_numpy())


def true_curve(drawn: Simulated, covariate: str, child: str, values: Iterable[Any]) -> np.ndarray:
    """The true effect at some values, less its mean over the rows, (values,)."""
    around = drawn.surroundings
    place = [column.name for column in around.columns].index(covariate)
    effects = around.columns[place].effects[:, drawn.table.columns.get_loc(child)]
    effects = effects - effects[around.codes[place]].mean()
    levels = around.columns[place].levels
    if np.issubdtype(levels.dtype, np.number):
        return np.interp(np.asarray(values, dtype=float), levels, effects)
    return pd.Series(effects, index=levels).loc[list(values)].to_numpy()


# Lines and tables


def key(line: Line) -> Key:
    """The key of a line; of lines with the same key, the last one counts."""
    return line["design"], line["variant"], line["seed"]


def kept(path: Path) -> dict[Key, Line]:
    """The lines of a file by key."""
    return {key(line): line for line in lines(path.read_bytes())} if path.exists() else {}


def jobs(names: Iterable[str], variants: Iterable[str], seeds: Iterable[int]) -> Iterator[Key]:
    """Everything to measure, all of one seed before the next."""
    names, variants = list(names), list(variants)
    for seed in seeds:
        yield from ((name, variant, seed) for name in names for variant in variants if wanted(name, variant))


def measure(name: str, variant: str, seed: int) -> Line:
    """One line."""
    began = time.perf_counter()
    read = VARIANTS[variant](DESIGNS[name].replace(seed=seed))
    return {"design": name, "variant": variant, "seed": seed, "seconds": round(time.perf_counter() - began, 1)} | read


HEAD = ("design", "variant", "seeds", "F1", "of undisturbed", "SHD", "A_top", "sorting", "decided", "true of decided")
HEAD += ("true of steady", "curves held", "seconds")


def summary(found: Iterable[Line]) -> str:
    """Markdown: means over the seeds, one row per design and variant; F1 also against the same seeds undisturbed."""
    groups: dict[tuple[str, str], dict[int, Line]] = {}
    for line in found:
        groups.setdefault((line["design"], line["variant"]), {})[line["seed"]] = line
    order = {pair: place for place, pair in enumerate((name, variant) for name in DESIGNS for variant in VARIANTS)}
    grid = [HEAD, ("---",) * len(HEAD)]
    for (name, variant), by_seed in sorted(groups.items(), key=lambda item: order.get(item[0], len(order))):
        before, comma, _ = variant.rpartition(", ")
        reference = groups.get((name, f"{before}{comma}{UNDISTURBED}"), {})
        grid.append((name, variant, str(len(by_seed)), *_cells(list(by_seed.values()), reference)))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def _cells(group: list[Line], reference: dict[int, Line]) -> Iterator[str]:
    """The figures of a row."""
    yield _mean(group, "f1", ".3f")
    paired = [line for line in group if line["seed"] in reference and "f1" in line]
    total = sum(reference[line["seed"]]["f1"] for line in paired)
    yield f"{sum(line['f1'] for line in paired) / total:.3f}" if total else ""
    yield from (_mean(group, name, form) for name, form in (("shd", ".1f"), ("a_top", ".3f"), ("sorting", ".3f")))
    yield from (_share(group, *ends) for ends in (("decided", "edges"), ("decided_true", "decided")))
    yield _share(group, "steady_true", "steady")
    held = [tuple(points) for line in group for points in line.get("curves", {}).values()]
    yield f"{sum(inside for inside, _ in held) / sum(points for _, points in held):.0%}" if held else ""
    ratios = [f"{line['ratio']:.2f} ×" for line in group if "ratio" in line]
    yield ", ".join(ratios) or _mean(group, "seconds", ".0f")


def _mean(group: list[Line], name: str, form: str) -> str:
    """The mean of a figure over the lines that have it."""
    values = [line[name] for line in group if name in line]
    return format(statistics.fmean(values), form) if values else ""


def _share(group: list[Line], part: str, whole: str) -> str:
    """The share of all edges of the lines that have both counts."""
    both = [(line[part], line[whole]) for line in group if part in line]
    total = sum(count for _, count in both)
    return f"{sum(count for count, _ in both) / total:.0%}" if total else ""


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS), metavar="NAME")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="NAME")
    parser.add_argument("--seeds", type=numbers, default=list(range(10)), help="0-9 (default), or 0,3,4")
    parser.add_argument("--again", action="store_true", help="also what has a line")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    done = kept(options.results)
    for job in () if options.summary else jobs(options.designs, options.variants, options.seeds):
        if options.again or job not in done:
            line = measure(*job)
            append_line(options.results, line)
            print(f"{', '.join(job[:2])}, seed {job[2]}: {line['seconds']} s", flush=True)
    print(summary(line for line in kept(options.results).values() if line["design"] in options.designs))


if __name__ == "__main__":
    main()
