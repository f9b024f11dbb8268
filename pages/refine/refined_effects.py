"""What the fitted likelihood model of a refinement shows: an edge's effect, a node's kind of count, the model check."""

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.figures import effects
from disco.figures.words import number
from disco.likelihood.check import FOLDS, SIMULATIONS, Check
from disco.refine import Choice, Refined
from disco.runs import Run
from disco.runs.refined import choice_from, choice_of
from pages.refine import checking
from pages.shared import background, figure, misfit, refined_model, refined_words
from pages.shared.glossary import define
from pages.shared.names import code, distinct, plain, shown


def edge_details(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The response curve of one edge, and its evidence in words."""
    row = refined_words.row_of(refined, parent, child)
    if row is None:
        st.info(f"The refined graph has no edge from {code(parent)} to {code(child)}.")
        return
    choice = choice_from(choice_of(run))
    _numbers(row, choice)
    sentences = (
        refined_words.lacking(run, refined, row),
        refined_words.direction(run, refined, row),
        refined_words.repeats(run, row),
        refined_words.in_disco(run, parent, child),
    )
    st.markdown(" ".join(filter(None, sentences)))
    _breakdown(run, refined, row, choice)
    try:
        curve, observed = refined_model.curve(run, refined, parent, child)
    except InputError as error:
        st.error(plain(error))
        return
    unit = "level" if refined_model.is_level(run) else "count"
    figure.show(effects.response(curve, observed, parent, child, unit), "refined_response")
    st.caption(
        "The line sets the parent to each of its counts in every row, leaves the row's other parents as they are, and "
        "averages the child's mean. The discs are plain means of the rows with that count, so they differ from the "
        f"line if parents are correlated. The band is pointwise and takes the graph as given. {refined_words.ASSUMED}"
    )


def _numbers(row: dict, choice: Choice) -> None:
    shown_, wide = figure.numbers(), figure.NUMBER
    shown_.metric("Gain, nats", number(row["gain_nats"]), width=wide, help=define("edge gain"))
    for label, name, help in (
        ("Direction, nats", "direction_nats", refined_words.DIRECTION),
        ("Robust, nats", "robust_nats", refined_words.ROBUST),
    ):
        shown_.metric(label, "–" if row[name] != row[name] else number(row[name]), width=wide, help=help)
    share = "–" if row["bootstrap"] != row["bootstrap"] else f"{row['bootstrap']:.0%}"
    label, help = refined_words.stability(choice)
    shown_.metric(label, share, width=wide, help=help)
    ratio, bic = (refined_words.or_not(row[name]) for name in ("log_likelihood_nats", "bic_nats"))
    shown_.metric(
        "p-value",
        refined_words.p_value(row["p_value"]),
        width=wide,
        help=f"{refined_words.P_VALUE} Likelihood ratio in nats: {ratio}; gain in BIC: {bic}.",
    )


def _breakdown(run: Run, refined: Refined, row: dict, choice: Choice) -> None:
    """The evidence on the direction part by part, and the misfit of both nodes in either direction."""
    with st.expander("Why the direction is decided or not"):
        st.dataframe(
            refined_words.breakdown(run, refined, row),
            hide_index=True,
            key="refined_breakdown",
            width="content",
            placeholder="–",
            column_config={
                "part": st.column_config.TextColumn("Part", width=190),
                "nats": st.column_config.NumberColumn("Nats", format="%.1f", width=64, help=define("nats")),
                "asked": st.column_config.TextColumn("Required", width=130),
            },
        )
        st.caption(f"{refined_words.decided_means(choice.bound)} {refined_words.SPREAD}")
        misfit.forwards_and_turned(run, refined, row["parent"], row["child"])


def node_details(run: Run, refined: Refined, node: str) -> None:
    """What kind of count a node is, and its parents and children."""
    if node not in refined.order:
        st.info(f"The refined graph has no node {code(node)}.")
        return
    try:
        kind = refined_model.kind(run, refined, node)
    except InputError as error:
        st.error(plain(error))
        return
    misfit.of_node(refined, node)
    parents, children = refined_model.neighbours(refined, node)
    st.markdown(f"{'Given its parents' if parents else 'It has no parents'}. {plain(kind.sentence())}")
    if not kind.is_level and len(kind.counts) > 2:
        figure.show(effects.kind(kind), "refined_kind")
        st.caption(
            "The fitted distribution at rows with a middle mean, beside the nearest shapes, all with the same mean. "
            "The distance is the average divergence over all rows in nats; from "
            f"0.01 on, the node is said to have none of these shapes. {refined_words.ASSUMED}"
        )
    left, right = st.columns(2)
    _neighbours(left, "Parents", [(name, refined_words.row_of(refined, name, node)) for name in parents])
    _neighbours(right, "Children", [(name, refined_words.row_of(refined, node, name)) for name in children])


def _neighbours(place: st.delta_generator.DeltaGenerator, title: str, edges: list[tuple[str, dict]]) -> None:
    place.markdown(f"**{title}** ({len(edges)})")
    if not edges:
        place.caption("None.")
        return
    rows = pd.DataFrame(
        [(name, row["gain_nats"], "decided" if row["decided"] else "undecided") for name, row in edges],
        columns=["node", "gain", "direction"],
    )
    place.dataframe(
        rows,
        hide_index=True,
        height=min(38 + 35 * len(rows), 260),
        placeholder="not available",
        column_config={
            "node": st.column_config.TextColumn("Node"),
            "gain": st.column_config.NumberColumn("Gain, nats", format="%.1f", help=define("edge gain")),
            "direction": st.column_config.TextColumn("Direction"),
        },
    )


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
    st.caption(refined_words.ASSUMED)
