"""How sure a result is, in one line: a level, what was found, and what to do about it.

A verdict says how well a result would replicate on other rows. Only a refinement also measures whether the model fits
the table. On 13 simulated tables of 50 nodes whose folds agreed on at most 5 of 49 removals, the orders had A_top
between .84 and .97. Of the adjacent pairs that all folds ordered clearly, 96 % had the right direction, so the edges
are judged, not the single removals.

| level | an order, a graph | a refinement |
|---|---|---|
| sure | at most a fifth of the decisions are open | at most a fifth of the directions are undecided |
| guess | up to a half | up to four fifths |
| poor | more, or next to no edges | more, or the model does not fit the table |
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.parents import jackknife
from disco.parents.ocs import frequencies, passes
from disco.parents.sparse import is_sparse
from disco.refine import Refined
from disco.refine.reasons import but_known, is_of_kind, missed
from disco.refine.result import near_ties
from disco.words import how_many, plural, share

LEVELS = ("sure", "guess", "poor")
CLOSE = 1.1  # a runner-up below this multiple of the smallest score might as well have been removed
MOVED = 0.25  # change of τ_Z that tests which edges stay
_FEW, _MANY = 0.2, 0.5  # shares of open decisions
_UNDECIDED = 0.8  # share of undecided directions above which a refinement says little about causes


class Verdict(NamedTuple):
    """How sure a result is.

    Attributes:
        level: sure, guess or poor.
        text: what was found, one sentence.
        advice: what to do about it, one or two sentences.
    """

    level: str
    text: str
    advice: str


def of_order(steps: pd.DataFrame, arrows: pd.DataFrame) -> Verdict:
    """How sure a causal order is: every position, by the removals, and the positions that matter, by the edges.

    With many nodes most removals are narrow, since several sinks are left. Which of them is removed first affects no
    edge.

    Args:
        steps: from `disco.score.removals.all_steps`.
        arrows: from `directions`, of the edges kept along the order.
    """
    by_knowledge = steps["ratio"] < 1  # knowledge allowed no other removal
    many, close = len(steps), int((~by_knowledge & (steps["ratio"] < CLOSE)).sum())
    agreed = steps["folds_agreeing"] == steps["folds"]
    text = f"Folds agree on {share(int(agreed.sum()), many)} {plural(many, 'step', 'steps')}"
    won = f"; {how_many(close, 'step')} {plural(close, 'was', 'were')} decided by less than 10 %"
    text += f"{won if close else ''}."
    indices = _level(many - int((by_knowledge | agreed & (steps["ratio"] >= CLOSE)).sum()), many)
    if is_sparse(len(arrows), many + 1):
        return Verdict(indices, text, _ORDER_ADVICE[indices])
    ends = _level(int((~arrows["is_clear"]).sum()), len(arrows))
    level = "guess" if ends == "sure" and indices != "sure" else ends
    advice = _ORDER_ADVICE[level] if level != "guess" else "Trust edges more than positions."
    return Verdict(level, f"{text} {_clear(arrows)}", advice)


_ORDER_ADVICE = {
    "sure": "Other rows would probably show the same order. Whether it is causal depends on the model.",
    "guess": "Neighbouring positions may be swapped: rely only on nodes that are far apart.",
    "poor": "Treat this order as a guess. More rows or fewer columns help. Refine tests each direction by itself.",
}


def of_parents(ocs: pd.DataFrame, rule: str, tau_z: float, pi_min: float) -> Verdict:
    """How sure the edges are, given the order: expected false edges (jackknife), or a small change of τ_Z.

    Args:
        ocs: every candidate: fold, parent, child, ocs, z.
        rule: iqr or jackknife.
        tau_z, pi_min: the thresholds of the edges shown.
    """
    kept, nodes = _kept(ocs, tau_z, pi_min), ocs["child"].nunique() + 1
    if is_sparse(len(kept), nodes):
        text = f"{how_many(len(kept), 'edge')} among {nodes} nodes {plural(len(kept), 'is', 'are')} next to nothing."
        return Verdict("poor", text, "The rule may be the reason, not the table: try one that keeps more edges.")
    if rule == "jackknife":
        return _by_noise(ocs.loc[ocs["fold"] == 1, "z"].to_numpy(), tau_z)
    fewer, more = (_kept(ocs, tau_z + move, pi_min) for move in (MOVED, -MOVED))
    lost, new = len(kept) - len(fewer), len(more) - len(kept)
    text = f"Of {how_many(len(kept), 'edge')}, {lost} would be removed if τ_Z were {MOVED:g} higher; "
    text += f"{new} would be added if it were lower."
    return Verdict(_level(lost + new, len(kept)), text, _PARENTS_ADVICE[_level(lost + new, len(kept))])


def _by_noise(z: np.ndarray, tau_z: float) -> Verdict:
    false, kept = jackknife.expected_false(jackknife.two_groups(z), z, tau_z)
    text = f"Of {how_many(kept, 'edge')}, about {false:.1f} would appear by noise alone."
    return Verdict(_level(false, kept), text, _PARENTS_ADVICE[_level(false, kept)])


_PARENTS_ADVICE = {
    "sure": "Most of these pairs of columns are related. Their directions come from the order alone.",
    "guess": "Edges near the threshold are doubtful: check the scores of those that matter to you.",
    "poor": "This graph depends on the threshold: compare another selector before you rely on an edge.",
}


def of_graph(ccs: pd.DataFrame, edges: pd.DataFrame, nodes: int) -> Verdict:
    """How sure the arrows of a graph are: for how many edges all folds clearly put the parent before the child.

    Args:
        ccs: columns step, remaining, node, fold, score, chosen.
        edges: the graph's, columns parent and child.
        nodes: how many nodes there are.
    """
    if is_sparse(len(edges), nodes):
        text = f"{how_many(len(edges), 'edge')} among {nodes} nodes {plural(len(edges), 'is', 'are')} next to nothing."
        return Verdict("poor", text, "The rule may be the reason, not the table: try another one on Parents.")
    arrows = directions(ccs, edges)
    level = _level(int((~arrows["is_clear"]).sum()), len(arrows))
    return Verdict(level, _clear(arrows), _GRAPH_ADVICE[level])


_GRAPH_ADVICE = {
    "sure": "Other rows would probably show the same arrows. Whether they are causal depends on the model.",
    "guess": "Check the direction of an edge before you use it, here or on Refine.",
    "poor": "Lines show related columns. Their arrows are guesses: Refine tests each direction by itself.",
}


def _clear(arrows: pd.DataFrame) -> str:
    many = len(arrows)
    parts = share(int(arrows["is_clear"].sum()), many)
    return f"In {parts} {plural(many, 'edge', 'edges')} all folds put the parent clearly before the child."


def directions(ccs: pd.DataFrame, edges: pd.DataFrame) -> pd.DataFrame:
    """How clearly the ordering put each edge's parent before its child, at the step that removed the child.

    Args:
        ccs: columns step, remaining, node, fold, score, chosen.
        edges: columns parent and child; parents stand before their children in the order.

    Returns:
        Columns parent, child, ratio (the parent's mean score over the child's at that step), folds_agreeing (folds in
        which the parent's score is larger), folds, is_clear (all folds, and a ratio of at least 1.1).
    """
    removed = ccs[ccs["chosen"].astype(bool)].drop_duplicates("step").set_index("node")["step"]
    scores = ccs.set_index(["step", "node", "fold"])["score"].unstack("fold")
    step = edges["child"].map(removed).to_numpy()
    of_parent, of_child = (
        scores.reindex(pd.MultiIndex.from_arrays([step, edges[end]])).to_numpy() for end in ("parent", "child")
    )
    found = edges[["parent", "child"]].reset_index(drop=True)
    found["ratio"] = of_parent.mean(axis=1) / of_child.mean(axis=1)
    found["folds_agreeing"] = (of_parent > of_child).sum(axis=1)
    found["folds"] = scores.shape[1]
    found["is_clear"] = (found["folds_agreeing"] == found["folds"]) & (found["ratio"] >= CLOSE)
    return found


def of_refinement(refined: Refined, bound: float) -> Verdict:
    """How sure a refinement's directions are: whether the model fits, how many are decided, and near ties.

    Args:
        bound: nats within which another search's result counts as a near tie.
    """
    edges, nodes = refined.edges, refined.nodes
    if edges.empty:
        text = "No edge is supported: the columns are independent under this model, or the rows are too few to tell."
        return Verdict("guess", text, "More rows may show edges. See what other rules find on Parents.")
    if nodes is None:
        text = "An older version of DISCO made this refinement, with fewer checks of each direction."
        return Verdict("guess", text, "Refine again before you rely on an arrow.")
    if not is_of_kind(nodes):
        poor = len(missed(nodes))
        poorly = f"{share(poor, len(nodes))} nodes {plural(poor, 'is', 'are')} poorly fitted"
        text = f"The model does not fit this table: {poorly}."
        advice = "Lines show related columns. Their arrows are hypotheses: none is decided"
        return Verdict("poor", text, f"{advice}{but_known(edges)}.")
    many = len(edges)
    open_ = int((~edges["decided"]).sum())
    near = near_ties(refined.starts, bound)[1]
    level = "poor" if open_ > _UNDECIDED * many else "guess" if open_ > _FEW * many or near else "sure"
    decided = many - open_
    text = f"{share(decided, many).capitalize()} {plural(many, 'direction', 'directions')} "
    text += f"{plural(decided, 'is', 'are')} decided"
    text += f"; {how_many(near, 'other search', 'other searches')} found another equally good graph." if near else "."
    return Verdict(level, text, _REFINED_ADVICE[level])


_REFINED_ADVICE = {
    "sure": "The model fits these columns and the evidence is strong. Hidden common causes could change it.",
    "guess": "Use the decided directions. A dashed line shows related columns: its arrow is a hypothesis.",
    "poor": "Lines show related columns. Their arrows are hypotheses.",
}


def _level(open_: float, many: int) -> str:
    """The level of a result, by its share of open decisions."""
    return "sure" if open_ <= _FEW * many else "guess" if open_ <= _MANY * many else "poor"


def _kept(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    table = frequencies(ocs, tau_z)
    return table[passes(table, pi_min)]
