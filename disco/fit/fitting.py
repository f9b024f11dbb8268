"""The fit: from a table of counts to networks, order and parents.

    table → ranks → corruption → networks → training → curvature → ordering → parents

A fit with a given seed is exactly reproducible on the same device and library versions. Another device or another
number of threads changes only rounding. Renaming a column changes its random weights, as another seed would.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from disco import fields
from disco.cluster import each
from disco.errors import InputError
from disco.fields import require_types
from disco.fit.cost import check_memory, forest_looks, stage_flops
from disco.fit.fitted import STOPPED, Fitted, Variant, by_name, rules_of
from disco.fit.order_so_far import is_due, order_so_far
from disco.knowledge import Knowledge
from disco.parents import ocs, selectors
from disco.progress import Callback, Reporter, check_callback
from disco.score.checkpoint import Checkpoint, pack_sinks, pack_training, unpack_sinks, unpack_training
from disco.score.curvature import OUT_OF_MEMORY
from disco.score.networks import new_networks
from disco.score.plan import Plan
from disco.score.training import Epoch, Training, TrainingRows, train_joint, train_projection
from disco.settings import Settings
from disco.table.adjustment import Adjustment
from disco.table.prepared import Prepared, Table, prepare, without_interventions
from disco.table.ranks import Folds, RowInputs, check_split
from disco.table.roles import Given

_SELECTOR_SHARE = 0.05  # smallest share of a fit's progress for a selector other than ocs
_LOOK_FLOPS = 1000  # floating-point operations that take about as long as one split evaluation of a forest


@dataclass(frozen=True)
class FitResult:
    """All results of a fit.

    Attributes:
        fitted: the networks.
        variant: order and scores, with the criterion and boundary of the settings.
        edges: the selected edges: parent, child, ocs, z, frequency; score and p_value with a selector other than ocs,
            rule with knowledge or experiments, and source with experiments.
        candidates: all candidates of that selector, from `disco.parents.selectors.candidates`; None with ocs.
        training: stage → number of epochs, and each fold's chosen epoch and its validation loss.
        notes: with experiments, which rows were used, and sentences on their rules.
    """

    fitted: Fitted
    variant: Variant
    edges: pd.DataFrame
    candidates: pd.DataFrame | None
    training: dict[str, Any]
    notes: tuple[str, ...] = ()


def fit(
    table: Table,
    settings: Settings,
    device: torch.device,
    *,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
    checkpoint: Path | str | None = None,
) -> FitResult:
    """Train the networks, find the order, select the parents.

    Arguments and errors as `disco.DISCO.fit`.
    """
    require_types(settings=(settings, Settings), device=(device, torch.device), knowledge=(knowledge, Knowledge | None))
    require_types(checkpoint=(checkpoint, Path | str | None))
    check_callback(callback)
    whole = prepare(table, roles, settings.folds)
    given, _ = without_interventions(whole)
    counts, adjustment = given.counts, given.adjustment
    check_split(counts, settings)
    folds, nodes = Folds.of(by_name(counts), settings, adjustment=adjustment), counts.shape[1]
    plan = Plan.of(len(counts), settings, folds)
    selectors.check(settings.selector, counts, settings, adjustment)
    check_memory(plan, nodes, device.type)
    digest = fingerprint(counts, folds.rows, settings, adjustment)
    store = Checkpoint(Path(checkpoint) if checkpoint else None, digest)
    reporter = Reporter(store.watching(callback), _work(plan, nodes), STOPPED)
    try:
        (result,) = each(_fit, (whole, folds), [(settings, device, knowledge, store)], reporter)
    except torch.OutOfMemoryError as error:
        raise InputError(OUT_OF_MEMORY) from error
    return result


def _fit(
    whole: Prepared,
    folds: Folds,
    asked: tuple[Settings, torch.device, Knowledge | None, Checkpoint],
    reporter: Reporter,
) -> FitResult:
    """The fit of a checked table, divided into folds."""
    settings, device, knowledge, store = asked
    given, words = without_interventions(whole)
    counts, told = given.counts, rules_of(whole, knowledge)
    notes = (*filter(None, [words]), *told.notes)
    networks = new_networks(folds.ranks, settings)
    for network in networks.named.values():
        network.to(device)
    fitted = Fitted(counts, folds, networks, settings, unpack_sinks(store.tensors), told, given.adjustment)
    training = _train(fitted, fitted.plan, device, reporter, store)
    store.under_way = lambda: (pack_sinks(fitted.sinks), {})
    variant = fitted.variant(settings.criterion, settings.boundary, reporter)
    tau_z, pi_min = ocs.own_thresholds(variant.ocs, settings)
    if settings.selector == "ocs":
        return FitResult(fitted, variant, ocs.select(variant.ocs, tau_z, pi_min), None, training, notes)
    store.write(*store.under_way())
    store.under_way = None
    candidates = selectors.candidates(
        settings.selector,
        whole,
        variant.order,
        settings,
        knowledge=knowledge,
        callback=reporter.part("selector", "node"),
    )
    return FitResult(fitted, variant, selectors.edges(candidates, variant.ocs, tau_z), candidates, training, notes)


def fingerprint(table: pd.DataFrame, rows: np.ndarray, settings: Settings, adjustment: Adjustment | None = None) -> str:
    """A digest of everything that affects the networks; a checkpoint belongs to the fit with its digest.

    Args:
        table: counts, all rows.
        rows: the row numbers for networks and order.
        settings: of the fit.
        adjustment: the adjustment of all rows.
    """
    chosen = {"preset": settings.preset, **fields.fingerprint(settings)}
    names_and_settings = json.dumps([sorted(table.columns), chosen], sort_keys=True)
    digest = hashlib.sha256(names_and_settings.encode() + by_name(table)[rows].astype("<i8").tobytes())
    if adjustment is not None:
        given, group = RowInputs.of(adjustment, len(table)).take(rows)
        digest.update(f"{given.shape}".encode() + given.astype("<f4").tobytes())
        if group is not None:
            digest.update(group.astype("<i8").tobytes())
    return digest.hexdigest()


def _work(plan: Plan, nodes: int) -> dict[str, float]:
    """Floating-point operations by stage, for computing progress."""
    flops = stage_flops(plan, nodes)
    if plan.settings.selector != "ocs":
        flops["selector"] = max(forest_looks(plan, nodes) * _LOOK_FLOPS, _SELECTOR_SHARE * sum(flops.values()))
    return flops


def _train(fitted: Fitted, plan: Plan, device: torch.device, reporter: Reporter, store: Checkpoint) -> dict[str, Any]:
    """Train the networks, from the start or from a checkpoint; returns a summary."""
    rows, networks = TrainingRows(fitted.folds.ranks, plan, device), fitted.networks
    run: dict[str, Callable[[Training], Iterable[Epoch]]] = {
        "joint": lambda state: train_joint(state, rows, plan),
        "projection": lambda state: train_projection(state, networks.joint, rows, plan),
    }
    training = {}
    for name, network in networks.named.items():
        total = getattr(plan, name).epochs
        training[name] = _summary(_stage(name, total, network, fitted, reporter, store, run[name]))
    return training


def _stage(
    name: str,
    total: int,
    network: nn.Module,
    fitted: Fitted,
    reporter: Reporter,
    store: Checkpoint,
    run: Callable[[Training], Iterable[Epoch]],
) -> Training:
    """Run or resume one training stage; the chosen parameters end in `network`."""
    state = Training.start(copy.deepcopy(network))
    if name in store.meta:
        unpack_training(name, state, store.tensors, store.meta)
    store.under_way = lambda: pack_training(name, state)
    for epoch in run(state):
        train, validation, best = epoch.train, epoch.validation, epoch.best
        check = reporter.waiting(name, epoch.number - 1, total, "epoch")
        graph = order_so_far(fitted, state, check) if is_due(fitted, state) else None
        losses: dict[str, Any] = {"train": train, "validation": validation, "best_epoch": best}
        reporter.step(name, epoch.number, total, unit="epoch", **losses, graph=graph)
    with torch.no_grad():
        for key, parameter in network.named_parameters():
            parameter.copy_(state.best[key])
    store.keep(*pack_training(name, state))
    return state


def _summary(state: Training) -> dict[str, Any]:
    """The number of epochs, and each fold's chosen epoch and its validation loss; None if no loss was decisive."""
    losses = [None if value == float("inf") else value for value in state.best_loss]
    return {"epochs": state.epoch, "best_epoch": list(state.best_epoch), "best_loss": losses}
