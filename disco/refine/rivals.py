"""Whether a direction holds against rival graphs in which every node may have another class of distribution.

A node's score over several classes, given the nodes that may be its parents, is

    max over classes of (score with the best parents − score without any) + the GLM's score without any,

with the classes of `disco.likelihood.other_classes`: the semiparametric GLM, a hurdle, normal scores. The *lead* of a
graph over a rival is the sum of these scores over all nodes, less the same for the rival. Both choose their parents,
and the class of every node, anew. The rivals of an edge's direction are the orders of `disco.refine.turned`. If an edge
is undecided because of its rivals, it may be reversed together with others, so those are compared again.

Last, every column may be a coarse reading of a normal variable. The neighbours of a column with few levels stay
dependent given the column where they would not be given the variable itself. So more edges join the columns than join
the variables, and a node with two neighbours may seem to be their common child. A sparse graph of the variables
(`disco.linear.noisy`) explains such columns with fewer edges. The lead over it is the lead over the best graph of
normal scores, minus the gain of the graph of the variables over that graph, both by the likelihood of the correlations
of normal scores.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np

from disco.knowledge import Resolved
from disco.likelihood.other_classes import exactness, has_hurdle, normal_scores, positive_parts, zero_parts
from disco.likelihood.rank_design import Prior
from disco.linear.insertion import along, order_by_linear_models
from disco.linear.noisy import Noisy
from disco.progress import Reporter
from disco.refine.node_scores import Scores, resolve
from disco.refine.reversal import PositionChanges
from disco.refine.screen import correlations
from disco.refine.stepwise import FAILED, Allowed, NodeFit, Parents
from disco.refine.turned import Turned

Edge = tuple[int, int]  # (parent, child)
Key = tuple[int, Allowed]  # a node and the candidates before it
_FAR = 30.0  # nats by which a graph leads over another one if those near the other are not compared


class SeveralClasses:
    """Scores of nodes over several classes: those of the semiparametric GLM and others.

    Searches begin at every node's parents in a known graph; under the prior `linear`, effects and link are linear.
    """

    def __init__(self, glm: Scores, parents: Sequence[Parents], linear: Prior) -> None:
        design, self._begin = glm.design, parents
        self.glm, self._has_hurdle = glm, has_hurdle(design)
        hurdle_designs = [zero_parts(design), positive_parts(design)] if self._has_hurdle.any() else []
        self._parts = [glm.replace(design=hurdle, warm=None) for hurdle in hurdle_designs]
        self._normal = glm.replace(design=normal_scores(design, linear), warm=None)
        self._best: dict[Key, float] = {}
        self._by_normal: dict[Key, float] = {}

    @property
    def made(self) -> int:
        """The number of fits of other classes than the GLM."""
        return sum(scores.made for scores in (*self._parts, self._normal))

    def copula(self) -> Noisy:
        """Linear graphs of the normal scores; a column with few levels is a coarse reading of a normal variable."""
        design = self._normal.design
        related = correlations(design, design.columns[: design.nodes, 0].T)
        cost = float(np.log(design.rows) / 2)
        return Noisy(related, exactness(design), design.rows, cost, self.glm.candidates)

    def total(self, order: Sequence[int]) -> float:
        """The score of an order's best graph over several classes."""
        keys = list(enumerate(PositionChanges(self.glm, order).allowed))
        self.fit(keys)
        return sum(map(self.score, keys))

    def normal_total(self, order: Sequence[int]) -> float:
        """The score of an order's best graph of normal scores."""
        keys = list(enumerate(PositionChanges(self.glm, order).allowed))
        self.fit(keys)
        return sum(map(self._by_normal.__getitem__, keys))

    def normal_graph(self, order: Sequence[int]) -> nx.DiGraph:
        """The best graph of normal scores in an order."""
        keys = dict.fromkeys(enumerate(PositionChanges(self.glm, order).allowed), ())
        parents = {node: fitted.parents for (node, _), fitted in self._fits(self._normal, keys).items()}
        graph = nx.DiGraph((parent, child) for child, nodes in parents.items() for parent in nodes)
        graph.add_nodes_from(order)
        return graph

    def score(self, key: Key) -> float:
        """The score of a node with its best parents among the allowed ones; `fit` has made its fits."""
        return self._best[key]

    def fit(self, keys: Iterable[Key]) -> None:
        """Make the fits for the scores of some nodes and their allowed parents."""
        new = [key for key in dict.fromkeys(keys) if key not in self._best]
        if not new:
            return
        begin = {key: self._begin[key[0]] for key in (*new, *((node, 0) for node, _ in new))}
        glm = self._fits(self.glm, begin)
        start = {key: fitted.parents for key, fitted in glm.items()}
        hurdles = {key: parents for key, parents in start.items() if self._has_hurdle[key[0]]}
        normal, hurdle_fits = self._fits(self._normal, start), [self._fits(scores, hurdles) for scores in self._parts]
        for key in new:
            none = key[0], 0
            gains = [_gain(glm[key], glm[none]), _gain(normal[key], normal[none])]
            if self._has_hurdle[key[0]]:
                # An edge has its prior odds once.
                shared = set(hurdle_fits[0][key].parents).intersection(hurdle_fits[1][key].parents)
                gains.append(sum(_gain(fits[key], fits[none]) for fits in hurdle_fits) + self.glm.odds * len(shared))
            self._by_normal[key] = glm[none].score + (FAILED if math.isnan(gains[1]) else gains[1])
            available = [gain for gain in gains if not math.isnan(gain)]
            self._best[key] = glm[none].score + max(available, default=FAILED)

    @staticmethod
    def _fits(scores: Scores, start: Mapping[Key, Parents]) -> dict[Key, NodeFit]:
        walks = [(scores, scores.walk(*key, parents)) for key, parents in start.items()]
        return dict(zip(start, resolve(walks), strict=True))


def _gain(fitted: NodeFit, without: NodeFit) -> float:
    """The gain in score over the fit without parents, nats; NaN if either is not available."""
    return fitted.score - without.score if fitted.available and without.available else math.nan


def leads(
    classes: SeveralClasses,
    order: Sequence[int],
    parents: Sequence[Parents],
    needed: Mapping[Edge, float],
    fixed: Collection[Edge] = (),
    allowance: float = 0.0,
) -> dict[Edge, float]:
    """The smallest lead of a graph over the rivals of its edges' directions, nats.

    Args:
        needed: the edges compared, each with the lead below which it counts as undecided; all others are undecided.
        fixed: edges whose direction has another source.
        allowance: nats that do not count as a lead over coarse readings, whose likelihood is approximate.
    """
    graph = nx.DiGraph((parent, child) for child, nodes in enumerate(parents) for parent in nodes)
    comparing, orders = _Comparing(classes, order, needed), Turned(order, graph, classes.glm.rules)
    comparing.add((edge, rival) for edge in needed for rival in orders.near(edge))
    close = [edge for edge in comparing.open if comparing.leads[edge] < _FAR]
    comparing.add((edge, rival) for edge in close for rival in orders.wider(edge))
    if comparing.open:
        _compare_copulas(comparing, classes, order, allowance)
    while True:
        still = comparing.open
        undecided = {*graph.edges} - {*still} - {*fixed}
        turned = [(edge, orders.together(edge, undecided)) for edge in still]
        comparing.add((edge, rival) for edge, rival in turned if rival is not None)
        if len(comparing.open) == len(still):
            return comparing.leads


def _compare_copulas(comparing: "_Comparing", classes: SeveralClasses, order: Sequence[int], allowance: float) -> None:
    """Compare with the best graphs of normal scores, and of the variables that they may be coarse readings of."""
    copula, rules, reporter = classes.copula(), classes.glm.rules, classes.glm.reporter
    best = order_by_linear_models(copula.seen, copula.rows, copula.candidates, 0, reporter)
    best = best if rules is None else rules.sorted(best)
    total = classes.total(order)
    if total - classes.total(best) <= _FAR:
        comparing.add(_of_normal_scores(classes, best, comparing.open))
    ahead = total - classes.normal_total(best) - allowance
    comparing.note(coarse_leads(copula, (order, best), ahead, comparing.open, rules, reporter))


def coarse_leads(
    copula: Noisy,
    orders: Sequence[Sequence[int]],
    ahead: float,
    edges: Sequence[Edge],
    rules: Resolved | None,
    reporter: Reporter,
) -> dict[Edge, float]:
    """The lead of a graph over coarse readings in which an edge is reversed or absent, nats; none if it is large.

    The `copula` has the normal scores, and how exactly they show normal variables. Searches begin at the order of the
    graph and that of the best linear graph of normal scores; `ahead` is the lead over the latter.
    """
    exact = replace(copula, exactness=np.ones((len(copula.seen), 1)))
    level = exact.nats(exact.best(orders, reporter)[0])
    graph, model = copula.best(orders, reporter)
    if rules is not None:
        graph = along(model, rules.sorted(graph.order.tolist()))
    if ahead - (copula.nats(graph) - level) > _FAR:
        return {}
    joined = nx.DiGraph(graph.edges)
    turned = Turned(graph.order.tolist(), joined, rules)
    leads = dict[Edge, float]()
    for edge in edges:
        rivals = [graph]
        if joined.has_edge(*edge):
            rivals = [along(model, rival) for rival in (*turned.near(edge), *turned.wider(edge))]
        leads[edge] = ahead - max(copula.nats(rival) - level for rival in rivals)
    return leads


def _of_normal_scores(
    classes: SeveralClasses, order: list[int], edges: Sequence[Edge]
) -> Iterator[tuple[Edge, list[int]]]:
    """The best graph of linear effects among normal scores, for every edge with its child before its parent.

    In a Gaussian copula, no order near a graph of the GLM need be as good as this one.
    """
    graph, position = classes.normal_graph(order), {node: at for at, node in enumerate(order)}
    orders = Turned(order, graph, classes.glm.rules)
    for edge in edges:
        if position[edge[1]] < position[edge[0]]:
            yield edge, order
        elif graph.has_edge(*edge):
            yield from ((edge, rival) for rival in orders.near(edge))


class _Comparing:
    """Rivals compared so far, with the smallest lead of every edge."""

    def __init__(self, classes: SeveralClasses, order: Sequence[int], needed: Mapping[Edge, float]) -> None:
        self._classes, self._places, self._least = classes, PositionChanges(classes.glm, order), needed
        self.leads: dict[Edge, float] = dict.fromkeys(needed, math.inf)

    @property
    def open(self) -> list[Edge]:
        """The edges that lead over all rivals so far."""
        return [edge for edge, lead in self.leads.items() if lead >= self._least[edge]]

    def add(self, rivals: Iterable[tuple[Edge, list[int]]]) -> None:
        """Compare rivals, each an edge and an order with it reversed."""
        current, score = self._places.allowed, self._classes.score
        changed = [(edge, self._places.changed(rival)) for edge, rival in rivals]
        self._classes.fit(key for _, nodes in changed for key in nodes.items())
        self._classes.fit((node, current[node]) for _, nodes in changed for node in nodes)
        for edge, nodes in changed:
            lead = sum(score((node, current[node])) - score((node, allowed)) for node, allowed in nodes.items())
            self.leads[edge] = min(self.leads[edge], lead)

    def note(self, leads: Mapping[Edge, float]) -> None:
        self.leads |= {edge: min(self.leads[edge], lead) for edge, lead in leads.items()}
