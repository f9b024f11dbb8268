"""Answers to questions about effects."""

from dataclasses import dataclass
from typing import NamedTuple

NO_SIGNS = "No signs of hidden common causes. Behind two linked nodes, one would leave no trace."


class Interval(NamedTuple):
    """An estimate with its 90% interval."""

    estimate: float
    low: float
    high: float


class Shares(NamedTuple):
    """The shares of the compatible graphs in which the outcome's mean becomes larger, smaller, or stays.

    They count graphs and are not probabilities: rows cannot weigh open directions.
    """

    more: float
    less: float
    none: float


class Answer(NamedTuple):
    """The outcome's mean at two settings, and how they differ."""

    mean: Interval  # the outcome's mean at the values in question
    mean_against: Interval  # at the values compared with
    difference: Interval
    rate_ratio: Interval
    graphs: Shares


class Case(NamedTuple):
    """The answer if open directions point in one way.

    Attributes:
        edges: the directions, (parent, child), that its graphs share, but not the others; there may be none.
    """

    edges: tuple[tuple[str, str], ...]
    share: float  # of the compatible graphs, by number: not a probability
    answer: Answer  # over the graphs of this case

    @property
    def is_none(self) -> bool:
        """Whether no graph of it has an effect."""
        return self.answer.graphs.none > 1 - 1e-9


@dataclass(frozen=True)
class Effect:
    """The effect of setting nodes on an outcome.

    Attributes:
        on: the outcome.
        do, against: the values in question and those compared with, by set node.
        direct: if all nodes between are held at their values in the rows.
        by_adjustment: from a fit of the outcome to the set nodes and a valid adjustment set; None if no path leads to
            the outcome, or no set is valid.
        cases: those with an effect first, if an open direction decides the answer; empty otherwise.
        is_reversed: the share of the graphs in which the outcome comes before one of the set nodes.
    """

    on: str
    do: dict[str, float]
    against: dict[str, float]
    total: Answer
    direct: Answer
    by_adjustment: Answer | None
    cases: tuple[Case, ...]
    is_reversed: float
    notes: tuple[str, ...]

    @property
    def settled_by(self) -> tuple[str, ...]:
        """The nodes at the first edge of every case; setting one of them shows which case is true."""
        return tuple(dict.fromkeys(node for case in self.cases for edge in case.edges[:1] for node in edge))
