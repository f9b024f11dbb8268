"""Widgets for settings of the fit to come. Owns the keys `set_NAME` and `choice_problem`."""

from typing import Any

import streamlit as st

from disco.settings import Settings
from pages.shared import session
from pages.shared.widgets import errors
from pages.shared.widgets.bound import Bound

_PROBLEM = "choice_problem"
_ALONG = {("folds_by", "counts"): {"folds": 2, "disjoint_rows": False}}  # settings that a choice changes too


def _changed(name: str, value: Any) -> None:
    along = _ALONG.get((name, value), {}) if isinstance(value, str) else {}
    with errors.kept(_PROBLEM):
        session.draft.change_settings(**{name: value}, **along)


_bound = Bound("set_", Settings, lambda name: getattr(session.draft.settings(), name), _changed)
option, segments = _bound.option, _bound.segments


def problem() -> str | None:
    """Why the last change was refused."""
    return st.session_state.get(_PROBLEM)
