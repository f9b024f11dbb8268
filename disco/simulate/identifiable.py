"""Whether the direction of each edge of a design can be known from the distribution, within the paper's class.

- *known*: each canonical parameter is nonlinear in each parent, so the DAG is identifiable (paper, corollary *DAG
  identifiability*). Sources may have any marginal distribution.
- *unknown*: another DAG in the class has the same distribution and the edge reversed.
  - Pairs (paper, theorem *Bivariate identifiability characterization*): with an affine canonical parameter η = α + β x,
    log p(x, y) = a(x) + β x y + c(y), where a and c are free. This is symmetric in x and y, so
    p(x | y) ∝ exp{β x y + a(x)} is in the class too. Canonical links with an affine index are such cases: Poisson with
    mean exp(α + β x), where a(x) = log p(x) - exp(α + β x); binomial with logit; discrete normal.
  - Trees without a collider: the DAGs with the same independences are the same tree with another root. Moving the root
    reverses the edges between the old root and the new one, and for each of these edges the bivariate theorem says
    whether the result is in the class. So an edge is unknown exactly if it and all edges above it are affine.
  - Complete binary models: a conditional distribution on two values is Bernoulli, which is in the class for every
    order, and no order implies any independence.
- *not proved*: the design leaves the class (hidden causes, exposure, zero inflation of a child, ...), a node with edges
  has only two values, of which every function is affine, whereas the paper requires three (*Regularity conditions*), or
  some edges are affine in a graph with colliders or beside columns that affect the nodes, which it does not cover.

- *experiment*: not known otherwise, but an arm, or a context, changes the child and not the parent, so that the
  experiment shows the direction, with hidden causes too. Others may follow from these.

With their roles, columns beside the counts (batch, depth, ...) are conditioned on: at each of their values the
distribution is in the class, so that known directions stay known. Without their roles they are hidden common causes.
The effects of more groups than a covariate may have levels are hidden in any case.

All of this holds for the values as drawn. It holds for their ranks if every level between the lowest and the highest
occurs: gaps in a long tail make an affine parameter nonlinear in the ranks, and can reveal a direction.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np

from disco.columns import BY_EXPERIMENT, DIRECTIONS, KNOWN, NOT_PROVED, UNKNOWN
from disco.errors import InputError
from disco.simulate.design import Design
from disco.simulate.ising import KEY as ISING
from disco.simulate.mechanisms import Mechanism
from disco.table.adjustment import MOST_LEVELS
from disco.words import plural, series

_SHORT = {
    KNOWN: "can be known",
    UNKNOWN: "cannot be known",
    NOT_PROVED: "not proved either way",
    BY_EXPERIMENT: "shown by an experiment",
}
_ALL = {
    KNOWN: "Every direction can be known, given enough rows.",
    UNKNOWN: "No direction can be known.",
    NOT_PROVED: "Whether a direction can be known is not proved for this design.",
    BY_EXPERIMENT: "Every direction is shown by an experiment.",
}
_LONG = {
    UNKNOWN: "Reversed, such an edge fits exactly as well: undecided is the right answer.",
    NOT_PROVED: "It leaves the class that the method assumes, or has affine effects on nodes with several causes.",
}


def directions(
    design: Design,
    present: np.ndarray,
    order: Iterable[int],
    mechanisms: Sequence[Mechanism],
    targets: Iterable[int] = (),
    reached: Iterable[np.ndarray] = (),
) -> np.ndarray:
    """Whether each edge's direction can be known: one of `DIRECTIONS`, "" where there is no edge, (nodes, nodes).

    `present` is (nodes, nodes), rows are parents; `order` a causal order of the node numbers, with one mechanism per
    node. `targets` are the nodes on which an arm acts, `reached` those of each context with effects.
    """
    children = np.flatnonzero(present.any(axis=0)).tolist()
    is_binary = any(mechanisms[node].law.binary for node in np.flatnonzero((present | present.T).any(axis=0)).tolist())
    affine = np.array(
        [node.index.affine and not (node.interactions and len(node.parents) > 1) for node in mechanisms[: len(present)]]
    )
    # Hidden: something affects the nodes without a column for it, or with one of too many groups.
    is_hidden = bool(design.exposure or design.latent or design.groups > MOST_LEVELS)
    is_in_class = all(mechanisms[node].law.in_class and mechanisms[node].scale != 0 for node in children)
    verdicts = np.full(present.shape, NOT_PROVED, dtype=object)
    if design.keys() == [ISING]:
        verdicts[:] = UNKNOWN
    elif not is_hidden and not is_binary and is_in_class:
        if not affine[children].any():
            verdicts[:] = KNOWN
        elif present.sum(axis=0).max() <= 1 and not design.disturbing():
            verdicts = _of_a_tree(present, order, affine)
    verdicts[(verdicts != KNOWN) & _by_experiment(present, targets, reached)] = BY_EXPERIMENT
    return np.where(present, verdicts, "")


def _by_experiment(present: np.ndarray, targets: Iterable[int], reached: Iterable[np.ndarray]) -> np.ndarray:
    """Whether some arm or context changes a node b and not a node a, [a, b].

    A node that an arm sets does not affect its causes. Nor does one on which a context acts, but a context does not
    show on which of the nodes that it changes it acts directly.
    """
    graph = nx.from_numpy_array(present, create_using=nx.DiGraph)
    changes = np.zeros(present.shape, dtype=bool)

    def changed(nodes: Iterable[int]) -> np.ndarray:
        mark = np.zeros(len(present), dtype=bool)
        mark[[changed_node for node in nodes for changed_node in (node, *nx.descendants(graph, node))]] = True
        return mark

    for nodes in reached:
        mark = changed(nodes.tolist())
        changes |= np.outer(~mark, mark)
    for target in targets:
        mark = changed([target])
        changes |= np.outer(~mark, mark)
        changes[target] |= mark
    return changes


def words(directions: Iterable[str]) -> str:
    """Whether the directions of some edges, at least one, can be known, in one or two sentences."""
    counted = Counter(directions)
    if len(counted) > 1:
        first = ", ".join(f"{count} {_SHORT[kind]}" for kind, count in counted.most_common())
        return " ".join([f"Directions: {first}.", *(_LONG[kind] for kind in (UNKNOWN, NOT_PROVED) if kind in counted)])
    (kind,) = counted
    return f"{_ALL[kind]} {_LONG.get(kind, '')}".strip()


def reservation(design: Design) -> str:
    """A warning about a table without the roles of the columns that affect its nodes; empty if it has none."""
    names = design.disturbing()
    if not names:
        return ""
    return f"Without the {plural(len(names), 'role', 'roles')} of {series(names)}, no edge can be trusted."


def check(direction: str, where: str) -> str:
    """A direction read from a file; InputError, naming the position `where`, if it is not one of `DIRECTIONS`."""
    if direction not in DIRECTIONS:
        raise InputError(
            f'{where}: the direction is "{direction[:40]}", but must be {", ".join(DIRECTIONS[:-1])} or '
            f"{DIRECTIONS[-1]}: write one of them, or leave the column direction out."
        )
    return direction


def _of_a_tree(present: np.ndarray, order: Iterable[int], affine: np.ndarray) -> np.ndarray:
    """For graphs in which no node has two parents: unknown if all edges from the root down are affine."""
    verdicts = np.full(present.shape, KNOWN, dtype=object)
    movable = np.zeros(len(present), dtype=bool)  # whether the root can be moved here
    for node in order:
        parents = present[:, node].nonzero()[0]
        movable[node] = not len(parents) or bool(affine[node] and movable[parents].all())
        if len(parents) and movable[node]:
            verdicts[parents, node] = UNKNOWN
    return verdicts
