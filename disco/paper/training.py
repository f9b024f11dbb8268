"""Training of the joint and the projection network, all folds in one batch, as a stream of epochs.

Adam, with a cosine schedule of the learning rate by epoch or by update and gradients clipped per fold. The joint
network stops early on its internal holdout and uses its best validated state; the projection network uses its last
(paper, *Training settings*).

Every draw of an epoch comes from the stream (seed, stage, fold, epoch). So a resumed fit equals an uninterrupted one,
and a fold does not depend on the others in its batch. Each fold visits as many rows per epoch as the smallest fold has
(`disco.paper.plan`): if folds differ by one row, the larger ones skip a random row in each epoch.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from disco.errors import InputError
from disco.paper.adam import Adam
from disco.paper.losses import (
    Batch,
    Clean,
    draw_joint,
    draw_projection,
    epoch_batches,
    joint_losses,
    projection_losses,
    stacked,
)
from disco.paper.networks import JointNetwork, stream
from disco.paper.plan import Plan, Schedule
from disco.paper.ranks import FoldRanks
from disco.paper.settings import Settings
from disco.paper.update import Loss, Update

_JOINT, _PROJECTION, _VALIDATION = 20, 21, 22  # stage keys of the random streams
MONITOR_ROWS = 1024  # about the smallest number of noisy draws averaged in a validation loss


@dataclass(frozen=True)
class Epoch:
    """Losses of one epoch, one value per fold: NaN for a fold that has stopped or was not measured."""

    number: int
    train: tuple[float, ...]
    validation: tuple[float, ...]
    best: tuple[int, ...]


class TrainingRows:
    """Each fold's rows for training and validation, on the device; early stopping uses the first of `train`."""

    def __init__(self, folds: Sequence[FoldRanks], plan: Plan, device: torch.device) -> None:
        self.tops = [fold.top for fold in folds]
        self.train, self.holdout, self.held_out = [], [], []
        for number, fold in enumerate(folds):
            order, holdout = fold.shuffled(number, plan.holdout, plan.settings)
            self.train.append(_clean(fold.train[order], fold.inputs.covariates[order], device))
            self.holdout.append(holdout)
            self.held_out.append(_clean(fold.held_out, fold.held_out_inputs.covariates, device))


def _clean(ranks: np.ndarray, covariates: np.ndarray, device: torch.device) -> Clean:
    return Clean(torch.as_tensor(ranks).to(device), torch.as_tensor(covariates).to(device))


@dataclass
class Training:
    """The state of a stage between epochs; all of it goes into a checkpoint.

    Attributes:
        network, optimizer: of the active folds.
        active: numbers of the folds still training.
        best: the chosen parameters of all folds.
        best_loss, best_epoch, waited: one value per fold, for early stopping.
        epoch: number of finished epochs.
    """

    network: nn.Module
    optimizer: Adam
    active: list[int]
    best: dict[str, Tensor]
    best_loss: list[float]
    best_epoch: list[int]
    waited: list[int]
    epoch: int = 0

    @classmethod
    def start(cls, network: nn.Module) -> "Training":
        """A stage at epoch 0."""
        parameters = dict(network.named_parameters())
        folds = next(iter(parameters.values())).shape[0]
        best = {name: value.detach().clone() for name, value in parameters.items()}
        adam = Adam(parameters.values())
        return cls(network, adam, list(range(folds)), best, [math.inf] * folds, [0] * folds, [0] * folds)

    def update(self, loss: Loss, norm_bound: float) -> Update:
        """The update of the active folds on a loss."""
        return Update(self.network, self.optimizer, loss, norm_bound)

    def keep(self, indices: Sequence[int]) -> None:
        """Choose the current parameters of the active folds at `indices`."""
        for name, value in self.network.named_parameters():
            for index in indices:
                self.best[name][self.active[index]] = value.detach()[index]
        for index in indices:
            self.best_epoch[self.active[index]] = self.epoch

    def judge(self, losses: Sequence[float], settings: Settings) -> None:
        """Apply early stopping to the active folds' validation losses: keep, wait or stop each fold."""
        stopped = []
        for index, (fold, loss) in enumerate(zip(self.active, losses, strict=True)):
            if loss < self.best_loss[fold] - settings.min_improvement:
                self.best_loss[fold], self.waited[fold] = loss, 0
                self.keep([index])
            else:
                self.waited[fold] += 1
                if self.waited[fold] >= settings.patience:
                    stopped.append(index)
        if stopped:
            self.drop(stopped)

    def drop(self, indices: Sequence[int]) -> None:
        """Stop training the active folds at `indices`."""
        active = [index for index in range(len(self.active)) if index not in indices]
        self.active = [self.active[index] for index in active]
        for parameter in self.network.parameters():
            state = self.optimizer.state[parameter]
            parameter.data, parameter.grad = parameter.data[active].clone(), None
            for moment in ("exp_avg", "exp_avg_sq"):
                state[moment] = state[moment][active].clone()
        keep_folds(self.network, active)

    def spread(self, losses: Sequence[float]) -> tuple[float, ...]:
        """One value per fold from those of the active folds; NaN for the others."""
        by_fold = dict(zip(self.active, losses, strict=True))
        return tuple(by_fold.get(fold, math.nan) for fold in range(len(self.best_loss)))


def keep_folds(network: nn.Module, folds: Sequence[int]) -> None:
    """Keep only some folds of a network's buffers, in place."""
    for module in network.modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            setattr(module, name, buffer[list(folds)].clone())


def cosine(step: int, length: int, start: float, end: float) -> float:
    """The learning rate after `step` of `length` counts; constant after the last."""
    return end + (start - end) * (1 + math.cos(math.pi * min(step, length) / length)) / 2


def learning_rates(stage: str, epoch: int, plan: Plan) -> list[float]:
    """The learning rate of each update of an epoch, counted from 0, of the stage joint or projection.

    The paper states the ends of the cosine, but not its unit. By `epochs` the rate falls from one epoch to the next
    until the last. By `updates` it falls from one update to the next, reaches its end after as many updates as there
    are epochs, and stays there. A decay in the settings sets its length, in epochs or updates.
    """
    unit, decay, start, end = (
        getattr(plan.settings, f"{stage}_{name}")
        for name in ("schedule", "decay", "learning_rate", "learning_rate_end")
    )
    schedule: Schedule = getattr(plan, stage)
    batches, length = schedule.batches, decay or schedule.epochs
    if unit == "epochs":
        return [cosine(epoch, length, start, end)] * batches
    return [cosine(epoch * batches + index, length, start, end) for index in range(batches)]


def train_joint(training: Training, rows: TrainingRows, plan: Plan) -> Iterator[Epoch]:
    """Train the joint network from the state of `training`; yields after every epoch. InputError: a fold diverged."""
    settings, folds = plan.settings, list(training.active)
    fixed = [
        _fixed_draws(draw_joint, clean.take(slice(rows.holdout[fold])), top, settings, (_JOINT, fold))
        for fold, (clean, top) in enumerate(zip(rows.train, rows.tops, strict=True))
    ]
    update = training.update(_loss_of(joint_losses, settings), settings.joint_gradient_norm)
    while training.epoch < plan.joint.epochs and training.active:
        active = list(training.active)
        batches = epoch_batches(
            draw_joint,
            [rows.train[fold].take(slice(rows.holdout[fold], None)) for fold in active],
            [rows.tops[fold] for fold in active],
            [(settings.seed, _JOINT, fold, training.epoch) for fold in active],
            settings,
            visited=plan.joint.rows,
        )
        rates = learning_rates("joint", training.epoch, plan)
        train = training.spread(one_epoch(training, batches, update, rates))
        measured, decides = _validations(training.epoch, plan)
        validation = [math.nan] * len(active)
        if measured or decides:
            validation = _evaluate(update, [fixed[fold] for fold in active])
        reported = training.spread(validation)
        if decides:
            training.judge(validation, settings)
        elif training.epoch == plan.joint.epochs:  # too few epochs for early stopping: the last state is used
            training.keep(_finite(validation))
        yield Epoch(training.epoch, train, reported, tuple(training.best_epoch))
    _check_served(training, folds)


def _validations(epoch: int, plan: Plan) -> tuple[bool, bool]:
    """Whether the joint validation loss is measured after this epoch, and whether early stopping uses it."""
    settings, is_last = plan.settings, epoch == plan.joint.epochs
    since = epoch - settings.validation_start
    decides = since >= 0 and (is_last or since % settings.validation_every == 0)
    return is_last or epoch % settings.monitor_every == 0, decides


def train_projection(training: Training, joint: JointNetwork, rows: TrainingRows, plan: Plan) -> Iterator[Epoch]:
    """Train the projection network from the state of `training`; yields after every epoch. InputError: a fold diverged.

    Its validation losses on the held-out folds are for monitoring only.
    """
    settings, folds = plan.settings, list(training.active)
    fixed = [
        _fixed_draws(draw_projection, rows.held_out[fold], rows.tops[fold], settings, (_PROJECTION, fold))
        for fold in folds
    ]
    update = training.update(_loss_of(projection_losses, settings, joint), settings.projection_gradient_norm)
    while training.epoch < plan.projection.epochs:
        keys = [(settings.seed, _PROJECTION, fold, training.epoch) for fold in folds]
        train_rows, tops = [rows.train[fold] for fold in folds], [rows.tops[fold] for fold in folds]
        batches = epoch_batches(draw_projection, train_rows, tops, keys, settings, visited=plan.projection.rows)
        rates = learning_rates("projection", training.epoch, plan)
        train = one_epoch(training, batches, update, rates)
        is_last = training.epoch == plan.projection.epochs
        validation = [math.nan] * len(folds)
        if is_last or training.epoch % settings.monitor_every == 0:
            validation = _evaluate(update, fixed)
        if is_last:
            training.keep(_finite(validation))
        yield Epoch(training.epoch, tuple(train), tuple(validation), tuple(training.best_epoch))
    _check_served(training, folds)


def _loss_of(losses: Callable[..., Tensor], settings: Settings, *fixed: JointNetwork) -> Loss:
    return lambda network, batch, full_batch: losses(network, batch, full_batch, *fixed, settings)


def one_epoch(training: Training, batches: Iterator[Batch], update: Update, rates: Sequence[float]) -> list[float]:
    """One epoch of updates, each at its learning rate; returns the mean training loss of every active fold.

    InputError: a fold's loss is not finite.
    """
    total, seen = torch.zeros(()), 0
    for batch, rate in zip(batches, rates, strict=True):
        losses, count = update(batch, rate), batch.noisy.shape[1]
        # Summed on the device: reading a value here would make a GPU wait at every step.
        total, seen = total + losses * count, seen + count
    means = (total / seen).tolist()
    training.epoch += 1
    finite = _finite(means)
    for index, fold in enumerate(training.active):
        if index not in finite:
            raise InputError(
                f"Training diverged: the loss of fold {fold + 1} is not finite at epoch {training.epoch}. "
                "Lower the learning rate."
            )
    return means


def _finite(losses: Sequence[float]) -> list[int]:
    return [index for index, loss in enumerate(losses) if math.isfinite(loss)]


def _check_served(training: Training, folds: Sequence[int]) -> None:
    """Refuse a fold's initial random parameters, which remain if its only validated step diverged."""
    for fold in folds:
        if not training.best_epoch[fold]:
            raise InputError(
                f"Training diverged: no validation loss of fold {fold + 1} is finite. Lower the learning rate."
            )


def _fixed_draws(draw: Callable, rows: Clean, top: int, settings: Settings, key: tuple[int, ...]) -> Batch:
    """The same noise at every validation, so that early stopping does not follow the noise."""
    rows = rows.take(slice(settings.validation_rows))
    repeats = max(1, MONITOR_ROWS // len(rows.ranks))
    repeated = Clean(*(values.repeat(repeats, 1) for values in rows))
    return draw(repeated, top, settings, stream(rows.ranks.device, settings.seed, _VALIDATION, *key))


def _evaluate(update: Update, fixed: Sequence[Batch]) -> list[float]:
    """Each fold's loss on its fixed draws, as many as the smallest fold has."""
    rows = min(batch.noisy.shape[0] for batch in fixed)
    batches = [type(batch)._make(value[:rows] for value in batch) for batch in fixed]
    return update.losses(stacked(batches)).tolist()
