"""Checks of a refinement in the background: the model, each adjustment, each rule.

The model check compares simulated tables with the observed one, and graphs on held-out rows; it is stored with the run.
Owns the key `adjustments_pair`.
"""

from functools import partial

import pandas as pd
import streamlit as st

from disco.graph.result import GraphResult
from disco.likelihood.model_check import FOLDS, SIMULATIONS, Check, Parents, check
from disco.metrics.consensus import Comparison
from disco.progress import Callback
from disco.refine import Choice, Refined, again
from disco.refine.bounds import ASSUMED
from disco.refine.prior import BEFORE
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.figures import fitted_model
from disco.subjects.refinement.refined import read_check, save_check
from disco.words import how_many
from pages.shared.compute import machine
from pages.shared.compute.background import Computation, Slow
from pages.shared.evidence import modelled
from pages.shared.graph import paired
from pages.shared.widgets import figure, tables
from pages.shared.widgets.answers import segments
from pages.shared.widgets.names import labels_of, plain

_STAGES = {
    "fit": "Fitting the graph",
    "simulate": "Drawing tables from it",
    "held-out": "Fitting every graph without part of the rows",
}


def model_check(run: Run, refined: Refined) -> None:
    """Simulated tables against the observed one, and graphs on held-out rows, on request."""
    slow = check_of(run, refined)
    with slow.box("Does the model reproduce your data?", ":material/fact_check:"):
        slow.panel(_figures, _offer)


def _offer() -> bool:
    st.caption(
        f"Draws {SIMULATIONS} tables from the graph of the search and compares them with yours. Then fits every graph "
        f"{FOLDS} times without one part of the rows and predicts that part. You can leave the page meanwhile."
    )
    return st.button("Check the model", key="refined_check", icon=":material/fact_check:")


def check_of(run: Run, refined: Refined) -> Slow[Check]:
    """The check of the run's refinement. It is stored with the run unless the run is refined again meanwhile."""
    stamp = stamps.refinement(run)

    def work(callback: Callback) -> Check:
        graphs: dict[str, Parents] = {"empty": {}}
        if stamps.fit(run):
            graphs["DISCO"] = modelled.parents_of(StoredFit(run).edges())
        graphs["likelihood"] = modelled.parents_of(refined.edges)
        adjustment = modelled.adjustment(run)
        # With the prior of the search: the default is weaker, and that model would not be the refined one.
        result = check(modelled.table(run), graphs, adjustment=adjustment, prior=BEFORE, callback=callback)
        if stamps.refinement(run) == stamp:
            save_check(run, result)
        return result

    key, failure = ("refined_check", str(run.path), stamp), "The model could not be checked"
    slow = Slow(key, machine.once_compiled(work), _STAGES.__getitem__, failure)
    if slow.find() is None and (stored := read_check(run)) is not None:
        slow.keep(Computation(1.0, state="done", result=stored))
    return slow


def _figures(result: Check) -> None:
    st.markdown(
        f"Bands: lowest to highest value in {result.simulations} simulated tables. Each value of a table made by the "
        f"model would lie outside with probability {result.chance:.0%}. The model was fitted to your table, so means "
        "and shares should lie inside; pairs outside show what the graph misses."
    )
    if result.note:
        st.info(plain(result.note))
    else:
        figure.show(fitted_model.held_out(result), "refined_held_out")
        st.caption(
            "Mean over the held-out rows ± one standard error. A count that the other rows lack "
            f"({result.unseen:.2%} of all here) is treated as the next lower count, and clipped to their range."
        )
    statistic = segments("Statistic of the columns", fitted_model.STATISTIC_WORDS, "refined_statistic", "ratio")
    figure.show(fitted_model.columns(result, statistic), "refined_columns")
    nodes = result.margins["node"].drop_duplicates().tolist()
    node = st.selectbox("Column", nodes, key="refined_margin_node", format_func=labels_of(nodes))
    figure.show(fitted_model.margin(result, node), "refined_margin")
    figure.show(fitted_model.pairs(result), "refined_pairs")
    st.caption(ASSUMED)


def adjustments_panel(run: Run) -> None:
    """The button that starts the searches, their progress, or their results."""
    if run.adjustment is None or not again.names_of(run.adjustment):
        return

    def work(callback: Callback) -> dict[str, GraphResult]:
        options = {"settings": run.settings, "knowledge": run.knowledge()}
        return again.adjusted(run.table(), run.adjustment, **options, callback=callback)

    searches = Slow(
        ("adjustments", str(run.path)),
        machine.once_compiled(work),
        lambda stage: f"Searching {stage}",
        "The searches failed",
    )
    with searches.box("What the adjustment changes", ":material/tune:"):
        searches.panel(partial(_adjustment_results, run), partial(_offer_adjustments, run))


def _offer_adjustments(run: Run) -> bool:
    names = again.names_of(run.adjustment)
    st.markdown(
        f"{len(again.searches(run.adjustment))} quick searches of the same table: one that adjusts for "
        f"{plain(', '.join(names))}{', one without each of these' if len(names) > 1 else ''}, and one without any. "
        "An adjustment removes edges between nodes that it drives."
    )
    return st.button("Compare", key="adjustments", icon=":material/compare_arrows:")


def _adjustment_results(run: Run, graphs: dict[str, GraphResult]) -> None:
    names = [name for name in graphs if name != again.WITH]
    st.markdown("\n".join(f"- {plain(again.adjusted_in_words(graphs, name))}" for name in names))
    name = st.segmented_control(
        "Compare with the search", names, default=names[-1], required=True, key="adjustments_pair"
    )
    chosen = name if name in names else names[-1]
    results = Comparison.of(graphs, graphs[chosen].nodes)
    pair = paired.Pair(results, chosen, again.WITH, (chosen, again.WITH))
    paired.graphs(pair, "adjustments", [plain(chosen), again.WITH])
    rows = results.edges[["parent", "child", *graphs]]
    help = "Every edge of any search, and its direction in each."
    name = f"{run.id}_adjustments.csv"
    csv = tables.Csv(f"{how_many(len(rows), 'edge')}, CSV", name, "adjustments_csv", rows, help)
    tables.show(rows, "Edges of every search", csv=csv)


_COST_STAGES = {"search": "Searching with all rules", "rules": "Searching without each rule"}


def rule_costs_panel(run: Run) -> None:
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
        _COST_STAGES.__getitem__,
        "The costs could not be computed",
    )
    with costs.box("What each rule costs", ":material/balance:"):
        costs.panel(_rule_results, _offer_costs)


def _offer_costs() -> bool:
    st.caption(
        "Searches once with all rules, then continues without each of them: the nats gained are the cost of the rule. "
        "You can leave the page meanwhile."
    )
    return st.button("Find the costs", key="rule_costs", icon=":material/balance:")


def _rule_results(costs: pd.DataFrame) -> None:
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
