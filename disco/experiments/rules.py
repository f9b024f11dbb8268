"""Rules from contrasts: a node that setting X changes comes after X; one that it leaves alone is not a child of X.

A node counts as changed if its false discovery rate is at most .2%, or at most 5% and the change is 20 times likelier
if X acts on it as the controls predict than if X does not act. In the second case it is only excluded as a cause of X:
a single weak rule must not place it after X in every order. A node counts as left alone if its interval is within the
margin, the controls predict more, X itself differs in its arm, and the change is 20 times likelier if X does not act.

The first rule holds whatever is hidden. An arm that set several nodes at once shows only that one of them acts, and
gives no rule. Rules that contradict stronger rules, or knowledge, are omitted.

The arrows of a graph are held against an experiment too: supported, contradicted, or neither.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from disco.columns import EXPERIMENT, FIXED, FREE, KNOWLEDGE, NO_SOURCE
from disco.experiments.contrasts import CHANGED, REFUTED, SAME, SEEMS, SUPPORT, contrasts
from disco.knowledge.resolved import Resolved
from disco.table.interventions import MARGIN
from disco.table.prepared import Prepared
from disco.words import how_many, number, ratio

SUPPORTED, CONTRADICTED, _, CANNOT_SAY, OPEN = VERDICTS = (
    *("supported", "contradicted", REFUTED, "cannot say", "direction open"),
)
SURE = 0.002  # false discovery rate below which a contrast needs no further support
_NAMED = 5
_NOT_COMPARED = (
    'No row of the arm "{arm}" has a control with like values of all covariates, so it was not compared: use fewer '
    "covariates, or make one the group."
)
_NOT_MOVED = (
    'The arm "{arm}" leaves "{node}" itself as it is, so that nothing follows from what else it leaves alone: check '
    "whether the intervention worked."
)
_NOT_SEEN = (
    'The knowledge requires "{parent}" → "{child}", but setting "{parent}" leaves "{child}" as it was (ratio {ratio}). '
    "The knowledge was kept."
)
_SHORT = {  # of a rule: contrasts by kind
    CHANGED: (
        'Setting "{parent}" changed "{child}" ({ratio} times). A rule for arrows needs more: a false discovery rate '
        f"of at most {100 * SURE:g}%, or a change {math.exp(SUPPORT):.0f} times likelier if one acts on the other."
    ),
    SEEMS: 'Setting "{parent}" seems to have changed "{child}" ({ratio} times). More rows per arm would help.',
    REFUTED: 'If "{parent}" acts on "{child}", the controls predict {expected} times. Setting "{parent}" gave {ratio} '
    "times, so an effect of that size is refuted.",
    SAME: 'Setting "{parent}" left "{child}" as it was. A rule for arrows needs more: controls that predict a change.',
}


class Learnt(NamedTuple):
    """The consequences of experiments for a graph.

    Attributes:
        rules: those of the experiments together with the knowledge, or None if there are neither.
        before: [a, b]: an experiment shows that a comes before b, alone or with other rules, (d, d) bool.
        notes: sentences on omitted rules, and on arms that were not compared.
        known: the rules of the knowledge alone.
    """

    rules: Resolved | None
    before: np.ndarray
    notes: tuple[str, ...] = ()
    known: Resolved | None = None

    def part(self, nodes: Sequence[int]) -> "Learnt":
        """The same for some of the columns."""
        rules, known = (None if resolved is None else resolved.part(nodes) for resolved in (self.rules, self.known))
        return Learnt(rules, self.before[np.ix_(nodes, nodes)], self.notes, known)

    def source_of(self, parent: int, child: int) -> str:
        """The source of an edge's direction apart from the counts: knowledge, an experiment, or none."""
        if self.known is not None and self.known.of_edge(parent, child) != FREE:
            return KNOWLEDGE
        return EXPERIMENT if self.before[parent, child] else NO_SOURCE

    def marked(self, edges: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
        """Candidate edges with their rule and, with experiments, their source; unchanged if there are no rules.

        The rule is that of knowledge; *forbidden* also stands for an experiment that excludes the edge.
        """
        if self.rules is None:
            return edges
        marked = edges.assign(rule=self.rules.of_edges(edges, names))
        if self.rules is self.known:
            return marked
        index = {name: number for number, name in enumerate(names)}
        pairs = zip(edges["parent"].map(index), edges["child"].map(index), strict=True)
        marked["source"] = [self.source_of(*pair) for pair in pairs]
        by_experiment = (marked["rule"] == FIXED) & (marked["source"] != KNOWLEDGE)
        return marked.assign(rule=marked["rule"].where(~by_experiment, FREE))


def learnt_of(
    prepared: Prepared, names: Sequence[str], knowledge: Resolved | None = None, margin: float = MARGIN
) -> Learnt:
    """The rules of a whole table's experiments together with knowledge; of knowledge alone without interventions."""
    if prepared.adjustment is None or prepared.adjustment.interventions is None:
        return Learnt(knowledge, np.zeros((len(names),) * 2, dtype=bool), known=knowledge)
    return learnt(contrasts(prepared, margin), names, knowledge)


def learnt(contrast_rows: pd.DataFrame, names: Sequence[str], knowledge: Resolved | None = None) -> Learnt:
    """The rules of contrasts, in agreement with each other and with knowledge, which a contrast never overrules."""
    nodes = len(names)
    none = np.zeros((nodes, nodes), dtype=bool)
    if not contrast_rows["targets"].map(len).any():
        return Learnt(knowledge, none, known=knowledge)
    index = {name: number for number, name in enumerate(names)}
    single = contrast_rows[contrast_rows["targets"].map(len) == 1].sort_values(["q_value", "p_value"], kind="stable")
    pairs = [(index[row.targets[0]], index[row.node], row) for row in single.itertuples()]
    start = Resolved(none, none, none) if knowledge is None else knowledge
    likely = none.copy()  # by a change that is only likely
    reach, steps = start.before.copy(), nx.DiGraph(np.argwhere(start.before).tolist())
    notes = [_NOT_COMPARED.format(arm=arm) for arm in contrast_rows.loc[contrast_rows["rows"] == 0, "arm"].unique()]
    still = single[~single["moved"] & (single["rows"] > 0)].drop_duplicates("arm")
    notes += [_NOT_MOVED.format(arm=row.arm, node=row.targets[0]) for row in still.itertuples()]
    for parent, child, row in pairs:
        if not is_change(row) or reach[parent, child]:
            continue
        if reach[child, parent] or likely[child, parent]:
            notes.append(_contradicted(names, steps, parent, child, row.p_value, start))
            continue
        if row.q_value <= SURE:
            up, down = reach[:, parent].copy(), reach[child].copy()
            up[parent] = down[child] = True
            reach |= np.outer(up, down)
        else:
            likely[parent, child] = True
        steps.add_edge(parent, child)
    forbidden, precedes = start.forbidden | reach.T | likely.T, (reach & ~start.before) | likely
    for parent, child, row in pairs:
        if is_left_alone(row) and not precedes[parent, child]:
            if start.required[parent, child]:
                notes.append(_NOT_SEEN.format(parent=names[parent], child=names[child], ratio=ratio(row.ratio)))
            else:
                forbidden[parent, child] = True
    if len(notes) > _NAMED:
        notes[_NAMED:] = [f"{how_many(len(notes) - _NAMED, 'more rule or arm', 'more rules or arms')} were left out."]
    return Learnt(Resolved(forbidden, start.required, reach), precedes, tuple(notes), knowledge)


def is_change(row: Any) -> bool:
    """Whether a contrast shows that its target comes before its node."""
    return row.q_value <= SURE or (row.changed and row.acts_nats >= SUPPORT)


def is_left_alone(row: Any) -> bool:
    """Whether a contrast shows that its node is no child of its target."""
    return row.excluded and row.moved and not row.changed and row.acts_nats <= -SUPPORT


def _contradicted(
    names: Sequence[str], steps: nx.DiGraph, parent: int, child: int, p_value: float, knowledge: Resolved
) -> str:
    """A sentence on a contrast that contradicts stronger rules, with the fewest of them."""
    path = nx.shortest_path(steps, child, parent)
    stronger = ", ".join(
        f'"{names[first]}" before "{names[then]}" ({"knowledge" if knowledge.before[first, then] else "experiment"})'
        for first, then in zip(path, path[1:], strict=False)
    )
    return (
        f'Setting "{names[parent]}" changes "{names[child]}" (p = {number(p_value)}), but that contradicts {stronger}. '
        "The weakest rule, this one, was left out: both may act on each other."
    )


def arrows(edges: pd.DataFrame, contrast_rows: pd.DataFrame) -> pd.DataFrame:
    """The verdict of an experiment on every edge with an endpoint that it set: parent, child, verdict and why.

    Setting the cause must change the effect, and setting the effect must leave the cause alone. An edge is contradicted
    if either is violated; supported if its parent was set and its child changed; not as predicted if its child did not
    change as the controls predict. An edge whose `decided` is false is open, whatever the experiment shows.
    """
    single = contrast_rows[contrast_rows["targets"].map(len) == 1]
    seen = {(row.targets[0], row.node): row for row in single.itertuples()}
    rows = []
    for parent, child, decided in edges.reindex(columns=["parent", "child", "decided"], fill_value=True).to_numpy():
        along, back = seen.get((parent, child)), seen.get((child, parent))
        if along is not None or back is not None:
            verdict, why = _verdict(parent, child, along, back)
            if not decided:
                verdict, why = OPEN, f"{why} The graph leaves its direction open."
            rows.append((parent, child, verdict, why))
    return pd.DataFrame(rows, columns=["parent", "child", "verdict", "why"])


def _verdict(parent: str, child: str, along: Any, back: Any) -> tuple[str, str]:
    """The verdict on an edge by the contrasts of its two nodes, each or None: the parent was set, the child was set."""
    acts, acts_back = (row is not None and is_change(row) for row in (along, back))
    if acts_back and not acts:
        return CONTRADICTED, f'Setting "{child}" changes "{parent}" ({ratio(back.ratio)} times), its supposed cause.'
    if along is not None and is_left_alone(along):
        return CONTRADICTED, f'Setting "{parent}" leaves "{child}" as it was ({ratio(along.ratio)} times).'
    if acts:
        too = " So does the reverse: both may act on each other." if acts_back else ""
        return SUPPORTED, f'Setting "{parent}" changes "{child}", {ratio(along.ratio)} times the controls.{too}'
    if along is not None and along.kind in _SHORT:
        return REFUTED if along.kind == REFUTED else CANNOT_SAY, _short(along)
    if back is not None and is_left_alone(back):
        return CANNOT_SAY, f'Setting "{child}" leaves "{parent}" alone, as predicted; a hidden cause of both would too.'
    if back is not None and back.kind in _SHORT:
        return CANNOT_SAY, _short(back)
    return CANNOT_SAY, "The change is too uncertain. More rows per arm would help."


def _short(row: Any) -> str:
    values = {"ratio": ratio(row.ratio), "expected": ratio(row.expected)}
    return _SHORT[row.kind].format(parent=row.targets[0], child=row.node, **values)
