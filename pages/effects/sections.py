"""The sections of Effects: the answer in words, picture, numbers, paths and files; all effects ranked; no graph yet.

Owns the key `effects_drivers`.
"""

import json
from functools import partial

import pandas as pd
import streamlit as st

from disco.columns import EXPERIMENT
from disco.effects.effect_records import Effect, Interval
from disco.effects.sentences import as_json, in_parts, short, three_ways
from disco.effects.shape import over_range
from disco.files import plain as as_plain
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.effects import figures as outcomes
from disco.subjects.graph.provenance import about
from disco.words import how_many, number, of_graphs, series
from pages.effects import answering, later, question
from pages.effects.answering import Answered
from pages.effects.question import QuestionForm, Slots
from pages.shared.evidence import evidence_words, modelled, next_steps, questions
from pages.shared.frame import intro
from pages.shared.graph import downloads
from pages.shared.result.refinement import Refinement
from pages.shared.session import address
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import code, define, plain
from pages.shared.work import find_graph

_MOST_PATHS = 8


def answered(refinement: Refinement, form: QuestionForm, slots: Slots) -> bool:
    """Draw the values and, once it is computed, the answer; return whether it is."""
    form = question.values(refinement, form, slots)
    answer = answering.effect(refinement.run, form.outcome, form.do, form.against, form.where)
    is_ready = answer.panel(partial(_answer, refinement))
    if is_ready:
        later.section(refinement, form)
    return is_ready


def _answer(refinement: Refinement, answer: Answered) -> None:
    effect = answer.effect
    with st.container(key="effects_answer", border=True):
        head, cases, tail = in_parts(effect)  # what would tell cases apart stands below them
        if answer.curve is not None:
            tail = f"{tail} {over_range(answer.curve, effect.on, *effect.do)}".strip()
        lines = [plain(head), *(f"- {plain(case)}" for case in cases)] if cases else [plain(f"{head} {tail}")]
        st.markdown("\n".join(lines))
    verdict = refinement.verdict()
    if verdict.level == "poor":
        st.caption(f":material/help: {verdict.text} Read the effect as a hypothesis.")
    for note in effect.notes:
        st.caption(f":material/info: {plain(note)}")
    rows = "these rows" if answer.where else "all rows"
    left, right = st.container(key="beside_effects").columns(2, gap="medium")
    with left:
        if answer.curve is not None:
            figure.show(outcomes.over_values(answer.curve, effect, modelled.unit(refinement.run)), "effects_curve")
            st.caption(
                f"The line: the mean over {rows} if every row had this value and all that follows from it changed too. "
                "(Graph holds the other parents of an edge's child.) Band: 90%. Diamonds: your two values."
            )
        figure.show(outcomes.over_counts(answer.distribution, effect), "effects_distribution")
    with right:
        _numbers(effect)
        _paths(answer.routes, effect)
    for cause, strength in answer.strengths.items():
        row = evidence_words.row_of(refinement.refined, cause, effect.on) or {}
        if row.get("source") != EXPERIMENT:
            questions.strength_told(cause, effect.on, strength)
    if effect.cases:
        if effect.settled_by:
            names = " or ".join(map(plain, effect.settled_by[:2]))
            st.markdown(f":material/experiment: To know which case is true, set **{names}** in an experiment.")
        next_steps.section(refinement.run, refinement)
    _files(refinement, answer)


def _numbers(effect: Effect) -> None:
    answers = [(short(case.edges, case.is_none).replace("if", "If", 1), case.answer) for case in effect.cases]
    answers += [("Average", effect.total)] if effect.cases else three_ways(effect)
    rows = [(name, _with_interval(answer.rate_ratio), _with_interval(answer.difference)) for name, answer in answers]
    text = st.column_config.TextColumn
    help = _AVERAGE if effect.cases else f"{define('direct effect')} {define('by adjustment')}"
    columns = {
        "effect": text("Effect", help=help, width=180),
        "ratio": text("Ratio of means", help=define("effect interval"), width=130),
        "difference": text("Difference", help="Of the means, with its 90% interval.", width=130),
    }
    frame = pd.DataFrame(rows, columns=list(columns))
    tables.show(
        frame, "The effect by case, along all paths, directly, and by adjustment", columns, key="effects_numbers"
    )


_AVERAGE = "Average: over all compatible graphs, of every case. No single graph has this effect."


def _with_interval(interval: Interval) -> str:
    return (
        "no change"
        if interval.low == interval.high
        else f"{number(interval.estimate)} ({number(interval.low)} to {number(interval.high)})"
    )


def _paths(routes: list[tuple[tuple[str, ...], float]], effect: Effect) -> None:
    st.markdown("**By which paths**")
    frame = pd.DataFrame(
        [(" → ".join(path), of_graphs(share)) for path, share in routes[:_MOST_PATHS]], columns=["path", "graphs"]
    )
    columns = {
        "path": st.column_config.TextColumn("Path", width=260),
        "graphs": st.column_config.TextColumn("Graphs", width=90, help="How many of the compatible graphs have it."),
    }
    names = f"{series(list(map(plain, effect.do)))} to {plain(effect.on)}"
    none = f"No path leads from {names} in any compatible graph."
    tables.show(frame, "Paths from the cause to the outcome", columns, empty=none, key="effects_paths")
    if len(routes) > _MOST_PATHS:
        st.caption(f"And {how_many(len(routes) - _MOST_PATHS, 'more path')}, each in fewer graphs or longer.")


def assumed(refinement: Refinement) -> None:
    """The assumptions of an effect, and signs against them."""
    if note := evidence_words.removed(refinement.refined.notes):
        st.caption(f":material/info: {plain(note)}")
    st.caption(
        ":material/info: Assumed: no hidden cause acts on two nodes. Where one does, an effect may only reflect it. "
        "Means are over rows of this table."
    )
    questions.signs(refinement.run)


def _files(refinement: Refinement, answer: Answered) -> None:
    effect = answer.effect
    facts: dict[str, object] = {"on": effect.on, "do": effect.do, "against": effect.against}
    facts |= {"where": answer.where} if answer.where else {}
    name = f"{downloads.file_name(refinement.run)}_effect.json"
    with st.container(horizontal=True):
        text = partial(json.dumps, as_plain(as_json(effect)), indent=1, ensure_ascii=False)
        st.download_button("Answer, JSON", text, name, "application/json", key="effects_json", on_click="ignore")
        downloads.script_button({refinement.run.name: refinement.run}, "effects", effect=facts)


def no_run() -> None:
    """No run is open: the search of the loaded table, and the latest runs that have a graph."""
    intro.without_a_run(
        "Effects are read off the graph that the likelihood search finds.", find_graph.button, _has_graph
    )


def no_graph(run: Run) -> None:
    """The open run has no refinement: its progress, or where to start one."""
    if find_graph.progress(run):
        st.caption("Effects can be asked for once the graph is found.")
        return
    with st.container(border=True):
        st.markdown(
            f"**{code(run.name)} has no likelihood search.** Its graph says what acts on what: search for it on Graph."
        )
        if st.button("Go to Graph", type="primary", icon=":material/hub:", key="effects_to_graph"):
            address.go("graph")


def _has_graph(run: Run) -> bool:
    return bool(stamps.refinement(run))


def drivers(refinement: Refinement, outcome: str, where: str) -> None:
    """The ranking, computed in the background, over all rows or those with a level (`answering.levels`)."""
    st.subheader(f"What drives {plain(outcome)} most?", anchor=False)
    answering.drivers(refinement.run, outcome, where).panel(partial(_ranked, refinement, outcome))


def _ranked(refinement: Refinement, outcome: str, rows: pd.DataFrame) -> None:
    if rows.empty:
        st.caption(f"No path leads to {plain(outcome)} in any compatible graph.")
        return

    def chosen() -> None:
        if (node := figure.clicked("effects_drivers")) in refinement.order:
            question.change(refinement, cause=node)

    figure.show(outcomes.drivers(rows, outcome), "effects_drivers", on_select=chosen)
    note = f"The first {outcomes.MOST} of {how_many(len(rows), 'node')}. " if len(rows) > outcomes.MOST else ""
    st.caption(
        f"{note}Each node goes from its 10% to its 90% quantile. If these are equal, it goes between that value "
        "and the median of its other values. If the mean turns in between, it goes between the values with the lowest "
        "and the highest mean. Intervals: "
        "90%. Where a direction is not decided, a mark is the average over all compatible graphs, and its interval "
        "covers both directions. Click a mark to ask about its node."
    )
    with st.expander("All of them, in numbers", icon=":material/table_rows:"):
        column = st.column_config
        columns = {"node": column.TextColumn("Node", pinned=True)}
        columns |= {name: column.NumberColumn(label, format="%.3g") for name, label in _DRIVER_NUMBERS.items()}
        columns |= {
            name: column.TextColumn(label, help=define("compatible graphs")) for name, label in _DRIVER_GRAPHS.items()
        }
        columns["shape"] = column.TextColumn("The mean", help="What it does from the 10% to the 90% quantile.")
        name = f"{downloads.file_name(refinement.run)}_drivers.csv"
        facts = partial(about, refinement.run, "effects", outcome=outcome)
        csv = tables.Csv("Download CSV", name, "effects_csv", rows, _ROWS, facts)
        table = rows.assign(**{graphs: rows[graphs].map(of_graphs) for graphs in _DRIVER_GRAPHS})
        tables.show(table, "The effect of every node on the outcome", columns, csv=csv)


_DRIVER_NUMBERS = {
    "low_value": "From",
    "high_value": "To",
    "mean_low": "Mean, from",
    "mean_high": "Mean, to",
    "difference": "Difference",
    "rate_ratio": "Ratio",
    "low": "5%",
    "high": "95%",
}
_ROWS = "One row per node. Columns graphs_… are shares of the compatible graphs, not probabilities."
_DRIVER_GRAPHS = {"graphs_more": "Graphs: more", "graphs_less": "Graphs: less", "graphs_none": "Graphs: no change"}
