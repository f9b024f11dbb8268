"""Fitted networks with their table, and their results: causal orders, scores of edges, curvature.

A variant is a causal order with all its scores, for one criterion and boundary. All variants of the same networks use
the same curvature, so each evaluation is made once and cached.

Internally, columns are numbered in the order of their names, so the result does not depend on the order of the table's
columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from disco.experiments import Learnt, learnt_of
from disco.knowledge import Knowledge
from disco.knowledge.resolved import Resolved
from disco.paper import ocs
from disco.paper.curvature import (
    HeldOut,
    NetworkScores,
    counted,
    diagonal,
    off_diagonal,
    off_diagonal_scores,
    sink_scores,
)
from disco.paper.marginals import Marginals
from disco.paper.networks import Networks, new_networks
from disco.paper.operations import stage_flops
from disco.paper.ordering import Leaving, Removal, SinkScores, ccs_frame, criteria_frame, order_of, remove_sinks
from disco.paper.plan import Plan
from disco.paper.ranks import Folds
from disco.paper.settings import Settings
from disco.progress import Callback, Reporter
from disco.table.adjustment import Adjustment
from disco.table.prepared import Prepared, Table, prepare, without_interventions

STOPPED = "Stopped in the {stage} stage after {unit} {done} of {total}."


@dataclass(frozen=True)
class Variant:
    """A causal order, sources first, and its scores, for one criterion and boundary.

    Attributes:
        ccs: step, remaining, node, fold, score, chosen.
        criteria: step, node, fold, and one score per criterion and boundary; NaN where unavailable.
        ocs: fold, parent, child, ocs, curvature (mean without absolute value), z; with knowledge or experiments also
            rule, and with experiments source (`disco.experiments.Learnt.marked`).
    """

    order: list[str]
    ccs: pd.DataFrame
    criteria: pd.DataFrame
    ocs: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Fitted:
    """Trained networks, with their table, folds and settings.

    Attributes:
        table: counts, all rows and columns.
        folds: the used rows, divided into cross-fitting folds.
        sinks: the scores of the remaining sets evaluated so far; more are added as orders are recovered.
        learnt: the rules of knowledge and experiments that orders and edges obey, by `names`; None without any.
        adjustment: of all rows of the table.
    """

    table: pd.DataFrame
    folds: Folds
    networks: Networks
    settings: Settings
    sinks: SinkScores = field(default_factory=dict, repr=False)
    learnt: Learnt | None = None
    adjustment: Adjustment | None = None
    _pairs: dict[tuple[int, ...], ocs.PairScores] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def restore(
        cls,
        table: Table,
        settings: Settings,
        tensors: dict[str, Tensor],
        device: torch.device,
        knowledge: Knowledge | None = None,
        adjustment: Adjustment | None = None,
    ) -> "Fitted":
        """The fitted networks from saved `tensors`, with the table, settings, knowledge and adjustment of their fit.

        Raises:
            InputError: the table cannot be used, or the knowledge names other columns or is contradictory.
            KeyError, ValueError, IndexError, RuntimeError: the tensors are not those of such a fit.
        """
        prepared = prepare(table, adjustment, settings.folds)
        observational, _ = without_interventions(prepared)
        counts, adjustment = observational.counts, observational.adjustment
        of_row = None if settings.folds_by == "counts" else tensors["fold_of_row"].numpy()
        folds = Folds.of(by_name(counts), settings, of_row, adjustment)
        networks = new_networks(folds.ranks, settings)
        for name, network in networks.named.items():
            data = {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}
            network.load_state_dict(data)
            network.to(device)
        return cls(counts, folds, networks, settings, learnt=rules_of(prepared, knowledge), adjustment=adjustment)

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self) if item.init} | {"_pairs": {}}

    def tensors(self) -> dict[str, Tensor]:
        """The networks and the fold of every row, unless folds are of counts: all that `restore` needs beside table
        and settings."""
        named = {
            f"{name}.{key}": value
            for name, network in self.networks.named.items()
            for key, value in network.state_dict().items()
        }
        if self.folds.of_row is not None:
            named["fold_of_row"] = torch.as_tensor(self.folds.of_row)
        return {**named, "rows": torch.as_tensor(self.folds.rows)}

    @cached_property
    def names(self) -> list[str]:
        """The columns in the order of their numbers."""
        return sorted(self.table.columns)

    @property
    def rules(self) -> Resolved | None:
        """The rules that orders and edges obey, by `names`."""
        return None if self.learnt is None else self.learnt.rules

    @property
    def curvature_bytes(self) -> int:
        """The memory on its device that it occupies once curvature has been computed."""
        rows = self._held_out.ranks
        return 0 if self._marginals is None else rows.nelement() * rows.element_size() * len(self.names)

    @cached_property
    def plan(self) -> Plan:
        """The use of the rows, and the longest training of the networks."""
        return Plan.of(len(self.table), self.settings, self.folds)

    @property
    def device(self) -> torch.device:
        """The networks' device."""
        return self.networks.joint.features.top.device

    def recover(
        self, boundary: str | None = None, criterion: str | None = None, callback: Callback | None = None
    ) -> Variant:
        """Order and scores with another boundary or criterion; by default those of the settings.

        Raises:
            InputError: there is no such boundary or criterion.
            ScoreUnavailable: a node or edge has no admissible observation.
        """
        settings = self.settings
        chosen = settings.replace(boundary=boundary or settings.boundary, criterion=criterion or settings.criterion)
        flops = stage_flops(self.plan, len(self.names))
        reporter = Reporter(callback, {stage: flops[stage] for stage in ("ordering", "parents")}, STOPPED)
        return self.variant(chosen.criterion, chosen.boundary, reporter)

    def variant(self, criterion: str, boundary: str, reporter: Reporter) -> Variant:
        """As `recover`, in two stages of some work: ordering and parents."""
        steps = self._removals(criterion, boundary, reporter)
        order = [self.names[node] for node in order_of(steps)]
        ccs = ccs_frame(steps, self.names, criterion, boundary)
        return Variant(order, ccs, criteria_frame(steps, self.names), self._candidates(order, boundary, reporter))

    def candidates(self, order: Sequence[str], boundary: str, callback: Callback | None = None) -> pd.DataFrame:
        """The OCS of all candidate edges along a causal order, with the columns of `Variant.ocs`.

        Args:
            order: all columns, source first.
            boundary: clipped or admissible.
            callback: receives an event after every child; returning False stops.

        Raises:
            ScoreUnavailable: an edge has no admissible observation.
        """
        return self._candidates(order, boundary, Reporter(callback, {"parents": 1.0}, STOPPED))

    def _candidates(self, order: Sequence[str], boundary: str, reporter: Reporter) -> pd.DataFrame:
        scores, mean, last = {}, {}, len(order) - 1
        if self._parents_marginals is not None and (self.names.index(order[-1]),) not in self._pairs:
            self._parents_marginals.begin(reporter.waiting("parents", 0, last, "node"))
        walk = ocs.candidate_scores(self.pair_scores, [self.names.index(name) for name in order])
        for step, (number, values) in enumerate(walk, start=1):
            child = self.names[number]
            ocs.check_available(values["ocs", boundary], child, order[: len(order) - step], boundary)
            scores[child], mean[child] = values["ocs", boundary], values["curvature", boundary]
            reporter.step("parents", step, last, unit="node")
        table = ocs.tidy(scores, mean, order, self.settings.parent_rule)
        return table if self.learnt is None else self.learnt.marked(table, self.names)

    def curvature(self, node: str, remaining: Sequence[str]) -> pd.DataFrame:
        """A node's diagonal curvature within a remaining set at the held-out rows, averaged over noise levels.

        Columns fold (from 1), row (of the table, from 1), rank, curvature, admissible.
        """
        numbers, at = sorted(self.names.index(name) for name in remaining), self.names.index(node)
        rows = self._held_out
        values = self._diagonal(numbers, [at])[..., 0].cpu().numpy()
        inside = counted(rows, self._scores.top, [at], 2, "admissible")[..., 0].cpu().numpy()
        ranks = rows.ranks[..., at].cpu().numpy().astype(int)
        fold, index = np.nonzero(rows.valid.cpu().numpy())
        row = self.folds.rows[rows.rows[fold, index]] + 1
        columns = {"fold": fold + 1, "row": row, "rank": ranks[fold, index]}
        return pd.DataFrame({**columns, "curvature": values[fold, index], "admissible": inside[fold, index]})

    def sink_scores(self, remaining: Sequence[int]) -> dict[tuple[str, str], np.ndarray]:
        """Scores of every node of a remaining set, from `disco.paper.curvature.sink_scores`."""
        key = tuple(remaining)
        if key not in self.sinks:
            curvature = self._diagonal(key, key)
            self.sinks[key] = sink_scores(curvature, self._scores.top, self._held_out, key, self.settings)
        return self.sinks[key]

    def pair_scores(self, child: int, remaining: Sequence[int], removed: Sequence[int]) -> ocs.PairScores:
        """Scores of a child with every other node of R, from `disco.paper.curvature.off_diagonal_scores`.

        `removed` are the nodes outside R, in the order of their removal. All nodes are numbers.
        """
        key = child, *removed
        if key not in self._pairs:
            held_out, marginals = self._parents_held_out, self._parents_marginals
            if marginals is None:
                values = off_diagonal(self._scores, held_out, remaining, child, self.settings.noise_levels)
            else:
                values = marginals.off_diagonal(removed, remaining, child)
            self._pairs[key] = off_diagonal_scores(values, self._scores.top, held_out, remaining, child)
        return self._pairs[key]

    def _diagonal(self, remaining: Sequence[int], nodes: Sequence[int]) -> Tensor:
        """Ĥ_jj of some nodes of R at the held-out rows, (F, n, len(nodes))."""
        if self._marginals is None:
            return diagonal(self._scores, self._held_out, remaining, nodes, self.settings.noise_levels)
        return self._marginals.diagonal(self._leaving.removed_before(remaining), nodes)

    def begin(self, check: Callable[[], None]) -> None:
        """Prepare the scores of all nodes, unless they exist; `check` is called in between."""
        if self._marginals is not None and tuple(range(len(self.names))) not in self.sinks:
            self._marginals.begin(check)

    def _removals(self, criterion: str, boundary: str, reporter: Reporter) -> list[Removal]:
        steps, nodes = [], len(self.names)
        self.begin(reporter.waiting("ordering", 0, nodes - 1, "step"))
        for step in remove_sinks(self.sink_scores, nodes, criterion, boundary, self.names, self.rules):
            steps.append(step)
            # The cost of a step is proportional to the nodes it evaluates.
            remaining = len(step.remaining) - 1
            share = 1 - remaining * (remaining + 1) / (nodes * (nodes + 1))
            reporter.step("ordering", len(steps), nodes - 1, share, unit="step")
        return steps

    @cached_property
    def _scores(self) -> NetworkScores:
        return NetworkScores(*self.networks, self.settings)

    @cached_property
    def _marginals(self) -> Marginals | None:
        """At the rows that determine the order; None with a projection network."""
        if self.networks.projection is not None:
            return None
        return Marginals(self._scores, self._held_out, self.settings.noise_levels)

    @cached_property
    def _leaving(self) -> Leaving:
        return Leaving(len(self.names), lambda there: self.sink_scores(there)["ccs", "clipped"].mean(0))

    @cached_property
    def _parents_marginals(self) -> Marginals | None:
        """At the rows that determine the parents."""
        if self._marginals is None or self._parents_held_out is self._held_out:
            return self._marginals
        return Marginals(self._scores, self._parents_held_out, self.settings.noise_levels)

    @cached_property
    def _held_out(self) -> HeldOut:
        """At the rows that determine the order."""
        return HeldOut.of(self.folds.ranks, self.settings, self.device)

    @cached_property
    def _parents_held_out(self) -> HeldOut:
        """At the rows that determine the parents."""
        if self.folds.parent_ranks is self.folds.ranks:
            return self._held_out
        return HeldOut.of(self.folds.parent_ranks, self.settings, self.device)


def rules_of(prepared: Prepared, knowledge: Knowledge | None) -> Learnt:
    """The rules of knowledge and of a table's experiments, by the names of its columns in order."""
    names = sorted(prepared.counts.columns)
    return learnt_of(prepared, names, None if knowledge is None else knowledge.resolve(names))


def by_name(table: pd.DataFrame) -> np.ndarray:
    """The values of a table with its columns in the order of their names, (rows, nodes)."""
    return table[sorted(table.columns)].to_numpy()
