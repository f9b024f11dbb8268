"""Trained networks against the exact concrete scores of an enumerated table's noisy marginals."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from disco.paper.curvature import NetworkScores, States, full_float32
from disco.paper.networks import new_networks
from disco.paper.plan import Plan
from disco.paper.settings import Settings
from disco.paper.training import Training, TrainingRows, train_joint, train_projection
from tests.exact import ExactScores, fold_of

SIGMAS = (0.3, 0.6, 1.2)
SETTINGS = Settings.of(
    "paper", width=48, hidden_layers=2, batch_size=512, joint_epochs=90, joint_schedule="epochs",
    joint_learning_rate=5e-3, projection_epochs=90, projection_schedule="epochs", projection_learning_rate=5e-3,
    validation_start=90, validation_every=90, monitor_every=90, noise_levels=len(SIGMAS), noise_min=SIGMAS[0],
    noise_max=SIGMAS[-1], folds=2,
)  # fmt: skip # a table
STATES = np.array(list(itertools.product(range(3), repeat=3)))
TOLERANCE = 0.16  # root mean square of log ratios; this training leaves .06 to .11
SETS = [(0, 1, 2), (0, 1), (1, 2), (0, 2)]


def table() -> np.ndarray:
    """A joint distribution of three columns with three levels, each depending on the previous one, (3, 3, 3)."""
    a, b, c = np.meshgrid(*[np.arange(3)] * 3, indexing="ij")
    logs = -0.5 * a + 1.8 * (a - 1) * (b - 1) - 1.6 * (b - 1) * (c == 2) + 1.2 * (a == 2) * (c == 0)
    return np.exp(logs) / np.exp(logs).sum()


@pytest.fixture(scope="module")
def trained() -> NetworkScores:
    """Both networks, trained on rows that contain every state in proportion to its probability."""
    rows = np.random.default_rng(0).permutation(drawn(table(), 4000))
    return trained_on(rows, np.zeros((len(rows), 0)), SETTINGS)


def drawn(of: np.ndarray, rows: int) -> np.ndarray:
    """About so many rows that contain every state in proportion to its probability, (rows, 3)."""
    return np.repeat(STATES, np.round(rows * of.reshape(-1)).astype(int), axis=0)


def trained_on(rows: np.ndarray, given: np.ndarray, settings: Settings) -> NetworkScores:
    """Both networks, trained on all of some rows and what they are given beside them."""
    folds = [fold_of(rows, rows, 2, given)]
    joint, projection = new_networks(folds, settings)
    plan = Plan.of(2 * len(rows), settings)
    data = TrainingRows(folds, plan, torch.device("cpu"))
    first, second = Training.start(joint), Training.start(projection)
    list(train_joint(first, data, plan))
    joint.load_state_dict({**joint.state_dict(), **first.best})
    list(train_projection(second, joint, data, plan))
    return NetworkScores(joint, projection, settings)


def inside(scores, remaining: tuple[int, ...], given: Sequence[float] = ()) -> np.ndarray:
    """Upward entries at every state whose neighbour is in the grid, by noise level, (levels, entries)."""
    states = torch.tensor(STATES[None], dtype=torch.float32)
    with full_float32():
        found = scores.entries(States(states, torch.tensor(given).expand(1, len(STATES), -1)), remaining)[0].numpy()
    return found[:, STATES[:, remaining] < 2]


def distance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Root mean square difference by noise level."""
    return np.sqrt(((one - other) ** 2).mean(axis=1))


def exact(remaining: tuple[int, ...], sigmas: np.ndarray, of: np.ndarray | None = None) -> np.ndarray:
    return inside(ExactScores([table() if of is None else of], sigmas), remaining)


@pytest.mark.parametrize("remaining", SETS)
def test_entries_are_those_of_the_noisy_marginal_and_of_nothing_near_it(trained, remaining):
    """Other noise, no noise, lost dependence, and a coordinate that was not summed out are all farther away."""
    levels = np.exp(trained.log_sigma.numpy())
    assert levels == pytest.approx(SIGMAS, rel=1e-5)
    true = exact(remaining, levels)
    found = inside(trained, remaining)
    error = distance(found, true).mean()
    assert error < TOLERANCE
    columns = [table().sum(axis=tuple(set(range(3)) - {node})) for node in range(3)]
    wrong = {
        "twice the noise": exact(remaining, 2 * levels),
        "no noise": exact(remaining, 1e-9 * levels),
        "independent columns": exact(remaining, levels, np.einsum("a,b,c->abc", *columns)),
    }
    others = [node for node in range(3) if node not in remaining]
    if others:  # as if the removed coordinate were still there
        whole = exact((0, 1, 2), levels).reshape(len(levels), -1)
        wrong["the whole set"] = _columns_of(whole, remaining)
    for what, scores in wrong.items():
        assert distance(found, scores).mean() > 1.7 * error, what


def _columns_of(whole: np.ndarray, remaining: tuple[int, ...]) -> np.ndarray:
    """The entries of some nodes among those of the full set, in the order of `inside`."""
    full = np.full((len(whole), *STATES.shape), np.nan)
    full[:, STATES < 2] = whole
    return full[..., remaining][:, STATES[:, remaining] < 2]


def test_entries_given_a_covariate_are_those_of_its_own_law():
    """Two laws of the same rows' counts: each is farther from the other's scores, and from those of their mixture."""
    a, b, c = np.meshgrid(*[np.arange(3)] * 3, indexing="ij")
    laws = [np.exp(-0.4 * a + strength * (a - 1) * (b - 1) + 0.8 * c * sign) for strength, sign in ((1.5, 1), (0, -1))]
    laws = [law / law.sum() for law in laws]
    parts = [drawn(law, 2000) for law in laws]
    given = np.repeat([[-1.0], [1.0]], [len(part) for part in parts], axis=0)
    mixed = np.random.default_rng(0).permutation(len(given))
    scores = trained_on(np.concatenate(parts)[mixed], given[mixed], SETTINGS)
    levels = np.exp(scores.log_sigma.numpy())
    for remaining in SETS:
        true = [exact(remaining, levels, law) for law in laws]
        pooled = exact(remaining, levels, (laws[0] + laws[1]) / 2)
        for number, value in enumerate((-1.0, 1.0)):
            error = distance(inside(scores, remaining, (value,)), true[number]).mean()
            assert error < TOLERANCE and min(distance(pooled, true[number]).mean(), distance(*true).mean()) > 2 * error
