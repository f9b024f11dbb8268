"""Orders from projection networks trained further after every removal (paper, *Marginal Projection Methods*).

The fit's projection network is *amortised*: it is trained once, for all remaining sets. A stagewise one is initialised
with that network. After each removal it is trained for some epochs on the remaining set R before computing the
curvature of R. It predicts the log correction c_R(x_R) of the baseline b_R(x) = log s(x_R, fill), where s is the joint
network:

    direct       target  log s(x) − b_R(x)
    recursive    target  b_R'(x) + c'_R'(x_R') − b_R(x), with R' the set before the removal and c' its network

Both targets have the concrete score of the R-marginal as their mean given x_R. The first set after V uses the joint
network's in both. Target and prediction use the same corrupted row and noise level. Our choices where the paper is
silent: every set starts with a new Adam at the initial learning rate, which is constant; and the number of epochs is an
eighth of the fit's projection epochs, like the paper's 100 of 800.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from disco.errors import InputError
from disco.fields import require, whole_from
from disco.paper.curvature import HeldOut, NetworkScores, diagonal, sink_scores
from disco.paper.fitted_networks import Fitted
from disco.paper.losses import Clean, ProjectionBatch, draw_projection, epoch_batches, masked_losses
from disco.paper.networks import JointNetwork, ProjectionNetwork
from disco.paper.ordering import ccs_frame, order_of, remove_sinks
from disco.paper.training import Training, TrainingRows, one_epoch
from disco.progress import Callback, Reporter

KINDS = ("direct", "recursive")
EPOCHS_SHARE = 8  # the fit's projection epochs divided by those after each removal
_STAGE = 23  # stage key of the random streams, different from those in `disco.paper.training`

Target = Callable[[ProjectionBatch], Tensor]


@dataclass(frozen=True)
class Stagewise:
    """An order by stagewise projection, sources first; `ccs` has step, remaining, node, fold, score, chosen."""

    order: list[str]
    ccs: pd.DataFrame


def stagewise(fitted: Fitted, kind: str, *, epochs: int | None = None, callback: Callback | None = None) -> Stagewise:
    """The causal order with projection networks trained further after each removal; the fit is unchanged.

    Args:
        fitted: its joint network, projection network, first sink and rows are shared.
        kind: direct or recursive.
        epochs: after each removal; by default an eighth of the fit's projection epochs.
        callback: receives an event after every epoch; returning False stops.

    Raises:
        InputError: there is no such kind, the fit has no projection network, the epochs are not a number, or training
            diverged.
        ScoreUnavailable: a node has no admissible observation.
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    settings, nodes = fitted.settings, len(fitted.names)
    if "projection" not in settings.networks:
        raise InputError("Stagewise projection trains a fit's projection network further: fit with projection=network.")
    epochs = max(1, settings.projection_epochs // EPOCHS_SHARE) if epochs is None else epochs
    require("epochs", epochs, whole_from(1))
    reporter = Reporter(callback, {"ordering": 1.0}, "Stopped after {done} of {total} epochs.")
    stages = Stages(fitted, kind, epochs, reporter)
    evaluated = remove_sinks(stages.scores, nodes, settings.criterion, settings.boundary, fitted.names, fitted.rules)
    steps = list(evaluated)
    order = [fitted.names[node] for node in order_of(steps)]
    return Stagewise(order, ccs_frame(steps, fitted.names, settings.criterion, settings.boundary))


class Stages:
    """The scores of each remaining set in turn, from a network first trained on it.

    Attributes:
        network: for the curvature of its latest training set of columns.
    """

    def __init__(self, fitted: Fitted, kind: str, epochs: int, reporter: Reporter) -> None:
        self.fitted, self.kind, self.epochs, self.reporter = fitted, kind, epochs, reporter
        self.joint: JointNetwork = fitted.networks.joint
        assert fitted.networks.projection is not None
        self.network: ProjectionNetwork = copy.deepcopy(fitted.networks.projection)
        self.rows = TrainingRows(fitted.folds.ranks, fitted.plan, fitted.device)
        self.held_out = HeldOut.of(fitted.folds.ranks, fitted.settings, fitted.device)
        self.before: Sequence[int] = ()

    def scores(self, remaining: Sequence[int]) -> dict[tuple[str, str], np.ndarray]:
        """As `disco.paper.curvature.sink_scores`; V is scored by the fit itself."""
        nodes = len(self.fitted.names)
        if len(remaining) == nodes:
            first = self.fitted.sink_scores(remaining)
        else:
            self.train(remaining, nodes - len(remaining))
            scores = NetworkScores(self.joint, self.network, self.fitted.settings)
            settings = self.fitted.settings
            curvature = diagonal(scores, self.held_out, remaining, remaining, settings.noise_levels)
            first = sink_scores(curvature, scores.top, self.held_out, remaining, settings)
        self.before = remaining
        return first

    def train(self, remaining: Sequence[int], stage: int) -> None:
        """Train the network on one remaining set."""
        settings, schedule = self.fitted.settings, self.fitted.plan.projection
        with_larger = self._target(stage)
        total = self.epochs * max(len(self.fitted.names) - 2, 1)

        def draw(rows: Clean, top: int, stage_settings: object, generator: torch.Generator) -> ProjectionBatch:
            batch = draw_projection(rows, top, settings, generator)
            return batch._replace(mask=_mask(batch.mask, remaining).expand_as(batch.mask))

        def loss(network: Any, batch: Any, full: Any) -> Tensor:
            with torch.no_grad():
                larger = with_larger(batch)
            return masked_losses(network, batch, full, self.joint, larger, settings)

        training = Training.start(self.network)
        update = training.update(loss, settings.projection_gradient_norm)
        rates = [settings.projection_learning_rate] * schedule.batches
        for epoch in range(self.epochs):
            keys = [(settings.seed, _STAGE, fold, stage * self.epochs + epoch) for fold in training.active]
            batches = epoch_batches(draw, self.rows.train, self.rows.tops, keys, settings, visited=schedule.rows)
            one_epoch(training, batches, update, rates)
            self.reporter.step("ordering", (stage - 1) * self.epochs + epoch + 1, total, unit="epoch")

    def _target(self, stage: int) -> Target:
        """The log concrete score of a larger set than R at every row of a batch, (F, n, d, 2)."""
        joint = self.joint
        if self.kind == "direct" or stage == 1:
            return lambda batch: joint(batch.noisy, batch.covariates, batch.sigma.log())
        preceding, clip = copy.deepcopy(self.network), self.fitted.settings.log_clip
        inside = _mask(preceding.fill, self.before)  # once: what is recorded on a GPU must read nothing of the host's

        def target(batch: ProjectionBatch) -> Tensor:
            mask, log_sigma = inside.expand_as(batch.mask), batch.sigma.log()
            baseline = joint(preceding.filled(batch.noisy, mask), batch.covariates, log_sigma)
            return baseline + preceding(batch.noisy, mask, batch.covariates, log_sigma).clamp(-clip, clip)

        return target


def _mask(like: Tensor, remaining: Sequence[int]) -> Tensor:
    """The mask of one remaining set, 0 and 1, (d,), on the device of a tensor (…, d)."""
    mask = torch.zeros(like.shape[-1], device=like.device)
    mask[list(remaining)] = 1.0
    return mask
