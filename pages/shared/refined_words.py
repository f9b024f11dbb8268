"""The evidence on an edge of a refinement in sentences."""

import math
from typing import Any

import pandas as pd

from disco.figures.words import number
from disco.parents.ocs import reaches
from disco.refine import Choice, Refined
from disco.refine.evidence import AGAINST, FEW, HALF, MOST_MISFIT, TIMES
from disco.refine.reasons import Reason, asked, missed, reason
from disco.runs import Run, stamps
from disco.runs.refined import choice_of
from pages.shared import results
from pages.shared.glossary import define
from pages.shared.names import code

ASSUMED = (
    "Assumed: no hidden common causes, parents' effects that add up (or a curved function of their sum), and a base "
    "measure that parents do not change. This is about causes only if these hold and the graph is right; a high "
    "likelihood does not prove it."
)


NUMBERS = {
    "gain_nats": "gain",
    "log_likelihood_nats": "log-likelihood",
    "bic_nats": "BIC",
    "direction_nats": "direction",
    "robust_nats": "robust evidence",
    "linear_nats": "linear evidence",
    "spread_nats": "spread evidence",
    "p_value": "p-value",
    "bootstrap": "share of tables drawn with replacement",
    "folds": "share of parts left out",
}
P_VALUE = define("p-value")
SAME_ROWS = "CCS order and likelihood use the same rows: that they agree is no independent evidence."
DIRECTION = define("direction evidence")
ROBUST = define("robust evidence")
SPREAD = (
    "What spreads would add is the part of the fitted prior, which knows how the spreads of parents and children "
    "differ in this table. It does not count."
)


def decided_means(bound: float) -> str:
    """What a decided direction has to have."""
    return (
        f"Decided asks that turning the edge loses at least {bound:g} nats, and half as much with the link held "
        f"straight; that with every effect linear at most {AGAINST:g} nat is against it; that what is lost exceeds "
        f"{TIMES:g} times the misfit of its two nodes by {bound:g}; that both nodes have more than {FEW} levels; that "
        f"the model misses less than {MOST_MISFIT:.0%} of all nodes; and that no other search that ended as high has "
        "it the other way round."
    )


def stability(choice: Choice) -> tuple[str, str]:
    """What the share of tables drawn with replacement is called, and what it says."""
    if choice.redone:
        return "Found anew", (
            "Share of tables drawn with replacement that give the edge this way round, each searched anew as the whole "
            "table was, with a screen, a prior and starts of its own."
        )
    return "Local stability", (
        "Share of tables drawn with replacement that give the edge this way round in a short search from the graph "
        "found, by its screen and prior. A search anew gives lower shares; Refine again can ask for it."
    )


def unavailable(edges: pd.DataFrame, choice: Choice, is_older: bool) -> pd.Series:
    """The numbers of each edge that could not be computed, in words; empty text where all could.

    No share is missing where nothing was drawn anew, and no evidence that an older refinement did not look for.
    """
    missing = edges[list(NUMBERS)].isna()
    for name in ("direction_nats", "robust_nats", "linear_nats", "spread_nats"):
        missing[name] &= not is_older
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


def lacking(run: Run, refined: Refined, row: dict[str, Any]) -> str:
    """Which numbers of an edge are not available; empty where all are."""
    told = unavailable(pd.DataFrame([row]), Choice(**choice_of(run)), refined.nodes is None).iloc[0]
    return f"**Not available**: {told}." if told else ""


def direction(run: Run, refined: Refined, row: dict[str, Any]) -> str:
    """Whether the direction is decided, and why: the first rule that it fails."""
    bound, nodes = Choice(**choice_of(run)).bound, refined.nodes
    nats, least = (or_not(float(row[name])) for name in ("direction_nats", "robust_nats"))
    loses = f"turned round, the graph loses {nats} nats"
    if nodes is None:
        is_sure = "decided" if row["decided"] else "undecided"
        return f"An older version called its direction {is_sure}, by fewer rules than today: refine again."
    need = asked(row, nodes, bound)
    ends = f"of {code(row['parent'])} and {code(row['child'])}"
    said = {
        Reason.UNAVAILABLE: "what turning it costs is not available.",
        Reason.WEAK: f"turned round, the graph loses only {nats} nats, less than the {bound:g} that decide.",
        Reason.FRAGILE: f"{loses}, but only {least} with the link held straight, less than the {HALF * bound:g} "
        "that decide.",
        Reason.FEW_LEVELS: f"{loses}, but a column of {FEW} levels or fewer fits the model whatever its parents do, so "
        "that nothing tells whether it is of the model's kind.",
        Reason.AGAINST: f"{loses}, but with every effect linear it gains {or_not(-row['linear_nats'])}.",
        Reason.MISSED: f"{loses}, but beside what the model misses {ends} it would have to lose {or_not(need)}.",
        Reason.TABLE: f"{loses}, but {len(missed(nodes))} of {len(nodes)} nodes are not of the model's kind, "
        f"{MOST_MISFIT:.0%} or more: no direction of this table is called decided.",
        Reason.ELSEWHERE: f"{loses}, but another search that ended nearly as high has it the other way round.",
        Reason.DECIDED: f"{loses}, and at least {least} with the link held straight; {bound:g} are asked for"
        + (f", and {or_not(need)} beside what the model misses {ends}." if need > bound else "."),
    }
    rule = reason(row, nodes, bound)
    if rule is Reason.MISSED and math.isnan(need):
        said[rule] = f"{loses}, but what the model misses {ends} could not be measured."
    if rule is Reason.WEAK and row["direction_nats"] < 0:
        said[rule] = (
            f"by direction evidence alone it would stand the other way round: turned, the graph gains "
            f"{number(-row['direction_nats'])} nats. The CCS order, or what the spreads tell, keeps it so."
        )
    return f"**{'Decided' if rule is Reason.DECIDED else 'Undecided'}:** {said[rule]}"


def breakdown(run: Run, refined: Refined, row: dict[str, Any]) -> pd.DataFrame:
    """The evidence on a direction part by part: columns part, nats, asked."""
    bound, nodes = Choice(**choice_of(run)).bound, refined.nodes
    parts = [
        ("Direction evidence", row["direction_nats"], f"≥ {bound:g}"),
        ("With the link held straight too", row["robust_nats"], f"≥ {HALF * bound:g}"),
        ("With every effect linear", row["linear_nats"], f"≥ −{AGAINST:g}"),
        ("What spreads would add", row["spread_nats"], "does not count"),
    ]
    if nodes is not None:
        need = f"direction ≥ {or_not(asked(row, nodes, bound))}"
        misfit = nodes.set_index("node")["misfit_nats"]
        parts += [(f"Misfit of {row[end]}, the {end}", misfit[row[end]], need) for end in ("parent", "child")]
    return pd.DataFrame(parts, columns=["part", "nats", "asked"])


def repeats(run: Run, row: dict[str, Any]) -> str:
    """In how many fits on other rows the edge came back; empty where none was asked for."""
    given, parts = Choice(**choice_of(run)), []
    for name, words in (("bootstrap", "tables drawn with replacement"), ("folds", "fits without a part of the rows")):
        if math.isnan(float(row[name])) or not (count := getattr(given, name)):
            continue
        times = row[name] * count
        if abs(times - round(times)) < 1e-6:
            parts.append(f"{round(times)} of {count} {words}")
        else:  # draws in which a column is constant say nothing of it
            parts.append(f"{100 * row[name]:.0f} % of those {words} in which both columns vary")
    how = "searched anew" if given.redone else "searched for a few sweeps from this graph"
    return f"It came back, in this direction, in {' and in '.join(parts)}, each {how}." if parts else ""


def in_disco(run: Run, parent: str, child: str) -> str:
    """What the run's own result says of the two nodes; empty where the run has no fit."""
    if not stamps.fit(run):
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
        if reaches(row["frequency"], pi_min):
            return f"DISCO's result {words}: {scores}. {SAME_ROWS}"
        return f"DISCO's order has {code(first)} before {code(second)}, but no edge between them: {scores}."
    return ""
