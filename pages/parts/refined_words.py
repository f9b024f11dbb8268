"""The evidence on an edge of a refinement in sentences."""

import math
from typing import Any

import pandas as pd

from disco.figures.words import number
from disco.refine import Choice, Refined
from disco.refine.evidence import BOUND
from disco.runs import Run
from disco.runs.refined import choice_of
from pages.parts import results
from pages.parts.names import code

ASSUMED = (
    "Assumed: no hidden common causes, effects of parents that add up but for one bend of their sum, and one carrier a "
    "node. Only as far as these hold, and the graph is right, does this speak of causes; a high likelihood is no proof."
)


NUMBERS = {
    "gain_nats": "gain", "log_likelihood_nats": "log-likelihood", "bic_nats": "BIC", "direction_nats": "direction",
    "p_value": "p-value", "bootstrap": "share of tables drawn anew", "folds": "share of parts left out",
}  # fmt: skip


def unavailable(edges: pd.DataFrame, choice: Choice) -> pd.Series:
    """The numbers of each edge that could not be computed, in words; empty text where all could.

    An edge that cannot be turned has no evidence on its direction, and no share where nothing was drawn anew: neither
    is missing.
    """
    missing = edges[list(NUMBERS)].isna()
    missing["direction_nats"] &= edges["reversible"]
    for name in ("bootstrap", "folds"):
        missing[name] &= getattr(choice, name) > 0
    told = [
        ", ".join(words for words, is_missing in zip(NUMBERS.values(), row, strict=True) if is_missing)
        for row in missing.to_numpy()
    ]
    return pd.Series(told, index=edges.index, dtype="str")


def row_of(refined: Refined, parent: str, child: str) -> dict[str, Any] | None:
    """The evidence on an edge; None where the refinement has no such edge."""
    edges = refined.edges
    rows = edges[(edges["parent"] == parent) & (edges["child"] == child)]
    return None if rows.empty else rows.iloc[0].to_dict()


def p_value(value: float) -> str:
    """A p-value that may have run out of digits."""
    return "below 1e-300" if value < 1e-300 else number(value)


def or_not(value: float) -> str:
    """A number, or that it is not available."""
    return "not available" if math.isnan(value) else number(value)


def lacking(run: Run, row: dict[str, Any]) -> str:
    """Which numbers of an edge are not available; empty where all are."""
    told = unavailable(pd.DataFrame([row]), Choice(**choice_of(run))).iloc[0]
    return f"**Not available**: {told}." if told else ""


def direction(run: Run, row: dict[str, Any]) -> str:
    """Whether the direction is decided, and why."""
    bound = float(choice_of(run).get("bound", BOUND))
    if not row["reversible"]:
        if row["decided"]:
            return "It cannot be turned alone without making a cycle: its direction rests on other edges."
        return "**Undecided:** another search that ended nearly as high has it the other way round."
    nats = float(row["direction_nats"])
    if math.isnan(nats):
        is_sure = "decided" if row["decided"] else "**undecided**"
        return f"Its direction is {is_sure}; what turning it costs is not available."
    if row["decided"]:
        return f"Turned round, the graph loses {number(nats)} nats, more than the {bound:g} that decide a direction."
    if nats >= bound:
        return (
            f"**Undecided:** turned alone it loses {number(nats)} nats, but another search that ended nearly as high "
            "has it the other way round."
        )
    if nats >= 0:
        return (
            f"**Undecided:** turned round, the graph loses only {number(nats)} nats, less than the {bound:g} that "
            "decide."
        )
    return (
        f"**Undecided:** turned round, the graph even gains {number(-nats)} nats, but fewer than a direction "
        "against the CCS order needs."
    )


def repeats(run: Run, row: dict[str, Any]) -> str:
    """In how many fits on other rows the edge came back; empty where none was asked for."""
    asked, parts = choice_of(run), []
    for name, words in (("bootstrap", "tables drawn with replacement"), ("folds", "fits without a part of the rows")):
        if math.isnan(float(row[name])) or not (count := int(asked.get(name, 0))):
            continue
        times = row[name] * count
        if abs(times - round(times)) < 1e-6:
            parts.append(f"{round(times)} of {count} {words}")
        else:  # draws in which a column is constant say nothing of it
            parts.append(f"{100 * row[name]:.0f} % of those {words} in which both columns vary")
    return f"It came back, in this direction, in {' and in '.join(parts)}." if parts else ""


def in_disco(run: Run, parent: str, child: str) -> str:
    """What the run's own result says of the two nodes; empty where the run has no fit."""
    if not (run.path / "edges.csv").exists():
        return ""
    result = results.of(run, run.own_variant)
    tau_z, pi_min = result.thresholds
    found = result.candidates(tau_z)
    for first, second, words in ((parent, child, "has this edge"), (child, parent, "has it the other way round")):
        rows = found[(found["parent"] == first) & (found["child"] == second)]
        if rows.empty:
            continue
        row = rows.iloc[0]
        folds = f"above τ_Z in {round(row['frequency'] * result.folds)} of {result.folds} folds"
        scores = f"OCS {number(row['ocs'])}, {folds}"
        if row["frequency"] >= pi_min - 1e-9:
            return f"DISCO's result {words}: {scores}."
        return f"DISCO's order has {code(first)} before {code(second)}, but no edge between them: {scores}."
    return ""
