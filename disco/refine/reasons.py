"""Why a direction is decided or not: the first rule of `disco.refine.edge_evidence.decided` that it violates."""

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import pandas as pd

from disco.columns import EXPERIMENT, FREE, KNOWLEDGE, NO_SOURCE
from disco.refine.bounds import AGAINST, AGAINST_SHARE, FEW, MOST_MISFIT, MOST_ROWS, SURER, TIMES, least_lead


class Reason(Enum):
    """The rules, in the order of checking."""

    KNOWN = "knowledge allows only this direction"
    SHOWN = "an experiment shows that the first comes before the second"
    ARTEFACT = "something in the table creates edges, and is neither cured nor dismissed"
    OLDER = "an older refinement, without misfit and direction evidence in smaller classes"
    UNAVAILABLE = "the direction evidence is not available"
    WEAK = "the direction evidence is below the bound"
    UNSURE = "the evidence for the link is below twice the bound"
    FEW_LEVELS = "one of its nodes has too few levels: the class fits it in any case"
    AGAINST = "with linear effects, the evidence is against the direction"
    MISSED = "the direction evidence does not exceed the misfit of its nodes by enough"
    TABLE = "too many nodes are poorly fitted"
    ELSEWHERE = "a search that ended near the best has the edge reversed"
    RIVAL = "a rival graph in which nodes have other classes is nearly as good"
    DECIDED = "it passes every rule"


def reason(
    row: Mapping[str, Any], nodes: pd.DataFrame | None, bound: float, has_artefacts: bool = False, rows: int = MOST_ROWS
) -> Reason:
    """The first rule that an edge, a row of `Refined.edges`, violates, with `Refined.nodes` and the table's rows."""
    is_ruled = row.get("rule", FREE) != FREE
    source = row.get("source", KNOWLEDGE if is_ruled else NO_SOURCE)
    if source in (KNOWLEDGE, EXPERIMENT):
        return Reason.KNOWN if source == KNOWLEDGE else Reason.SHOWN
    if is_ruled:
        return Reason.UNSURE
    if has_artefacts:
        return Reason.ARTEFACT
    direction, robust, linear = (float(row[f"{name}_nats"]) for name in ("direction", "robust", "linear"))
    if nodes is None:
        return Reason.OLDER
    if math.isnan(direction) or (direction >= bound and math.isnan(robust + linear)):
        return Reason.UNAVAILABLE
    rules = {
        Reason.WEAK: direction < bound,
        Reason.UNSURE: not row["gain_nats"] >= (bound if row["decided"] else SURER * bound),  # older ones need less
        Reason.FEW_LEVELS: not min(_of(nodes, row, "levels")) > FEW,
        Reason.AGAINST: linear < -AGAINST - AGAINST_SHARE * direction,
        Reason.MISSED: not direction >= asked(row, nodes, bound),
        Reason.TABLE: not is_of_kind(nodes),
        Reason.RIVAL: not row["decided"] and robust < least_lead(bound, row["gain_nats"], rows),
        Reason.ELSEWHERE: not row["decided"],
    }
    return next((rule for rule, fails in rules.items() if fails), Reason.DECIDED)


def asked(row: Mapping[str, Any], nodes: pd.DataFrame, bound: float) -> float:
    """The direction evidence that an edge needs given its nodes' misfit, nats; NaN if unknown."""
    return bound + TIMES * sum(_of(nodes, row, "misfit_nats"))


def _of(nodes: pd.DataFrame, row: Mapping[str, Any], column: str) -> tuple[float, float]:
    values = nodes.set_index("node")[column]
    return float(values[row["parent"]]), float(values[row["child"]])


def missed(nodes: pd.DataFrame) -> pd.DataFrame:
    """The poorly fitted nodes, worst first, including those whose misfit could not be measured."""
    return nodes[nodes["is_poor"]].sort_values(
        "misfit_nats", ascending=False, na_position="first", kind="stable", ignore_index=True
    )


def but_known(edges: pd.DataFrame) -> str:
    """The continuation of "no direction is decided" if knowledge or an experiment fixes some edges; empty if not."""
    words = {KNOWLEDGE: "knowledge", EXPERIMENT: "an experiment"}
    fixed = edges["source"][edges["source"].isin([*words])]
    which = " or ".join(words[source] for source in words if (fixed == source).any())
    return f", except {'one' if len(fixed) == 1 else f'{len(fixed):,}'} that {which} fixes" if len(fixed) else ""


def is_of_kind(nodes: pd.DataFrame) -> bool:
    """Whether few enough nodes are poorly fitted to decide directions."""
    return len(missed(nodes)) / len(nodes) < MOST_MISFIT
