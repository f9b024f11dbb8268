"""DISCO as a scikit-learn estimator: `fit` a table, then read order, edges and graph."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import networkx as nx
import numpy as np
import pandas as pd
from torch import Tensor

from disco.devices import choose_device
from disco.fitting import fit
from disco.graph import dag as graphs
from disco.hidden.all_artefacts import artefacts
from disco.knowledge import Knowledge
from disco.paper import ocs
from disco.paper.fitted_networks import Variant
from disco.paper.removals import with_decided
from disco.paper.settings import Settings
from disco.progress import Callback, Reporter
from disco.table.artefacts import ignored
from disco.table.prepared import Table, prepare
from disco.table.roles import Given

if TYPE_CHECKING:
    from disco.effects.effect_records import Effect


class DISCO:
    """Causal discovery from a table of counts by discrete score matching.

    Args:
        preset: `tuned` or `paper`.
        device: `auto`, `cpu` or `cuda`.
        **settings: any field of `Settings`; replaces the preset's value.

    Attributes (after `fit`):
        order_: node names, source first.
        ccs_, criteria_, ocs_: see `Variant`.
        edges_, candidates_, training_: see `disco.paper.method.FitResult`.
        adjacency_: 0 or 1; rows are parents, columns children, in the table's column order.
        notes_: sentences on what in the table creates edges without a cause (`disco.hidden.all_artefacts`), and with
            experiments on the rows used and the rules not used.
        feature_names_in_, n_features_in_: the columns of counts.
        rows_used_: number of rows used.
        settings_, device_, fitted_: the `Settings`, the device of the networks, the `Fitted` networks.
    """

    def __init__(self, preset: str = "tuned", device: str = "auto", **settings: Any) -> None:
        self.preset, self.device, self._changes = preset, device, settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, for scikit-learn's `clone`."""
        return {"preset": self.preset, "device": self.device, **self._changes}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; `fit` checks them."""
        self.preset, self.device = params.pop("preset", self.preset), params.pop("device", self.device)
        self._changes = {**self._changes, **params}
        return self

    def __repr__(self) -> str:
        return f"DISCO({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def fit(
        self,
        table: Table,
        y: None = None,
        *,
        roles: Given | None = None,
        knowledge: Knowledge | None = None,
        callback: Callback | None = None,
        checkpoint: Path | str | None = None,
        dismissed: Collection[str] = (),
    ) -> Self:
        """Train the networks, find the order, select the parents.

        Args:
            table: counts, rows by columns, and the columns that `roles` names.
            y: ignored.
            roles: the roles of columns that are not counts, as `disco.table.roles.Roles` or a mapping of names to
                roles; or the adjustment made from them, if the table has counts only.
            knowledge: rules that order and edges obey.
            callback: receives every `Event`; returning False stops the fit.
            checkpoint: a file for the state of an unfinished fit; the fit resumes from it if it exists.
            dismissed: kinds of artefacts (`disco.hidden.all_artefacts`) that do not apply to this table.

        Raises:
            InputError: the table, a role, a setting or the knowledge cannot be used, training diverged, or the fit
                needs too much memory.
            FitStopped: the callback stopped the fit; a checkpoint, if given, holds its state once training has begun.
            ScoreUnavailable: a node or edge has no admissible observation.
        """
        settings, device = Settings.of(self.preset, **self._changes), choose_device(self.device)
        prepared = prepare(table, roles, settings.folds)
        relay = Reporter(callback, {"artefacts": 0.0, "fit": 1.0}).part("artefacts", "")  # a small share of the time
        notes = map(str, artefacts(prepared, aside=ignored(table, roles), dismissed=dismissed, callback=relay))
        result = fit(prepared, settings, device, knowledge=knowledge, callback=callback, checkpoint=checkpoint)
        self.notes_ = (*notes, *result.notes)
        self.fitted_, self.settings_, self.device_ = result.fitted, settings, device
        self.feature_names_in_ = np.asarray(result.fitted.table.columns, dtype=object)
        self.n_features_in_, self.rows_used_ = len(self.feature_names_in_), result.fitted.plan.used
        self.order_, self.ccs_ = result.variant.order, result.variant.ccs
        self.criteria_, self.ocs_ = result.variant.criteria, result.variant.ocs
        self.edges_, self.candidates_, self.training_ = result.edges, result.candidates, result.training
        self.adjacency_ = graphs.adjacency(self.graph()).loc[self.feature_names_in_, self.feature_names_in_]
        return self

    def graph(self, tau_z: float | None = None, pi_min: float | None = None) -> nx.DiGraph:
        """The DAG of `edges_`, or that of the OCS at the given thresholds.

        Edges have `ocs`, `z` (means over folds) and `frequency`, another selector's `score` and `p_value`, and
        `decided`, whether their direction is known (`disco.paper.removals.directions`).
        """
        edges = self.edges_
        if tau_z is not None or pi_min is not None:
            own_tau_z, own_pi_min = ocs.own_thresholds(self.ocs_, self.settings_)
            tau_z, pi_min = own_tau_z if tau_z is None else tau_z, own_pi_min if pi_min is None else pi_min
            edges = ocs.select(self.ocs_, tau_z, pi_min)
        return graphs.build(self.order_, with_decided(edges, self.ccs_))

    def effect(
        self,
        on: str,
        do: Mapping[str, float],
        against: Mapping[str, float] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
    ) -> "Effect":
        """The effect of setting some nodes on another, in the DAG of `edges_`, which is taken as given.

        See `disco.effects.effect.effect`; a refinement's `effect` also includes the uncertainty of the graph.
        InputError: the question cannot be answered.
        """
        from disco.effects.effect import effect
        from disco.effects.effect_question import among  # imports Numba, which a fit does not need
        from disco.effects.graph_fits import FittedGraphs

        fitted = FittedGraphs.of_dag(self.graph(), self.fitted_.table, roles=self.fitted_.adjustment)
        return effect(among(fitted, where), on, do, against)

    def recover(
        self, boundary: str | None = None, criterion: str | None = None, callback: Callback | None = None
    ) -> Variant:
        """See `Fitted.recover`."""
        return self.fitted_.recover(boundary, criterion, callback)

    def curvature(self, node: str, remaining: Sequence[str]) -> pd.DataFrame:
        """See `Fitted.curvature`."""
        return self.fitted_.curvature(node, remaining)

    def tensors(self) -> dict[str, Tensor]:
        """See `Fitted.tensors`."""
        return self.fitted_.tensors()
