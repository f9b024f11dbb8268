"""DISCO-Cont: an order from the CCS of a continuous table (paper, *Continuous-Data Ordering Recovery*); parents by CAM.

A joint network predicts the noise in all columns, ε_θ(x_t, t), and a projection network predicts the mean of these
predictions for the remaining columns R, from these columns alone, ε_φ(x_t,R, R, t) ≈ E[ε_θ(x_t, t)_R | x_t,R]. With x_j
standardised by its standard deviation s_j, the curvature of the marginal's log density at t = 0.05 is, in the column's
units,

    H_j,R = −(∂ε_φ,j / ∂x_j) / (σ_t s_j²),

and the node with the smallest CCS, S_j(R) = E[Var{H_j,R | X_j}] (`continuous.ccs`), is placed last and removed.
Neither network is refitted. Unlike DiffAN's criterion, this one allows the curvature of a leaf to depend on its own
value, as it does outside additive Gaussian noise: a Gamma leaf of shape α has H = −(α − 1) / x².

`noise` chooses what the networks train on. With "uniform", t is uniform. With "mixture", the paper's choice for Gamma
data, the joint network's first layer is not normalised, every row is used with ε and −ε, half of the times t are
uniform on (0, 0.5) and half have log-uniform noise, and the projection network is trained with t uniform on (0, 0.5).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from disco.devices import DEVICES
from disco.fields import boolean, check, number, one_of, whole
from disco.graph.result import GraphResult
from disco.methods.diffan import STOPPED, begun
from disco.methods.sorting import along
from disco.paper.continuous.ccs import ConditionalVariance, fold_of_rows
from disco.paper.continuous.noise import LAST, deviation, mixture, uniform
from disco.paper.continuous.noise_curvature import diagonal, lowest
from disco.paper.continuous.noise_networks import MaskedNoiseNetwork, NoiseNetwork
from disco.paper.continuous.noise_training import TrainingLength, train_joint, train_projection
from disco.progress import Callback, Reporter
from disco.table.prepared import Prepared

EVALUATED = 0.05  # t at which the curvature is evaluated


@dataclass(frozen=True)
class Options:
    """Training and ordering of DISCO-Cont."""

    noise: str = one_of("uniform", ("uniform", "mixture"), help="The distribution of t in training.")
    units: str = one_of(
        "own",
        ("own", "standardised"),
        help="Those in which the CCS of columns are compared: their own, as in the paper, where a column in grams "
        "has a trillionth of the CCS that it has in kilograms; or their standard deviations, so that no unit "
        "matters.",
    )
    epochs: int = whole(1000, at_least=1, help="Epochs of the joint network.")
    projection_epochs: int = whole(400, at_least=1, help="Epochs of the projection network.")
    batch: int = whole(1000, at_least=1, help="Rows of a batch, of both networks.")
    rate: float = number(1e-3, above=0, help="Learning rate of both networks.")
    width: int | None = whole(
        None, at_least=1, optional=True, help="Width of the joint network's two widest layers; none is max(1024, 5 d)."
    )
    projection_width: int = whole(256, at_least=1, help="Width of the projection network's hidden layers.")
    halved: bool = boolean(
        False,
        help="Whether training multiplies in bfloat16, three times as fast on processors that support it; the "
        "curvature is computed in 32 bits anyway.",
    )
    logged: bool = boolean(False, help="Whether the table is transformed by log(1 + x).")
    cutoff: float = number(0.001, within=(0, 1), help="The p-value below which CAM keeps an edge.")
    seed: int = whole(0, within=(0, 2**32 - 1), help="Of the networks and the noise.")
    device: str = one_of("auto", DEVICES, help="auto, cpu or cuda.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Ordered:
    """An order, sources first, and the score of every remaining node at every removal.

    `steps` has step (from 1), node, score (the CCS), chosen; one row per removal and remaining node.
    """

    order: list[str]
    steps: pd.DataFrame


def find(table: pd.DataFrame | np.ndarray, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The order, and parents by CAM along it.

    Raises:
        InputError: the table cannot be used (`as_numbers`), a logarithm is undefined, the networks did not converge, or
            there are too few rows for CAM.
    """
    weights = {"joint": 10.0, "projection": 3.0, "ordering": 2.0, "selector": 0.2}
    reporter = Reporter(callback, weights, STOPPED)
    numbers, values, generator, notes = begun(table, options.logged, options.seed, options.device)
    joint = joint_network(values, options, generator, reporter)
    projection = project(joint, values, options, generator, reporter)
    compared = numbers if options.units == "own" else in_deviations(values, numbers.columns)
    ordered = order(partial(predicted, projection), compared, values, options.seed, reporter)
    relay = reporter.part("selector", "node")
    return along(Prepared(numbers), ordered.order, options.cutoff, notes=notes, callback=relay)


def joint_network(values: Tensor, options: Options, generator: torch.Generator, reporter: Reporter) -> NoiseNetwork:
    """The joint network trained on standardised rows, (rows, nodes)."""
    mixed = options.noise == "mixture"
    network = NoiseNetwork(values.shape[1], generator, options.width, first_norm=not mixed).to(values.device)
    schedule = TrainingLength(options.epochs, options.batch, options.rate, halved=options.halved)
    times = mixture if mixed else uniform(0.0, LAST)
    train_joint(network, values, times, schedule, generator, reporter, paired=mixed)
    return network


def project(
    joint: NoiseNetwork, values: Tensor, options: Options, generator: torch.Generator, reporter: Reporter
) -> MaskedNoiseNetwork:
    """The projection network trained on a joint network."""
    network = MaskedNoiseNetwork(values.shape[1], options.projection_width, generator).to(values.device)
    schedule = TrainingLength(options.projection_epochs, options.batch, options.rate, halved=options.halved)
    times = uniform(0.0, 0.5 if options.noise == "mixture" else LAST)
    train_projection(network, joint, values, times, schedule, generator, reporter)
    return network


def order(noise: Callable[..., Tensor], table: pd.DataFrame, values: Tensor, seed: int, reporter: Reporter) -> Ordered:
    """Recursive removal of the node with the smallest CCS.

    Args:
        noise: (rows, nodes), mask=(nodes,) → the predicted noise at t = 0.05 in the mask's columns.
        table: in the units in which the CCS are compared.
        values: the same standardised, (rows, nodes).
        seed: of the folds.
        reporter: must have the stage ordering.
    """
    nodes = values.shape[1]
    folds = fold_of_rows(len(table), np.random.default_rng(seed))
    conditionals = []
    for index in range(nodes):
        conditionals.append(ConditionalVariance(table.iloc[:, index].to_numpy(), folds))
        reporter.check()
    sigma = float(deviation(torch.tensor(EVALUATED)))
    units = sigma * table.to_numpy().var(axis=0)
    remaining, removed, steps = list(range(nodes)), list[int](), []
    while remaining:
        reporter.step("ordering", len(removed), nodes, unit="removal")
        mask = torch.zeros(nodes, device=values.device, dtype=values.dtype)
        mask[remaining] = 1.0
        slopes = diagonal(partial(noise, mask=mask), values, remaining, reporter.check).double().cpu().numpy()
        scores = []
        for k, j in enumerate(remaining):
            scores.append(conditionals[j].variance(-slopes[:, k] / units[j]))
            reporter.check()
        leaf = remaining[lowest(np.array(scores))]
        steps += [
            (len(removed) + 1, table.columns[j], score, j == leaf) for j, score in zip(remaining, scores, strict=True)
        ]
        remaining.remove(leaf)
        removed.append(leaf)
    names = [table.columns[index] for index in removed[::-1]]
    return Ordered(names, pd.DataFrame(steps, columns=["step", "node", "score", "chosen"]))


def in_deviations(values: Tensor, names: Sequence[str]) -> pd.DataFrame:
    """Standardised rows as a table in units of standard deviations."""
    return pd.DataFrame(values.double().cpu().numpy(), columns=list(names))


def predicted(network: MaskedNoiseNetwork, rows: Tensor, mask: Tensor) -> Tensor:
    """A network's predicted noise at t = 0.05 in the columns of a mask, (nodes,)."""
    return network(rows, mask.expand_as(rows), rows.new_full((len(rows),), EVALUATED))
