"""Effects: what happens to a node if another one is set, over all graphs compatible with the data."""

from pages.effects import question, sections
from pages.shared import session
from pages.shared.evidence import questions
from pages.shared.frame import intro
from pages.shared.result import refinement
from pages.shared.work import find_graph

intro.page_intro(
    "Effects",
    "What happens to a node if another one is set? The answer covers every open direction of the edges found, also of "
    "those found in bootstrap tables if there are any.",
)
run = session.run.current()
if run is None:
    sections.no_run()
    intro.end()
refined = refinement.readable(run)
if refined is None:
    sections.no_graph(run)
    intro.end()
find_graph.progress(run)
intro.artefacts(run)
intro.adjustment(run.roles)
form, slots = question.nodes(refined)


def answer() -> None:
    """The answer, then the ranking: one after the other, since both at once would take longer."""
    is_ready = sections.answered(refined, form, slots)
    if is_ready:
        sections.drivers(refined, form.outcome, form.where)
        sections.assumed(refined)


questions.once(run, answer)
