"""The two thresholds of parent selection, shared by Parents and Graph."""

import streamlit as st

from disco.figures.words import share
from pages.parts import session
from pages.parts.results import Result

HIGHEST = 5.0  # of the slider; Z above it is beyond doubt for any choice


def sliders(result: Result, where: str) -> tuple[float, float]:
    """(τ_Z, π_min) as the reader sets them; they start at the run's own."""
    tau_z, pi_min = session.thresholds()
    folds = result.folds
    options = [k / folds for k in range(1, folds + 1)]
    left, right = st.columns([3, 2], gap="large")
    tau_key, pi_key = f"tau_z_{where}_{result.run.id}", f"pi_min_{where}_{result.run.id}"
    st.session_state[tau_key] = float(tau_z)
    # Any π_min asks for the same folds as the next multiple of 1/B above it.
    st.session_state[pi_key] = next(option for option in options if option >= min(pi_min, 1.0) - 1e-9)

    def keep() -> None:
        session.set_thresholds(st.session_state[tau_key], st.session_state[pi_key])

    tau_z = left.slider(
        "Threshold τ_Z", 0.0, max(HIGHEST, float(tau_z)), step=0.05, key=tau_key, on_change=keep,
        help="A candidate passes in a fold when its standardised OCS, Z, is above it. The default is 2; the paper's "
        "own comparison finds 1 better in all three families it tries.",
    )  # fmt: skip
    pi_min = right.select_slider(
        "Folds that must agree, π_min", options, key=pi_key, on_change=keep,
        format_func=lambda value: share(round(value * folds), folds),
        help="An edge is kept when it passes in at least this share of the folds. The default is all.",
    )  # fmt: skip
    return tau_z, pi_min
