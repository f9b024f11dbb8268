"""The fit of a table: checked once, then the method (`disco.paper.method`), then another selector if there is one.

A fit with a given seed is exactly reproducible on the same device and library versions. Another device or another
number of threads changes only rounding. Renaming a column changes its random weights, as another seed would.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from disco import fields
from disco.cluster import each
from disco.errors import InputError
from disco.fields import require_types
from disco.knowledge import Knowledge
from disco.paper.checkpoint import Checkpoint
from disco.paper.curvature import OUT_OF_MEMORY
from disco.paper.fitted_networks import STOPPED, by_name, rules_of
from disco.paper.method import FitContext, FitResult, disco
from disco.paper.ocs import own_thresholds
from disco.paper.operations import check_memory, stage_flops
from disco.paper.plan import Plan
from disco.paper.ranks import Folds, RowInputs, check_split
from disco.paper.settings import Settings
from disco.progress import Callback, Reporter, check_callback
from disco.selectors import selection
from disco.table.adjustment import Adjustment
from disco.table.prepared import Prepared, Table, prepare, without_interventions
from disco.table.roles import Given

_SELECTOR_SHARE = 0.05  # smallest share of a fit's progress for a selector other than ocs
_SPLIT_FLOPS = 1000  # floating-point operations that take about as long as one split evaluation of a forest


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
    """Train the networks, find the order, select the parents; arguments and errors as `disco.DISCO.fit`."""
    require_types(settings=(settings, Settings), device=(device, torch.device), knowledge=(knowledge, Knowledge | None))
    require_types(checkpoint=(checkpoint, Path | str | None))
    check_callback(callback)
    prepared = prepare(table, roles, settings.folds)
    observed, _ = without_interventions(prepared)
    counts, adjustment = observed.counts, observed.adjustment
    check_split(counts, settings)
    folds, nodes = Folds.of(by_name(counts), settings, adjustment=adjustment), counts.shape[1]
    plan = Plan.of(len(counts), settings, folds)
    selection.check(settings.selector, counts, settings, adjustment)
    check_memory(plan, nodes, device.type)
    digest = fingerprint(counts, folds.rows, settings, adjustment)
    store = Checkpoint(Path(checkpoint) if checkpoint else None, digest)
    reporter = Reporter(store.watching(callback), _work(plan, nodes), STOPPED)
    try:
        (result,) = each(_fit, (prepared, folds), [(settings, device, knowledge, store)], reporter)
    except torch.OutOfMemoryError as error:
        raise InputError(OUT_OF_MEMORY) from error
    return result


def _fit(
    prepared: Prepared,
    folds: Folds,
    request: tuple[Settings, torch.device, Knowledge | None, Checkpoint],
    reporter: Reporter,
) -> FitResult:
    settings, device, knowledge, store = request
    observed, note = without_interventions(prepared)
    rules = rules_of(prepared, knowledge)
    context = FitContext(device, rules, reporter, store)
    result = disco(observed.counts, folds, settings, observed.adjustment, context)
    result = replace(result, notes=(*filter(None, [note]), *rules.notes))
    if settings.selector == "ocs":
        return result
    if store.under_way is not None:
        store.write(*store.under_way())
    store.under_way = None
    candidates = selection.candidates(
        settings.selector,
        prepared,
        result.variant.order,
        settings,
        knowledge=knowledge,
        callback=reporter.part("selector", "node"),
    )
    tau_z, _ = own_thresholds(result.variant.ocs, settings)
    return replace(result, edges=selection.edges(candidates, result.variant.ocs, tau_z), candidates=candidates)


def fingerprint(table: pd.DataFrame, rows: np.ndarray, settings: Settings, adjustment: Adjustment | None = None) -> str:
    """A digest of everything that affects the networks; a checkpoint belongs to the fit with its digest.

    `table` has the counts of all rows, and `rows` are the row numbers for networks and order.
    """
    chosen = {"preset": settings.preset, **fields.fingerprint(settings)}
    names_and_settings = json.dumps([sorted(table.columns), chosen], sort_keys=True)
    digest = hashlib.sha256(names_and_settings.encode() + by_name(table)[rows].astype("<i8").tobytes())
    if adjustment is not None:
        columns, group = RowInputs.of(adjustment, len(table)).take(rows)
        digest.update(f"{columns.shape}".encode() + columns.astype("<f4").tobytes())
        if group is not None:
            digest.update(group.astype("<i8").tobytes())
    return digest.hexdigest()


def _work(plan: Plan, nodes: int) -> dict[str, float]:
    flops = stage_flops(plan, nodes)
    if plan.settings.selector != "ocs":
        splits = selection.forest_splits(plan, nodes)
        flops["selector"] = max(splits * _SPLIT_FLOPS, _SELECTOR_SHARE * sum(flops.values()))
    return flops
