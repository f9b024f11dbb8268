"""The causal order of a fit that goes on: written into its run for readers who watch, removed when it is done."""

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from disco.files import read_json, write_json
from disco.runs.folder import Run
from disco.schema import fits

_FILE, _BYTES = "order_so_far.json", 1 << 22


class SoFar(NamedTuple):
    """An order, sources first, by the networks of an epoch.

    `turned` is the share of the pairs of columns whose order is reversed since the previous order; None for the first.
    """

    epoch: int
    order: list[str]
    turned: float | None


def tell(run: Run, epoch: int, order: Sequence[str]) -> None:
    """Replace the order of a run; a fit does not need it, so a full disk is ignored."""
    previous = read(run)
    turned = None if previous is None or previous.epoch >= epoch else _turned(previous.order, order)
    with contextlib.suppress(OSError):
        write_json(run.path / _FILE, SoFar(epoch, list(order), turned)._asdict(), durable=False)


def read(run: Run) -> SoFar | None:
    """The most recent order; None if missing or damaged."""
    try:
        content = read_json(run.path / _FILE, _BYTES)
        latest = SoFar(content["epoch"], content["order"], content["turned"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_right = fits(latest.epoch, int) and fits(latest.order, list[str]) and fits(latest.turned, float | None)
    return latest if is_right and sorted(latest.order) == sorted(run.nodes) else None


def forget(run: Run) -> None:
    """Remove it."""
    with contextlib.suppress(OSError):
        (run.path / _FILE).unlink(missing_ok=True)


def _turned(previous: Sequence[str], current: Sequence[str]) -> float:
    """The share of pairs whose order differs between the two orders."""
    positions = {name: position for position, name in enumerate(current)}
    there = np.array([positions[name] for name in previous])
    pairs = len(there) * (len(there) - 1) / 2
    return float(np.triu(there[:, None] > there, 1).sum() / pairs)
