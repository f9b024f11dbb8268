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
    """An order by the networks of an epoch.

    Attributes:
        epoch: its number.
        order: all columns, sources first.
        turned: share of the pairs of columns that stood the other way round in the order before; None for the first.
    """

    epoch: int
    order: list[str]
    turned: float | None


def tell(run: Run, epoch: int, order: Sequence[str]) -> None:
    """Replace the order of a run; a fit does not need it, so a full disk is ignored."""
    before = read(run)
    turned = None if before is None or before.epoch >= epoch else _turned(before.order, order)
    with contextlib.suppress(OSError):
        write_json(run.path / _FILE, SoFar(epoch, list(order), turned)._asdict(), durable=False)


def read(run: Run) -> SoFar | None:
    """The last order told; None without one. A damaged file counts as none."""
    try:
        kept = read_json(run.path / _FILE, _BYTES)
        found = SoFar(kept["epoch"], kept["order"], kept["turned"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_right = fits(found.epoch, int) and fits(found.order, list[str]) and fits(found.turned, float | None)
    return found if is_right and sorted(found.order) == sorted(run.nodes) else None


def forget(run: Run) -> None:
    """Remove it."""
    with contextlib.suppress(OSError):
        (run.path / _FILE).unlink(missing_ok=True)


def _turned(before: Sequence[str], after: Sequence[str]) -> float:
    """The share of pairs that stand the other way round in the two orders."""
    place = {name: position for position, name in enumerate(after)}
    there = np.array([place[name] for name in before])
    pairs = len(there) * (len(there) - 1) / 2
    return float(np.triu(there[:, None] > there, 1).sum() / pairs)
