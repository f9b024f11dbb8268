"""The response of a node of a series to a setting, step by step; `disco.refine.over_time` simulates it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.words import how_many, listed

MOST_STEPS = 20
_NAMED = 3


@dataclass(frozen=True)
class Response:
    """The response of one node to settings of others.

    Attributes:
        points: one row per step: step, mean, against (the mean without the setting), ratio, low, high.
        unit: of a step, in words.
    """

    on: str
    do: Mapping[str, float]
    is_steady: bool
    points: pd.DataFrame
    unit: str
    open_edges: tuple[tuple[str, str], ...] = ()  # on the way, of no known direction, along which it is taken

    def __str__(self) -> str:
        """The largest change in a sentence."""
        settings = ", ".join(f"{name} = {value:g}" for name, value in self.do.items())
        when = "from then on" if self.is_steady else "once"
        sure = self.points[(self.points["low"] > 1) | (self.points["high"] < 1)]
        if sure.empty:
            return (
                f"If {settings} {when}, no change of {self.on} is clear in {len(self.points) - 1} steps.{self._proviso}"
            )
        at = int(np.abs(np.log(sure["ratio"])).idxmax())
        top = self.points.loc[at]
        later = f"{how_many(at, 'step')} later (one per {self.unit})" if at else "in the same row"
        return (
            f"If {settings} {when}, the mean of {self.on} is changed most {later}: {top['ratio']:.2f} times as high "
            f"({top['low']:.2f} to {top['high']:.2f}). The change is clear in {len(sure)} of {len(self.points)} steps."
            f"{self._proviso}"
        )

    @property
    def _proviso(self) -> str:
        """That it depends on directions that are not known; empty if it does not."""
        edges = listed([f"{parent} → {child}" for parent, child in self.open_edges], _NAMED)
        return f" This holds only if {edges}: not decided." if edges else ""
