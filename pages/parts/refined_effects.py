"""What an edge of the refinement is worth, in numbers. A stand-in: curves and checks of the model come later."""

from disco.figures.words import number
from disco.refine import Refined
from disco.runs import Run
from pages.parts import figure


def edge_details(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The evidence on one edge."""
    edges = refined.edges
    row = edges[(edges["parent"] == parent) & (edges["child"] == child)].iloc[0]
    shown, wide = figure.numbers(), figure.NUMBER
    shown.metric("Gain, nats", number(row["gain_nats"]), width=wide)
    shown.metric("Log likelihood, nats", number(row["log_likelihood_nats"]), width=wide)
    shown.metric("BIC, nats", number(row["bic_nats"]), width=wide)
    shown.metric("Direction, nats", number(row["direction_nats"]), width=wide)


def node_details(run: Run, refined: Refined, node: str) -> None:
    """Nothing yet."""


def model_check(run: Run, refined: Refined) -> None:
    """Nothing yet."""
