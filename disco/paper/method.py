"""The method (paper, *The DISCO Algorithm*): train the networks, remove sinks, select parents.

    ranks → corruption → networks → training → curvature → order → OCS → edges

`disco.fitting` checks the table and the settings before this, and calls it here or on a cluster.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from disco.experiments import Learnt
from disco.paper.checkpoint import Checkpoint, pack_sinks, pack_training, unpack_sinks, unpack_training
from disco.paper.fitted_networks import Fitted, Variant
from disco.paper.interim_order import is_due, order_so_far
from disco.paper.networks import new_networks
from disco.paper.ocs import own_thresholds, select
from disco.paper.ranks import Folds
from disco.paper.settings import Settings
from disco.paper.training import Epoch, Training, TrainingRows, train_joint, train_projection
from disco.progress import Reporter
from disco.table.adjustment import Adjustment


@dataclass(frozen=True, eq=False)
class FitContext:
    """The context of the method.

    Attributes:
        rules: of knowledge and experiments, by the names of the columns in order.
        reporter: reports progress and receives a stop.
        checkpoint: the state of an earlier attempt, and of this one.
    """

    device: torch.device
    rules: Learnt
    reporter: Reporter
    checkpoint: Checkpoint


@dataclass(frozen=True)
class FitResult:
    """All results of a fit.

    Attributes:
        variant: order and scores, with the criterion and boundary of the settings.
        edges: the selected edges: parent, child, ocs, z, frequency; score and p_value with a selector other than ocs,
            rule with knowledge or experiments, and source with experiments.
        training: stage → number of epochs, and each fold's chosen epoch and its validation loss.
        candidates: all candidates of that selector, from `disco.selectors.selection.candidates`; None with ocs.
        notes: with experiments, which rows were used, and sentences on their rules.
    """

    fitted: Fitted
    variant: Variant
    edges: pd.DataFrame
    training: Mapping[str, Any]
    candidates: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()


def disco(
    counts: pd.DataFrame, folds: Folds, settings: Settings, adjustment: Adjustment | None, context: FitContext
) -> FitResult:
    """The networks, the order and the edges of a table.

    Args:
        counts: all rows, (rows, nodes); `adjustment` is theirs.
        folds: the ranks of the rows used, in folds (paper, *Rank transform*).

    Raises:
        InputError: training diverged.
        FitStopped: the fit was stopped; the checkpoint has its state.
        ScoreUnavailable: a node or edge has no admissible observation.
    """
    networks, checkpoint = new_networks(folds.ranks, settings), context.checkpoint
    for network in networks.named.values():
        network.to(context.device)
    sinks = unpack_sinks(checkpoint.tensors)
    fitted = Fitted(counts, folds, networks, settings, sinks, context.rules, adjustment)
    training = _train(fitted, context)
    checkpoint.under_way = lambda: (pack_sinks(fitted.sinks), {})
    variant = fitted.variant(settings.criterion, settings.boundary, context.reporter)
    edges = select(variant.ocs, *own_thresholds(variant.ocs, settings))
    return FitResult(fitted, variant, edges, training)


def _train(fitted: Fitted, context: FitContext) -> dict[str, Any]:
    """Train the joint network, then on its scores the projection network, if any; a summary of each stage."""
    plan, networks = fitted.plan, fitted.networks
    rows = TrainingRows(fitted.folds.ranks, plan, context.device)
    epochs: dict[str, Callable[[Training], Iterable[Epoch]]] = {
        "joint": lambda state: train_joint(state, rows, plan),
        "projection": lambda state: train_projection(state, networks.joint, rows, plan),
    }
    return {
        name: _summary(_stage(name, getattr(plan, name).epochs, network, fitted, context, epochs[name]))
        for name, network in networks.named.items()
    }


def _stage(
    name: str,
    total: int,
    network: nn.Module,
    fitted: Fitted,
    context: FitContext,
    epochs: Callable[[Training], Iterable[Epoch]],
) -> Training:
    checkpoint, reporter, state = context.checkpoint, context.reporter, Training.start(copy.deepcopy(network))
    if name in checkpoint.meta:
        unpack_training(name, state, checkpoint.tensors, checkpoint.meta)
    checkpoint.under_way = lambda: pack_training(name, state)
    for epoch in epochs(state):
        check = reporter.waiting(name, epoch.number - 1, total, "epoch")
        graph = order_so_far(fitted, state, check) if is_due(fitted, state) else None
        losses: dict[str, Any] = {"train": epoch.train, "validation": epoch.validation, "best_epoch": epoch.best}
        reporter.step(name, epoch.number, total, unit="epoch", **losses, graph=graph)
    with torch.no_grad():
        for key, parameter in network.named_parameters():
            parameter.copy_(state.best[key])
    checkpoint.keep(*pack_training(name, state))
    return state


def _summary(state: Training) -> dict[str, Any]:
    """The number of epochs, and each fold's chosen epoch and its validation loss; None if no loss was decisive."""
    losses = [None if value == float("inf") else value for value in state.best_loss]
    return {"epochs": state.epoch, "best_epoch": list(state.best_epoch), "best_loss": losses}
