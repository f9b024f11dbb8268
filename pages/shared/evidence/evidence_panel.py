"""The picked edge or node by the likelihood model of a refinement: evidence, effect, kind of count.

Numbers and sentences come first. Parts that need a fitted node follow once the likelihood is compiled elsewhere.
"""

from contextlib import suppress
from functools import partial

import streamlit as st

from disco.columns import EDGE_LINE, GAIN, OF_LINK, P_VALUE, STABILITY
from disco.errors import InputError
from disco.figures import effects
from disco.graph import EXPERIMENT
from disco.refine import Choice, Refined
from disco.refine.limits import ASSUMED, decided_means
from disco.runs import Run
from disco.runs.refined import choice_from, choice_of
from disco.words import number
from pages.shared.compute import machine
from pages.shared.evidence import (
    asking,
    evidence_words,
    hidden_causes,
    misfit,
    modelled,
    neighbours,
    shown_by_experiment,
)
from pages.shared.widgets import errors, figure, tables
from pages.shared.widgets.glossary import define
from pages.shared.widgets.names import code, plain


def edge_details(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The evidence of one edge in numbers and words, and its response curve."""
    row = evidence_words.row_of(refined, parent, child)
    if row is None:
        st.info(f"The refined graph has no edge from {code(parent)} to {code(child)}.")
        return
    choice = choice_from(choice_of(run))
    is_shown = row.get("source") == EXPERIMENT  # then it holds whatever is hidden
    if is_shown:
        with errors.said():
            st.markdown(shown_by_experiment.sentence(run, choice.margin, parent, child))
    machine.once(machine.compiled, machine.PREPARING, partial(_curve, run, refined, parent, child))
    st.markdown(f"{evidence_words.joined(refined, row)}  \n{evidence_words.direction(run, refined, row)}")
    if machine.compiled() and not is_shown:  # before, the curve says what the page waits for
        with suppress(InputError):  # Effects says it
            asking.once(run, partial(hidden_causes.strength, run, parent, child))
    with st.expander("Details: the numbers, and why the direction is known or not"):
        _details(run, refined, row, choice)


def _curve(run: Run, refined: Refined, parent: str, child: str) -> None:
    with errors.said():
        curve, observed = modelled.curve(run, refined, parent, child)
        unit = modelled.unit(run)
        figure.show(effects.response(curve, observed, parent, child, unit), "refined_response")


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
        f"The curve's line: the child's mean over all rows if the parent had this {unit} in every row and the other "
        f"parents stayed as they are. Discs: plain means of the rows with that {unit}, which differ from the line if "
        f"parents are correlated. The band is pointwise and takes the graph as given. {ASSUMED}"
    )


def _numbers(row: dict, choice: Choice) -> None:
    share = "–" if row["bootstrap"] != row["bootstrap"] else f"{row['bootstrap']:.0%}"
    more_numbers = (f"{item.label}: {evidence_words.or_not(row[item.name])}." for item in OF_LINK if item is not GAIN)
    figure.metrics(
        *((item.short, number(row[item.name]), tables.help_of(item)) for item in EDGE_LINE),
        (STABILITY.label, share, evidence_words.stability(choice)),
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
    st.caption(f"{decided_means(choice.bound)} Spread evidence: {define('spread evidence')}")
    misfit.forwards_and_reversed(run, refined, row["parent"], row["child"])


def node_details(run: Run, refined: Refined, node: str) -> None:
    """A node's causes and effects, how well the model fits it, and what kind of count it is."""
    if node not in refined.order:
        st.info(f"The refined graph has no node {code(node)}.")
        return
    graph = refined.graph()
    neighbours.section(graph, node, run, refined)
    neighbours.details(graph, node, neighbours.OF_REFINED)
    kind_details(run, refined, node)


def kind_details(run: Run, refined: Refined, node: str) -> None:
    """How well the model fits a node, and what kind of count it is."""
    misfit.of_node(refined, node)
    machine.once(machine.compiled, machine.PREPARING, partial(_kind, run, refined, node))


def _kind(run: Run, refined: Refined, node: str) -> None:
    with errors.said():
        kind = modelled.kind(run, refined, node)
        parents = modelled.parents_of(refined.edges).get(node)
        st.markdown(f"{'Given its parents' if parents else 'It has no parents'}. {plain(kind.sentence())}")
        if not kind.is_level and len(kind.counts) > 2:
            figure.show(effects.kind(kind), "refined_kind")
            st.caption(
                "The fitted distribution at rows with a middle mean, beside the nearest shapes with the same mean. "
                "Distance: the divergence in nats, averaged over all rows. From "
                f"0.01 on, the node is said to have none of these shapes. {ASSUMED}"
            )
