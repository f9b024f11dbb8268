"""DiffAN and DISCO-Cont on the paper's continuous tables (*Continuous-Data Ordering Recovery*): A_top of their orders.

On Gaussian tables DiffAN trains its own network, up to 3,000 epochs with early stopping, and four noise levels vote. On
Gamma tables it shares DISCO-Cont's joint network and reads it at t = 0.05.

Versions: `full` is as the paper says, but multiplies in bfloat16 in training, and takes DiffAN's variances over 1,024
rows, as its public code does. `brief` is the same with 300 epochs of the joint network instead of 1,000, 200 of the
projection instead of 400, 600 of DiffAN's instead of 3,000, and 512 rows. `narrow` has all epochs, rows and bits, but
joint networks of width 256 instead of 1,024.
"""

import functools
import json
import time
from collections.abc import Mapping
from typing import Any

import torch

from benchmarks.paper.rows import Method, Row
from disco.methods import cont, diffan
from disco.metrics import a_top, controls
from disco.paper.continuous.noise import LAST, uniform
from disco.paper.continuous.noise_networks import NoiseNetwork
from disco.paper.continuous.noise_training import TrainingLength, train_joint
from disco.progress import Reporter
from disco.simulate import Design, Simulated, simulate

_REPORTER = Reporter(None, {"joint": 1.0, "projection": 1.0, "ordering": 1.0}, "")


def read(row: Row, method: Method, seed: int) -> dict[str, Any]:
    """A_top of the order by the method that a row names, and its seconds; both orders of a table are made at once."""
    drawn = simulate(row.source.replace(seed=seed))
    order, seconds = _orders(json.dumps(drawn.design.to_dict()), json.dumps(method.changes))[row.labels[-1]]
    return {
        "a_top": a_top(order, drawn.truth),
        "true_edges": len(drawn.truth),
        "controls": controls(drawn.table, drawn.truth),
        "seconds": seconds,
    }


@functools.lru_cache(maxsize=1)
def _orders(design: str, changes: str) -> dict[str, tuple[list[str], float]]:
    return orders(simulate(Design.from_dict(json.loads(design))), json.loads(changes))


def orders(drawn: Simulated, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[list[str], float]]:
    """The order of a table and the seconds, by method.

    Args:
        drawn: the table.
        changes: options of DISCO-Cont and of DiffAN that are not their defaults.
    """
    is_gaussian = drawn.design.family == "gaussian-gp"
    options = cont.Options(noise="uniform" if is_gaussian else "mixture", **changes["DISCO-Cont"])
    settings = diffan.Options(**changes["DiffAN"])
    generator, values = torch.Generator().manual_seed(0), torch.tensor(diffan.standardised(drawn.table))
    start = time.perf_counter()
    joint = cont.joint_network(values, options, generator, _REPORTER)
    trained = time.perf_counter() - start
    projection = cont.project(joint, values, options, generator, _REPORTER)
    ccs = cont.order(functools.partial(cont.predicted, projection), drawn.table, values, 0, _REPORTER)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    rows = diffan.chosen_rows(values, settings.evaluated, generator)
    levels: tuple[float, ...] = (cont.EVALUATED,)
    if is_gaussian:
        joint, levels, trained = _own_network(values, settings, generator), diffan.LEVELS, 0.0
    noises = [functools.partial(diffan.predicted, joint, t) for t in levels]
    columns = [drawn.table.columns[at] for at in diffan.order(noises, rows, "masking", _REPORTER)]
    return {"DISCO-Cont": (ccs.order, seconds), "DiffAN": (columns, trained + time.perf_counter() - start)}


def _own_network(values: torch.Tensor, settings: diffan.Options, generator: torch.Generator) -> NoiseNetwork:
    """DiffAN's network with early stopping."""
    network = NoiseNetwork(values.shape[1], generator, settings.width)
    limits = (settings.holdout, settings.least, settings.patience, settings.halved)
    schedule = TrainingLength(settings.epochs, settings.batch, settings.rate, *limits)
    train_joint(network, values, uniform(0.0, LAST), schedule, generator, _REPORTER)
    return network
