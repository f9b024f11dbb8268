"""The choices of a refinement."""

from dataclasses import dataclass

from disco.checks import check, flag, number, whole
from disco.errors import InputError
from disco.refine.reversal import BOUND

_MOST = 100_000


@dataclass(frozen=True)
class Choice:
    """How much a refinement searches, and what it reports.

    Attributes:
        starts: orders to start from: the CCS order if there is one, then sorted ones, then random ones.
        restarts: most searches from near the best order so far, to leave a local optimum: from that order with a
            stretch reversed, with some nodes put anywhere, or with every node moved by some positions. They come in
            rounds of four. They end after a round that gains nothing, or as soon as half of all searches, and at least
            two, ended where the best did.
        bootstrap: bootstrap tables.
        folds: parts of the rows, left out in turn.
        bound: nats of direction evidence that a decided direction needs at least.
        seed: of the random orders, the bootstrap and the folds.
        redone: whether every bootstrap table and fold is searched like the whole table, with its own screen, prior and
            starts. Otherwise a few sweeps from the graph found, under its screen and prior, give the edges' local
            stability.

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

    def __post_init__(self) -> None:
        check(self)
        if self.folds == 1:
            raise InputError("folds must be 0, for none, or at least 2.")
        for name in ("starts", "bootstrap"):  # the orders and the rows drawn are held at once
            if getattr(self, name) > _MOST:
                raise InputError(f"{name} must be at most {_MOST:,}; got {getattr(self, name):,}.")


QUICK = Choice(folds=0, bootstrap=0)  # no fits on other rows: they take most of a refinement's time
