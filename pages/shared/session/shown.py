"""What the result pages show of the open run; each run has its own choices across pages.

The address of Graph holds the choices that define its graph, `?edges=both&order=ccs-clipped&rule=iqr&tau=2&pi=1`, so a
link shows others the same graph.
"""

import math
from typing import Any

import streamlit as st

from disco.graph.dag import BOTH, DISCO, LIKELIHOOD
from disco.paper.settings import CHOICES
from disco.subjects.fit.results import VARIANTS
from pages.shared.session import address

VIEWS = (BOTH, LIKELIHOOD, DISCO)
_FOLLOWED, _CHANGES = "shared_followed", "shared_changes"
_HIGHEST = 1e6  # of a τ_Z in an address


class RunChoice:
    """A choice of the reader, by run and across pages, under a key of the session; None stands for the default."""

    def __init__(self, key: str) -> None:
        self._key = key

    def current(self, of: str = "") -> Any:
        """The choice for the open run, and for a selector or rule if it belongs to one."""
        return st.session_state.get(self._key + of, {}).get(address.stored("run"))

    def keep(self, value: Any, of: str = "") -> None:
        """Store it for the open run."""
        st.session_state[self._key + of] = {**st.session_state.get(self._key + of, {}), address.stored("run"): value}


class Recorded(RunChoice):
    """A choice of which edges a fit has, whose changes can be taken back and made again."""

    def keep(self, value: Any, of: str = "") -> None:
        """Store it for the open run, and its former value for `move`."""
        if value != (former := self.current(of)):
            past, _ = _changes()
            st.session_state[_CHANGES] |= {address.stored("run"): ((*past, (self, of, former)), ())}
            super().keep(value, of)


def _changes() -> tuple[tuple, tuple]:
    """What `move` takes back, and what it makes again: each a choice, what it is of, and its other value."""
    return st.session_state.setdefault(_CHANGES, {}).get(address.stored("run"), ((), ()))


def can_move(is_redo: bool) -> bool:
    """Whether a change of the open run's edges can be taken back, or made again."""
    return bool(_changes()[is_redo])


def move(is_redo: bool) -> None:
    """Take back the last change of the open run's edges, or make the next one again."""
    stacks = list(_changes())
    *stacks[is_redo], (choice, of, value) = stacks[is_redo]
    stacks[not is_redo] = (*stacks[not is_redo], (choice, of, choice.current(of)))
    RunChoice.keep(choice, value, of)
    st.session_state[_CHANGES] |= {address.stored("run"): tuple(stacks)}


view = RunChoice("shared_view")  # whose edges Graph shows, one of `VIEWS`
variant = RunChoice("shared_variant")  # such as "constant-admissible"; the run's own by default
parent_rule = Recorded("shared_parent_rule")  # of the OCS; the run's own by default
thresholds = Recorded("shared_thresholds_")  # (τ_Z, π_min) of a rule; the rule's own by default
selector = Recorded("shared_selector")  # of parents; the run's own by default
cut = Recorded("shared_cut_")  # of a selector; its own by default
compared = RunChoice("shared_compared")  # the two selectors side by side
node = RunChoice("shared_picked")  # picked, or the node of no edge picked
edge = RunChoice("shared_picked_edge")  # picked instead of a node
pair = RunChoice("shared_picked_other")  # the picked node, and one on which its effect is asked


def follow_address() -> None:
    """Take the choices in a link to Graph, once for each run; impossible ones are ignored."""
    run_id = address.stored("run")
    followed = st.session_state.setdefault(_FOLLOWED, set())
    if run_id is None or run_id in followed:
        return
    followed.add(run_id)
    for name, allowed, choice in (
        ("edges", VIEWS, view),
        ("order", VARIANTS, variant),
        ("rule", CHOICES["parent_rule"], parent_rule),
    ):
        value = address.parameter(name)
        if value in allowed:
            choice.keep(value)
    tau_z, pi_min = (_number(address.parameter(name)) for name in ("tau", "pi"))
    rule = address.parameter("rule")
    if rule in CHOICES["parent_rule"] and 0 <= tau_z <= _HIGHEST and 0 < pi_min <= 1:
        thresholds.keep((tau_z, pi_min), rule)
    st.session_state.get(_CHANGES, {}).pop(run_id, None)  # the choices of a link are the start


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
