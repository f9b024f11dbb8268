"""What the experiments of a run show: its contrasts, and a sentence for an edge whose direction they give."""

import math

import pandas as pd

from disco.runs import Run
from disco.table.prepared import Prepared
from pages.shared.compute.cache import cached
from pages.shared.widgets.names import code


@cached(lambda run, margin: (str(run.path), margin), "Comparing the arms with the controls …")
def contrasted(run: Run, margin: float) -> pd.DataFrame:
    """The run's contrasts, the surest first."""
    from disco.experiments import contrasts  # imports scipy.stats

    frame = contrasts(given(run), margin)
    return frame.sort_values(["q_value", "p_value"], ignore_index=True)


def given(run: Run) -> Prepared:
    """The run's table with its roles."""
    return Prepared(run.table(), run.adjustment)


def sentence(run: Run, margin: float, parent: str, child: str) -> str:
    """That the parent comes first, and what setting it changed in the child."""
    first, frame = f"**{code(parent)} comes first", contrasted(run, margin)
    rows = frame[(frame["targets"].map(tuple) == (parent,)) & (frame["node"] == child)]
    if rows.empty or math.isnan(rows.iloc[0]["low"]):
        return f"{first},** as experiments show together with other rules."
    row = rows.iloc[0]
    return (
        f"{first}:** where it was set ({code(row['arm'])}), {code(child)} is {row['ratio']:.2f} times as high as among "
        f"the controls, {row['low']:.2f} to {row['high']:.2f}."
    )
