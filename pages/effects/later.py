"""What the setting of Effects does in later rows of a series: a chart of the ratio of means, and a sentence."""

from functools import partial

import streamlit as st

from disco.progress import Callback
from disco.refine.response import MOST_STEPS, Response
from disco.runs import Run
from disco.subjects.effects import figures
from disco.table import spreadsheets
from pages.effects.question import QuestionForm
from pages.shared.compute.background import Slow
from pages.shared.evidence import questions
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import figure
from pages.shared.widgets.names import plain

_USUAL = 12  # steps
_ONCE, _STEADY = "Once", "From then on"


def section(refinement: Refinement, form: QuestionForm) -> None:
    """The section, for a refinement in time."""
    if refinement.refined.lagged is None:
        return
    st.subheader("In later rows", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        help = "How many rows to look ahead. Step 0 is the row in which the node is set."
        steps = int(st.number_input("Steps", 1, MOST_STEPS, _USUAL, key="later_steps", width=120, help=help))
        chosen = st.segmented_control("Set it", [_ONCE, _STEADY], default=_ONCE, required=True, key="later_steady")
    response = _response(refinement.run, form, steps, chosen == _STEADY)
    response.panel(partial(_show, refinement.run))


def _response(run: Run, form: QuestionForm, steps: int, is_steady: bool) -> Slow[Response]:
    def work(callback: Callback) -> Response:
        from disco.subjects.effects import run_graphs  # imports the compiler

        return run_graphs.over_time(run, form.outcome, form.do, steps, is_steady, callback)

    key = ("effects_later", *questions.key(run, form.outcome, *form.do.items(), steps, is_steady))
    return Slow(key, work, "Simulating later rows", "The later rows could not be simulated")


def _show(run: Run, response: Response) -> None:
    st.markdown(plain(str(response)))
    figure.show(figures.over_time(response), "effects_later")
    st.caption(
        "The mean with the setting, divided by the mean without it, from the same rows on. Band: 90%, without what is "
        "unsure of the graph. A common cause that no column measures may be behind an effect."
    )
    csv = spreadsheets.to_csv(response.points)
    name = f"disco_{run.id}_later.csv"
    st.download_button("Download as CSV", csv, name, "text/csv", key="later_csv", icon=":material/download:")
