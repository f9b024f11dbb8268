"""The model check of a refinement: simulated tables beside the observed one, and graphs on held-out rows.

It is computed in the background, once per refinement, and kept with the run.
"""

from collections.abc import Callable

import streamlit as st

from disco.figures import effects
from disco.likelihood.check import FOLDS, SIMULATIONS, Check, Parents, check
from disco.progress import Callback
from disco.refine import Refined
from disco.refine.limits import ASSUMED
from disco.refine.prior import BEFORE
from disco.runs import Run, stamps
from disco.runs.refined import read_check, save_check
from pages.shared.compute import background, machine
from pages.shared.evidence import modelled
from pages.shared.widgets import figure
from pages.shared.widgets.answers import segments
from pages.shared.widgets.names import distinct, plain, shown

FAILURE = "The model could not be checked"
_STAGES = {
    "fit": "Fitting the graph",
    "simulate": "Drawing tables from it",
    "held-out": "Fitting every graph without part of the rows",
}


def model_check(run: Run, refined: Refined) -> None:
    """Simulated tables beside the observed one, and graphs on held-out rows, on request."""
    at_work(run)
    with background.box("Does the model reproduce your data?", ":material/fact_check:", key_of(run)):
        background.panel(
            key_of(run), lambda: work(run, refined) if _button() else None, _figures, _STAGES.__getitem__, FAILURE
        )


def _button() -> bool:
    st.caption(
        f"Draws {SIMULATIONS} tables from the refined graph and compares them with yours. Then fits every graph "
        f"{FOLDS} times without one part of the rows and predicts that part. You can leave the page meanwhile."
    )
    return st.button("Check the model", key="refined_check", icon=":material/fact_check:")


def key_of(run: Run) -> background.Key:
    """The key of the check of the run's refinement; it changes when the run is refined again."""
    return "refined_check", str(run.path), stamps.refinement(run)


def at_work(run: Run) -> background.Computation[Check] | None:
    """The check of the run's refinement: started since the server started, or kept with the run."""
    key = key_of(run)
    computation = background.find(key)
    if computation is None and (stored := read_check(run)) is not None:
        return background.keep(key, background.Computation(1.0, state="done", result=stored))
    return computation


def work(run: Run, refined: Refined) -> Callable[[Callback], Check]:
    """The check, which is kept with the run unless the run was refined again meanwhile."""
    key, table, around = key_of(run), modelled.table(run), modelled.adjustment(run)
    graphs: dict[str, Parents] = {"empty": {}}
    if stamps.fit(run):
        graphs["DISCO"] = modelled.parents_of(run.edges())
    graphs["refined"] = modelled.parents_of(refined.edges)

    def checked(hear: Callback) -> Check:
        result = check(table, graphs, adjustment=around, prior=BEFORE, callback=hear)
        if key_of(run) == key:
            save_check(run, result)
        return result

    return machine.once_compiled(checked)


def _figures(check: Check) -> None:
    st.markdown(
        f"Bands: lowest to highest value in {check.simulations} simulated tables. A table made by the model would lie "
        f"outside with probability {check.chance:.0%}. The model was fitted to your table, so means and shares should "
        "lie inside; pairs outside show what the graph misses."
    )
    if check.note:
        st.info(plain(check.note))
    else:
        figure.show(effects.held_out(check), "refined_held_out")
        st.caption(
            "Mean over the held-out rows ± one standard error. A count that the other rows lack "
            f"({check.unseen:.2%} of all here) is treated as the next lower count, and clipped to their range."
        )
    statistic = segments("Statistic of the columns", effects.STATISTIC_WORDS, "refined_statistic", "ratio")
    figure.show(effects.columns(check, statistic), "refined_columns")
    nodes = check.margins["node"].drop_duplicates().tolist()
    labels = dict(zip(nodes, distinct(map(shown, nodes)), strict=True))
    node = st.selectbox("Column", nodes, key="refined_margin_node", format_func=lambda name: labels.get(name, ""))
    figure.show(effects.margin(check, node), "refined_margin")
    figure.show(effects.pairs(check), "refined_pairs")
    st.caption(ASSUMED)
