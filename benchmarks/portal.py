"""The rodents near Portal: which adjustment predicts left-out rows, and what graphs say against the experiment.

    python -m benchmarks.portal

Prints the tables of the log entry: seconds, on the controls' 2,192 rows.
"""

import argparse
import itertools

import numpy as np
import pandas as pd

from disco import experiments
from disco.experiments.arrows import VERDICTS
from disco.likelihood.model import Model
from disco.refine import QUICK, Refined, refine
from disco.studies import portal
from disco.table.adjustment import CATEGORICAL, CONTINUOUS
from disco.table.prepared import prepare
from disco.table.roles import Roles

FOLDS = 5
SINGLE = ("DM", "DO", "DS", "PB", "PF", "PP", "NL", "OL", "OT", "PE", "PM", "RM")
ADJUSTMENTS = {
    "none": portal.UNADJUSTED,
    "plot": portal.adjusted(year=None, month=None),
    "plot, year, month": portal.adjusted(),
}


def held_out(roles: Roles) -> float:
    """Log-likelihood of the usual species in left-out rows, nats, without any edge: effects of place and time alone."""
    given = prepare(portal.table(), roles)
    fold, found = np.random.default_rng(0).integers(0, FOLDS, len(given.counts)), 0.0
    for number in range(FOLDS):
        model = Model.of(given.take(fold != number), {})
        found += float(model.held_out(given.take(fold == number)).sum())
    return found


def effects(species: tuple[str, ...], comparison: str = portal.ALL) -> pd.DataFrame:
    """The contrasts of a trial."""
    return experiments.contrasts(prepare(*portal.trial(comparison, species)))


def line(refined: Refined, species: tuple[str, ...]) -> str:
    """One row of Markdown: edges, those of decided direction, the verdicts on arrows at kangaroo rats, and the links of
    these with pocket mice.
    """
    edges = refined.edges
    said = experiments.arrows(edges, effects(species))
    counted = [int((said["verdict"] == one).sum()) for one in VERDICTS]
    sides = [(name, *portal.GROUPS[name]) for name in (portal.KANGAROO_RATS, portal.POCKET_MICE)]
    links = [
        f"{one.parent} → {one.child}, {one.direction_nats:.1f} nats"
        for one in edges.itertuples()
        if any(one.parent in side and one.child in other for side, other in (sides, sides[::-1]))
    ]
    numbers = (len(edges), int(edges["decided"].sum()), *counted)
    return f"| {' | '.join(map(str, numbers))} | {'; '.join(links) or 'none'} |"


def main() -> None:
    """Print the tables."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    kinds = (None, CONTINUOUS, CATEGORICAL)
    for year, month in itertools.product(kinds, kinds):
        print(f"| {year or 'none'} | {month or 'none'} | {held_out(portal.adjusted(year=year, month=month)):,.0f} |")
    print(f"without plot: {held_out(portal.adjusted(None)):,.0f}\n")
    for species in (portal.USUAL, SINGLE):
        for name, roles in ADJUSTMENTS.items():
            refined = refine(portal.table(species=species), QUICK, roles=roles)
            print(f"| {name} {line(refined, species)}")
    for comparison in portal.COMPARISONS:
        print(f"\n{comparison}")
        every = [effects(species, comparison) for species in (portal.USUAL, SINGLE)]
        for one in pd.concat(every).drop_duplicates("node").itertuples():
            means = f"{one.control:.2f} | {one.treated:.2f}"
            ratio = f"{one.ratio:.2f} ({one.low:.2f} to {one.high:.2f})"
            print(f"| {one.node} | {means} | {ratio} | {one.expected:.2f} |")


if __name__ == "__main__":
    main()
