"""The model check of a refinement: simulated tables beside the observed one, and graphs on held-out rows."""

import streamlit as st

from disco.figures import effects
from disco.likelihood.check import FOLDS, SIMULATIONS, Check
from disco.refine import Refined
from disco.runs import Run
from pages.refine import checking
from pages.shared.frame import figure
from pages.shared.frame.names import distinct, plain, shown
from pages.shared.refined import evidence_words
from pages.shared.work import background


def model_check(run: Run, refined: Refined) -> None:
    """Simulated tables beside the observed one, and graphs on held-out rows, on request."""
    st.subheader("Does the model make such tables?", anchor=False)
    job = checking.at_work(run)
    if job and job.is_running:
        st.fragment(_progress, run_every=background.SECONDS)(run)
        return
    if job and job.result is not None:
        _figures(job.result)
        return
    st.caption(
        f"Draws {SIMULATIONS} tables from the refined graph and compares them with yours; then fits every graph "
        f"{FOLDS} times without one part of the rows, and predicts that part. It continues when you leave the page."
    )
    background.say_end(job)
    if st.button("Check the model", key="refined_check", icon=":material/fact_check:"):
        checking.begin(run, refined)
        st.rerun()


def _progress(run: Run) -> None:
    job = checking.at_work(run)
    if job is None or not job.is_running:
        st.rerun()
    background.bar(job, checking.STAGES[job.stage], key="refined_check_cancel", width=5)


def _figures(check: Check) -> None:
    st.markdown(
        f"Of {check.simulations} simulated tables each number has a band from the lowest to the highest. A table that "
        f"the model made would lie outside with probability {check.chance:.0%}; yours was the one it was fitted to, so "
        "means and shares should lie inside, and pairs outside show what the graph misses."
    )
    if check.note:
        st.info(plain(check.note))
    else:
        figure.show(effects.held_out(check), "refined_held_out")
        st.caption(
            "Mean over the held-out rows, with one standard error either way. A count that the other rows lack "
            f"({check.unseen:.2%} of all here) counts as its nearest lower one, beyond the ends as the end."
        )
    statistic = st.segmented_control(
        "Statistic of the columns",
        list(effects.STATISTIC_WORDS),
        default="ratio",
        required=True,
        key="refined_statistic",
        format_func=effects.STATISTIC_WORDS.get,
    )
    figure.show(effects.columns(check, statistic or "ratio"), "refined_columns")
    nodes = check.margins["node"].drop_duplicates().tolist()
    labels = dict(zip(nodes, distinct(map(shown, nodes)), strict=True))
    node = st.selectbox("Column", nodes, key="refined_margin_node", format_func=lambda one: labels.get(one, ""))
    figure.show(effects.margin(check, node), "refined_margin")
    figure.show(effects.pairs(check), "refined_pairs")
    st.caption(evidence_words.ASSUMED)
