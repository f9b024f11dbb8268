"""What each rule of the knowledge costs: the nats that the best graph could gain without it.

A rule that costs nothing agrees with the table, or the table says nothing about it. One that costs many nats holds the
graph against what the rows say: the rule may be wrong, or the model.
"""

import pandas as pd

from disco.checks import require_types
from disco.knowledge import Knowledge
from disco.metrics import changes
from disco.progress import Callback, Reporter
from disco.refine.choice import QUICK, Choice
from disco.refine.memory import Memory
from disco.refine.refinement import WEIGHTS
from disco.refine.scores import Scores, resolve
from disco.refine.screen import screen, widened
from disco.refine.search import STOPPED, Optimum, search
from disco.refine.searches import search_everywhere
from disco.refine.task import Task
from disco.settings import Settings
from disco.table.adjustment import Adjustment
from disco.table.prepared import Table, prepare
from disco.words import how_many

MOST_RULES = 40
_WEIGHTS = {"search": 1.0, "rules": 1.0}


def costs(
    table: Table,
    knowledge: Knowledge,
    choice: Choice = QUICK,
    *,
    settings: Settings | None = None,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """What the first `MOST_RULES` rules cost, the dearest first.

    The graph of highest score that keeps to all rules is found once. For each rule a search without it, but with all
    others, goes on from there under the same prior.

    Args:
        table: counts, one column per node.
        knowledge: the rules.
        choice: how much to search at first.
        settings: whose transform the levels come from.
        adjustment: covariates and exposure of the rows.
        callback: receives the events, of the stages search and rules; False stops.

    Returns:
        Columns rule (in words), nats (gained without it, at least 0), edges (how many of them would change).

    Raises:
        InputError: the table or the knowledge cannot be used.
    """
    require_types(knowledge=(knowledge, Knowledge), choice=(choice, Choice), settings=(settings, Settings | None))
    given = prepare(table, adjustment)
    reporter = Reporter(callback, _WEIGHTS)
    reporter.step("search", 0, 1)
    task = Task.of(given.counts, choice, settings or Settings(), None, None, given.adjustment, "cpu", knowledge)
    inner = Reporter(reporter.part("search", "part"), WEIGHTS, STOPPED)
    searched = search_everywhere(task, screen(task.design, rules=task.rules), inner, Memory())
    best, lines = searched.best.found, []
    rules = knowledge.without_each()[:MOST_RULES]
    for number, (rule, others) in enumerate(rules):
        reporter.step("rules", number, len(rules))
        scores = searched.scores.replace(rules=others.resolve(task.names), reporter=reporter.quiet())
        scores = scores.replace(candidates=widened(scores, best.order, best.parents))
        other = _further(scores, best)
        changed = changes(_edges(best, task.names), _edges(other, task.names))["change"] != "kept"
        lines.append((rule, max(other.score - best.score, 0.0), int(changed.sum())))
    found = pd.DataFrame(lines, columns=["rule", "nats", "edges"])
    return found.sort_values("nats", ascending=False, kind="stable", ignore_index=True)


def in_words(found: pd.DataFrame, bound: float) -> str:
    """The costs in a sentence: how many rules cost more than `bound` nats."""
    dear = int((found["nats"] > bound).sum())
    if not dear:
        return f"No rule costs more than {bound:g} nats: the table does not speak against them."
    rules = how_many(dear, "rule costs", "rules cost")
    return f"{rules} more than {bound:g} nats: there the table speaks against what is known, or the model is wrong."


def _further(scores: Scores, best: Optimum) -> Optimum:
    """The best graph found from a known one on."""
    return resolve([(scores, search(scores, best.order, best.parents))])[0]


def _edges(found: Optimum, names: list[str]) -> list[tuple[str, str]]:
    return [(names[parent], names[child]) for child, nodes in enumerate(found.parents) for parent in nodes]
