"""Settings: widgets for those of the fit to come, and any in words. Owns the keys `set_NAME` and `choice_problem`."""

from typing import Any

import streamlit as st

from disco.fields import Option, options
from disco.paper.settings import Settings
from disco.refine.choice import Choice
from pages.shared import session
from pages.shared.widgets import errors
from pages.shared.widgets.answers import Bound

_PROBLEM = "choice_problem"
_ALONG = {("folds_by", "counts"): {"folds": 2, "disjoint_rows": False}}  # settings that a choice changes too


def _changed(name: str, value: Any) -> None:
    along = _ALONG.get((name, value), {}) if isinstance(value, str) else {}
    with errors.deferred(_PROBLEM):
        session.draft.change_settings(**{name: value}, **along)


_bound = Bound("set_", Settings, lambda name: getattr(session.draft.settings(), name), _changed)
option, segments = _bound.option, _bound.segments


def problem() -> str | None:
    """Why the last change was refused."""
    return st.session_state.get(_PROBLEM)


_FACTS = {"True": "On", "False": "Off", "None": "Empty"}
_OF_SEARCH = "refinement: "  # before its choices, in the comparison of two runs


def label(name: str) -> str:
    """A setting in words, with its group if others have the same words; a name that is not declared is capitalised."""
    option = _declared(name)
    if option is None:
        return name.replace("_", " ").capitalize()
    if name.startswith(_OF_SEARCH):
        return f"Likelihood search: {_lowered(option.label)}"
    is_shared = option.group.endswith("network")
    return f"{option.group}: {_lowered(option.label)}" if is_shared else option.label


def value(name: str, text: str) -> str:
    """The value of a setting, a text, in words, as the pages write it."""
    words = {} if (option := _declared(name)) is None else option.words
    return (_FACTS | words).get(text, text.capitalize() if text.isalpha() else text)


def in_sentence(name: str, value: object) -> str:
    """A setting and its value, in the middle of a sentence."""
    option = _declared(name)
    words = {} if option is None else option.words
    text = "empty" if value is None else ("off", "on")[value] if isinstance(value, bool) else str(value)
    return f"{_lowered(label(name))} {words.get(text, text)}"


def _declared(name: str) -> Option | None:
    choice = name.removeprefix(_OF_SEARCH)
    return options(Settings if choice == name else Choice).get(choice)


def _lowered(words: str) -> str:
    return f"{words[:1].lower()}{words[1:]}"
