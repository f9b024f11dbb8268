"""How sure a result is, in one line: a level, what was found, and what to do about it.

A verdict tells how well a result would repeat on other rows. It cannot tell whether the model fits the table, except
for a refinement, which measures that. On 13 simulated tables of 50 nodes whose folds agreed on at most 5 of 49
removals, the orders had A_top between .84 and .97, and of the joined pairs that all folds ordered clearly, 96 % had the
right direction: so the edges count, not the single removals.

| level | an order, a graph | a refinement |
|---|---|---|
| sure | at most a fifth of the decisions is open | at most a fifth of the directions is undecided |
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
MOVED = 0.25  # by which τ_Z is moved to see which edges stay
_FEW, _MANY = 0.2, 0.5  # shares of open decisions
_UNDECIDED = 0.8  # share of undecided directions from which a refinement says little about causes


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
    """How sure a causal order is: its single positions, by the removals, and the positions that matter, by the edges.

    With many nodes most removals are narrow, since several sinks are left; which of them goes first matters to no edge.

    Args:
        steps: from `disco.score.removals.all_steps`.
        arrows: from `directions`, of the edges kept along the order.
    """
    by_knowledge = steps["ratio"] < 1  # such a removal was not won, but the only one allowed
    many, close = len(steps), int((~by_knowledge & (steps["ratio"] < CLOSE)).sum())
    agreed = steps["folds_agreeing"] == steps["folds"]
    text = f"Folds agree on {share(int(agreed.sum()), many)} {plural(many, 'removal', 'removals')}"
    won = f"; {how_many(close, 'removal')} {plural(close, 'was', 'were')} won by less than 10 %"
    text += f"{won if close else ''}."
    indices = _level(many - int((by_knowledge | agreed & (steps["ratio"] >= CLOSE)).sum()), many)
    if is_sparse(len(arrows), many + 1):
        return Verdict(indices, text, _ORDER_ADVICE[indices])
    ends = _level(int((~arrows["is_clear"]).sum()), len(arrows))
    level = "guess" if ends == "sure" and indices != "sure" else ends
    advice = _ORDER_ADVICE[level] if level != "guess" else "The edges are surer than any single position."
    return Verdict(level, f"{text} {_clear(arrows)}", advice)


_ORDER_ADVICE = {
    "sure": "Other rows would probably give the same order. Whether it is causal depends on the model alone.",
    "guess": "Neighbouring positions may be swapped: rely only on nodes that stand far apart.",
    "poor": "Treat this order as a guess. More rows or fewer columns help; Refine weighs each direction by itself.",
}


def of_parents(ocs: pd.DataFrame, rule: str, tau_z: float, pi_min: float) -> Verdict:
    """How sure the edges are, given the order: expected false ones (jackknife), or what a small change of τ_Z does.

    Args:
        ocs: every candidate: fold, parent, child, ocs, z.
        rule: iqr or jackknife.
        tau_z, pi_min: the thresholds of the edges shown.
    """
    kept, nodes = _kept(ocs, tau_z, pi_min), ocs["child"].nunique() + 1
    if is_sparse(len(kept), nodes):
        text = f"{how_many(len(kept), 'edge')} among {nodes} nodes {plural(len(kept), 'is', 'are')} next to nothing."
        return Verdict("poor", text, "The reason may be the rule and not the table: try one that keeps more.")
    if rule == "jackknife":
        return _by_noise(ocs.loc[ocs["fold"] == 1, "z"].to_numpy(), tau_z)
    fewer, more = (_kept(ocs, tau_z + move, pi_min) for move in (MOVED, -MOVED))
    lost, new = len(kept) - len(fewer), len(more) - len(kept)
    text = f"Of {how_many(len(kept), 'edge')}, {lost} would go if τ_Z were {MOVED:g} higher; "
    text += f"{new} would come if it were lower."
    return Verdict(_level(lost + new, len(kept)), text, _PARENTS_ADVICE[_level(lost + new, len(kept))])


def _by_noise(z: np.ndarray, tau_z: float) -> Verdict:
    false, kept = jackknife.expected_false(jackknife.two_groups(z), z, tau_z)
    text = f"Of {how_many(kept, 'edge')}, {false:.1f} would be expected from noise alone."
    return Verdict(_level(false, kept), text, _PARENTS_ADVICE[_level(false, kept)])


_PARENTS_ADVICE = {
    "sure": "Most of these pairs of columns are joined. Which of the two comes first follows from the order alone.",
    "guess": "The edges near the threshold are doubtful: look at the scores of those that matter to you.",
    "poor": "The threshold makes this graph: compare another selector before you rely on an edge.",
}


def of_graph(ccs: pd.DataFrame, edges: pd.DataFrame, nodes: int) -> Verdict:
    """How sure the arrows of a graph are: for how many edges all folds put the parent before the child, and clearly.

    Args:
        ccs: columns step, remaining, node, fold, score, chosen.
        edges: of the graph shown, columns parent and child.
        nodes: how many nodes there are.
    """
    if is_sparse(len(edges), nodes):
        text = f"{how_many(len(edges), 'edge')} among {nodes} nodes {plural(len(edges), 'is', 'are')} next to nothing."
        return Verdict("poor", text, "The reason may be the rule and not the table: Parents offers others.")
    arrows = directions(ccs, edges)
    level = _level(int((~arrows["is_clear"]).sum()), len(arrows))
    return Verdict(level, _clear(arrows), _GRAPH_ADVICE[level])


_GRAPH_ADVICE = {
    "sure": "Other rows would probably give these arrows. Whether they are causal depends on the model alone.",
    "guess": "Check the direction of an edge before you use it, here or on Refine.",
    "poor": "Read the lines as joined columns and the arrows as guesses; Refine weighs each direction by itself.",
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
    """How sure the directions of a refinement are: whether the model fits, how many are decided, and near ties.

    Args:
        bound: nats within which the end of another search counts as near the best.
    """
    edges, nodes = refined.edges, refined.nodes
    if edges.empty:
        text = "No edge is supported: the columns are independent by this model, or the rows are too few to tell."
        return Verdict("guess", text, "More rows may show edges; Parents shows what other rules find.")
    if nodes is None:
        text = "An older version made this refinement and called directions decided by fewer rules."
        return Verdict("guess", text, "Refine again before you rely on an arrow.")
    if not is_of_kind(nodes):
        poor = len(missed(nodes))
        poorly = f"{share(poor, len(nodes))} nodes {plural(poor, 'is', 'are')} poorly fitted"
        text = f"The model does not fit this table: {poorly}."
        advice = "Read the lines as joined columns and the arrows as hypotheses: none is decided"
        return Verdict("poor", text, f"{advice}{but_known(edges)}.")
    many = len(edges)
    open_ = int((~edges["decided"]).sum())
    near = near_ties(refined.starts, bound)[1]
    level = "poor" if open_ > _UNDECIDED * many else "guess" if open_ > _FEW * many or near else "sure"
    decided = many - open_
    text = f"{share(decided, many).capitalize()} {plural(many, 'direction', 'directions')} "
    text += f"{plural(decided, 'is', 'are')} decided"
    text += f"; {how_many(near, 'other search', 'other searches')} ended as high with another graph." if near else "."
    return Verdict(level, text, _REFINED_ADVICE[level])


_REFINED_ADVICE = {
    "sure": "The model fits these columns and the evidence is strong. Hidden common causes would change it.",
    "guess": "Use the decided directions; a dashed edge joins two columns, its arrow is a hypothesis.",
    "poor": "Read the lines as joined columns and the arrows as hypotheses.",
}


def _level(open_: float, many: int) -> str:
    """The level of a result of which a share of the decisions is open."""
    return "sure" if open_ <= _FEW * many else "guess" if open_ <= _MANY * many else "poor"


def _kept(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    table = frequencies(ocs, tau_z)
    return table[passes(table, pi_min)]
