"""Scores with interventions against enumeration: every state of a small model, in every arm, weighted by its chance.

With expected counts in place of drawn rows, the fitted log-likelihood of a graph is exact. In the arm that sets a node,
the joint distribution is the product of all other nodes' conditional distributions, at the value that was set
(truncated factorisation).
"""

from collections.abc import Callable
from itertools import combinations, permutations, product

import networkx as nx
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from disco.likelihood.batch import Problems
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign

ROWS = 1000.0  # of every arm, and of the controls
Graph = tuple[frozenset[int], ...]  # the parents of each node
Law = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (values, (rows, parents)) → probabilities


def graph(*pairs: tuple[int, int]) -> Graph:
    return tuple(frozenset(one for one, other in pairs if other == node) for node in range(3))


def all_graphs() -> list[Graph]:
    """The 25 DAGs of three nodes."""
    found = set()
    for order in permutations(range(3)):
        pairs = list(combinations(order, 2))
        found |= {
            graph(*(pair for pair, kept in zip(pairs, mark, strict=True) if kept)) for mark in product([0, 1], repeat=3)
        }
    return sorted(found, key=lambda one: [sorted(parents) for parents in one])


class World:
    """Controls, and one arm for every node that is set to its highest value: all states with their expected counts."""

    def __init__(self, truth: Graph, law: Law, top: int, targets: tuple[int, ...]) -> None:
        states = np.array(list(product(range(top + 1), repeat=3)))
        self.chances = np.column_stack([law(states[:, node], states[:, sorted(truth[node])]) for node in range(3)])
        arms = [None, *targets]
        self.values = np.concatenate([states] * len(arms))
        self.was_set = np.zeros(self.values.shape, dtype=bool)
        counts = []
        for at, target in enumerate(arms):
            factors = self.chances.copy()
            if target is not None:
                self.was_set[at * len(states) : (at + 1) * len(states), target] = True
                factors[:, target] = states[:, target] == top
            counts.append(ROWS * factors.prod(axis=1))
        self.counts = np.concatenate(counts)
        logs = np.concatenate([np.log(self.chances)] * len(arms))
        self.exact = float((self.counts[:, None] * np.where(self.was_set, 0.0, logs)).sum())

    def local(self) -> dict[tuple[int, frozenset[int]], float]:
        """The engine's score of every node given any parents."""
        pairs = [(node, frozenset(some)) for node in range(3) for size in range(3)
                 for some in combinations([one for one in range(3) if one != node], size)]  # fmt: skip
        design = RankDesign.of(self.values, was_set=self.was_set)
        problems = Problems.of([(node, sorted(parents)) for node, parents in pairs])
        fits = fit(design, problems, weights=self.counts, tolerance=1e-9)
        return dict(zip(pairs, fits.log_likelihood.tolist(), strict=True))

    def by_hand(self, node: int, parents: frozenset[int], counted: np.ndarray) -> float:
        """The highest log-likelihood of a binary node: frequencies, or with two parents their logistic regression.

        Args:
            counted: the rows that are used, (rows,) bool.
        """
        columns = self.values[:, sorted(parents)]
        weights, one = self.counts * counted, self.values[:, node] == 1
        if len(parents) < 2:
            chance = np.zeros(len(one))
            for value in np.unique(columns, axis=0):
                same = (columns == value).all(axis=1)
                chance[same] = weights[same & one].sum() / weights[same].sum()
        else:
            inputs, theta = np.column_stack([np.ones(len(one)), columns]), np.zeros(3)
            for _ in range(40):
                chance = expit(inputs @ theta)
                information = (inputs * (weights * chance * (1 - chance))[:, None]).T @ inputs
                theta = theta + np.linalg.solve(information, inputs.T @ (weights * (one - chance)))
            chance = expit(inputs @ theta)
        return float(
            (weights * np.log(np.where(one, chance, 1 - chance), where=weights > 0, out=np.zeros(len(one)))).sum()
        )


def total(scores: dict[tuple[int, frozenset[int]], float], one: Graph) -> float:
    return sum(scores[node, parents] for node, parents in enumerate(one))


def skeleton(one: Graph) -> set[frozenset[int]]:
    return {frozenset((parent, node)) for node, parents in enumerate(one) for parent in parents}


def colliders(one: Graph) -> set[tuple[int, frozenset[int]]]:
    pairs = {(node, frozenset(two)) for node, parents in enumerate(one) for two in combinations(sorted(parents), 2)}
    return {(node, two) for node, two in pairs if two not in skeleton(one)}


def are_equivalent(one: Graph, other: Graph, targets: tuple[int, ...]) -> bool:
    """Interventional Markov equivalence (Hauser and Bühlmann, JMLR 2012, theorem 10), for controls and these arms."""

    def without(graph: Graph, target: int) -> Graph:
        return tuple(frozenset() if node == target else parents for node, parents in enumerate(graph))

    same = skeleton(one) == skeleton(other) and colliders(one) == colliders(other)
    return same and all(skeleton(without(one, node)) == skeleton(without(other, node)) for node in targets)


def is_true(one: Graph, truth: Graph, targets: tuple[int, ...]) -> bool:
    """Whether every independence and invariance that a graph states follows from the truth, by d-separation."""
    stated, true = (
        nx.DiGraph([(parent, node) for node, parents in enumerate(given) for parent in parents])
        for given in (one, truth)
    )
    true.add_edges_from((f"arm {node}", node) for node in targets)
    for number in range(3):
        stated.add_node(number)
        true.add_node(number)
    for node, parents in enumerate(one):
        others = set(range(3)) - {node} - parents - nx.descendants(stated, node)
        others |= {f"arm {target}" for target in targets if target != node}
        if others and not nx.is_d_separator(true, {node}, others, set(parents)):
            return False
    return True


def logistic(values: np.ndarray, parents: np.ndarray) -> np.ndarray:
    chance = expit(-0.4 + parents @ np.array([1.3, -1.1])[: parents.shape[1]])
    return np.where(values == 1, chance, 1 - chance)


def binomial(values: np.ndarray, parents: np.ndarray) -> np.ndarray:
    return binom(3, expit(-0.6 + parents @ np.array([0.7, -0.5])[: parents.shape[1]])).pmf(values)


CHAIN, COLLIDER = graph((0, 1), (1, 2)), graph((0, 2), (1, 2))
FULL = graph((0, 1), (1, 2), (0, 2))
TARGETS = [(), (0,), (1,), (2,), (0, 2), (0, 1, 2)]


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("truth", [CHAIN, COLLIDER, FULL])
def test_scores_of_binary_graphs_are_their_interventional_likelihoods(truth, targets):
    world = World(truth, logistic, 1, targets)
    scores = world.local()
    own = {(node, parents): world.by_hand(node, parents, ~world.was_set[:, node]) for node, parents in scores}
    assert list(scores.values()) == pytest.approx(list(own.values()), abs=1e-4)
    assert total(scores, truth) == pytest.approx(world.exact, abs=1e-4)
    assert max(total(scores, one) for one in all_graphs()) <= world.exact + 1e-4


@pytest.mark.parametrize("targets", TARGETS[1:])
def test_other_rows_would_give_other_scores(targets):
    """What the first test rules out: all rows for every node, or only the controls for the children too."""
    world = World(CHAIN, logistic, 1, targets)
    every, controls = np.ones(len(world.counts), dtype=bool), ~world.was_set.any(axis=1)
    for wrong in (every, controls):
        told = sum(world.by_hand(node, parents, wrong) for node, parents in enumerate(CHAIN))
        assert abs(told - world.exact) > 100


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("truth", [CHAIN, FULL])
def test_equal_scores_are_interventional_equivalence(truth, targets):
    """All graphs of a Markov class have the same score without arms, and with arms if they are equivalent there too."""
    scores = World(truth, logistic, 1, targets).local()
    members = [one for one in all_graphs() if are_equivalent(one, truth, ())]
    assert len(members) == (3 if truth == CHAIN else 6)
    for one in members:
        behind = total(scores, truth) - total(scores, one)
        assert abs(behind) < 1e-4 if are_equivalent(one, truth, targets) else behind > 1
    for one, other in combinations(members, 2) if truth == CHAIN else ():  # the wrong ones too
        apart = abs(total(scores, one) - total(scores, other))
        assert apart < 1e-4 if are_equivalent(one, other, targets) else apart > 1


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("truth", [CHAIN, COLLIDER])
def test_a_graph_reaches_the_exact_score_if_all_that_it_says_is_true(truth, targets):
    """Of all 25 graphs: each node is independent of its other non-descendants, and of the arms, given its parents."""
    scores, world = World(truth, logistic, 1, targets).local(), World(truth, logistic, 1, targets)
    for one in all_graphs():
        behind = world.exact - total(scores, one)
        assert abs(behind) < 1e-4 if is_true(one, truth, targets) else behind > 0.5


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("truth", [CHAIN, COLLIDER])
def test_scores_of_counts_are_the_interventional_likelihood_of_the_truth(truth, targets):
    """Binomial nodes of four levels: the fitted conditionals are the true ones, and no other graph is likelier."""
    world = World(truth, binomial, 3, targets)
    scores = world.local()
    assert total(scores, truth) == pytest.approx(world.exact, abs=1e-3)
    for one in all_graphs():
        assert total(scores, one) <= world.exact + 1e-3
        if not skeleton(truth) <= skeleton(one):
            assert total(scores, one) < world.exact - 1
