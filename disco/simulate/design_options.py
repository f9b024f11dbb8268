"""The options of a simulated table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from disco.fields import anything, boolean, number, one_of, whole
from disco.simulate.random_graphs import GRAPHS, LARGEST_GRAPH
from disco.simulate.source_shapes import SOURCES
from disco.table.adjustment import CATEGORICAL, MOST_LEVELS
from disco.table.interventions import FEWEST, SET, SHIFT

LARGEST_TABLE = 100_000_000  # cells: 0.8 GB
RATES, COUNTS = "rates", "counts"  # what a depth's children depend on
DOSE = "dose"  # a continuous context
MOST_CONTEXTS = 100
_SHAPES = {name: f"{name.capitalize()}: {words}" for name, words in SOURCES.items()} | {
    "family": "As the family has them"
}
_SIZE = "Size of a shift"
_SHIFT = "Size of a shift, up or down, of the logarithm of the mean, or the logit."


@dataclass(frozen=True)
class DesignOptions:
    """The fields of `disco.simulate.Design`, which checks how they fit each other."""

    graph: str = one_of(
        "er",
        GRAPHS,
        "Graph",
        "In a scale-free graph few nodes have many edges (Barabási–Albert). A chain is x1 → x2 → x3 → … In a fork x1 "
        "is the parent of all others. In a collider the last node is the child of all others. In a complete graph "
        "every pair of nodes is joined, x1 first.",
        quote='"',
    )
    # d; for an own graph, the number of its names
    nodes: int = whole(20, "Nodes", "Columns of the table.", within=(2, LARGEST_GRAPH), flag="--d", metavar="NODES")
    # er: k (d - 1) edges on average; er-exact: k d edges; otherwise unused
    k: float = number(
        3,
        "Edges per node",
        "er, er-exact: parents of a node, on average or exactly; sf: edges of each new node.",
        within=(0, LARGEST_GRAPH),
        step=1.0,
    )
    edges: tuple[tuple[str, str], ...] | None = None  # own graph: pairs parent, child
    names: tuple[str, ...] = ()  # x1 to xd if empty; for an own graph, its nodes in the order of first mention
    rows: int = whole(
        2000,
        "Rows",
        "Rows of the table; a smaller table is the start of a larger one.",
        within=(1, LARGEST_TABLE),
        step=500,
        flag="--n",
        metavar="ROWS",
    )
    # A key; "a,b": consecutive parts of the causal order; or node -> key
    family: str | Mapping[str, str] = anything(
        "poisson-softplus", "Family", "Several families: consecutive parts of the causal order.", metavar="A,B"
    )
    parameters: Mapping[str, float] = field(default_factory=dict)  # name -> value, for all families with that parameter

    unsortable: bool = boolean(
        False,
        "Unsortable",
        "Means and variances do not reveal the causal order: random signs, equal means and equal variances.",
    )
    random_signs: bool = boolean(False, "Random signs", "Each effect is negative with probability 1/2.")
    equal_means: bool = boolean(False, "Equal means", "Intercepts are chosen so that all columns have the same mean.")
    equal_variances: bool = boolean(
        False, "Equal variances", "Effects are scaled so that all columns have the same variance. Needs equal means."
    )
    exposure: float = number(
        0.0,
        "Exposure",
        "Standard deviation of a row's log exposure, such as sequencing depth: a factor on every mean of the "
        "row. 0: none.",
        within=(0, 3),
        step=0.1,
    )
    interactions: float = number(
        0.0, "Interactions", "Share of each effect, 0 to 1, that comes from pairs of parents.", within=(0, 1), step=0.1
    )
    latent: int = whole(
        0,
        "Hidden common causes",
        "Hidden common causes. Each affects two columns and is not a column itself.",
        within=(0, 1000),
    )
    sources: str = one_of(
        "family", _SHAPES, "Nodes without parents", "Distribution of the nodes without parents.", quote='"'
    )
    # Standard deviations are multiplied by 1 up to about this, in random order
    spread: float = number(
        1.0,
        "Unequal spreads",
        "The largest standard deviation is about this many times the smallest. 1: as in the families.",
        within=(0.05, 20),
        step=1.0,
    )
    # Columns beside the counts, each with a role of its own (`disco.simulate.surroundings`).
    batches: int = whole(0, "Batches", "Batches. Together they shift a third of the nodes.", within=(0, MOST_LEVELS))
    batch_effect: float = number(0.7, _SIZE, _SHIFT, within=(0, 3), step=0.1)
    depth: float = number(
        0.0,
        "Depth",
        "Standard deviation of a row's log depth, a factor on every mean of the row. 0: none.",
        within=(0, 3),
        step=0.1,
    )
    depth_causes: str = one_of(
        RATES,
        {RATES: "Rates cause rates", COUNTS: "Counts cause counts"},
        "What a node depends on",
        "By rates, its parents' counts per depth; by counts, its parents' counts as they are.",
        quote='"',
    )
    age_and_sex: bool = boolean(False, "Age and sex", "Age affects half of the nodes in a wave, sex affects half.")
    groups: int = whole(
        0,
        "Groups",
        "Groups. Rows of a group share a random effect on every node. 0: none.",
        within=(0, LARGEST_TABLE),
        step=10,
    )
    group_effect: float = number(
        0.5, "Spread of the groups", "Standard deviation of the effects of groups.", within=(0, 3), step=0.1
    )
    # Arms of an experiment, after the controls (`disco.simulate.drawn_arms`).
    interventions: int | tuple[str, ...] = anything(
        0,
        "Random nodes",
        "Random nodes, or these, each set in an arm of its own after the rows of --n. 0: none.",
        metavar="COUNT|A,B",
    )
    intervention_rows: int = whole(
        250, "Rows of an arm", "Rows of an arm, in addition to the others.", within=(FEWEST, LARGEST_TABLE), step=50
    )
    intervention_kind: str = one_of(
        SET,
        {SET: "The node is set", SHIFT: "Its mean is shifted"},
        "What is done",
        "A node that is set has one value. A shift gives it another mean, and the same parents.",
        quote='"',
    )
    intervention_effect: float = number(1.0, _SIZE, _SHIFT, within=(0, 3), step=0.1)
    # Contexts with levels assigned by chance (`disco.simulate.surroundings`): this number, each acting on random nodes,
    # or the nodes on which each acts; then some that act on none.
    contexts: int | tuple[tuple[str, ...], ...] = anything(
        0,
        "With effects",
        "Columns assigned by chance, each acting on a fifth of the nodes at random, or on these, one list each.",
        metavar="COUNT|A,B;C",
    )
    idle_contexts: int = whole(
        0, "Without effects", "Further contexts, each acting on no node.", within=(0, MOST_CONTEXTS)
    )
    context_kind: str = one_of(
        CATEGORICAL, {CATEGORICAL: "Levels", DOSE: "A dose"}, "Values", "A dose is a number from 0 to 2.", quote='"'
    )
    context_levels: int = whole(3, "Levels", "Levels of a context, one of them the control.", within=(2, MOST_LEVELS))
    context_effect: float = number(0.7, "Size of an effect", f"{_SHIFT} Per unit of a dose.", within=(0, 3), step=0.1)
    seed: int = whole(
        0, "Seed", "The same design and seed give the same table on every machine.", within=(0, 2**63 - 1)
    )
