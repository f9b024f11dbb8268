"""When the answer depends on open directions: one answer for each way in which they may point.

Rows cannot weigh open directions against each other. If some of them let a path lead from the set nodes to the outcome,
and others do not, these are two cases, however few graphs one of them has. While there are fewer than three, the case
that an open edge decides most is divided by it: at least half of the variance of the draws of the effect is due to its
direction. The interval of a case contains the effect in every one of its graphs that is fitted to the whole table (as
in IDA; Maathuis, Kalisch and Bühlmann, Annals of Statistics 2009).
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.effects.compatible import Graphs, Path
from disco.effects.graph_fits import FittedGraphs, Sampled
from disco.effects.sentences import short

MOST_CASES = 3
_DECIDES = 0.5  # share of the variance of the draws between an edge's two directions
_LEAST_SHARE = 0.02  # smallest share of the graphs of a case in each of the two
_CHANCE = 1e-12  # relative; smaller differences are rounding

Pair = tuple[int, int]  # (parent, child)


class OpenCase(NamedTuple):
    """Graphs that share whether there is an effect, or the direction of an edge that decides."""

    edges: tuple[Pair, ...]  # shared open directions between set nodes and outcome, not shared by the other graphs
    graphs: np.ndarray  # membership, (graphs,) bool


def open_cases(graphs: Graphs, paths: Sequence[Path], set_nodes: Collection[int], sampled: Sampled) -> list[OpenCase]:
    """The cases, those with an effect first; a single one, without edges, if no open direction decides.

    Args:
        paths: from the set nodes to the outcome, by graph.
        sampled: at two settings; the effect is the difference of the means.
    """
    between = {*set_nodes, *(key[0] for path in set(paths) for key in path)}
    turned = {pair: graphs.turned(pair) for pair in graphs.open if between.issuperset(pair)}
    cases = [np.ones(len(graphs.dags), dtype=bool)]
    change = np.abs(sampled.points[:, 0] - sampled.points[:, 1])
    moves = sampled.reached & (change > _CHANCE * np.abs(sampled.points).max(axis=1))  # a held node moves nothing
    if graphs.open and 0 < moves[graphs.near].sum() < graphs.near.sum():
        cases = [moves, ~moves]
    while len(cases) < MOST_CASES:
        splits = [(number, *_best(members, turned, graphs.shares, sampled)) for number, members in enumerate(cases)]
        number, pair, share = max(splits, key=lambda split: split[2])
        if pair is None or share < _DECIDES:
            break
        members = cases.pop(number)
        cases[number:number] = [members & (turned[pair] == sign) for sign in (1, -1)]
    if len(cases) == 1:
        return [OpenCase((), cases[0])]
    return [OpenCase(_common(graphs, members, turned), members) for members in cases]


def by_case(
    fitted: FittedGraphs,
    paths: Sequence[Path],
    set_nodes: Collection[int],
    sampled: Sampled,
    frame_of: Callable[[np.ndarray], pd.DataFrame],
) -> pd.DataFrame:
    """One table over all cases, with columns case (from 0) and when (what it stands for; "" without cases) first.

    `frame_of` returns the rows of a case, from its graphs, (graphs,) bool; other arguments are those of `open_cases`.
    """
    cases, frames = open_cases(fitted.graphs, paths, set_nodes, sampled), []
    for number, case in enumerate(cases):
        edges = [(fitted.names[parent], fitted.names[child]) for parent, child in case.edges]
        when = short(edges, not sampled.reached[case.graphs].any()) if len(cases) > 1 else ""
        frame = frame_of(case.graphs)
        frame.insert(0, "when", when)
        frame.insert(0, "case", number)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _common(graphs: Graphs, among: np.ndarray, turned: dict[Pair, np.ndarray]) -> tuple[Pair, ...]:
    """The open directions that these graphs of the whole table have in common, but not all others.

    Those shared by the fewest of the others come first, since an experiment on them is the most informative.
    """
    here, there, common = among & graphs.near, ~among & graphs.near, list[tuple[float, Pair]]()
    for pair, signs in turned.items():
        for sign, edge in ((1, pair), (-1, pair[::-1])):
            if here.any() and (signs[here] == sign).all() and not (signs[there] == sign).all():
                common.append((float(graphs.shares[there & (signs == sign)].sum()), edge))
    return tuple(edge for _, edge in sorted(common, key=lambda ranked: ranked[0]))


def _best(
    among: np.ndarray, turned: dict[Pair, np.ndarray], shares: np.ndarray, sampled: Sampled
) -> tuple[Pair | None, float]:
    """The open edge whose directions differ most in their effects, and its share of the variance of the draws."""
    effects = sampled.drawn[:, 0] - sampled.drawn[:, 1]
    best: tuple[Pair | None, float] = (None, 0.0)
    for pair, signs in turned.items():
        directions = [among & (signs == sign) for sign in (1, -1)]
        if min(shares[graphs_of].sum() for graphs_of in directions) < _LEAST_SHARE * shares[among].sum():
            continue
        of = [graphs_of[sampled.of] for graphs_of in directions]
        if min(graphs_of.sum() for graphs_of in of) < 2:
            continue
        share = _between([effects[graphs_of] for graphs_of in of], [sampled.weights[graphs_of] for graphs_of in of])
        if share > best[1]:
            best = pair, share
    return best


def _between(groups: list[np.ndarray], weights: list[np.ndarray]) -> float:
    """The share of the variance of weighted numbers between groups."""
    every, weight = np.concatenate(groups), np.concatenate(weights)
    middle = np.average(every, weights=weight)
    total = np.average((every - middle) ** 2, weights=weight)
    if total <= (_CHANCE * np.abs(every).max()) ** 2:
        return 0.0
    pairs = zip(groups, weights, strict=True)
    return float(
        sum(of.sum() * (np.average(group, weights=of) - middle) ** 2 for group, of in pairs) / weight.sum() / total
    )
