"""Two methods side by side: which edges both have, which one, and which run the other way. Owns `compare_pair_…`."""

import streamlit as st

from disco.metrics import order_agreement, several
from disco.words import how_many, number
from pages.compare.comparison import Comparison, label
from pages.shared.frame import figure
from pages.shared.frame.names import plain
from pages.shared.graph import paired

_NUMBER = 130  # pixels: all six stand in one row of a wide page
_CHANGES = {
    "kept": ("In both", "In both graphs, in the same direction."),
    "dropped": ("Only first", "Only the first method has it."),
    "new": ("Only second", "Only the second method has it."),
    "turned": ("Turned", "In both graphs, in opposite directions."),
    "opened": ("One open", "In both graphs; one of the two methods leaves its direction open."),
}


def section(found: Comparison) -> None:
    """Two boxes, what the two have in common, and both graphs."""
    names = list(found.done)
    if len(names) < 2:
        st.caption("This needs two methods.")
        return
    first, second = paired.beside("compare_pair")
    one = first.selectbox("First", names, format_func=label, key=f"compare_pair_one_{found.run.id}")
    others = [name for name in names if name != one]
    other = second.selectbox("Second", others, format_func=label, key=f"compare_pair_other_{found.run.id}_{one}")
    one, other = (one if one in names else names[0]), (other if other in others else others[0])
    sides = found.done[one], found.done[other]
    changes = several.differences(sides[0].pairs, sides[1].pairs, found.run.nodes)
    row = figure.numbers()
    for change, (word, help) in _CHANGES.items():
        row.metric(word, int((changes["change"] == change).sum()), width=_NUMBER, help=help)
    orders = [side.order for side in sides]
    if None not in orders:
        row.metric("Order agreement", number(order_agreement(*orders)), width=160)
    titled = []
    for name, side in zip((one, other), sides, strict=True):
        graph = several.weighed(several.drawing(side.pairs, found.order), found.joined, len(names))
        titled.append((graph, f"**{how_many(len(side.edges), 'edge')}** of {plain(label(name))}", False))
    paired.draw("compare_pair", found.order, changes, titled, caption=found.placed)
