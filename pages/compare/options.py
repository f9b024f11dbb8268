"""The options of the methods, written as on the command line. Owns the keys `compare_options_…`."""

import dataclasses
from typing import Any

import pandas as pd
import streamlit as st

from disco import fields
from disco.errors import InputError
from disco.methods import METHODS, options_of
from disco.methods.option_text import EXAMPLE, asked_for, in_words
from disco.runs import Run
from disco.subjects.comparison.compared import MethodsRequest
from pages.shared.widgets import tables
from pages.shared.widgets.answers import lasting
from pages.shared.widgets.names import plain

Options = dict[str, dict[str, Any]]


def section(run: Run, chosen: list[str], last: MethodsRequest | None) -> Options | None:
    """The changed options by method, at first those of the last request; None, with a sentence, if unreadable."""
    with st.expander("Options", icon=":material/tune:"):
        written = st.text_area(
            "Options to change, one per line",
            placeholder=EXAMPLE,
            key=lasting(f"compare_options_{run.id}", "" if last is None else _lines(last)),
            help="METHOD.OPTION=VALUE, as for `disco compare --set`. Lists and mappings are written as JSON: "
            '`ods-oracle.families={"a": ["nb", 3]}` makes the column a negative binomial of size 3.',
        )
        try:
            changed = asked_for(METHODS, filter(None, map(str.strip, written.splitlines())))
        except InputError as error:
            refused, changed = error, None
        if chosen:
            tables.show(_table(chosen, changed or {}), "Options of the chosen methods", height=240)
        else:
            st.caption("Choose methods above to see their options here.")
    if changed is None:
        st.error(plain(refused))
        return None
    unused = [name for name, options in changed.items() if options and name not in chosen]
    if unused:
        st.caption(f"Not chosen, so Run methods ignores their options: {', '.join(unused)}.")
    return changed


def _lines(request: MethodsRequest) -> str:
    changed = ((name, option, value) for name, options in request.methods.items() for option, value in options.items())
    return "\n".join(f"{name}.{option}={in_words(value)}" for name, option, value in changed)


def _table(chosen: list[str], changed: Options) -> pd.DataFrame:
    rows = []
    for name in chosen:
        defining = METHODS[name].changes
        changes = changed.get(name, {})
        method_options = options_of(name, changes)
        for option, value in dataclasses.asdict(method_options).items():
            if option not in defining:
                option_field = fields.options(type(method_options)).get(option)
                meaning = "" if option_field is None else option_field.help
                rows.append((f"{name}.{option}", in_words(value), "changed" if option in changes else "", meaning))
    return pd.DataFrame(rows, columns=["Option", "Value", "", "Meaning"])
