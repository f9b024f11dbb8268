"""The rule of parent selection and its thresholds, and what to try if hardly any edge passes."""

import streamlit as st

from disco.paper import jackknife
from disco.paper.ocs import reaches
from disco.selectors.sparse import LOWER, is_sparse, other_rules
from disco.words import how_many, share
from pages.shared import session
from pages.shared.result.fit import Result
from pages.shared.widgets.answers import valid
from pages.shared.widgets.glossary import define

HIGHEST = 5.0  # of the slider; a higher Z passes any sensible threshold
RULES = {"jackknife": "Agreement of the folds", "iqr": "The paper's: median and IQR"}


def present(result: Result) -> tuple[float, float]:
    """(τ_Z, π_min) as the reader set them, or the rule's defaults."""
    return session.shown.thresholds.current(result.rule) or result.thresholds


def sliders(result: Result, where: str) -> tuple[float, float]:
    """Draw the rule and its thresholds; return (τ_Z, π_min), which start at the rule's defaults."""
    rule_box, middle, right = st.container(key=f"beside_thresholds_{where}").columns([3, 4, 3], gap="medium")
    with rule_box:
        _rule(result, where)
    defaults, folds = result.thresholds, result.folds
    tau_z, pi_min = session.shown.thresholds.current(result.rule) or defaults
    options = [k / folds for k in range(1, folds + 1)]
    names = ("tau_z", "pi_min", "own")
    tau_key, pi_key, own_key = (f"{name}_{where}_{result.rule}_{result.run.id}" for name in names)
    st.session_state[tau_key] = float(tau_z)

    def keep() -> None:
        session.shown.thresholds.keep((st.session_state[tau_key], st.session_state.get(pi_key, pi_min)), result.rule)

    with middle:
        tau_z = st.slider(
            "Threshold on Z (τ_Z)",
            0.0,
            max(HIGHEST, float(tau_z)),
            step=_STEP[result.rule],
            key=tau_key,
            on_change=keep,
            help=_HELP[result.rule],
        )
        # Always there, so nothing moves; the other threshold does not change.
        st.button(
            f"Back to τ_Z = {defaults[0]:.3g}",
            key=own_key,
            type="tertiary",
            icon=":material/undo:",
            disabled=tau_z == defaults[0],
            on_click=session.shown.thresholds.keep,
            args=((defaults[0], pi_min), result.rule),
        )
    with right:
        if result.rule == "iqr":
            # Any π_min requires the same folds as the next multiple of 1/B above it.
            st.session_state[pi_key] = next(option for option in options if reaches(option, min(pi_min, 1.0)))
            pi_min = st.select_slider(
                "Folds that must agree, π_min",
                options,
                key=pi_key,
                on_change=keep,
                format_func=lambda value: share(round(value * folds), folds),
                help=f"{define('π_min')} The default is all.",
            )
        elif where != "parents":  # whose verdict says it
            _expected(result, tau_z)
    return tau_z, pi_min


_STEP = {"iqr": 0.05, "jackknife": 0.01}
_HELP = {
    "iqr": f"{define('τ_Z')} Z: {define('Z')} The default is 2; in the paper's own comparison, 1 is better in all "
    "three families.",
    "jackknife": f"{define('τ_Z')} A candidate is kept if its mean curvature over the folds is more than this many "
    "standard errors from zero. The default gives the local false discovery rate of the settings: this share of the "
    "candidates with exactly this Z have no edge (nominal).",
}


def _rule(result: Result, where: str) -> None:
    if not result.has_curvature:
        return
    key = f"parent_rule_{where}_{result.run.id}"
    st.session_state[key] = result.rule
    st.selectbox(
        "Rule",
        list(RULES),
        format_func=RULES.get,
        key=key,
        on_change=valid(key, RULES, session.shown.parent_rule.keep),
        help="Agreement of the folds: Z is an edge's mean curvature over its jackknife standard error. It works on "
        "small tables, where many candidates are parents. The paper's: Z is how far a candidate's OCS exceeds the "
        "median of the child's candidates, in interquartile ranges. Both use the same fitted networks.",
    )


def _expected(result: Result, tau_z: float) -> None:
    noise, passing = jackknife.expected_false(result.groups, result.z, tau_z)
    st.metric(
        "Expected from noise alone",
        f"{noise:.1f} of {passing}" if passing else "–",
        width="content",
        help="The Z of all candidates are modelled as two groups, without and with an edge. This many of the first "
        "group are expected above τ_Z. Nominal: a wrong order makes more false edges.",
    )


def advise_if_sparse(result: Result, edges: int, selector: str = "ocs") -> None:
    """If the graph shown is nearly empty, buttons for what to try instead."""
    nodes = len(result.order)
    if not is_sparse(edges, nodes):
        return
    with st.container(border=True):
        st.markdown(f":material/lightbulb: **Almost no edges among {how_many(nodes, 'node')}.** These may keep more:")
        with st.container(horizontal=True):
            if selector == "ocs":
                _rule_buttons(result, edges)
            if selector != "evidence" and st.button("Edges by evidence, on Parents", key="sparse_evidence"):
                session.shown.selector.keep("evidence")
                session.address.go("parents")
            if st.button("Refine by the likelihood", icon=":material/auto_fix_high:", key="sparse_refine"):
                session.address.go("refine")


def _rule_buttons(result: Result, edges: int) -> None:
    rules = {
        "jackknife": ("Agreement of the folds", session.shown.parent_rule.keep, ("jackknife",)),
        "lower": (f"τ_Z = {LOWER[0]:g} in all folds", session.shown.thresholds.keep, (LOWER, "iqr")),
    }
    for name, count in other_rules(result.ocs, result.run.settings, result.rule, edges).items():
        label, then, arguments = rules[name]
        st.button(f"{label}: {how_many(count, 'edge')}", on_click=then, args=arguments, key=f"sparse_{name}")
