"""DISCO: from a table of counts to a causal order, parents and a graph.

    table → ranks → corruption → networks → training → curvature → ordering → parents → graph

Inside, columns are taken in the order of their names, so the same named table gives the same result however
its columns are arranged. A fit repeats exactly for a seed on the same device and library versions; another
device or another number of threads changes rounding alone. Renaming a column changes which random weights it
gets, as another seed would.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import networkx as nx
import numpy as np
import pandas as pd
import psutil
import torch
from torch import Tensor, nn

from disco import graph as graphs
from disco.checkpoint import Checkpoint, pack_training, unpack_training
from disco.cost import forest_looks, peak_bytes, scheduled, stage_flops
from disco.counts import as_counts
from disco.curvature import HeldOut, NetworkScores, counted, diagonal, sink_scores
from disco.errors import FitStopped, InputError
from disco.networks import JointNetwork, ProjectionNetwork, new_networks
from disco.ordering import COMBINATIONS, ccs_frame, criteria_frame, order_of, remove_sinks
from disco.parents import ocs as parent_scores
from disco.parents import selectors
from disco.progress import Callback, Report
from disco.ranks import FoldRanks, fold_of_rows, fold_ranks, other_ranks, split_rows
from disco.settings import Settings
from disco.training import Epoch, Training, TrainingRows, train_joint, train_projection


@dataclass(frozen=True)
class Recovery:
    """A causal order and its scores, with one criterion and boundary, from fitted networks.

    Attributes:
        order: node names, source first.
        ccs: step, remaining, node, fold, score, chosen.
        criteria: step, node, fold, and the score by criterion and boundary; NaN where unavailable.
        ocs: fold, parent, child, ocs, curvature (without absolute value), z.
    """

    order: list[str]
    ccs: pd.DataFrame
    criteria: pd.DataFrame
    ocs: pd.DataFrame


def choose_device(name: str = "auto") -> torch.device:
    """The device a name stands for; `auto` is CUDA where there is one.

    Raises:
        InputError: the name is unknown, or CUDA is asked for and absent.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"device must be auto, cpu or cuda; got {name!r}.")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda is asked for, but torch finds no CUDA device here. Use auto or cpu.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


class DISCO:
    """Causal discovery from a table of counts by discrete score matching.

    Args:
        preset: `tuned` or `paper`.
        device: `auto`, `cpu` or `cuda`.
        **settings: any field of `Settings`, in place of the preset's value.

    Attributes (after `fit`):
        order_: node names, source first.
        ccs_, criteria_, ocs_: see `Recovery`.
        edges_: the selected edges: parent, child, ocs, z, frequency; first score, p_value by another selector than ocs.
        candidates_: all candidates of that selector, as `disco.parents.selectors.candidates` gives them, or None.
        adjacency_: 0 and 1, rows parents, columns children, in the table's column order.
        feature_names_in_, n_features_in_: the table's columns.
        rows_used_: rows of the table that the fit used.
        settings_: the `Settings`.
        training_: by stage: epochs run, and each fold's served epoch and its validation loss.
        device_: where the networks are.
    """

    def __init__(self, preset: str = "tuned", device: str = "auto", **settings: Any) -> None:
        self.preset, self.device, self._changes = preset, device, settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments it was made with, for scikit-learn's `clone`."""
        return {"preset": self.preset, "device": self.device, **self._changes}

    def set_params(self, **params: Any) -> Self:
        """Change arguments."""
        self.preset, self.device = params.pop("preset", self.preset), params.pop("device", self.device)
        self._changes = {**self._changes, **params}
        return self

    def __repr__(self) -> str:
        return f"DISCO({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def fit(
        self,
        table: pd.DataFrame | np.ndarray,
        y: None = None,
        *,
        callback: Callback | None = None,
        checkpoint: Path | str | None = None,
    ) -> Self:
        """Fit the networks, find the order, select parents.

        Args:
            table: counts, rows by columns.
            callback: receives every `Event`; returning False stops the fit.
            checkpoint: a file that keeps the state of an unfinished fit; read if it exists.

        Raises:
            InputError: the table or a setting cannot be used, training diverged, or the fit would not fit into memory.
            FitStopped: the callback asked for it; the checkpoint holds the state.
            ScoreUnavailable: a node or edge has no admissible observation.
        """
        settings = Settings.of(self.preset, **self._changes)
        counts = as_counts(table, settings.folds)
        fold_of_row = fold_of_rows(len(split_rows(len(counts), settings)[0]), settings.folds, settings.seed)
        self._take(counts, fold_of_row, settings)
        selectors.check(settings.selector, counts, settings)
        self._check_memory()
        self.joint_, self.projection_ = (net.to(self.device_) for net in new_networks(self._folds, settings))
        store = Checkpoint(Path(checkpoint) if checkpoint else None, self._fingerprint())
        flops = stage_flops(len(counts), len(self._names), settings)
        if settings.selector != "ocs":
            looks = forest_looks(len(counts), len(self._names), settings)
            flops["selector"] = max(looks * _LOOK_FLOPS, _SELECTOR_SHARE * sum(flops.values()))
        report = Report(callback, flops)
        self._train(report, store)
        self._adopt(self._recover(settings.criterion, settings.boundary, report, store))
        if settings.selector != "ocs":
            self._save(store)
            self._select(report)
        return self

    def _take(self, counts: pd.DataFrame, fold_of_row: np.ndarray, settings: Settings) -> None:
        """Keep a checked table, its folds and its ranks."""
        self.settings_, self.device_ = settings, choose_device(self.device)
        self.feature_names_in_ = np.asarray(counts.columns, dtype=object)
        self.n_features_in_ = len(counts.columns)
        self._names = sorted(counts.columns)
        self._table = counts
        self._rows, parent_rows = split_rows(len(counts), settings)
        self.rows_used_ = len(np.union1d(self._rows, parent_rows))
        self._counts = counts[self._names].to_numpy()[self._rows]
        self._fold_of_row = fold_of_row
        self._folds: list[FoldRanks] = fold_ranks(self._counts, fold_of_row, settings)
        self._held_out = self._parents_held_out = HeldOut.of(self._folds, settings, self.device_)
        if settings.disjoint_rows:
            others = counts[self._names].to_numpy()[parent_rows]
            folds = other_ranks(self._counts, fold_of_row, others, settings)
            self._parents_held_out = HeldOut.of(folds, settings, self.device_)
        self._sink_scores: dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]] = {}
        self._parent_scores: dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]] = {}

    def _check_memory(self) -> None:
        needed = peak_bytes(*self._table.shape, self.settings_, self.device_)
        on_gpu = self.device_.type == "cuda"
        free = torch.cuda.mem_get_info()[0] if on_gpu else psutil.virtual_memory().available
        if needed > free:
            rows, nodes = self._counts.shape
            raise InputError(
                f"A fit of {rows} rows × {nodes} columns needs about {needed / 1e9:.1f} GB of memory, and "
                f"{free / 1e9:.1f} GB are free. Use fewer columns or rows (max_rows), or a smaller width."
            )

    def _fingerprint(self) -> str:
        settings = self.settings_.to_dict()
        del settings["selector"]  # no network depends on it
        for name, before in (("disjoint_rows", False), ("joint_schedule", "epochs"), ("projection_schedule", "epochs")):
            if settings[name] == before:
                del settings[name]  # so that a fit begun before there was a choice goes on
        names_and_settings = json.dumps([self._names, settings], sort_keys=True)
        return hashlib.sha256(names_and_settings.encode() + self._counts.astype("<i8").tobytes()).hexdigest()

    def _train(self, report: Report, store: Checkpoint) -> None:
        plan = scheduled(len(self._table), self.settings_)
        rows = TrainingRows(self._folds, plan, self.device_)
        joint = self._stage(
            "joint", plan.joint_epochs, self.joint_, report, store, lambda state: train_joint(state, rows, plan)
        )
        projection = self._stage(
            "projection",
            plan.projection_epochs,
            self.projection_,
            report,
            store,
            lambda state: train_projection(state, self.joint_, rows, plan),
        )
        self.training_ = {"joint": _summary(joint), "projection": _summary(projection)}

    def _stage(
        self,
        name: str,
        total: int,
        network: nn.Module,
        report: Report,
        store: Checkpoint,
        run: Callable[[Training], Iterable[Epoch]],
    ) -> Training:
        """Run or resume one training stage and leave its served parameters in `network`."""
        state = Training.start(copy.deepcopy(network))
        if name in store.meta:
            unpack_training(name, state, store.tensors, store.meta)
        for epoch in run(state):
            goes_on = report.epoch(name, epoch, total)
            if store.due or not goes_on:
                self._save(store, name, state)
            if not goes_on:
                raise FitStopped(f"Stopped in the {name} stage after epoch {epoch.number} of {total}.")
        with torch.no_grad():
            for key, parameter in network.named_parameters():
                parameter.copy_(state.best[key])
        store.tensors, store.meta = _merged(store, *pack_training(name, state))
        return state

    def _save(self, store: Checkpoint, stage: str = "", state: Training | None = None) -> None:
        """Write the finished stages, the one under way and the removals evaluated so far."""
        tensors, meta = dict(store.tensors), dict(store.meta)
        if state is not None:
            tensors, meta = _merged(store, *pack_training(stage, state))
        for number, (remaining, scores) in enumerate(self._sink_scores.items()):
            tensors[f"sinks.{number}.remaining"] = torch.tensor(remaining)
            tensors[f"sinks.{number}.scores"] = torch.as_tensor(np.stack([scores[key] for key in COMBINATIONS]))
        store.write(tensors, meta)

    def recover(
        self, boundary: str | None = None, criterion: str | None = None, callback: Callback | None = None
    ) -> Recovery:
        """The order and scores with another criterion or boundary, from the fitted networks.

        Raises:
            FitStopped: the callback asked for it.
            ScoreUnavailable: a node or edge has no admissible observation.
        """
        chosen = self.settings_.replace(
            boundary=boundary or self.settings_.boundary, criterion=criterion or self.settings_.criterion
        )
        flops = stage_flops(len(self._table), len(self._names), self.settings_)
        report = Report(callback, {stage: flops[stage] for stage in ("ordering", "parents")})
        return self._recover(chosen.criterion, chosen.boundary, report, Checkpoint(None, ""))

    def _recover(self, criterion: str, boundary: str, report: Report, store: Checkpoint) -> Recovery:
        self._read_sinks(store)
        scores = NetworkScores(self.joint_, self.projection_, self.settings_)
        nodes = len(self._names)

        def evaluate(remaining: tuple[int, ...]) -> dict[tuple[str, str], np.ndarray]:
            if remaining not in self._sink_scores:
                self._sink_scores[remaining] = sink_scores(scores, self._held_out, remaining, self.settings_)
            return self._sink_scores[remaining]

        steps = []
        for step in remove_sinks(evaluate, nodes, criterion, boundary, self._names):
            steps.append(step)
            # A step costs in proportion to the nodes it evaluates.
            left = len(step.remaining) - 1
            goes_on = report.step("ordering", len(steps), nodes - 1, 1 - left * (left + 1) / (nodes * (nodes + 1)))
            if store.due or not goes_on:
                self._save(store)
            if not goes_on:
                raise FitStopped(f"Stopped in the ordering stage after step {len(steps)} of {nodes - 1}.")
        order = order_of(steps)
        found, curvature = self._candidates(scores, order, boundary, report)
        names, rule = [self._names[node] for node in order], self.settings_.parent_rule
        ccs, criteria = ccs_frame(steps, self._names, criterion, boundary), criteria_frame(steps, self._names)
        return Recovery(names, ccs, criteria, parent_scores.tidy(found, curvature, names, rule))

    def _candidates(
        self, scores: NetworkScores, order: Sequence[int], boundary: str, report: Report
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """OCS and mean curvature of every child's predecessors, (folds, predecessors) each, in causal order."""
        found, curvature = {}, {}
        walk = parent_scores.candidate_scores(
            scores, self._parents_held_out, order, self.settings_, self._parent_scores
        )
        for place, (child, values) in enumerate(walk, start=1):
            predecessors = [self._names[node] for node in order[:place]]
            parent_scores.check_available(values["ocs", boundary], self._names[child], predecessors, boundary)
            found[self._names[child]] = values["ocs", boundary]
            curvature[self._names[child]] = values["curvature", boundary]
            if not report.step("parents", place, len(order) - 1, place / (len(order) - 1)):
                raise FitStopped(f"Stopped in the parents stage after node {place} of {len(order) - 1}.")
        return found, curvature

    def _read_sinks(self, store: Checkpoint) -> None:
        for key, remaining in store.tensors.items():
            if key.startswith("sinks.") and key.endswith(".remaining"):
                stacked = store.tensors[key.replace("remaining", "scores")].numpy()
                self._sink_scores[tuple(remaining.tolist())] = dict(zip(COMBINATIONS, stacked, strict=True))

    def _adopt(self, recovery: Recovery) -> None:
        self.order_, self.ccs_, self.criteria_ = recovery.order, recovery.ccs, recovery.criteria
        self.ocs_ = recovery.ocs
        self.candidates_ = None
        self._take_edges(parent_scores.select(self.ocs_, *parent_scores.own_thresholds(self.ocs_, self.settings_)))

    def _select(self, report: Report) -> None:
        """Put the edges of the selector in place of those of the OCS."""
        self.candidates_ = selectors.candidates(
            self.settings_.selector,
            self._table,
            self.order_,
            self.settings_,
            device=self.device_.type,
            goes_on=lambda done, total: report.step("selector", done, total, done / total),
        )
        tau_z, _ = parent_scores.own_thresholds(self.ocs_, self.settings_)
        self._take_edges(selectors.edges(self.candidates_, self.ocs_, tau_z))

    def _take_edges(self, edges: pd.DataFrame) -> None:
        self.edges_ = edges
        found = graphs.adjacency(graphs.build(self.order_, edges))
        self.adjacency_ = found.loc[self.feature_names_in_, self.feature_names_in_]

    def graph(self, tau_z: float | None = None, pi_min: float | None = None) -> nx.DiGraph:
        """The DAG of `edges_`, or that of the OCS at some thresholds.

        Edges carry `ocs`, `z` (means over folds) and `frequency`, and the selector's own `score` and `p_value`.
        """
        if tau_z is None and pi_min is None:
            return graphs.build(self.order_, self.edges_)
        own_tau_z, own_pi_min = parent_scores.own_thresholds(self.ocs_, self.settings_)
        tau_z = own_tau_z if tau_z is None else tau_z
        pi_min = own_pi_min if pi_min is None else pi_min
        return graphs.build(self.order_, parent_scores.select(self.ocs_, tau_z, pi_min))

    def curvature(self, node: str, remaining: Sequence[str]) -> pd.DataFrame:
        """Diagonal curvature of a node within a remaining set, averaged over noise levels, at held-out rows.

        Returns:
            Columns fold (from 1), row (of the table, from 1), rank, curvature, admissible.
        """
        numbers = sorted(self._names.index(name) for name in remaining)
        at = self._names.index(node)
        scores = NetworkScores(self.joint_, self.projection_, self.settings_)
        values = diagonal(scores, self._held_out, numbers, [at], self.settings_.noise_levels)[..., 0].cpu().numpy()
        inside = counted(self._held_out, scores.top, [at], 2, "admissible")[..., 0].cpu().numpy()
        ranks = self._held_out.ranks[..., at].cpu().numpy().astype(int)
        fold, place = np.nonzero(self._held_out.valid.cpu().numpy())
        row = self._rows[self._held_out.rows[fold, place]] + 1
        columns = {"fold": fold + 1, "row": row, "rank": ranks[fold, place]}
        return pd.DataFrame({**columns, "curvature": values[fold, place], "admissible": inside[fold, place]})

    def tensors(self) -> dict[str, Tensor]:
        """The fitted networks and the fold of every row: all that `restore` needs beside table and settings."""
        networks = {"joint": self.joint_, "projection": self.projection_}
        named = {f"{k}.{name}": value for k, net in networks.items() for name, value in net.state_dict().items()}
        return {**named, "fold_of_row": torch.as_tensor(self._fold_of_row), "rows": torch.as_tensor(self._rows)}

    @classmethod
    def restore(
        cls, table: pd.DataFrame, settings: Settings, tensors: dict[str, Tensor], device: str = "auto"
    ) -> "DISCO":
        """A fitted estimator from its table, settings and `tensors`; results come from `recover`."""
        changes = {name: value for name, value in settings.to_dict().items() if name != "preset"}
        model = cls(settings.preset, device, **changes)
        model._take(as_counts(table, settings.folds), tensors["fold_of_row"].numpy(), settings)
        networks: tuple[JointNetwork, ProjectionNetwork] = new_networks(model._folds, settings)
        for name, network in zip(("joint", "projection"), networks, strict=True):
            own = {k.removeprefix(f"{name}."): value for k, value in tensors.items() if k.startswith(f"{name}.")}
            network.load_state_dict(own)
            setattr(model, f"{name}_", network.to(model.device_))
        return model


_SELECTOR_SHARE = 0.05  # of a fit's progress at least, for another selector than ocs
_LOOK_FLOPS = 1000  # floating-point operations that take about as long as a look of a forest


def _merged(store: Checkpoint, tensors: dict[str, Tensor], meta: dict) -> tuple[dict[str, Tensor], dict]:
    return {**store.tensors, **tensors}, {**store.meta, **meta}


def _summary(state: Training) -> dict[str, Any]:
    losses = [None if value == float("inf") else value for value in state.best_loss]
    return {"epochs": state.epoch, "best_epoch": list(state.best_epoch), "best_loss": losses}
