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
        done, total: searches, or tables drawn, that are finished and asked for.
        progress: share of the whole work done, 0 to 1, as far as it can be known.
        start, sweep, score: of a search: where it began, the sweep it is in, its score in nats.
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
    """Turns stages into steps with a progress over the whole work, and remembers a wish to stop."""

    def __init__(self, callback: Callable[[Step], bool | None]) -> None:
        self.callback, self.last = callback, Step("screen", 0, 1, 0.0)

    def step(self, stage: str, done: int, total: int, inside: float = 0.0, **more: Any) -> None:
        """Tell of a stage with `done` of `total` parts done, and a share of the next one.

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
        """One that only asks whether the work goes on, for work within a step."""
        return Told(lambda step: self.callback(self.last))

    def sweeps(
        self, start: str, inside: dict[str, float], done: int, total: int, nodes: int
    ) -> Callable[[int, int, float], None]:
        """What a search reports to: the sweep, how many nodes it has looked at in it, the score.

        Args:
            start: where it began.
            inside: how far each of the searches side by side is, by start; updated.
            done, total: searches that are finished, and asked for.
            nodes: d.
        """

        def report(sweep: int, looked: int, score: float) -> None:
            inside[start] = 1 - 0.6 ** (sweep - 1 + looked / nodes)
            words = f"search from {start}: sweep {sweep}, score {score:,.1f}"
            self.step("search", done, total, sum(inside.values()), start=start, sweep=sweep, score=score, message=words)

        return report
