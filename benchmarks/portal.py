"""The rodents near Portal: which adjustment predicts left-out rows, and what graphs say against the experiment.

    python -m benchmarks.portal

Prints the tables of the log entry: seconds, on the controls' 2,192 rows.
"""

import argparse
import itertools

import numpy as np

from disco.likelihood.model import Model
from disco.refine import QUICK, Refined, refine
from disco.studies import portal
from disco.studies.experiment import CONTRADICTED, FORWARD, OPEN, SUPPORTED, verdicts
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


def line(refined: Refined, species: tuple[str, ...], roles: Roles) -> str:
    """One row of Markdown: edges, those of decided direction, and the verdicts on pairs with kangaroo rats."""
    measured, causes = portal.EXPERIMENT.effects(species), portal.EXPERIMENT.causes
    pairs = verdicts(refined, portal.table(species=species), roles, measured, causes)
    against = pairs["decided"] & (pairs["verdict"] == CONTRADICTED)
    counted = [int((pairs["verdict"] == one).sum()) for one in (SUPPORTED, CONTRADICTED, OPEN)]
    numbers = (len(refined.edges), int(refined.edges["decided"].sum()), *counted, int(against.sum()))
    mice = pairs[pairs["node"].isin((portal.POCKET_MICE, *portal.GROUPS[portal.POCKET_MICE]))]
    evidence = refined.edges.set_index(["parent", "child"])["direction_nats"].to_dict()
    said = []
    for one in mice.itertuples():
        pair = (one.cause, one.node) if one.arrow == FORWARD else (one.node, one.cause)
        if pair in evidence:
            effect = f" × {one.without:.2f}" if one.arrow == FORWARD else ""
            said.append(f"{one.cause} {one.arrow} {one.node}{effect}, {evidence[pair]:.1f} nats")
    return f"| {' | '.join(map(str, numbers))} | {'; '.join(said) or 'none'} |"


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
            print(f"| {name} {line(refined, species, roles)}")
    for comparison in portal.COMPARISONS:
        print(f"\n{comparison}")
        for one in portal.EXPERIMENT.effects((*portal.GROUPS, *SINGLE), comparison).itertuples():
            means = f"{one.control:.2f} | {one.treated:.2f}"
            print(f"| {one.node} | {means} | {one.ratio:.2f} ({one.low:.2f} to {one.high:.2f}) |")


if __name__ == "__main__":
    main()
