"""The arrows of a graph, held against an experiment: supported, contradicted, or neither."""

from typing import NamedTuple

import pandas as pd

from disco.experiments.rules import is_change, is_left_alone
from disco.words import number

SUPPORTED, CONTRADICTED, CANNOT_SAY = VERDICTS = ("supported", "contradicted", "cannot say")


class _Seen(NamedTuple):
    """The certain results of a contrast with a single target."""

    changed: bool
    likely: bool
    alone: bool
    ratio: float


def arrows(edges: pd.DataFrame, contrast_rows: pd.DataFrame) -> pd.DataFrame:
    """The verdict of an experiment on every edge with an endpoint that it set: parent, child, verdict and why.

    Setting the cause must change the effect, and setting the effect must leave the cause alone. An edge is contradicted
    if either is violated; supported if its parent was set and its child changed. An edge whose `decided` is false has
    an open direction and is neither.
    """
    seen = {
        (row.targets[0], row.node): _Seen(is_change(row), row.changed, is_left_alone(row), row.ratio)
        for row in contrast_rows[contrast_rows["targets"].map(len) == 1].itertuples()
    }
    rows = []
    for parent, child, decided in edges.reindex(columns=["parent", "child", "decided"], fill_value=True).to_numpy():
        along, back = seen.get((parent, child)), seen.get((child, parent))
        if along is not None or back is not None:
            verdict, why = _verdict(parent, child, along, back)
            if not decided and verdict != CANNOT_SAY:
                verdict, why = CANNOT_SAY, f"The graph leaves its direction open. {why}"
            rows.append((parent, child, verdict, why))
    return pd.DataFrame(rows, columns=["parent", "child", "verdict", "why"])


def _verdict(parent: str, child: str, along: _Seen | None, back: _Seen | None) -> tuple[str, str]:
    if back is not None and back.changed and not (along is not None and along.changed):
        return CONTRADICTED, f'Setting "{child}" changes "{parent}" ({number(back.ratio)} times), its supposed cause.'
    if along is not None and along.alone:
        return CONTRADICTED, f'Setting "{parent}" leaves "{child}" as it was ({number(along.ratio)} times).'
    if along is not None and along.changed:
        too = " So does the reverse: both may act on each other." if back is not None and back.changed else ""
        return SUPPORTED, f'Setting "{parent}" changes "{child}", {number(along.ratio)} times the controls.{too}'
    if along is not None and along.likely:
        ratio = number(along.ratio)
        return (
            CANNOT_SAY,
            f'Setting "{parent}" seems to change "{child}" ({ratio} times), not surely enough for a rule.',
        )
    if back is not None and back.alone:
        return CANNOT_SAY, f'Setting "{child}" leaves "{parent}" alone, as it must; a hidden cause of both would too.'
    return CANNOT_SAY, "The change is too unsure to tell. More rows per arm would make it surer."
