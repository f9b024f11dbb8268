"""How sure a result is, in one line: a level, the result, and what to do about it.

A verdict says how well a result would repeat on other rows. Only a refinement measures whether the model fits the
table. On 13 simulated tables of 50 nodes whose folds agreed on at most 5 of 49 removals, the orders had A_top between
.84 and .97. Of the joined pairs that all folds ordered clearly, 96% had the right direction. So the place of a
node is as clear as the edges into it.

| level | an order, a graph | a refinement |
|---|---|---|
| sure | at most a fifth of the decisions are open | at most a fifth of the directions are undecided |
| guess | up to a half | up to four fifths |
| poor | more, or almost no edges | more |

A refinement is a guess at best if the model does not fit the table, its searches disagree about the graph, or they were
ended early.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.columns import CLASS, EXPERIMENT, KNOWLEDGE, PAIR
from disco.metrics import order_errors
from disco.paper import jackknife
from disco.paper.ocs import frequencies, passes
from disco.paper.removals import CLOSE
from disco.refine import Refined
from disco.refine.bounds import MOST_MISFIT
from disco.refine.reasons import is_of_kind, missed
from disco.refine.refinement_result import Ends, ends
from disco.selectors.sparse import is_sparse
from disco.words import how_many, plural, series, share

LEVELS = ("sure", "guess", "poor")
MOVED = 0.25  # the change of τ_Z that tests which edges stay
ANY_ORDER = "no direction is decided, so many orders are compatible with the table"
_FEW, _MANY = 0.2, 0.5  # shares of open decisions
_UNDECIDED = 0.8  # share of undecided directions from which a refinement says little about causes


class Verdict(NamedTuple):
    """How sure a result is: sure, guess or poor; the result in one sentence; what to do about it; a heading."""

    level: str
    text: str
    advice: str
    head: str


def clarity(steps: pd.DataFrame, edges: pd.DataFrame) -> pd.DataFrame:
    """How clear the place of each node with parents is; of every node, if there are almost no edges.

    A place is clear if the directions of all edges into its node are known, or knowledge overruled the scores there:
    which of several nodes without a parent comes first affects no edge. With almost no edges, a place is clear if all
    folds remove the node, by at least 10%.

    Args:
        steps: from `disco.paper.removals.all_steps`.
        edges: from `disco.paper.removals.directions`.

    Returns:
        Those rows of `steps` with rival (the parent with the smallest score, or the runner-up), lead (the rival's score
        over the node's), is_clear, and has_parents, the same in every row.
    """
    has_parents = not is_sparse(len(edges), len(steps) + 1)
    is_clear = (steps["folds_agreeing"] == steps["folds"]) & (steps["ratio"] >= CLOSE)
    rival, lead = steps["runner_up"], steps["ratio"]
    if has_parents:
        closest = edges.sort_values("ratio", kind="stable").drop_duplicates("child").set_index("child")
        rival, lead = (steps["sink"].map(closest[name]) for name in ("parent", "ratio"))
        is_clear = ~steps["sink"].isin(edges.loc[~edges["decided"], "child"])
    is_clear |= steps["ratio"] < 1  # knowledge overruled the scores: only this removal was allowed
    table = steps.assign(rival=rival, lead=lead, is_clear=is_clear, has_parents=has_parents)
    return table[table["rival"].notna()]


def how_clear(clarity: pd.DataFrame) -> str:
    """How many nodes have a clear place (`clarity`), in words."""
    count, which = len(clarity), "with parents" if clarity["has_parents"].all() else "after the first"
    return f"{share(int(clarity['is_clear'].sum()), count)} {plural(count, 'node', 'nodes')} {which}"


def of_order(clarity: pd.DataFrame, order: Sequence[str] = (), refined: Refined | None = None) -> Verdict:
    """How sure a fit's order is: the share of its nodes whose place is clear (`clarity`), unless the likelihood search
    of the run shows that the table hardly determines an order (`of_two_orders`)."""
    level = _level(int((~clarity["is_clear"]).sum()), len(clarity))
    why = "all put every parent clearly before the node"
    if not clarity["has_parents"].all():
        why = "all remove the same node, by at least 10%"
    text = f"The folds agree on the position of {how_clear(clarity)}: {why}. Whether edges exist is judged on Parents."
    verdict = Verdict(level, text, _ORDER_ADVICE[level], _ORDER_HEADS[level])
    rival = None if refined is None else of_two_orders(order, refined)
    if rival is None:
        return verdict
    first, second = (rival, verdict) if rival.level == "poor" else (verdict, rival)
    return first._replace(text=f"{first.text} {second.text}")


_ORDER_ADVICE = {
    "sure": "Other rows would probably put joined nodes in the same order. It is causal only if the model holds.",
    "guess": "Neighbouring positions may be swapped. Trust the order only for nodes that are far apart.",
    "poor": "Treat this order as a guess. More rows or fewer columns help. "
    "A search by likelihood, on Graph, weighs each direction separately.",
}
_ORDER_HEADS = {"sure": "Order: clear", "guess": "Order: partly clear", "poor": "Order: unclear"}


def of_two_orders(order: Sequence[str], refined: Refined) -> Verdict | None:
    """How far a table determines its order, by a fit's order and the edges of the likelihood search: poor if half of
    these or more contradict the order, or no direction is decided. None if nothing speaks against the order."""
    edges = refined.edges
    against, decided = (len(order_errors(order, some[[*PAIR]])) for some in (edges, edges[edges["decided"]]))
    if edges.empty or not (against or refined.is_open):
        return None
    of_edges = f"{share(against, len(edges))} {plural(len(edges), 'edge', 'edges')}"
    means = f"; {ANY_ORDER}" if refined.is_open else f"; the direction is decided for {decided} of these"
    level = "poor" if refined.is_open or 2 * against >= len(edges) else "guess"
    text = f"The best order of the likelihood search has the ends of {of_edges} the other way round{means}."
    advice = "The table hardly determines an order: trust edges rather than positions."
    return Verdict(level, text, advice, _ORDER_HEADS[level])


def of_parents(
    ocs: pd.DataFrame, rule: str, tau_z: float, pi_min: float, groups: jackknife.TwoGroups | None = None
) -> Verdict:
    """How well τ_Z separates edges from noise, given the order: expected false edges (jackknife), or edges near τ_Z.

    `ocs` has the columns fold, parent, child, ocs, z; the rule is iqr or jackknife, whose `groups` of Z may be known.
    """
    selected, nodes = _selected(ocs, tau_z, pi_min), ocs["child"].nunique() + 1
    if is_sparse(len(selected), nodes):
        return _few(len(selected), nodes)
    if rule == "jackknife":
        return _by_noise(ocs.loc[ocs["fold"] == 1, "z"].to_numpy(), tau_z, groups)
    fewer, additional = (_selected(ocs, tau_z + move, pi_min) for move in (MOVED, -MOVED))
    lost, new = len(selected) - len(fewer), len(additional) - len(selected)
    text = f"Of {how_many(len(selected), 'edge')}, {lost} would be removed if τ_Z were {MOVED:g} higher; "
    text += f"{new} would be added if it were lower."
    level = _level(lost + new, len(selected))
    return Verdict(level, text, _PARENTS_ADVICE[level], _PARENTS_HEADS[level])


def _by_noise(z: np.ndarray, tau_z: float, groups: jackknife.TwoGroups | None) -> Verdict:
    false, count = jackknife.expected_false(groups or jackknife.two_groups(z), z, tau_z)
    text = f"By a model of the scores, {false:.1f} of {how_many(count, 'edge')} are noise: their columns are not "
    text += "related. A wrong order adds more. Which column comes first is judged on Ordering."
    level = "poor" if _level(false, count) == "poor" else "guess"  # the number is nominal, so never sure
    return Verdict(level, text, _PARENTS_ADVICE[level], _PARENTS_HEADS[level])


def _few(edges: int, nodes: int) -> Verdict:
    text = f"{how_many(edges, 'edge')} among {how_many(nodes, 'node')}."
    return Verdict(
        "poor", text, "A missing edge is no proof of independence: weak effects need more rows.", "Very few edges"
    )


_PARENTS_HEADS = {
    "sure": "The threshold separates the scores clearly",
    "guess": "The threshold separates most of the scores",
    "poor": "The threshold hardly separates the scores",
}
_PARENTS_ADVICE = {
    "sure": "The scores measure which columns are related, not which comes first.",
    "guess": "Edges near the threshold are doubtful. Check the scores of those that matter to you.",
    "poor": "The edges depend on the threshold. Compare another selector before you rely on one.",
}


def of_graph(edges: pd.DataFrame, nodes: int, *, is_searched: bool = False) -> Verdict:
    """How sure the arrows of a fit's graph are: for how many edges the direction is `decided`
    (`disco.paper.removals.with_decided`), with or without a likelihood search of the run."""
    if is_sparse(len(edges), nodes):
        return _few(len(edges), nodes)
    count, known = len(edges), int(edges["decided"].sum())
    level, which = _level(count - known, count), f"{share(known, count)} {plural(count, 'edge', 'edges')}"
    agrees = " and the likelihood search decides the same direction" if is_searched else ""
    text = f"The direction is known for {which}. An arrow: all folds put the parent first{agrees}, or a rule fixes it."
    advice = _GRAPH_ADVICE["guess" if is_searched and level == "poor" else level]
    return Verdict(level, text, advice, _directions(known, count))


def _directions(decided: int, count: int) -> str:
    """How many of some directions are decided, as a heading."""
    open_ = count - decided
    state = "mostly open" if open_ > _UNDECIDED * count else "partly decided" if open_ > _FEW * count else ""
    state = "all open" if open_ == count else state or ("mostly decided" if open_ else "all decided")
    return f"Directions: {state}"


_GRAPH_ADVICE = {
    "sure": "Other rows would probably give these arrows. They are causal only if the model holds.",
    "guess": "Lines without an arrow show related columns.",
    "poor": "Lines without an arrow show related columns. A search by likelihood weighs each direction.",
}


def of_refinement(refined: Refined, bound: float, edges: pd.DataFrame | None = None) -> Verdict:
    """How sure a refinement is: whether the model fits, directions are decided, and searches within the bound agree.

    `edges`, with decided and source, are those shown, if they are others than the refinement's.
    """
    edges, nodes = refined.edges if edges is None else edges, refined.nodes
    if edges.empty:
        text = "The likelihood supports no edge: the columns are independent, or there are too few rows to tell."
        advice = "More rows may reveal edges. Edges of the DISCO fit alone are not confirmed."
        return Verdict("guess", text, advice, "No edges")
    decided, count = int(edges["decided"].sum()), len(edges)
    open_, head = count - decided, _directions(decided, count)
    if nodes is None:
        text = "An older version made this search and used fewer rules to call a direction decided."
        return Verdict("guess", text, "Search again before you rely on an arrow.", head)
    whether_best = _whether_best(ends(refined.starts, bound), bound, refined.is_early)
    level = "poor" if open_ > _UNDECIDED * count else "guess" if open_ > _FEW * count or whether_best else "sure"
    statement = f"{share(decided, count).capitalize()} directions {plural(decided, 'is', 'are')} {_sources(edges)}."
    statement = statement if count > 1 else f"The only direction is {'' if decided else 'not '}{_sources(edges)}."
    if is_of_kind(nodes):
        return Verdict(level, f"{statement} {whether_best}".rstrip(), _REFINED_ADVICE[level], head)
    poor = len(missed(nodes))
    poorly = f"{share(poor, len(nodes))} nodes {plural(poor, 'is', 'are')} poorly fitted"
    is_fixed = edges["source"].isin([KNOWLEDGE, EXPERIMENT]).any()
    poorly = f"{poorly[0].upper()}{poorly[1:]} ({MOST_MISFIT:.0%} or more)."
    text = f"{f'{statement} ' if is_fixed else ''}{poorly} {whether_best}".rstrip()
    advice = f"Lines show related columns. No {'other ' if is_fixed else ''}direction is decided."
    return Verdict("guess" if is_fixed and level != "poor" else "poor", text, advice, head)


def _sources(edges: pd.DataFrame) -> str:
    """Decided; or known, with the counts of the sources, if others than the model class decide directions."""
    counted = edges["source"].value_counts()
    counts = [f"{counted[source]:,} {words}" for source, words in _SOURCE_WORDS.items() if source in counted]
    return "decided" if not counted.index.isin([KNOWLEDGE, EXPERIMENT]).any() else f"known: {series(counts)}"


def _whether_best(ended: Ends, bound: float, is_early: bool) -> str:
    """Whether there may be a better graph, or one as good; empty if the searches agree."""
    if is_early:
        return "The search was ended early: a longer one may find a better graph."
    if ended.near:
        searches = f"{how_many(ended.near, 'other search', 'other searches')} ended within {bound:g} nats of it"
        return f"The graph is one of several: {searches}."
    if ended.others and not ended.same:
        outcome = plural(ended.others, "the other ended", f"the {ended.others} others ended")
        return f"Only one search found this graph; {outcome} at least {ended.apart:,.1f} nats below it."
    return ""


_SOURCE_WORDS = {EXPERIMENT: "by experiment", KNOWLEDGE: "by knowledge", CLASS: "by the model"}
_REFINED_ADVICE = {
    "sure": "The evidence is strong and the model fits most columns. This assumes no hidden common causes.",
    "guess": "Rely only on arrows. Any other line shows related columns.",
    "poor": "Lines show related columns, not which causes which.",
}


def _level(open_: float, count: int) -> str:
    """The level of a result, by the share of its decisions that are open."""
    return "sure" if open_ <= _FEW * count else "guess" if open_ <= _MANY * count else "poor"


def _selected(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    table = frequencies(ocs, tau_z)
    return table[passes(table, pi_min)]
