"""Contradictory rules, detected before a fit, and reported with few rules that contradict each other.

The possible contradictions are

- a required edge that is forbidden, or inside a closed tier: two rules;
- a required path of m edges, the shortest, from a later tier to an earlier one: at most m rules, and the tiers;
- a required path of m edges, the shortest, back to where it began: at most m rules.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import networkx as nx
import numpy as np

from disco.errors import InputError
from disco.graph.dag import cycle_words
from disco.knowledge.resolved import closure
from disco.words import plural, series


class EdgeRule(NamedTuple):
    """A required or forbidden pair in the user's words, and the numbers of the columns it matches."""

    words: str
    parents: frozenset[int]
    children: frozenset[int]

    def matrix(self, nodes: int) -> np.ndarray:
        """The pairs that it matches, [parent, child], (nodes, nodes) bool."""
        pairs = np.zeros((nodes, nodes), dtype=bool)
        pairs[np.ix_(sorted(self.parents), sorted(self.children))] = True
        np.fill_diagonal(pairs, False)
        return pairs


def check(
    names: Sequence[str],
    tier: np.ndarray,
    inside: np.ndarray,
    required: Sequence[EdgeRule],
    forbidden: Sequence[EdgeRule],
) -> None:
    """Refuse rules that contradict each other.

    Tiers are numbered from 1; 0 for none, (nodes,). `inside` has the pairs within a closed tier, (nodes, nodes) bool.
    """
    edges, never = (pairs_of(rules, len(names)) for rules in (required, forbidden))
    contradictions: list[tuple[int, str]] = []  # how many rules, and the words on them
    for parent, child in np.argwhere(edges & never)[:1].tolist():
        words, against = (_rule(rules, parent, child) for rules in (required, forbidden))
        pair = f"{names[parent]} → {names[child]}"
        which = "" if words == against == pair else f', and both match "{pair}"'
        contradictions.append((2, f'"{words}" is required and "{against}" is forbidden{which}'))
    for parent, child in np.argwhere(edges & inside)[:1].tolist():
        detail = f'"{names[parent]}" and "{names[child]}" are in tier {tier[parent]}, which is closed'
        contradictions.append((2, f'"{_rule(required, parent, child)}" is required, but {detail}'))
    reach, is_later = closure(edges), (tier[:, None] > tier) & (tier > 0)
    back_in_time, cycle = _shortest(edges, reach & is_later), _shortest(edges, np.diag(reach.diagonal()))
    for path in filter(None, (back_in_time, cycle)):
        rules = list(dict.fromkeys(_rule(required, *edge) for edge in zip(path, path[1:], strict=False)))
        statement = f"{_listed(rules)} {plural(len(rules), 'is', 'are')} required"
        if path[0] == path[-1]:
            words = cycle_words([names[node] for node in path[:-1]])
            contradictions.append((len(rules), f"{statement}, which closes the cycle {words}"))
        else:
            first, last = path[0], path[-1]
            detail = f'"{names[first]}" is in tier {tier[first]}, after "{names[last]}" in tier {tier[last]}'
            contradictions.append((len(rules) + 1, f"{statement}, but {detail}"))
    if contradictions:
        raise InputError(f"The knowledge contradicts itself: {min(contradictions)[1]}. Remove one of these rules.")


def pairs_of(rules: Sequence[EdgeRule], nodes: int) -> np.ndarray:
    """The pairs matched by any of the rules, [parent, child], (nodes, nodes) bool."""
    pairs = np.zeros((nodes, nodes), dtype=bool)
    for rule in rules:
        pairs |= rule.matrix(nodes)
    return pairs


def _rule(rules: Sequence[EdgeRule], parent: int, child: int) -> str:
    """The words of the most specific rule for a pair, the one that matches the fewest pairs."""
    holding = [rule for rule in rules if parent in rule.parents and child in rule.children]
    return min(holding, key=lambda rule: len(rule.parents) * len(rule.children)).words


def _listed(rules: Sequence[str]) -> str:
    """Rules in a sentence, a long list shortened in the middle."""
    quoted = [f'"{words}"' for words in rules]
    return series(quoted if len(quoted) <= 8 else [*quoted[:4], "…", *quoted[-3:]])


def _shortest(edges: np.ndarray, pairs: np.ndarray) -> list[int]:
    """The shortest path along edges between the nodes of one of these pairs, (nodes, nodes) bool; empty without one."""
    graph = nx.DiGraph(np.argwhere(edges).tolist())
    starts = np.flatnonzero(pairs.any(axis=1)).tolist()
    paths = [_path(graph, node, {*np.flatnonzero(pairs[node]).tolist()}) for node in starts]
    return min(paths, key=len, default=[])


def _path(graph: nx.DiGraph, start: int, targets: set[int]) -> list[int]:
    """The shortest path of at least one edge from a node to one of the targets."""
    previous: dict[int, int] = {}
    queue = deque([start])
    while True:
        node = queue.popleft()
        for child in graph.successors(node):
            if child in targets:
                path = [child, node]
                while path[-1] != start:
                    path.append(previous[path[-1]])
                return path[::-1]
            if child not in previous and child != start:
                previous[child] = node
                queue.append(child)
