"""The settings of a fit and the choices of a refinement in words."""

from disco.fields import Option, options
from disco.paper.settings import Settings
from disco.refine.choice import Choice

_FACTS = {"True": "On", "False": "Off", "None": "Empty"}
_OF_SEARCH = "refinement: "  # before its choices, in the comparison of two runs


def label(name: str) -> str:
    """A setting in words, with its group if others have the same words; a name that is not declared is capitalised."""
    option = _declared(name)
    if option is None:
        return name.replace("_", " ").capitalize()
    if name.startswith(_OF_SEARCH):
        return f"Refinement: {_lowered(option.label)}"
    is_shared = option.group.endswith("network")
    return f"{option.group}: {_lowered(option.label)}" if is_shared else option.label


def value(name: str, text: str) -> str:
    """The value of a setting, a text, in words, as the pages write it."""
    words = {} if (option := _declared(name)) is None else option.words
    return (_FACTS | words).get(text, text.capitalize() if text.isalpha() else text)


def said(name: str, value: object) -> str:
    """A setting and its value, in the middle of a sentence."""
    option = _declared(name)
    words = {} if option is None else option.words
    told = "empty" if value is None else ("off", "on")[value] if isinstance(value, bool) else str(value)
    return f"{_lowered(label(name))} {words.get(told, told)}"


def _declared(name: str) -> Option | None:
    choice = name.removeprefix(_OF_SEARCH)
    return options(Settings if choice == name else Choice).get(choice)


def _lowered(words: str) -> str:
    return f"{words[:1].lower()}{words[1:]}"
