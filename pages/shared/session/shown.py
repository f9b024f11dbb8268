"""What the result pages show of the open run; each run keeps its own choices across pages.

The address of Graph holds those that make its graph, `?edges=both&order=ccs-clipped&rule=iqr&tau=2&pi=1`, so that a
link shows the same graph to others.
"""

import math
from typing import Any

import streamlit as st

from disco.graph import BOTH, DISCO, LIKELIHOOD
from disco.runs.results import VARIANTS
from disco.settings import CHOICES
from pages.shared.session import address

VIEWS = (BOTH, LIKELIHOOD, DISCO)
_VIEW, _FOLLOWED = "shared_view", "shared_followed"
_HIGHEST = 1e6  # of a τ_Z in an address
_VARIANT, _RULE, _THRESHOLDS = "shared_variant", "shared_parent_rule", "shared_thresholds"
_SELECTOR, _CUT, _COMPARED = "shared_selector", "shared_cut", "shared_compared"


def variant() -> str | None:
    """The variant shown, such as "constant-admissible"; None is the run's own."""
    return _of_run(_VARIANT)


def set_variant(name: str | None) -> None:
    """Show another variant of the open run's networks."""
    _keep_of_run(_VARIANT, name)


def parent_rule() -> str | None:
    """The rule of parent selection shown for the open run; None is the run's own."""
    return _of_run(_RULE)


def set_parent_rule(rule: str | None) -> None:
    """Show the edges of another rule, or of the run's own; each rule keeps its own thresholds."""
    _keep_of_run(_RULE, rule)


def thresholds(rule: str) -> tuple[float, float] | None:
    """The (tau_z, pi_min) that the user set for a rule on the open run, if any."""
    return _of_run(f"{_THRESHOLDS}_{rule}")


def set_thresholds(rule: str, chosen: tuple[float, float] | None) -> None:
    """Keep the thresholds of a rule on the open run across pages; None goes back to the rule's own."""
    _keep_of_run(f"{_THRESHOLDS}_{rule}", chosen)


def selector() -> str | None:
    """The selector of parents shown for the open run; None is the run's own."""
    return _of_run(_SELECTOR)


def set_selector(name: str) -> None:
    """Show the edges of another selector."""
    _keep_of_run(_SELECTOR, name)


def cut(selector: str) -> float | None:
    """The cut-off that the user set for a selector on the open run, if any."""
    return _of_run(f"{_CUT}_{selector}")


def set_cut(selector: str, value: float | None) -> None:
    """Keep the cut-off of a selector on the open run across pages; None goes back to its own."""
    _keep_of_run(f"{_CUT}_{selector}", value)


def compared() -> tuple[str, str] | None:
    """The two selectors that the user put side by side for the open run, if any."""
    return _of_run(_COMPARED)


def set_compared(pair: tuple[str, str]) -> None:
    """Put two selectors side by side."""
    _keep_of_run(_COMPARED, pair)


def view() -> str | None:
    """Whose edges Graph shows of the open run, one of `VIEWS`; None until the user chooses."""
    return _of_run(_VIEW)


def set_view(name: str) -> None:
    """Show the edges of both methods, or of one."""
    _keep_of_run(_VIEW, name)


def follow_address() -> None:
    """Take what a link to Graph asks for, once for each run; anything that cannot be is passed over."""
    run_id = address.kept("run")
    followed = st.session_state.setdefault(_FOLLOWED, set())
    if run_id is None or run_id in followed:
        return
    followed.add(run_id)
    for name, allowed, take in (
        ("edges", VIEWS, set_view),
        ("order", VARIANTS, set_variant),
        ("rule", CHOICES["parent_rule"], set_parent_rule),
    ):
        asked = address.asked(name)
        if asked in allowed:
            take(asked)
    tau_z, pi_min = (_number(address.asked(name)) for name in ("tau", "pi"))
    rule = address.asked("rule")
    if rule in CHOICES["parent_rule"] and 0 <= tau_z <= _HIGHEST and 0 < pi_min <= 1:
        set_thresholds(rule, (tau_z, pi_min))


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def _of_run(key: str) -> Any:
    return st.session_state.get(key, {}).get(address.kept("run"))


def _keep_of_run(key: str, value: Any) -> None:
    run_id = address.kept("run")
    st.session_state[key] = {**st.session_state.get(key, {}), run_id: value}
