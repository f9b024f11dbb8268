"""Simulate: size and seed of the table, and what makes it harder to order."""

import secrets

import streamlit as st

from disco.simulate.sources import SOURCES
from pages.simulate import simulate_form

UNSORTABLE = ("random_signs", "equal_means", "equal_variances")


def choose() -> None:
    """Rows, seed and what makes the table harder."""
    left, right, dice = st.columns([4, 4, 1.4], vertical_alignment="bottom")
    with left:
        simulate_form.number("rows", "Rows n", "Fewer rows are the first rows of more.", min_value=0, step=500)
    with right:
        simulate_form.number(
            "seed", "Seed", "The same design and seed give the same table on every machine.", min_value=0, step=1
        )
    dice.button(
        ":material/casino:",
        help="A random seed.",
        key="sim_dice",
        width="stretch",
        on_click=lambda: simulate_form.change(seed=secrets.randbelow(1_000_000)),
    )
    now = simulate_form.form()
    st.session_state["sim_unsortable"] = all(getattr(now, name) for name in UNSORTABLE)
    st.toggle(
        "Unsortable",
        key="sim_unsortable",
        on_change=_unsortable_changed,
        help="No column gives its place away by its mean or variance: random signs, equal means and equal variances.",
    )
    _harder(now)


def _unsortable_changed() -> None:
    simulate_form.change(**dict.fromkeys(UNSORTABLE, st.session_state["sim_unsortable"]))


def _harder(now: simulate_form.Form) -> None:
    """The options that make a table harder: signs, means, variances, exposure, interactions, hidden causes, shapes."""
    with st.expander("Make it harder", icon=":material/fitness_center:", key="sim_harder", on_change="rerun"):
        st.caption(
            "Effects that only add up make mean and variance grow along the causal order, so that sorting the "
            "columns orders them. With these three it cannot:"
        )
        simulate_form.switch("random_signs", "Random signs", "Each effect is negative with probability 1/2.")
        simulate_form.switch("equal_means", "Equal means", "Intercepts are set so that all columns have the same mean.")
        simulate_form.switch(
            "equal_variances",
            "Equal variances",
            "Effects are scaled so that all columns have the same variance; needs equal means.",
            disabled=not now.equal_means,
        )
        _breaking()
        st.caption("These change what the columns look like, not what can be known:")
        simulate_form.choice("sources", "Nodes without parents", list(SOURCES), _shape)
        simulate_form.number(
            "spread",
            "Unequal spreads",
            "The largest standard deviation is about this many times the smallest. 1: as the families have them.",
            min_value=0.05,
            max_value=20.0,
            step=1.0,
            format="%g",
        )
    if used := _used(now):
        st.caption(f"On: {', '.join(used)}.".replace("latent", "hidden causes"))


def _breaking() -> None:
    """Exposure, interactions and hidden causes, which the method assumes are not there."""
    st.caption("These break what the method assumes:")
    simulate_form.number(
        "exposure",
        "Exposure",
        "Standard deviation of a row's log exposure, such as sequencing depth: a factor on "
        "every mean of the row. 0: none.",
        min_value=0.0,
        step=0.1,
        format="%g",
    )
    simulate_form.number(
        "interactions",
        "Interactions",
        "Share of each effect, 0 to 1, that comes from pairs of parents.",
        min_value=0.0,
        step=0.1,
        format="%g",
    )
    simulate_form.number(
        "latent",
        "Hidden common causes",
        "Each acts on two columns and is not a column itself.",
        min_value=0,
        step=1,
    )


def _used(now: simulate_form.Form) -> list[str]:
    """The options that the design uses."""
    used = [name.replace("_", " ") for name in UNSORTABLE if getattr(now, name)]
    used += [f"{name} {getattr(now, name):g}" for name in ("exposure", "interactions", "latent") if getattr(now, name)]
    used += [f"{now.sources} sources"] if now.sources != "family" else []
    return used + ([f"spread {now.spread:g}"] if now.spread != 1 else [])


def _shape(key: str) -> str:
    """A shape of sources in words."""
    return "As the family has them" if key == "family" else f"{key.capitalize()}: {SOURCES[key]}"
