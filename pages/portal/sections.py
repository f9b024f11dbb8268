"""The sections of Portal: what the experiment changed, the choice of the table, both graphs, and verdicts on them.

Owns the keys `portal_…`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from disco import experiments
from disco.experiments.contrasts import MARGIN
from disco.experiments.rules import OPEN, VERDICTS
from disco.metrics.consensus import Comparison
from disco.refine import QUICK
from disco.runs import Run
from disco.subjects.experiments import figures
from disco.subjects.studies import portal
from disco.table.adjustment import CATEGORICAL, CONTINUOUS
from disco.table.prepared import prepare
from disco.table.roles import Roles
from disco.words import how_many, listed, ratio, series
from pages.shared.compute.cache import cached
from pages.shared.evidence import evidence_words
from pages.shared.graph import paired
from pages.shared.result import refinement
from pages.shared.widgets import answers, errors, figure, tables
from pages.shared.widgets.names import plain
from pages.shared.work import group

_OPEN = "All numbers, the graph of these plots with what the experiment says of its arrows, and the next experiment."
_NAMED = 4  # species in a title


def lesson() -> None:
    """What the study teaches, in the usual comparison."""
    contrasts = _contrasts(portal.ALL, portal.USUAL).set_index("node")
    mice, missed = contrasts.loc[portal.POCKET_MICE], contrasts[contrasts["changed"]].drop(portal.POCKET_MICE)
    missed = missed[~missed["expected"].between(missed["low"], missed["high"])]
    species = [
        f"{portal.called(name)}, {ratio(row.ratio)} times as often (predicted: {ratio(row.expected)})"
        for name, row in missed.iterrows()
    ]
    also = f" Also missed: {'; '.join(species)}." if species else ""
    times, low, high, expected = map(ratio, mice[["ratio", "low", "high", "expected"]])
    st.info(
        f"**Without kangaroo rats, pocket mice are caught {times} times as often** ({low} to {high}). **The control "
        f"plots alone predict {expected} times.** Observation misses the effect because on the controls kangaroo rats "
        f"are never away for long: only 2% of the plot-months are without them.{also}",
        icon=":material/school:",
    )


def experiment(species: tuple[str, ...]) -> None:
    """The effects on these species, then the choice of plots and the button that opens them on Experiments."""
    container = st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    chosen = row.selectbox(
        "Plots compared with the controls",
        list(portal.COMPARISONS),
        key="portal_comparison",
        format_func=lambda name: name[0].upper() + name[1:],
        width=380,
    )
    with container, errors.caught():
        contrasts = _contrasts(chosen, species)
        names = {name: portal.called(name) for name in contrasts["node"]}
        title = _title(contrasts, "while the plots were open" if chosen == portal.OPEN else "without kangaroo rats")
        figure.show(figures.forest(contrasts, MARGIN, several=False, names=names, title=title), "portal_forest")
        example = _example(chosen, species)
        st.caption(
            f"{portal.compared(example['table'])} Intervals: 95%, with plots as units. Grey band: "
            f"within {100 * MARGIN:g}% of the controls, which counts as the same."
        )
        if row.button("Open on Experiments", icon=":material/science:", key="portal_open", help=_OPEN):
            group.open_one(example, QUICK, "experiments")


def verdicts(runs: Mapping[str, Run], species: tuple[str, ...]) -> None:
    """For every other species: the experiment, and each graph's arrow between it and kangaroo rats, with a verdict."""
    st.subheader("The graphs against the experiment", anchor=False)
    if portal.KANGAROO_RATS not in species or len(species) < 2:
        st.caption(
            "The experiment keeps all kangaroo rats out together: choose *kangaroo rats* and another species to see "
            "what it says of the arrows between them."
        )
        return
    contrasts = _contrasts(portal.ALL, species)
    rows, conclusion, supported = pd.DataFrame({"node": contrasts["node"].map(_short)}), st.container(), 0
    text = st.column_config.TextColumn
    columns = {"node": text("Species", pinned=True, width=146)}  # on a phone the verdicts fit beside it
    for label, run in runs.items():
        if (refined := refinement.readable(run)) is None:
            continue
        verdict_rows = experiments.arrows(refined.edges, contrasts)
        responses = verdict_rows.assign(
            node=verdict_rows["child"].where(verdict_rows["parent"] == portal.KANGAROO_RATS, verdict_rows["parent"])
        )
        responses = responses.set_index("node")
        rows[label] = [
            _claim(responses.loc[name]) if name in responses.index else "no edge" for name in contrasts["node"]
        ]
        columns[label] = text(f"Graph, {label}", help=_CLAIM, width=106)
        counted, changed = verdict_rows["verdict"].value_counts(), contrasts.loc[contrasts["changed"], "node"]
        verdict = series([f"{words} {int(counted[kind])}" for kind, words in _WORDS.items() if kind in counted])
        open_ = int(counted.get(OPEN, 0))
        supported += int(counted.get(VERDICTS[0], 0))
        missed = f"{int((~changed.isin(responses.index)).sum())} of the {len(changed)} species that changed"
        st.markdown(
            f"**Graph, {label}**, has {how_many(len(verdict_rows), 'edge')} with kangaroo rats. The "
            f"experiment {verdict or 'judges none'}. The graph has no direction for {open_} of them, and no edge to "
            f"{missed}."
        )
    if not supported and contrasts["changed"].any():
        conclusion.markdown(
            "**No graph from observations has an arrow from kangaroo rats that the experiment supports.**"
        )
    rows["experiment"] = list(map(_ratio, contrasts.itertuples()))
    columns["experiment"] = text("Without kangaroo rats", help="Captures over those on the controls, 95% interval.")
    tables.show(rows, "Every species: the experiment, and the verdict on each graph's arrow", columns, max_height=400)
    st.markdown("A search of the trial itself uses what the experiment shows: *Open on Experiments*, above.")


_PHRASES = ("supports", "contradicts", "refutes the predicted effect of", "cannot judge")
_WORDS = dict(zip(VERDICTS[:-1], _PHRASES, strict=True))
_CLAIM = (
    "The arrow from kangaroo rats (→) or to them (←) with the verdict of the experiment, which cannot say anything of "
    "an open direction."
)


def _claim(edge: pd.Series) -> str:
    arrow = "" if edge["verdict"] == OPEN else "→ " if edge["parent"] == portal.KANGAROO_RATS else "← "
    return f"{arrow}{edge['verdict']}"


def _short(name: str) -> str:
    """A species as a biologist shortens it: P. maniculatus (PM)."""
    full_name = portal.called(name)
    return f"{full_name[0]}. {full_name.partition(' ')[2]}" if name in portal.SPECIES else full_name


def _ratio(row: object) -> str:
    return "too few counts" if pd.isna(row.low) else f"× {ratio(row.ratio)} ({ratio(row.low)} to {ratio(row.high)})"


def _title(contrasts: pd.DataFrame, where: str) -> str:
    phrases = []
    for words, side in (("more", contrasts["ratio"] > 1), ("less", contrasts["ratio"] < 1)):
        names = [portal.SPECIES.get(name, name) for name in contrasts.loc[contrasts["changed"] & side, "node"]]
        if names:
            phrases.append(f"caught {words} often {where}: {listed(names, _NAMED)}")
    text = "; ".join(phrases) or f"no species differed for sure {where}"
    return text[0].upper() + text[1:]


@cached(lambda comparison, species: (comparison, species))
def _example(comparison: str, species: tuple[str, ...]) -> dict[str, Any]:
    return portal.example(comparison, species)


@cached(lambda comparison, species: (comparison, species))
def _contrasts(comparison: str, species: tuple[str, ...]) -> pd.DataFrame:
    contrasts = experiments.contrasts(prepare(*portal.trial(comparison, species)))
    return contrasts.sort_values(["q_value", "p_value"], ignore_index=True)


_CHANGES = {
    "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
    "new": "Only in the adjusted graph: plot, year or month hid it.",
}


def both_graphs(runs: Mapping[str, Run], titles: Sequence[str]) -> None:
    """The number of edges of either and of both, both graphs, and a table; of a single run the same twice.

    Args:
        runs: two refined runs by label, or one.
        titles: what each graph is, in Markdown; the number of edges precedes it, and that of decided ones follows.
    """
    read = {
        label: refinement_of.refined.found for label, run in runs.items() if (refinement_of := refinement.readable(run))
    }
    if not read:
        return
    both = read if len(read) > 1 else {**read, "the same": next(iter(read.values()))}
    pair = paired.Pair(Comparison.of(both), *both, tuple(both), _CHANGES)
    paired.numbers(pair)
    decided = [int(graph.edges["decided"].sum()) for graph in both.values()]
    captions = [f"{title}, {sure} decided" for title, sure in zip(titles, decided, strict=True)]
    full = [f"**{plain(name)}**: {plain(portal.NAMES[name])}" for name in pair.results.nodes if name in portal.NAMES]
    caption = {"caption": " · ".join(full)} if full else {}
    paired.graphs(pair, "portal", captions, height=360, names=portal.NAMES, **caption)
    for label, graph in read.items():
        if note := evidence_words.removed(graph.notes):
            st.caption(f":material/info: {label.capitalize()}: {plain(note)}")
    with st.expander("Every edge, with its numbers", icon=":material/table_rows:"):
        paired.edges(pair, "portal", "portal_edges.csv")
        for label, graph in read.items():
            for note in graph.notes:
                st.caption(f"{label.capitalize()}: {plain(note)}")


_KINDS = {"none": None, "smooth": CONTINUOUS, "factor": CATEGORICAL}


def choose() -> tuple[tuple[str, ...], tuple[str, ...], Roles]:
    """The kinds of plots, the species and groups in the order of the list, and the roles of plot_id, year and month."""
    every = [*portal.GROUPS, *portal.SPECIES]
    with st.expander("Other plots, species or adjustments", icon=":material/tune:"):
        plots = st.multiselect(
            "Plots",
            portal.PLOTS,
            default=[portal.CONTROL],
            key="portal_plots",
            help="The controls are observation alone. With exclosures among them the experiment is part of the table, "
            "and adjusting for the plot takes it out again.",
        )
        species = st.multiselect(
            "Species",
            every,
            default=list(portal.USUAL),
            key="portal_species",
            format_func=_species,
            help="Each becomes a column; a group is the sum of its species.",
        )
        with st.container(horizontal=True, gap="medium"):
            plot = _kind("Plot", "factor", ("none", "factor"), "Each plot has its own level of every species.")
            year = _kind("Year", "factor", tuple(_KINDS), "A factor predicts left-out rows better than a smooth curve.")
            month = _kind("Month", "smooth", tuple(_KINDS), "A smooth curve predicts left-out rows better.")
    return tuple(plots), tuple(name for name in every if name in species), portal.adjusted(plot, year, month)


def table(plots: tuple[str, ...], species: tuple[str, ...]) -> pd.DataFrame | None:
    """The captures chosen; None, with the reason on the page, if they make no table."""
    with errors.caught():
        return _table(plots, species)
    return None


_table = cached(lambda *chosen: chosen)(portal.table)


def _species(name: str) -> str:
    return f"{name} ({', '.join(portal.GROUPS[name])})" if name in portal.GROUPS else f"{name} {portal.SPECIES[name]}"


def _kind(label: str, usual: str, kinds: tuple[str, ...], help: str) -> str | None:
    words = {kind: kind.capitalize() for kind in kinds}
    return _KINDS[answers.segments(f"Adjust for {label.lower()}", words, f"portal_{label.lower()}", usual, help)]
