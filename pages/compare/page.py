"""Compare: what other methods find in the table of the open run, side by side."""

from disco.subjects import COMPARE
from pages.compare import choosing, comparison, monitoring, sections
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.widgets import answers
from pages.shared.work import monitor

intro.page_intro(
    "Compare",
    "What do other methods find in the same table? Choose some; each runs in its own process. Then see where they "
    "agree, which edges many of them have, and where two of them differ.",
)
run = session.run.current()
if run is None:
    intro.without_a_run("A comparison needs a table of counts, but no fit.", choosing.offer)
    intro.end()
intro.run_caption(run.name, *run.shape)
intro.adjustment(run.roles)
intro.artefacts(run)
status = run.status(COMPARE)
compared = comparison.of(run)
if status.state not in ("none", "done"):
    monitoring.remember(run)
    monitor.monitor(run, monitoring.KIND)
if not status.active:
    choosing.section(run, compared)
if not compared.methods:
    intro.end()
against_truth = sections.truth_of(compared)
sections.methods_table(compared, against_truth)
selected = comparison.choose(compared)
if selected is None:
    intro.end()
opened = answers.segments(
    "Show",
    {"agreement": "Agreement", "consensus": "Consensus graph", "edges": "Edges", "pair": "Two methods"},
    f"compare_section_{run.id}",
)
{
    "agreement": sections.agreement,
    "consensus": sections.consensus,
    "edges": sections.edges,
    "pair": sections.pair,
}[opened](selected)
