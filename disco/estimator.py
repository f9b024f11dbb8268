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
from disco.cost import peak_bytes, scheduled, stage_flops
from disco.counts import as_counts
from disco.curvature import BOUNDARIES, CRITERIA, HeldOut, NetworkScores, counted, diagonal, sink_scores
from disco.errors import FitStopped, InputError
from disco.networks import JointNetwork, ProjectionNetwork, new_networks
from disco.ordering import Step, order_of, remove_sinks
from disco.parents import ocs as parent_scores
from disco.progress import Callback, Report
from disco.ranks import FoldRanks, fold_of_rows, fold_ranks, sampled_rows
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
        preset: `paper`, `tuned` or `preview`.
        device: `auto`, `cpu` or `cuda`.
        **settings: any field of `Settings`, in place of the preset's value.

    Attributes (after `fit`):
        order_: node names, source first.
        ccs_, criteria_, ocs_: see `Recovery`.
        edges_: the selected edges: parent, child, ocs, z, frequency.
        adjacency_: 0 and 1, rows parents, columns children, in the table's column order.
        feature_names_in_, n_features_in_: the table's columns.
        rows_used_: rows of the table that the fit used.
        settings_: the `Settings`.
        training_: by stage: epochs run, and each fold's served epoch and its validation loss.
        device_: where the networks are.
    """

    def __init__(self, preset: str = "paper", device: str = "auto", **settings: Any) -> None:
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
            InputError: the table or a setting cannot be used, or the fit would not fit into memory.
            FitStopped: the callback asked for it; the checkpoint holds the state.
            ScoreUnavailable: a node or edge has no admissible observation.
        """
        settings = Settings.of(self.preset, **self._changes)
        counts = as_counts(table, settings.folds)
        fold_of_row = fold_of_rows(len(sampled_rows(len(counts), settings)), settings.folds, settings.seed)
        self._take(counts, fold_of_row, settings)
        self._check_memory()
        self.joint_, self.projection_ = (net.to(self.device_) for net in new_networks(self._folds, settings))
        store = Checkpoint(Path(checkpoint) if checkpoint else None, self._fingerprint())
        report = Report(callback, stage_flops(len(self._counts), len(self._names), settings))
        self._train(report, store)
        self._adopt(self._recover(settings.criterion, settings.boundary, report, store))
        return self

    def _take(self, counts: pd.DataFrame, fold_of_row: np.ndarray, settings: Settings) -> None:
        """Keep a checked table, its folds and its ranks."""
        self.settings_, self.device_ = settings, choose_device(self.device)
        self.feature_names_in_ = np.asarray(counts.columns, dtype=object)
        self.n_features_in_ = len(counts.columns)
        self._names = sorted(counts.columns)
        self._rows = sampled_rows(len(counts), settings)
        self.rows_used_ = len(self._rows)
        self._counts = counts[self._names].to_numpy()[self._rows]
        self._fold_of_row = fold_of_row
        self._folds: list[FoldRanks] = fold_ranks(self._counts, fold_of_row, settings)
        self._held_out = HeldOut.of(self._folds, settings, self.device_)
        self._sink_scores: dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]] = {}
        self._parent_scores: dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]] = {}

    def _check_memory(self) -> None:
        needed = peak_bytes(*self._counts.shape, self.settings_, self.device_)
        on_gpu = self.device_.type == "cuda"
        free = torch.cuda.mem_get_info()[0] if on_gpu else psutil.virtual_memory().available
        if needed > free:
            rows, nodes = self._counts.shape
            raise InputError(
                f"A fit of {rows} rows × {nodes} columns needs about {needed / 1e9:.1f} GB of memory, and "
                f"{free / 1e9:.1f} GB are free. Use fewer columns or rows (max_rows), or a smaller width."
            )

    def _fingerprint(self) -> str:
        names_and_settings = json.dumps([self._names, self.settings_.to_dict()], sort_keys=True)
        return hashlib.sha256(names_and_settings.encode() + self._counts.astype("<i8").tobytes()).hexdigest()

    def _train(self, report: Report, store: Checkpoint) -> None:
        plan = scheduled(len(self._counts), self.settings_)
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
            tensors[f"sinks.{number}.scores"] = torch.as_tensor(np.stack([scores[key] for key in _COMBINATIONS]))
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
        flops = stage_flops(len(self._counts), len(self._names), self.settings_)
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
        ccs, criteria = _ccs_frame(steps, self._names, criterion, boundary), _criteria_frame(steps, self._names)
        return Recovery(names, ccs, criteria, parent_scores.tidy(found, curvature, names, rule))

    def _candidates(
        self, scores: NetworkScores, order: Sequence[int], boundary: str, report: Report
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """OCS and mean curvature of every child's predecessors, (folds, predecessors) each, in causal order."""
        found, curvature = {}, {}
        walk = parent_scores.candidate_scores(scores, self._held_out, order, self.settings_, self._parent_scores)
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
                self._sink_scores[tuple(remaining.tolist())] = dict(zip(_COMBINATIONS, stacked, strict=True))

    def _adopt(self, recovery: Recovery) -> None:
        self.order_, self.ccs_, self.criteria_ = recovery.order, recovery.ccs, recovery.criteria
        self.ocs_ = recovery.ocs
        self.edges_ = parent_scores.select(self.ocs_, *parent_scores.own_thresholds(self.ocs_, self.settings_))
        self.adjacency_ = graphs.adjacency(self.graph()).loc[self.feature_names_in_, self.feature_names_in_]

    def graph(self, tau_z: float | None = None, pi_min: float | None = None) -> nx.DiGraph:
        """The DAG at some thresholds, or the fit's own; edges carry `ocs`, `z` (means over folds) and `frequency`."""
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


_COMBINATIONS = [(criterion, boundary) for criterion in CRITERIA for boundary in BOUNDARIES]


def _merged(store: Checkpoint, tensors: dict[str, Tensor], meta: dict) -> tuple[dict[str, Tensor], dict]:
    return {**store.tensors, **tensors}, {**store.meta, **meta}


def _summary(state: Training) -> dict[str, Any]:
    losses = [None if value == float("inf") else value for value in state.best_loss]
    return {"epochs": state.epoch, "best_epoch": list(state.best_epoch), "best_loss": losses}


def _ccs_frame(steps: Sequence[Step], names: Sequence[str], criterion: str, boundary: str) -> pd.DataFrame:
    rows = [
        (number, len(step.remaining), names[node], fold + 1, value, node == step.sink)
        for number, step in enumerate(steps, start=1)
        for node, values in zip(step.remaining, step.scores[criterion, boundary].T, strict=True)
        for fold, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["step", "remaining", "node", "fold", "score", "chosen"])


def _criteria_frame(steps: Sequence[Step], names: Sequence[str]) -> pd.DataFrame:
    rows = [
        (number, names[node], fold + 1, *(step.scores[key][fold, place] for key in _COMBINATIONS))
        for number, step in enumerate(steps, start=1)
        for place, node in enumerate(step.remaining)
        for fold in range(next(iter(step.scores.values())).shape[0])
    ]
    combinations = [f"{criterion}_{boundary}" for criterion, boundary in _COMBINATIONS]
    return pd.DataFrame(rows, columns=["step", "node", "fold", *combinations])
