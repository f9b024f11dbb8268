"""When the answer depends on open directions: one answer for each way in which they may point.

Rows cannot weigh open directions against each other. So if some of them let a path lead from the set nodes to the
outcome, and others do not, these are two cases, however few graphs one of them has. Each may be divided once more by
the open edge that decides most: at least half of what makes the draws of the effect differ is its direction. The
interval of a case holds the effect in every graph of the whole table in it (as in IDA; Maathuis, Kalisch and Bühlmann,
Annals of Statistics 2009).
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
_LEAST = 0.02  # smallest share of the graphs of a case in each of the two
_CHANCE = 1e-12  # relative; smaller differences are rounding

Pair = tuple[int, int]  # (parent, child)


class OpenCase(NamedTuple):
    """Graphs in which open edges point in one way.

    Attributes:
        edges: the open directions between the set nodes and the outcome that they have in common, but not with the
            other graphs; there may be none.
        graphs: whether a graph is among them, (graphs,) bool.
    """

    edges: tuple[Pair, ...]
    graphs: np.ndarray


def parts(graphs: Graphs, paths: Sequence[Path], done: Collection[int], sampled: Sampled) -> list[OpenCase]:
    """The cases, those with an effect first; a single one, without edges, if no open direction decides.

    Args:
        paths: from the set nodes to the outcome, by graph.
        done: the set nodes.
        sampled: at two settings; the effect is the difference of the means.
    """
    between = {*done, *(key[0] for path in set(paths) for key in path)}
    turned = {pair: graphs.turned(pair) for pair in graphs.open if between.issuperset(pair)}
    found = [np.ones(len(graphs.dags), dtype=bool)]
    change = np.abs(sampled.points[:, 0] - sampled.points[:, 1])
    moves = sampled.reached & (change > _CHANCE * np.abs(sampled.points).max(axis=1))  # a held node moves nothing
    if graphs.open and 0 < moves[graphs.near].sum() < graphs.near.sum():
        found = [moves, ~moves]
    while len(found) < MOST_CASES:
        ways = [(number, *_best(one, turned, graphs.shares, sampled)) for number, one in enumerate(found)]
        number, pair, share = max(ways, key=lambda way: way[2])
        if pair is None or share < _DECIDES:
            break
        one = found.pop(number)
        found[number:number] = [one & (turned[pair] == sign) for sign in (1, -1)]
    if len(found) == 1:
        return [OpenCase((), found[0])]
    return [OpenCase(_common(graphs, one, turned), one) for one in found]


def by_case(
    fitted: FittedGraphs,
    paths: Sequence[Path],
    done: Collection[int],
    sampled: Sampled,
    frame_of: Callable[[np.ndarray], pd.DataFrame],
) -> pd.DataFrame:
    """One table over all cases, with columns case (from 0) and when (what it stands for; "" without cases) first.

    Args:
        paths, done, sampled: as for `parts`.
        frame_of: the rows of a case, from its graphs, (graphs,) bool.
    """
    found, frames = parts(fitted.graphs, paths, done, sampled), []
    for number, part in enumerate(found):
        edges = [(fitted.names[parent], fitted.names[child]) for parent, child in part.edges]
        when = short(edges, not sampled.reached[part.graphs].any()) if len(found) > 1 else ""
        frame = frame_of(part.graphs)
        frame.insert(0, "when", when)
        frame.insert(0, "case", number)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _common(graphs: Graphs, among: np.ndarray, turned: dict[Pair, np.ndarray]) -> tuple[Pair, ...]:
    """The open directions that some of the whole table's graphs have in common, but not all others.

    Those that fewest of the others have come first: an experiment on them tells most.
    """
    here, there, found = among & graphs.near, ~among & graphs.near, list[tuple[float, Pair]]()
    for pair, signs in turned.items():
        for sign, edge in ((1, pair), (-1, pair[::-1])):
            if here.any() and (signs[here] == sign).all() and not (signs[there] == sign).all():
                found.append((float(graphs.shares[there & (signs == sign)].sum()), edge))
    return tuple(edge for _, edge in sorted(found, key=lambda one: one[0]))


def _best(
    among: np.ndarray, turned: dict[Pair, np.ndarray], shares: np.ndarray, sampled: Sampled
) -> tuple[Pair | None, float]:
    """The open edge whose directions differ most in their effects, and its share of the variance of the draws."""
    effects = sampled.drawn[:, 0] - sampled.drawn[:, 1]
    best: tuple[Pair | None, float] = (None, 0.0)
    for pair, signs in turned.items():
        ways = [among & (signs == sign) for sign in (1, -1)]
        if min(shares[way].sum() for way in ways) < _LEAST * shares[among].sum():
            continue
        of = [way[sampled.of] for way in ways]
        if min(way.sum() for way in of) < 2:
            continue
        share = _between([effects[way] for way in of], [sampled.weights[way] for way in of])
        if share > best[1]:
            best = pair, share
    return best


def _between(groups: list[np.ndarray], weights: list[np.ndarray]) -> float:
    """The share of the variance of weighted numbers that is between groups."""
    every, weight = np.concatenate(groups), np.concatenate(weights)
    middle = np.average(every, weights=weight)
    total = np.average((every - middle) ** 2, weights=weight)
    if total <= (_CHANCE * np.abs(every).max()) ** 2:
        return 0.0
    pairs = zip(groups, weights, strict=True)
    return float(
        sum(of.sum() * (np.average(one, weights=of) - middle) ** 2 for one, of in pairs) / weight.sum() / total
    )
