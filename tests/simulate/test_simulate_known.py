"""Which directions of a design can be known, against exact joint distributions; shapes, spreads, Ising models."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from scipy.stats import chisquare, poisson

from disco.simulate import FAMILIES, Design, ising, simulate
from disco.simulate.example_designs import EXAMPLES
from disco.simulate.identifiable import KNOWN, NOT_PROVED, UNKNOWN, words

AFFINE = ("poisson-log", "binomial-logit", "discrete-normal")
NONLINEAR = ("poisson-softplus", "poisson-exp", "nb-softplus", "nb-exp", "binomial-sigmoid", "binomial-probit")


def log_pair(key: str, marginal: np.ndarray) -> np.ndarray:
    """log p(x, y) of a pair of this family, given the parent's marginal, (values of x, values of y)."""
    family = FAMILIES[key]
    index, law = family.index, family.make_law({})
    x, y = np.arange(len(marginal)), np.arange(12)
    location = index.response(index.coefficients[0] + index.coefficients[2] * index.feature(x / law.unit))
    return np.log(marginal[:, None]) + np.log(law.pmf(location, y))


def bends(logs: np.ndarray) -> np.ndarray:
    """How much the cross differences change along x: not at all if log p = a(x) + b x y + c(y)."""
    return np.diff(np.diff(np.diff(logs, axis=0), axis=1), axis=0)


@pytest.mark.parametrize("key", [*AFFINE, *NONLINEAR])
def test_what_is_called_unknown_is_symmetric_and_what_is_known_is_not(key, rng):
    """Theorem *Bivariate identifiability characterization*: the reverse is in the class if and only if eta is affine.

    The reverse conditional is in the class if D_x² log p(x | y) does not depend on y.
    """
    marginal = softmax(rng.normal(size=14))  # any: many modes
    logs = log_pair(key, marginal)
    drawn = simulate(Design(graph="chain", nodes=2, rows=5, family=key))
    assert drawn.truth["direction"].tolist() == [UNKNOWN if key in AFFINE else KNOWN]
    assert (abs(bends(logs)).max() < 1e-8) == (key in AFFINE)
    assert abs(bends(logs.T)).max() < 1e-8, "forwards every one of them is in the class"


def tree(**families: str) -> dict[str, str]:
    """The direction of every edge of a -> b -> c, a -> d, for given families of the children."""
    edges = [("a", "b"), ("b", "c"), ("a", "d")]
    family = {"a": "poisson-softplus"} | families
    truth = simulate(Design(graph="own", edges=edges, rows=5, family=family)).truth
    return {child: direction for child, direction in zip(truth["child"], truth["direction"], strict=True)}


def test_the_root_of_a_tree_can_move_along_affine_edges():
    log, plus = "poisson-log", "poisson-softplus"
    assert tree(b=log, c=log, d=log) == dict.fromkeys("bcd", UNKNOWN)
    assert tree(b=log, c=plus, d=plus) == {"b": UNKNOWN, "c": KNOWN, "d": KNOWN}
    assert tree(b=plus, c=log, d=log) == {"b": KNOWN, "c": KNOWN, "d": UNKNOWN}, "c is below an edge that is known"


@pytest.mark.parametrize(
    ("changes", "direction"),
    [
        ({"sources": "trimodal"}, KNOWN),
        ({"spread": 5}, KNOWN),
        ({"graph": "complete", "nodes": 4, "family": "ising"}, UNKNOWN),
        ({"graph": "collider", "family": "poisson-log"}, NOT_PROVED),
        ({"graph": "chain", "family": "poisson-log", "exposure": 0.3}, NOT_PROVED),
        ({"graph": "chain", "family": "poisson-log", "latent": 1}, NOT_PROVED),
        ({"graph": "chain", "family": "zip"}, NOT_PROVED),
        ({"graph": "chain", "nodes": 2, "family": {"x1": "zip", "x2": "poisson-log"}}, UNKNOWN),
        ({"graph": "chain", "family": "binomial-logit", "parameters": {"trials": 1}}, NOT_PROVED),
        (
            {
                **{"graph": "chain", "nodes": 2, "parameters": {"trials": 1}},
                "family": {"x1": "binomial-probit", "x2": "poisson-softplus"},
            },
            NOT_PROVED,
        ),
        ({"graph": "chain", "parameters": {"scale": 0}}, NOT_PROVED),
    ],
)
def test_what_can_be_known_of_a_design(changes, direction):
    truth = simulate(Design(**{"nodes": 5, "k": 1, "rows": 5, "seed": 1} | changes)).truth
    assert len(truth) and set(truth["direction"]) == {direction}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_what_their_names_say(name):
    truth = simulate(EXAMPLES[name].replace(rows=50)).truth
    said = {UNKNOWN, KNOWN} if "partly" in name else {UNKNOWN} if "cannot be known" in name else {KNOWN}
    assert set(truth["direction"]) == said
    assert words(truth["direction"]).startswith("Directions: 2 ") == ("partly" in name)


# Ising ------------------------------------------------------------------------------------------------------------


def test_every_node_of_an_ising_model_is_logistic_with_main_effects_alone(rng):
    nodes = 4
    field, coupling = rng.normal(size=nodes), np.triu(rng.normal(size=(nodes, nodes)), k=1)
    logs = np.zeros((2,) * nodes)
    for state, chance in zip(ising.states(nodes), ising.probabilities(field, coupling), strict=True):
        logs[tuple(state)] = np.log(chance)
    assert np.exp(logs).sum() == pytest.approx(1.0)
    for node in range(nodes):
        logit = np.diff(logs, axis=node).squeeze(axis=node)  # of the node, by the values of the others
        for k, first in enumerate([other for other in range(nodes) if other != node]):
            slope = np.diff(logit, axis=k)
            assert slope == pytest.approx(np.full(slope.shape, coupling[min(node, first), max(node, first)]))


def test_ising_tables_follow_the_probabilities():
    design = Design(graph="complete", nodes=3, rows=20_000, family="ising", seed=2)
    codes = simulate(design).table.to_numpy() @ [1, 2, 4]
    streams, (low, high) = np.random.default_rng(2).spawn(2)[1], (0.60, 1.00)
    coupling = np.triu(low + (high - low) * streams.spawn(1)[0].random((3, 3)), k=1)
    expected = ising.probabilities(np.full(3, -0.3), coupling)
    assert chisquare(np.bincount(codes, minlength=8), 20_000 * expected).pvalue > 1e-3
    uniform = np.full(8, 20_000 / 8)
    assert chisquare(np.bincount(codes, minlength=8), uniform).pvalue < 1e-9, "the couplings show"


# Shapes and spreads -------------------------------------------------------------------------------------------------


def source(shape: str, **changes) -> pd.Series:
    return simulate(Design(**{"graph": "chain", "nodes": 2, "rows": 20_000, "sources": shape} | changes)).table["x1"]


@pytest.mark.parametrize(("shape", "modes"), [("bimodal", (1, 6)), ("trimodal", (1, 6, 12))])
def test_modes_are_a_mixture_of_the_familys_law(shape, modes):
    counts = np.bincount(source(shape), minlength=60)[:60]
    expected = np.mean([poisson.pmf(np.arange(60), 2.0 * mode) for mode in modes], axis=0) * 20_000
    common = expected >= 10
    cells, chances = counts[common], expected[common]
    assert chisquare(cells, chances * cells.sum() / chances.sum()).pvalue > 1e-3
    inside = [source(shape, family=key).between(0, 50).all() for key in ("binomial-logit", "discrete-normal")]
    assert inside[0], "no more than the trials"


def test_zeros_and_heaps():
    zeros = (source("zero-inflated") == 0).mean()
    assert zeros == pytest.approx(0.4 + 0.6 * np.exp(-6), abs=0.012)
    heaped = source("heaped")
    assert 0.3 + 0.3 / 2 + 0.03 < (heaped % 10 == 0).mean() < 0.3 + 0.3 / 2 + 0.13
    assert 0.6 < (heaped % 5 == 0).mean() < 0.75 and set(range(20)) <= set(heaped)


@pytest.mark.parametrize("key", ["poisson-softplus", "nb-softplus", "binomial-sigmoid", "discrete-normal"])
def test_spreads_run_from_one_to_the_ratio(key):
    table = simulate(Design(nodes=4, k=0, rows=20_000, family=key, spread=8)).table
    spreads = np.sort(table.std().to_numpy())
    assert spreads / spreads[0] == pytest.approx([1, 2, 4, 8], rel=0.05)
    equal = simulate(Design(nodes=4, k=0, rows=20_000, family=key)).table.std()
    assert spreads[0] == pytest.approx(equal.mean(), rel=0.05), "the least is that of the family"


def test_parents_act_alike_whatever_their_spread():
    """A parent with ten times the spread is measured in tens, so that means do not explode along the order."""
    plain, wide = (simulate(Design(nodes=30, k=3, rows=2000, spread=ratio)).table for ratio in (1, 10))
    assert wide.mean().max() < 100 * plain.mean().max() and wide.std().max() / wide.std().min() > 8
