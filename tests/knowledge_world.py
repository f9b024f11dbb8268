"""Random tables with random knowledge that some order keeps to, and a check that a graph keeps to it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from disco.knowledge import Knowledge


@dataclass(frozen=True)
class World:
    """A table and knowledge about it.

    Attributes:
        table: counts.
        order: node names; it keeps to the knowledge, which the table need not do.
        tier: of every node, from 1; 0 for none.
        closed: numbers of the closed tiers.
        required, forbidden: pairs of names.
    """

    table: pd.DataFrame
    order: list[str]
    tier: dict[str, int]
    closed: list[int]
    required: set[tuple[str, str]]
    forbidden: set[tuple[str, str]]

    @property
    def knowledge(self) -> Knowledge:
        tiers = [[name for name in self.tier if self.tier[name] == number] for number in range(1, 10)]
        required, forbidden = (sorted(map(list, pairs)) for pairs in (self.required, self.forbidden))
        return Knowledge([names for names in tiers if names], required, forbidden, self.closed)

    def broken(self, order, edges, *, is_whole=True) -> list[str]:
        """The rules that an order and its edges break.

        Args:
            is_whole: whether every required edge has to be there.
        """
        place, edges = {name: at for at, name in enumerate(order)}, set(edges)
        found = [f"{edge} runs against the order" for edge in edges if place[edge[0]] >= place[edge[1]]]
        found += [f"{edge} is forbidden" for edge in edges & self.forbidden]
        found += [f"{edge} is inside" for edge in edges if self.tier[edge[0]] == self.tier[edge[1]] in self.closed]
        found += [f"{edge} is missing" for edge in self.required - edges if is_whole]
        apart = [(early, late) for early in order for late in order if 0 < self.tier[early] < self.tier[late]]
        late_first = [(first, last) for first, last in {*self.required, *apart} if place[first] > place[last]]
        return found + [f"{first} stands after {last}" for first, last in late_first]


def table_of(random: np.random.Generator, names: list[str], rows: int) -> pd.DataFrame:
    """Counts of a random DAG over the names in a random order."""
    columns: dict[str, np.ndarray] = {}
    for name in random.permutation(names):
        parents = [other for other in columns if random.random() < 0.5]
        mean = 1.5 + sum(random.choice([0.4, 0.8]) * np.sqrt(columns[other]) for other in parents)
        columns[name] = random.poisson(mean * np.ones(rows))
    return pd.DataFrame({name: columns[name] for name in names})


def world_of(seed: int, nodes: int, rows: int = 60) -> World:
    """A world drawn from a seed."""
    random = np.random.default_rng(seed)
    names = [f"n{number}" for number in range(nodes)]
    order = random.permutation(names).tolist()
    cuts = np.sort(random.integers(0, nodes + 1, random.integers(0, 3)))
    tiers = {name: 1 + int((cuts <= at).sum()) if random.random() < 0.7 else 0 for at, name in enumerate(order)}
    numbers = {old: new for new, old in enumerate(sorted(set(tiers.values()) - {0}), start=1)}
    tier = {name: numbers.get(old, 0) for name, old in tiers.items()}
    closed = [number for number in numbers.values() if random.random() < 0.3]
    pairs = [(order[i], order[j]) for i in range(nodes) for j in range(nodes) if i != j]
    along = [(parent, child) for parent, child in pairs if order.index(parent) < order.index(child)]
    free = [pair for pair in along if not tier[pair[0]] == tier[pair[1]] in closed]
    required = {pair for pair in free if random.random() < 0.2}
    # Pairs that nothing may join are not linked in a search, which places a node by its links.
    apart = {pair for pair in along if random.random() < 0.3}
    forbidden = {pair for pair in pairs if random.random() < 0.15 or apart & {pair, pair[::-1]}} - required
    return World(table_of(random, names, rows), order, tier, closed, required, forbidden)


worlds = st.builds(world_of, st.integers(0, 2**32), st.integers(2, 8))
