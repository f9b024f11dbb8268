"""Designs: the paper's table of mechanisms, the sample files, streams, options, and what is refused."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, ndtr

from disco.errors import InputError
from disco.metrics import controls
from disco.simulate import FAMILIES, Design, edge_list, poisson_er, simulate
from disco.simulate.mechanisms import Streams, build, pairwise
from disco.simulate.random_graphs import erdos_renyi
from disco.simulate.source_shapes import SOURCES

SOFTPLUS = (lambda x: x, 0.5, 0.30, 0.45, lambda z: 0.2 + np.log1p(np.exp(z)), 2.0)
EXP = (np.log1p, 0.4, 0.15, 0.30, lambda z: np.exp(np.clip(z, -3, 3.5)), 1.5)
PROBIT = (lambda x: x / 50, -1.28, 0.50, 1.00, ndtr, 0.10)
SIGMOID = (lambda x: np.sqrt(x / 50), -2.197, 0.60, 0.90, expit, 0.10)
DRAWS = {
    "poisson": lambda stream, mean: stream.poisson(mean),
    "nb": lambda stream, mean: stream.negative_binomial(6, 6 / (6 + mean)),
    "binomial": lambda stream, q: stream.binomial(50, q),
}
PAPER = {  # the six rows of the paper's table: phi, b0, interval of beta, response, source
    "poisson-softplus": SOFTPLUS, "poisson-exp": EXP, "nb-softplus": SOFTPLUS, "nb-exp": EXP, "binomial-probit": PROBIT,
    "binomial-sigmoid": SIGMOID,
}  # fmt: skip # a table
MIXED = "nb-softplus,binomial-sigmoid,poisson-softplus"


def by_the_papers_table(keys: list[str], present: np.ndarray, order: np.ndarray, rows: int, stream) -> np.ndarray:
    """The table written out again, directly from the paper."""
    coefficient_stream, *node_streams = stream.spawn(1 + len(present))
    uniform = coefficient_stream.uniform(size=present.shape)
    values = np.zeros((rows, len(present)), dtype=np.int64)
    for node in order:
        phi, intercept, low, high, response, source = PAPER[keys[node]]
        beta = (low + (high - low) * uniform[:, node]) * present[:, node]
        location = response(intercept + phi(values) @ beta)
        if not present[:, node].any():
            location = np.full(rows, source)
        values[:, node] = DRAWS[keys[node].split("-")[0]](node_streams[node], location)
    return values


@pytest.mark.parametrize("family", [*PAPER, MIXED])
def test_the_papers_mechanisms(family):
    drawn = simulate(Design(nodes=11, rows=300, family=family, seed=4))
    graph_stream, mechanism_stream = np.random.default_rng(4).spawn(2)
    present, order = erdos_renyi(11, 3, graph_stream)
    assert (drawn.adjacency.to_numpy() == present).all() and drawn.order == [f"x{node + 1}" for node in order]
    keys = dict(zip(order, np.repeat(family.split(","), [4, 4, 3] if family == MIXED else 11), strict=True))
    expected = by_the_papers_table([keys[node] for node in range(11)], present, order, 300, mechanism_stream)
    assert (drawn.table.to_numpy() == expected).all()
    assert drawn.families == {f"x{node + 1}": key for node, key in keys.items()}


OPTIONS = {"graph": "er", "nodes": 6, "k": 1.5, "seed": 7}
BESIDE = {"batches": 3, "depth": 0.5, "age_and_sex": True, "groups": 10}
HARD = {"random_signs": True, "interactions": 0.5, "latent": 2, "exposure": 0.4}
HASHES = {
    "poisson-softplus": "cdbc116a287a", "poisson-exp": "8f53ce8ccee4", "nb-softplus": "2c016843b72a",
    "nb-exp": "c150c683543f", "binomial-probit": "2f4a3db03c9e", "binomial-sigmoid": "4c76798f1a30",
    "com-poisson": "d4154dcac9f0", "zip": "6b34d5013f8e", "zinb": "1b71a39aa364", "hurdle-poisson": "5206c0a64925",
    "geometric": "df12d118a2f8", "generalised-poisson": "4851d9234c11", "poisson-log": "da034a63a8dc",
    "binomial-logit": "4e5df2ae5e1a", "discrete-normal": "5501a1b813b2", "ising": "a20edcd28b3e",
    "gaussian-gp": "911502e1ce15", "gamma-gp": "6e9c35bd3de5",
}  # fmt: skip # a table


def options(key: str) -> dict[str, object]:
    """Options for a small graph that the family supports."""
    return OPTIONS | ({"graph": "complete"} if key == "ising" else {})


@pytest.mark.parametrize("key", FAMILIES)
def test_each_family_gives_the_same_table_on_every_machine(key):
    """Continuous values are compared to six decimals, since sums of cosines round differently on each machine."""
    table = simulate(Design(**options(key), rows=40, family=key)).table
    assert (table.dtypes == ("float64" if key.endswith("gp") else "int64")).all()
    text = table.to_csv(index=False, float_format="%.6f", lineterminator="\n")
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == HASHES[key]


@pytest.mark.parametrize(
    "changes",
    [options(key) | {"family": key} for key in FAMILIES]
    + [OPTIONS | more for more in (HARD, HARD | {"equal_means": True}, {"unsortable": True}, {"spread": 4})]
    + [OPTIONS | {"sources": shape, "family": "nb-exp"} for shape in SOURCES]
    + [OPTIONS | BESIDE | more for more in ({}, {"equal_means": True}, {"latent": 2, "exposure": 0.3})],
    ids=lambda changes: " ".join(map(str, changes.values())),
)
def test_fewer_rows_are_the_first_rows_of_more(changes):
    short, long = (simulate(Design(rows=rows, **changes)) for rows in (30, 700))
    pd.testing.assert_frame_equal(short.whole, long.whole.head(30), check_exact=True)
    pd.testing.assert_frame_equal(short.hidden, long.hidden.head(30), check_exact=True)
    pd.testing.assert_frame_equal(short.truth, long.truth)


def test_graphs_and_coefficients_are_paired_across_families():
    def coefficients(**changes) -> list[np.ndarray]:
        design = Design(nodes=8, seed=2, **changes)
        streams = Streams.of(2, 8, 0)
        present, order = erdos_renyi(8, 3, streams.graph)
        keys = design.families([f"x{node + 1}" for node in order])
        return [node.coefficients for node in build(design, present, [keys[name] for name in design.names], streams)]

    changes = ({}, {"family": "binomial-probit"}, {"random_signs": True})
    plain, wide, signed = (np.concatenate(coefficients(**one)) for one in changes)
    assert (plain - 0.30) / 0.15 == pytest.approx((wide - 0.5) / 0.5)
    assert (abs(signed) == plain).all() and 0.2 < (signed < 0).mean() < 0.8


def test_an_exposure_multiplies_the_means_of_its_row():
    drawn = simulate(Design(nodes=6, k=0, rows=40_000, exposure=0.8, seed=1))
    exposure = drawn.hidden["exposure"]
    assert exposure.mean() == pytest.approx(1.0, abs=0.02) and np.log(exposure).std() == pytest.approx(0.8, abs=0.02)
    high = exposure > 2
    assert drawn.table[high].sum().sum() / exposure[high].sum() / 6 == pytest.approx(2.0, rel=0.03)


def test_a_latent_cause_is_hidden_and_makes_its_children_dependent():
    drawn = simulate(Design(graph="er", nodes=3, k=0, rows=20_000, latent=1, seed=3))
    assert drawn.truth.empty and list(drawn.table) == ["x1", "x2", "x3"] and list(drawn.hidden) == ["latent1"]
    first, second = drawn.latent_edges["child"]
    (alone,) = set(drawn.table) - {first, second}
    correlation = drawn.table.corr()
    assert correlation.loc[first, second] > 0.05 and abs(correlation.loc[alone]).drop(alone).max() < 0.03


def test_interactions_replace_the_sum_by_pairs():
    features = np.array([[4.0, 9.0], [4.0, 1.0], [4.0, 0.0]])
    beta = np.array([0.1, 0.2, 0.4])
    alike, unlike = pairwise(features, beta)
    assert alike == pytest.approx(4 * 0.7), "as the additive sum where all parents are alike"
    assert unlike == pytest.approx((0.1 + 0.2) / 2 * 3), "zero times anything adds nothing"
    drawn = simulate(Design(graph="collider", nodes=3, rows=60_000, interactions=1.0)).table
    means = drawn[drawn["x1"] == 0].groupby("x2")["x3"].mean().loc[:4]
    assert means.to_numpy() == pytest.approx(np.full(5, 0.2 + np.log1p(np.exp(0.5))), abs=0.06)


@pytest.mark.parametrize("family", ["poisson-softplus", MIXED])
def test_no_sorting_orders_an_unsortable_design(family):
    """Means within 5 standard errors of the sample and of the calibration; A_top of the sorting controls near 1/2."""
    scores, sortable = [], []
    for seed in range(4):
        drawn = simulate(Design(nodes=30, rows=3000, family=family, unsortable=True, seed=seed))
        error = drawn.table.std() * np.sqrt(1 / 3000 + 1 / 10_000)
        assert (abs(drawn.table.mean() - 2.0) < 5 * error).all()
        assert drawn.table.var().max() / drawn.table.var().min() < 1.35
        scores.append(controls(drawn.table, drawn.truth))
        plain = simulate(Design(nodes=30, rows=3000, family=family, seed=seed))
        sortable.append(controls(plain.table, plain.truth)["mean"])
    for name, score in pd.DataFrame(scores).mean().items():
        assert score == pytest.approx(0.5, abs=0.12), name
    assert np.mean(sortable) > 0.75


DENSE, EQUAL = {"nodes": 60, "k": 30}, {"equal_means": True}


def test_equal_means_alone_leave_the_variance_sortable():
    drawn = simulate(Design(nodes=30, rows=3000, random_signs=True, equal_means=True))
    assert controls(drawn.table, drawn.truth)["variance"] > 0.8


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (DENSE, r'The mean of "x\d+" grows to \d,\d{3},\d{3} in some rows, more than 1,000,000: lower k'),
        ({"nodes": 60, "k": 20, "family": "com-poisson"}, "more than 10,000: lower k"),
        ({**EQUAL, "parameters": {"source": 0.1}}, "cannot be as low as 0.1, the mean of a source: raise source"),
        ({**EQUAL, "family": "poisson-exp", "parameters": {"source": 900}}, "cannot be as high as 900, the mean of a"),
        (
            {"graph": "chain", "nodes": 4, "unsortable": True, "parameters": {"scale": 0, "source": 1000}}
            | {"family": {"x1": "geometric", "x2": "zip", "x3": "zip", "x4": "geometric"}},
            r'The variance of "x\d" cannot be as',
        ),
    ],
)
def test_a_mean_that_cannot_be_is_said_before_it_is_drawn(changes, sentence):
    design = Design(rows=50, **changes)
    with pytest.raises(InputError, match=sentence):
        simulate(design)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"graph": "tree"}, 'graph must be one of er, .*; got "tree"'),
        ({"names": 3}, "names must be a list of names; got 3"),
        ({"nodes": 1}, "nodes must be a whole number from 2 to 5,000; got 1"),
        ({"nodes": 5000, "rows": 100_000}, "500,000,000 cells, more than 100,000,000: fewer rows or nodes"),
        ({"unsortable": 1}, "unsortable must be true or false"),
        ({"family": "poison"}, 'There is no family "poison"; the families are poisson-softplus'),
        ({"family": "zip," * 20 + "zip"}, "21 families for 20 nodes"),
        ({"family": "zip,gamma-gp"}, "holds counts or continuous values, not both"),
        ({"family": {"x1": "zip"}, "nodes": 2}, '"x2" has no family'),
        ({"family": {"x1": "zip", "x2": "zip", "x9": "zip"}, "nodes": 2}, '"x9" is not a node'),
        ({"family": 3}, "family must be a key"),
        ({"exposure": 0.5, "family": "binomial-probit"}, "An exposure multiplies a mean"),
        ({"interactions": 0.5, "family": "gaussian-gp"}, "not additive anyway"),
        ({"equal_variances": True}, "Equal variances need equal means"),
        ({"parameters": {"nu": 1}}, '"nu" is not a parameter of poisson-softplus: choose from scale, intercept'),
        ({"parameters": {"nu": 0}, "family": "com-poisson"}, '"nu" .* must be a number from 0.001 to 1000; got 0'),
        ({"parameters": {"zeros": 1.0}, "family": "zip"}, '"zeros" .* from 0 to 0.99; got 1.0'),
        ({"names": ["a", "b"]}, "There are 20 nodes, but 2 names"),
        ({"names": ["a", "a"], "nodes": 2}, 'Two nodes are called "a"'),
        ({"names": ["a", " "], "nodes": 2}, "A node's name is empty"),
        ({"graph": "own"}, 'Graph "own" needs its edges'),
        ({"graph": "own", "edges": [("a",)]}, "is a pair"),
        ({"sources": "heaped", "unsortable": True}, "Equal means fix the sources and the spread"),
        ({"sources": "heaped", "family": "gamma-gp"}, 'Sources "heaped" are counts: choose families of counts'),
        ({"family": "ising"}, 'Family "ising" is one distribution of all nodes: use it alone, on graph "complete"'),
        ({"family": "ising", "graph": "complete", "nodes": 13}, "of at most 12 nodes"),
        ({"family": "ising", "graph": "complete", "nodes": 4, "latent": 1}, "the options that make a table harder"),
    ],
)
def test_an_impossible_design_is_refused_in_a_sentence(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        Design(**changes)


def test_a_design_survives_json_and_replacement():
    design = Design(nodes=3, family={"x1": "zip", "x2": "nb-exp", "x3": "zip"}, parameters={"zeros": 0.2})
    assert Design.from_dict(design.to_dict()) == design
    own = Design(graph="own", edges=[("a", "b")], names=["a", "b", "c"])
    assert Design.from_dict(own.to_dict()) == own and own.nodes == 3
    assert Design(nodes=5).replace(nodes=7).names[-1] == "x7"
    with pytest.raises(InputError, match='A design has no option "colour"'):
        Design.from_dict({"colour": "red"})


def test_parameters_change_the_law():
    table = simulate(Design(nodes=2, k=0, rows=50_000, family="nb-softplus", parameters={"size": 1, "source": 3})).table
    assert table.mean().to_numpy() == pytest.approx([3, 3], rel=0.03)
    assert table.var().to_numpy() == pytest.approx([12, 12], rel=0.06)
    still = simulate(Design(graph="chain", nodes=2, rows=50_000, parameters={"scale": 0, "intercept": 1})).table
    assert still["x2"].mean() == pytest.approx(0.2 + np.log1p(np.e), rel=0.02)
    assert abs(still.corr().loc["x1", "x2"]) < 0.02


DATASETS = Path(__file__).parents[2] / "datasets"


def test_the_sample_files_are_what_the_generator_gives(tmp_path):
    table, edges = poisson_er()
    table.to_csv(tmp_path / "poisson20.csv", index=False)
    edges.to_csv(tmp_path / "poisson20_truth.csv", index=False)
    for name in ("poisson20.csv", "poisson20_truth.csv"):
        assert (tmp_path / name).read_text() == (DATASETS / name).read_text()
    assert f"its {len(edges)} true edges" in (DATASETS / "README.md").read_text()


def test_edge_list_holds_the_convention():
    adjacency = pd.DataFrame([[0, 1], [0, 0]], index=["cause", "effect"], columns=["cause", "effect"])
    assert edge_list(adjacency).to_dict("records") == [{"parent": "cause", "child": "effect"}]
