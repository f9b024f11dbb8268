"""What the experiment says, beside what the graphs say: the lower half of the Portal page."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from disco import portal
from disco.figures import portal as figures
from disco.words import how_many
from pages.portal.search import Searched
from pages.shared.frame import answers, figure, table
from pages.shared.frame.names import plain
from pages.shared.work.facts import fact


def section(species: Sequence[str], found: Searched | None, is_adjusted: bool) -> None:
    """The figure, the verdict on every pair, and what they teach.

    Args:
        found: the graphs, once they were searched.
        is_adjusted: whether the second graph is adjusted for anything.
    """
    st.subheader("What the experiment says", anchor=False)
    st.markdown(
        "Gates keep kangaroo rats (*Dipodomys*: DM, DO, DS) out of the *krat exclosures* and let smaller rodents pass. "
        "So the captures there, over those on the controls, are what taking kangaroo rats away does."
    )
    _figure(species)
    if found is None:
        st.caption("Search both graphs above to see what they say of these pairs.")
    elif found.said_alone.empty:
        st.caption("Choose kangaroo rats and another species above: the experiment is about such pairs.")
    else:
        _verdicts(found, is_adjusted)
    _lesson()


def _figure(species: Sequence[str]) -> None:
    words = {name: one.words[0].upper() + one.words[1:] for name, one in portal.COMPARISONS.items()}
    help = "The verdicts below take all exclosures since 1988, the most plots."
    key = answers.segments("Plots compared with controls", words, "portal_comparison", "all", help)
    comparison = portal.COMPARISONS[key]
    measured, plots = _measured(tuple(species), comparison)
    figure.show(figures.effects(measured, plots, comparison.words), "portal_effects")
    closed, sessions = int((~plots["is_control"]).sum()), int(plots["sessions"].iloc[0])
    st.caption(
        f"{how_many(closed, 'plot')} against {len(plots) - closed} controls, in the {sessions} sessions "
        f"{comparison.first}–{comparison.last} in which every control had captures, so that all plots were trapped; a "
        "plot without a row then counts as 0. Intervals: 95 %, Welch's t of the log ratio with plots as units. Few "
        "plots make them wide."
    )


@fact(lambda *given: given, 32)
def _measured(species: tuple[str, ...], comparison: portal.Comparison) -> tuple[pd.DataFrame, pd.DataFrame]:
    return portal.experiment(species, comparison), portal.plot_means(species, comparison)


def _verdicts(found: Searched, is_adjusted: bool) -> None:
    """One row per pair: the experiment's ratio, and each graph's arrow with the verdict on it."""
    st.markdown("**What each graph says of kangaroo rats and each species**")
    said = found.said_adjusted if is_adjusted else found.said_alone
    ratio = [ratio_words(one.ratio, one.low, one.high) for one in said.itertuples()]
    pair = ["species"] if said["cause"].nunique() == 1 else ["cause", "species"]
    rows = said[pair].assign(experiment=ratio, alone=_claims(found.said_alone))
    rows["verdict_alone"] = found.said_alone["verdict"]
    if is_adjusted:
        rows = rows.assign(adjusted=_claims(said), verdict_adjusted=said["verdict"])
    text = st.column_config.TextColumn
    over = "Captures with kangaroo rats kept out, over those on controls."
    columns = {
        "cause": text("Kept out", pinned=True, width=105),
        "species": text("Species", pinned=True, width=95),
        "experiment": text("Experiment", width=150, help=over),
        "alone": text("Graph, counts alone", help=_CLAIM),
        "verdict_alone": text("Verdict, alone", help=_VERDICT),
        "adjusted": text("Graph, adjusted", help=_CLAIM),
        "verdict_adjusted": text("Verdict, adjusted", help=_VERDICT),
        "why": text("Why, adjusted" if is_adjusted else "Why", width=270),
    }
    alt = "Pairs of kangaroo rats and another species: experiment, graphs and verdicts"
    table.show(rows.assign(why=said["why"]), alt, columns, most=400)
    counted = said["verdict"].value_counts()
    parts = [f"**{int(counted.get(one, 0))}** {one}" for one in (portal.SUPPORTED, portal.CONTRADICTED, portal.OPEN)]
    st.markdown(f"{'Adjusted' if is_adjusted else 'By the counts alone'}: {', '.join(parts)}.")


def ratio_words(ratio: float, low: float, high: float) -> str:
    """A ratio with its interval; without one, a mean is 0."""
    return "too few caught" if math.isnan(low) else f"× {ratio:.2f} ({low:.2f} to {high:.2f})"


_CLAIM = (
    "The arrow between the two, from the kangaroo rats (→) or to them (←), and whether its direction is decided. "
    "With →, the effect that its curve gives taking them away, to be held against the experiment's."
)
_VERDICT = (
    "Supported: the direction is decided, and it and the sign of the effect are the experiment's. Contradicted: the "
    "other way, the other sign, or no way for an effect that the experiment shows. Otherwise nothing can be said."
)


def _claims(said: pd.DataFrame) -> list[str]:
    """What a graph says of every pair, in words."""
    found = []
    for one in said.itertuples():
        effect = f" × {one.without:.2f}" if one.arrow == portal.FORWARD else ""
        sure = "" if one.arrow in (portal.INDIRECT, portal.NONE) else ", decided" if one.decided else ", open"
        found.append(f"{one.arrow}{effect}{sure}")
    return found


def _lesson() -> None:
    """What no simulation teaches."""
    st.info(
        "**Observation alone does not recover the suppression here.** With kangaroo rats kept out, pocket mice are "
        "caught about twice as often. On the controls the counts alone give an arrow with an effect of that sign, but "
        "its direction stays open, and adjusted for plot, year and month the effect is gone: these drive both. What "
        "is left for observation is little, for on the controls kangaroo rats are never away for long: 2 % of the "
        "plot-months are without them, and no plot has a year with fewer than one per session.",
        icon=":material/school:",
    )
    st.caption(plain(portal.CREDIT))
