"""What a fit costs: floating-point operations by stage, and peak memory.

A multiply and an add count as two operations; a training step costs three forward passes. Only the matrix
products are counted, so the figures are a floor.
"""

import math

import torch

from disco.settings import Settings

STAGES = ("joint", "projection", "ordering", "parents")
_FOREST_OWN = 2  # columns whose split would take as long as what a tree costs beside them


def _weights(inputs: int, outputs: int, settings: Settings) -> int:
    return settings.width * (inputs + (settings.hidden_layers - 1) * settings.width + outputs)


def _networks(nodes: int, settings: Settings) -> tuple[int, int]:
    """Weights of a fold's joint and projection network."""
    joint, projection = (_weights(k * nodes + 1, 2 * nodes, settings) for k in (2, 3))
    return joint + settings.skip_connection * (2 * nodes + 1) * 2 * nodes, projection


def used_rows(rows: int, settings: Settings) -> int:
    """The rows that give networks and order."""
    used = rows if settings.max_rows is None else min(rows, settings.max_rows)
    return (used + 1) // 2 if settings.disjoint_rows else used


def _fold_rows(rows: int, settings: Settings) -> tuple[int, int, int]:
    """Rows a fold: score-training, internal holdout, evaluation."""
    rows = used_rows(rows, settings)
    evaluated = rows // settings.folds
    train = rows - evaluated
    holdout = max(1, min(settings.validation_rows, round(settings.validation_share * train), train - 1))
    return train, holdout, min(evaluated, settings.evaluation_rows or evaluated)


def scheduled(rows: int, settings: Settings) -> Settings:
    """The settings with the epochs that a table of `rows` rows gets, so that the least numbers of steps are made."""
    train, holdout, _ = _fold_rows(rows, settings)
    joint_batches = math.ceil((train - holdout) / settings.batch_size)
    projection_batches = math.ceil(train / settings.batch_size)
    return settings.replace(
        joint_epochs=max(settings.joint_epochs, math.ceil(settings.joint_steps / joint_batches)),
        projection_epochs=max(settings.projection_epochs, math.ceil(settings.projection_steps / projection_batches)),
    )


def stage_flops(rows: int, nodes: int, settings: Settings) -> dict[str, float]:
    """Floating-point operations of each stage for a table of `rows` × `nodes`, without early stopping."""
    settings = scheduled(rows, settings)
    train, holdout, evaluated = _fold_rows(rows, settings)
    joint, projection = _networks(nodes, settings)
    joint_epoch = 6 * joint * (train - holdout)
    # Two passes of the joint network for the targets, one step of the projection on masked and full rows.
    projection_epoch = 2 * joint * 2 * train + 6 * projection * 2 * train
    hidden = 2 * 2 * (settings.hidden_layers - 1) * settings.width**2 * evaluated * settings.noise_levels
    last = 2 * 2 * settings.width * evaluated * settings.noise_levels
    first = 2 * 5 * nodes * settings.width * evaluated + settings.skip_connection * 2 * 2 * nodes * nodes * evaluated
    sizes = range(2, nodes + 1)
    ordering = sum((size + 1) * hidden + 2 * size * last + 2 * first for size in sizes)
    parents = sum(2 * (hidden + size * last + first) for size in sizes)
    return {
        "joint": float(settings.folds * settings.joint_epochs * joint_epoch),
        "projection": float(settings.folds * settings.projection_epochs * projection_epoch),
        "ordering": float(settings.folds * ordering),
        "parents": float(settings.folds * parents),
    }


def forest_looks(rows: int, nodes: int, settings: Settings) -> float:
    """How often PCM's forests look at a row of a column for a split, over all nodes, trees and depths; else 0."""
    if settings.selector != "pcm":
        return 0.0
    from disco.parents.pcm import TREES  # slow to import

    half = (rows // 2 if settings.disjoint_rows else rows) // 2
    columns = sum(candidates + _FOREST_OWN for candidates in range(1, nodes))
    return float(TREES * columns * half * math.log2(max(half, 2)))


def peak_bytes(rows: int, nodes: int, settings: Settings, device: torch.device | str = "cpu") -> int:
    """An upper estimate of a fit's memory on its device, in bytes, without the libraries' own."""
    train, holdout, evaluated = _fold_rows(rows, settings)
    folds, width = settings.folds, settings.width
    weights = sum(_networks(nodes, settings))
    batch = min(settings.batch_size, train)
    monitor = max(1024, holdout)
    data = folds * nodes * 8 * (train + 3 * evaluated) + used_rows(rows, settings) * nodes * 32
    # Parameters, gradients, two moments and the state to serve.
    networks = 5 * 4 * folds * weights
    activations = 4 * folds * 2 * batch * (3 * (settings.hidden_layers + 1) * width + 20 * nodes)
    draws = folds * nodes * 20 * (monitor + evaluated + max(batch, min(train, (1 << 22) // nodes)))
    at_once = (1 << 17) if torch.device(device).type == "cuda" else (1 << 13)
    curvature = 4 * folds * (4 * at_once * width + 3 * at_once * nodes + 3 * evaluated * nodes)
    return int(data + networks + draws + max(activations, curvature))
