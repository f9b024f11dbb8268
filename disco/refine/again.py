"""Repeated searches of one table: without an adjustment, or without a rule.

- An edge that appears only without a covariate joins two nodes that the covariate drives. An edge that appears in every
  search rests on the counts alone.
- The *cost of a rule* is the gain of the best graph without it, in nats. A rule without a cost agrees with the table,
  or the table has no information on it. A rule that costs many nats contradicts the rows: the rule may be wrong, or the
  model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from disco.fields import require_types
from disco.graph.result import GraphResult
from disco.knowledge import Knowledge
from disco.metrics import changes
from disco.paper.settings import Settings
from disco.progress import Callback, Reporter
from disco.refine.choice import QUICK, Choice
from disco.refine.node_scores import resolve
from disco.refine.order_search import STOPPED, Optimum, search
from disco.refine.refinement import WEIGHTS, refine
from disco.refine.resume import Memory
from disco.refine.screen import screen, widened
from disco.refine.searches import search_everywhere
from disco.refine.task import Task
from disco.table.adjustment import Adjustment
from disco.table.artefacts import ARTEFACTS
from disco.table.prepared import Table, prepare
from disco.words import how_many

EXPOSURE = "the exposure"
WITH, WITHOUT = "with all", "without any"
MOST_RULES = 40
_WEIGHTS = {"search": 1.0, "rules": 1.0}


def names_of(adjustment: Adjustment) -> list[str]:
    """The adjustments that a search can omit, in words."""
    named = [f'"{covariate.name}"' for covariate in adjustment.covariates]
    return named + [EXPOSURE] * (adjustment.exposure is not None)


def searches(adjustment: Adjustment) -> list[tuple[str, Adjustment]]:
    """The compared searches: names and adjustments. Groups are unchanged."""
    names = names_of(adjustment)
    omissions = [(f"without {name}", [index]) for index, name in enumerate(names)] if len(names) > 1 else []
    left_out = [(WITH, []), *omissions, (WITHOUT, list(range(len(names))))]
    return [(name, _without(adjustment, indices)) for name, indices in left_out]


def adjusted(
    table: Table,
    adjustment: Adjustment,
    choice: Choice = QUICK,
    *,
    settings: Settings | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
) -> dict[str, GraphResult]:
    """Searches with all adjustments, without each of them, and without any: graphs by the names of `searches`.

    `knowledge` has rules that every search obeys. The events have one stage per search; returning False stops.
    """
    require_types(adjustment=(adjustment, Adjustment))
    prepared, adjustments, graphs = prepare(table, adjustment), dict(searches(adjustment)), {}
    reporter = Reporter(callback, dict.fromkeys(adjustments, 1.0), "stopped in the search {stage}.")
    for name, roles in adjustments.items():
        reporter.step(name, 0, 1)
        inner = reporter.part(name, "part")
        refined = refine(
            prepared, choice, settings=settings, roles=roles, knowledge=knowledge, callback=inner, dismissed=ARTEFACTS
        )
        graphs[name] = refined.found
    return graphs


def adjusted_in_words(graphs: Mapping[str, GraphResult], name: str) -> str:
    """The effect of the adjustments that one search omits, as a sentence."""
    full, less = graphs[WITH], graphs[name]
    change = changes(less.pairs, full.pairs)["change"].value_counts()
    removed, added, reversed_ = (int(change.get(word, 0)) for word in ("dropped", "new", "reversed"))
    what = "at all" if name == WITHOUT else f"for {name.removeprefix('without ')}"
    if not removed + added + reversed_:
        return f"Adjusting {what} changes no edge."
    return (
        f"Adjusting {what} removes {removed:,} of {how_many(len(less.edges), 'edge')}, adds {added:,} and reverses "
        f"{reversed_:,}."
    )


def _without(adjustment: Adjustment, indices: Sequence[int]) -> Adjustment:
    """The adjustment without some of `names_of`, by position."""
    covariates = tuple(covariate for index, covariate in enumerate(adjustment.covariates) if index not in indices)
    exposure = None if len(adjustment.covariates) in indices else adjustment.exposure
    return replace(adjustment, covariates=covariates, exposure=exposure)


def costs(
    table: Table,
    knowledge: Knowledge,
    choice: Choice = QUICK,
    *,
    settings: Settings | None = None,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """The costs of the first `MOST_RULES` rules, largest first.

    The best graph under all rules is searched once. For each rule, a search without it, but with all others, continues
    from there under the same prior. The stages of the events are search and rules.

    Returns:
        Columns rule (in words), nats (gain without it, at least 0), edges (number that would change).
    """
    require_types(knowledge=(knowledge, Knowledge), choice=(choice, Choice), settings=(settings, Settings | None))
    prepared = prepare(table, adjustment)
    reporter = Reporter(callback, _WEIGHTS)
    reporter.step("search", 0, 1)
    if prepared.adjustment is not None:
        prepared = replace(prepared, adjustment=prepared.adjustment.as_covariates())
    task = Task.of(prepared, choice, settings or Settings(), knowledge=knowledge)
    inner = Reporter(reporter.part("search", "part"), WEIGHTS, STOPPED)
    searched = search_everywhere(task, screen(task.design, rules=task.rules), inner, Memory())
    best, lines = searched.best.found, []
    rules = knowledge.without_each()[:MOST_RULES]
    for number, (rule, remaining_rules) in enumerate(rules):
        reporter.step("rules", number, len(rules))
        scores = searched.scores(task, reporter.quiet()).replace(rules=remaining_rules.resolve(task.names))
        scores = scores.replace(candidates=widened(scores, best.order, best.parents))
        (optimum,) = resolve([(scores, search(scores, best.order, best.parents))])
        changed = changes(_edges(best, task.names), _edges(optimum, task.names))["change"] != "kept"
        lines.append((rule, max(optimum.score - best.score, 0.0), int(changed.sum())))
    frame = pd.DataFrame(lines, columns=["rule", "nats", "edges"])
    return frame.sort_values("nats", ascending=False, kind="stable", ignore_index=True)


def costs_in_words(frame: pd.DataFrame, bound: float) -> str:
    """The costs as a sentence: how many rules cost more than `bound` nats."""
    dear = int((frame["nats"] > bound).sum())
    if not dear:
        return f"No rule costs more than {bound:g} nats: the table does not contradict them."
    rules = how_many(dear, "rule costs", "rules cost")
    return f"{rules} more than {bound:g} nats: there the table contradicts your knowledge, or the model is wrong."


def _edges(optimum: Optimum, names: list[str]) -> list[tuple[str, str]]:
    return [(names[parent], names[child]) for child, nodes in enumerate(optimum.parents) for parent in nodes]
