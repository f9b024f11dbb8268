"""The numbers that a direction must pass to be called decided, the bounds of a search.

They stand apart from the computation, so that whatever only reads or shows a refinement does not import the compiler.
"""

BOUND = 10.0  # smallest evidence that decides a direction, nats: the reversed edge is e¹⁰ ≈ 22,000 times less likely
MISFIT = 3.0  # smallest misfit of a poorly fitted node, nats
MISFIT_SHARE = 0.1  # of the direction evidence of a node's edges; a smaller misfit could not overturn it
MOST_MISFIT = 0.1  # if this share of the nodes is poorly fitted, no direction is decided
AGAINST = 1.0  # nats of linear evidence against a direction that may be due to chance
AGAINST_SHARE = 0.1  # of the direction evidence; as much more may be against it with linear effects
SURER = 2.0  # multiple of the bound that the gain of an edge must reach before its direction is decided
LEAD = 0.8  # share of the bound by which a graph must lead over rivals of other classes
COARSE = 0.2  # of the bound; as much further over coarse readings, whose likelihood is approximate
PART = 0.01  # of the gain, by which it must lead too: the shapes of distributions differ by as much from any class
STRONG = 0.03  # and by this part for each nat that a row gains: where a parent all but sets its child, shapes say more
FEW = 3  # with at most this many levels, the class fits a node in any case
TIMES = 3.0  # multiple of its nodes' misfit that a direction's evidence must exceed
MOST_PARENTS = 100  # per node, since the cost of fits grows with its square; a note names nodes that reach it
KINDS = ("folds", "bootstrap")  # of draws of the rows
MOST_ROWS = 30_000  # that are searched; the gains of the edges are those of all
MOST_STEPS_BYTES = 1_000_000_000  # of the first steps from fits to others; beyond them the oldest are left out
ASSUMED = (
    "Assumed: no hidden common causes, parents' effects that add up (or a curved function of their sum), and a base "
    "measure that parents do not change. The effect is causal only if these hold and the graph is right. A high "
    "likelihood does not prove it."
)


def least_lead(bound: float, gain: float, rows: int) -> float:
    """The smallest lead over rivals, in the rows that are searched, that decides a direction, nats.

    `bound` has the nats of evidence required, `gain` that of the edge in all `rows`.
    """
    share = max(PART, STRONG * gain / rows)
    return max(LEAD * bound, share * gain * min(1.0, MOST_ROWS / rows))


def decided_means(bound: float) -> str:
    """The rules for a decided direction, in words."""
    return (
        f"A direction is decided if its evidence is at least {bound:g} nats, and that for the link {SURER * bound:g}. "
        f"With every effect linear, at most {AGAINST:g} nat and a tenth of the evidence may be against it. It must "
        f"exceed {TIMES:g} times the misfit of its two nodes by {bound:g}. Both nodes need more than {FEW} levels, "
        f"less than {MOST_MISFIT:.0%} of all nodes may be poorly fitted, and no other search with as high a score may "
        f"have reversed the edge. Then the graph must lead by {LEAD * bound:g} nats, and {PART:.0%} of the evidence "
        f"for the link, or {STRONG:.0%} for each nat of it a row, over every "
        "rival in which the edge is reversed and nodes may have other kinds of distribution."
    )
