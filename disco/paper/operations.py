"""The cost of a fit: floating-point operations of each stage, and peak memory.

A multiply and an add count as two operations; a training step costs three forward passes. Only matrix products are
counted, so the figures are lower bounds. Covariates and exposure are ignored: they are few inputs of wide networks.
"""

from disco import cluster
from disco.paper.plan import Plan, most_evaluated
from disco.paper.settings import Settings

STAGES = ("joint", "projection", "ordering", "parents")


def _weights(inputs: int, outputs: int, settings: Settings) -> int:
    return settings.width * (inputs + (settings.hidden_layers - 1) * settings.width + outputs)


def _networks(nodes: int, settings: Settings) -> tuple[int, int]:
    joint, projection = (_weights(k * nodes + 1, 2 * nodes, settings) for k in (2, 3))
    projection = projection if "projection" in settings.networks else 0
    return joint + settings.skip_connection * (2 * nodes + 1) * 2 * nodes, projection


def stage_flops(plan: Plan, nodes: int) -> dict[str, float]:
    """Floating-point operations of each of `STAGES` for a table of `nodes` columns, without early stopping."""
    settings, rows = plan.settings, _evaluated(plan, nodes)
    joint, projection = _networks(nodes, settings)
    joint_epoch = 6 * joint * plan.joint.rows
    # Two passes of the joint network for the targets, one step of the projection on masked and full rows.
    projection_epoch = (2 * joint * 2 + 6 * projection * 2) * plan.projection.rows
    hidden = 2 * 2 * (settings.hidden_layers - 1) * settings.width**2 * rows * settings.noise_levels
    last = 2 * 2 * settings.width * rows * settings.noise_levels
    first = 2 * 5 * nodes * settings.width * rows + settings.skip_connection * 2 * 2 * nodes * nodes * rows
    if "projection" in settings.networks:
        sizes = range(2, nodes + 1)
        ordering = sum((size + 1) * hidden + 2 * size * last + 2 * first for size in sizes)
        parents = sum(2 * (hidden + size * last + first) for size in sizes)
    else:  # one network, and a multiply and an add for every pair that remains after each removal
        ordering = parents = (nodes + 1) * (hidden + nodes * last + first) // 2 + 2 * rows * nodes**3 // 3
    of_a_fold = (plan.joint.epochs * joint_epoch, plan.projection.epochs * projection_epoch, ordering, parents)
    return {stage: float(settings.folds * flops) for stage, flops in zip(STAGES, of_a_fold, strict=True)}


def _evaluated(plan: Plan, nodes: int) -> int:
    return min(plan.evaluated, most_evaluated(plan.settings, nodes) or plan.evaluated)


def peak_bytes(plan: Plan, nodes: int, device: str = "cpu") -> int:
    """A generous estimate of a fit's memory on its device (cpu or cuda), in bytes, without the libraries."""
    from disco.paper.curvature import ROWS_AT_ONCE  # these three import torch
    from disco.paper.losses import BLOCK_ENTRIES
    from disco.paper.training import MONITOR_ROWS

    settings, train, evaluated = plan.settings, plan.train, _evaluated(plan, nodes)
    folds, width = settings.folds, settings.width
    weights = sum(_networks(nodes, settings))
    batch = min(settings.batch_size, train)
    monitor = max(MONITOR_ROWS, plan.holdout)
    data = folds * nodes * 8 * (train + 3 * evaluated) + plan.rows * nodes * 32
    # Parameters, gradients, two moments and the state to use.
    networks = 5 * 4 * folds * weights
    activations = 4 * folds * 2 * batch * (3 * (settings.hidden_layers + 1) * width + 20 * nodes)
    draws = folds * nodes * 20 * (monitor + evaluated + max(batch, min(train, BLOCK_ENTRIES // nodes)))
    at_once = ROWS_AT_ONCE[device]
    pairs = 3 * nodes if "projection" in settings.networks else nodes**2
    curvature = 4 * folds * (4 * at_once * width + 3 * at_once * nodes + evaluated * pairs)
    return int(data + networks + draws + max(activations, curvature))


def check_memory(plan: Plan, nodes: int, device: str) -> None:
    """Refuse a fit that needs more memory than is free on its device (cpu or cuda).

    The InputError says how many columns would fit.
    """
    cluster.check_memory(
        f"A fit of {plan.rows:,} rows × {nodes:,} columns",
        lambda columns: peak_bytes(plan, columns, device),
        nodes,
        device,
        "fewer rows (max_rows)",
        "a smaller width",
    )
