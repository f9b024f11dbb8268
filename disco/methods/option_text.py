"""Options of methods as users write them, METHOD.OPTION=VALUE, on the command line and on the page Compare."""

import contextlib
import dataclasses
import json
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from disco.errors import InputError
from disco.methods.dispatch import method, options_of

EXAMPLE = "ods-nb.size=3"


def asked_for(names: Iterable[str], lines: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Each method with the options written for it, one METHOD.OPTION=VALUE per line; lists and mappings as JSON.

    `names` are keys of `disco.methods.METHODS`. InputError: there is no such method or option, a value is not allowed,
    or a line cannot be read.
    """
    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    for name in chosen:
        method(name)  # refuses an unknown name
    for line in lines:
        where, equals, value = line.partition("=")
        name, dot, option = (word.strip() for word in where.partition("."))
        if not (equals and dot and option):
            raise InputError(f"Write an option as METHOD.OPTION=VALUE, such as {EXAMPLE}; got {line!r}.")
        if name not in chosen:
            raise InputError(f"The option {where.strip()} is for the method {name}, which is not chosen.")
        if option in chosen[name]:
            raise InputError(f"The option {where.strip()} is given twice.")
        chosen[name][option] = _value(name, option, value.strip())
    for name, options in chosen.items():
        try:
            options_of(name, options)
        except InputError as error:
            message = str(error)
            raise InputError(message if message.startswith(name) else f"{name}: {message}") from error
    return chosen


def in_words(value: Any) -> str:
    """The value of an option as a person writes it."""
    if isinstance(value, str):
        return value
    return "none" if value is None else json.dumps(value)


def _value(name: str, option: str, text: str) -> Any:
    """A text as JSON or a number, unless the option is a word; else the text itself."""
    options = import_module(f"disco.methods.{method(name).module}").Options
    if any(item.name == option and item.type is str for item in dataclasses.fields(options)):
        return text
    for read_as in (json.loads, int, float):
        with contextlib.suppress(ValueError, RecursionError):
            return read_as("null" if text.lower() == "none" else text)
    return {"true": True, "false": False}.get(text.lower(), text)
