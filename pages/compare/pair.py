"""Two methods side by side: which edges both have, which one, and which are reversed. Owns `compare_pair_…`."""

import streamlit as st

from pages.compare.comparison import Compared, label
from pages.shared.frame.names import plain
from pages.shared.graph import paired


def section(shown: Compared) -> None:
    """Two boxes, what the two have in common, and both graphs."""
    names = list(shown.done)
    if len(names) < 2:
        st.caption("This needs two methods.")
        return
    first, second = paired.beside("compare_pair")
    one = first.selectbox("First", names, format_func=label, key=f"compare_pair_one_{shown.run.id}")
    others = [name for name in names if name != one]
    other = second.selectbox("Second", others, format_func=label, key=f"compare_pair_other_{shown.run.id}_{one}")
    one, other = (one if one in names else names[0]), (other if other in others else others[0])
    pair = paired.Pair(shown.results, label(one), label(other))
    paired.numbers(pair)
    titles = [f"of {plain(label(name))}" for name in (one, other)]
    paired.graphs(pair, "compare_pair", titles, by_methods=True, caption=shown.placed)
