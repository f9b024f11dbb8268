"""The evidence on an edge in words: whether it is there, its direction, and what an experiment shows of it."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from disco.columns import FREE, MAY_BE_MISSING, OF_DIRECTION
from disco.paper.ocs import passes
from disco.refine import Choice, Refined
from disco.refine.bounds import AGAINST, AGAINST_SHARE, FEW, MOST_MISFIT, SURER, least_lead
from disco.refine.reasons import Reason, asked, but_known, is_of_kind, missed, reason
from disco.refine.refinement_result import SIMILAR
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.fit import results
from disco.subjects.refinement.refined import choice_of
from disco.words import number, plural
from pages.shared.result import contrasted, fit
from pages.shared.widgets.names import code, define

# Numbers that may be missing, as named in a sentence.
NUMBERS = {column.name: column.label[0].lower() + column.label[1:] for column in MAY_BE_MISSING}
# Nats of edge evidence from which a link is called so: 20 nats are odds of 5e8 to 1, 5 of 150 to 1, 1 of 3 to 1.
STRENGTHS = {20.0: "overwhelming", 5.0: "strong", 1.0: "some", -math.inf: "little"}
_SETTLE = "An experiment or a rule that you know could settle it."
SAME_ROWS = "DISCO's order and the likelihood use the same rows, so their agreement is not independent evidence."


def stability(choice: Choice) -> str:
    """What the share of bootstrap tables that have an edge means, after the term for it."""
    term = "bootstrap share" if choice.redone else "local stability"
    return f"{term.capitalize()}: {define(term)}"


def unavailable(edges: pd.DataFrame, choice: Choice, is_older: bool) -> pd.Series:
    """The numbers of each edge that could not be computed, in words; empty if all could.

    A share of draws that nobody requested does not count as missing, nor does evidence that older versions lacked.
    """
    missing = edges[list(NUMBERS)].isna()
    missing[[column.name for column in OF_DIRECTION]] &= not is_older
    for name in ("bootstrap", "folds"):
        missing[name] &= getattr(choice, name) > 0
    texts = [
        "; ".join(words for words, is_missing in zip(NUMBERS.values(), row, strict=True) if is_missing)
        for row in missing.to_numpy()
    ]
    return pd.Series(texts, index=edges.index, dtype="str")


def row_of(refined: Refined, parent: str, child: str) -> dict[str, Any] | None:
    """The evidence on an edge; None if the refinement has no such edge."""
    edges = refined.edges
    rows = edges[(edges["parent"] == parent) & (edges["child"] == child)]
    return None if rows.empty else rows.iloc[0].to_dict()


def p_value(value: float) -> str:
    """A p-value as text; one too small for a float is given as a bound."""
    return "below 1e-300" if value < 1e-300 else number(value)


def or_not(value: float) -> str:
    """A number as text; `not available` for NaN."""
    return "not available" if math.isnan(value) else number(value)


def lacking(run: Run, refined: Refined, row: dict[str, Any]) -> str:
    """Which numbers of an edge are not available; empty if all are."""
    numbers = unavailable(pd.DataFrame([row]), Choice(**choice_of(run)), refined.nodes is None).iloc[0]
    return f"**Not available**: {numbers}." if numbers else ""


def joined(refined: Refined, row: dict[str, Any]) -> str:
    """How strong the evidence is that an edge's two columns are joined, and what speaks against it."""
    gain = row["gain_nats"]
    if math.isnan(gain):
        return "**Joined:** the evidence is not computed."
    strength = next(word for bound, word in STRENGTHS.items() if gain >= bound)
    doubt = ""
    if refined.found.artefacts:
        doubt = " Something other than a cause may join them: see the warning at the top of the page."
    elif refined.nodes is not None and not is_of_kind(refined.nodes):
        doubt = f" But the model fits {MOST_MISFIT:.0%} or more of the columns poorly."
    return f"**Joined:** {strength} evidence.{doubt}"


def direction(run: Run, refined: Refined, row: dict[str, Any]) -> str:
    """Whether the direction is decided and, if not, the first rule that it fails."""
    bound, nodes = Choice(**choice_of(run)).bound, refined.nodes
    robust = or_not(float(row["robust_nats"]))
    arrow, back = (f"{code(row[a])} → {code(row[b])}" for a, b in (("parent", "child"), ("child", "parent")))
    lead = float(row["direction_nats"])
    costs = f"{number(abs(lead))} nats for {back if lead < 0 else arrow}" if lead == lead else "No direction evidence"
    if nodes is None:
        is_sure = "known" if row["decided"] else "not known"
        return f"**Direction:** {is_sure}, by an older version with fewer rules. Search again."
    need, poor = asked(row, nodes, bound), len(missed(nodes))
    joined = bound if row.get("rule", FREE) != FREE else SURER * bound
    misfit_of = f"of {code(row['parent'])} and {code(row['child'])}"
    sentences = {
        Reason.KNOWN: "It allows only this direction.",
        Reason.SHOWN: "It holds whatever is hidden.",
        Reason.ARTEFACT: f"{costs}, but something in the table creates edges: see the warning at the top of the page.",
        Reason.UNAVAILABLE: "The direction evidence is not computed.",
        Reason.WEAK: f"{'The counts lean the other way, ' if lead < 0 else 'Only '}{costs} (needs {bound:g}).",
        Reason.UNSURE: f"{costs}, but the evidence that the two are joined is only {or_not(float(row['gain_nats']))} "
        f"(needs {joined:g}): a direction is not surer than its edge.",
        Reason.RIVAL: f"{costs}, but only {robust} if nodes may have other kinds of distribution, such as zeros with "
        f"causes of their own (needs {or_not(least_lead(bound, row['gain_nats'], run.shape[0]))}).",
        Reason.FEW_LEVELS: f"{costs}, but the model fits any column of {FEW} levels or fewer, whatever its parents "
        "do, so its fit says nothing about a direction.",
        Reason.AGAINST: f"{costs}, but with every effect linear the reversed edge gains {or_not(-row['linear_nats'])}.",
        Reason.MISSED: f"{costs}, but the misfit {misfit_of} requires {or_not(need)}.",
        Reason.TABLE: f"{costs}, but {poor:,} of {len(nodes):,} nodes {plural(poor, 'is', 'are')} poorly fitted, "
        f"{MOST_MISFIT:.0%} or more: no direction of this table is decided{but_known(refined.edges)}.",
        Reason.ELSEWHERE: f"{costs}, but another search that ended nearly as high has the edge reversed.",
        Reason.DECIDED: f"{costs} (needs {bound:g}), at least {robust} if nodes may have other kinds of distribution"
        + (f". The misfit {misfit_of} requires {or_not(need)}." if need > bound else "."),
    }
    rule = reason(row, nodes, bound, bool(refined.found.artefacts), run.shape[0])
    if rule is Reason.MISSED and math.isnan(need):
        sentences[rule] = f"{costs}, but the misfit {misfit_of} could not be measured."
    sources = {Reason.DECIDED: "the counts", Reason.KNOWN: "the knowledge given", Reason.SHOWN: "an experiment"}
    if rule in sources:
        return f"**Direction:** known from {sources[rule]}. {sentences[rule]}"
    return f"**Direction:** not known. {sentences[rule]} {_SETTLE}"


def breakdown(run: Run, refined: Refined, row: dict[str, Any]) -> pd.DataFrame:
    """The evidence on a direction, component by component: columns part, nats, asked."""
    bound, nodes = Choice(**choice_of(run)).bound, refined.nodes
    required = {
        "direction_nats": f"≥ {bound:g}",
        "robust_nats": f"≥ {or_not(least_lead(bound, row['gain_nats'], run.shape[0]))}",
        "linear_nats": f"≥ −{or_not(AGAINST + AGAINST_SHARE * row['direction_nats'])}",
    }
    rows = [(item.label, row[item.name], required.get(item.name, "does not count")) for item in OF_DIRECTION]
    if nodes is not None:
        need = f"direction ≥ {or_not(asked(row, nodes, bound))}"
        misfit = nodes.set_index("node")["misfit_nats"]
        rows += [(f"Misfit of {row[end]}, the {end}", misfit[row[end]], need) for end in ("parent", "child")]
    return pd.DataFrame(rows, columns=["part", "nats", "asked"])


def repeats(run: Run, row: dict[str, Any]) -> str:
    """How many fits on other rows found the edge again; empty if none was requested."""
    choice, counts = Choice(**choice_of(run)), []
    for name, words in (("bootstrap", "bootstrap tables"), ("folds", "fits without part of the rows")):
        if math.isnan(float(row[name])) or not (count := getattr(choice, name)):
            continue
        times = row[name] * count
        if abs(times - round(times)) < 1e-6:
            counts.append(f"{round(times):,} of {count:,} {words}")
        else:  # draws with a constant column do not count
            counts.append(f"{100 * row[name]:.0f}% of the {words} in which both columns vary")
    how = "searched from the start" if choice.redone else "searched for a few sweeps from this graph"
    return f"Found again in this direction in {' and in '.join(counts)}, each {how}." if counts else ""


def in_disco(run: Run, parent: str, child: str) -> str:
    """What the run's own result says about the two nodes; empty if the run has no fit."""
    if not stamps.fit(run):
        return ""
    result = fit.of(run, results.own_variant(run))
    tau_z, pi_min = result.thresholds
    candidates = result.candidates(tau_z)
    for first, second, words in ((parent, child, "has this edge"), (child, parent, "has it reversed")):
        rows = candidates[(candidates["parent"] == first) & (candidates["child"] == second)]
        if rows.empty:
            continue
        row = rows.iloc[0]
        folds = f"above τ_Z in {round(row['frequency'] * result.folds)} of {result.folds} folds"
        scores = f"OCS {number(row['ocs'])}, {folds}"
        if passes(rows, pi_min).iloc[0]:
            return f"DISCO's result {words}: {scores}. {SAME_ROWS}"
        return f"DISCO's order puts {code(first)} before {code(second)}, without an edge between them: {scores}."
    return ""


def sentence(run: Run, margin: float, parent: str, child: str) -> str:
    """That the parent comes first, and what setting it changed in the child."""
    first, frame = f"**{code(parent)} comes first", contrasted.contrasts(run, margin)
    rows = frame[(frame["targets"].map(tuple) == (parent,)) & (frame["node"] == child)]
    if rows.empty or math.isnan(rows.iloc[0]["low"]):
        return f"{first},** as experiments show together with other rules."
    row = rows.iloc[0]
    return (
        f"{first}:** where it was set ({code(row['arm'])}), {code(child)} is {row['ratio']:.2f} times as high as among "
        f"the controls, {row['low']:.2f} to {row['high']:.2f}."
    )


def removed(notes: Iterable[str]) -> str:
    """Of a result's notes, that on edges removed because rows within groups are similar; empty without it."""
    return next((note for note in notes if getattr(note, "kind", "") == SIMILAR), "")
