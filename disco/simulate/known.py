"""What can be known of the direction of every edge of a design, from the distribution and within the paper's class.

- *known*: each canonical parameter is nonlinear in each parent, so that the DAG is identifiable (paper, corollary *DAG
  identifiability*). Sources may have any marginal.
- *unknown*: another DAG of the class has the same distribution, with the edge turned.
  - Pairs (paper, theorem *Bivariate identifiability characterization*): with an affine canonical parameter η = α + β x,
    log p(x, y) = a(x) + β x y + c(y) with free a and c is symmetric in x and y, so that p(x | y) ∝ exp{β x y + a(x)} is
    of the class too. Canonical links with an affine index have it: Poisson with mean exp(α + β x), where
    a(x) = log p(x) - exp(α + β x); binomial with logit; discrete normal.
  - Trees without a collider: the DAGs with the same independences are the same tree with another root. Moving the root
    turns the edges between the old one and the new, and the bivariate theorem says of each alone whether that stays in
    the class. So an edge is unknown exactly when it and all edges above it are affine.
  - Complete binary models: each conditional distribution of two values is Bernoulli, which is of the class whatever the
    order, and all orders imply the same independences, none.
- *not proved*: the design leaves the class (hidden causes, exposure, zero inflation of a child, ...), or some edges are
  affine in a graph with colliders, on which the paper says nothing.

All of it holds for the values as drawn, and for their ranks where every level between the lowest and highest occurs:
the gaps of a long tail bend an affine parameter, and can tell a direction.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from disco.errors import InputError
from disco.graph import DIRECTIONS, KNOWN, NOT_PROVED, UNKNOWN
from disco.simulate.design import Design
from disco.simulate.ising import KEY as ISING
from disco.simulate.mechanisms import Mechanism

_SHORT = {KNOWN: "can be known", UNKNOWN: "cannot be known", NOT_PROVED: "not proved either way"}
_ALL = {
    KNOWN: "Every direction can be known, given enough rows.",
    UNKNOWN: "No direction can be known.",
    NOT_PROVED: "Whether a direction can be known is not proved for this design.",
}
_LONG = {
    UNKNOWN: "Turned, such an edge fits exactly as well: undecided is the right answer.",
    NOT_PROVED: "It leaves the class that the method assumes, or mixes affine effects with several parents of a node.",
}


def directions(
    design: Design, present: np.ndarray, order: Sequence[int], mechanisms: Sequence[Mechanism]
) -> np.ndarray:
    """What can be known of every edge, (nodes, nodes) of text; empty where there is none.

    Args:
        design: the options.
        present: (nodes, nodes), rows are parents.
        order: a causal order of the node numbers.
        mechanisms: of every node.
    """
    children = present.any(axis=0).nonzero()[0]
    affine = np.array([_is_affine(mechanisms[node]) for node in range(len(present))])
    if design.keys() == [ISING]:
        found = np.full(present.shape, UNKNOWN, dtype=object)
    elif design.exposure or design.latent or not all(_in_class(mechanisms[node]) for node in children):
        found = np.full(present.shape, NOT_PROVED, dtype=object)
    elif not affine[children].any():
        found = np.full(present.shape, KNOWN, dtype=object)
    elif present.sum(axis=0).max() <= 1:
        found = _of_a_tree(present, order, affine)
    else:
        found = np.full(present.shape, NOT_PROVED, dtype=object)
    return np.where(present, found, "")


def words(directions: Iterable[str]) -> str:
    """What can be known of some edges, at least one, in a sentence or two."""
    counted = Counter(directions)
    if len(counted) > 1:
        first = ", ".join(f"{count} {_SHORT[kind]}" for kind, count in counted.most_common())
        return " ".join([f"Directions: {first}.", *(_LONG[kind] for kind in (UNKNOWN, NOT_PROVED) if kind in counted)])
    (kind,) = counted
    return f"{_ALL[kind]} {_LONG.get(kind, '')}".strip()


def check(direction: str, where: str) -> str:
    """A direction that stands in a file, where it is one of `DIRECTIONS`.

    Args:
        where: the file's row, as a sentence names it.

    Raises:
        InputError: it is another word.
    """
    if direction not in DIRECTIONS:
        raise InputError(
            f'{where}: the direction is "{direction[:40]}", but must be {", ".join(DIRECTIONS[:-1])} or '
            f"{DIRECTIONS[-1]}: write one of them, or leave the column direction out."
        )
    return direction


def _is_affine(mechanism: Mechanism) -> bool:
    """Whether the canonical parameter is affine in each parent."""
    return mechanism.index.affine and not (mechanism.interactions and len(mechanism.parents) > 1)


def _in_class(mechanism: Mechanism) -> bool:
    """Whether a node with parents is of the class, and depends on them."""
    return mechanism.law.in_class and mechanism.scale != 0


def _of_a_tree(present: np.ndarray, order: Sequence[int], affine: np.ndarray) -> np.ndarray:
    """Of trees in which no node has two parents: unknown where all edges from the root down are affine."""
    found = np.full(present.shape, KNOWN, dtype=object)
    movable = np.zeros(len(present), dtype=bool)  # the root can be moved here
    for node in order:
        parents = present[:, node].nonzero()[0]
        movable[node] = not len(parents) or bool(affine[node] and movable[parents].all())
        if len(parents) and movable[node]:
            found[parents, node] = UNKNOWN
    return found
