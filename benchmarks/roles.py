"""Tables with batches, a depth, age and sex, or groups: what a refinement finds with and without their roles.

    python -m benchmarks.roles                                      # the lines that results/roles.jsonl lacks
    python -m benchmarks.roles --only "batches, (undisturbed|with its role), seed [0-2]$"
    python -m benchmarks.roles --summary                            # of the existing lines

One line per design, seed and variant. *Undisturbed* is the same design without the columns: the graph and its
coefficients are the same, the counts are not. A disturbed table is read with the roles that are right for it, and
without them, as a method reads it that has no roles.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.study import Line, Study, grouped, markdown, share, timed, total
from disco.likelihood.model import Model
from disco.metrics import a_top, controls, counts, f1, shd
from disco.refine import Choice, Refined, refine
from disco.simulate import Design, Simulated, simulate
from disco.table.prepared import prepare

SEEDS = 10
_POISSON = Design(nodes=50, rows=5000, k=3)
_BOUNDED = _POISSON.replace(family="poisson-exp")  # means that a depth does not let explode from parent to child
DESIGNS = {
    "batches": _POISSON.replace(batches=3),
    "depth, rates, Poisson": _POISSON.replace(depth=0.5),
    "depth, rates, NB": _POISSON.replace(depth=0.5, family="nb-softplus"),
    "depth, counts": _BOUNDED.replace(depth=0.5, depth_causes="counts"),
    "age and sex": _POISSON.replace(age_and_sex=True),
    "groups": _POISSON.replace(groups=500),
}
STEADY = 0.9  # bootstrap share from which on an edge counts as steady
EXPOSED = {"depth": "exposure"}  # of a depth whose counts cause counts: rates are the wrong reading
UNDISTURBED = "undisturbed"
BOSS = ("BOSS, undisturbed", "BOSS, without its role")  # lines from commit 327893a2


def _search(design: Design) -> Choice:
    """Groups are about the bootstrap; the rest needs none."""
    return Choice(bootstrap=50 if design.groups else 0, folds=0)


def plain(design: Design) -> Simulated:
    """The table of a design without its columns beside the counts."""
    return simulate(design.replace(batches=0, depth=0, age_and_sex=False, groups=0))


def _undisturbed(design: Design) -> Line:
    drawn = plain(design)
    return judged(drawn, refine(drawn.table, _search(design)))


def _with_roles(design: Design) -> Line:
    drawn = simulate(design)
    result = refine(drawn.whole, _search(design), roles=design.roles())
    return judged(drawn, result) | ({"curves": coverage(drawn, result)} if design.age_and_sex else {})


def _as_exposure(design: Design) -> Line:
    drawn = simulate(design)
    return judged(drawn, refine(drawn.whole, _search(design), roles=EXPOSED))


def _without_roles(design: Design) -> Line:
    drawn = simulate(design)
    return judged(drawn, refine(drawn.table, _search(design)))


VARIANTS: dict[str, Callable[[Design], Line]] = {
    UNDISTURBED: _undisturbed,
    "with its role": _with_roles,
    "as an exposure": _as_exposure,
    "without its role": _without_roles,
}


def judged(drawn: Simulated, result: Refined) -> Line:
    """The accuracy of a refinement, and how much of what it is sure of is true."""
    edges = result.edges
    line = {
        "f1": round(f1(drawn.truth, edges), 4),
        "shd": shd(drawn.truth, edges),
        "a_top": round(a_top(result.order, drawn.truth), 4),
        "sorting": round(max(controls(drawn.table, drawn.truth).values()), 4),
        "edges": len(edges),
        "true_edges": len(drawn.truth),
    }
    for word, chosen in {"decided": edges["decided"], "steady": edges["bootstrap"] >= STEADY}.items():
        line |= {word: int(chosen.sum()), f"{word}_true": counts(drawn.truth, edges[chosen]).true_positives}
    return line


def coverage(drawn: Simulated, result: Refined) -> dict[str, list[int]]:
    """Of every covariate: points of its curves that lie in their 95 % bands, and all points, over all nodes."""
    prepared = prepare(drawn.whole, drawn.design.roles())
    parents = {child: list(group) for child, group in result.edges.groupby("child")["parent"]}
    model = Model.of(prepared, parents)
    held = {}
    for covariate in prepared.adjustment.covariates:
        curves = ((child, model.covariate_curve(covariate.name, child)) for child in prepared.counts)
        inside = [within(curve, true_curve(drawn, covariate.name, child, curve["value"])) for child, curve in curves]
        held[covariate.name] = [int(np.sum([points.sum() for points in inside])), sum(map(len, inside))]
    return held


def within(curve: pd.DataFrame, truth: np.ndarray) -> np.ndarray:
    """Whether the truth lies in the band (low, high) at each point of a curve, (points,)."""
    return (curve["low"].to_numpy() <= truth) & (truth <= curve["high"].to_numpy())


def true_curve(drawn: Simulated, covariate: str, child: str, values: Iterable[Any]) -> np.ndarray:
    """The true effect at some values, less its mean over the rows, (values,)."""
    around = drawn.surroundings
    at = [column.name for column in around.columns].index(covariate)
    effects = around.columns[at].effects[:, drawn.table.columns.get_loc(child)]
    effects = effects - effects[around.codes[at]].mean()
    levels = around.columns[at].levels
    if np.issubdtype(levels.dtype, np.number):
        return np.interp(np.asarray(values, dtype=float), levels, effects)
    return pd.Series(effects, index=levels).loc[list(values)].to_numpy()


def jobs() -> Iterator[tuple[str, str, int]]:
    """Everything to measure, all of one seed before the next."""
    for seed in range(SEEDS):
        for name in DESIGNS:
            variants = [v for v in VARIANTS if v != "as an exposure" or name == "depth, counts"]
            yield from ((name, variant, seed) for variant in variants)


def measure(name: str, variant: str, seed: int) -> Line:
    """One line."""
    figures, seconds = timed(VARIANTS[variant], DESIGNS[name].replace(seed=seed))
    return {"design": name, "variant": variant, "seed": seed, "seconds": seconds, **figures}


HEAD = ("design", "variant", "seeds", "F1", "of undisturbed", "SHD", "A_top", "sorting", "decided", "true of decided")
HEAD += ("true of steady", "curves held", "seconds")


def table(lines: Iterable[Line]) -> str:
    """Markdown: means over the seeds, one row per design and variant; F1 also against the same seeds undisturbed."""
    groups = grouped(lines, ("design", "variant"), (*DESIGNS, *VARIANTS, *BOSS))
    rows = []
    for (name, variant), group in groups.items():
        method, comma, _ = variant.rpartition(", ")
        reference = {line["seed"]: line["f1"] for line in groups.get((name, f"{method}{comma}{UNDISTURBED}"), [])}
        rows.append((name, variant, len(group), *_cells(group, reference)))
    return markdown(HEAD, rows)


def _cells(group: list[Line], reference: dict[int, float]) -> Iterator[str]:
    """The figures of a row."""
    yield _mean(group, "f1", ".3f")
    paired = [(line["f1"], reference[line["seed"]]) for line in group if line["seed"] in reference]
    yield f"{sum(f1 for f1, _ in paired) / sum(f1 for _, f1 in paired):.3f}" if paired else ""
    yield from (_mean(group, name, form) for name, form in (("shd", ".1f"), ("a_top", ".3f"), ("sorting", ".3f")))
    for name, of in (("decided", "edges"), ("decided_true", "decided"), ("steady_true", "steady")):
        both = [line for line in group if name in line]
        yield share(total(both, name), total(both, of), ".0%")
    held = [points for line in group for points in line.get("curves", {}).values()]
    yield share(sum(inside for inside, _ in held), sum(points for _, points in held), ".0%")
    yield _mean(group, "seconds", ".0f")


def _mean(group: list[Line], name: str, form: str) -> str:
    """The mean of a figure over the lines that have it."""
    values = [line[name] for line in group if name in line]
    return format(statistics.fmean(values), form) if values else ""


STUDY = Study("roles", ("design", "variant", "seed"), jobs, measure, table)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
