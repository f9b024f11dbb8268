"""DiffAN: an order from the curvature of the log density (Sanchez et al., 2023), and parents by CAM along it.

In a nonlinear model with additive Gaussian noise, x_j = f_j(x_pa) + ε_j, a node l is a leaf if and only if
∂²log p / ∂x_l² is constant. A network predicts the noise of a diffusion (`paper.continuous`). At each of several noise
levels, the remaining node whose ∂ε_l / ∂x_l varies least over the rows gets a vote; the node with most votes is placed
last and removed. The option `removal` says how it is removed from the others' scores:

    masking   its input is set to 0, its mean,
    residue   the other nodes' predictions are corrected (`disco.paper.continuous.noise_curvature.without`),
    both      both,
    greedy    no removal: the nodes are sorted once by that variance.

The paper's comparison uses masking. Here the variances use all rows, unless `evaluated` is set, and every column is
standardised. Counts are used as they are, or as log(1 + x) with `logged`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from disco.devices import DEVICES, choose_device
from disco.errors import InputError
from disco.fields import boolean, check, number, one_of, share, whole
from disco.graph.result import GraphResult
from disco.methods.sorting import along, check_rows
from disco.paper.continuous.noise import LAST, uniform
from disco.paper.continuous.noise_curvature import Noise, diagonal, lowest, without
from disco.paper.continuous.noise_networks import NoiseNetwork
from disco.paper.continuous.noise_training import TrainingLength, train_joint
from disco.progress import Callback, Reporter
from disco.table.prepared import Prepared, as_numbers

LEVELS = (0.0, 0.33, 0.66, 0.99)  # t at which DiffAN votes
STOPPED = "Stopped in the stage {stage}."


@dataclass(frozen=True)
class Options:
    """Training and ordering of DiffAN."""

    removal: str = one_of(
        "masking",
        ("masking", "residue", "both", "greedy"),
        help="How a removed node is removed from the others' scores.",
    )
    epochs: int = whole(3000, at_least=1, help="Most epochs of training.")
    batch: int = whole(1024, at_least=1, help="Rows of a batch.")
    rate: float = number(1e-3, above=0, help="Learning rate.")
    holdout: float = share(0.2, help="Share of the rows that are held out for validation.")
    least: int = whole(300, at_least=1, help="Fewest epochs.")
    patience: int = whole(300, at_least=1, help="Epochs without a gain before training stops.")
    width: int | None = whole(
        None, at_least=1, optional=True, help="Width of the two widest layers; none is max(1024, 5 d)."
    )
    evaluated: int | None = whole(
        None, at_least=2, optional=True, help="Number of random rows for the variances; none is all."
    )
    halved: bool = boolean(
        False,
        help="Whether training multiplies in bfloat16, three times as fast on processors that support it; the "
        "curvature is computed in 32 bits anyway.",
    )
    logged: bool = boolean(False, help="Whether the table is transformed by log(1 + x).")
    cutoff: float = number(0.001, within=(0, 1), help="The p-value below which CAM keeps an edge.")
    seed: int = whole(0, within=(0, 2**32 - 1), help="Of the network and the noise.")
    device: str = one_of("auto", DEVICES, help="auto, cpu or cuda.")

    def __post_init__(self) -> None:
        check(self)


def find(table: pd.DataFrame | np.ndarray, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The order, and parents by CAM along it.

    Raises:
        InputError: the table cannot be used (`as_numbers`), a logarithm is undefined, the networks did not converge, or
            there are too few rows for CAM.
    """
    reporter = Reporter(callback, {"joint": 6.0, "ordering": 3.0, "selector": 1.0}, STOPPED)
    numbers, values, generator, notes = begun(table, options.logged, options.seed, options.device)
    network = NoiseNetwork(values.shape[1], generator, options.width).to(values.device)
    schedule = TrainingLength(
        options.epochs, options.batch, options.rate, options.holdout, options.least, options.patience, options.halved
    )
    epoch = train_joint(network, values, uniform(0.0, LAST), schedule, generator, reporter)
    rows = chosen_rows(values, options.evaluated, generator)
    indices = order([partial(predicted, network, t) for t in LEVELS], rows, options.removal, reporter)
    used = f"The network of epoch {epoch:,} was used, and variances computed on {len(rows):,} of {len(values):,} rows."
    names, relay = [numbers.columns[index] for index in indices], reporter.part("selector", "node")
    return along(Prepared(numbers), names, options.cutoff, notes=(used, *notes), callback=relay)


def begun(
    table: pd.DataFrame | np.ndarray, is_logged: bool, seed: int, device: str
) -> tuple[pd.DataFrame, Tensor, torch.Generator, tuple[str, ...]]:
    """The numbers of a table, checked; the same standardised, on the device; a generator; and notes."""
    numbers = logged(as_numbers(table)) if is_logged else as_numbers(table)
    check_rows(Prepared(numbers))
    values = torch.tensor(standardised(numbers), device=choose_device(device))
    notes = ("The table was transformed by log(1 + x).",) if is_logged else ()
    return numbers, values, torch.Generator().manual_seed(seed), notes


def order(levels: Sequence[Noise], rows: Tensor, removal: str, reporter: Reporter) -> list[int]:
    """The columns in causal order, sources first.

    Args:
        levels: the noise prediction at each noise level, lowest first.
        rows: standardised, (rows, nodes).
        removal: as in `Options`.
        reporter: must have the stage ordering.
    """
    nodes = rows.shape[1]
    if removal == "greedy":
        ranks = np.stack([_variances(noise, rows, range(nodes), reporter).argsort().argsort() for noise in levels])
        return [int(index) for index in (-ranks.mean(axis=0)).argsort(kind="stable")]
    remaining, removed = list(range(nodes)), list[int]()
    while len(remaining) > 1:
        reporter.step("ordering", len(removed), nodes - 1, unit="removal")
        seen = rows.clone()
        if removal in ("masking", "both"):
            seen[:, removed] = 0.0
        forgotten = removed if removal in ("residue", "both") else []
        votes = [lowest(_variances(noise, seen, remaining, reporter, forgotten)) for noise in levels]
        leaf = remaining[winner(votes)]
        remaining.remove(leaf)
        removed.append(leaf)
    return [*remaining, *removed[::-1]]


def winner(votes: Sequence[int]) -> int:
    """The node with the most votes; a tie goes to the highest noise level's vote."""
    times = Counter(votes)
    return next(vote for vote in reversed(votes) if times[vote] == max(times.values()))


def _variances(
    noise: Noise, rows: Tensor, columns: Sequence[int], reporter: Reporter, forgotten: Sequence[int] = ()
) -> np.ndarray:
    """The variance over the rows of ∂ε_j / ∂x_j, (columns,), corrected for removed nodes."""
    slopes = diagonal(without(noise, forgotten), rows, columns, reporter.check, weight=1 + len(forgotten))
    return slopes.double().var(dim=0).cpu().numpy()


def predicted(network: NoiseNetwork, t: float, rows: Tensor) -> Tensor:
    """A network's predicted noise in rows at one time."""
    return network(rows, rows.new_full((len(rows),), t))


def standardised(table: pd.DataFrame) -> np.ndarray:
    """Every column with mean 0 and standard deviation 1, float32, (rows, nodes)."""
    values = table.to_numpy()
    return ((values - values.mean(axis=0)) / values.std(axis=0)).astype(np.float32)


def logged(table: pd.DataFrame) -> pd.DataFrame:
    """log(1 + x) of every column. InputError: a value is -1 or less."""
    for name, column in table.items():
        if (column <= -1).any():
            raise InputError(
                f'Column "{name}" has a value of -1 or less, so log(1 + x) is undefined: set logged=False.'
            )
    logarithms = np.log1p(table)
    for name, column in logarithms.items():
        if (column == column.iloc[0]).all():
            raise InputError(f'The logarithms of column "{name}" do not vary: use another unit, or leave it out.')
    return logarithms


def chosen_rows(values: Tensor, count: int | None, generator: torch.Generator) -> Tensor:
    """`count` random rows, or all."""
    if count is None or count >= len(values):
        return values
    return values[torch.randperm(len(values), generator=generator)[:count].to(values.device)]
