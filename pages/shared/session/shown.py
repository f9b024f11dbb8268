"""What the result pages show of the open run; each run keeps its own choices across pages."""

from typing import Any

import streamlit as st

from pages.shared.session import address

_VARIANT, _RULE, _THRESHOLDS = "shared_variant", "shared_parent_rule", "shared_thresholds"
_SELECTOR, _CUT, _COMPARED = "shared_selector", "shared_cut", "shared_compared"


def variant() -> str | None:
    """The recovery shown, such as "constant-admissible"; None is the run's own."""
    return _of_run(_VARIANT)


def set_variant(name: str | None) -> None:
    """Show another recovery of the open run's networks."""
    _keep_of_run(_VARIANT, name)


def parent_rule() -> str | None:
    """The rule of parent selection shown for the open run; None is the run's own."""
    return _of_run(_RULE)


def set_parent_rule(rule: str) -> None:
    """Show the edges of another rule; each rule keeps its own thresholds."""
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


def _of_run(key: str) -> Any:
    return st.session_state.get(key, {}).get(address.kept("run"))


def _keep_of_run(key: str, value: Any) -> None:
    run_id = address.kept("run")
    st.session_state[key] = {**st.session_state.get(key, {}), run_id: value}
