"""What the browser asks for when the reader arranges the graph: hide, fold, unfold, show all, undo."""

import re
from collections.abc import Sequence

from disco.graph.draw import folding
from pages.shared.graph import layout
from pages.shared.graph.layout import Placed

_MOST_OFFERED = 30  # groups; a longer list is not read
_ASKED = re.compile(r"(hide|fold|unfold|group):(\d{1,7}(?:,\d{1,7})*)", re.ASCII)


def change(result: Placed, answer: object) -> bool:
    """Do what the browser asks; anything else is ignored. Return whether nodes were hidden or folded.

    Args:
        answer: "undo", "all", or an action with places among the nodes and boxes: "hide:3", "fold:1,4,5", "unfold:20";
            or with a place among the groups offered: "group:0".
    """
    if answer == "undo":
        layout.undo(result)
    elif answer == "all":
        layout.show_all(result)
    elif found := _ASKED.fullmatch(answer) if isinstance(answer, str) else None:
        return _act(result, found[1], [int(place) for place in found[2].split(",")])
    return False


def _act(result: Placed, action: str, places: list[int]) -> bool:
    if action == "group":
        groups = list(offered(result).items())
        if places[0] < len(groups):
            layout.fold(result, groups[places[0]][1], groups[places[0]][0])
        return True
    names = layout.names(result)
    chosen = [names[place] for place in places if place < len(names)]
    if action == "unfold":
        for name in chosen:
            layout.unfold(result, name)
        return False
    (layout.hide if action == "hide" else layout.fold)(result, chosen)
    return True


def offered(result: Placed) -> dict[str, list[str]]:
    """The groups of columns whose names begin alike, largest first, without those that are folded."""
    groups = folding.prefixes(result.order)
    folded = {frozenset(members) for members in layout.now(result).groups.values()}
    new = [(start, members) for start, members in groups.items() if frozenset(members) not in folded]
    return dict(sorted(new, key=lambda group: -len(group[1]))[:_MOST_OFFERED])


def told(result: Placed, shown: Sequence[str]) -> dict[str, object]:
    """What the buttons need: whether there is a step back, how many nodes are hidden or folded, the groups offered.

    Args:
        shown: the nodes of the graph before any were hidden.
    """
    arranged = layout.now(result)
    away = len(arranged.hidden & {*shown}) + sum(len({*members} & {*shown}) for members in arranged.groups.values())
    groups = [f"{start} … ({len(members)})" for start, members in offered(result).items()]
    return {"undo": layout.can_undo(result), "away": away, "groups": groups, "folds": True}
