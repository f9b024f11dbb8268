"""The model check of a refinement: simulated tables against the observed one, and graphs on held-out rows.

It is computed in the background, once per refinement, and stored with the run.
"""

import streamlit as st

from disco.likelihood.model_check import FOLDS, SIMULATIONS, Check, Parents, check
from disco.progress import Callback
from disco.refine import Refined
from disco.refine.bounds import ASSUMED
from disco.refine.prior import BEFORE
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.figures import fitted_model
from disco.subjects.refinement.refined import read_check, save_check
from pages.shared.compute import machine
from pages.shared.compute.background import Computation, Slow
from pages.shared.evidence import modelled
from pages.shared.widgets import figure
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
        f"Draws {SIMULATIONS} tables from the refined graph and compares them with yours. Then fits every graph "
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
        graphs["refined"] = modelled.parents_of(refined.edges)
        adjustment = modelled.adjustment(run)
        result = check(modelled.table(run), graphs, adjustment=adjustment, prior=BEFORE, callback=callback)
        if stamps.refinement(run) == stamp:
            save_check(run, result)
        return result

    key, failure = ("refined_check", str(run.path), stamp), "The model could not be checked"
    slow = Slow(key, machine.once_compiled(work), _STAGES.__getitem__, failure)
    if slow.find() is None and (stored := read_check(run)) is not None:
        slow.keep(Computation(1.0, state="done", result=stored))
    return slow


def _figures(check: Check) -> None:
    st.markdown(
        f"Bands: lowest to highest value in {check.simulations} simulated tables. Each value of a table made by the "
        f"model would lie outside with probability {check.chance:.0%}. The model was fitted to your table, so means "
        "and shares should lie inside; pairs outside show what the graph misses."
    )
    if check.note:
        st.info(plain(check.note))
    else:
        figure.show(fitted_model.held_out(check), "refined_held_out")
        st.caption(
            "Mean over the held-out rows ± one standard error. A count that the other rows lack "
            f"({check.unseen:.2%} of all here) is treated as the next lower count, and clipped to their range."
        )
    statistic = segments("Statistic of the columns", fitted_model.STATISTIC_WORDS, "refined_statistic", "ratio")
    figure.show(fitted_model.columns(check, statistic), "refined_columns")
    nodes = check.margins["node"].drop_duplicates().tolist()
    node = st.selectbox("Column", nodes, key="refined_margin_node", format_func=labels_of(nodes))
    figure.show(fitted_model.margin(check, node), "refined_margin")
    figure.show(fitted_model.pairs(check), "refined_pairs")
    st.caption(ASSUMED)
