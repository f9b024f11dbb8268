"""What each rule of the knowledge costs. Owns only the keys of its button."""

import pandas as pd
import streamlit as st

from disco.progress import Callback
from disco.refine import Choice, again
from disco.runs import Run
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.widgets import tables
from pages.shared.widgets.names import plain

_STAGES = {"search": "Searching with all rules", "rules": "Searching without each rule"}


def panel(run: Run) -> None:
    """The button that starts the searches, their progress, or their results."""
    knowledge = run.knowledge()
    if knowledge is None or not knowledge.without_each():
        return

    def work(callback: Callback) -> pd.DataFrame:
        options = {"settings": run.settings, "adjustment": run.adjustment}
        return again.costs(run.table(), knowledge, **options, callback=callback)

    costs = Slow(
        ("rule_costs", str(run.path)),
        machine.once_compiled(work),
        _STAGES.__getitem__,
        "The costs could not be computed",
    )
    with costs.box("What each rule costs", ":material/balance:"):
        costs.panel(_results, _offer)


def _offer() -> bool:
    st.caption(
        "Searches once with all rules, then continues without each of them: the nats gained are the cost of the rule. "
        "You can leave the page meanwhile."
    )
    return st.button("Find the costs", key="rule_costs", icon=":material/balance:")


def _results(costs: pd.DataFrame) -> None:
    st.markdown(plain(again.costs_in_words(costs, Choice().bound)))
    column = st.column_config
    columns = {
        "rule": column.TextColumn("Rule", width="large"),
        "nats": column.NumberColumn("Nats", format="%.1f", help="How much the best graph gains without this rule."),
        "edges": column.NumberColumn("Edges", help="How many edges would change."),
    }
    tables.show(costs, "Rules and what they cost", columns)
    if len(costs) == again.MOST_RULES:
        st.caption(f"The first {again.MOST_RULES} rules.")
