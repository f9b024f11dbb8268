"""The choices of a refinement."""

from dataclasses import dataclass

from disco.checks import check, flag, number, share, whole
from disco.errors import InputError
from disco.refine.limits import BOUND
from disco.table.interventions import MARGIN

_MOST = 100_000


@dataclass(frozen=True)
class Choice:
    """The extent of a refinement's search and its report.

    Attributes:
        starts: number of initial orders: the CCS order if there is one, then sorted ones and that of linear models,
            then random ones.
        restarts: largest number of searches from near the best order so far, to leave a local optimum: from that order
            with a stretch reversed, with some nodes moved anywhere, or with every node moved by a few positions. They
            end after eight in succession without a gain. There are none if three quarters of the starts, and at least
            three, lead to the same end.
        bootstrap: number of bootstrap tables.
        folds: number of parts of the rows, left out in turn.
        bound: smallest direction evidence of a decided direction, in nats.
        seed: seed of the random orders, the bootstrap and the folds.
        seconds: time after which the search ends with the best graph so far, without draws of other rows. The evidence
            on its edges takes further time. 0: no limit.
        redone: whether every bootstrap table and fold is searched like the whole table, with its own screen, prior and
            starts. Otherwise a few sweeps from the graph found, under its screen and prior, measure the edges' local
            stability.
        margin: with experiments, a change of a rate by less than this share, up or down, counts as none.

    Raises:
        InputError: a value has the wrong type or is out of its range.
    """

    starts: int = whole(4, at_least=1)
    restarts: int = whole(16, at_least=0)
    bootstrap: int = whole(50, at_least=0)
    folds: int = whole(3, at_least=0)
    bound: float = number(BOUND, at_least=0)
    seed: int = whole(0, at_least=0)
    redone: bool = flag(False)
    seconds: float = number(0, at_least=0)
    margin: float = share(MARGIN, above=0)

    def __post_init__(self) -> None:
        check(self)
        if self.folds == 1:
            raise InputError("folds must be 0 (none) or at least 2.")
        for name in ("starts", "bootstrap"):  # all orders and drawn rows are in memory at once
            if getattr(self, name) > _MOST:
                raise InputError(f"{name} must be at most {_MOST:,}; got {getattr(self, name):,}.")


QUICK = Choice(folds=0, bootstrap=0)  # no fits on other rows: they take most of a refinement's time
