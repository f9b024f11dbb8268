"""The script of a run: the Python and the command lines that give its results again, copied in one click."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from disco.errors import InputError
from disco.reports.script import TABLE, Facts, python, shell
from disco.runs import Run
from disco.table.spreadsheets import to_csv
from pages.shared.widgets.names import plain, shown

_HELP = "Python, or command lines, that give these results again."
_KINDS = {"Python": (python, "python", "py"), "Command line": (shell, "bash", "sh")}


def button(
    runs: Mapping[str, Run],
    key: str,
    graph: Mapping[str, Any] | None = None,
    effect: Mapping[str, Any] | None = None,
) -> None:
    """A button that opens the scripts.

    Args:
        runs: by label; one is shown at a time.
        graph: the choices that define the graph shown, by name.
        effect: a question about the graph: on, do, against, where.
    """
    if runs and st.button("Script", icon=":material/code:", key=f"{key}_script", help=_HELP):
        _opened(runs, key, graph, effect)


@st.dialog("Script", width="large", icon=":material/code:")
def _opened(
    runs: Mapping[str, Run], key: str, graph: Mapping[str, Any] | None, effect: Mapping[str, Any] | None
) -> None:
    label = next(iter(runs))
    if len(runs) > 1:
        label = st.selectbox("Of", list(runs), format_func=lambda name: shown(name, 60), key=f"{key}_script_of")
    run = runs[label]
    try:
        facts = Facts.of(run, graph, effect)
        texts = {name: (write(facts), *rest) for name, (write, *rest) in _KINDS.items()}
    except InputError as error:
        st.error(plain(error))
        return
    st.markdown(
        f"What was done to find the results of **{plain(shown(run.name, 60))}**, and what gives them again: the same "
        "table, settings and seeds. The icon at the top right of the text copies it."
    )
    for tab, (text, language, ending) in zip(st.tabs(list(texts)), texts.values(), strict=True):
        with tab, st.container(horizontal_alignment="left"):
            st.code(text, language=language, wrap_lines=True)
            name = f"{run.id}.{ending}"
            st.download_button(name, text, name, key=f"{key}_{ending}", on_click="ignore", icon=":material/download:")
    if facts.needs_table or facts.for_shell.needs_table:
        st.caption(f"How this table came to be is not known to the script. It reads {TABLE}: save that beside it.")
        data, icon = lambda: to_csv(run.with_roles()), ":material/download:"
        st.download_button(TABLE, data, TABLE, "text/csv", key=f"{key}_table", on_click="ignore", icon=icon)
