"""Searches with and without each adjustment: which edges appear, disappear or reverse without it.

An edge that only the search without a covariate finds joins two nodes that the covariate drives. One that every search
finds rests on the counts alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from disco.checks import require_types
from disco.found import Found
from disco.knowledge import Knowledge
from disco.metrics import changes
from disco.progress import Callback, Reporter
from disco.refine.choice import QUICK, Choice
from disco.refine.refinement import refine
from disco.settings import Settings
from disco.table.adjustment import Adjustment
from disco.table.prepared import Table, prepare
from disco.words import how_many

EXPOSURE = "the exposure"
WITH, WITHOUT = "with all", "without any"


def names_of(adjustment: Adjustment) -> list[str]:
    """The adjustments that a search can do without, in words."""
    named = [f'"{one.name}"' for one in adjustment.covariates]
    return named + [EXPOSURE] * (adjustment.exposure is not None)


def searches(adjustment: Adjustment) -> list[tuple[str, Adjustment]]:
    """The searches that are compared: their names, and what they adjust for. Groups stay what they are."""
    names = names_of(adjustment)
    parts = [(f"without {name}", [index]) for index, name in enumerate(names)] if len(names) > 1 else []
    left_out = [(WITH, []), *parts, (WITHOUT, list(range(len(names))))]
    return [(name, _without(adjustment, indices)) for name, indices in left_out]


def adjusted(
    table: Table,
    adjustment: Adjustment,
    choice: Choice = QUICK,
    *,
    settings: Settings | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
) -> dict[str, Found]:
    """Search with all adjustments, without each of them, and without any.

    Args:
        table: counts, one column per node.
        choice: how much to search.
        settings: whose transform the levels come from.
        knowledge: to which every search keeps.
        callback: receives the events, one stage per search; False stops.

    Raises:
        InputError: the table cannot be used.

    Returns:
        The graph of each search, by its name in `searches`.
    """
    require_types(adjustment=(adjustment, Adjustment))
    given, wanted, found = prepare(table, adjustment), searches(adjustment), {}
    reporter = Reporter(callback, {name: 1.0 for name, _ in wanted})
    for name, part in wanted:
        reporter.step(name, 0, 1)
        result = refine(
            given,
            choice,
            settings=settings,
            roles=part,
            knowledge=knowledge,
            callback=reporter.part(name, "part"),
        )
        found[name] = result.found
    return found


def in_words(found: Mapping[str, Found], name: str) -> str:
    """What the adjustments that one search lacks change, as one sentence."""
    told, untold = found[WITH], found[name]
    change = changes(untold.pairs, told.pairs)["change"].value_counts()
    removed, added, reversed_ = (int(change.get(word, 0)) for word in ("dropped", "new", "reversed"))
    what = "at all" if name == WITHOUT else f"for {name.removeprefix('without ')}"
    if not removed + added + reversed_:
        return f"Adjusting {what} changes no edge."
    return (
        f"Adjusting {what} removes {removed:,} of {how_many(len(untold.edges), 'edge')}, adds {added:,} and reverses "
        f"{reversed_:,}."
    )


def _without(adjustment: Adjustment, indices: Sequence[int]) -> Adjustment:
    """Without the adjustments at some positions of `names_of`."""
    kept = tuple(one for index, one in enumerate(adjustment.covariates) if index not in indices)
    exposure = None if len(adjustment.covariates) in indices else adjustment.exposure
    return replace(adjustment, covariates=kept, exposure=exposure)
