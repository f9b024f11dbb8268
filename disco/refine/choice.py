"""The choices of a refinement."""

from dataclasses import dataclass

from disco.errors import InputError
from disco.fields import boolean, check, number, share, whole
from disco.refine.bounds import BOUND
from disco.table.interventions import MARGIN

_MOST = 100_000  # all orders and drawn rows are in memory at once


@dataclass(frozen=True)
class Choice:
    """The extent of a refinement's search and its report; raises InputError if a value has the wrong type or range."""

    # The CCS order if there is one, then sorted ones and that of linear models, then random ones.
    starts: int = whole(
        4,
        "Starts",
        "Orders to search from: the run's own, the columns sorted, then random ones.",
        within=(1, _MOST),
        resumes=True,
    )
    # From the best order so far with a stretch reversed, with some nodes moved anywhere, or with every node moved by a
    # few positions. They end after eight in succession without a gain. There are none if three quarters of the starts,
    # and at least three, lead to the same end.
    restarts: int = whole(
        16,
        "Restarts",
        "Most searches from near the best order. They stop after eight in succession without a gain.",
        at_least=0,
        resumes=True,
    )
    bootstrap: int = whole(
        50,
        "Bootstrap tables",
        "Tables drawn from the rows with replacement, to show how stable every edge is. 0 for none.",
        within=(0, _MOST),
        resumes=True,
    )
    folds: int = whole(
        3,
        "Parts left out in turn",
        "Parts of the rows; each is left out in turn, to show how often an edge is found without it. 0 for none.",
        at_least=0,
    )
    bound: float = number(
        BOUND,
        "Bound, nats",
        "A direction with less evidence is undecided. Misfit raises this. {nats}",
        at_least=0,
        step=1.0,
        metavar="NATS",
    )
    seed: int = whole(0, "Seed", "For the random orders, the bootstrap tables and the parts left out.", at_least=0)
    # Without it, a few sweeps from the best graph, under its screen and prior, measure the edges' local stability.
    redone: bool = boolean(
        False,
        "Search every bootstrap table from scratch",
        "Each bootstrap table gets its own screen, prior and starts, like the whole table, which takes seven to eight "
        "times as long. Otherwise a short search from the graph found measures the edges' local stability, which is "
        "higher than the share of full searches.",
        resumes=True,
    )
    seconds: float = number(
        0,
        "Time limit, seconds",
        "The search ends then with the best graph so far, without bootstrap tables. The evidence on its edges "
        "takes further time. 0 for no limit.",
        at_least=0,
        step=1.0,
        resumes=True,
        flag="--time-limit",
        metavar="SECONDS",
    )
    margin: float = share(
        MARGIN,
        "Counts as unchanged, ± share",
        "With experiments: where the rate of a column changes by less than this, it counts as left alone.",
        above=0,
        step=0.05,
        metavar="SHARE",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.folds == 1:
            raise InputError("folds must be 0 (none) or at least 2.")


QUICK = Choice(folds=0, bootstrap=0)  # no fits on other rows: they take most of a refinement's time
