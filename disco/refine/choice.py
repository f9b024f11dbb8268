"""What a refinement is asked for."""

from dataclasses import dataclass

from disco.errors import InputError
from disco.refine.turning import BOUND


@dataclass(frozen=True)
class Choice:
    """What a refinement is asked for.

    Attributes:
        starts: orders to start from: the CCS order where there is one, the sorted ones, then random ones.
        restarts: searches from near the best order so far at most, to leave a local optimum: with a stretch of it
            reversed, some nodes put anywhere, or every node some places away. They go in rounds of four, and end after
            a round that gains nothing, or as soon as half of all searches, and two at least, ended where the best did.
        bootstrap: tables drawn with replacement.
        folds: parts left out in turn.
        bound: nats of evidence that a direction needs at least to be decided.
        seed: of the random orders, the bootstrap and the folds.
        redone: every drawn table is searched as the whole one is, with a screen, a prior and starts of its own.
            Without it a few sweeps from the graph found, under its screen and prior, tell the edges' local stability.

    Raises:
        InputError: a number is out of range.
    """

    starts: int = 4
    restarts: int = 16
    bootstrap: int = 50
    folds: int = 3
    bound: float = BOUND
    seed: int = 0
    redone: bool = False

    def __post_init__(self) -> None:
        for name, low in (("starts", 1), ("restarts", 0), ("bootstrap", 0), ("folds", 0), ("bound", 0), ("seed", 0)):
            if getattr(self, name) < low:
                raise InputError(f"{name} must be at least {low}; got {getattr(self, name)}.")
        if self.folds == 1:
            raise InputError("folds must be 0, for none, or at least 2.")
