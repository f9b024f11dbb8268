"""The evidence on a picked edge or node: numbers, curves, misfit, and the columns joined to it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import networkx as nx
import pandas as pd
import streamlit as st

from disco.columns import (
    EDGE_LINE,
    EXPERIMENT,
    GAIN,
    MISFIT,
    MISFIT_PER_ROW,
    NODE_FACTS,
    OF_EDGES,
    OF_LINK,
    P_VALUE,
    STABILITY,
    VERDICT,
)
from disco.errors import InputError
from disco.graph.dag import has_direction
from disco.graph.draw import picture as drawing
from disco.refine import Choice, Refined
from disco.refine.bounds import ASSUMED
from disco.refine.reasons import is_of_kind, missed
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.refinement.figures import fitted_model
from disco.subjects.refinement.refined import choice_from, choice_of
from disco.words import how_many, listed, nats, number, plural
from pages.shared.compute import machine
from pages.shared.evidence import evidence_words, modelled, questions
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import errors, figure, tables
from pages.shared.widgets.names import bullets, code, define, plain


def edge_details(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The evidence of one edge in numbers and words, and its response curve."""
    row = evidence_words.row_of(refined, parent, child)
    if row is None:
        st.info(f"The graph of the search has no edge from {code(parent)} to {code(child)}.")
        return
    choice = choice_from(choice_of(run))
    is_shown = row.get("source") == EXPERIMENT  # then it holds whatever is hidden
    if is_shown:
        with errors.caught():
            st.markdown(evidence_words.sentence(run, choice.margin, parent, child))
    machine.once(machine.compiled, machine.PREPARING, partial(_curve, run, refined, parent, child))
    st.markdown(f"{evidence_words.joined(refined, row)}  \n{evidence_words.direction(run, refined, row)}")
    if machine.compiled() and not is_shown:  # before, the curve says what the page waits for
        with suppress(InputError):  # Effects says it
            questions.once(run, partial(questions.strength, run, parent, child))
    with st.expander("Details: the numbers, and why the direction is known or not"):
        _details(run, refined, row, choice)


def _curve(run: Run, refined: Refined, parent: str, child: str) -> None:
    with errors.caught():
        curve, observed = modelled.curve(run, refined, parent, child)
        unit = modelled.unit(run)
        figure.show(fitted_model.response(curve, observed, parent, child, unit), "refined_response")
        if len(modelled.parents_of(refined.edges)[child]) > 1:
            st.caption(
                f"Line: the other parents of {code(child)} stay as they are; on Effects, all that follows from "
                f"{code(parent)} changes with it. Discs: plain means of the rows, in which the other parents vary too."
            )


def _details(run: Run, refined: Refined, row: dict, choice: Choice) -> None:
    _numbers(row, choice)
    sentences = (
        evidence_words.lacking(run, refined, row),
        evidence_words.repeats(run, row),
        evidence_words.in_disco(run, row["parent"], row["child"]),
    )
    st.markdown(" ".join(filter(None, sentences)))
    _breakdown(run, refined, row, choice)
    unit = modelled.unit(run)
    st.caption(
        f"The curve's line: the child's mean over all rows if the parent had this {unit} in every row. The band is "
        f"pointwise and takes the graph as given. {ASSUMED}"
    )


def _numbers(row: dict, choice: Choice) -> None:
    more_numbers = (f"{item.label}: {evidence_words.or_not(row[item.name])}." for item in OF_LINK if item is not GAIN)
    lines = [(item.short, number(row[item.name]), tables.help_of(item), row[item.name]) for item in EDGE_LINE]
    lines.append((STABILITY.label, f"{row['bootstrap']:.0%}", evidence_words.stability(choice), row["bootstrap"]))
    figure.metrics(
        *(line for *line, value in lines if pd.notna(value)),
        (P_VALUE.label, evidence_words.p_value(row["p_value"]), " ".join([tables.meaning(P_VALUE), *more_numbers])),
    )


def _breakdown(run: Run, refined: Refined, row: dict, choice: Choice) -> None:
    config = {
        "part": st.column_config.TextColumn("Part", width=190),
        "nats": st.column_config.NumberColumn("Nats", format="%.1f", width=64, help=define("nats")),
        "asked": st.column_config.TextColumn("Required", width=130),
    }
    rows = evidence_words.breakdown(run, refined, row)
    options = {"key": "refined_breakdown", "width": "content", "placeholder": "–"}
    tables.show(rows, "Evidence on the direction, part by part", config, **options)
    arrow = f"{code(row['parent'])} → {code(row['child'])}"
    st.caption(f"All evidence on the direction is for {arrow}; a negative number is for the reverse.")
    forwards_and_reversed(run, refined, row["parent"], row["child"])


def kind_details(run: Run, refined: Refined, node: str) -> None:
    """How well the model fits a node, and what kind of count it is."""
    of_node(refined, node)
    machine.once(machine.compiled, machine.PREPARING, partial(_kind, run, refined, node))


def _kind(run: Run, refined: Refined, node: str) -> None:
    with errors.caught():
        kind = modelled.kind(run, refined, node)
        parents = modelled.parents_of(refined.edges).get(node)
        st.markdown(f"{'Given its parents' if parents else 'It has no parents'}. {plain(kind.sentence())}")
        if not kind.is_level and len(kind.counts) > 2:
            figure.show(fitted_model.kind(kind), "refined_kind")
            st.caption(
                "The fitted distribution at rows with a middle mean, beside the nearest shapes with the same mean. "
                "Distance: the divergence in nats, averaged over all rows. At "
                f"0.01 or more, the node counts as having none of these shapes. {ASSUMED}"
            )


_MOST_NAMED = 6
# Between columns whose order in time is certain (benchmarks/log/2026-11-22-honest-directions.md).
_WRONG = "On 47 public tables, 118 of 244 arrows that an earlier rule called decided, whatever the misfit, were wrong."
_KEPT = "reversed_misfit"  # session key: the measured misfits by run, refinement and edge


def note(refinement: Refinement | None) -> None:
    """One line on the pages of the fit if the refinement's model does not fit the table; nothing otherwise."""
    nodes = None if refinement is None else refinement.refined.nodes
    if nodes is not None and not is_of_kind(nodes):
        st.caption(
            f":material/warning: The model of the likelihood search does not fit {len(missed(nodes))} of "
            f"{how_many(len(nodes), 'node')}. An edge says that two columns are related, not which comes first."
        )


def worst(refined: Refined) -> None:
    """Name the poorly fitted nodes; nothing if none is. The verdict says whether the model fits the table."""
    nodes = refined.nodes
    if nodes is None or (poor := missed(nodes)).empty:
        return
    named = [f"{code(row.node)} ({nats(row.misfit_nats)})" for row in poor.itertuples()]
    sentence = f"Fits worst: {listed(named, _MOST_NAMED)}."
    if is_of_kind(nodes):
        few = f"{len(poor):,} of {how_many(len(nodes), 'node')} {plural(len(poor), 'is', 'are')} poorly fitted"
        st.warning(f"**{few}: the arrows there are hypotheses.** {sentence}", icon=":material/rule:")
        return
    st.caption(f":material/warning: {sentence} Any arrow is a hypothesis.", help=_WRONG)


def of_node(refined: Refined, node: str, *, of_refined: bool = False) -> None:
    """A node's misfit in nats and per row, and what it means; nothing if it was not measured.

    With `of_refined`, say that it was measured given the parents in the refined graph.
    """
    if refined.nodes is None:
        return
    row = refined.nodes.set_index("node").loc[node]
    figure.metrics(*((item.label, number(row[item.name]), tables.meaning(item)) for item in (MISFIT, MISFIT_PER_ROW)))
    if row["is_poor"]:
        st.warning("This node is poorly fitted: its arrows are hypotheses.", icon=":material/rule:")
    if of_refined:
        st.caption("Measured given its parents in the graph of the likelihood search.")


def marked(graph: nx.DiGraph, refined: Refined | None) -> nx.DiGraph:
    """The graph with the misfit on its nodes, for pictures."""
    if refined is None or refined.nodes is None:
        return graph
    copy, nodes = graph.copy(), refined.nodes.set_index("node")
    for name, kind in NODE_FACTS.items():
        nx.set_node_attributes(copy, {node: kind(nodes[name][node]) for node in copy}, name)
    return copy


def forwards_and_reversed(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The misfit of an edge's two nodes with the edge as found and reversed; measured on request, and cached."""
    measured = st.session_state.setdefault(_KEPT, {})
    question = (str(run.path), stamps.refinement(run), parent, child)
    slot = st.empty()
    if question not in measured:
        if not slot.button(
            "Misfit with the edge reversed",
            key="refined_reversed_misfit",
            icon=":material/sync_alt:",
            disabled=not machine.compiled(),
            help="How well the model fits both nodes with the edge as found and with the edge reversed.",
        ):
            return
        with slot, errors.caught(), st.spinner("Fitting both nodes, with the edge as found and reversed …"):
            measured[question] = modelled.reversed_misfits(run, refined, parent, child)
        if question not in measured:
            return
    with slot.container():
        _show_reversed(measured[question])


def _show_reversed(misfits: pd.DataFrame) -> None:
    column = st.column_config
    config = {
        "node": column.TextColumn(MISFIT.label, width=160, help=tables.meaning(MISFIT)),
        "forwards": column.NumberColumn("As found", format="%.1f", width=90, help="With the edge as found."),
        "reversed": column.NumberColumn(
            "Reversed", format="%.1f", width=90, help="With the edge reversed; all other parents stay."
        ),
    }
    options = {"key": "refined_reversed", "width": "content", "placeholder": "not available"}
    tables.show(misfits, "Misfit of both nodes, with the edge as found and reversed", config, **options)
    st.caption(
        "If the model fits in neither direction, its direction evidence says little. A better fit in one direction is "
        "a hint, not proof."
    )


_MOST = 6  # columns in each group of sentences; each may need a fitted node
_NONE = "No column is joined to it in this graph."
_ONLY_DISCO = "only DISCO found this link."
_CAUSE, _EFFECT, _JOINED = "cause", "effect", "not known"
_TITLES = {_CAUSE: "Causes", _EFFECT: "Effects", _JOINED: "Joined to it, direction not known"}
OF_REFINED = ("gain_nats",)  # the numbers of a refined graph's edges


def neighbours(graph: nx.DiGraph, node: str, run: Run, refined: Refined | None) -> None:
    """The node's causes, its effects and the columns joined to it, each group strongest first.

    The model of `refined` predicts the sizes of the effects; it is None if the graph is not its graph.
    """
    edges = _edges(graph, node)
    groups = {
        title: names for title in _TITLES if (names := [neighbour for neighbour, is_, _ in edges if is_ == title])
    }
    if not groups:
        st.caption(_NONE)
    elif refined is None:
        _write(groups, lambda _, neighbour: code(neighbour))
    else:
        words = partial(_words, run, refined, node)
        machine.once(machine.compiled, machine.PREPARING, partial(_write, groups, words))


def neighbour_numbers(judged: nx.DiGraph, node: str, numbers: Sequence[str]) -> None:
    """Some numbers of a node's edges, and their verdicts if the lines show a truth."""
    rows = [{"node": neighbour, "is": is_, **values} for neighbour, is_, values in _edges(judged, node)]
    if not rows:
        return
    names = ["node", "is", *numbers, *(["verdict"] if any("verdict" in row for row in rows) else [])]
    text = st.column_config.TextColumn
    values = [OF_EDGES[name] for name in numbers]
    config = {
        "node": text("Column", width=76),
        "is": text("Is its", width=72, help="Cause or effect, if the direction of the edge is known."),
        "verdict": text(VERDICT.label, width=74, help=VERDICT.help),
        **tables.config(values, is_narrow=True),
    }
    if missing := sum(row.get("verdict") == "missing" for row in rows):
        st.caption(f"{missing} missing: joined to it according to the truth, but not in this graph.")
    with st.expander("Details: the numbers"):
        frame = tables.rounded(pd.DataFrame(rows).reindex(columns=names), values)
        tables.show(frame, "The columns joined to the node", config, max_height=260, placeholder="–")


def _edges(graph: nx.DiGraph, node: str) -> list[tuple[str, str, dict]]:
    edges = [(parent, _CAUSE, values) for parent, _, values in graph.in_edges(node, data=True)]
    edges += [(child, _EFFECT, values) for _, child, values in graph.out_edges(node, data=True)]
    edges.sort(key=lambda edge: -drawing.strength(edge[2]))
    return [(neighbour, is_ if has_direction(values) else _JOINED, values) for neighbour, is_, values in edges]


def _write(groups: dict[str, list[str]], words: Callable[[str, str], str]) -> None:
    with errors.caught():
        for is_, names in groups.items():
            count = how_many(len(names), "column")
            lines = [words(is_, neighbour) for neighbour in names[:_MOST]]
            lines += [f"and {len(names) - _MOST:,} more, under Details."] if len(names) > _MOST else []
            order = ", strongest first" if len(names) > 1 else ""
            st.markdown(f"**{_TITLES[is_]}** ({count}{order})\n\n{bullets(lines)}")


def _words(run: Run, refined: Refined, node: str, is_: str, neighbour: str) -> str:
    """What happens to one column where the other changes; of an unknown direction, only whether they rise together."""
    parents = modelled.parents_of(refined.edges)
    if neighbour in parents.get(node, []):
        parent, child = neighbour, node
    elif node in parents.get(neighbour, []):
        parent, child = node, neighbour
    else:
        return f"{code(neighbour)}: {_ONLY_DISCO}"
    curve, _ = modelled.curve(run, refined, parent, child)
    if is_ != _JOINED:
        return fitted_model.response_words(curve, parent, child, code)
    return fitted_model.joint_words(curve, parent, child, neighbour, code)
