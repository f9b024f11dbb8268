"""How far a refinement is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from disco.errors import FitStopped

_SHARES = {"screen": 0.1, "prior": 0.1, "search": 0.35, "evidence": 0.15, "bootstrap": 0.3}


@dataclass(frozen=True)
class Step:
    """One report of a refinement's progress.

    Attributes:
        stage: screen, prior, search, evidence or bootstrap.
        done, total: number of finished searches or drawn tables, and of all.
        progress: share of the whole work done, 0 to 1, as far as it can be known.
        start, sweep, score: of a search: the name of its start, the sweep it is in, its score in nats.
        message: the same in words.
    """

    stage: str
    done: int
    total: int
    progress: float
    start: str = ""
    sweep: int = 0
    score: float = float("nan")
    message: str = ""


class Told:
    """Reports stages as steps, with the progress of the whole work, and ends the work if the callback says so."""

    def __init__(self, callback: Callable[[Step], bool | None]) -> None:
        self.callback, self.last = callback, Step("screen", 0, 1, 0.0)

    def step(self, stage: str, done: int, total: int, inside: float = 0.0, **more: Any) -> None:
        """Report a stage with `done` of `total` parts done, and a share of the next one.

        Raises:
            FitStopped: the callback says so.
        """
        stages = list(_SHARES)
        before = sum(_SHARES[name] for name in stages[: stages.index(stage)])
        progress = before + (done + inside) / max(total, 1) * _SHARES[stage]
        self.last = Step(stage, done, total, min(max(progress, self.last.progress), 1.0), **more)
        if not self.goes_on():
            raise FitStopped("the refinement was stopped.")

    def goes_on(self) -> bool:
        """Ask the callback."""
        return self.callback(self.last) is not False

    def quiet(self) -> "Told":
        """A reporter that only asks whether to go on, for work within a step."""
        return Told(lambda step: self.callback(self.last))

    def sweeps(
        self, start: str, inside: dict[str, float], done: int, total: int, nodes: int
    ) -> Callable[[int, int, float], None]:
        """The function that a search calls with the sweep, the number of nodes looked at in it, and the score.

        Args:
            start: the name of its start.
            inside: how far each of the searches side by side is, by start; updated.
            done, total: number of finished searches, and of all.
            nodes: d.
        """

        def report(sweep: int, looked: int, score: float) -> None:
            inside[start] = 1 - 0.6 ** (sweep - 1 + looked / nodes)
            words = f"search from {start}: sweep {sweep}, score {score:,.1f}"
            self.step("search", done, total, sum(inside.values()), start=start, sweep=sweep, score=score, message=words)

        return report
